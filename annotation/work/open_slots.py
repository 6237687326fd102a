"""Which open slots a person may take: nobody gets an item twice, nor, where a study says so, a topic."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, or_, select

from annotation.protocol import Protocol
from annotation.studies import protocol_of
from annotation.work.twins import once_a_page
from db.tables import FLAGGED, Assignment, Item, Report, Study

# came back without its person's wish, so it may be theirs again; a skipped item is not offered a second time
CAME_BACK = ("closed", "stale", "packet")


def open_to(study: Study, rater_id: int) -> Select[int, int, int]:
    """Open slots (id, item, priority) this person may take, the urgent first."""
    protocol = protocol_of(study)
    had = select(Assignment.item_id).where(Assignment.rater_id == rater_id, *had_by_somebody(study))
    slots = (
        select(Assignment.id, Assignment.item_id, Assignment.priority)
        .join(Item, Item.id == Assignment.item_id)
        .where(
            *open_slots(study, protocol),
            or_(Assignment.reserved_for.is_(None), Assignment.reserved_for == rater_id),
            Assignment.item_id.not_in(had),
        )
        .order_by(Assignment.priority.desc(), Assignment.id)
    )
    if protocol.study.topic_once:
        slots = slots.where(Item.topic_id.not_in(select(Item.topic_id).where(Item.id.in_(had))))
    return slots


def open_slots(study: Study, protocol: Protocol) -> list[Any]:
    """Conditions on Assignment and Item: a slot for label work that is open to whoever may take it; of twins one."""
    return [
        Assignment.study_id == study.id,
        Assignment.purpose == "label",
        Assignment.status == "open",
        *once_a_page(study),
        *may_be_shown(study, protocol),
    ]


def may_be_shown(study: Study, protocol: Protocol) -> list[Any]:
    """Conditions on Item: not taken out, and no passage in it waits for the owner's decision."""
    conditions: list[Any] = [Item.excluded_at.is_(None)]
    if protocol.reports.unresolved_flags == "refuse":
        flagged = select(Report.id).where(Report.study_id == study.id, FLAGGED)
        shown = Item.report_a_id, Item.report_b_id, Item.reference_id
        conditions += [or_(report.is_(None), report.not_in(flagged)) for report in shown]
    return conditions


def had_by_somebody(study: Study) -> tuple[Any, ...]:
    """Conditions on Assignment: label work that its person is not given again."""
    return (
        Assignment.study_id == study.id,
        Assignment.purpose == "label",
        or_(Assignment.returned.is_(None), Assignment.returned.not_in(CAME_BACK)),
    )
