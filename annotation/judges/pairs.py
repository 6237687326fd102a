"""Which pairs judges answer, without their texts, and the passes each one needs given what stands already.

Two reports that are both rated in one view are a pair here: one call, two items that are each other's twin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, LargeBinary, and_, cast, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from annotation.errors import AnnotationError
from annotation.judges.judge_file import JudgeDefinition
from annotation.judges.passes import Pass, draw_first, plan_passes
from annotation.planning.sides import OTHER
from annotation.studies import criteria_of, protocol_of
from annotation.work.asked import refuse_unasked
from annotation.work.twins import rates_both, twin_items
from db.aliases import REPORT_A, REPORT_B, SYSTEM_A, SYSTEM_B
from db.judge_tables import Judge
from db.tables import LIVE, Assignment, Criterion, Item, Study, Topic


@dataclass(frozen=True)
class LabelledItem:
    """An item to be judged. `reference`: which of A and B a reference system wrote, where exactly one is.

    `twin`: the item that rates the other report of the same view. What is A here is B there.
    """

    item_id: int
    topic_id: int
    sha256: tuple[str, ...]  # of the shown texts, A first
    characters: int  # of the shown texts, the topic and the probe
    utf8_bytes: int
    reference: str | None = None
    names: tuple[str, ...] = ("Left", "Right")  # of the shown texts; see annotation.work.shown
    probe: str | None = None
    twin: int | None = None

    @property
    def is_pair(self) -> bool:
        return self.names == ("Left", "Right")

    def served(self, shown: Pass) -> tuple[tuple[int, Pass], ...]:
        """The items that one showing answers, each with its own pass."""
        if self.twin is None or shown.left is None:
            return ((self.item_id, shown),)
        return (self.item_id, shown), (self.twin, replace(shown, left=OTHER[shown.left]))


def labelled_pairs(session: Session, study: Study) -> list[LabelledItem]:
    """Every pair that is not excluded and not only there for training or attention, by id.

    Where both reports of a view are rated, the item that was made first of the two stands for it: A by the plan's coin.
    """
    twins = twin_items(session, study) if rates_both(protocol_of(study)) else None
    beside = Item.report_b_id if twins is None else Item.reference_id
    a, b, system_a, system_b = REPORT_A, REPORT_B, SYSTEM_A, SYSTEM_B
    texts = (a.shown_text, b.shown_text, Topic.title, Topic.prompt)
    rows: Sequence[Sequence[Any]] = session.execute(
        select(
            Item.id, Item.topic_id, a.shown_sha256, b.shown_sha256, system_a.is_reference, system_b.is_reference,
            *(func.length(text) for text in texts), *(utf8_length(session, text) for text in texts),
        )
        .join(Topic, Topic.id == Item.topic_id)
        .join(a, a.id == Item.report_a_id)
        .join(b, b.id == beside)
        .join(system_a, system_a.id == a.system_id)
        .join(system_b, system_b.id == b.system_id)
        .where(
            Item.study_id == study.id, Item.kind == ("pair" if twins is None else "report"), to_label(),
            a.status == "ready", b.status == "ready",
        )
        .order_by(Item.id)
    ).all()  # fmt: skip
    there = {row[0] for row in rows}
    return [
        LabelledItem(
            item_id=row[0],
            topic_id=row[1],
            sha256=(row[2], row[3]),
            characters=sum(row[6:10]),
            utf8_bytes=sum(row[10:14]),
            reference=None if row[4] == row[5] else "A" if row[4] else "B",
            twin=None if twins is None else twins[row[0]],
        )
        for row in rows
        if twins is None or row[0] < twins.get(row[0], 0) in there
    ]


def criteria_by_topic(session: Session, study: Study, pairs: Sequence[LabelledItem]) -> dict[int, list[Criterion]]:
    """The questions asked of each topic's items, in page order. Raises AnnotationError `no_criteria` where none is."""
    refuse_unasked(session, study, {pair.topic_id for pair in pairs})
    return {topic: criteria_of(session, study, topic) for topic in {pair.topic_id for pair in pairs}}


def standing_passes(session: Session, study: Study, judge: str) -> dict[int, dict[int, Pass]]:
    """The passes a judge has already been given: item id -> pass_no -> pass."""
    found: dict[int, dict[int, Pass]] = {}
    rows = session.execute(
        select(Assignment.item_id, Assignment.pass_no, Assignment.repeat_no, Assignment.left)
        .join(Judge, Judge.rater_id == Assignment.rater_id)
        .where(Judge.study_id == study.id, Judge.name == judge, Assignment.status.in_(LIVE))
    )
    for item, pass_no, repeat_no, left in rows:
        found.setdefault(item, {})[pass_no] = Pass(pass_no, repeat_no, left or "A")
    return found


def passes_of(
    definition: JudgeDefinition,
    pairs: Sequence[LabelledItem],
    standing: Mapping[int, Mapping[int, Pass]],
    seed: int,
) -> dict[int, tuple[Pass, ...]]:
    """The passes over each item: one per repeat where nothing is paired. What stands is kept; `both` and `random`
    build on it.

    Raises AnnotationError when what stands cannot be part of this plan, or no reference can come first.
    """
    firsts = {item: passes[1].left or "A" for item, passes in standing.items() if 1 in passes}
    if definition.order == "random":
        firsts = draw_first([pair.item_id for pair in pairs], seed=seed, judge=definition.name, standing=firsts)
    planned = {}
    for pair in pairs:
        if not pair.is_pair:
            planned[pair.item_id] = tuple(Pass(repeat, repeat, None) for repeat in range(1, definition.repeats + 1))
            continue
        # a seeded coin named A and B, so A first favours no system
        drawn = firsts.get(pair.item_id, "A")
        first = _first_only(definition, pair) if definition.order == "first_only" else drawn
        planned[pair.item_id] = plan_passes(definition.order, definition.repeats, first)
        before = standing.get(pair.item_id, {})
        if any(before.get(shown.pass_no, shown) != shown for shown in planned[pair.item_id]):
            raise AnnotationError(
                "order_changed",
                f"judge {definition.name!r} was planned with another order before; its labels keep that one, "
                "so give the judge with the new order a new name",
            )
    return planned


def _first_only(definition: JudgeDefinition, pair: LabelledItem) -> str:
    if definition.first_report == "A":
        return "A"
    if pair.reference is None:
        raise AnnotationError(
            "no_reference",
            f"judge {definition.name!r}: first_report = {definition.first_report!r} needs exactly one reference report "
            f"in every pair, and item {pair.item_id} has none or two; use order = 'both'",
        )
    return pair.reference if definition.first_report == "reference" else OTHER[pair.reference]


def to_label() -> ColumnElement[bool]:
    """Items that are not excluded, and not there for training or attention."""
    return and_(Item.excluded_at.is_(None), Item.purpose == "label")


def utf8_length(session: Session, text: ColumnElement[str] | InstrumentedAttribute[str]) -> ColumnElement[int]:
    """UTF-8 bytes of a text."""
    if session.get_bind().dialect.name == "postgresql":
        return func.octet_length(text)
    return func.length(cast(text, LargeBinary))
