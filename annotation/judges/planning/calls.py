"""Which calls a judge needs for its pairs: the passes each pair needs, what each shows in which order, and its size.

Two reports that are both rated in one view are a pair here: one call, two items that are each other's twin.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, LargeBinary, and_, cast, func, or_, orm, select, update

from annotation import errors, labelling, studies
from annotation.designs.sides_and_orders import OTHER
from annotation.items.shown import ShownText, refuse_unasked
from annotation.items.twins import twin_items
from annotation.judges.asking import material, steps
from annotation.judges.asking.prompt import Material, Probe, build_prompt
from annotation.judges.defining.judge_file import JudgeDefinition
from annotation.judges.money import accounts, prices
from annotation.judges.replies.reply import PARSER_VERSION, failed_answers
from annotation.labels.answers import Answer
from annotation.protocol import Batching, Order, Protocol
from db.judge_tables import Judge, JudgeCall, JudgeCallAssignment
from db.tables import LIVE, REFERENCE, REPORT_A, REPORT_B, SYSTEM_A, SYSTEM_B, Assignment, Criterion, Item, Study, Topic
from db.types import now
from plain.hashes import canonical_sha256, identity_digest

T = TypeVar("T")


@dataclass(frozen=True)
class Pass:
    """One pass of a judge over an item; `left` is the report shown first, None where nothing is paired."""

    pass_no: int
    repeat_no: int
    left: str | None


def plan_passes(order: Order, repeats: int, first: str) -> tuple[Pass, ...]:
    """The passes over one pair whose first pass shows `first`. `both` swaps the sides within every repeat."""
    if order == "both":
        return tuple(
            Pass(2 * repeat - 1 + swapped, repeat, OTHER[first] if swapped else first)
            for repeat in range(1, repeats + 1)
            for swapped in (0, 1)
        )
    return tuple(Pass(repeat, repeat, first) for repeat in range(1, repeats + 1))


def draw_first(items: Iterable[int], *, seed: int, judge: str, standing: Mapping[int, str]) -> dict[int, str]:
    """A coin per item that says which report comes first, A and B equally often (within one).

    The coin depends on seed, judge and item. What is there is kept and counted: items added later restore the balance.
    """
    drawn = dict(standing)
    count = {side: sum(first == side for first in standing.values()) for side in ("A", "B")}
    coins = {item: identity_digest(seed, judge, item) for item in items if item not in standing}
    for item in sorted(coins, key=lambda item: coins[item]):
        if count["A"] == count["B"]:
            side = "A" if coins[item][-1] % 2 else "B"
        else:
            side = min(count, key=lambda side: count[side])
        drawn[item] = side
        count[side] += 1
    return drawn


def batches(criteria: Sequence[T], categories: Sequence[str], batching: Batching) -> list[tuple[T, ...]]:
    """The criteria of each call, in page order: all, one category at a time, or one at a time."""
    if batching == "all":
        return [tuple(criteria)] if criteria else []
    if batching == "one_criterion":
        return [(criterion,) for criterion in criteria]
    grouped: dict[str, list[T]] = {}
    for criterion, category in zip(criteria, categories, strict=True):
        grouped.setdefault(category, []).append(criterion)
    return [tuple(group) for group in grouped.values()]


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
    names: tuple[str, ...] = ("Left", "Right")  # of the shown texts; see annotation.items.shown
    probe: str | None = None
    twin: int | None = None

    @property
    def is_pair(self) -> bool:
        return self.names[:2] == ("Left", "Right")

    def served(self, shown: Pass) -> tuple[tuple[int, Pass], ...]:
        """The items that one showing answers, each with its own pass."""
        if self.twin is None or shown.left is None:
            return ((self.item_id, shown),)
        return (self.item_id, shown), (self.twin, replace(shown, left=OTHER[shown.left]))


def labelled_pairs(session: orm.Session, study: Study) -> list[LabelledItem]:
    """Every pair that is not excluded and not only there for training or attention, by id.

    Where both reports of a view are rated, the item that was made first of the two stands for it: A by the plan's coin.
    """
    twins = twin_items(session, study) if studies.protocol_of(study).rates_both else None
    beside = Item.report_b_id if twins is None else Item.reference_id
    a, b, brought, system_a, system_b = REPORT_A, REPORT_B, REFERENCE, SYSTEM_A, SYSTEM_B
    texts = (a.shown_text, b.shown_text, func.coalesce(brought.shown_text, ""), Topic.title, Topic.prompt)
    rows: Sequence[Sequence[Any]] = session.execute(
        select(
            Item.id, Item.topic_id, a.shown_sha256, b.shown_sha256, brought.shown_sha256, system_a.is_reference,
            system_b.is_reference,
            *(func.length(text) for text in texts), *(utf8_length(session, text) for text in texts),
        )
        .join(Topic, Topic.id == Item.topic_id)
        .join(a, a.id == Item.report_a_id)
        .join(b, b.id == beside)
        .outerjoin(brought, and_(brought.id == Item.reference_id, Item.kind == "pair"))
        .join(system_a, system_a.id == a.system_id)
        .join(system_b, system_b.id == b.system_id)
        .where(
            Item.study_id == study.id, Item.kind == ("pair" if twins is None else "report"), to_label(),
            a.status == "ready", b.status == "ready", or_(brought.id.is_(None), brought.status == "ready"),
        )
        .order_by(Item.id)
    ).all()  # fmt: skip
    there = {row[0] for row in rows}
    return [
        LabelledItem(
            item_id=row[0],
            topic_id=row[1],
            sha256=tuple(filter(None, row[2:5])),
            characters=sum(row[7:12]),
            utf8_bytes=sum(row[12:17]),
            reference=None if row[5] == row[6] else "A" if row[5] else "B",
            names=("Left", "Right", *(("Evidence",) if row[4] else ())),
            twin=None if twins is None else twins[row[0]],
        )
        for row in rows
        if twins is None or row[0] < twins.get(row[0], 0) in there
    ]


def criteria_by_topic(session: orm.Session, study: Study, pairs: Sequence[LabelledItem]) -> dict[int, list[Criterion]]:
    """The questions asked of each topic's items, in page order. Raises AnnotationError `no_criteria` where none is."""
    refuse_unasked(session, study, {pair.topic_id for pair in pairs})
    return {topic: studies.criteria_of(session, study, topic) for topic in {pair.topic_id for pair in pairs}}


def standing_passes(session: orm.Session, study: Study, judge: str) -> dict[int, dict[int, Pass]]:
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
    definition: JudgeDefinition, pairs: Sequence[LabelledItem], standing: Mapping[int, Mapping[int, Pass]], seed: int
) -> dict[int, tuple[Pass, ...]]:
    """The passes over each item: one per repeat where nothing is paired. What is there is kept; `both` and `random`
    build on it.

    Raises AnnotationError when what is there cannot be part of this plan, or no reference can come first.
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
            raise errors.AnnotationError(
                "order_changed",
                "judge {name!r} was planned with another order before; its labels keep that one, so give the judge "
                "with the new order a new name", name=definition.name,
            )  # fmt: skip
    return planned


def _first_only(definition: JudgeDefinition, pair: LabelledItem) -> str:
    if definition.first_report == "A":
        return "A"
    if pair.reference is None:
        raise errors.AnnotationError(
            "no_reference",
            "judge {name!r}: first_report = {first_report!r} needs exactly one reference report in every pair, and "
            "item {item_id} has none or two; use order = 'both'", name=definition.name,
            first_report=definition.first_report, item_id=pair.item_id,
        )  # fmt: skip
    return pair.reference if definition.first_report == "reference" else OTHER[pair.reference]


def to_label() -> ColumnElement[bool]:
    """Items that are not excluded, and not there for training or attention."""
    return and_(Item.excluded_at.is_(None), Item.purpose == "label")


def utf8_length(session: orm.Session, text: ColumnElement[str] | orm.InstrumentedAttribute[str]) -> ColumnElement[int]:
    """UTF-8 bytes of a text."""
    if session.get_bind().dialect.name == "postgresql":
        return func.octet_length(text)
    return func.length(cast(text, LargeBinary))


@dataclass(frozen=True)
class PlannedCall:
    """A call before it is a row: what is shown in which order, and what is asked. `key` depends on all of it."""

    key: str
    items: tuple[LabelledItem, ...]
    shown: Pass
    shown_sha256: tuple[str, ...]
    criteria: tuple[Criterion, ...]
    size: prices.CallSize

    @property
    def served(self) -> dict[tuple[int, int], Pass]:
        """The passes that it answers, by item and pass_no."""
        return {(key, own.pass_no): own for item in self.items for key, own in item.served(self.shown)}


def planned_calls(
    study_id: int,
    protocol: Protocol,
    template: str,
    resolved: accounts.Resolved,
    groups: Sequence[tuple[LabelledItem, ...]],
    passes: Mapping[int, tuple[Pass, ...]],
    questions: Mapping[int, Sequence[Criterion]],
) -> Iterator[PlannedCall]:
    """Every call a judge needs: group by group, so that both orders of a pair are done before the next one."""
    frames: dict[tuple[object, ...], prices.CallSize] = {}
    for group in groups:
        first, asked = group[0], questions[group[0].topic_id]
        batched = batches(asked, [row.category for row in asked], resolved.definition.batching)
        for shown in passes[first.item_id]:
            in_order = first.sha256 if shown.left != "B" else (*first.sha256[1::-1], *first.sha256[2:])
            for criteria in batched:
                kind = (*(row.id for row in criteria), len(group), first.names)
                if kind not in frames:
                    frames[kind] = _frame(protocol, template, criteria, first.names, len(group))
                key = canonical_sha256(
                    {
                        "study": study_id,
                        "judge": resolved.definition.name,
                        "config": resolved.sha256,
                        "items": [key for item in group for key, _ in item.served(shown)],
                        "shown": list(in_order),
                        "criteria": [[row.code, row.text_sha256] for row in criteria],
                        "left": shown.left,
                        "repeat": shown.repeat_no,
                    }
                )
                yield PlannedCall(key, group, shown, in_order, criteria, _size(frames[kind], group))


def _size(frame: prices.CallSize, group: Sequence[LabelledItem]) -> prices.CallSize:
    """With its texts, which are in the prompt once, and every probe."""
    more = [item.probe or "" for item in group[1:]]
    return prices.CallSize(
        frame.characters + group[0].characters + sum(map(len, more)),
        frame.utf8_bytes + group[0].utf8_bytes + sum(len(text.encode()) for text in more),
        frame.criteria,
    )


def empty_material(
    protocol: Protocol, template: str, criteria: Sequence[Criterion], names: Sequence[str], probes: int
) -> Material:
    """The material of a call whose texts are empty."""
    return material.material_of(
        protocol, template, material.as_asked(protocol, criteria),
        title="", prompt="", shown=[ShownText(name, "", "", "") for name in names],
        probes=[Probe("", f"{number:08x}") for number in range(probes)] if protocol.answers.probe else (),
    )  # fmt: skip


def _frame(
    protocol: Protocol, template: str, criteria: Sequence[Criterion], names: Sequence[str], probes: int
) -> prices.CallSize:
    """The size of a prompt without its texts."""
    empty = empty_material(protocol, template, criteria, names, probes)
    prompt = build_prompt(empty, "plain")
    return prices.CallSize(prompt.characters, prompt.utf8_bytes, len(empty.criteria))


def put_back(session: orm.Session, study: Study, keys: Collection[str]) -> int:
    """Label anew, by their stored attempts alone, those of these calls that ended before others, with other settings,
    answered the same; how many there were. Nothing waits in the queue for it, so nothing is asked, paid or refused by a
    budget; and a call that never got a reply fails as it did then.
    """
    mine, other, later = orm.aliased(JudgeCallAssignment), orm.aliased(JudgeCallAssignment), orm.aliased(JudgeCall)
    replaced = (
        select(mine.call_id)
        .join(other, other.assignment_id == mine.assignment_id)
        .join(later, later.id == other.call_id)
        .where(
            mine.call_id == JudgeCall.id, later.config_id != JudgeCall.config_id, later.stress.is_(None),
            later.done_at > JudgeCall.done_at, later.outcome != "stale",
        )
        .exists()
    )  # fmt: skip
    ended = JudgeCall.state.in_(("done", "failed")), JudgeCall.outcome != "stale"
    found = dict(
        session.execute(select(JudgeCall.id, JudgeCall.outcome).where(JudgeCall.key.in_(keys), *ended, replaced)).all()
    )
    loaded = material.load_calls(session, study, list(found))
    answered = [one for call, rows in loaded.items() for one in rows.answered(_came_to(rows, found[call] or ""))]
    labelling.record_answers(session, answered, parser_version=PARSER_VERSION)
    session.execute(update(JudgeCall).where(JudgeCall.id.in_(found)).values(done_at=now()))
    return len(found)


def _came_to(rows: material.CallRows, outcome: str) -> Sequence[Answer]:
    """What an ended call answered, or failed with."""
    answers = steps.settled_answers(rows.material, rows.tried)
    return failed_answers([one.code for one in rows.material.criteria], outcome) if answers is None else answers
