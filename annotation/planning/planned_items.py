"""The items a plan holds, and which of them stand already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.pairing import Amount, Pair, Single, Twins, plan_pairs, plan_singles
from annotation.planning.listed_pairs import PairList, listed_pairs
from annotation.planning.newest_reports import candidates
from annotation.planning.planned_probes import Probe, plan_probes
from annotation.studies import protocol_of
from annotation.work.twins import rates_both, twin_items
from db.tables import Item, Study

# what tells two items apart: the reports that are rated and the reference beside them, or a probe's own number
Key = tuple[frozenset[int], int | None] | int


Planned = Pair | Single | Probe


@dataclass(frozen=True)
class Asked:
    """What the plan's items were asked for with: a design and how many, or a list of pairs."""

    design: str = "reference"
    per_topic: int | None = None
    per_category: int | None = None
    total: int | None = None
    listed: PairList | None = None

    @property
    def amount(self) -> dict[str, int | None]:
        """How many, as `plan_pairs` takes it and the audit trail keeps it."""
        return {"per_topic": self.per_topic, "per_category": self.per_category, "total": self.total}


def plan_items(session: Session, study: Study, asked: Asked) -> tuple[Sequence[Planned], Sequence[int | None]]:
    """The protocol's items, and the priority of each where a list says one. Writes nothing."""
    protocol = protocol_of(study)
    if asked.listed is not None:
        if protocol.task_type != "pairwise_choice" and not rates_both(protocol):
            raise AnnotationError("bad_design", f"a list of pairs is for pairwise_choice, not for {protocol.task_type}")
        if any(asked.amount.values()):
            raise AnnotationError(
                "bad_design", "a list says itself which pairs; leave out how many a topic, a category or in all"
            )
    if protocol.task_type == "probe_label":
        return plan_probes(session, study, Amount(**asked.amount)), ()
    reports = candidates(session, study)
    standing, barred = _rated(session, study)
    if protocol.task_type == "pairwise_choice" or rates_both(protocol):
        priorities: Sequence[int | None] = ()
        if asked.listed is not None:
            pairs, priorities = listed_pairs(asked.listed.rows, reports, study.seed, barred)
        else:
            pairs = plan_pairs(
                reports, study.seed, design=asked.design, **asked.amount, standing=standing, barred=barred
            )
        return [Twins(one.topic, one.a, one.b) for one in pairs] if rates_both(protocol) else pairs, priorities
    beside = protocol.answers.paired_view == "reference"
    return plan_singles(
        reports, study.seed, **asked.amount, beside_reference=beside, standing=standing, barred=barred
    ), ()  # fmt: skip


def key_of(planned: Planned) -> Key:
    """What the same item is known by in every plan; of twins the item that rates A."""
    if isinstance(planned, Probe):
        return planned.item
    if isinstance(planned, Twins):
        return frozenset((planned.a.report,)), planned.b.report
    if isinstance(planned, Pair):
        return frozenset((planned.a.report, planned.b.report)), None
    return frozenset((planned.report.report,)), planned.reference.report if planned.reference else None


def items_by_key(session: Session, study: Study) -> dict[Key, int]:
    """Items that stand; a report that is rated beside another reference than before is another item."""
    items: dict[Key, int] = {}
    for row in session.scalars(select(Item).where(Item.study_id == study.id, Item.purpose == "label")):
        items[row.id if row.kind == "probe" else (_rated_by(row), row.reference_id)] = row.id
    return items


def _rated(session: Session, study: Study) -> tuple[set[frozenset[int]], set[frozenset[int]]]:
    """The reports rated in items that stand, and those of training and attention items."""
    rows = session.scalars(select(Item).where(Item.study_id == study.id, Item.kind != "probe")).all()
    twins = twin_items(session, study)
    if rates_both(protocol_of(study)) and any(row.id not in twins for row in rows):
        raise AnnotationError(
            "other_view", f"study {study.name!r} has items of another view, which rate one report; make a new study"
        )
    by_id = {row.id: _rated_by(row) for row in rows}
    rated = {item: reports | by_id.get(twins.get(item, item), reports) for item, reports in by_id.items()}
    standing = {rated[row.id] for row in rows if row.purpose == "label" and row.excluded_at is None}
    return standing, {rated[row.id] for row in rows if row.purpose != "label"}


def _rated_by(item: Item) -> frozenset[int]:
    return frozenset(report for report in (item.report_a_id, item.report_b_id) if report is not None)
