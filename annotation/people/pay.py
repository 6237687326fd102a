"""What each person is to be paid: active hours times the study's rate."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.people.people_list import LABELLERS, active_seconds_by_rater
from annotation.people.principals import Principal, study_for
from annotation.studies import protocol_of
from annotation.work.twins import once_a_page
from db.people_tables import Enrollment, Rater
from db.tables import SLOT_SOURCES, Assignment, Study


@dataclass(frozen=True)
class PayLine:
    """One person's work. Hours and amount are not rounded; whoever prints them rounds, and says so."""

    name: str
    pseudonym: str
    role: str
    items: int  # handed in, of every kind: labels, training, repeats and disputes are work
    active_h: float  # also on work that went back or was taken out
    wall_h: float  # from taking an item to handing it in, summed over items
    rate: float  # per active hour
    currency: str
    amount: float


def pay_lines(session: Session, principal: Principal) -> list[PayLine]:
    """Everybody who labels or adjudicates, or did; for admins, as names stand in it."""
    study = study_for(session, principal, "admin")
    pay = protocol_of(study).study.pay
    active = active_seconds_by_rater(session, study)
    items, wall = _handed_in(session, study)
    people = session.execute(
        select(Enrollment, Rater.handle)
        .join(Rater, Rater.id == Enrollment.rater_id)
        .where(Enrollment.study_id == study.id)
        .order_by(Enrollment.role, Enrollment.id)
    )
    return [
        PayLine(
            name, person.pseudonym, person.role, items[person.rater_id],
            hours := active.get(person.rater_id, 0.0) / 3600, wall[person.rater_id] / 3600,
            pay.rate, pay.currency, hours * pay.rate,
        )
        for person, name in people
        if person.role in LABELLERS or person.rater_id in active or items[person.rater_id]
    ]  # fmt: skip


def _handed_in(session: Session, study: Study) -> tuple[Counter[int], dict[int, float]]:
    """rater -> items handed in, also those taken out since, and seconds from taking to the last handing in."""
    rows = session.execute(
        select(Assignment.rater_id, Assignment.taken_at, Assignment.submitted_at).where(
            Assignment.study_id == study.id, Assignment.rater_id.is_not(None),
            Assignment.submitted_at.is_not(None), Assignment.source.in_(SLOT_SOURCES), *once_a_page(study),
        )
    )  # fmt: skip
    items: Counter[int] = Counter()
    wall: dict[int, float] = defaultdict(float)
    for rater, taken, submitted in rows:
        if rater is not None:
            items[rater] += 1
            if taken is not None and submitted is not None:
                wall[rater] += max(0.0, (submitted - taken).total_seconds())
    return items, wall
