"""A plan becomes rows: items, and the slots that wait for annotators with their side already drawn."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import orm, select, update

from annotation.designs import listed_pairs, pairing
from annotation.designs.sides_and_orders import OTHER, CriteriaOrders, Slot, plan_alone, plan_sides
from annotation.errors import AnnotationError
from annotation.items.twins import twin_assignment, twin_item
from annotation.passages import compare_reports, to_stored, turned
from annotation.people.principals import Principal, study_for
from annotation.planning import draws, plan_root, probes, reserving
from annotation.planning.planned_items import Asked, Planned, items_by_key, key_of, plan_items
from annotation.studies import audit, protocol_of
from db.tables import LIVE, SLOT_SOURCES, Assignment, Item, Report, Study, Topic


@dataclass(frozen=True)
class Plan:
    """What `calipers pairs` tells of, and what `apply_plan` writes."""

    items: tuple[Planned, ...]
    slots: tuple[Slot, ...]  # only those that do not stand yet
    held: Mapping[int, Slot]  # assignment -> the slot it is, for those that stand; `reserved_for`: whose it is
    overlap: int
    asked: Asked  # the design is empty where nothing is paired
    priorities: tuple[int | None, ...] = ()  # of each item, where a list says it
    reserve: tuple[tuple[int, int], ...] = ()  # roster: assignments that are open already, and whose they become
    loads: Mapping[str, int] | None = None  # roster: pseudonym -> labels
    draw: draws.TopicDraw | None = None  # the topics whose slots these are, where topics are drawn

    @property
    def pairs(self) -> tuple[pairing.Pair, ...]:
        """The items that are pairs: all of them, or none."""
        return tuple(item for item in self.items if isinstance(item, pairing.Pair))


def make_plan(
    session: orm.Session,
    principal: Principal,
    *,
    design: str = "reference",
    per_topic: int | None = None,
    per_category: int | None = None,
    total: int | None = None,
    listed: listed_pairs.PairList | None = None,
    strata: probes.Strata | None = None,
    overlap: int,
    roster: bool = False,
    draw: draws.TopicDraw | None = None,
) -> Plan:
    """Plan the protocol's items, and their sides where they are pairs, from the study's seed. Writes nothing.

    `design` is for pairs only, a list of pairs takes its place. A rating is planned one item
    a report; probes are there since their import. What is there stays in the plan: asking for more only adds.
    With `roster` every slot is reserved for one of the study's active annotators. With a `draw` all topics get their
    items, for judges to answer, and those of this draw and of the draws before it slots.
    """
    study = study_for(session, principal, "admin")
    batches = draws.kept_draws(session, study)
    if batches and draw is None:
        raise AnnotationError("bad_design", "topics of this study are drawn: plan the next ones with --design active")
    drawn = None if draw is None else {topic for batch in (*batches, draw) for topic in batch.topics}
    if drawn is not None:
        draws.refuse_other_slots(session, study, {topic for batch in batches for topic in batch.topics})
    asked = Asked(design if listed is None else "file", per_topic, per_category, total, listed, strata)
    planned, priorities = plan_items(session, study, asked)
    held = _held(session, study, planned)
    standing: list[set[int]] = [set() for _ in planned]
    for slot in held.values():
        standing[slot.item].add(slot.slot_no)
    # a pair that stands keeps the names it was given then
    pairs = [item for item in planned if isinstance(item, pairing.Pair)]
    asking = [number for number, item in enumerate(planned) if drawn is None or item.topic in drawn]
    stand = [standing[number] for number in asking]
    sides = [pairs[number] for number in asking] if pairs else []
    slots = plan_sides(sides, overlap, study.seed, stand) if pairs else plan_alone(overlap, stand)
    slots = [replace(slot, item=asking[slot.item]) for slot in slots]
    plan = Plan(
        tuple(planned), tuple(slots), held, overlap,
        asked=asked if pairs else replace(asked, design=""), priorities=tuple(priorities), draw=draw,
    )  # fmt: skip
    if not roster:
        return plan
    named = reserving.plan_roster(session, study, plan.items, plan.slots)
    return replace(plan, slots=named.slots, reserve=named.reserve, loads=named.loads)


def compare_plan(
    session: orm.Session, principal: Principal, plan: Plan, progress: Callable[[int, int], None] = lambda done, of: None
) -> dict[tuple[int, int], dict[str, Any]]:
    """The alike passages of every new item that shows two reports, by those reports, for `apply_plan`.

    Writes nothing; some 30 ms an item, so call it outside the writing transaction.
    """
    items = items_by_key(session, study_for(session, principal, "admin"))
    new = [two for planned in plan.items if key_of(planned) not in items and (two := _two_reports(planned))]
    found = {}
    for done, two in enumerate(new, start=1):
        a, b = (session.get_one(Report, report) for report in two)
        alike = compare_reports(a.shown_text, b.shown_text)
        found[a.id, b.id] = to_stored(alike, a.shown_sha256, b.shown_sha256)
        progress(done, len(new))
    return found


def apply_plan(
    session: orm.Session,
    principal: Principal,
    plan: Plan,
    passages: Mapping[tuple[int, int], dict[str, Any]] | None = None,
) -> int:
    """Write the plan's items and open slots; what is there already is left alone. Returns how many slots were made.

    Of what is there only two things may change, and only while a slot is open: its priority, where a list says one, and
    whom it is reserved for. `passages` are those of `compare_plan`; for an item without any the page works them out
    when it is asked for.
    """
    study = study_for(session, principal, "admin")
    items = _enter_items(session, study, plan, passages or {})
    orders = CriteriaOrders(session, study)
    for slot in plan.slots:
        item, twin = items[slot.item]
        order = orders.draw(item.topic_id, *_name(plan.items[slot.item]), slot.slot_no)
        sides = {item: slot.left} if twin is None else {item: slot.left, twin: OTHER[slot.left or ""]}
        for one, left in sides.items():
            session.add(
                Assignment(
                    study_id=study.id,
                    item_id=one.id,
                    slot_no=slot.slot_no,
                    left=left,
                    criteria_order=order,
                    plan_seed=study.seed,
                    priority=item.priority,
                    reserved_for=slot.reserved_for,
                )
            )
    paired = protocol_of(study).rates_both
    for assignment, person in plan.reserve:
        twin_slot = twin_assignment(session, session.get_one(Assignment, assignment)) if paired else None
        ids = [assignment] if twin_slot is None else [assignment, twin_slot.id]
        still_open = Assignment.id.in_(ids), Assignment.status == "open"
        session.execute(update(Assignment).where(*still_open).values(reserved_for=person))
    drawn = [item for item in plan.items if isinstance(item, probes.Probe)]
    audit(
        session, study.id, principal.rater_id, "pairs", items=len(plan.items), slots=len(plan.slots),
        design=plan.asked.design, **plan.asked.amount, list_sha256=plan.asked.listed and plan.asked.listed.sha256,
        overlap=plan.overlap, roster=plan.loads is not None,
        strata=plan.asked.strata and probes.as_drawn(plan.asked.strata, drawn),
    )  # fmt: skip
    if plan.draw is not None and plan.draw.topics:
        draws.keep_draw(session, study, principal.rater_id, plan.draw)
    session.flush()
    if study.plan_root is not None:
        plan_root.keep_plan_root(session, study)
    return len(plan.slots)


def _enter_items(
    session: orm.Session, study: Study, plan: Plan, passages: Mapping[tuple[int, int], dict[str, Any]]
) -> list[tuple[Item, Item | None]]:
    """The plan's items as rows, with their twins, those made that are not there yet, each with its asked priority."""
    standing = items_by_key(session, study)
    topics = {row.key: row.id for row in session.scalars(select(Topic).where(Topic.study_id == study.id))}
    rows = []
    for number, planned in enumerate(plan.items):
        twin = None
        if key_of(planned) in standing:
            item = session.get_one(Item, standing[key_of(planned)])
            twin = twin_item(session, item)
        else:
            item = Item(study_id=study.id, topic_id=topics[planned.topic], priority=0)
            if isinstance(planned, pairing.Twins):
                item.kind, item.report_a_id, item.reference_id = "report", planned.a.report, planned.b.report
                twin = Item(study_id=study.id, topic_id=item.topic_id, priority=0, kind="report")
                twin.report_a_id, twin.reference_id = planned.b.report, planned.a.report
                two = _two_reports(planned)
                twin.passages = turned(passages.get(two)) if two else None
            elif isinstance(planned, pairing.Pair):
                item.kind, item.report_a_id, item.report_b_id = "pair", planned.a.report, planned.b.report
                item.reference_id = planned.evidence.report if planned.evidence else None
            elif isinstance(planned, pairing.Single):
                item.kind, item.report_a_id = "report", planned.report.report
                item.reference_id = planned.reference.report if planned.reference else None
            if two := _two_reports(planned):
                item.passages = passages.get(two)
            session.add_all(filter(None, (item, twin)))
        asked = plan.priorities[number] if plan.priorities else None
        for one in (item, twin):
            if one is None or asked is None or asked == one.priority:
                continue
            one.priority = asked
            if one.id is not None:
                waiting = Assignment.item_id == one.id, Assignment.status == "open"
                session.execute(update(Assignment).where(*waiting).values(priority=asked))
        session.flush()
        rows.append((item, twin))
    return rows


def _name(planned: Planned) -> tuple[object, ...]:
    """What an item is drawn by: names that are the same on every machine."""
    if isinstance(planned, pairing.Pair):
        return planned.topic, *sorted((planned.a.system, planned.b.system))
    return (planned.topic, planned.report.system) if isinstance(planned, pairing.Single) else ("probe", planned.item)


def _two_reports(planned: Planned) -> tuple[int, int] | None:
    """The reports an item shows side by side: A and B, or the rated one and its reference."""
    if isinstance(planned, pairing.Pair):
        return planned.a.report, planned.b.report
    if isinstance(planned, pairing.Single) and planned.reference:
        return planned.report.report, planned.reference.report
    return None


def _held(session: orm.Session, study: Study, planned: Sequence[Planned]) -> dict[int, Slot]:
    """The plan's slots that are open, taken or handed in, by assignment."""
    items = items_by_key(session, study)
    numbers = {items[key]: number for number, item in enumerate(planned) if (key := key_of(item)) in items}
    rows = session.scalars(
        select(Assignment)
        .where(
            Assignment.study_id == study.id,
            Assignment.purpose == "label",
            Assignment.source.in_(SLOT_SOURCES),
            Assignment.status.in_(LIVE),
        )
        .order_by(Assignment.id)
    )
    return {
        row.id: Slot(numbers[row.item_id], row.slot_no, row.left, row.rater_id or row.reserved_for)
        for row in rows
        if row.item_id in numbers
    }
