"""Pairs of reports that two raters put in the same order: Kendall's tau-b and rank agreement, resampled by cluster.

A resample draws whole clusters, so it needs only how many pairs of each kind lie between every two clusters: with
weights w that is w' M w / 2. A report is never paired with its own copy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.bootstrap import EXACT_FLOAT32, cluster_weights, one_thread
from calibration.engine.closed_forms import Array, ratio
from calibration.reading.columns import Codes, tally

SAME_SCORE = 1e-9  # scores that differ by less are tied
CHUNK = 512  # rows compared with all others at once
MOST_ROWS = 4_000  # scores of one comparison; pairs of more would take minutes

Mask = npt.NDArray[np.bool_]

# kinds of pairs, last axis of every count: concordant, discordant, untied in x, untied in y, all
KINDS = 5


@dataclass(frozen=True)
class Ranked:
    """Two scores of the same reports, one entry each: numbers, weight and cluster; shape (rows,)."""

    x: Array
    y: Array
    weight: Array
    cluster: Codes


def sign_counts(x: Array, y: Array) -> Array:
    """How many unordered pairs are of each kind; shape (5,)."""
    one = Ranked(x, y, np.ones(len(x)), np.zeros(len(x), np.intp))
    return np.asarray(pair_matrices([one], 1)[:, 0, 0] / 2)


def pair_matrices(parts: Iterable[Ranked], clusters: int) -> Array:
    """Ordered pairs of each kind between clusters c and d, pairs within a part only; shape (5, clusters, clusters)."""
    out = np.zeros((KINDS, clusters, clusters))
    for part in parts:
        order = np.argsort(part.cluster, kind="stable")
        x, y, weight, cluster = part.x[order], part.y[order], part.weight[order], part.cluster[order]
        present, starts = np.unique(cluster, return_index=True)
        for top in range(0, len(x), CHUNK):
            rows = slice(top, top + CHUNK)
            for kind, seen in enumerate(_kinds(x[rows], y[rows], x, y)):
                by_cluster = np.add.reduceat(seen * weight, starts, axis=1) * weight[rows, None]
                out[kind][np.ix_(present, present)] += _summed(by_cluster, np.searchsorted(present, cluster[rows]))
        sizes = tally(cluster, clusters, weight)
        out[4] += np.outer(sizes, sizes) - np.diag(tally(cluster, clusters, weight * weight))
    return out


def counts_of(matrices: Array, weights: Array) -> Array:
    """Pairs of each kind in every resample. `weights`: shape (block, clusters); result: shape (block, 5)."""
    whole = bool(np.all(matrices == np.rint(matrices)))
    exact = whole and float(matrices.sum(axis=-1).max(initial=0.0)) * float(weights.max(initial=0.0)) < EXACT_FLOAT32
    kind = np.float32 if exact else np.float64
    left = weights.astype(kind)
    return np.stack([((left @ one.astype(kind)).astype(float) * weights).sum(axis=1) / 2 for one in matrices], axis=-1)


def concordance_draws(matrices: Array, resamples: int, seed: int) -> Array:
    """`counts_of` of every resample, with the weights of `bootstrap.resample`; shape (resamples, 5)."""
    with one_thread():
        blocks = cluster_weights(matrices.shape[-1], resamples, seed)
        return np.concatenate([counts_of(matrices, block.astype(float)) for block in blocks])


def tau_b(counts: Array) -> Array:
    """Kendall's tau-b from pair counts, shape (..., 5). Undefined: a constant side."""
    concordant, discordant, untied_x, untied_y, _ = np.moveaxis(counts, -1, 0)
    return ratio(concordant - discordant, np.sqrt(untied_x * untied_y))


def rank_share(counts: Array, ties: str) -> tuple[Array, Array]:
    """Pairs in the same order, and of how many, under a tie rule. `counts`: shape (..., 5)."""
    concordant, discordant, untied_x, untied_y, everything = np.moveaxis(counts, -1, 0)
    decided = concordant + discordant
    if ties == "exclude":
        return concordant, decided
    if ties == "half_credit":
        one_tied = untied_x + untied_y - 2 * decided
        return concordant + one_tied / 2 + (everything - decided - one_tied), everything
    return concordant, everything


def _kinds(x: Array, y: Array, others_x: Array, others_y: Array) -> tuple[Mask, Mask, Mask, Mask]:
    dx, dy = others_x[None, :] - x[:, None], others_y[None, :] - y[:, None]
    untied_x, untied_y = np.abs(dx) >= SAME_SCORE, np.abs(dy) >= SAME_SCORE
    both, alike = untied_x & untied_y, np.asarray((dx > 0) == (dy > 0))
    return both & alike, both & ~alike, untied_x, untied_y


def _summed(rows: Array, group: Codes) -> Array:
    """Rows added up by group, 0 to the number of columns; shape (columns, columns)."""
    out = np.zeros((rows.shape[1], rows.shape[1]))
    np.add.at(out, group, rows)
    return out
