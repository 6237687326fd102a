"""Is a stated probability of being right kept? Calibration error, Brier score and discrimination as closed forms on
counts for each level of confidence, and what noise alone would give.

Level arrays have shape (..., levels): `asked` how many answers were given at a level, `right` how many of them were
right, `p` the level itself, ascending.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from calibration.arithmetic.closed_forms import Array, ratio
from calibration.arithmetic.columns import Codes, numeric, tally
from calibration.errors import CalibrationError

ASSUMED_ICC = 0.1  # of a cluster's errors where every bin is all right or all wrong
MOST_LEVELS = 10  # up to which every level is a bin of its own; above, as many bins of equal mass


def expected_calibration_error(confidence: Sequence[float | None], correct: Sequence[float | None]) -> float:
    """sum_b n_b / n |share right in b - mean confidence in b|, 0 to 1. Both of shape (answers,), confidence 0 to 1.

    Bins are the levels where there are up to 10, else 10 bins of equal mass. A plug-in: noise alone makes it larger
    than 0 (`by_chance`). Undefined: no answers. Naeini, Cooper & Hauskrecht 2015.
    """
    p, asked, right = by_level(confidence, correct)
    return float(calibration_error(asked, right, p, bins_of(asked)))


def brier_score(confidence: Sequence[float | None], correct: Sequence[float | None]) -> float:
    """Mean of (confidence - correct)^2, 0 to 1. Both of shape (answers,). Undefined: no answers. Brier 1950."""
    p, asked, right = by_level(confidence, correct)
    return float(brier(asked, right, p))


def confidence_auroc(confidence: Sequence[float | None], correct: Sequence[float | None]) -> float:
    """How often a right answer has more confidence than a wrong one, ties half, 0 to 1; only the order of confidence
    counts. Both of shape (answers,). Undefined: all right or all wrong. Hanley & McNeil 1982.
    """
    _, asked, right = by_level(confidence, correct, bounded=False)
    return float(auroc(asked, right))


def by_level(
    confidence: Sequence[float | None], correct: Sequence[float | None], *, bounded: bool = True
) -> tuple[Array, Array, Array]:
    """`p`, `asked`, `right` of single answers. Raises `bad_number` on a confidence outside 0 to 1 if `bounded`."""
    given, hit = numeric(confidence, correct)
    if bounded and len(given) and (given.min() < 0 or given.max() > 1):
        raise CalibrationError("bad_number", f"a confidence is {given.max():g}; use shares from 0 to 1")
    p, level = np.unique(given, return_inverse=True)
    return p, tally(level, len(p)), tally(level, len(p), hit)


def bins_of(asked: Array) -> Codes:
    """The bin of each level, shape (levels,), from 0: the level itself where there are few, else of equal mass."""
    levels = len(asked)
    if levels <= MOST_LEVELS:
        return np.arange(levels)
    middle = (np.cumsum(asked) - asked / 2) / asked.sum()
    return np.unique(np.floor(middle * MOST_LEVELS), return_inverse=True)[1].astype(np.intp)


def in_bins(values: Array, bins: Codes) -> Array:
    """Sums over the levels of each bin: shape (..., bins)."""
    return np.asarray(values @ (bins[:, None] == np.arange(bins.max(initial=-1) + 1)))


def calibration_error(asked: Array, right: Array, p: Array, bins: Codes) -> Array:
    """`expected_calibration_error` of counts."""
    return ratio(np.abs(in_bins(right - asked * p, bins)).sum(axis=-1), asked.sum(axis=-1))


def brier(asked: Array, right: Array, p: Array) -> Array:
    """`brier_score` of counts."""
    return ratio((right - 2 * right * p + asked * p * p).sum(axis=-1), asked.sum(axis=-1))


def murphy(asked: Array, right: Array, p: Array, bins: Codes) -> tuple[Array, Array, Array]:
    """Reliability, resolution and uncertainty: Brier score = reliability - resolution + uncertainty where each bin is
    one level. Murphy 1973."""
    n, hits, claimed = in_bins(asked, bins), in_bins(right, bins), in_bins(asked * p, bins)
    total, share = asked.sum(axis=-1), ratio(right.sum(axis=-1), asked.sum(axis=-1))
    own = ratio(hits, n)
    kept, resolved = (
        np.nan_to_num(n * (own - other) ** 2).sum(axis=-1) for other in (ratio(claimed, n), share[..., None])
    )
    return ratio(kept, total), ratio(resolved, total), share * (1 - share)


def auroc(asked: Array, right: Array) -> Array:
    """`confidence_auroc` of counts."""
    wrong = asked - right
    below = np.cumsum(wrong, axis=-1) - wrong / 2
    return ratio((right * below).sum(axis=-1), right.sum(axis=-1) * wrong.sum(axis=-1))


def by_chance(n: Array, hits: Array, p: Array, resamples: int, seed: int) -> Array:
    """Plug-in calibration errors of a rater that is right as often as it says, from noise alone: shape (resamples,).

    `n`, `hits`: answers and right ones, shape (clusters, bins); `p`: mean confidence of each bin. Gaps of the bins are
    normal: variance p (1 - p) / n times the design effect seen within the bins, correlations as seen over clusters.
    """
    total = n.sum(axis=0)
    share = hits.sum(axis=0) / total
    within = (n > 0).sum(axis=0)
    off = (hits - n * share) * np.sqrt(within / np.maximum(1, within - 1)) / total
    seen = off.T @ off
    spread = float(total @ (share * (1 - share)))
    deff = 1 + (total.sum() / max(1, (n.sum(axis=1) > 0).sum()) - 1) * ASSUMED_ICC
    if spread > 0:
        deff = max(1.0, float(total**2 @ np.diag(seen)) / spread)
    known = np.sqrt(np.where(np.diag(seen) > 0, np.diag(seen), np.inf))
    alike = seen / np.outer(known, known)
    np.fill_diagonal(alike, 1.0)
    sd = np.sqrt(deff * p * (1 - p) / total)
    values, vectors = np.linalg.eigh(alike * np.outer(sd, sd))
    drawn = np.random.default_rng(seed).standard_normal((resamples, len(p)))
    gaps = (drawn * np.sqrt(np.maximum(values, 0))) @ vectors.T
    return np.asarray(np.abs(gaps) @ (total / total.sum()))


def exceeded(draws: npt.NDArray[np.float64], value: float) -> float:
    """Share of the draws at least as large as `value`, never 0; nan where it is undefined."""
    return math.nan if math.isnan(value) else float((1 + (draws >= value - 1e-12).sum()) / (1 + len(draws)))
