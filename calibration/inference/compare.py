"""Two judges, or one judge twice, on the same labels: the difference that is theirs and not the labels'.

A band from shared resamples holds for all judges at once, and so for the one that was chosen among them.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from calibration import errors, estimates
from calibration.arithmetic.closed_forms import Array, ratio
from calibration.arithmetic.columns import Codes, distinct, tally
from calibration.arithmetic.tails import Student, sign_test
from calibration.inference import bootstrap
from calibration.remarks import Reason, no_interval, remarks_of, told, undefined

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


def paired_difference(
    x: npt.ArrayLike, y: npt.ArrayLike, clusters: npt.ArrayLike, level: float = 0.95, drawn: Array | None = None
) -> Difference:
    """Mean of x - y with its cluster t interval, C - 1 degrees of freedom (Miller 2024), and the jackknife's error.

    `x`, `y`: scores of two judges on the same labels, shape (labels,); `clusters` likewise. A label where either is
    nan is left out. `drawn`: the weight of each cluster, `clusters` then being its place there. Undefined: no labels at
    all; interval and p also for one cluster (`too_few_units`) and where every cluster has the same mean difference
    (`zero_variance`). Raises `misaligned`.
    """
    (first, second), code = scores_and_clusters([x, y], clusters)
    sums, sizes = cluster_sums(first - second, code)
    n, count = int(sizes.sum()), len(sizes)
    if drawn is not None:
        weight = drawn[np.unique(np.asarray(clusters)[~np.isnan(first - second)])]
        sums, sizes = sums * weight, sizes * weight
    value = float(sums.sum() / sizes.sum()) if n else math.nan
    if count < 2:
        return Difference(value, math.nan, math.nan, math.nan, n, count, "too_few_units")
    se = bootstrap.jackknife_se_of_sums(sums, sizes)
    if se <= 1e-12 * max(1.0, abs(value)):  # rounding of equal means is no spread
        return Difference(value, math.nan, math.nan, math.nan, n, count, "zero_variance")
    low, high = bootstrap.cluster_t(value, se, count, level)
    return Difference(value, low, high, float(2 * Student.sf(abs(value) / se, count - 1)), n, count)


def compare_judges(
    scores: Mapping[str, npt.ArrayLike], clusters: npt.ArrayLike, level: float = 0.95, drawn: Array | None = None
) -> tuple[JudgePair, ...]:
    """Every two judges, in the order of `scores`, on the labels they share; Holm over all pairs of them.

    `scores`: judge to its scores, shape (labels,), nan where it has none; `clusters`: shape (labels,). A pair without
    spread between clusters is `cannot_tell`. `drawn`: as for `paired_difference`. Raises `misaligned`.
    """
    columns, code = scores_and_clusters(list(scores.values()), clusters)
    if drawn is not None:
        code = np.asarray(clusters, np.intp)
    pairs = list(itertools.combinations(zip(scores, columns, strict=True), 2))
    found = [paired_difference(x, y, code, level, drawn) for (_, x), (_, y) in pairs]
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


def holm(p_values: npt.ArrayLike, gone: int = 0) -> Array:
    """Adjusted p, shape (tests,), each at least its raw p and at most 1. NaN stay NaN and do not count. Holm 1979.

    `gone`: further tests that were made and whose p nobody knows any more; none of their hypotheses is rejected.
    """
    p = np.asarray(p_values, float)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    adjusted = np.full(len(p), math.nan)
    steps = gone + len(order) - np.arange(len(order))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * steps))
    return adjusted


def by_false_discoveries(p_values: npt.ArrayLike) -> Array:
    """Adjusted p, shape (tests,), at most 1, whatever the tests share; none may be NaN. Benjamini & Yekutieli 2001."""
    p = np.asarray(p_values, float)
    order, ranks = np.argsort(p), np.arange(1, len(p) + 1)
    steps = p[order] * (len(p) / ranks) * np.sum(1 / ranks)
    adjusted = np.empty(len(p))
    adjusted[order] = np.clip(np.minimum.accumulate(steps[::-1])[::-1], 0, 1)
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
        raise errors.CalibrationError("bad_number", "McNemar's test needs scores of 0 and 1; use paired_difference")
    one, two, n = int((first > second).sum()), int((second > first).sum()), len(first)
    if not n or len(np.unique(code[known])) < n:
        return McNemar(math.nan, one, two, n, "nested_labels" if n else "no_items")
    return McNemar(sign_test(one, one + two) if one + two else 1.0, one, two, n)


def shared_labels(x: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """Of the labels that either judge has a score for, the share that both have, 0 to 1; nan when there are none."""
    one, other = ~np.isnan(np.asarray(x, float)), ~np.isnan(np.asarray(y, float))
    either = int((one | other).sum())
    return int((one & other).sum()) / either if either else math.nan


def scores_and_clusters(columns: Sequence[npt.ArrayLike], clusters: npt.ArrayLike) -> tuple[list[Array], Codes]:
    """Each column of scores as floats, and the cluster of each label as a code. Raises `misaligned`."""
    scores, named = [np.asarray(column, float) for column in columns], np.asarray(clusters)
    if named.ndim != 1 or any(score.shape != named.shape for score in scores):
        shapes = ", ".join(str(score.shape) for score in scores)
        raise errors.CalibrationError(
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


TINY = 1e-12


def max_t_band(
    scores: Mapping[str, npt.ArrayLike],
    clusters: npt.ArrayLike,
    level: float = 0.95,
    resamples: int = 9_999,
    seed: int = 0,
    statistic: str = "percent_agreement",
    reference: str = "each_annotator",
    weight: Array | None = None,
    gone: int = 0,
) -> tuple[estimates.Estimate, ...]:
    """Intervals theta_j -+ q se_j of all judges' mean scores at once; q: the `level` quantile of max_j |t*|.

    t*_bj = (theta*_bj - theta_j) / se*_bj on cluster resamples that all judges share. Romano & Wolf 2005. `scores`:
    judge to its scores, shape (labels,), nan where it has none; `clusters`: shape (labels,). One estimate per judge,
    in that order. A judge whose t* is undefined (no spread between the clusters drawn) in more than 5 % of resamples
    is left out of the maximum and gets, for scores within 0 to 1, the Wilson interval at 1 - (1 - level) / judges; the
    others then share the rest of the error. `weight`: of each label, by the draw of its cluster. `gone`: judges that
    were tried and whose scores nobody has any more; each has its share of the error. Undefined: no labels. Raises
    `misaligned`.
    """
    columns, code = scores_and_clusters(list(scores.values()), clusters)
    if not columns:
        return ()
    count = int(code.max(initial=-1)) + 1
    labels = np.stack([tally(code[~np.isnan(one)], count) for one in columns], axis=-1)
    each = np.ones(len(code)) if weight is None else weight
    sizes = np.stack([tally(code, count, np.where(np.isnan(one), 0.0, each)) for one in columns], axis=-1)
    totals = np.stack([tally(code, count, np.nan_to_num(one) * each) for one in columns], axis=-1)
    points = ratio(totals.sum(axis=0), sizes.sum(axis=0))
    draws = studentised(totals, sizes, resamples, seed) if count > 1 else np.full((1, len(columns)), math.nan)
    lost = np.array([bootstrap.undefined_share(own) for own in draws.T])
    inside = lost <= bootstrap.MAX_UNDEFINED
    family = len(columns) + gone
    shared = 1 - (1 - level) * inside.sum() / family
    quantile, share_undefined = _quantile_of_maximum(draws[:, inside], shared)
    among = told(Reason.SIMULTANEOUS, judges=family) if family > 1 else told(Reason.ALONE)
    out = []
    for judge, (name, column) in enumerate(zip(scores, columns, strict=True)):
        own, size = totals[:, judge], sizes[:, judge]
        remarks, low, high, method = [among], math.nan, math.nan, "none"
        if not size.any():
            remarks = [undefined(Reason.NO_ITEMS)]
        elif (size > 0).sum() < 2:
            remarks = [no_interval(Reason.TOO_FEW_UNITS)]
        elif inside[judge] and not math.isnan(quantile):
            half = quantile * bootstrap.se_of_sums(own, size)
            low, high, method = points[judge] - half, points[judge] + half, "max_t"
            if share_undefined:
                remarks.append(told(Reason.UNDEFINED_RESAMPLES, percent=100 * share_undefined))
        elif np.nanmin(column) >= 0 and np.nanmax(column) <= 1:
            low, high = bootstrap.wilson_effective(own, size, 1 - (1 - level) / family)
            method = "wilson_effective_n"
            remarks += remarks_of(
                f"too few clusters differ for max-t ({100 * lost[judge]:.0f} % of resamples undefined)"
            )
        else:
            remarks.append(no_interval(Reason.UNDEFINED_RESAMPLES, f"{100 * lost[judge]:.0f} % of resamples undefined"))
        n, own_clusters = round(float(labels[:, judge].sum())), int((size > 0).sum())
        out.append(
            estimates.Estimate(
                statistic, name, reference, "all", "all", float(points[judge]), float(low), float(high), level, n,
                own_clusters, method, tuple(remarks),
            )
        )  # fmt: skip
    return tuple(out)


def studentised(totals: Array, sizes: Array, resamples: int = 9_999, seed: int = 0) -> Array:
    """t* = (theta* - theta) / se* of every resample, shape (resamples, judges); nan where se* is 0.

    `totals`, `sizes`: sum and number of scores, shape (clusters, judges).
    """
    points = ratio(totals.sum(axis=0), sizes.sum(axis=0))
    left = totals - sizes * points  # of zero mean, so that an offset costs no digits
    left[~(np.abs(left) > TINY * np.abs(totals))] = 0.0  # what rounding leaves of no difference is none
    parts = [sizes > 0, sizes, left, left * left, left * sizes, sizes * sizes]

    def statistic(summed: Array) -> Array:
        held, n, total, squares, cross, squared_sizes = np.moveaxis(summed, -2, 0)
        shift = ratio(total, n)
        spread = squares - 2 * shift * cross + shift * shift * squared_sizes
        spread = np.where(spread > TINY * squares, spread, np.nan)
        return np.asarray(shift * n / np.sqrt(ratio(held, held - 1) * spread))

    return bootstrap.resample(np.stack(parts, axis=1).astype(float), statistic, resamples, seed)


def _quantile_of_maximum(draws: Array, level: float) -> tuple[float, float]:
    """The quantile of the largest |t*|, and the share of resamples where any is undefined; nan above 5 % of them."""
    if not draws.size:
        return math.nan, 0.0
    largest = np.abs(draws).max(axis=1)
    undefined = bootstrap.undefined_share(largest)
    if undefined > bootstrap.MAX_UNDEFINED:
        return math.nan, undefined
    return float(np.quantile(largest[~np.isnan(largest)], level)), undefined
