"""Which questions about each item people answered differently: kept from one look to the next, and read again only for
items whose work has changed since, so that nobody reads every label of a study to look at one item.
"""

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from sys import intern
from typing import Any

from sqlalchemy import RowMapping, orm, select

from annotation.items.shown import SOURCES, sources_sha256
from annotation.labels.current_labels import counted_labels, counts, has_seen_only
from annotation.labels.entries import NUMBER, scale_of
from annotation.protocol import Apart, Protocol
from annotation.studies import newest_act, protocol_of
from annotation.verdicts import unblind
from db.people_tables import Rater
from db.tables import HANDED_IN, REFERENCE, REPORT_A, REPORT_B, Assignment, Criterion, Item, Label, Study

STUDIES_MAX = 4  # kept in one process
AT_ONCE, CHUNK = 500, 5_000  # items a query names; answers in memory
MANY = 5_000  # items, from which on all of the study's answers are read at once


@dataclass(frozen=True, slots=True)
class Differing:
    """One question about one item that is in dispute, with the reasons that its answers alone give."""

    criterion: str
    verdicts: Mapping[int, str]  # rater -> verdict
    reasons: tuple[str, ...]


@dataclass
class _Kept:
    """Of one study. `state`: what besides work changes which answers count. `work`: (assignment, rev) of each."""

    state: tuple[Any, ...] = ()
    work: dict[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    found: dict[int, tuple[Differing, ...]] = field(default_factory=dict)
    alone: threading.Lock = field(default_factory=threading.Lock)


_studies: OrderedDict[tuple[str, int], _Kept] = OrderedDict()
_studies_lock = threading.Lock()


def differing(session: orm.Session, study: Study, items: Collection[int]) -> Mapping[int, tuple[Differing, ...]]:
    """item -> its questions in dispute, in page order, for those of `items` that have any.

    `study` comes from `principals.study_for`. Work that is handed in changes only by being reopened, which `rev` of its
    assignment counts; texts, items, questions and imported labels change by acts of the owner alone.
    """
    kept = _of(session, study)
    with kept.alone:
        state = study.protocol_sha256, study.created_at, study.seed, newest_act(session, study)
        if kept.state != state:
            kept.state, kept.work, kept.found = state, {}, {}
        work = _work(session, study)
        changed = [item for item in items if kept.work.get(item, ()) != work.get(item, ())]
        found = _read(session, study, changed) if changed else {}
        for item in changed:
            kept.work[item] = work.get(item, ())
            kept.found.pop(item, None)
        kept.found |= found
        return {item: kept.found[item] for item in sorted(items) if item in kept.found}


def answers(
    session: orm.Session, study: Study, items: Sequence[int] | None = None, *, whole: bool = False
) -> Iterator[RowMapping]:
    """People's current answers in work handed in, on the texts their items show now; of some items, or of all.

    `whole`: with rationale and evidence. Training, attention, a second reading and adjudication are left out.
    """
    columns: list[Any] = [
        Assignment.item_id, Assignment.rater_id, Assignment.left, Criterion.code.label("criterion"), Label.choice,
        Label.confidence, Label.left_sha256, Label.right_sha256,
    ]  # fmt: skip
    rows = counted_labels(study).where(
        Rater.kind == "human", Assignment.purpose == "label", Assignment.repeat_no == 1, Label.choice.is_not(None)
    )
    if items is not None:
        rows = rows.where(Assignment.item_id.in_(items))
    rows = rows.with_only_columns(*columns, *([Label.rationale, Label.evidence] if whole else [])).order_by(None)
    shown = texts_shown(session, study, items)
    found = session.execute(rows.order_by(Assignment.id).execution_options(yield_per=CHUNK)).mappings()
    return (row for row in found if stands(row, shown.get(row["item_id"])))


def texts_shown(session: orm.Session, study: Study, items: Sequence[int] | None = None) -> dict[int, RowMapping]:
    """What each item shows now, by the sha256 of its texts alone; of many items, all of the study."""
    a, b, reference = REPORT_A, REPORT_B, REFERENCE
    rows = (
        select(
            Item.id, Item.kind, *SOURCES, Item.excluded_at, a.shown_sha256.label("sha256_a"),
            b.shown_sha256.label("sha256_b"), reference.shown_sha256.label("sha256_reference"),
        )
        .outerjoin(a, a.id == Item.report_a_id)
        .outerjoin(b, b.id == Item.report_b_id)
        .outerjoin(reference, reference.id == Item.reference_id)
        .where(Item.study_id == study.id)
    )  # fmt: skip
    if items is not None and len(items) <= AT_ONCE:
        rows = rows.where(Item.id.in_(items))
    return {row["id"]: row for row in session.execute(rows).mappings()}


def stands(label: RowMapping, shown: RowMapping | None) -> bool:
    """As for verdicts: on the texts shown now; for a probe, on its report and its sources as they are now."""
    if shown is None or not counts(label, shown):
        return False
    if shown["kind"] != "probe":
        return True
    return has_seen_only(label, shown["sha256_a"], sources_sha256(shown["source_sha256"], shown["context"]))


def steps_of(session: orm.Session, study: Study, protocol: Protocol) -> dict[str, float]:
    """criterion -> step of its scale, 0 where it has none; in page order."""
    rows = select(Criterion.code, Criterion.scale).where(Criterion.study_id == study.id, Criterion.retired_at.is_(None))
    asked = session.execute(rows.order_by(Criterion.position, Criterion.id))
    return {code: scale.step if (scale := scale_of(protocol, own)) else 0.0 for code, own in asked}


def _of(session: orm.Session, study: Study) -> _Kept:
    with _studies_lock:
        key = str(session.get_bind().engine.url), study.id
        kept = _studies.setdefault(key, _Kept())
        _studies.move_to_end(key)
        if len(_studies) > STUDIES_MAX:
            _studies.popitem(last=False)
        return kept


def _work(session: orm.Session, study: Study) -> dict[int, tuple[tuple[int, int], ...]]:
    """item -> what people have handed in of it."""
    judges = select(Rater.id).where(Rater.kind == "judge")
    rows = session.execute(
        select(Assignment.item_id, Assignment.id, Assignment.rev)
        .where(
            Assignment.study_id == study.id, Assignment.purpose == "label", Assignment.source != "judge",
            Assignment.status.in_(HANDED_IN), Assignment.rater_id.not_in(judges),
        )
        .order_by(Assignment.item_id, Assignment.id)
    )  # fmt: skip
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for item, assignment, rev in rows:
        found[item].append((assignment, rev))
    return {item: tuple(work) for item, work in found.items()}


def _read(session: orm.Session, study: Study, items: Sequence[int]) -> dict[int, tuple[Differing, ...]]:
    parts: list[Sequence[int] | None] = [items[n : n + AT_ONCE] for n in range(0, len(items), AT_ONCE)]
    if len(items) > MANY:
        parts = [None]
    wanted, protocol = set(items), protocol_of(study)
    steps = steps_of(session, study, protocol)
    place = {code: number for number, code in enumerate(steps)}
    found: dict[int, tuple[Differing, ...]] = {}
    for part in parts:
        given: dict[int, dict[str, dict[int, tuple[str, int | None]]]] = defaultdict(lambda: defaultdict(dict))
        for row in answers(session, study, part):
            if row["item_id"] in wanted:
                said = intern(str(unblind(row["choice"], row["left"]))), row["confidence"]
                given[row["item_id"]][row["criterion"]][row["rater_id"]] = said
        for item, by_criterion in given.items():
            questions = sorted(by_criterion.items(), key=lambda entry: place[entry[0]])
            held = (_differing(code, said, protocol, steps[code]) for code, said in questions)
            if split := tuple(differing for differing in held if differing is not None):
                found[item] = split
    return found


def _differing(
    code: str, said: Mapping[int, tuple[str, int | None]], protocol: Protocol, step: float
) -> Differing | None:
    """`said`: rater -> verdict and confidence."""
    verdicts = {rater: verdict for rater, (verdict, _) in said.items()}
    rule = protocol.study.adjudicate
    if isinstance(rule, Apart):
        step = max(rule.apart, step)
        rule = "any"
    if not in_dispute(list(verdicts.values()), rule, code, step):
        return None
    reasons = reasons_of(verdicts.values(), (confidence for _, confidence in said.values()), flagged=False)
    return Differing(code, verdicts, reasons)


REASONS = ("disagreement", "low_confidence", "flag", "not_applicable", "tie_against_winner")
LOW_CONFIDENCE = 2  # of 5, and below


def in_dispute(
    verdicts: Sequence[str], rule: str | Sequence[str] = "any", criterion: str = "", step: float = 0.0
) -> bool:
    """Whether the protocol's `study.adjudicate` sends these verdicts of several people on one question to somebody.

    `any`: two of them differ. `no_majority`: besides, no verdict is that of more than half. A list: `any`, on the
    criteria it names. Scores at most one `step` of their scale apart do not differ.
    """
    if len(set(verdicts)) < 2 or not any(
        _differ(one, other, step) for one, other in combinations(sorted(set(verdicts)), 2)
    ):
        return False
    if rule == "no_majority":
        return not any(2 * sum(not _differ(one, other, step) for other in verdicts) > len(verdicts) for one in verdicts)
    return rule == "any" or criterion in rule


def reasons_of(verdicts: Iterable[str], confidences: Iterable[int | None], *, flagged: bool) -> tuple[str, ...]:
    """Those of `REASONS` that hold for a question in dispute; the first one always does."""
    said = set(verdicts)
    holds = {
        "disagreement": True,
        "low_confidence": any(confidence is not None and confidence <= LOW_CONFIDENCE for confidence in confidences),
        "flag": flagged,
        "not_applicable": "not_applicable" in said,
        "tie_against_winner": "tie" in said and bool(said & {"A", "B"}),
    }
    return tuple(reason for reason in REASONS if holds[reason])


def _differ(one: str, other: str, step: float) -> bool:
    if NUMBER.fullmatch(one) and NUMBER.fullmatch(other):
        return abs(float(one) - float(other)) > step + 1e-9
    return one != other
