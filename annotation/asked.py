"""Which questions an assignment asks, and in which order: all of its item's, or those that were drawn for it."""

from __future__ import annotations

from sqlalchemy.orm import Session

from annotation.studies import criteria_of
from db.tables import Assignment, Criterion, Item, Study


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
