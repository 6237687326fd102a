"""Closed forms on count tables: the one definition of each table statistic, for one table or a block of resamples.

A table has shape (..., K, K): how often the first rater said k and the second l, in a declared order of labels.
Counts may all be scaled by one positive factor, except where `scale` is an argument. The result has shape (...); nan
where undefined.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from calibration.errors import CalibrationError

Array = npt.NDArray[np.float64]
FEW_LABELS = 8


def ratio(numerator: Any, denominator: Any) -> Array:
    """Elementwise quotient, nan where the denominator is 0."""
    bottom = np.asarray(denominator, float)
    return np.asarray(np.asarray(numerator, float) / np.where(bottom == 0, np.nan, bottom))


def margins(table: Array) -> tuple[Array, Array, Array]:
    """Total, row sums and column sums."""
    rows = table.sum(axis=-1)
    return rows.sum(axis=-1), rows, table.sum(axis=-2)


def diagonal(table: Array) -> Array:
    """How often both said the same."""
    return np.asarray(np.einsum("...kk->...", table))


def agreement(table: Array) -> Array:
    """sum n_kk / N. Undefined: N = 0."""
    return ratio(diagonal(table), table.sum(axis=(-2, -1)))


def half_credit(table: Array, scores: Array) -> Array:
    """Mean of 1 - |s_k - s_l|. `scores`: shape (K,), between 0 and 1. Undefined: N = 0."""
    credit = 1 - np.abs(scores[:, None] - scores[None, :])
    return ratio((table * credit).sum(axis=(-2, -1)), table.sum(axis=(-2, -1)))


def chance(table: Array) -> Array:
    """Expected agreement of independent raters with these margins, sum r_k c_k / N^2. Undefined: N = 0."""
    total, rows, columns = margins(table)
    return ratio((rows * columns).sum(axis=-1), total * total)


def kappa(table: Array, weights: Array | None = None) -> Array:
    """(N sum n_kk - E) / (N^2 - E), or 1 - N sum w n_kl / sum w r_k c_l. Undefined: that denominator is 0."""
    total, rows, columns = margins(table)
    if weights is None:
        expected = (rows * columns).sum(axis=-1)
        return ratio(total * diagonal(table) - expected, total * total - expected)
    seen = (table * weights).sum(axis=(-2, -1))
    return 1 - ratio(total * seen, np.einsum("...k,kl,...l->...", rows, weights, columns))


def disagreement(size: int, weights: str | None) -> Array | None:
    """Weights of weighted kappa, `linear` |k - l| or `quadratic` (k - l)^2, shape (size, size); None: unweighted."""
    if weights not in (None, "linear", "quadratic"):
        raise CalibrationError("unknown_form", f"weights is {weights!r}; use linear, quadratic or None")
    steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(float)
    return None if weights is None else steps if weights == "linear" else steps**2


def stratified_kappa(tables: Array) -> Array:
    """sum_q n_q (Po_q - Pe_q) / sum_q n_q (1 - Pe_q). `tables`: shape (..., strata, K, K).

    Undefined: every stratum is empty or has one category.
    """
    total = tables.sum(axis=(-2, -1))
    expected = np.nan_to_num(chance(tables))
    return ratio((diagonal(tables) - total * expected).sum(axis=-1), (total * (1 - expected)).sum(axis=-1))


def symmetrised(table: Array, swapped: npt.NDArray[np.intp]) -> Array:
    """The table plus its copy with labels renamed by `swapped` on both sides: no naming of A and B can change it."""
    return table + table[..., swapped, :][..., :, swapped]


def gwet_ac1(table: Array) -> Array:
    """(Po - Pe) / (1 - Pe), Pe = sum pi_k (1 - pi_k) / (K - 1), pi_k = (r_k + c_k) / 2N. Undefined: N = 0 or K = 1.

    In counts, and so exact until the last division: both sides times 4 N^2 (K - 1).
    """
    total, rows, columns = margins(table)
    both, others = rows + columns, table.shape[-1] - 1
    shared = (both * both).sum(axis=-1) - 4 * total * total  # -4 N^2 sum pi_k (1 - pi_k)
    return ratio(4 * others * total * diagonal(table) + shared, 4 * others * total * total + shared)


def pabak(table: Array) -> Array:
    """(K Po - 1) / (K - 1). Undefined: N = 0 or K = 1."""
    size = table.shape[-1]
    return ratio(size * agreement(table) - 1, size - 1)


def balanced_accuracy(table: Array) -> Array:
    """Mean over the labels the second rater used of the share where the first said the same. Undefined: N = 0."""
    columns = table.sum(axis=-2)
    found = ratio(np.einsum("...kk->...k", table), columns)
    return ratio(np.nan_to_num(found).sum(axis=-1), np.count_nonzero(columns, axis=-1))


def matthews(table: Array) -> Array:
    """(N sum n_kk - sum r_k c_k) / sqrt((N^2 - sum r_k^2)(N^2 - sum c_k^2)). Undefined: N = 0 or a constant side."""
    total, rows, columns = margins(table)
    covariance = total * diagonal(table) - (rows * columns).sum(axis=-1)
    spread = (total * total - (rows * rows).sum(axis=-1)) * (total * total - (columns * columns).sum(axis=-1))
    return ratio(covariance, np.sqrt(spread))


def kappa_gradient(table: Array, weights: Array | None = None) -> Array:
    """Derivative of `kappa` by each count, shape (K, K), for one table; weights as there. nan where kappa is."""
    total, rows, columns = margins(table)
    weights = 1.0 - np.eye(len(table)) if weights is None else weights
    seen = (table * weights).sum()
    expected = rows @ weights @ columns
    moved = (weights @ columns)[:, None] + (rows @ weights)[None, :]
    return np.asarray(ratio(total * seen * moved, expected * expected) - ratio(seen + total * weights, expected))


def both_ways(table: Array) -> Array:
    """Coincidences of units with two ratings: each comparison in either order."""
    return table + np.swapaxes(table, -1, -2)


def alpha(coincidences: Array, distance: Array | None, scale: Any = 1.0) -> Array:
    """1 - (n - 1) sum o d / sum n_k n_l d, n = total / scale. Undefined: n = 0 or one value only.

    `distance`: shape (K, K) or (..., K, K); None is nominal. Krippendorff 2004.
    """
    counts = coincidences.sum(axis=-1)
    total = counts.sum(axis=-1)
    if distance is None:
        seen, expected = total - diagonal(coincidences), total * total - (counts * counts).sum(axis=-1)
    else:
        seen = (coincidences * distance).sum(axis=(-2, -1))
        expected = (counts[..., :, None] * counts[..., None, :] * distance).sum(axis=(-2, -1))
    return 1 - ratio((total - scale) * seen, expected)


def fleiss(coincidences: Array) -> Array:
    """Fleiss' kappa from the coincidences of units with equally many ratings. Undefined: nothing, or one category."""
    counts = coincidences.sum(axis=-1)
    total = counts.sum(axis=-1)
    expected = (counts * counts).sum(axis=-1)
    return ratio(total * diagonal(coincidences) - expected, total * total - expected)


def ordinal_distance(coincidences: Array) -> Array:
    """(mid-cumulative count of k minus that of l)^2, from these margins; shape (..., K, K)."""
    counts = coincidences.sum(axis=-1)
    middle = np.cumsum(counts, axis=-1) - counts / 2
    return np.asarray((middle[..., :, None] - middle[..., None, :]) ** 2)


def pearson(table: Array, x: Array, y: Array) -> Array:
    """Correlation of the numbers `x` (rows) and `y` (columns), each of shape (K,). Undefined: a constant side."""
    total, rows, columns = margins(table)
    sx, sy = rows @ x, columns @ y
    covariance = total * np.einsum("...kl,k,l->...", table, x, y) - sx * sy
    variance = (total * (rows @ (x * x)) - sx * sx) * (total * (columns @ (y * y)) - sy * sy)
    varied = (np.count_nonzero(rows, axis=-1) > 1) & (np.count_nonzero(columns, axis=-1) > 1)
    return ratio(covariance, np.sqrt(np.where(varied & (variance > 0), variance, 0.0)))


def spearman(table: Array) -> Array:
    """Pearson of midranks, ranked anew in every table. Undefined: a constant side."""
    rows, columns = table.sum(axis=-1), table.sum(axis=-2)
    # twice the centred midrank of each label: an integer when counts are
    u = 2 * np.cumsum(rows, axis=-1) - rows - rows.sum(axis=-1, keepdims=True)
    v = 2 * np.cumsum(columns, axis=-1) - columns - columns.sum(axis=-1, keepdims=True)
    covariance = (table * u[..., :, None] * v[..., None, :]).sum(axis=(-2, -1))
    return ratio(covariance, np.sqrt((rows * u * u).sum(axis=-1)) * np.sqrt((columns * v * v).sum(axis=-1)))


def _concordant_less_discordant(table: Array) -> Array:
    """Of each cell the labels in later rows and columns, less those in later rows and earlier columns."""
    labels = table.shape[-1]
    if 0 < labels <= FEW_LABELS:  # one product for all tables is three times as fast as sums along their axes
        order = np.arange(labels)
        after, side = np.greater.outer(order, order), np.sign(np.subtract.outer(order, order))
        each = np.einsum("ki,lj->klij", after, side).reshape(labels**2, labels**2).astype(float)
        return np.asarray((table.reshape(-1, labels**2) @ each).reshape(table.shape))
    above = np.flip(np.cumsum(np.flip(table, -2), axis=-2), -2) - table  # rows after k, same column
    right = np.flip(np.cumsum(np.flip(above, -1), axis=-1), -1) - above
    left = np.cumsum(above, axis=-1) - above
    return np.asarray(right - left)


def kendall(table: Array) -> Array:
    """(P - Q) / sqrt((n0 - n1)(n0 - n2)). Undefined: a constant side."""
    total, rows, columns = margins(table)
    difference = 2 * (table * _concordant_less_discordant(table)).sum(axis=(-2, -1))
    free = (total * total - (rows * rows).sum(axis=-1)) * (total * total - (columns * columns).sum(axis=-1))
    return ratio(difference, np.sqrt(free))
