"""Work that nobody has touched for long goes back to the others."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from annotation.studies import audit, protocol_of
from annotation.work.returns import give_back
from annotation.work.twins import twin_assignment
from db.tables import Assignment, Study
from db.types import now


def return_stale(session: Session, study: Study) -> int:
    """Return work that had no event for `limits.stale_h` hours; returns how many pieces of work went back.

    What was handed in once and reopened counts as handed in again, with the answers it has now. Packets wait for
    their ballot, and training, attention and retests hold nobody up, so they stay with their person.
    """
    since = idle_since(study)
    idle = (
        select(Assignment)
        .where(
            Assignment.study_id == study.id,
            Assignment.status == "taken",
            Assignment.source == "app",
            or_(Assignment.purpose.in_(("label", "adjudicate")), Assignment.submitted_at.is_not(None)),
            # a time far ahead was stamped by a wrong clock: waiting for that day would keep the slot for good
            ~func.coalesce(Assignment.active_at, Assignment.taken_at).between(since, now() + (now() - since)),
        )
        .order_by(Assignment.id)
        .with_for_update(skip_locked=True)  # a locked one has its person at work this moment
    )
    returned = 0
    found = session.scalars(idle).all()
    for assignment in found:
        twin = twin_assignment(session, assignment)
        if assignment.status != "taken" or (twin is not None and twin not in found):
            continue  # gone back with its twin, or somebody is at work on that one
        if assignment.submitted_at is not None:
            assignment.status = "submitted"
            audit(session, study.id, assignment.rater_id, "handed_in_again", assignment=assignment.id)
        else:
            give_back(session, assignment, "stale")
            returned += 1
    return returned


def idle_since(study: Study) -> datetime:
    """Work whose last event is older than this is stale."""
    return now() - timedelta(hours=protocol_of(study).study.limits.stale_h)
