"""A plan becomes rows: items, and the slots that wait for annotators with their side already drawn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.pairing import Candidate, Pair, Single, Slot, plan_alone, plan_pairs, plan_sides, plan_singles
from annotation.passages import compare_reports, to_stored
from annotation.people import Principal, study_for
from annotation.plan_root import keep_plan_root
from annotation.studies import audit, protocol_of
from db.tables import LIVE, Assignment, Item, Report, Study, System, Topic
from db.types import now

# what tells two items apart: the reports that are rated and the reference beside them, or a probe's own number
Key = tuple[frozenset[int], int | None] | int


@dataclass(frozen=True)
class Probe:
    """A probe that was imported: its item stands already and only lacks slots."""

    topic: str
    item: int


@dataclass(frozen=True)
class Plan:
    """What `calipers pairs` prints, and what `apply_plan` writes."""

    items: tuple[Pair | Single | Probe, ...]
    slots: tuple[Slot, ...]  # only those that do not stand yet
    standing: tuple[frozenset[int], ...]  # slot numbers each item has already
    overlap: int
    design: str = ""  # as it was asked for, with how many per topic
    per_topic: int | None = None

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The items that are pairs: all of them, or none."""
        return tuple(item for item in self.items if isinstance(item, Pair))


def make_plan(session: Session, principal: Principal, *, design: str, per_topic: int | None, overlap: int) -> Plan:
    """Plan the protocol's items, and their sides where they are pairs, from the study's seed. Writes nothing.

    `design` is for pairs only. A rating is planned one item a report; probes stand since their import.
    """
    study = study_for(session, principal, "admin")
    planned = _plan_items(session, study, design, per_topic)
    items = _items_by_key(session, study)
    live = _live_slots(session, study)
    standing = tuple(frozenset(live[items.get(_key(item), -1)]) for item in planned)
    # a pair that stands keeps the names it was given then
    pairs = [item for item in planned if isinstance(item, Pair)]
    slots = plan_sides(pairs, overlap, study.seed, standing) if pairs else plan_alone(overlap, standing)
    return Plan(tuple(planned), tuple(slots), standing, overlap, design if pairs else "", per_topic)


def _plan_items(
    session: Session, study: Study, design: str, per_topic: int | None
) -> Sequence[Pair] | Sequence[Single] | Sequence[Probe]:
    protocol = protocol_of(study)
    if protocol.task_type == "pairwise_choice":
        return plan_pairs(candidates(session, study), study.seed, design=design, per_topic=per_topic)
    if protocol.task_type == "pointwise_rating":
        view = protocol.answers.paired_view
        if view == "both":
            raise AnnotationError(
                "not_yet_active", "paired_view = 'both' has no page yet; set it to 'none' or 'reference'"
            )
        reports = candidates(session, study)
        return plan_singles(reports, study.seed, per_topic=per_topic, beside_reference=view == "reference")
    rows = (
        select(Topic.key, Item.id)
        .join(Topic, Topic.id == Item.topic_id)
        .where(
            Item.study_id == study.id,
            Item.kind == "probe",
            Item.excluded_at.is_(None),
            Item.purpose == "label",
        )
    )
    probes = [Probe(topic, item) for topic, item in session.execute(rows.order_by(Item.id))]
    if not probes:
        raise AnnotationError("no_probes", f"study {study.name!r} has no probes; import some first")
    return probes


def compare_plan(
    session: Session, principal: Principal, plan: Plan, progress: Callable[[int, int], None] = lambda done, of: None
) -> dict[tuple[int, int], dict[str, Any]]:
    """The alike passages of every new item that shows two reports, by those reports, for `apply_plan`.

    Writes nothing; some 30 ms an item, so call it outside the writing transaction.
    """
    items = _items_by_key(session, study_for(session, principal, "admin"))
    new = [two for planned in plan.items if _key(planned) not in items and (two := _two_reports(planned))]
    found = {}
    for done, two in enumerate(new, start=1):
        a, b = (session.get_one(Report, report) for report in two)
        alike = compare_reports(a.shown_text, b.shown_text)
        found[a.id, b.id] = to_stored(alike, a.shown_sha256, b.shown_sha256)
        progress(done, len(new))
    return found


def apply_plan(
    session: Session,
    principal: Principal,
    plan: Plan,
    passages: Mapping[tuple[int, int], dict[str, Any]] | None = None,
) -> int:
    """Write the plan's items and open slots; what stands already is left alone. Returns how many slots were made.

    `passages` are those of `compare_plan`; for an item without any the page works them out when it is asked for.
    """
    study = study_for(session, principal, "admin")
    items = _items_by_key(session, study)
    topics = {row.key: row.id for row in session.scalars(select(Topic).where(Topic.study_id == study.id))}
    for planned in plan.items:
        if _key(planned) not in items:
            item = Item(study_id=study.id, topic_id=topics[planned.topic])
            if isinstance(planned, Pair):
                item.kind, item.report_a_id, item.report_b_id = "pair", planned.a.report, planned.b.report
            elif isinstance(planned, Single):
                item.kind, item.report_a_id = "report", planned.report.report
                item.reference_id = planned.reference.report if planned.reference else None
            if two := _two_reports(planned):
                item.passages = (passages or {}).get(two)
            session.add(item)
            session.flush()
            items[_key(planned)] = item.id
    for slot in plan.slots:
        session.add(
            Assignment(
                study_id=study.id,
                item_id=items[_key(plan.items[slot.item])],
                slot_no=slot.slot_no,
                left=slot.left,
                plan_seed=study.seed,
            )
        )
    audit(
        session, study.id, principal.rater_id, "pairs", items=len(plan.items), slots=len(plan.slots),
        design=plan.design, per_topic=plan.per_topic, overlap=plan.overlap,
    )  # fmt: skip
    session.flush()
    if study.plan_root is not None:
        keep_plan_root(session, study)
    return len(plan.slots)


def _two_reports(planned: Pair | Single | Probe) -> tuple[int, int] | None:
    """The reports an item shows side by side: A and B, or the rated one and its reference."""
    if isinstance(planned, Pair):
        return planned.a.report, planned.b.report
    if isinstance(planned, Single) and planned.reference:
        return planned.report.report, planned.reference.report
    return None


def retire_outdated(session: Session, study: Study) -> int:
    """Take out of work every item that shows a replaced report and that nobody has begun. Returns how many."""
    newest = (
        select(Report.topic_id, Report.system_id, func.max(Report.version).label("version"))
        .where(Report.study_id == study.id)
        .group_by(Report.topic_id, Report.system_id)
        .subquery()
    )
    outdated = (
        select(Report.id)
        .join(newest, (newest.c.topic_id == Report.topic_id) & (newest.c.system_id == Report.system_id))
        .where(Report.version < newest.c.version)
    )
    begun = select(Assignment.item_id).where(Assignment.status.not_in(("open", "void")))
    items = session.scalars(
        select(Item).where(
            Item.study_id == study.id,
            Item.excluded_at.is_(None),
            or_(*(report.in_(outdated) for report in (Item.report_a_id, Item.report_b_id, Item.reference_id))),
            Item.id.not_in(begun),
        )
    ).all()
    for item in items:
        item.excluded_at = now()
    return len(items)


def candidates(session: Session, study: Study) -> list[Candidate]:
    """The newest version of every report that has text and is not excluded."""
    newest = (
        select(func.max(Report.version))
        .where(Report.study_id == study.id)
        .group_by(Report.topic_id, Report.system_id)
        .with_only_columns(Report.topic_id, Report.system_id, func.max(Report.version).label("version"))
        .subquery()
    )
    rows = session.execute(
        select(Report.id, Topic.key, System.key, System.is_reference)
        .join(
            newest,
            (newest.c.topic_id == Report.topic_id)
            & (newest.c.system_id == Report.system_id)
            & (newest.c.version == Report.version),
        )
        .join(Topic, Topic.id == Report.topic_id)
        .join(System, System.id == Report.system_id)
        .where(Report.status == "ready")
        .order_by(Topic.key, System.key)
    )
    return [Candidate(report, topic, system, is_reference) for report, topic, system, is_reference in rows]


def _key(planned: Pair | Single | Probe) -> Key:
    if isinstance(planned, Probe):
        return planned.item
    if isinstance(planned, Pair):
        return frozenset((planned.a.report, planned.b.report)), None
    return frozenset((planned.report.report,)), planned.reference.report if planned.reference else None


def _items_by_key(session: Session, study: Study) -> dict[Key, int]:
    """Items that stand; a report that is rated beside another reference than before is another item."""
    items: dict[Key, int] = {}
    for row in session.scalars(select(Item).where(Item.study_id == study.id)):
        rated = frozenset(report for report in (row.report_a_id, row.report_b_id) if report is not None)
        items[row.id if row.kind == "probe" else (rated, row.reference_id)] = row.id
    return items


def _live_slots(session: Session, study: Study) -> dict[int, set[int]]:
    """item -> slot numbers that are open, taken or handed in."""
    rows = session.execute(
        select(Assignment.item_id, Assignment.slot_no).where(
            Assignment.study_id == study.id,
            Assignment.purpose == "label",
            Assignment.source == "app",
            Assignment.status.in_(LIVE),
        )
    )
    live: dict[int, set[int]] = defaultdict(set)
    for item, slot_no in rows:
        live[item].add(slot_no)
    return live
