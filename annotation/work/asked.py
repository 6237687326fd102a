"""Which questions an assignment asks, and in which order: all of its item's, or those that were drawn for it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.studies import criteria_of, protocol_of
from db.tables import Assignment, Criterion, Item, Study, Topic

NAMED = 5


def asked_of(session: Session, study: Study, assignment: Assignment) -> list[Criterion]:
    """The questions of this assignment that are still asked, in the order they are shown.

    Its `criteria_order` is a draw for a person who labels, so a question that came later follows at the end; an
    adjudicator is asked what is in dispute, and nothing else.
    """
    criteria = criteria_of(session, study, session.get_one(Item, assignment.item_id).topic_id)
    if assignment.criteria_order is None:
        return criteria
    place = {code: number for number, code in enumerate(assignment.criteria_order)}
    if assignment.purpose == "adjudicate":
        criteria = [row for row in criteria if row.code in place]
    return sorted(criteria, key=lambda row: place.get(row.code, len(place)))


def refuse_unasked(session: Session, study: Study, topics: Collection[int]) -> None:
    """Raises AnnotationError `no_criteria` naming those of `topics` that nothing is asked about."""
    unasked = unasked_topics(session, study, topics) if protocol_of(study).criteria_from == "topics" else ()
    if unasked:
        raise AnnotationError(
            "no_criteria",
            f"topics of study {study.name!r} without criteria: {name_some(unasked)}; import their reports again with "
            "criteria for them, or take their items out",
        )


def unasked_topics(session: Session, study: Study, among: Collection[int] | None = None) -> tuple[str, ...]:
    """Keys of the topics that have no question of their own."""
    asked = select(Criterion.topic_id).where(
        Criterion.study_id == study.id, Criterion.retired_at.is_(None), Criterion.topic_id.is_not(None)
    )
    rows = select(Topic.id, Topic.key).where(Topic.study_id == study.id, Topic.id.not_in(asked)).order_by(Topic.id)
    return tuple(key for topic, key in session.execute(rows) if among is None or topic in among)


def name_some(keys: Sequence[str]) -> str:
    """How many, and the first few: `7 (tides, bread and 5 more)`."""
    rest = f" and {len(keys) - NAMED} more" if len(keys) > NAMED else ""
    return f"{len(keys)} ({', '.join(keys[:NAMED])}{rest})"
