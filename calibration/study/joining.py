"""Verdicts as arrays: who answered which unit (item x criterion), with what.

A rater who answered a unit several times (both orders, repeats) counts once: each pass has weight 1 / passes, and all
weights are multiplied by one `scale` so that tables hold integers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from calibration.arithmetic.closed_forms import Array, ratio
from calibration.arithmetic.columns import PAIRWISE, Codes, tally
from calibration.settings import CalibrationSettings
from calibration.table import checking, typed_cells
from calibration.table.verdicts import BOTH_ORDERS, kind_of, known

MANY_LABELS = 25  # a rating scale finer than this is no set of categories: moments and ranks instead of tables
GIVEN = ["rater_id", "criterion", "unit", "run", "presentation", "label", "status", "seconds", "cost_usd"]  # by a rater
FEWEST_SCORES, MUCH = 20, 0.01  # of a criterion, to say which lies apart; share of their variance that matters
PLACE = " place"  # no column of a file that anybody would miss
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Answers:
    """One rater's usable answers, one entry per pass, and the units asked of that rater, answered or not."""

    rater: str
    kind: str  # human or judge
    unit: Codes
    label: Codes  # position in `Study.labels`
    weight: npt.NDArray[np.int64]  # scale / passes over this unit
    scale: int
    asked: Codes  # units with at least one row of any status, sorted
    unreadable: Codes  # of these, units with no row of status ok
    not_applicable: Codes  # of these, units dropped: the rater said not_applicable, or what lies off the scale
    partly: Codes  # units with a usable answer, and another pass, such as the other order, that failed
    lost: Array  # share of the passes over each of them that failed

    @cached_property
    def by_unit(self) -> tuple[Codes, Codes]:
        """The units with a usable answer, each once, sorted, and the place among them of each answer's unit."""
        unit, place = np.unique(self.unit, return_inverse=True)
        return unit, place.astype(np.intp)

    def share_said(self, unit: Codes, label: Codes) -> Array:
        """The share of its passes over each of these units that gave this label, 0 to 1; of label -1 it is 0."""
        given, share, labels = self._shares
        wanted = np.where((label < 0) | (label >= labels), -1, unit * labels + label)
        at = np.searchsorted(given, wanted)
        at[np.append(given, -2)[at] != wanted] = len(given)
        return np.asarray(share[at])

    @cached_property
    def _shares(self) -> tuple[Codes, Array, int]:
        labels = int(self.label.max(initial=-1)) + 1
        given, place = np.unique(self.unit * labels + self.label, return_inverse=True)
        return given, np.append(tally(place, len(given), self.weight / self.scale), 0.0), labels

    def lost_of(self, units: int) -> Array:
        """The share of its passes over each unit that failed where another did not, shape (units,)."""
        out = np.zeros(units)
        out[self.partly] = self.lost
        return out


@dataclass(frozen=True)
class Study:
    """A checked table of verdicts, coded. Unit arrays have shape (units,)."""

    frame: pd.DataFrame  # with the column `unit`
    written: tuple[pd.Series[str], Codes]  # rationales as they came, and the place among them of each row of `frame`
    clusters: tuple[str, ...]
    criteria: tuple[str, ...]
    categories: tuple[str, ...]
    labels: tuple[str, ...]
    systems: tuple[str, ...]  # every name, sorted; "" where a unit names none
    kinds: dict[str, str]  # criterion -> pairwise, rating or probe
    unit_cluster: Codes
    unit_criterion: Codes
    unit_category: Codes
    unit_systems: Codes  # the unordered pair of systems, -1 where the unit is no pair
    unit_mirrored: Mask  # A is the later of the two names
    annotators: tuple[Answers, ...]
    judges: tuple[Answers, ...]  # `<rater>`, and `<rater> [both orders]` where both orders exist
    drawn: Array | None = None  # weight of each cluster, by 1 / draw_probability; None: all that people labelled alike

    @property
    def units(self) -> int:
        """Number of item x criterion combinations with any row."""
        return len(self.unit_cluster)

    def weight_of(self, cluster: Codes) -> Array | None:
        """Of rows of people in these clusters, shape (rows,); None where clusters were not drawn unequally."""
        return None if self.drawn is None else self.drawn[cluster]

    @cached_property
    def rationales(self) -> pd.Series[str]:
        """Of the rows of `frame`, which is copied in parts without them; made when asked for, since they are long."""
        texts, place = self.written
        return texts.take(place).reset_index(drop=True)

    @cached_property
    def labels_given(self) -> Mask:
        """Which labels are on any ok row of each criterion, shape (criteria, labels)."""
        ok = (self.frame["status"] == "ok").to_numpy()
        criterion, label = (
            self.frame[name].cat.codes.to_numpy()[ok].astype(np.intp) for name in ("criterion", "label")
        )
        size = len(self.criteria), len(self.labels)
        return np.asarray(tally(criterion * size[1] + label, size[0] * size[1]).reshape(size) > 0)

    @cached_property
    def counted_votes(self) -> dict[bytes, tuple[Array, int]]:
        """What `crossing.people_votes` has counted of these annotators, by scale."""
        return {}

    @cached_property
    def replaced(self) -> dict[str, int]:
        """Judge -> with how many settings it was asked before those of its labels; only of judges with any."""
        if "settings_tried" not in self.frame.columns:
            return {}
        most = self.frame.groupby("rater_id", observed=True)["settings_tried"].max()
        tried = {judge.rater: most.get(judge.rater.removesuffix(BOTH_ORDERS), np.nan) for judge in self.judges}
        return {judge: int(count) - 1 for judge, count in tried.items() if count > 1}

    def among(self, units: Codes) -> Mask:
        """Which units are among these, shape (units,)."""
        found = np.zeros(self.units, dtype=bool)
        found[units] = True
        return found

    def of_kind(self, rows: pd.DataFrame, kind: str) -> pd.Series[bool]:
        """Which of the rows belong to a criterion of this kind."""
        wanted = np.array([self.kinds[name] == kind for name in self.criteria])
        return pd.Series(wanted[rows["criterion"].cat.codes.to_numpy()], index=rows.index)


@dataclass(frozen=True)
class Scale:
    """The labels of one kind in order, and their numbers where they have any (A = 1, tie = .5, B = 0)."""

    kind: str
    labels: tuple[str, ...]
    numbers: Array | None
    declared: bool
    recode: Codes  # position in `Study.labels` -> position in `labels`, -1 where it has none
    ends: tuple[float, float] | None = None  # of scores, between which distances are taken
    weights: tuple[tuple[float, ...], ...] = ()  # of the rule `weighted`: what each label earns beside each other


def study_of(verdicts: pd.DataFrame | Study, settings: CalibrationSettings) -> Study:
    """The study behind a table that nobody has checked yet; a study is itself."""
    allowed = {name: (*answers, *settings.off_scale) for name, answers in settings.scales.items()}
    if isinstance(verdicts, Study):
        return verdicts
    table = known(verdicts)
    if "rationale" not in table.columns:
        return code(checking.check_verdicts(table, allowed, settings.scale_ends), settings)
    texts = typed_cells.as_text(table["rationale"].reset_index(drop=True))
    placed = table.drop(columns="rationale").assign(**{PLACE: np.arange(len(table))})
    checked = checking.check_verdicts(placed, allowed, settings.scale_ends)
    place = checked.pop(PLACE).to_numpy().astype(np.intp)
    return code(checked, settings, (texts, place))


def code(
    frame: pd.DataFrame, settings: CalibrationSettings, written: tuple[pd.Series[str], Codes] | None = None
) -> Study:
    """The study behind a table that `check_verdicts` has returned. `written`: its rationales, if in their own table."""
    written = written or (frame["rationale"], np.arange(len(frame)))
    frame = frame.drop(columns="rationale")
    item, criterion = (frame[name].cat.codes.to_numpy().astype(np.int64) for name in ("item_id", "criterion"))
    asked = len(frame["criterion"].cat.categories)
    opens = np.diff(item * asked + criterion, prepend=-1) != 0  # the rows of a unit stand together
    first = np.flatnonzero(opens)
    frame["unit"] = np.cumsum(opens) - 1
    kinds = _kinds(frame)
    given = {*frame["label"].cat.categories}
    if "pairwise" in kinds.values() and not {*PAIRWISE} <= given:
        # nobody tied, but two orders that disagree make a tie; nobody said B, but a constant answer may
        frame["label"] = frame["label"].cat.set_categories(sorted(given | {*PAIRWISE}))
    pair, mirrored = _system_pairs(frame.iloc[first])
    return Study(
        frame=frame, written=written, clusters=_names(frame["cluster_id"]), criteria=_names(frame["criterion"]),
        categories=_names(frame["category"]), labels=_names(frame["label"]), systems=_systems(frame), kinds=kinds,
        unit_cluster=_codes(frame["cluster_id"])[first], unit_criterion=_codes(frame["criterion"])[first],
        unit_category=_codes(frame["category"])[first], unit_systems=pair, unit_mirrored=mirrored,
        annotators=_annotators(frame, settings), judges=_judges(frame, kinds, settings), drawn=_drawn(frame),
    )  # fmt: skip


def _drawn(frame: pd.DataFrame) -> Array | None:
    """1 / draw_probability of each cluster that people labelled, of mean 1, and 0 of all others."""
    if "draw_probability" not in frame.columns:
        return None
    people = typed_cells.where(frame["rater_kind"], "human".__eq__)
    cluster, chance = _codes(frame["cluster_id"])[people], frame["draw_probability"].to_numpy()[people]
    weight = np.zeros(len(frame["cluster_id"].cat.categories))
    weight[cluster] = ratio(np.ones(len(cluster)), chance)
    held = weight > 0
    return weight / weight[held].mean() if held.any() and np.ptp(weight[held]) > 1e-9 else None


def _kinds(frame: pd.DataFrame) -> dict[str, str]:
    """Criterion -> pairwise, rating or probe; one that nobody answered goes by its systems."""
    criterion, label = (_codes(frame[name]) for name in ("criterion", "label"))
    names, texts = _names(frame["criterion"]), _names(frame["label"])
    ok, paired = typed_cells.where(frame["status"], "ok".__eq__), typed_cells.where(frame["system_b"], bool)
    given = tally(criterion[ok] * len(texts) + label[ok], len(names) * len(texts)).reshape(len(names), len(texts))
    answered, asked = (tally(criterion[rows], len(names)) > 0 for rows in (ok & paired, paired))
    kinds = {}
    for place, name in enumerate(names):
        seen = [texts[one] for one in np.flatnonzero(given[place])]
        if seen:
            kinds[name] = kind_of(seen, bool(answered[place]))
        else:
            kinds[name] = "pairwise" if asked[place] else "probe"
    return kinds


def _annotators(frame: pd.DataFrame, settings: CalibrationSettings) -> tuple[Answers, ...]:
    people = (frame["rater_kind"] == "human") & (frame["run"] == 1)
    return tuple(
        answers_of(str(rater), "human", rows, settings.dropped)
        for rater, rows in frame.loc[people, GIVEN].groupby("rater_id", observed=True)
    )


def _judges(frame: pd.DataFrame, kinds: Mapping[str, str], settings: CalibrationSettings) -> tuple[Answers, ...]:
    """Each judge, and after it what it says in both orders together, where it has both."""
    pairwise = [name for name, kind in kinds.items() if kind == "pairwise"]
    judges, given, place = [], frame[GIVEN], _codes(frame["rater_id"])
    names = _names(frame["rater_id"])
    # few, with most of the rows: no copy of them all
    for own in np.unique(place[typed_cells.where(frame["rater_kind"], "human".__ne__)]):
        rows, rater = given[place == own], names[own]
        judges.append(answers_of(rater, "judge", rows, settings.dropped))
        both = both_orders(rows[typed_cells.where(rows["criterion"], pairwise.__contains__)])
        if len(both):
            judges.append(answers_of(f"{rater}{BOTH_ORDERS}", "judge", both, settings.dropped))
    return tuple(judges)


def _names(column: pd.Series[Any]) -> tuple[str, ...]:
    return tuple(map(str, column.cat.categories))


def _codes(column: pd.Series[Any]) -> Codes:
    return column.cat.codes.to_numpy().astype(np.intp)


def _systems(units: pd.DataFrame) -> tuple[str, ...]:
    return tuple(sorted({*units["system_a"].cat.categories, *units["system_b"].cat.categories}))


def _system_pairs(units: pd.DataFrame) -> tuple[Codes, Mask]:
    names: list[Any] = list(_systems(units))
    a, b = (pd.Index(names).get_indexer(units[name].astype("str")) for name in ("system_a", "system_b"))
    pair = np.minimum(a, b) * len(names) + np.maximum(a, b)
    return np.where(units["system_b"] == "", -1, pair).astype(np.intp), np.asarray(a > b, dtype=bool)


def answers_of(rater: str, kind: str, rows: pd.DataFrame, drop: Collection[str]) -> Answers:
    """The answers of one rater's `rows` but those in `drop`. Invalid, missing and refused rows are none, never ties."""
    ok, spared = typed_cells.where(rows["status"], "ok".__eq__), typed_cells.where(rows["label"], drop.__contains__)
    unit, used = rows["unit"].to_numpy().astype(np.intp), ok & ~spared
    size = int(unit.max(initial=-1)) + 1
    times = np.bincount(unit[used], minlength=size)
    asked, read, dropped = (np.bincount(unit[which], minlength=size) > 0 for which in (ok | True, ok, ok & spared))
    passes = times[unit[used]]
    scale = math.lcm(1, *np.unique(times[times > 0]).tolist())
    failed = np.bincount(unit[~ok], minlength=size)
    partly = np.flatnonzero((times > 0) & (failed > 0))
    return Answers(
        rater,
        kind,
        unit[used],
        _codes(rows["label"])[used],
        (scale // passes).astype(np.int64),
        scale,
        np.flatnonzero(asked),
        np.flatnonzero(asked & ~read),
        np.flatnonzero(dropped & (times == 0)),
        partly,
        ratio(failed[partly], times[partly] + failed[partly]),
    )


def turned(rows: pd.DataFrame) -> tuple[Codes, Codes]:
    """Positions of the rows shown AB, and of the rows of the same rater, unit and run shown BA; in the order of units,
    raters and runs. Shape (labels made in both orders,) each."""
    sizes = (int(rows["rater_id"].cat.codes.max() + 1), int(rows["run"].max() + 1)) if len(rows) else (1, 1)
    rater, run = rows["rater_id"].cat.codes.to_numpy().astype(np.int64), rows["run"].to_numpy()
    key = (rows["unit"].to_numpy() * sizes[0] + rater) * sizes[1] + run
    one, other = (np.flatnonzero(typed_cells.where(rows["presentation"], order.__eq__)) for order in ("AB", "BA"))
    _, first, second = np.intersect1d(key[one], key[other], assume_unique=True, return_indices=True)
    return one[first].astype(np.intp), other[second].astype(np.intp)


def both_orders(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per unit and run that one judge labelled in both orders: equal verdicts stand, anything else is a tie.

    Seconds and cost are the sum of both. A unit whose answer in one order is not ok has status invalid.
    """
    first, second = (rows.iloc[place] for place in turned(rows))
    merged = first.copy()
    if merged.empty:
        return merged
    merged["label"] = typed_cells.with_text(first["label"], _codes(first["label"]) != _codes(second["label"]), "tie")
    readable = typed_cells.where(first["status"], "ok".__eq__) & typed_cells.where(second["status"], "ok".__eq__)
    merged["status"] = pd.Categorical.from_codes((~readable).astype(np.int8), pd.Index(["ok", "invalid"]))
    for name in ("seconds", "cost_usd"):
        merged[name] = first[name].to_numpy() + second[name].to_numpy()
    return merged


def scale_of(study: Study, criteria: Sequence[str], settings: CalibrationSettings) -> Scale | None:
    """The common scale of these criteria; None when they are of different kinds and cannot be pooled."""
    kinds = {study.kinds[name] for name in criteria}
    scales = {(tuple(settings.scales.get(name, ())), settings.scale_ends.get(name)) for name in criteria}
    if len(kinds) > 1 or len(scales) > 1:
        return None
    (declared, ends), kind = scales.pop(), kinds.pop()
    given = study.labels_given[[study.criteria.index(name) for name in criteria]].any(axis=0)
    named = {study.labels[place] for place in np.flatnonzero(given)}
    seen = sorted(named - {"not_applicable"})
    numbers: Array | None = None
    if kind == "pairwise":
        labels, numbers = list(PAIRWISE), np.array([1.0, 0.5, 0.0])
        text = {label: label for label in PAIRWISE}
    elif kind == "rating":
        values = sorted({float(typed_cells.spelling(label)) for label in declared or seen})
        numbers = np.array(values)
        labels = [str(value) for value in values]
        text = {label: str(float(label)) for label in seen}
    else:
        labels = list(declared) or seen
        numbers = np.arange(float(len(labels))) if declared else None
        text = {label: label for label in labels}
    if settings.not_applicable == "category" and "not_applicable" in named:
        labels.append("not_applicable")
        text["not_applicable"] = "not_applicable"
    own = pd.Index([text.get(label) for label in study.labels], dtype=object)
    recode = pd.Index(labels, dtype=object).get_indexer(own).astype(np.intp)
    weights = () if kind == "pairwise" else settings.weights
    if kind == "rating" and ends is None and numbers is not None and len(numbers):
        ends = (float(numbers[0]), float(numbers[-1])) if declared else _usual_ends(study, recode, numbers)
    return Scale(kind, tuple(labels), numbers, bool(declared), recode, ends, weights)


def _usual_ends(study: Study, recode: Codes, numbers: Array) -> tuple[float, float]:
    """Of a scale that nobody declared: where all but the outermost half percent of people's scores lie, either way,
    far ones left out first. A slip of a finger would else make every distance small beside the range.
    """
    places = [recode[annotator.label] for annotator in study.annotators]
    given = np.concatenate([np.zeros(0, np.intp), *(place[place >= 0] for place in places)])
    scores = numbers[given[given < len(numbers)]]
    given = np.sort(scores[~lies_far(scores)])
    if not len(given) or given[0] == given[-1]:
        return float(numbers[0]), float(numbers[-1])
    spared = max(1, int(0.005 * len(given))) if len(given) > 100 else 0
    low, high = given[spared], given[len(given) - 1 - spared]
    return (float(low), float(high)) if low < high else (float(given[0]), float(given[-1]))


def lies_far(score: Array) -> Mask:
    """Scores that lie further beyond all but a hundredth of these, and one at least at either end, than these are
    apart, and are much of their variance. Shape (scores,); none of fewer than FEWEST_SCORES.
    """
    if len(score) < FEWEST_SCORES:
        return np.zeros(len(score), dtype=bool)
    spared = max(1, len(score) // 100)
    low, high = np.sort(score)[[spared, -1 - spared]]
    beyond, squares = np.maximum(low - score, score - high), (score - score.mean()) ** 2
    return np.asarray((beyond > high - low) & (high > low) & (squares > MUCH * squares.sum()))
