"""Which questions a judge and the annotators answer differently: all of them as rows, and one with its texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import RowMapping, or_, orm, select

from annotation import errors, rendering, studies
from annotation.figures.kept import embedded
from annotation.items.shown import UNPROVED, ShownText, item_code, shown_of_item
from annotation.judges.reviewing.inspecting import ShownCall, show_call
from annotation.labels.current_labels import current_labels
from annotation.labels.entries import scale_of
from annotation.labels.evidence import highlighted
from annotation.people.principals import Principal, study_for
from annotation.protocol import Protocol
from annotation.verdicts import load_verdicts, shows_systems, unblind
from db.judge_tables import Judge, JudgeCall, JudgeCallAssignment
from db.people_tables import Rater
from db.tables import Criterion, Item, Report, Study, System, Topic

KEY = ["judge", "item_id", "criterion"]
COLUMNS = (*KEY, "topic", "category", "kind", "unlike", "compared", "system_a", "system_b")
KINDS = ("hard", "unlike scores", "soft")  # "" where all answers are alike
FINE = 11  # different scores, beyond which nothing but a declared scale says which are neighbours
UNDECIDED = ("tie", "not_applicable")


@dataclass(frozen=True)
class Filters:
    """What to look at; "" is everything."""

    judge: str = ""
    criterion: str = ""
    category: str = ""
    system: str = ""
    kind: str = ""


def compare_answers(
    verdicts: pd.DataFrame, steps: Mapping[str, float] | None = None, scales: Mapping[str, Sequence[str]] | None = None
) -> pd.DataFrame:
    """One row for each judge, item and criterion that the judge and an annotator answered, with `COLUMNS`.

    `verdicts`: as `load_verdicts` gives them. Every usable answer of the judge (both orders, all repeats) meets every
    annotator's first one: `compared` counts these pairs, `unlike` those of different answers. `kind` is `hard` where
    two answers contradict each other (A against B, another probe answer, scores more than one step apart), `soft` where
    all that differ are a tie or not_applicable against something else, or neighbours on a scale (`_places`); "" where
    none differ. `unlike scores`: of a scale so fine that nothing says which are neighbours. `steps`: criterion -> step
    of its scale; `scales`: criterion -> its answers in order.
    """
    usable = verdicts[verdicts["status"] == "ok"]
    judged = usable[usable["rater_kind"] == "judge"].rename(columns={"rater_id": "judge"})
    people = usable[(usable["rater_kind"] == "human") & (usable["run"] == 1)]
    pairs = judged.merge(
        people[["item_id", "criterion", "label"]], on=["item_id", "criterion"], suffixes=("", "_human")
    )
    if pairs.empty:
        return pd.DataFrame(columns=list(COLUMNS))
    one, other = pairs["label"], pairs["label_human"]
    unlike = one != other
    places = _places(usable, steps or {}, scales or {})
    asked = pairs["criterion"]
    apart = _placed(asked, one, places) - _placed(asked, other, places)
    near = one.isin(UNDECIDED) | other.isin(UNDECIDED) | (apart.abs() <= 1 + 1e-9)
    fine = asked.isin(_fine(usable, steps or {}, scales or {}))
    pairs = pairs.assign(unlike=unlike, hard=unlike & ~near & ~fine, fine=unlike & ~near & fine)
    groups = pairs.groupby(KEY, sort=False)
    first = groups[["cluster_id", "category", "system_a", "system_b"]].first()
    found = first.assign(unlike=groups["unlike"].sum(), compared=groups.size(), hard=groups["hard"].any())
    found = found.assign(fine=groups["fine"].any()).reset_index()
    kind = np.select([found["hard"], found["fine"], found["unlike"] > 0], KINDS, default="")
    return found.rename(columns={"cluster_id": "topic"}).assign(kind=kind)[list(COLUMNS)]


def _places(
    usable: pd.DataFrame, steps: Mapping[str, float], scales: Mapping[str, Sequence[str]]
) -> dict[tuple[str, str], float]:
    """(criterion, answer) -> its place on the scale, neighbours 1 apart; no place where two answers are all there are,
    which contradict each other, and none for numbers that nothing says the distance of.

    A scale that nothing declares is that of whole numbers, 1 apart: which grades were given says nothing of the step.
    """
    places: dict[tuple[str, str], float] = {}
    for name, labels in usable[["criterion", "label"]].drop_duplicates().groupby("criterion")["label"]:
        criterion = str(name)
        numbers = pd.to_numeric(labels, errors="coerce")
        if answers := scales.get(criterion):
            order = {_spelt(answer): place for place, answer in enumerate(answers)} if len(answers) > 2 else {}
            found = labels.map(_spelt).map(order)
        else:
            is_whole = 2 < numbers.nunique() <= FINE and (numbers.dropna() % 1 == 0).all()
            found = numbers / (steps.get(criterion) or (1.0 if is_whole else np.nan))
        places |= {(criterion, label): place for label, place in zip(labels, found, strict=True)}
    return places


def _fine(usable: pd.DataFrame, steps: Mapping[str, float], scales: Mapping[str, Sequence[str]]) -> list[str]:
    """The criteria of numbers of which nothing says how far neighbours are apart."""
    numbers = pd.to_numeric(usable["label"], errors="coerce")
    rated = pd.DataFrame({"criterion": usable["criterion"], "score": numbers}).dropna().drop_duplicates()
    own = [(str(name), scores) for name, scores in rated.groupby("criterion")["score"] if name not in {*steps, *scales}]
    return [name for name, scores in own if len(scores) > FINE or (scores % 1 != 0).any()]


def _spelt(answer: str) -> str | float:
    try:
        return float(answer)  # 7 and 7.0 are one score
    except ValueError:
        return answer


def _placed(
    criteria: pd.Series[str], labels: pd.Series[str], places: Mapping[tuple[str, str], float]
) -> pd.Series[Any]:
    return pd.Series([places[key] for key in zip(criteria, labels, strict=True)], labels.index, dtype=float)


def in_order(compared: pd.DataFrame) -> pd.DataFrame:
    """The same rows as `disagreements` orders them: hard ones first, then by the share that differs."""
    order = compared.assign(soft=compared["kind"] != "hard", alike=1 - compared["unlike"] / compared["compared"])
    columns = ["soft", "alike", "topic", "item_id", "criterion", "judge"]
    return order.sort_values(columns, ignore_index=True)[list(COLUMNS)]


def disagreements(compared: pd.DataFrame) -> pd.DataFrame:
    """Of `compare_answers`, the rows where answers differ: hard ones first, then by the share that differs."""
    return in_order(compared[compared["unlike"] > 0])


def narrowed(compared: pd.DataFrame, filters: Filters) -> pd.DataFrame:
    """The rows that every filter lets through."""
    keep = pd.Series(True, index=compared.index)
    for column in ("judge", "criterion", "category", "kind"):
        if wanted := getattr(filters, column):
            keep &= compared[column] == wanted
    if filters.system:
        keep &= (compared["system_a"] == filters.system) | (compared["system_b"] == filters.system)
    return compared[keep]


def compared_answers(session: orm.Session, principal: Principal) -> pd.DataFrame:
    """The study's `compare_answers`, topics by their titles. Systems are in it only once the study may join them
    with labels. For evaluators; raises AnnotationError `forbidden`."""
    study = study_for(session, principal, "evaluator")
    protocol = studies.protocol_of(study)
    own = session.execute(select(Criterion.code, Criterion.scale).where(Criterion.study_id == study.id)).all()
    found = compare_answers(load_verdicts(session, study), *_declared(protocol, own))
    titles: dict[str, Any] = {
        item_code(item): title
        for item, title in session.execute(
            select(Item.id, Topic.title).join(Topic, Topic.id == Item.topic_id).where(Item.study_id == study.id)
        )
    }
    found = found.assign(topic=found["item_id"].map(titles))
    return found if shows_systems(study) else found.assign(system_a="", system_b="")


def _declared(protocol: Protocol, criteria: Iterable[Any]) -> tuple[dict[str, float], dict[str, tuple[str, ...]]]:
    """Steps and scales as `compare_answers` takes them; `criteria`: code and own scale of each."""
    held = {code: scale_of(protocol, own) for code, own in criteria}
    steps = {code: scale.step for code, scale in held.items() if scale and 0 < scale.step < scale.max - scale.min}
    ordered = tuple(label.id for label in protocol.answers.labels if label.on_scale)
    return steps, dict.fromkeys(held, ordered) if protocol.answers.ordered else {}


WORDS = {"A": "Left", "B": "Right", "tie": "Tie", "not_applicable": "Not applicable"}


@dataclass(frozen=True)
class Pane:
    """One text as raters saw it: safe HTML, passages they quoted in `mark`. `system` is "" while the study is blind."""

    name: str
    system: str
    html: str


@dataclass(frozen=True)
class Given:
    """One rater's current answer, in the order of the panes.

    `swapped`: this rater saw the other report on the left, so a rationale that says left means Right. `choice` is ""
    where a judge gave no usable answer; `status` says why. `lost_quotes` are not found in the text any more.
    `call_id`: of the judge's call that asked.
    """

    rater: str
    kind: str  # human | judge
    choice: str
    status: str
    swapped: bool
    pass_no: int
    run: int
    rationale: str
    quotes: tuple[str, ...]
    lost_quotes: tuple[str, ...]
    call_id: int | None = None


@dataclass(frozen=True)
class OneDisagreement:
    """A question with all that was answered to it; people by pseudonym."""

    topic: str
    category: str
    criterion: str
    label: str
    question: str
    probe: str  # what the question is asked about, or ""
    panes: tuple[Pane, ...]
    judge: tuple[Given, ...]
    people: tuple[Given, ...]


def look_at(session: orm.Session, principal: Principal, judge: str, item_id: str, criterion: str) -> OneDisagreement:
    """One row of `compared_answers` whole. For evaluators; raises AnnotationError `forbidden`, `not_found`.

    In a pair, A stands left: a seeded coin named it, whatever anybody saw.
    """
    study = study_for(session, principal, "evaluator")
    row = session.execute(
        select(Item, Topic)
        .join(Topic, Topic.id == Item.topic_id)
        .where(Item.study_id == study.id, Item.id == int(item_id.removeprefix("item-")))
    ).one_or_none()
    rows = _rows(session, study, item_id, judge, criterion) if row else []
    if row is None or not rows:
        raise errors.AnnotationError("not_found", "this answer was replaced meanwhile; open the list again")
    item, topic = row
    protocol = studies.protocol_of(study)
    texts = shown_of_item(session, protocol, item, "A")
    asked = session.get_one(Criterion, rows[0]["criterion_row"])
    stand = {None, *(mark + text.shown_sha256 for text in texts for mark in ("", UNPROVED))}
    shown = [row for row in rows if {row["left_sha256"], row["right_sha256"]} <= stand]
    calls = _calls(session, [(row["assignment_id"], row["criterion_row"]) for row in shown])
    given = [_given(row, texts, protocol, calls.get(row["assignment_id"])) for row in shown]
    systems = _systems(session, item) if shows_systems(study) else []
    return OneDisagreement(
        topic=topic.title, category=topic.category, criterion=asked.code, label=asked.label, question=asked.text,
        probe=item.probe or "", panes=tuple(
            replace(pane, html=embedded(session, study.id, pane.html)) for pane in _panes(texts, systems, shown)
        ),
        judge=tuple(one for one in given if one.kind == "judge"),
        people=tuple(one for one in given if one.kind == "human"),
    )  # fmt: skip


def sent_call(session: orm.Session, principal: Principal, call_id: int) -> ShownCall:
    """What a judge was sent and replied. For evaluators; raises AnnotationError `forbidden`, `not_found`."""
    return show_call(session, study_for(session, principal, "evaluator"), call_id)


def _rows(session: orm.Session, study: Study, item_id: str, judge: str, criterion: str) -> Sequence[RowMapping]:
    """The judge's answers and the annotators' first ones, people first."""
    asked = Criterion.code == criterion, or_(Rater.kind == "human", Judge.name == judge)
    rows = current_labels(session, study, int(item_id.removeprefix("item-")), *asked)
    kept = [row for row in rows if row["rater_kind"] == "judge" or row["repeat_no"] == 1]
    return sorted(kept, key=lambda row: (row["pseudonym"] or "", row["repeat_no"], row["pass_no"]))


def _given(row: RowMapping, texts: Sequence[ShownText], protocol: Protocol, call_id: int | None) -> Given:
    verdict = unblind(row["choice"], row["left"])
    meanings = {label.id: label.text for label in protocol.answers.labels}
    stands = {text.shown_sha256 for text in texts}
    found: dict[bool, list[str]] = {True: [], False: []}
    for one in row["evidence"]:
        found[bool(one["verified"] and one["sha256"] in stands)].append(one["quote"])
    return Given(
        rater=row["judge_name"] or row["pseudonym"], kind=row["rater_kind"],
        choice=WORDS.get(verdict or "", meanings.get(verdict or "", verdict or "")), status=row["status"],
        swapped=row["left"] == "B", pass_no=row["pass_no"], run=row["repeat_no"], rationale=row["rationale"],
        quotes=tuple(found[True]), lost_quotes=tuple(found[False]), call_id=call_id,
    )  # fmt: skip


def _panes(texts: Sequence[ShownText], systems: Sequence[str], rows: Iterable[RowMapping]) -> tuple[Pane, ...]:
    spans: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for row in rows:
        for one in row["evidence"]:
            if one["verified"]:
                spans[one["sha256"]].append((one["start"], one["end"]))
    return tuple(
        Pane(
            text.name,
            systems[number] if number < len(systems) and text.name != "Sources" else "",
            highlighted(rendering.render_report(text.shown_text), spans[text.shown_sha256]),
        )
        for number, text in enumerate(texts)
    )


def _systems(session: orm.Session, item: Item) -> list[str]:
    """Who wrote the texts, in the order of the panes; sources have no system."""
    keys = [item.report_a_id, item.report_b_id if item.kind == "pair" else item.reference_id]
    rows = session.execute(
        select(Report.id, System.key).join(System, System.id == Report.system_id).where(Report.id.in_(keys))
    )
    names = {report: name for report, name in rows}
    return [names[key] for key in keys if key is not None]


def _calls(session: orm.Session, asked: Sequence[tuple[int, int]]) -> dict[int, int]:
    """assignment -> the last call that asked this criterion."""
    criteria = dict(asked)
    rows = session.execute(
        select(JudgeCallAssignment.assignment_id, JudgeCall.id, JudgeCall.criteria)
        .join(JudgeCall, JudgeCall.id == JudgeCallAssignment.call_id)
        .where(JudgeCallAssignment.assignment_id.in_(criteria), JudgeCall.stress.is_(None))
        .order_by(JudgeCall.id)
    )
    return {assignment: call for assignment, call, rows_asked in rows if criteria[assignment] in rows_asked}
