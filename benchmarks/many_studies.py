"""The test of `calibration.inference.gap_test` for many studies at once, on resamples that all of them share.

A simulation of looks makes it a million times, and one by one that takes hours. `gaps_of` is `gap_of`, `laws_of`
is `laws` with the exact bound of `gap_test`, on sums of shape (studies, topics) without an empty topic; a test holds
them to the functions that decide (`tests/calibration/choosing/test_many_studies.py`). Scores lie in 0 to 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from calibration.inference.bootstrap import MAX_UNDEFINED, ROUNDING
from calibration.inference.gap_test import FEW, MOST, UNSEEN

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ManySums:
    """Of each topic of each study, shape (studies, topics): the fields of `GapSums`."""

    labels: Array
    gaps: Array
    items: Array
    squares: Array
    sizes: Array

    def first(self, topics: int) -> ManySums:
        """What a look at so many topics sees."""
        return ManySums(*(one[:, :topics] for one in vars(self).values()))

    def of(self, studies: npt.NDArray[np.intp]) -> ManySums:
        """These studies alone."""
        return ManySums(*(one[studies] for one in vars(self).values()))


@dataclass(frozen=True)
class ManyGaps:
    """Of each study, shape (studies,): the fields of `Gap`, and the error without faults that were not seen."""

    value: Array
    se: Array
    seen: Array
    trust: Array
    even: Array
    largest: Array  # share of the labels in the largest topic
    worst: Array  # the largest mean difference of a topic


def gaps_of(sums: ManySums) -> ManyGaps:
    """As `gap_of` has them."""
    n, d, items = sums.labels, sums.gaps, sums.items
    count, total = n.shape[1], n.sum(axis=1)
    value = d.sum(axis=1) / total
    left = d - n * value[:, None]
    left[np.abs(left) <= ROUNDING * np.maximum(np.abs(d), n)] = 0.0
    spread = count / (count - 1) * (left**2).sum(axis=1)
    within = np.where(items > 1, items * (sums.squares - d * d / items) / np.maximum(items - 1, 1), 0.0).sum(axis=1)
    known = np.where(spread > 0, spread, 1.0)
    between = np.where(spread > 0, np.maximum(0.0, 1 - np.maximum(0.0, within) / known), 1.0)
    differing = np.where(spread > 0, sums.sizes.sum(axis=1) / total, 1.0)
    each = items.sum(axis=1)
    even = total**2 / (n**2).sum(axis=1)
    trust = np.minimum(1.0, (between / MOST) ** 2 + FEW / (each * differing) + 1 - even / count)
    unseen = UNSEEN * (trust * between / even + (1 - between) / each) / differing
    seen = np.sqrt((count - 1) / count * ((left / (1 - n / total[:, None])) ** 2).sum(axis=1)) / total
    return ManyGaps(
        value, seen * np.sqrt(1 + unseen), seen, trust, even, n.max(axis=1) / total, (d / n).max(axis=1)
    )  # fmt: skip


@dataclass(frozen=True)
class ManyLaws:
    """What each study's t may come out as by chance: `draws`, shape (draws, studies), ascending.

    They are the lowest tenth of all, so no p above .1 is known, and .1 is told for it.
    """

    gaps: ManyGaps
    draws: npt.NDArray[np.float32]
    resamples: int
    lost: Array  # share of resamples without spread
    topics: int

    @property
    def by_exact_bound(self) -> npt.NDArray[np.bool_]:
        """Which studies the exact bound decides, shape (studies,)."""
        return (self.gaps.se <= 0) | (self.lost > MAX_UNDEFINED)

    def p_below(self, margin: float) -> Array:
        """One-sided p of a gap of at least the margin."""
        t = (self.gaps.value - margin) / np.where(self.gaps.se > 0, self.gaps.se, np.nan)
        p = (1 + (self.draws <= t).sum(axis=0)) / (1 + self.resamples)
        worst = self.gaps.worst
        room = np.maximum(0.0, 1 - margin) / np.maximum(1 - worst, ROUNDING)
        exact = np.where(worst < margin, np.minimum(room, 1.0) ** self.topics, 1.0)
        return np.asarray(np.where(self.by_exact_bound, exact, p))

    def upper(self, error: float) -> Array:
        """The margin above which `p_below` is under `error`."""
        place = math.ceil(error * (self.resamples + 1) - 1 - ROUNDING)
        exact = 1 - (1 - self.gaps.worst) * error ** (1 / self.topics)
        by_law = self.gaps.value - self.draws[place - 1] * self.gaps.se if place >= 1 else np.inf
        return np.asarray(np.where(self.by_exact_bound, exact, by_law))

    def lower(self, error: float) -> Array:
        """The margin below which a gap is shown to be larger, by t."""
        return np.asarray(self.gaps.value - stats.t.isf(error, self.topics - 1) * self.gaps.seen)


def laws_of(sums: ManySums, weights: npt.NDArray[np.int64]) -> ManyLaws:
    """`weights`: shape (resamples, topics), how often each topic is drawn."""
    found, count, resamples = gaps_of(sums), sums.labels.shape[1], len(weights)
    lowest = 1 + resamples // 10
    drawn = _studentised(sums, found.value, weights)
    lost = np.isneginf(drawn).mean(axis=0)
    drawn = np.sort(np.partition(drawn, lowest, axis=0)[:lowest], axis=0)
    ranks = (np.arange(lowest)[:, None] + 0.5) / resamples
    df, of = np.unique(np.maximum(1.0, np.round(found.even - 1, 9)), return_inverse=True)
    quantile = special.stdtrit(df, ranks).astype(np.float32)[:, of]
    trust = found.trust.astype(np.float32)
    drawn = np.where(trust < 1, trust * drawn + (1 - trust) * quantile, drawn)
    return ManyLaws(found, drawn, resamples, lost, count)


def _studentised(sums: ManySums, value: Array, weights: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """t* of every resample, shape (resamples, studies); -inf without spread."""
    w, count = weights.astype(np.float32), weights.shape[1]
    n = sums.labels.T.astype(np.float32)
    left = (sums.gaps - sums.labels * value[:, None]).T
    left = np.where(np.abs(left) > ROUNDING * np.maximum(np.abs(sums.gaps.T), 1), left, 0.0).astype(np.float32)
    total, squares = w @ n, w @ (left * left)
    shift = (w @ left) / total
    spread = squares - 2 * shift * (w @ (left * n)) + shift * shift * (w @ (n * n))
    known = spread > 1e-5 * squares
    t = shift * total / np.sqrt(count / (count - 1) * np.where(known, spread, 1))
    return np.asarray(np.where(known, t, -np.inf), np.float32)
