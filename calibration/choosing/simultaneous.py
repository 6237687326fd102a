"""What holds for all judges at once, and so for the one that was chosen among them: a band from shared resamples."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from calibration.bootstrap import MAX_UNDEFINED, resample, se_of_sums, undefined_share, wilson_effective
from calibration.compare import scores_and_clusters
from calibration.engine.closed_forms import Array, ratio
from calibration.estimates import Estimate
from calibration.reading.columns import tally

TINY = 1e-12


def max_t_band(
    scores: Mapping[str, npt.ArrayLike],
    clusters: npt.ArrayLike,
    level: float = 0.95,
    resamples: int = 9_999,
    seed: int = 0,
    statistic: str = "percent_agreement",
    reference: str = "each_annotator",
) -> tuple[Estimate, ...]:
    """Intervals theta_j -+ q se_j of all judges' mean scores at once; q: the `level` quantile of max_j |t*|.

    t*_bj = (theta*_bj - theta_j) / se*_bj on cluster resamples that all judges share. Romano & Wolf 2005. `scores`:
    judge to its scores, shape (labels,), nan where it has none; `clusters`: shape (labels,). One estimate per judge,
    in that order. A judge whose t* is undefined (no spread between the clusters drawn) in more than 5 % of resamples
    is left out of the maximum and gets, for scores within 0 to 1, the Wilson interval at 1 - (1 - level) / judges; the
    others then share the rest of the error. Undefined: no labels. Raises `misaligned`.
    """
    columns, code = scores_and_clusters(list(scores.values()), clusters)
    if not columns:
        return ()
    count = int(code.max(initial=-1)) + 1
    sizes = np.stack([tally(code[~np.isnan(one)], count) for one in columns], axis=-1)
    totals = np.stack([tally(code[~np.isnan(one)], count, one[~np.isnan(one)]) for one in columns], axis=-1)
    points = ratio(totals.sum(axis=0), sizes.sum(axis=0))
    draws = studentised(totals, sizes, resamples, seed) if count > 1 else np.full((1, len(columns)), math.nan)
    lost = np.array([undefined_share(own) for own in draws.T])
    inside = lost <= MAX_UNDEFINED
    shared = 1 - (1 - level) * inside.sum() / len(columns)
    quantile, undefined = _quantile_of_maximum(draws[:, inside], shared)
    told = f"simultaneous over {len(columns)} judges" if len(columns) > 1 else "one judge"
    out = []
    for judge, (name, column) in enumerate(zip(scores, columns, strict=True)):
        own, size = totals[:, judge], sizes[:, judge]
        notes, low, high, method = [told], math.nan, math.nan, "none"
        if not size.any():
            notes = ["no_items: nothing to compare"]
        elif (size > 0).sum() < 2:
            notes = ["no interval: fewer than 2 clusters"]
        elif inside[judge] and not math.isnan(quantile):
            half = quantile * se_of_sums(own, size)
            low, high, method = points[judge] - half, points[judge] + half, "max_t"
            if undefined:
                notes.append(f"{100 * undefined:.2g} % of resamples undefined and left out")
        elif np.nanmin(column) >= 0 and np.nanmax(column) <= 1:
            low, high = wilson_effective(own, size, 1 - (1 - level) / len(columns))
            method = "wilson_effective_n"
            notes.append(f"too few clusters differ for max-t ({100 * lost[judge]:.0f} % of resamples undefined)")
        else:
            notes.append(f"no interval: {100 * lost[judge]:.0f} % of resamples undefined")
        n, own_clusters = round(float(size.sum())), int((size > 0).sum())
        text = "; ".join(notes)
        out.append(
            Estimate(
                statistic, name, reference, "all", "all", float(points[judge]), float(low), float(high), level, n,
                own_clusters, method, text,
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

    return resample(np.stack(parts, axis=1).astype(float), statistic, resamples, seed)


def _quantile_of_maximum(draws: Array, level: float) -> tuple[float, float]:
    """The quantile of the largest |t*|, and the share of resamples where any is undefined; nan above 5 % of them."""
    if not draws.size:
        return math.nan, 0.0
    largest = np.abs(draws).max(axis=1)
    undefined = undefined_share(largest)
    if undefined > MAX_UNDEFINED:
        return math.nan, undefined
    return float(np.quantile(largest[~np.isnan(largest)], level)), undefined
