"""Flags, comments and reasons for skipping, with what was answered to them. A reply is an event too, never a change."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import orm, select

from annotation.errors import AnnotationError
from annotation.items.shown import item_code
from annotation.labels.entries import COMMENT_MAX
from annotation.people.principals import Principal, study_for
from annotation.studies import audit
from db.people_tables import Enrollment
from db.tables import Assignment, Event, Study

REPLY, DEALT_WITH = "reply", "dealt_with"  # `what` of events about another one, whose id is data["answers"]
GIVEN = ("broken_text", "reveals_author", "other", "comment")  # `what` of those that annotators send


@dataclass(frozen=True)
class Reply:
    at: datetime
    text: str


@dataclass(frozen=True)
class Remark:
    """A flag, a comment or a skip, as its rater sent it. `remark`: its number, which a reply names."""

    remark: int
    at: datetime
    rater: str  # pseudonym
    kind: str  # flag | comment | skip
    what: str  # of a flag: broken_text | reveals_author | other
    item: str
    text: str
    replies: tuple[Reply, ...]
    dealt_with: bool


def remarks_of(session: orm.Session, principal: Principal) -> tuple[Remark, ...]:
    """All of the study's, the newest first, in four queries. For evaluators and admins."""
    study = study_for(session, principal, "evaluator")
    said = session.execute(
        select(Event, Enrollment.pseudonym, Assignment.item_id)
        .join(Assignment, Assignment.id == Event.assignment_id)
        .join(Enrollment, (Enrollment.rater_id == Event.rater_id) & (Enrollment.study_id == Event.study_id))
        .where(Event.study_id == study.id, Event.kind.in_(("flag", "comment")), Event.what.in_(GIVEN))
    ).all()
    replies, dealt_with = answers_to(session, study)
    found = [
        Remark(
            event.id, event.created_at, rater, "skip" if event.kind == "audit" else event.kind,
            event.what if event.kind == "flag" else "", item_code(item),
            event.data.get("reason" if event.kind == "audit" else "text", ""), tuple(replies[event.id]),
            event.id in dealt_with,
        )
        for event, rater, item in (*said, *_skips(session, study))
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda remark: -remark.remark))


def answers_to(session: orm.Session, study: Study) -> tuple[dict[int, list[Reply]], set[int]]:
    """Replies by the remark they answer, the oldest first, and the remarks that are dealt with."""
    replies, dealt_with = defaultdict[int, list[Reply]](list), set[int]()
    given = select(Event).where(
        Event.study_id == study.id, Event.kind == "comment", Event.what.in_((REPLY, DEALT_WITH))
    )
    # sorted here: asked for an order, SQLite reads every event there is
    for event in sorted(session.scalars(given), key=lambda event: event.id):
        if event.what == REPLY:
            replies[event.data["answers"]].append(Reply(event.created_at, event.data["text"]))
        else:
            dealt_with.add(event.data["answers"])
    return replies, dealt_with


def reply(session: orm.Session, principal: Principal, remark: int, text: str) -> None:
    """Answer a remark; its annotator reads it in My work. Appended and audited, and never taken back.

    Raises AnnotationError: `forbidden`, `no_remark`, `no_reply` (empty) or `invalid` (too long).
    """
    text = text.strip()
    if not text:
        raise AnnotationError("no_reply", "a reply needs words; its annotator reads them in My work")
    if len(text) > COMMENT_MAX:
        raise AnnotationError(
            "invalid", "a reply has at most {comment_max:,} characters, and this one {text:,}",
            comment_max=COMMENT_MAX, text=len(text),
        )  # fmt: skip
    _append(session, principal, remark, REPLY, answers=remark, text=text)


def deal_with(session: orm.Session, principal: Principal, remark: int) -> None:
    """Mark a remark as dealt with; a second time changes nothing. Raises AnnotationError `forbidden`, `no_remark`."""
    if remark not in answers_to(session, study_for(session, principal, "evaluator"))[1]:
        _append(session, principal, remark, DEALT_WITH, answers=remark)


def _append(session: orm.Session, principal: Principal, remark: int, what: str, **data: object) -> None:
    study = study_for(session, principal, "evaluator")
    about = session.scalar(select(Event).where(Event.id == remark, Event.study_id == study.id))
    skip = about is not None and (about.kind, about.what) == ("audit", "give_back")
    if about is None or not (skip or (about.kind in ("flag", "comment") and about.what in GIVEN)):
        raise AnnotationError(
            "no_remark", "no flag, comment or skip has the number {remark} in study {name!r}; see: calipers status",
            remark=remark, name=study.name,
        )  # fmt: skip
    assignment = about.data["assignment"] if skip else about.assignment_id
    session.add(
        Event(
            study_id=study.id, rater_id=principal.rater_id, assignment_id=assignment, kind="comment", what=what,
            data=data,
        )
    )  # fmt: skip
    audit(session, study.id, principal.rater_id, f"remark_{what}", remark=remark)
    session.flush()


def _skips(session: orm.Session, study: Study) -> Iterator[tuple[Event, str, int]]:
    """The audit lines of work given back with a reason, their rater's pseudonym and the item."""
    skipped = select(Assignment.id, Assignment.item_id).where(
        Assignment.study_id == study.id, Assignment.status.in_(("returned", "void")), Assignment.returned == "skipped"
    )
    item_of = dict(session.execute(skipped).all())
    rows = session.execute(
        select(Event, Enrollment.pseudonym)
        .join(Enrollment, (Enrollment.rater_id == Event.rater_id) & (Enrollment.study_id == Event.study_id))
        .where(Event.study_id == study.id, Event.kind == "audit", Event.what == "give_back")
    )
    for event, rater in rows:
        if event.data["assignment"] in item_of and event.data.get("reason"):
            yield event, rater, item_of[event.data["assignment"]]
