"""Uncertainty from whole clusters: one shared matrix of resampling weights, closed forms on sums, intervals of
clusters.

Labels are reduced to sums per cluster once; a resample is then a row of cluster weights times those sums. Every judge,
criterion and statistic sees the same weights, so every comparison is paired.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from calibration.arithmetic import closed_forms, columns, tails

CHUNK = 256  # resamples per seed child: draws depend on (seed, clusters, resamples) and on nothing else
KEPT = 2**24  # weights in memory between two statistics: 16 MB
COUNTERS = 32_768  # counters of one bincount: they stay in cache
EXACT_FLOAT32 = 2**24
MAX_UNDEFINED = 0.05
ROUNDING = 1e-12  # a spread of equal means below this share of them is arithmetic's, and no spread

Interval = tuple[float, float]
REFUSED: Interval = (math.nan, math.nan)


def cluster_weights(
    n_clusters: int, resamples: int = 9_999, seed: int = 0, block: int = CHUNK
) -> Iterator[npt.NDArray[np.int64]]:
    """Blocks of shape (at most `block`, n_clusters): how often each cluster is drawn; every row sums to n_clusters.

    The rows are the same for every `block`.
    """
    per_slice = max(1, COUNTERS // n_clusters)
    children = iter(np.random.SeedSequence(seed).spawn(-(-resamples // CHUNK)))
    for start in range(0, resamples, block):
        counts = np.empty((min(block, resamples - start), n_clusters), dtype=np.int64)
        top = 0
        while top < len(counts):
            done = (start + top) % CHUNK
            if not done:
                rng = np.random.Generator(np.random.PCG64(next(children)))
            rows = min(per_slice, len(counts) - top, CHUNK - done)
            drawn = rng.integers(0, n_clusters, size=(rows, n_clusters))
            drawn += np.arange(rows)[:, None] * n_clusters
            counts[top : top + rows] = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)
            top += rows
        yield counts


@cache
def _libraries() -> ThreadpoolController:
    """Looked for once: it means to read every library that the process has loaded."""
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[object]:
    """Products of matrices in one thread: the sums are then made in one order, and small ones are faster."""
    limited: AbstractContextManager[object] = _libraries().limit(limits=1)
    return limited


def resample(
    sums: npt.ArrayLike,
    statistic: Callable[[closed_forms.Array], closed_forms.Array],
    resamples: int = 9_999,
    seed: int = 0,
    block: int = CHUNK,
) -> closed_forms.Array:
    """`statistic` of every resampled sum. `sums`: shape (clusters, ...); result: shape (resamples, ...).

    `statistic` receives summed tables of shape (block, ...) and is vectorised over the first axis. Integer sums are
    exact: the result is the same, bit for bit, for any block size and number of threads.
    """
    sums = np.asarray(sums, dtype=float)
    shape = sums.shape[1:]
    # Cells first, resamples last: each cell of the product is one contiguous slab. `.T` turns it back into a view.
    cells = np.ascontiguousarray(sums.T).reshape(-1, len(sums))
    whole = bool(np.all(cells == np.rint(cells)))
    largest = float(np.abs(cells).sum(axis=1).max(initial=0.0))
    single = cells.astype(np.float32)
    draws, start = np.empty(0), 0
    with one_thread():
        for weights in _weights(len(sums), resamples, seed, block):
            exact = whole and largest * float(weights.max()) < EXACT_FLOAT32
            left = single if exact else cells
            product = (left @ weights.astype(left.dtype).T).astype(float)
            found = statistic(product.reshape(*reversed(shape), len(weights)).T)
            if not start:
                draws = np.empty((*found.shape[1:], resamples))  # the draws of one statistic lie side by side
            draws[..., start : start + len(found)] = np.moveaxis(found, 0, -1)
            start += len(found)
    return np.moveaxis(draws, -1, 0)


def _weights(n_clusters: int, resamples: int, seed: int, block: int) -> Iterable[npt.NDArray[np.integer[Any]]]:
    """`cluster_weights`, kept in few bytes where they are few, since every statistic needs them again."""
    if n_clusters * resamples <= KEPT:
        return _kept_weights(cluster_weights, n_clusters, resamples, seed, block)
    return cluster_weights(n_clusters, resamples, seed, block)


@lru_cache(maxsize=1)
def _kept_weights(
    draw: Callable[..., Iterator[npt.NDArray[np.int64]]], *of: int
) -> tuple[npt.NDArray[np.integer[Any]], ...]:
    return tuple(weights.astype(np.min_scalar_type(weights.max())) for weights in draw(*of))


def percentile(draws: npt.ArrayLike, level: float = 0.95) -> Interval:
    """Plain percentile interval; refused when no draw, or more than 5 % of them undefined.

    Under-covers at few clusters.
    """
    return _quantiles(np.asarray(draws, float), (1 - level) / 2)


def expanded_percentile(draws: npt.ArrayLike, clusters: int, level: float = 0.95) -> Interval:
    """Percentile interval at the levels Phi(-+ sqrt(C / (C - 1)) t_{C-1}). Refused as `percentile`, and for C < 2.

    Hesterberg 2015.
    """
    if clusters < 2:
        return REFUSED
    return _quantiles(np.asarray(draws, float), _expanded_tail(clusters, level))


def undefined_share(draws: npt.ArrayLike) -> float:
    """Share of draws without a value, 0 to 1; 1 when there are none."""
    draws = np.asarray(draws, float)
    return float(np.isnan(draws).mean()) if draws.size else 1.0


def _quantiles(draws: closed_forms.Array, tail: float) -> Interval:
    missing = np.isnan(draws)
    if not draws.size or missing.mean() > MAX_UNDEFINED:
        return REFUSED
    # np.quantile, whose preparations take longer than the quantiles of a few thousand draws
    known = draws[~missing] if missing.any() else draws
    place = (len(known) - 1) * np.array([tail, 1 - tail])
    before = np.floor(place).astype(int)
    after = np.minimum(before + 1, len(known) - 1)
    sorted_there = np.partition(known, np.concatenate([before, after]))
    one, other, part = sorted_there[before], sorted_there[after], place - before
    step = other - one
    low, high = np.where(part < 0.5, one + step * part, other - step * (1 - part))
    return float(low), float(high)


@cache
def _t_quantile(clusters: int, level: float) -> float:
    return float(tails.Student.ppf((1 + level) / 2, clusters - 1))


@cache
def _expanded_tail(clusters: int, level: float) -> float:
    return float(tails.Normal.cdf(-math.sqrt(clusters / (clusters - 1)) * _t_quantile(clusters, level)))


@dataclass(frozen=True)
class EffectiveSample:
    """How many independent labels nested ones are worth. `icc` may be nan (one cluster, or one label in each)."""

    clusters: int
    labels_per_cluster: float
    icc: float
    deff: float
    n_eff: float


def cluster_se(y: npt.ArrayLike, clusters: npt.ArrayLike) -> float:
    """Standard error of the mean of `y`, shape (labels,), in `clusters`, shape (labels,). Undefined.

    Fewer than 2 clusters.
    """
    sums, sizes = _per_cluster(y, clusters)
    return se_of_sums(sums, sizes)


def se_of_sums(sums: closed_forms.Array, sizes: closed_forms.Array) -> float:
    """`cluster_se` from the sum and the number of labels of each cluster, shape (clusters,).

    Empty clusters are left out.
    """
    sums, sizes = sums[sizes > 0], sizes[sizes > 0]
    count, total = len(sizes), sizes.sum()
    if count < 2:
        return math.nan
    mean = sums.sum() / total
    residuals = sums - sizes * mean
    se = float(math.sqrt(count / (count - 1) * (residuals @ residuals)) / total)
    return se if se > ROUNDING * abs(mean) else 0.0


def jackknife_se_of_sums(sums: closed_forms.Array, sizes: closed_forms.Array) -> float:
    """The standard error of a mean from leaving out each cluster in turn: CR3. Undefined, nan: fewer than 2 clusters.

    `sums`, `sizes`: shape (clusters,), as for `se_of_sums`, which it equals where all clusters are of one size; a large
    one does not pull the mean towards itself and so hide its own error. Bell & McCaffrey 2002.
    """
    sums, sizes = sums[sizes > 0], sizes[sizes > 0]
    count, total = len(sizes), sizes.sum()
    if count < 2:
        return math.nan
    mean = sums.sum() / total
    residuals = (sums - sizes * mean) / (1 - sizes / total)
    se = float(math.sqrt((count - 1) / count * (residuals @ residuals)) / total)
    return se if se > ROUNDING * abs(mean) else 0.0


def effective_sample(y: npt.ArrayLike, clusters: npt.ArrayLike) -> EffectiveSample:
    """Design effect of the mean of `y`, shape (labels,): deff = max(1, cluster variance / iid variance), n_eff = N /
    deff.

    ICC by one-way ANOVA with n0 = (N - sum n_c^2 / N) / (C - 1). Donner 1986; Kish 1965. Without variation the design
    effect is unknown, and 1 + (N / C - 1) 0.1 is assumed.
    """
    y = np.asarray(y, float)
    sums, sizes = _per_cluster(y, clusters)
    return effective_of_sums(sums, sizes, float(y @ y))


def effective_of_sums(sums: closed_forms.Array, sizes: closed_forms.Array, squares: float) -> EffectiveSample:
    """`effective_sample` from the sum and number of labels of each cluster and the sum of squares over all."""
    sums, sizes = sums[sizes > 0], sizes[sizes > 0]
    count, total = len(sizes), float(sizes.sum())
    if not count:
        return EffectiveSample(0, math.nan, math.nan, math.nan, 0.0)
    mean = sums.sum() / total
    spread = squares / total - mean * mean
    if spread <= 1e-12 * max(1.0, mean * mean):
        deff = 1 + (total / count - 1) * 0.1
        return EffectiveSample(count, total / count, math.nan, deff, total / deff)
    if count < 2:
        return EffectiveSample(count, total / count, math.nan, math.nan, math.nan)
    between = (sums**2 / sizes).sum() - total * mean * mean
    within = squares - (sums**2 / sizes).sum()
    icc = math.nan
    if total > count:
        between, within = between / (count - 1), max(0.0, within) / (total - count)
        n0 = (total - (sizes**2).sum() / total) / (count - 1)
        icc = float((between - within) / (between + (n0 - 1) * within))
    deff = max(1.0, se_of_sums(sums, sizes) ** 2 / (spread / total))
    return EffectiveSample(count, total / count, icc, deff, total / deff)


def wilson_effective(agree: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.95) -> Interval:
    """Wilson interval of a share, with the effective sample size and t of C - 1. Inside [0, 1], right at 0 and 100 %.

    `agree`, `n`: shape (clusters,), how many of how many; clusters with n = 0 are left out. Refused: fewer than 2
    clusters. Wilson 1927; Korn & Graubard 1998; Franco et al. 2019.
    """
    agree, n = np.asarray(agree, float), np.asarray(n, float)
    effective = effective_of_sums(agree, n, float(agree.sum()))
    if effective.clusters < 2:
        return REFUSED
    p, size = agree.sum() / n.sum(), effective.n_eff
    t = _t_quantile(effective.clusters, level)
    centre = (p + t * t / (2 * size)) / (1 + t * t / size)
    half = t * math.sqrt(p * (1 - p) / size + t * t / (4 * size * size)) / (1 + t * t / size)
    return float(max(0.0, centre - half)), float(min(1.0, centre + half))


def cluster_t(value: float, se: float, clusters: int, level: float = 0.95) -> Interval:
    """value -+ t_{C-1} se. Refused: fewer than 2 clusters, or no spread between them."""
    if clusters < 2 or not se > 0:
        return REFUSED
    half = _t_quantile(clusters, level) * se
    return value - half, value + half


def fisher_z_linearised(value: float, se: float, clusters: int, level: float = 0.95) -> Interval:
    """tanh(atanh k -+ t_{C-1} se / (1 - k^2)) for a kappa or correlation `value` with its linearised cluster `se`.

    Refused: fewer than 2 clusters, no spread between them, or a value of 1 or -1.
    """
    if clusters < 2 or not se > 0 or not abs(value) < 1:
        return REFUSED
    half = _t_quantile(clusters, level) * se / (1 - value * value)
    return math.tanh(math.atanh(value) - half), math.tanh(math.atanh(value) + half)


def _per_cluster(y: Any, clusters: Any) -> tuple[closed_forms.Array, closed_forms.Array]:
    _, code = np.unique(np.asarray(clusters), return_inverse=True)
    return columns.tally(code, 0, np.asarray(y, float)), columns.tally(code, 0)


def counts_of(matrices: closed_forms.Array, weights: closed_forms.Array) -> closed_forms.Array:
    """Pairs of each kind (`concordance.pair_matrices`) in every resample.

    `weights`: shape (block, clusters); result: shape (block, 5).
    """
    whole = bool(np.all(matrices == np.rint(matrices)))
    exact = whole and float(matrices.sum(axis=-1).max(initial=0.0)) * float(weights.max(initial=0.0)) < EXACT_FLOAT32
    kind = np.float32 if exact else np.float64
    left = weights.astype(kind)
    return np.stack(
        [((left @ matrice.astype(kind)).astype(float) * weights).sum(axis=1) / 2 for matrice in matrices], axis=-1
    )


def concordance_draws(matrices: closed_forms.Array, resamples: int, seed: int) -> closed_forms.Array:
    """`counts_of` of every resample, with the weights of `resample`; shape (resamples, 5)."""
    with one_thread():
        blocks = cluster_weights(matrices.shape[-1], resamples, seed)
        return np.concatenate([counts_of(matrices, block.astype(float)) for block in blocks])
