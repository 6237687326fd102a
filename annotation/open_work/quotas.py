"""Which open slots a person may take, and how many: quotas are kept so that the last slots are never stranded.

Whoever takes a slot may use up the only people another slot could still go to. So a take must lower what all of them
together can still fill by one and no more; slots that would break this are passed over, and other people get them.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, func, or_, orm, select

from annotation.items.twins import once_a_page
from annotation.protocol import Protocol
from annotation.studies import hold_study, protocol_of
from db.connect import rows_of
from db.people_tables import Enrollment
from db.tables import ASSIGNMENT_STATUSES, FLAGGED, SLOT_SOURCES, Assignment, Item, Report, Study

BEGUN = tuple(status for status in ASSIGNMENT_STATUSES if status != "open")
# persons x open slots. 60 people and 400 items with three slots each are 72,000 and take 6 ms; where there are more
# than this, no more are read. Nobody's last slots are near in a study with more left to do than that.
COMBINATIONS_MAX = 500_000
EVERY = 2**31 - 1  # a limit that is none
Reach = Callable[[int, int | None], bool]
RATER: ColumnElement[int] = bindparam("rater")  # of statements that are built once
QUOTAS = select(Enrollment.id).where(Enrollment.study_id == bindparam("study"), Enrollment.quota.is_not(None)).limit(1)
OWN_QUOTA = select(Enrollment.quota).where(Enrollment.study_id == bindparam("study"), Enrollment.rater_id == RATER)


@dataclass(frozen=True)
class Place:
    """`open` slots of one item that the same people may take: anybody, or the one they are reserved for.

    `unit`: what nobody gets twice, the item or, where a topic is seen once, its topic.
    """

    item: int
    unit: int
    reserved_for: int | None
    open: int


def within_reach(
    places: Sequence[Place], left: Mapping[int, int], had: Mapping[int, Collection[int]], taker: int
) -> set[int]:
    """Indices of the places `taker` may take from, so that the others can still fill all but one of what they could.

    `left`: person -> items they may still take; `had`: person -> units they are not given again.
    """
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, maximum_flow

    people = sorted(person for person, items in left.items() if items > 0)
    if taker not in people or not places:
        return set()
    units = {unit: n for n, unit in enumerate(dict.fromkeys(place.unit for place in places))}
    unit_of = np.array([units[place.unit] for place in places])
    reserved = np.array([place.reserved_for or 0 for place in places])
    may = np.zeros((len(people), len(units)), dtype=bool)
    for row, member in enumerate(people):
        may[row, [units[unit] for unit in had.get(member, ()) if unit in units]] = True
    may = ~may[:, unit_of] & ((reserved == 0) | (reserved == np.array(people)[:, None]))
    person, place = np.nonzero(may)
    mine = person == people.index(taker)
    if not mine.any():
        return set()
    # source, sink, people, one gate per person and unit that lets a single item through, places
    gates, gate = np.unique(person * len(units) + unit_of[place], return_inverse=True)
    gate_node, place_node = 2 + len(people), 2 + len(people) + len(gates)
    edges = [
        (np.zeros(len(people), int), 2 + np.arange(len(people)), np.array([left[member] for member in people])),
        (2 + gates // len(units), gate_node + np.arange(len(gates)), np.ones(len(gates), int)),
        (gate_node + gate, place_node + place, np.ones(len(place), int)),
        (place_node + np.arange(len(places)), np.ones(len(places), int), np.array([slot.open for slot in places])),
    ]
    start, end, capacity = (np.concatenate(column) for column in zip(*edges, strict=True))
    nodes = place_node + len(places)
    network = csr_array((capacity.astype(np.int32), (start, end)), shape=(nodes, nodes))
    flow = maximum_flow(network, 0, 1).flow
    rest = csr_array(network - flow)
    rest.eliminate_zeros()
    # some maximum flow uses an edge if this one does, or if a detour in what is left of it comes back to the edge
    part = connected_components(rest, connection="strong")[1]
    used = np.asarray(flow[gate_node + gate[mine], place_node + place[mine]]).ravel() > 0
    detour = part[gate_node + gate[mine]] == part[place_node + place[mine]]
    return {int(chosen) for chosen in place[mine][used | detour]}


def reach(session: orm.Session, study: Study, rater_id: int, *, limited: bool) -> Reach | None:
    """Says of an open slot, by its item and whom it is reserved for, whether quotas let this person have it.

    None where the study has none. `limited` is what `one_at_a_time` said, which goes first.
    """
    if not limited:
        return None
    once = protocol_of(study).study.topic_once
    left = _left(session, study, rater_id)
    most = COMBINATIONS_MAX // max(1, sum(items > 0 for items in left.values()))
    found = open_slots(study).with_only_columns(Assignment.id).limit(most + 1)
    slots = session.scalar(select(func.count()).select_from(found.subquery())) or 0
    if slots > most:
        return lambda item, reserved_for: left.get(rater_id, 0) > 0
    places = _places(session, study, once)
    left = {member: min(items, slots) for member, items in left.items()}
    within = within_reach(places, left, _had(session, study, once), rater_id)
    allowed = {(places[number].item, places[number].reserved_for) for number in within}
    return lambda item, reserved_for: (item, reserved_for) in allowed


def quota_left(session: orm.Session, study: Study, rater_id: int) -> int | None:
    """How many more items this person may take; None where there is no limit."""
    mine = rows_of(session, OWN_QUOTA, {"study": study.id, "rater": rater_id})
    quota: int | None = next((row.quota for row in mine), None)
    if quota is None:
        return None
    held = select(func.count()).where(Assignment.rater_id == rater_id, *_counted(study))
    return max(0, quota - (session.scalar(held) or 0))


def one_at_a_time(session: orm.Session, study: Study, *, always: bool = False) -> bool:
    """Until this transaction ends nobody else takes work in a study with quotas (`always`: in any).

    Returns whether it has quotas. Taken after the locks on one's own rows. SQLite has one writer at a time anyway.
    """
    limited = bool(rows_of(session, QUOTAS, {"study": study.id}))
    if always or limited:
        hold_study(session, study)
    return limited


def _counted(study: Study) -> list[Any]:
    """Conditions on Assignment: what uses up a quota."""
    live = Assignment.status.in_(("taken", "submitted", "locked"))
    ours = Assignment.source.in_(SLOT_SOURCES)
    return [Assignment.study_id == study.id, Assignment.purpose == "label", live, ours, *once_a_page(study)]


def _places(session: orm.Session, study: Study, once: bool) -> list[Place]:
    item, unit, reserved_for = Item.id, Item.topic_id if once else Item.id, Assignment.reserved_for
    rows = open_slots(study).with_only_columns(item, unit, reserved_for, func.count())
    return [Place(*row) for row in session.execute(rows.group_by(item, unit, reserved_for).order_by(item))]


def _left(session: orm.Session, study: Study, taker: int) -> dict[int, int]:
    """person -> items they may still take: everybody who labels and is not paused or withdrawn."""
    of_somebody = Assignment.rater_id.is_not(None)  # or SQLite reads every open slot
    held = select(Assignment.rater_id, func.count().label("held")).where(*_counted(study), of_somebody)
    held_by = held.group_by(Assignment.rater_id).subquery()
    rows = session.execute(
        select(Enrollment.rater_id, Enrollment.quota, func.coalesce(held_by.c.held, 0))
        .outerjoin(held_by, held_by.c.rater_id == Enrollment.rater_id)
        .where(
            Enrollment.study_id == study.id,
            Enrollment.status == "active",
            (Enrollment.role == "annotator") | (Enrollment.rater_id == taker),
        )
    )
    return {rater: EVERY if quota is None else max(0, quota - items) for rater, quota, items in rows}


def _had(session: orm.Session, study: Study, once: bool) -> dict[int, set[int]]:
    unit = Item.topic_id if once else Item.id
    rows = session.execute(
        select(Assignment.rater_id, unit)
        .join(Item, Item.id == Assignment.item_id)
        .where(Assignment.status.in_(BEGUN), Assignment.source != "judge", *had_by_somebody(study))
        .distinct()
    )
    had: dict[int | None, set[int]] = {}
    for rater, one in rows:
        had.setdefault(rater, set()).add(one)
    return {rater: units for rater, units in had.items() if rater is not None}


# came back without its person's wish, so it may be theirs again; a skipped item is not offered a second time
CAME_BACK = ("closed", "stale", "packet")


def open_to(study: Study, rater_id: int | ColumnElement[int] = RATER) -> Select[int, int, int]:
    """Open slots (id, item, priority) this person may take, the urgent first; by default of a parameter `rater`."""
    had = select(Assignment.item_id).where(Assignment.rater_id == rater_id, *had_by_somebody(study))
    mine = or_(Assignment.reserved_for.is_(None), Assignment.reserved_for == rater_id)
    slots = open_slots(study).where(mine, Assignment.item_id.not_in(had))
    slots = slots.order_by(Assignment.priority.desc(), Assignment.id)
    if protocol_of(study).study.topic_once:
        slots = slots.where(Item.topic_id.not_in(select(Item.topic_id).where(Item.id.in_(had))))
    return slots


def open_slots(study: Study) -> Select[int, int, int]:
    """Slots for label work (id, item, priority) that are open to whoever may take them; of twins one."""
    slots = select(Assignment.id, Assignment.item_id, Assignment.priority)
    # an outer join where each slot has its item: SQLite would begin with all items, once it has counted its tables
    return slots.outerjoin(Item, Item.id == Assignment.item_id).where(
        Assignment.study_id == study.id, Assignment.purpose == "label", Assignment.status == "open",
        *once_a_page(study), *may_be_shown(study, protocol_of(study)),
    )  # fmt: skip


def may_be_shown(study: Study, protocol: Protocol) -> list[Any]:
    """Conditions on Item: not taken out, and no passage in it waits for the owner's decision."""
    return list(_may_be_shown(study.id, protocol.reports.unresolved_flags == "refuse"))


@lru_cache(maxsize=64)  # asked several times with every step, and dearer to build than to run
def _may_be_shown(study_id: int, waits: bool) -> tuple[ColumnElement[bool], ...]:
    # named once: Postgres reckons with reading it anew for every item, and would sort all slots instead
    flagged = select(select(Report.id).where(Report.study_id == study_id, FLAGGED).cte("flagged").c.id)
    shown = (Item.report_a_id, Item.report_b_id, Item.reference_id) if waits else ()
    return (Item.excluded_at.is_(None), *(or_(report.is_(None), report.not_in(flagged)) for report in shown))


def had_by_somebody(study: Study) -> tuple[Any, ...]:
    """Conditions on Assignment: label work that its person is not given again."""
    return (
        Assignment.study_id == study.id,
        Assignment.purpose == "label",
        or_(Assignment.returned.is_(None), Assignment.returned.not_in(CAME_BACK)),
    )
