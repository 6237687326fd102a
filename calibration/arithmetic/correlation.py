"""Correlation, intraclass correlation and rank agreement of columns of numbers.

A row with a missing side is dropped. Undefined is nan, never an exception. Two forms of each are kept here: of columns,
and of sums or pairs, which a resample of whole clusters can add up. Sums are of centred values, one row per cluster;
their functions take summed rows of shape (..., sums) and are vectorised over the leading axes. Pairs of reports in the
same order need only how many pairs of each kind lie between every two clusters: with weights w that is w' M w / 2. A
report is never paired with its own copy.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from calibration.arithmetic.closed_forms import Array, margins, ratio
from calibration.arithmetic.columns import Codes, grouped, numeric, tally
from calibration.errors import CalibrationError


def pearson(x: Any, y: Any) -> float:
    """Product-moment correlation of `x` and `y`, shape (rows,), -1 to 1. Undefined: fewer than two rows, a constant
    side.

    Values are centred first: an offset of 1e9 costs no digits.
    """
    return _correlation(*numeric(x, y))


def spearman(x: Any, y: Any) -> float:
    """Pearson of midranks, -1 to 1. `x`, `y`: shape (rows,). Undefined as `pearson`. Spearman 1904."""
    x, y = numeric(x, y)
    return _correlation(scipy.stats.rankdata(x), scipy.stats.rankdata(y))


def kendall_tau_b(x: Any, y: Any) -> float:
    """(P - Q) / sqrt((n0 - n1)(n0 - n2)), -1 to 1. `x`, `y`: shape (rows,). Undefined as `pearson`. Kendall 1945."""
    x, y = numeric(x, y)
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    return float(scipy.stats.kendalltau(x, y, variant="b").statistic)


def icc(ratings: Any, form: str = "ICC(2,1)", crowd: bool = False) -> float:
    """Intraclass correlation, at most 1; negative values are legal. `ratings`: shape (subjects, raters).

    `form`: ICC(1,1), ICC(2,1), ICC(3,1), ICC(1,k), ICC(2,k) or ICC(3,k). Subjects with a missing rating are dropped.
    Undefined: fewer than 2 subjects or raters left, or a denominator of 0. Raises `unknown_form`, and
    `maybe_transposed` where raters outnumber subjects, unless `crowd`. Shrout & Fleiss 1979; McGraw & Wong 1996.
    """
    if form not in FORMS:
        raise CalibrationError("unknown_form", f"form is {form!r}; use one of {', '.join(FORMS)}")
    subjects = np.asarray(ratings, dtype=object)
    if subjects.ndim != 2:
        raise CalibrationError("misaligned", "ratings must be a table of subjects x raters")
    refuse_transposed(subjects.shape[1], subjects.shape[0], "subjects x raters", crowd)
    complete = np.stack(numeric(*subjects.T), axis=1) if subjects.shape[1] else np.zeros((0, 0))
    sums = rater_sums(complete, np.ones(len(complete)), np.zeros(len(complete), np.intp), 1)
    return float(icc_of_sums(sums[0], form))


def rank_agreement_across_items(x: Any, y: Any, ties: str = "strict") -> float:
    """Share of all n (n - 1) / 2 pairs of reports that `x` and `y`, shape (reports,), put in the same order, 0 to 1.

    `strict`: a tie on either side is disagreement (DR3-Eval). `exclude`: such pairs are dropped. `half_credit`: a tie
    against an order counts one half, two ties count one. Differences below 1e-9 are ties. Undefined: no pair (left).
    """
    x, y = numeric(x, y)
    return _ranked(x, y, np.zeros(len(x), np.intp), ties)


def rank_agreement_within_topic(x: Any, y: Any, topics: Any, ties: str = "strict") -> float:
    """`rank_agreement_across_items` over the pairs inside one topic only, pooled over topics; shape (reports,) each.

    The rules for ties are the same. DeepResearch Bench calls it PAR.
    """
    topic, columns = grouped(topics, x, y)
    x, y = numeric(*columns)
    return _ranked(x, y, topic, ties)


def refuse_transposed(raters: int, units: int, shape: str, crowd: bool) -> None:
    """Raises `maybe_transposed` where raters outnumber units: such a table is usually turned on its side."""
    if raters > units > 1 and not crowd:
        raise CalibrationError(
            "maybe_transposed",
            f"the table is {shape} and has {raters} raters for {units} units: it may be transposed; turn it, or say "
            "crowd=True where there are more raters than units",
        )


def _ranked(x: Array, y: Array, topic: Codes, ties: str) -> float:
    if ties not in ("strict", "exclude", "half_credit"):
        raise CalibrationError("unknown_form", f"ties is {ties!r}; use strict, exclude or half_credit")
    counts = sum((sign_counts(x[topic == name], y[topic == name]) for name in np.unique(topic)), np.zeros(5))
    return float(ratio(*rank_share(counts, ties)))


def _correlation(x: Array, y: Array) -> float:
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    x, y = x - x[0], y - y[0]  # the offset goes first, exactly, so that the mean is taken of small numbers
    x, y = x - x.mean(), y - y.mean()
    value = float(x @ y / (np.linalg.norm(x) * np.linalg.norm(y)))
    return min(1.0, max(-1.0, value))


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
