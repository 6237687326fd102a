"""Two judges, or one judge twice, on the same labels: the difference that is theirs and not the labels'."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from calibration.bootstrap import cluster_t, se_of_sums
from calibration.engine.closed_forms import Array
from calibration.errors import CalibrationError
from calibration.reading.columns import Codes, distinct, tally

Order = Literal["better", "worse", "cannot_tell"]


@dataclass(frozen=True)
class Difference:
    """A mean difference with its interval. The bounds and `p` are nan where `note` says why; `n` counts labels."""

    value: float
    low: float
    high: float
    p: float  # two-sided, of no difference
    n: int
    clusters: int
    note: str = ""


@dataclass(frozen=True)
class JudgePair:
    """Two judges on the labels that both have. `outcome`: of `judge` against `other`, by `p_holm`; never "equal"."""

    judge: str
    other: str
    difference: Difference  # score of `judge` - score of `other`
    p_holm: float  # adjusted over all pairs of judges; nan where `difference.p` is
    outcome: Order
    shared: float  # share of the labels of either that both have, 0 to 1


@dataclass(frozen=True)
class McNemar:
    """Discordant labels of two judges. `p`: exact, two-sided; nan where `note` says why."""

    p: float
    first_only: int  # labels that only the first judge got right
    second_only: int
    n: int
    note: str = ""


def paired_difference(x: npt.ArrayLike, y: npt.ArrayLike, clusters: npt.ArrayLike, level: float = 0.95) -> Difference:
    """Mean of x - y with its cluster t interval, C - 1 degrees of freedom. Miller 2024.

    `x`, `y`: scores of two judges on the same labels, shape (labels,); `clusters` likewise. A label where either is
    nan is left out. Undefined: no labels at all; interval and p also for one cluster (`too_few_units`) and where every
    cluster has the same mean difference (`zero_variance`). Raises `misaligned`.
    """
    (first, second), code = scores_and_clusters([x, y], clusters)
    sums, sizes = cluster_sums(first - second, code)
    n, count = int(sizes.sum()), len(sizes)
    value = float(sums.sum() / n) if n else math.nan
    if count < 2:
        return Difference(value, math.nan, math.nan, math.nan, n, count, "too_few_units")
    se = se_of_sums(sums, sizes)
    if se <= 1e-12 * max(1.0, abs(value)):  # rounding of equal means is no spread
        return Difference(value, math.nan, math.nan, math.nan, n, count, "zero_variance")
    low, high = cluster_t(value, se, count, level)
    return Difference(value, low, high, float(2 * stats.t.sf(abs(value) / se, count - 1)), n, count)


def compare_judges(
    scores: Mapping[str, npt.ArrayLike], clusters: npt.ArrayLike, level: float = 0.95
) -> tuple[JudgePair, ...]:
    """Every two judges, in the order of `scores`, on the labels they share; Holm over all pairs of them.

    `scores`: judge to its scores, shape (labels,), nan where it has none; `clusters`: shape (labels,). A pair without
    spread between clusters is `cannot_tell`. Raises `misaligned`.
    """
    columns, code = scores_and_clusters(list(scores.values()), clusters)
    pairs = list(itertools.combinations(zip(scores, columns, strict=True), 2))
    found = [paired_difference(x, y, code, level) for (_, x), (_, y) in pairs]
    adjusted = holm([one.p for one in found])
    return tuple(
        JudgePair(judge, other, one, float(p), order_of(one, float(p), level), shared_labels(x, y))
        for ((judge, x), (other, y)), one, p in zip(pairs, found, adjusted, strict=True)
    )


def order_of(difference: Difference, p: float, level: float = 0.95) -> Order:
    """Which way a difference points, where its (adjusted) `p` shows that there is one."""
    if not p < 1 - level:
        return "cannot_tell"
    return "better" if difference.value > 0 else "worse"


def holm(p_values: npt.ArrayLike) -> Array:
    """Adjusted p, shape (tests,), each at least its raw p and at most 1. NaN stay NaN and do not count. Holm 1979."""
    p = np.asarray(p_values, float)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    adjusted = np.full(len(p), math.nan)
    steps = len(order) - np.arange(len(order))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * steps))
    return adjusted


def exact_mcnemar(x: npt.ArrayLike, y: npt.ArrayLike, clusters: npt.ArrayLike) -> McNemar:
    """Binomial test of the discordant labels of two judges, right (1) or wrong (0). McNemar 1947.

    Refused, `nested_labels`, where a cluster holds more than one label: two equal judges would then be told apart in
    a third of studies. Undefined: no labels, `no_items`. Without discordant labels p is 1. Raises `misaligned`, and
    `bad_number` for a score that is not 0 or 1.
    """
    (first, second), code = scores_and_clusters([x, y], clusters)
    known = ~np.isnan(first) & ~np.isnan(second)
    first, second = first[known], second[known]
    if not (np.isin(first, [0, 1]).all() and np.isin(second, [0, 1]).all()):
        raise CalibrationError("bad_number", "McNemar's test needs scores of 0 and 1; use paired_difference")
    one, two, n = int((first > second).sum()), int((second > first).sum()), len(first)
    if not n or len(np.unique(code[known])) < n:
        return McNemar(math.nan, one, two, n, "nested_labels" if n else "no_items")
    return McNemar(float(stats.binomtest(one, one + two).pvalue) if one + two else 1.0, one, two, n)


def shared_labels(x: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """Of the labels that either judge has a score for, the share that both have, 0 to 1; nan when there are none."""
    one, other = ~np.isnan(np.asarray(x, float)), ~np.isnan(np.asarray(y, float))
    either = int((one | other).sum())
    return int((one & other).sum()) / either if either else math.nan


def scores_and_clusters(columns: Sequence[npt.ArrayLike], clusters: npt.ArrayLike) -> tuple[list[Array], Codes]:
    """Each column of scores as floats, and the cluster of each label as a code. Raises `misaligned`."""
    scores, named = [np.asarray(one, float) for one in columns], np.asarray(clusters)
    if named.ndim != 1 or any(one.shape != named.shape for one in scores):
        shapes = ", ".join(str(one.shape) for one in scores)
        raise CalibrationError(
            "misaligned", f"scores have shapes {shapes} and clusters {named.shape}; give one row a label"
        )
    if named.dtype == np.intp and named.size and named.min() >= 0 and named.max() <= named.size:
        return scores, distinct(named)[1]
    return scores, np.unique(named, return_inverse=True)[1].astype(np.intp)


def cluster_sums(scores: Array, code: Codes) -> tuple[Array, Array]:
    """Sum and number of the scores that are not nan, of each cluster that holds one; shape (clusters,) each."""
    known = ~np.isnan(scores)
    sizes = tally(code[known], 0)
    sums = tally(code[known], 0, scores[known])
    return sums[sizes > 0], sizes[sizes > 0]
