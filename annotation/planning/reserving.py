"""Named work: a roster of the study's active annotators, kept by reserving each slot for one of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import orm, select

from annotation.designs import pairing, rosters
from annotation.designs.sides_and_orders import Slot, orient_for
from annotation.errors import AnnotationError
from annotation.planning.planned_items import Key, Planned, items_by_key, key_of
from annotation.studies import protocol_of
from db.people_tables import Enrollment
from db.tables import LIVE, REPORT_A, REPORT_B, SLOT_SOURCES, SYSTEM_A, SYSTEM_B, Assignment, Item, Study, Topic


@dataclass(frozen=True)
class Roster:
    """Who labels what: the new slots with their people and sides, open slots to be reserved, labels a person."""

    slots: tuple[Slot, ...]
    reserve: tuple[tuple[int, int], ...]  # assignment, rater
    loads: Mapping[str, int]  # pseudonym -> labels of the plan and outside it, done and to do


def active_annotators(session: orm.Session, study: Study) -> list[Enrollment]:
    """Whose work may be planned: annotators that are neither paused nor withdrawn, the first invited first."""
    mine = Enrollment.study_id == study.id, Enrollment.role == "annotator", Enrollment.status == "active"
    return list(session.scalars(select(Enrollment).where(*mine).order_by(Enrollment.id)))


def plan_roster(session: orm.Session, study: Study, items: Sequence[Planned], slots: Sequence[Slot]) -> Roster:
    """Give every new and every open slot of the plan to one active annotator. Writes nothing.

    What people hold, have handed in or were promised stays theirs and counts; a slot promised to somebody who is no
    longer active is given to another. New slots of pairs get sides so that no system leans for anybody.
    Raises AnnotationError `no_people`, `too_few_people` or `quota`, with the numbers.
    """
    people = active_annotators(session, study)
    if not people:
        raise AnnotationError("no_people", "a roster needs people; invite the annotators first, then plan again")
    active = {person.rater_id for person in people}
    numbers, works = _works(session, study, items)
    given: dict[rosters.Place, int] = {}
    waiting: dict[rosters.Place, int] = {}
    held = select(Assignment).where(
        Assignment.study_id == study.id, Assignment.purpose == "label", Assignment.source.in_(SLOT_SOURCES)
    )
    for row in session.scalars(held.order_by(Assignment.id)):
        number = numbers.get(row.item_id)
        if number is None:
            continue
        if row.status == "open" and row.reserved_for not in active:
            if number < len(items):
                waiting[rosters.Place(number, row.slot_no)] = row.id
        elif row.status in LIVE:
            given[rosters.Place(number, row.slot_no)] = row.rater_id or row.reserved_for or 0
        elif row.status == "returned" and row.returned == "skipped" and row.rater_id in active:
            given[rosters.Place(number, -row.id)] = row.rater_id or 0  # never offered again, and no label either
    new = [rosters.Place(slot.item, slot.slot_no) for slot in slots]
    owner = rosters.roster(
        works, [*new, *waiting], sorted(active), study.seed, topic_once=protocol_of(study).study.topic_once, given=given
    )
    loads = Counter(person for place, person in owner.items() if place.slot_no > 0)
    _refuse_over_quota(people, loads)
    sided = _with_sides(items, [(slot, owner[place]) for slot, place in zip(slots, new, strict=True)], study.seed)
    return Roster(
        slots=tuple(sided),
        reserve=tuple((assignment, owner[place]) for place, assignment in waiting.items()),
        loads={person.pseudonym: loads[person.rater_id] for person in people},
    )


def pool_warning(session: orm.Session, study: Study, items: Sequence[Planned], overlap: int) -> str:
    """What the people who are invited by now cannot cover; empty where nobody is invited yet, or they can."""
    people = active_annotators(session, study)
    works = [rosters.Work(item.topic) for item in items]
    demand = dict.fromkeys(range(len(works)), overlap)
    return rosters.uncovered(works, demand, len(people), protocol_of(study).study.topic_once) if people else ""


def _works(session: orm.Session, study: Study, items: Sequence[Planned]) -> tuple[dict[int, int], list[rosters.Work]]:
    """Item id -> number, and the work of that number: the plan's items first, then the study's other ones."""
    a, b, one, other = REPORT_A, REPORT_B, SYSTEM_A, SYSTEM_B
    rows = session.execute(
        select(Item.id, Topic.key, one.key, other.key)
        .join(Topic, Topic.id == Item.topic_id)
        .outerjoin(a, a.id == Item.report_a_id)
        .outerjoin(b, b.id == Item.report_b_id)
        .outerjoin(one, one.id == a.system_id)
        .outerjoin(other, other.id == b.system_id)
        .where(Item.study_id == study.id, Item.purpose == "label")
        .order_by(Item.id)
    ).all()
    standing = {item: rosters.Work(topic, tuple(filter(None, systems))) for item, topic, *systems in rows}
    known: Mapping[Key, int] = items_by_key(session, study)
    numbers = {known[key]: number for number, item in enumerate(items) if (key := key_of(item)) in known}
    works = [_shown(item) or standing[known[key_of(item)]] for item in items]
    for item, work in standing.items():
        if item not in numbers:
            numbers[item] = len(works)
            works.append(work)
    return numbers, works


def _shown(item: Planned) -> rosters.Work | None:
    if isinstance(item, pairing.Pair):
        return rosters.Work(item.topic, (item.a.system, item.b.system))
    return rosters.Work(item.topic, (item.report.system,)) if isinstance(item, pairing.Single) else None


def _with_sides(items: Sequence[Planned], taken: Sequence[tuple[Slot, int]], seed: int) -> list[Slot]:
    drawn = sorted(taken, key=lambda held: (held[0].item, held[0].slot_no))
    pairing.seeded(seed, "sides", "roster", len(drawn)).shuffle(drawn)
    two = [(items[slot.item], person) for slot, person in drawn]
    edges = [(person, item.a.system, item.b.system) for item, person in two if isinstance(item, pairing.Pair)]
    is_a_left = iter(orient_for(edges))
    sided = [
        Slot(slot.item, slot.slot_no, None if slot.left is None else "A" if next(is_a_left) else "B", person)
        for slot, person in drawn
    ]
    return sorted(sided, key=lambda slot: (slot.item, slot.slot_no))


def _refuse_over_quota(people: Sequence[Enrollment], loads: Mapping[int, int]) -> None:
    for person in people:
        load = loads.get(person.rater_id, 0)
        if person.quota is not None and load > person.quota:
            raise AnnotationError(
                "quota",
                "{pseudonym} would have {load} items and may take {quota}; raise that quota, invite more people, or "
                "leave out --roster", pseudonym=person.pseudonym, load=load, quota=person.quota,
            )  # fmt: skip
