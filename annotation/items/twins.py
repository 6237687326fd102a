"""Two reports rated in one view: two items that show each other's report, and whose work belongs together.

Of two reports X and Y one item rates X beside Y and the other Y beside X. Each has its own assignments and labels, but
they are one page: taken, saved, handed in and given back by one person in one transaction, with one coin for both.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, bindparam, orm, select

from annotation.studies import protocol_of
from db.tables import Assignment, Item, Study

TWIN_ITEM = select(Item).where(
    Item.kind == "report",
    Item.report_a_id == bindparam("beside"),
    Item.reference_id == bindparam("report"),
    Item.purpose == bindparam("purpose"),
)
SAME_SLOT = select(Assignment).where(
    Assignment.item_id == bindparam("item"),
    Assignment.rater_id.is_not_distinct_from(bindparam("rater")),
    Assignment.purpose == bindparam("purpose"),
    Assignment.source == bindparam("source"),
    Assignment.slot_no == bindparam("slot"),
    Assignment.pass_no == bindparam("turn"),
    Assignment.repeat_no == bindparam("repeat"),
)
COUPLED = ("label", "retest")  # purposes whose work is given out for both items; a dispute is settled for one of them


def once_a_page(study: Study, item: Any = None) -> tuple[ColumnElement[bool], ...]:
    """Conditions on Assignment (or on another `item` column) that keep one of two twins; none in other studies.

    Kept is what rates the report with the lower number: always the same of two items, whoever stands left.
    """
    if not protocol_of(study).rates_both:
        return ()
    seconds = select(Item.id).where(
        Item.study_id == study.id, Item.kind == "report", Item.report_a_id > Item.reference_id
    )
    if item is not None:
        return (item.not_in(seconds),)
    return (Assignment.item_id.not_in(seconds) | Assignment.purpose.not_in(COUPLED),)


def twin_item(session: orm.Session, item: Item) -> Item | None:
    """The item that rates what is shown beside this one's report; None where it is not rated."""
    if item.kind != "report" or item.reference_id is None:
        return None
    return session.scalar(TWIN_ITEM, {"report": item.report_a_id, "beside": item.reference_id, "purpose": item.purpose})


def twin_items(session: orm.Session, study: Study, items: Iterable[int] | None = None) -> dict[int, int]:
    """item -> its twin, of the whole study or of these items; items without one are left out."""
    # matched here and not by a join: no index leads from a report to the items that show it
    views = select(Item.report_a_id, Item.reference_id, Item.purpose, Item.id).where(
        Item.study_id == study.id, Item.kind == "report", Item.reference_id.is_not(None)
    )
    by_view = {(rated, beside, purpose): item for rated, beside, purpose, item in session.execute(views)}
    found = {
        item: by_view[beside, rated, purpose]
        for (rated, beside, purpose), item in by_view.items()
        if (beside, rated, purpose) in by_view
    }
    return found if items is None else {item: found[item] for item in items if item in found}


def twin_assignment(session: orm.Session, assignment: Assignment) -> Assignment | None:
    """The same rater's work on the twin item (of an open slot: the open one); None where nothing is rated beside.

    Where a person had one slot several times, the row that went the same way is meant.
    """
    if assignment.left is None or assignment.purpose not in COUPLED:
        return None
    twin = twin_item(session, session.get_one(Item, assignment.item_id))
    if twin is None:
        return None
    same = {
        "item": twin.id, "rater": assignment.rater_id, "purpose": assignment.purpose, "source": assignment.source,
        "slot": assignment.slot_no, "turn": assignment.pass_no, "repeat": assignment.repeat_no,
    }  # fmt: skip
    return max(
        session.scalars(SAME_SLOT, same),
        key=lambda row: (row.status == assignment.status, row.taken_at == assignment.taken_at, row.id),
        default=None,
    )


def twins_among(session: orm.Session, study: Study, assignments: Sequence[Assignment]) -> dict[Assignment, Assignment]:
    """assignment -> its twin, where both are among these; empty in studies that rate one report at a time."""
    if not protocol_of(study).rates_both:
        return {}
    items = twin_items(session, study)

    def slot(assignment: Assignment, item: int | None) -> tuple[object, ...]:
        return (
            item,
            assignment.rater_id,
            assignment.source,
            assignment.purpose,
            assignment.slot_no,
            assignment.pass_no,
            assignment.taken_at,
            assignment.status,
        )

    coupled = {
        slot(assignment, assignment.item_id): assignment for assignment in assignments if assignment.purpose in COUPLED
    }
    pairs = (
        (assignment, coupled.get(slot(assignment, items.get(assignment.item_id)))) for assignment in coupled.values()
    )
    return {assignment: twin for assignment, twin in pairs if twin is not None}


def beside_by_id(session: orm.Session, study: Study) -> dict[int, int]:
    """The same of everything people have begun, by the ids of its rows."""
    if not protocol_of(study).rates_both:
        return {}
    begun = select(Assignment).where(
        Assignment.study_id == study.id, Assignment.rater_id.is_not(None), Assignment.source != "judge"
    )
    twins = twins_among(session, study, session.scalars(begun).all())
    return {assignment.id: twin.id for assignment, twin in twins.items()}


def open_twin(session: orm.Session, assignment: Assignment) -> Assignment | None:
    """The open slot on the twin item that goes with this one, which was open until now."""
    twin = twin_item(session, session.get_one(Item, assignment.item_id))
    if twin is None:
        return None
    return session.scalar(
        select(Assignment).where(
            Assignment.item_id == twin.id, Assignment.status == "open", Assignment.purpose == assignment.purpose,
            Assignment.slot_no == assignment.slot_no, Assignment.pass_no == assignment.pass_no,
        )
    )  # fmt: skip


def with_twin(session: orm.Session, assignment: Assignment) -> tuple[Assignment, ...]:
    """This work and its twin, the left report's first; the work alone where nothing is rated beside.

    The left one stands for the page in a browser, never the target's: nothing there may tell which is the reference.
    """
    twin = twin_assignment(session, assignment)
    if twin is None:
        return (assignment,)
    return (assignment, twin) if assignment.left != "B" else (twin, assignment)


def hold_twins(session: orm.Session, assignment: Assignment) -> None:
    """Lock the work and its twin, in the order of their rows as everybody who locks several does."""
    for held in sorted(with_twin(session, assignment), key=lambda row: row.id):
        session.refresh(held, with_for_update=True)
