"""Who holds which slot of an item, and what an admin may change about those that are open. Names are for admins."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, orm, select, update

from annotation.errors import AnnotationError
from annotation.items.shown import item_code
from annotation.items.twins import once_a_page, twin_items, with_twin
from annotation.open_work import quotas, returns
from annotation.people.principals import Principal, enrollment_of, study_for
from annotation.studies import audit
from db.people_tables import Rater
from db.tables import LIVE, SLOT_SOURCES, Assignment, Item, Study, Topic

PRIORITIES = (-1000, 1000)
HOLDER, RESERVED = orm.aliased(Rater), orm.aliased(Rater)  # made once: to make one costs more than to run the statement


@dataclass(frozen=True)
class ItemSlots:
    """One item and its label slots. `held_by`: (name, taken | submitted | locked) of those who have one."""

    item: str  # item-00001 …
    topic: str
    priority: int
    is_excluded: bool
    open: int
    taken: int
    handed_in: int
    held_by: tuple[tuple[str, str], ...]
    reserved_for: tuple[str, ...]  # of the open ones


def list_items(session: orm.Session, principal: Principal) -> list[ItemSlots]:
    """Every item that is labelled, with its slots; of two rated in one view the one that stands for both.

    Raises AnnotationError `forbidden` for all but admins.
    """
    study = study_for(session, principal, "admin")
    slots = session.execute(
        select(Assignment.item_id, Assignment.status, HOLDER.handle, RESERVED.handle)
        .outerjoin(HOLDER, HOLDER.id == Assignment.rater_id)
        .outerjoin(RESERVED, RESERVED.id == Assignment.reserved_for)
        .where(Assignment.study_id == study.id, *_slot_conditions())
        .order_by(Assignment.item_id, Assignment.slot_no)
    )
    held: dict[int, list[tuple[str, str]]] = defaultdict(list)
    waiting: dict[int, list[str]] = defaultdict(list)  # "" where anybody may take it
    for item, status, name, kept_for in slots:
        if status == "open":
            waiting[item].append(kept_for or "")
        else:
            held[item].append((name, status))
    rows = session.execute(
        select(Item.id, Topic.key, Item.priority, Item.excluded_at)
        .join(Topic, Topic.id == Item.topic_id)
        .where(Item.study_id == study.id, Item.purpose == "label", *once_a_page(study, Item.id))
        .order_by(Item.id)
    )
    return [
        ItemSlots(
            item=item_code(item),
            topic=topic,
            priority=priority,
            is_excluded=excluded is not None,
            open=len(waiting[item]),
            taken=sum(status == "taken" for _, status in held[item]),
            handed_in=sum(status != "taken" for _, status in held[item]),
            held_by=tuple(held[item]),
            reserved_for=tuple(filter(None, waiting[item])),
        )
        for item, topic, priority, excluded in rows
    ]


def set_priority(session: orm.Session, principal: Principal, items: Sequence[str], priority: int) -> int:
    """Give items out earlier (higher) or later. Moves open slots only; returns how many."""
    study = study_for(session, principal, "admin")
    lowest, highest = PRIORITIES
    if not lowest <= priority <= highest:
        raise AnnotationError("bad_priority", f"priority {priority} is out of range; use {lowest} to {highest}")
    ids = _with_twins(session, study, _ids(session, study, items))
    open_ones = Assignment.item_id.in_(ids), *_slot_conditions(), Assignment.status == "open"
    session.execute(update(Item).where(Item.id.in_(ids)).values(priority=priority))
    moved = session.scalars(
        update(Assignment).where(*open_ones).values(priority=priority).returning(Assignment.item_id)
    ).all()
    audit(session, study.id, principal.rater_id, "priority", items=list(items), priority=priority)
    return _pages(session, study, moved)


def reserve(session: orm.Session, principal: Principal, items: Sequence[str], name: str) -> int:
    """Keep one open slot of each item for this person. Returns how many were not theirs before.

    Raises AnnotationError where an item has no slot left for them, or they had it already; then nothing changes.
    """
    study = study_for(session, principal, "admin")
    person = enrollment_of(session, study, name)
    if person.role != "annotator" or person.status == "withdrawn":
        raise AnnotationError("bad_person", f"{name!r} is no annotator who takes part; slots are for those who label")
    reserved = 0
    for code, item in zip(items, _ids(session, study, items), strict=True):
        had = select(Assignment.id).where(Assignment.item_id == item, Assignment.rater_id == person.rater_id)
        if session.scalar(had.where(*quotas.had_by_somebody(study)).limit(1)) is not None:
            raise AnnotationError("had_already", f"{name!r} had {code} already; nobody gets an item twice")
        slots = session.scalars(
            select(Assignment)
            .where(Assignment.item_id == item, *_slot_conditions(), Assignment.status == "open")
            .order_by(Assignment.slot_no)
            .with_for_update()
        ).all()
        if any(slot.reserved_for == person.rater_id for slot in slots):
            continue
        free = next((slot for slot in slots if slot.reserved_for is None), None)
        if free is None:
            raise AnnotationError(
                "no_open_slot",
                f"{code} has no slot that is open to anybody; release one, or raise the overlap with: "
                f"calipers pairs {study.name} --overlap K --apply",
            )
        for waiting in with_twin(session, free):
            waiting.reserved_for = person.rater_id
        reserved += 1
    audit(session, study.id, principal.rater_id, "reserve", items=list(items), enrollment=person.pseudonym)
    session.flush()
    return reserved


def release(session: orm.Session, principal: Principal, items: Sequence[str], name: str | None = None) -> int:
    """Open reserved slots to everybody: those of these items (all where none is named), or of one person's.

    Returns how many.
    """
    study = study_for(session, principal, "admin")
    reserved = update(Assignment).where(
        Assignment.study_id == study.id, *_slot_conditions(), Assignment.status == "open",
        Assignment.reserved_for.is_not(None),
    )  # fmt: skip
    if items:
        reserved = reserved.where(Assignment.item_id.in_(_with_twins(session, study, _ids(session, study, items))))
    if name is not None:
        reserved = reserved.where(Assignment.reserved_for == enrollment_of(session, study, name).rater_id)
    released = session.scalars(reserved.values(reserved_for=None).returning(Assignment.item_id)).all()
    slots = _pages(session, study, released)
    audit(session, study.id, principal.rater_id, "release", items=list(items), slots=slots)
    return slots


def return_stale_now(session: orm.Session, principal: Principal) -> int:
    """Return what nobody has touched for long, as every take does. Returns how many went back."""
    study = study_for(session, principal, "admin")
    returned = returns.return_stale(session, study)
    audit(session, study.id, principal.rater_id, "return_stale", returned=returned)
    return returned


def _slot_conditions() -> tuple[ColumnElement[bool], ...]:
    return Assignment.purpose == "label", Assignment.source.in_(SLOT_SOURCES), Assignment.status.in_(LIVE)


def _with_twins(session: orm.Session, study: Study, items: Sequence[int]) -> list[int]:
    """What is rated in one view is given out together."""
    return sorted({*items, *twin_items(session, study, items).values()})


def _pages(session: orm.Session, study: Study, items: Sequence[int]) -> int:
    """Of so many slots, given by their items: how many they are where two rated in one view are one."""
    twins = twin_items(session, study, set(items))
    return sum(item < twins.get(item, item + 1) for item in items)


def _ids(session: orm.Session, study: Study, items: Sequence[str]) -> list[int]:
    """The ids behind `item-00003`. Raises AnnotationError `unknown_item` naming the first that is none."""
    known = {
        item_code(item): item
        for item in session.scalars(select(Item.id).where(Item.study_id == study.id, Item.purpose == "label"))
    }
    for code in items:
        if code not in known:
            raise AnnotationError(
                "unknown_item", f"no item {code!r} in {study.name!r}; list them with: calipers items {study.name}"
            )
    return [known[code] for code in items]
