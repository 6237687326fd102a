"""Two judges, or one judge twice, on the same labels: the difference that is theirs and not the labels'."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from calibration.bootstrap import cluster_se, cluster_t
from calibration.errors import CalibrationError


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


def paired_difference(x: npt.ArrayLike, y: npt.ArrayLike, clusters: npt.ArrayLike, level: float = 0.95) -> Difference:
    """Mean of x - y with its cluster t interval, C - 1 degrees of freedom. Miller 2024.

    `x`, `y`: scores of two judges on the same labels, shape (labels,); `clusters` likewise. A label where either is
    nan is left out. Undefined: no labels at all; interval and p also for one cluster (`too_few_units`) and where every
    cluster has the same mean difference (`zero_variance`). Raises `misaligned`.
    """
    x, y, clusters = np.asarray(x, float), np.asarray(y, float), np.asarray(clusters)
    if not x.shape == y.shape == clusters.shape or x.ndim != 1:
        raise CalibrationError(
            "misaligned", f"x, y and clusters have shapes {x.shape}, {y.shape}, {clusters.shape}; give one row a label"
        )
    difference = x - y
    known = ~np.isnan(difference)
    difference, clusters = difference[known], clusters[known]
    n, count = len(difference), len(np.unique(clusters))
    value = float(difference.mean()) if n else math.nan
    if count < 2:
        return Difference(value, math.nan, math.nan, math.nan, n, count, "too_few_units")
    se = cluster_se(difference, clusters)
    if se <= 1e-12 * max(1.0, abs(value)):  # rounding of equal means is no spread
        return Difference(value, math.nan, math.nan, math.nan, n, count, "zero_variance")
    low, high = cluster_t(value, se, count, level)
    return Difference(value, low, high, float(2 * stats.t.sf(abs(value) / se, count - 1)), n, count)
