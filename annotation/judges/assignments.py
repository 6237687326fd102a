"""A judge's assignments: one per pass over an item, with its order recorded before any call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.judges.passes import Pass
from annotation.locks import hold_person
from db.tables import LIVE, Assignment, Study
from db.types import Record, now, opaque

ASSIGNMENTS = Record.metadata.tables["assignments"]


def open_assignments(
    session: Session, study: Study, rater_id: int, passes: Mapping[tuple[int, int], Pass]
) -> dict[tuple[int, int], int]:
    """Assignment ids by (item id, pass_no); what stands is kept with its order, what is missing is made."""
    items = {item for item, _ in passes}
    standing = select(Assignment.item_id, Assignment.pass_no, Assignment.id).where(
        Assignment.rater_id == rater_id, Assignment.item_id.in_(items), Assignment.status.in_(LIVE)
    )

    def found() -> dict[tuple[int, int], int]:
        return {(item, pass_no): key for item, pass_no, key in session.execute(standing)}

    hold_person(session, rater_id)  # other machines may plan the same judge at this moment
    there = found()
    stamp = now()
    missing: list[dict[str, Any]] = [
        {
            "aid": opaque(), "study_id": study.id, "item_id": item, "rater_id": rater_id, "purpose": "label",
            "source": "judge", "status": "taken", "left": shown.left, "pass_no": pass_no, "repeat_no": shown.repeat_no,
            "slot_no": pass_no, "plan_seed": study.seed, "priority": 0, "rev": 0, "place": {}, "created_at": stamp,
            "taken_at": stamp,
        }
        for (item, pass_no), shown in passes.items()
        if (item, pass_no) not in there
    ]  # fmt: skip
    if missing:
        session.execute(ASSIGNMENTS.insert(), missing)
        there = found()
    return {place: there[place] for place in passes}
