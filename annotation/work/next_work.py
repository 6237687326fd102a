"""What a browser is told after each step: the next assignment, how far the person is, and what stands in the way."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from annotation.people.gates import closed_gate
from annotation.people.principals import Principal
from annotation.work.claiming import take
from annotation.work.positions import position
from db.people_tables import Enrollment


def next_work(session: Session, principal: Principal) -> dict[str, Any]:
    """`{next, position}`: the aid in work or newly taken; where there is none because a gate is closed, also `gate`:
    consent, training, or held, which says that this person was paused."""
    following = take(session, principal)
    done, of = position(session, principal)
    told = {"next": following.aid if following else None, "position": {"done": done, "of": of}}
    if following is not None:
        return told
    held = session.get_one(Enrollment, principal.enrollment_id).status == "paused"
    gate = closed_gate(session, principal) or ("held" if held else None)
    return told | ({"gate": gate} if gate else {})
