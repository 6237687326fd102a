"""What one annotator may know of their own work: how far they are, their time and pay, their items and remarks.

Never anybody else's labels, which system wrote what, nor why an item was given to them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotation.active_time import seconds_by_assignment
from annotation.claiming import position
from annotation.errors import AnnotationError
from annotation.page import missing_answers
from annotation.people import Principal, may_label
from annotation.protocol import Protocol
from annotation.studies import codes_by_topic, protocol_of
from db.people_tables import Enrollment
from db.tables import Assignment, Criterion, Event, Item, Label, Study, Topic

STATES = {"taken": "in work", "submitted": "submitted", "locked": "locked", "returned": "returned", "void": "withdrawn"}


@dataclass(frozen=True)
class Pay:
    """What the active time so far is worth; not rounded."""

    rate: float  # per active hour
    currency: str
    amount: float


@dataclass(frozen=True)
class OwnRemark:
    """A flag or a comment as this person sent it."""

    kind: str  # flag | comment
    what: str  # of a flag: broken_text | reveals_author | other
    text: str


@dataclass(frozen=True)
class OwnItem:
    aid: str
    topic: str
    state: str  # one of STATES' values
    returned: str | None  # why it went back: skipped | closed
    reason: str  # a skip's, in this person's own words
    may_reopen: bool
    answered: int
    criteria: int
    submitted_at: datetime | None
    active_s: float
    remarks: tuple[OwnRemark, ...]


@dataclass(frozen=True)
class OwnWork:
    """All of it, in plain values. `pay` is None where the study pays nothing; `items` come newest first."""

    title: str
    status: str  # the study's
    simulated: bool
    task: str
    guidance: str  # Markdown
    consent: str  # Markdown; empty where the study asks for none
    consented_at: datetime | None
    submitted: int
    in_work: int
    to_come: int
    goes_on: bool  # there is something to continue with, or to take
    active_s: float
    pay: Pay | None
    idle_s: int  # a longer pause is cut to this
    theme: str  # light | dark | system, as this person likes the page
    items: tuple[OwnItem, ...]


def own_work(session: Session, principal: Principal) -> OwnWork:
    """This person's work in their study, in a fixed number of queries. Raises AnnotationError `forbidden`."""
    if principal.rater_id is None or not may_label(session, principal):
        raise AnnotationError("forbidden", "only annotators have work of their own; open the link you were invited by")
    study = session.get_one(Study, principal.study_id)
    person = session.get_one(Enrollment, principal.enrollment_id)
    protocol = protocol_of(study)
    items = _items(session, study, protocol, principal.rater_id)
    done, of = position(session, principal)
    in_work = sum(item.state == "in work" for item in items)
    to_come = of - done - in_work
    active_s = sum(item.active_s for item in items)
    rate, currency = protocol.study.pay.rate, protocol.study.pay.currency
    return OwnWork(
        title=protocol.title,
        status=study.status,
        simulated=study.is_simulated,
        task=protocol.task,
        guidance=protocol.guidance,
        consent=protocol.study.consent,
        consented_at=person.consented_at,
        submitted=done,
        in_work=in_work,
        to_come=to_come,
        goes_on=in_work > 0 or (to_come > 0 and person.status == "active"),
        active_s=active_s,
        pay=Pay(rate, currency, active_s / 3600 * rate) if rate > 0 else None,
        idle_s=protocol.study.limits.idle_s,
        theme=person.preferences.get("theme", "system"),
        items=items,
    )


def _items(session: Session, study: Study, protocol: Protocol, rater_id: int) -> tuple[OwnItem, ...]:
    rows = session.execute(
        select(Assignment, Topic)
        .join(Item, Item.id == Assignment.item_id)
        .join(Topic, Topic.id == Item.topic_id)
        .where(Assignment.study_id == study.id, Assignment.rater_id == rater_id, Assignment.source != "judge")
        .order_by(Assignment.taken_at.desc(), Assignment.id.desc())
    ).all()
    asked = codes_by_topic(session, study, {topic.id for _, topic in rows})
    answers = _answers(session, study, rater_id)
    seconds = seconds_by_assignment(session, study, rater_id)
    remarks = _remarks(session, study, rater_id)
    reasons = _reasons(session, study, rater_id)
    return tuple(
        OwnItem(
            aid=mine.aid,
            topic=topic.title,
            state=STATES[mine.status],
            returned=mine.returned,
            reason=reasons.get(mine.id, ""),
            may_reopen=mine.status == "submitted" and study.status != "locked",
            answered=len(asked[topic.id]) - len(missing_answers(protocol, asked[topic.id], answers[mine.id])),
            criteria=len(asked[topic.id]),
            submitted_at=mine.submitted_at,
            active_s=sum(seconds.get(mine.id, {}).values()),
            remarks=tuple(remarks[mine.id]),
        )
        for mine, topic in rows
    )


def _answers(session: Session, study: Study, rater_id: int) -> dict[int, dict[str, Label]]:
    """assignment -> criterion -> its highest revision."""
    mine = select(Assignment.id).where(Assignment.study_id == study.id, Assignment.rater_id == rater_id)
    newest = (
        select(Label.assignment_id, Label.criterion_id, func.max(Label.revision).label("revision"))
        .where(Label.assignment_id.in_(mine))
        .group_by(Label.assignment_id, Label.criterion_id)
        .subquery()
    )
    rows = session.execute(
        select(Criterion.code, Label)
        .join(Criterion, Criterion.id == Label.criterion_id)
        .join(
            newest,
            (newest.c.assignment_id == Label.assignment_id)
            & (newest.c.criterion_id == Label.criterion_id)
            & (newest.c.revision == Label.revision),
        )
        .where(Criterion.retired_at.is_(None))
    )
    found: dict[int, dict[str, Label]] = defaultdict(dict)
    for code, label in rows:
        found[label.assignment_id][code] = label
    return found


def _remarks(session: Session, study: Study, rater_id: int) -> dict[int, list[OwnRemark]]:
    """assignment -> flags and comments, in the order they were sent."""
    rows = session.execute(
        select(Event.assignment_id, Event.kind, Event.what, Event.data)
        .join(Assignment, Assignment.id == Event.assignment_id)
        .where(Assignment.study_id == study.id, Assignment.rater_id == rater_id, Event.kind.in_(("flag", "comment")))
        .order_by(Event.id)
    )
    found: dict[int, list[OwnRemark]] = defaultdict(list)
    for assignment, kind, what, data in rows:
        if assignment is not None:
            found[assignment].append(OwnRemark(kind, what, data.get("text", "")))
    return found


def _reasons(session: Session, study: Study, rater_id: int) -> dict[int, str]:
    """assignment -> the reason given when it was given back, from the audit trail."""
    rows: Any = session.scalars(
        select(Event.data)
        .where(Event.study_id == study.id, Event.rater_id == rater_id, Event.kind == "audit", Event.what == "give_back")
        .order_by(Event.id)
    )
    return {data["assignment"]: data.get("reason", "") for data in rows}
