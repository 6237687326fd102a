"""What a plan would ask of people, before it is made: items and slots, sides, hours, money, and what comes on top."""

from collections import Counter, defaultdict
from dataclasses import dataclass, replace

from sqlalchemy import func, orm, select

from annotation.designs import pairing, sides_and_orders
from annotation.open_work.due import retests_of
from annotation.people.principals import Principal, study_for
from annotation.planning.planned_items import Planned
from annotation.planning.probes import Probe, as_drawn
from annotation.planning.reserving import active_annotators, pool_warning
from annotation.planning.slots import Plan
from annotation.protocol import Protocol
from annotation.studies import protocol_of
from annotation.texts.scripts import count_words
from db.tables import Item, Report, Study, Topic

READING_WPM = 230  # words a minute: silent reading of non-fiction, mean 238 (Brysbaert 2019); count_words has Chinese


@dataclass(frozen=True)
class SystemUse:
    """How often one system is shown: in items, in slots, and in those on the left and on the right."""

    system: str
    items: int
    slots: int
    left: int
    right: int


@dataclass(frozen=True)
class PlanSummary:
    """Counts of the whole plan, what is there and what is new. Hours are reading alone, of each text once a label."""

    items: int
    standing_items: int
    topics: int
    categories: dict[str, int]  # category -> items; empty where no topic has one
    overlap: int
    slots: int
    new_slots: int
    systems: tuple[SystemUse, ...]
    loads: dict[str, int] | None  # roster: pseudonym -> labels
    uneven_sides: int | None  # roster: the largest |left - right| of one person and system
    words: int
    reading_hours: float
    pay: float | None  # None where the protocol pays nothing
    currency: str
    retests: int  # expected
    attention_shown: int  # expected, over all people
    attention_items: int
    training_items: int
    strata: dict[str, tuple[int, int]]  # stratum, in words -> probes drawn, of how many; empty where none are asked for
    warning: str


def summary(session: orm.Session, principal: Principal, plan: Plan) -> PlanSummary:
    """The plan in numbers. Writes nothing."""
    study = study_for(session, principal, "admin")
    protocol, asked = protocol_of(study).study, protocol_of(study)
    slots = _all_slots(plan)
    each = [0] * len(plan.items)
    for slot in slots:
        each[slot.item] += 1
    words = _words(session, asked, plan, each)
    hours = words / READING_WPM / 60
    purposes = _counted(session, study)
    rows = session.execute(select(Topic.key, Topic.category).where(Topic.study_id == study.id))
    category_of = dict(rows.all())
    categories = Counter(category_of[item.topic] for item in plan.items)
    loads = _loads(session, study, plan, len(slots))
    return PlanSummary(
        items=len(plan.items),
        standing_items=len({slot.item for slot in plan.held.values()}),
        topics=len({item.topic for item in plan.items}),
        categories=dict(sorted(categories.items())) if set(categories) != {""} else {},
        overlap=plan.overlap,
        slots=len(slots),
        new_slots=len(plan.slots),
        systems=_systems(plan, slots, each),
        loads=dict(plan.loads) if plan.loads is not None else None,
        uneven_sides=_uneven(plan, slots) if plan.loads is not None and plan.pairs else None,
        words=words,
        reading_hours=hours,
        pay=hours * protocol.pay.rate if protocol.pay.rate else None,
        currency=protocol.pay.currency,
        retests=sum(retests_of(load, protocol.retest_share) for load in loads),
        attention_shown=sum(min(load // protocol.attention.every, purposes["attention"]) for load in loads),
        attention_items=purposes["attention"],
        training_items=purposes["training"],
        strata=_strata(plan),
        warning=pool_warning(session, study, plan.items, plan.overlap) if plan.loads is None else "",
    )


def _strata(plan: Plan) -> dict[str, tuple[int, int]]:
    if plan.asked.strata is None:
        return {}
    drawn = as_drawn(plan.asked.strata, [item for item in plan.items if isinstance(item, Probe)])["drawn"]
    return {", ".join(value or "none" for value in stratum): (count, among) for stratum, count, among in drawn}


def _all_slots(plan: Plan) -> list[sides_and_orders.Slot]:
    """Those that are there and the new ones, with the people a roster would give them."""
    given = dict(plan.reserve)
    held = [replace(slot, reserved_for=given.get(number, slot.reserved_for)) for number, slot in plan.held.items()]
    return [*held, *plan.slots]


def _loads(session: orm.Session, study: Study, plan: Plan, slots: int) -> list[int]:
    """Labels a person: as the roster says, else shared evenly among who is invited, else one person's."""
    if plan.loads is not None:
        return list(plan.loads.values())
    people = len(active_annotators(session, study)) or 1
    return [slots // people + (number < slots % people) for number in range(people)]


def _systems(plan: Plan, slots: list[sides_and_orders.Slot], each: list[int]) -> tuple[SystemUse, ...]:
    items, shown_in = Counter[str](), Counter[str]()
    for item, times in zip(plan.items, each, strict=True):
        for system in _shown_systems(item):
            items[system] += 1
            shown_in[system] += times
    sides = sides_and_orders.side_counts(plan.pairs, slots) if plan.pairs else {}
    return tuple(
        SystemUse(system, items[system], shown_in[system], *sides.get(system, (0, 0))) for system in sorted(items)
    )


def _shown_systems(item: Planned) -> list[str]:
    if isinstance(item, Probe):
        return [item.system] if item.system else []
    reports = [item.a, item.b] if isinstance(item, pairing.Pair) else [item.report]
    return [report.system for report in reports]


def _uneven(plan: Plan, slots: list[sides_and_orders.Slot]) -> int:
    by_person = defaultdict(list)
    for slot in slots:
        by_person[slot.reserved_for].append(slot)
    counts = [sides_and_orders.side_counts(plan.pairs, mine) for mine in by_person.values()]
    return max((abs(left - right) for sides in counts for left, right in sides.values()), default=0)


def _words(session: orm.Session, protocol: Protocol, plan: Plan, each: list[int]) -> int:
    """Words that people read: the texts of each slot; of probes the report once for each slot number, and the rest."""
    probes = {item.item: times for item, times in zip(plan.items, each, strict=True) if isinstance(item, Probe)}
    if probes:
        return _words_of_probes(session, probes)
    shown: Counter[int] = Counter()
    for item, times in zip(plan.items, each, strict=True):
        if isinstance(item, pairing.Pair):
            shown.update({item.a.report: times, item.b.report: times})
        elif isinstance(item, pairing.Single):
            # evidence is to be looked up, not read from end to end
            beside = None if protocol.answers.paired_view == "evidence" else item.reference
            shown.update({report.report: times for report in (item.report, beside) if report})
    length = dict(session.execute(select(Report.id, Report.words).where(Report.id.in_(shown))).all())
    return sum(length[report] * times for report, times in shown.items())


def _words_of_probes(session: orm.Session, probes: dict[int, int]) -> int:
    rows = select(Item.id, Item.probe, Item.context, Report.id, Report.words).outerjoin(
        Report, Report.id == Item.report_a_id
    )
    length: dict[int, int] = {}
    rest = 0
    for item, probe, context, report, words in session.execute(rows.where(Item.id.in_(probes))):
        rest += probes[item] * count_words(f"{probe} {context or ''}")
        if report is not None:
            length[report] = max(length.get(report, 0), words * probes[item])
    return rest + sum(length.values())


def _counted(session: orm.Session, study: Study) -> Counter[str]:
    rows = select(Item.purpose, func.count()).where(Item.study_id == study.id, Item.excluded_at.is_(None))
    return Counter(dict(session.execute(rows.group_by(Item.purpose)).all()))
