"""How many clusters would decide a non-inferiority claim that is open, from the pilot's own spread between clusters."""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibration.arithmetic import columns, tails
from calibration.arithmetic.closed_forms import Array
from calibration.inference.gap_test import Gap, gap_of, gap_sums

POWER = 0.8
REACH, TIMES = 10_000, 10  # clusters; more, and more than so many times those at hand, nobody labels
SIMULATED = 10_000  # studies behind the power against several references: its error is .4 points
TINY = 1e-12


@dataclass(frozen=True)
class Needed:
    """`clusters` in all, `more` beyond those at hand; None where no number would decide, and `note` says why.

    They rest on the pilot's own spread, which ten clusters know within a third either way: plan again when they are in.
    """

    clusters: int | None
    more: int | None
    gap: float  # true gap assumed: the one observed, at least 0
    sd: float  # of cluster differences, against the reference of the largest gap
    note: str = ""


def power(
    pairs: int, sd_of_pair_differences: float, margin: float = 0.05, difference: float = 0.0, level: float = 0.95
) -> float:
    """Probability that `pairs` clusters show non-inferiority at a true gap of `difference`. Noncentral t, C - 1 df.

    Undefined: fewer than 2 pairs, or no spread. Julious 2004.
    """
    return claim_power(pairs, sd_of_pair_differences, margin, difference, level, None)


def claim_power(pairs: int, sd: float, margin: float, gap: float, level: float, like: Gap | None) -> float:
    """`power` of the test that `gap_law` describes, whose error reckons with faults that were not seen.

    `like`: a gap whose items and clusters differ as those of the study will; None: no such faults. Its law is taken to
    be t.
    """
    if pairs < 2 or not sd > 0:
        return math.nan
    t, shift = float(tails.Student.ppf(level, pairs - 1)), (margin - gap) * math.sqrt(pairs) / sd
    return float(tails.NoncentralT.sf(t * _wider(like, pairs), pairs - 1, shift))


def _wider(like: Gap | None, pairs: int) -> float:
    """What faults that may not have been seen do to the error, fewer with more clusters."""
    return math.sqrt(1 + like.unseen * like.clusters / pairs) if like else 1.0


def at_least(needed: Needed, fewest: int) -> Needed:
    """The same, but no fewer clusters than the plan asks for."""
    if needed.clusters is None or needed.more is None or needed.clusters >= fewest:
        return needed
    return replace(needed, clusters=fewest, more=max(0, needed.more + fewest - needed.clusters))


def clusters_needed(
    candidate: Array,
    references: Sequence[Array],
    code: columns.Codes,
    margin: float,
    level: float = 0.95,
    wanted: float = POWER,
    items: columns.Codes | None = None,
    weight: Array | None = None,
) -> Needed:
    """The fewest clusters with power `wanted` to show the candidate non-inferior to every reference.

    `candidate`, each of `references`, `code` (the cluster of each label): shape (labels,); nan is left out. The true
    gaps are taken as observed, the largest at least 0. None: it reaches the margin (`gap_reaches_margin`), there are
    fewer than 2 clusters (`too_few_units`), or more are needed than are in `reach` (`too_many`). Against one reference
    the power is `claim_power`, against several it is simulated from the covariance of the cluster differences. `items`:
    labels that stand or fall together, each its own where they are not told. `weight`: of each label, by the draw of
    its cluster; the clusters to come are then taken to be drawn likewise.
    """
    differences = [reference - candidate for reference in references]
    held = [len(np.unique(code[~np.isnan(difference)])) for difference in differences]
    if min(held, default=0) < 2:
        return Needed(None, None, math.nan, math.nan, "too_few_units")
    any_label = ~np.isnan(differences).all(axis=0)
    clusters = np.unique(code[any_label], return_inverse=True)[1]
    each = np.ones(len(code)) if weight is None else weight
    spreads = [_gap_and_spread(difference[any_label], clusters, each[any_label]) for difference in differences]
    gaps, spread = np.array([gap for gap, _ in spreads]), np.stack([one for _, one in spreads], axis=-1)
    hardest = int(gaps.argmax())
    gaps[hardest] = max(0.0, gaps[hardest])
    covariance = spread.T @ spread / (len(spread) - 1)
    sd = np.sqrt(np.diag(covariance))
    if gaps[hardest] >= margin:
        return Needed(None, None, float(gaps[hardest]), float(sd[hardest]), "gap_reaches_margin")
    like = [gap_of(gap_sums(difference, code, items, weight=weight)) for difference in differences]
    total = _fewest(_rule(gaps, covariance, margin, level, wanted, like), reach(len(spread)))
    if total is None:
        return Needed(None, None, float(gaps[hardest]), float(sd[hardest]), "too_many")
    return Needed(total, max(0, total - len(spread)), float(gaps[hardest]), float(sd[hardest]))


def clusters_without_spread(gap: float, margin: float, level: float = 0.95) -> int:
    """The fewest clusters, all with the same difference `gap` < `margin`, that the exact bound finds non-inferior."""
    return max(2, math.floor(math.log(1 - level) / math.log((1 - margin) / (1 - gap))) + 1)


def _gap_and_spread(difference: Array, code: columns.Codes, weight: Array) -> tuple[float, Array]:
    """Mean difference, and what each cluster adds to its error: their sd / sqrt(C) is the clustered SE of the mean."""
    known = ~np.isnan(difference)
    count = int(code.max(initial=-1)) + 1
    each = weight[known]
    sizes, sums = columns.tally(code[known], count, each), columns.tally(code[known], count, difference[known] * each)
    total = sizes.sum()
    gap = float(sums.sum() / total) if total else math.nan
    return gap, count * (sums - sizes * gap) / max(1.0, total)


def _rule(
    gaps: Array, covariance: Array, margin: float, level: float, wanted: float, like: Sequence[Gap]
) -> Callable[[int], bool]:
    """Whether that many clusters have the power."""
    sd = np.sqrt(np.diag(covariance))
    flat = sd <= TINY
    least = max((clusters_without_spread(float(gap), margin, level) for gap in gaps[flat]), default=2)
    gaps, covariance, sd = gaps[~flat], covariance[~flat][:, ~flat], sd[~flat]
    like = [one for one, none in zip(like, flat, strict=True) if not none]
    if not len(gaps):
        return lambda count: count >= least
    if len(gaps) == 1:
        one, gap = float(sd[0]), float(gaps[0])
        return lambda count: count >= least and claim_power(count, one, margin, gap, level, like[0]) >= wanted
    values, vectors = np.linalg.eigh(covariance)
    rng = np.random.default_rng(0)
    error = rng.normal(size=(SIMULATED, len(gaps))) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    luck = rng.normal(size=(SIMULATED, 1))

    def enough(count: int) -> bool:
        # one draw of the spread serves all references: each bound is exactly t, only their joint law is simplified
        part = 2 / (9 * (count - 1))
        spread = np.maximum(0.0, 1 - part + luck * math.sqrt(part)) ** 1.5  # Wilson & Hilferty 1931
        t = float(tails.Student.ppf(level, count - 1))
        above = error + t * sd * [_wider(gap, count) for gap in like] * spread
        return bool(count >= least and (gaps + above / math.sqrt(count) < margin).all(axis=1).mean() >= wanted)

    return enough


def reach(at_hand: int) -> int:
    """The most clusters that are any advice beside those at hand."""
    return max(REACH, TIMES * at_hand)


def _fewest(enough: Callable[[int], bool], most: int) -> int | None:
    """The smallest number from 2 that is enough, None above `most`; more is never less than enough."""
    low, high = 1, 2
    while not enough(high):
        low, high = high, 2 * high
        if low > most:
            return None
    found = bisect_left(range(high), True, low + 1, high, key=enough)
    return found if found <= most else None
