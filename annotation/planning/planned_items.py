"""The items a plan holds, of the newest reports and of drawn probes, and which of them exist already."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import func, or_, orm, select

from annotation.designs import pairing
from annotation.designs.listed_pairs import PairList, listed_pairs
from annotation.errors import AnnotationError
from annotation.items.twins import twin_items
from annotation.planning.probes import Probe, Strata, draw_probes, draw_strata, in_strata, verdicts_of
from annotation.studies import protocol_of
from db.tables import LIVE, SLOT_SOURCES, Assignment, Item, Report, Study, System, Topic
from db.types import now


def plan_probes(
    session: orm.Session, study: Study, amount: pairing.Amount, strata: Strata | None = None
) -> list[Probe]:
    """The probes to plan, by item: so many of each stratum, or as `draw_probes` has it. Raises AnnotationError where
    there are none."""
    mine = Item.study_id == study.id, Item.kind == "probe", Item.excluded_at.is_(None), Item.purpose == "label"
    rows = session.execute(
        select(Topic.key, Item.id, System.key, Item.tag, Item.probe_key, Topic.category)
        .join(Topic, Topic.id == Item.topic_id)
        .outerjoin(Report, Report.id == Item.report_a_id)
        .outerjoin(System, System.id == Report.system_id)
        .where(*mine)
        .order_by(Item.id)
    )
    probes = [
        Probe(topic, item, system or "", tag, key or "", category) for topic, item, system, tag, key, category in rows
    ]
    if not probes:
        raise AnnotationError(
            "no_probes", "study {name!r} has no probes; bring some in: calipers import probes PATH --layout …",
            name=study.name,
        )  # fmt: skip
    slots = Assignment.status.in_(LIVE), Assignment.source.in_(SLOT_SOURCES), Assignment.purpose == "label"
    planned = select(Assignment.item_id).where(Assignment.study_id == study.id, *slots)
    standing = set(session.scalars(planned))
    if strata is None:
        return draw_probes(probes, study.seed, amount, standing)
    verdicts = verdicts_of(session, study, strata.judge) if "verdict" in strata.by else {}
    return draw_strata(in_strata(probes, strata.by, verdicts), strata.each, study.seed, standing)


# what tells two items apart: the reports that are rated and the reference beside them, or a probe's own number
Key = tuple[frozenset[int], int | None] | int


Planned = pairing.Pair | pairing.Single | Probe


@dataclass(frozen=True)
class Asked:
    """What the plan's items were asked for with: a design and how many, or a list of pairs."""

    design: str = "reference"
    per_topic: int | None = None
    per_category: int | None = None
    total: int | None = None
    listed: PairList | None = None
    strata: Strata | None = None

    @property
    def amount(self) -> dict[str, int | None]:
        """How many, as `plan_pairs` takes it and the audit trail keeps it."""
        return {"per_topic": self.per_topic, "per_category": self.per_category, "total": self.total}


def plan_items(session: orm.Session, study: Study, asked: Asked) -> tuple[Sequence[Planned], Sequence[int | None]]:
    """The protocol's items, and the priority of each where a list says one. Writes nothing."""
    protocol = protocol_of(study)
    if asked.strata is not None and (protocol.task_type != "probe_label" or any(asked.amount.values())):
        raise AnnotationError(
            "bad_design", "strata are for claims and other probes, and say themselves how many: leave out how many a "
            "topic, a category or in all",
        )  # fmt: skip
    if asked.listed is not None:
        if protocol.task_type != "pairwise_choice" and not protocol.rates_both:
            raise AnnotationError(
                "bad_design", "a list of pairs is for pairwise_choice, not for {task_type}",
                task_type=protocol.task_type,
            )  # fmt: skip
        if any(asked.amount.values()):
            raise AnnotationError(
                "bad_design", "a list says itself which pairs; leave out how many a topic, a category or in all"
            )
    if protocol.task_type == "probe_label":
        return plan_probes(session, study, pairing.Amount(**asked.amount), asked.strata), ()
    reports = candidates(session, study)
    brought = {report.topic: report for report in reports if report.system == pairing.EVIDENCE}
    standing, barred = _rated(session, study)
    if protocol.task_type == "pairwise_choice" or protocol.rates_both:
        priorities: Sequence[int | None] = ()
        reports = [report for report in reports if report not in brought.values()]
        if asked.listed is not None:
            pairs, priorities = listed_pairs(asked.listed.rows, reports, study.seed, barred)
        else:
            pairs = pairing.plan_pairs(
                reports, study.seed, design=asked.design, **asked.amount, standing=standing, barred=barred
            )
        return [pairing.Twins(pair.topic, pair.a, pair.b) for pair in pairs] if protocol.rates_both else [
            replace(pair, evidence=brought.get(pair.topic)) for pair in pairs
        ], priorities
    beside = protocol.answers.paired_view
    return pairing.plan_singles(
        reports, study.seed, **asked.amount, beside=beside, standing=standing, barred=barred
    ), ()  # fmt: skip


def key_of(planned: Planned) -> Key:
    """What the same item is known by in every plan; of twins the item that rates A."""
    if isinstance(planned, Probe):
        return planned.item
    if isinstance(planned, pairing.Twins):
        return frozenset((planned.a.report,)), planned.b.report
    if isinstance(planned, pairing.Pair):
        return frozenset((planned.a.report, planned.b.report)), planned.evidence.report if planned.evidence else None
    return frozenset((planned.report.report,)), planned.reference.report if planned.reference else None


def items_by_key(session: orm.Session, study: Study) -> dict[Key, int]:
    """Items that are there; a report that is rated beside another reference than before is another item."""
    items: dict[Key, int] = {}
    for row in session.scalars(select(Item).where(Item.study_id == study.id, Item.purpose == "label")):
        items[row.id if row.kind == "probe" else (_rated_by(row), row.reference_id)] = row.id
    return items


def _rated(session: orm.Session, study: Study) -> tuple[set[frozenset[int]], set[frozenset[int]]]:
    """The reports rated in items that are there, and those of training and attention items."""
    rows = session.scalars(select(Item).where(Item.study_id == study.id, Item.kind != "probe")).all()
    twins = twin_items(session, study)
    if protocol_of(study).rates_both and any(row.id not in twins for row in rows):
        raise AnnotationError(
            "other_view", "study {name!r} has items of another view, which rate one report; make a new study",
            name=study.name,
        )  # fmt: skip
    by_id = {row.id: _rated_by(row) for row in rows}
    rated = {item: reports | by_id.get(twins.get(item, item), reports) for item, reports in by_id.items()}
    standing = {rated[row.id] for row in rows if row.purpose == "label" and row.excluded_at is None}
    return standing, {rated[row.id] for row in rows if row.purpose != "label"}


def _rated_by(item: Item) -> frozenset[int]:
    return frozenset(report for report in (item.report_a_id, item.report_b_id) if report is not None)


def shown_reports(session: orm.Session, study: Study) -> set[int]:
    """The ids of the reports that are in an item, as one of its texts or as the reference beside it."""
    columns = Item.report_a_id, Item.report_b_id, Item.reference_id
    rows = session.execute(select(*columns).where(Item.study_id == study.id, Item.excluded_at.is_(None)).distinct())
    return {report for row in rows for report in row if report is not None}


def candidates(session: orm.Session, study: Study) -> list[pairing.Candidate]:
    """The newest version of every report that has text and is not excluded."""
    newest = (
        select(func.max(Report.version))
        .where(Report.study_id == study.id)
        .group_by(Report.topic_id, Report.system_id)
        .with_only_columns(Report.topic_id, Report.system_id, func.max(Report.version).label("version"))
        .subquery()
    )
    rows = session.execute(
        select(Report.id, Topic.key, System.key, System.is_reference, Topic.category)
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
    return [pairing.Candidate(*row) for row in rows]


def retire_outdated(session: orm.Session, study: Study) -> int:
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
