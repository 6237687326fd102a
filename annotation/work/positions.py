"""How far a person is, in a number that does not jump when something is slipped in between."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotation.adjudication import count_disputes
from annotation.people.principals import Principal, may_label
from annotation.planning.quotas import quota_left
from annotation.studies import protocol_of
from annotation.work import due
from annotation.work.open_slots import open_to
from annotation.work.twins import once_a_page
from db.tables import Assignment, Item, Study


def position(session: Session, principal: Principal) -> tuple[int, int]:
    """(submitted, of): how far this person is, training apart.

    `of` also counts the open slots they could still take, and what will be given to them between these.
    """
    study = session.get_one(Study, principal.study_id)
    rows = session.execute(
        select(Assignment.purpose, Assignment.status, func.count())
        .where(
            Assignment.study_id == principal.study_id,
            Assignment.rater_id == principal.rater_id,
            Assignment.source != "judge",
            Assignment.purpose != "training",
            Assignment.status.in_(("taken", "submitted", "locked")),
            *once_a_page(study),
        )
        .group_by(Assignment.purpose, Assignment.status)
    )
    held: Counter[str] = Counter()
    labels = done = 0
    for purpose, status, count in rows:
        held[status] += count
        labels += count * (purpose == "label")
        done += count * (status != "taken")
    return done, held.total() + _to_come(session, principal, labels)


def waits_until(session: Session, principal: Principal) -> datetime | None:
    """When there is work again for somebody who can take nothing more now, but has items that come later.

    None for everybody else: whoever has work in hand or could take some, and whoever is done.
    """
    study = session.get_one(Study, principal.study_id)
    if principal.rater_id is None or principal.role == "adjudicator" or study.status != "open":
        return None
    taken = select(Assignment.id).where(
        Assignment.study_id == study.id, Assignment.rater_id == principal.rater_id, Assignment.status == "taken"
    )
    if session.scalar(taken.limit(1)) is not None or _slots(session, study, principal.rater_id):
        return None
    return due.waits_until(session, study, principal.rater_id)


def _to_come(session: Session, principal: Principal, labels: int) -> int:
    if principal.role == "adjudicator":
        return count_disputes(session, principal)
    study = session.get_one(Study, principal.study_id)
    if study.status != "open" or principal.rater_id is None or not may_label(session, principal):
        return 0
    slots = _slots(session, study, principal.rater_id)
    return slots + due.still_due(session, study, principal.rater_id, labels + slots)


def _slots(session: Session, study: Study, rater_id: int) -> int:
    """How many more this person could take under their quota: items, or topics where each topic is seen once."""
    left = quota_left(session, study, rater_id)
    unit = Item.topic_id if protocol_of(study).study.topic_once else Item.id
    slots = open_to(study, rater_id).order_by(None).with_only_columns(func.count(unit.distinct()))
    still_open = session.scalar(slots) or 0
    return still_open if left is None else min(left, still_open)
