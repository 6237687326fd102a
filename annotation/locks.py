"""Rows a transaction holds to its end, always in this order: own assignments, own person, study, enrolment, sign-in.

With one order for all, no two wait for each other. Whoever holds a person and finds their work held by somebody else
does not wait for it: see `claiming.take` and `standing.hold_work`. Rows that point at a person or a study are written
by others meanwhile, so neither is held by a plain FOR UPDATE, which would wait for them, and they for it. SQLite has
one writer at a time anyway.
"""

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.people_tables import Rater
from db.tables import Study


def hold_person(session: Session, rater_id: int) -> None:
    """One person's two tabs, or their admin, go one after the other from here on."""
    session.execute(select(Rater.id).where(Rater.id == rater_id).with_for_update(key_share=True))


def hold_study(session: Session, study: Study) -> None:
    """Whoever decides something about all of the study goes one after the other from here on."""
    session.execute(select(Study.id).where(Study.id == study.id).with_for_update(key_share=True))
