"""Correlation, interval alpha and intraclass correlation from sums: what a resample of whole clusters can add up.

Sums are of centred values, one row per cluster; every function takes summed rows of shape (..., sums), is vectorised
over the leading axes, and is nan where undefined.
"""

from __future__ import annotations

import numpy as np

from calibration.engine.closed_forms import Array, margins, ratio
from calibration.reading.columns import Codes, tally

TINY = 1e-12  # a variance below this share of the second moment is rounding, not variation
FORMS = ("ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)")


def icc_name(form: str) -> str:
    """The statistic's name in a report: `icc_2_1` for ICC(2,1)."""
    return f"icc_{form[4]}_{form[6]}"


def moments(x: Array, y: Array, weight: Array, cluster: Codes, clusters: int) -> Array:
    """Sums of w, wx, wy, wxx, wyy, wxy per cluster, after centring each side; shape (clusters, 6)."""
    if not len(x):
        return np.zeros((clusters, 6))
    x, y = x - x.mean(), y - y.mean()
    parts = (np.ones_like(x), x, y, x * x, y * y, x * y)
    return np.stack([tally(cluster, clusters, weight * part) for part in parts], axis=-1)


def moments_of_table(table: Array, x: Array) -> Array:
    """The same six sums of tables of shape (..., K, K) whose labels have the numbers `x`, without centring."""
    total, rows, columns = margins(table)
    cross = np.einsum("...kl,k,l->...", table, x, x)
    return np.stack([total, rows @ x, columns @ x, rows @ (x * x), columns @ (x * x), cross], axis=-1)


def pearson_of_moments(sums: Array) -> Array:
    """Pearson from `moments`. Undefined: a constant side, or nothing."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    vx, vy = n * xx - x * x, n * yy - y * y
    real = (vx > TINY * n * xx) & (vy > TINY * n * yy)
    return ratio(n * xy - x * y, np.sqrt(np.where(real, vx * vy, 0.0)))


def pair_moments(x: Array, y: Array, weight: Array, cluster: Codes, clusters: int) -> Array:
    """Of units with two ratings: their ratings, sum, sum of squares and disagreement within; shape (clusters, 4)."""
    if not len(x):
        return np.zeros((clusters, 4))
    middle = np.concatenate([x, y]).mean()
    x, y = x - middle, y - middle
    parts = (np.full_like(x, 2.0), x + y, x * x + y * y, (x - y) ** 2)
    return np.stack([tally(cluster, clusters, weight * part) for part in parts], axis=-1)


def alpha_of_moments(sums: Array) -> Array:
    """Interval alpha, 1 - (n - 1) sum_u (m q - s^2) / (m - 1) / (n Q - S^2). Undefined: one value only, or nothing."""
    n, s, q, within = np.moveaxis(sums, -1, 0)
    spread = n * q - s * s
    return 1 - ratio((n - 1) * within, np.where(spread > TINY * n * q, spread, 0.0))


def two_rater_sums(sums: Array) -> Array:
    """What `icc_of_sums` needs, from the six `moments` of two raters centred on one common value."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    return np.stack([n, x, y, xx + yy + 2 * xy, xx + yy], axis=-1)


def rater_sums(ratings: Array, weight: Array, cluster: Codes, clusters: int) -> Array:
    """Subjects, each rater's sum, sum of squared row sums, sum of squares, per cluster; shape (clusters, k + 3).

    `ratings`: shape (subjects, k), complete. Values are centred, first exactly: an offset costs no digits.
    """
    if not ratings.size:
        return np.zeros((clusters, ratings.shape[1] + 3))
    ratings = ratings - ratings[0, 0]
    ratings = ratings - ratings.mean()
    parts = (np.ones(len(ratings)), *ratings.T, ratings.sum(axis=1) ** 2, (ratings**2).sum(axis=1))
    return np.stack([tally(cluster, clusters, weight * part) for part in parts], axis=-1)


def icc_of_sums(sums: Array, form: str) -> Array:
    """Intraclass correlation of the given form from `rater_sums`, shape (..., k + 3). Negative values are legal.

    Undefined: fewer than 2 subjects or raters, or a denominator of 0. Shrout & Fleiss 1979; McGraw & Wong 1996.
    """
    n, totals, squared_rows, squares = sums[..., 0], sums[..., 1:-2], sums[..., -2], sums[..., -1]
    k = totals.shape[-1]
    grand = totals.sum(axis=-1)
    between = squared_rows / k - ratio(grand * grand, n * k)
    raters = ratio((totals**2).sum(axis=-1), n) - ratio(grand * grand, n * k)
    within = squares - squared_rows / k
    # what rounding leaves of nothing is nothing, else 0 / 0 would look like a value
    between, raters, within, left = (
        np.where(part > TINY * squares, part, 0.0) for part in (between, raters, within, within - raters)
    )
    msr, msc = ratio(between, n - 1), ratio(raters, k - 1)
    mse, msw = ratio(left, (n - 1) * (k - 1)), ratio(within, n * (k - 1))
    top, bottom = {
        "ICC(1,1)": (msr - msw, msr + (k - 1) * msw),
        "ICC(2,1)": (msr - mse, msr + (k - 1) * mse + k * ratio(msc - mse, n)),
        "ICC(3,1)": (msr - mse, msr + (k - 1) * mse),
        "ICC(1,k)": (msr - msw, msr),
        "ICC(2,k)": (msr - mse, msr + ratio(msc - mse, n)),
        "ICC(3,k)": (msr - mse, msr),
    }[form]
    return ratio(top, bottom)
