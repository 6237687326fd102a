"""Taking one's agreement back: no more work from then on, and what is in hand goes to somebody else."""

from __future__ import annotations

from sqlalchemy import update
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.people.consent import own_consent
from annotation.people.principals import Principal
from annotation.people.standing import hold_work, return_in_hand
from annotation.studies import audit
from annotation.work.open_slots import CAME_BACK
from db.tables import Assignment


def withdraw_consent(session: Session, principal: Principal) -> int:
    """Work in hand returns to the pool with its labels; what was handed in stays until an admin voids it.

    Returns how many items went back. Raises AnnotationError `forbidden`, or `no_consent` where none was given.
    """
    study, _, person = own_consent(session, principal)
    if person.consent_sha256 is None:
        raise AnnotationError("no_consent", "there is no agreement of yours to take back")
    hold_work(session, person)
    back = return_in_hand(session, person, "withdrawn")
    # nor does anything come back to them by itself
    session.execute(
        update(Assignment)
        .where(
            Assignment.study_id == study.id, Assignment.rater_id == person.rater_id, Assignment.status == "returned",
            Assignment.returned.in_(CAME_BACK),
        )
        .values(returned="withdrawn")
    )  # fmt: skip
    version, person.consent_sha256 = person.consent_sha256, None
    audit(session, study.id, principal.rater_id, "withdraw_consent", sha256=version, returned=back)
    return back
