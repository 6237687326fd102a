"""Is one annotator unlike the others? Differences to them on the same items, and the few that chance does not explain.

A difference counts only beyond a margin that is fixed beforehand, and its p value is Holm's over all annotators and
signals that are looked at: careful people are left alone in 19 of 20 studies.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from calibration.arithmetic.closed_forms import Array, ratio
from calibration.arithmetic.columns import Codes, tally
from calibration.arithmetic.tails import Student
from calibration.estimates import Estimate
from calibration.inference import bootstrap, compare
from calibration.remarks import Reason, Remark, no_interval, told, undefined
from calibration.settings import CalibrationSettings
from calibration.study import alike_texts, answering, bounding, crossing, distance, joining
from calibration.study.left_out import left_out, scores_of_left_out

Way = Literal["below", "above", "either"]  # on which side a difference is a fault
TINY = 1e-12


@dataclass(frozen=True)
class Signal:
    """One way in which an annotator may differ. `estimate`: the difference, with its two-sided interval.

    `p`: of a difference this large where the true one is no larger than `margin`; nan where `estimate.note` says why.
    `p_holm`: adjusted over all annotators and signals of the study.
    """

    name: str
    estimate: Estimate
    margin: float
    p: float
    p_holm: float = math.nan

    @property
    def flagged(self) -> bool:
        """Whether the study may say so of this annotator, at its level over everything that was looked at."""
        return self.p_holm < 1 - self.estimate.level


@dataclass(frozen=True)
class Asked:
    """What is looked at: the signal's name, whose, how far it may go, and which way is a fault."""

    name: str
    rater: str
    margin: float
    way: Way
    note: str


@dataclass(frozen=True)
class _Mean:
    """A mean over clusters, or the difference of two, with its standard error."""

    value: float
    se: float
    freedom: float
    sizes: npt.NDArray[np.float64]  # shape (clusters,)
    extreme: float  # share of permutations of the clusters as extreme as one without any spread, one-sided


@dataclass(frozen=True)
class Scores:
    """`own` beside `others`, row by row, shape (rows,); nan where there is none."""

    own: Array
    others: Array
    cluster: npt.NDArray[Any]
    item: npt.NDArray[Any]  # item_id


def paired_signal(asked: Asked, scores: Scores, settings: CalibrationSettings) -> Signal:
    """Mean of own - others over what both did, by cluster t with C - 1 degrees of freedom. Miller 2024.

    A row where either is nan is left out. Undefined: nothing to compare. No interval: one cluster, or the same
    difference in all of them; the p of the latter is the sign test's, 2^-C. No p below `FEWEST` clusters.
    """
    (first, second), code = compare.scores_and_clusters([scores.own, scores.others], scores.cluster)
    return _signal(asked, _mean(first - second, code), settings)


def halves_signal(asked: Asked, scores: Scores, late: joining.Mask, settings: CalibrationSettings) -> Signal:
    """Mean of the late rows of own minus that of the early ones, each half by its own clusters. Welch 1947.

    `late`: shape (rows,); nan is left out. Undefined: a half is empty. Where neither half varies, p is the permutation
    test's: one in all the ways to choose which clusters are the late ones.
    """
    (values,), code = compare.scores_and_clusters([scores.own], scores.cluster)
    after, before = (_mean(values[half], code[half]) for half in (late, ~late))
    squares = [(one.se**2, len(one.sizes) - 1) for one in (after, before)]
    total = sum(square for square, _ in squares)
    freedom = math.nan if not total > 0 else total**2 / sum(square**2 / count for square, count in squares)
    sizes = np.concatenate([after.sizes, before.sizes])
    extreme = 1 / math.comb(len(sizes), len(after.sizes))
    return _signal(asked, _Mean(after.value - before.value, math.sqrt(total), freedom, sizes, extreme), settings)


def adjusted(signals: Sequence[Signal]) -> tuple[Signal, ...]:
    """The same signals with Holm's p over all of them that have one. Holm 1979."""
    found = compare.holm([signal.p for signal in signals])
    return tuple(replace(one, p_holm=float(p)) for one, p in zip(signals, found, strict=True))


def _mean(scores: npt.NDArray[np.float64], code: npt.NDArray[np.intp]) -> _Mean:
    known = ~np.isnan(scores)
    sizes = tally(code[known], 0)
    value = float(scores[known].mean()) if known.any() else math.nan
    sizes = sizes[sizes > 0]
    return _Mean(value, bootstrap.cluster_se(scores[known], code[known]), len(sizes) - 1, sizes, 0.5 ** len(sizes))


def _signal(asked: Asked, found: _Mean, settings: CalibrationSettings) -> Signal:
    pair, low, high = bounding.Pair(asked.rater, "others", bounding.WHOLE, found.sizes), math.nan, math.nan
    said: list[str | Remark] = [asked.note]
    if math.isnan(found.value):
        said.append(undefined(Reason.NO_ITEMS))
    elif math.isnan(found.se):
        said.append(no_interval(Reason.TOO_FEW_UNITS))
    elif found.se <= TINY:
        said.append(no_interval(Reason.ZERO_VARIANCE, "zero_variance, the same difference in every cluster"))
    else:
        half = float(Student.ppf((1 + settings.level) / 2, found.freedom)) * found.se
        low, high = found.value - half, found.value + half
    if not math.isnan(found.value) and pair.clusters < bounding.FEWEST:
        said.append(told(Reason.NOT_TESTED, fewest=bounding.FEWEST))
    estimate = bounding.made(f"{asked.name}_gap", pair, found.value, (low, high), "cluster_t", said, settings)
    return Signal(asked.name, estimate, asked.margin, _p(asked, found))


def _p(asked: Asked, found: _Mean) -> float:
    if math.isnan(found.value) or math.isnan(found.se) or len(found.sizes) < bounding.FEWEST:
        return math.nan
    past = {"below": -found.value, "above": found.value, "either": abs(found.value)}[asked.way] - asked.margin
    sides = 2 if asked.way == "either" else 1
    if found.se <= TINY:
        return min(1.0, sides * found.extreme) if past > TINY else 1.0
    return float(min(1.0, sides * Student.sf(past / found.se, found.freedom)))


TEXT = dict.fromkeys(("rater_id", "item_id", "cluster"), "str")  # categories grouped to no rows count past 127 wrongly
FEW_ANSWERS = 4  # of an item; with fewer, equal answers say nothing
MANY_TEXTS = 2_000  # rationales of one annotator; beyond, only identical ones are looked for


def agreement_scores(
    study: joining.Study, group: bounding.Group, scale: joining.Scale, settings: CalibrationSettings
) -> Iterator[tuple[str, Scores]]:
    """Each annotator's agreement with the others, 0 to 1, and what these reach among themselves on the same label.

    A tie is a label like another, and each other annotator counts alike. `others` is nan where only one other answered.
    """
    plain = replace(settings, ties="three_class", references="others_each")
    item = _item_of_unit(study)
    for one in left_out(study, group, scale, None):
        mine = scores_of_left_out(study, one, scale, plain)
        raters = one.others.sum(axis=1)
        among = ratio((one.others * (one.others - 1)).sum(axis=1), raters * (raters - 1))
        yield one.annotator, Scores(mine.human, among, mine.cluster, item[one.unit])


def stacked_scores(parts: Sequence[Scores]) -> Scores:
    """The rows of all parts, such as those of criteria with answers of their own kind."""
    if not parts:
        return Scores(np.zeros(0), np.zeros(0), np.zeros(0, np.intp), np.zeros(0, str))
    return Scores(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("own", "others", "cluster", "item"))
    )


def with_elsewhere(agreed: Mapping[str, Scores], rater: str) -> tuple[Scores, joining.Mask]:
    """The rater's rows and those of the others on items that the rater did not label; whether each is the rater's.

    For studies with two annotators an item, where nobody else's agreement is on the rater's own items.
    """
    mine = agreed[rater]
    apart = [(one, ~np.isin(one.item, mine.item)) for name, one in agreed.items() if name != rater]
    kept = [Scores(one.own[out], one.others[out], one.cluster[out], one.item[out]) for one, out in apart]
    rows = stacked_scores([mine, *kept])
    return rows, np.arange(len(rows.own)) < len(mine.own)


def side_scores(study: joining.Study, scale: joining.Scale, rater: str, rows: pd.DataFrame) -> Scores:
    """Of each answer that names a winner: 1 where it stood left, beside the share of the others who chose that report.

    So a system that always wins and happened to stand left is no preference for a side. `scale`: of pairs. `others` is
    nan where no other annotator named a winner.
    """
    shown = answering.decisive(study, rows)
    unit = shown["unit"].to_numpy().astype(np.intp)
    everyone, common = crossing.people_votes(study, scale)
    own = [annotator for annotator in study.annotators if annotator.rater == rater]
    others = (everyone - crossing.votes(own, scale, study.units, common))[unit]
    for_a = ratio(others[:, 0], others[:, 0] + others[:, 2])  # labels of a pair: A, tie, B
    a_left = (shown["presentation"] == "AB").to_numpy()
    return Scores(
        shown["first"].to_numpy(float), np.where(a_left, for_a, 1 - for_a), answering.clusters_of(shown), _items(shown)
    )


def same_answers(rows: pd.DataFrame) -> pd.DataFrame:
    """Share of an item's answers that equal its most frequent one, for each rater and item; with its cluster.

    Of the first run, and of items with `FEW_ANSWERS` answers or more. A rater who always takes the left report gives
    each item one answer, whatever is there.
    """
    ok = rows[(rows["status"] == "ok") & (rows["run"] == 1)]
    key = ["rater_id", "item_id"]
    counts = ok.groupby([*key, "label"], observed=True).size()
    found = counts.groupby(level=key, observed=True).agg(["max", "sum"])
    found = found[found["sum"] >= FEW_ANSWERS]
    cluster = ok.drop_duplicates("item_id").set_index("item_id")["cluster_id"].astype(str)
    places = found.index.get_level_values("item_id")
    return (
        pd.DataFrame(
            {"value": found["max"] / found["sum"], "cluster": cluster.reindex(places.astype(str)).to_numpy()},
            index=found.index,
        )
        .reset_index()
        .astype(TEXT)
    )


def given_scores(study: joining.Study, settings: CalibrationSettings) -> pd.DataFrame:
    """Each score that a person gave, 0 to 1 of its criterion's scale; as `beside_others` wants it, its unit as item."""
    value, _ = distance.places(study, settings)
    first = ((study.frame["rater_kind"] == "human") & (study.frame["run"] == 1)).to_numpy()
    rows = study.frame[first]
    return pd.DataFrame(
        {"rater_id": rows["rater_id"].astype(str), "item_id": rows["unit"].astype(str), "value": value[first],
         "cluster": rows["cluster_id"].astype(str)}
    ).dropna()  # fmt: skip


def repeated_rationales(study: joining.Study, rater: str) -> pd.DataFrame:
    """Of each of the annotator's answers: `empty` (no word), `repeated` (nearly that of another answer), `words`.

    First run only. Alike: Jaccard similarity of three-word shingles from .8, as in `rationale_overlap`; beyond
    `MANY_TEXTS` only the same bytes.
    """
    frame = study.frame
    rows = frame[(frame["rater_id"] == rater) & (frame["run"] == 1) & (frame["status"] == "ok")]
    texts = study.rationales[rows.index].astype("str")
    words = texts.str.count(r"\w+").to_numpy()
    told = np.flatnonzero(words > 0)
    repeated = np.zeros(len(rows))
    repeated[told[_alike_to_another(texts.iloc[told])]] = 1.0
    return rows[["rater_id", "item_id", "cluster_id"]].assign(
        empty=(words == 0).astype(float), repeated=repeated, words=words
    )


def beside_others(values: pd.DataFrame, rater: str) -> Scores:
    """The rater's `value` of each item beside the mean of the others' on it; from rater_id, item_id, value, cluster."""
    own, item = (values["rater_id"] == rater).to_numpy(), values["item_id"].to_numpy(str)
    number = values["value"].to_numpy(float)
    names, code = np.unique(item, return_inverse=True)
    counted = ~own & ~np.isnan(number)
    theirs = ratio(tally(code[counted], len(names), number[counted]), tally(code[counted], len(names)))
    return Scores(number[own], theirs[code[own]], values["cluster"].to_numpy(str)[own], item[own])


def _alike_to_another(texts: pd.Series[str]) -> Codes:
    """Places of the texts that are nearly the same as another of them."""
    if len(texts) > MANY_TEXTS:
        code = np.unique(alike_texts.numbered(texts), return_inverse=True)[1]
        return np.flatnonzero(tally(code, 0)[code] > 1).astype(np.intp)
    shingles = alike_texts.Shingler().of(texts)
    row, column = alike_texts.alike_of_all(shingles, shingles)
    return np.unique(row[row != column])


def _item_of_unit(study: joining.Study) -> npt.NDArray[Any]:
    first = study.frame.drop_duplicates("unit").sort_values("unit")
    return _items(first)


def _items(rows: pd.DataFrame) -> npt.NDArray[Any]:
    return rows["item_id"].astype("str").to_numpy(str)
