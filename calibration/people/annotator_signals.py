"""Is one annotator unlike the others? Differences to them on the same items, and the few that chance does not explain.

A difference counts only beyond a margin that is fixed beforehand, and its p value is Holm's over all annotators and
signals that are looked at: careful people are left alone in 19 of 20 studies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from calibration.biases.answering import WHOLE
from calibration.bootstrap import cluster_se
from calibration.compare import holm, scores_and_clusters
from calibration.engine.bounding import FEWEST, Pair, made
from calibration.engine.joining import Mask
from calibration.estimates import Estimate
from calibration.people.annotator_scores import Scores
from calibration.reading.columns import tally
from calibration.settings import CalibrationSettings

Way = Literal["below", "above", "either"]  # on which side a difference is a fault
TINY = 1e-12


@dataclass(frozen=True)
class Signal:
    """One way in which an annotator may differ. `estimate`: the difference, with its two-sided interval.

    `p`: of a difference this large where the true one is no larger than `margin`; nan where `estimate.note` says why.
    `p_holm`: adjusted over all annotators and signals of the study.
    """

    name: str
    estimate: Estimate
    margin: float
    p: float
    p_holm: float = math.nan

    @property
    def flagged(self) -> bool:
        """Whether the study may say so of this annotator, at its level over everything that was looked at."""
        return self.p_holm < 1 - self.estimate.level


@dataclass(frozen=True)
class Asked:
    """What is looked at: the signal's name, whose, how far it may go, and which way is a fault."""

    name: str
    rater: str
    margin: float
    way: Way
    note: str


@dataclass(frozen=True)
class _Mean:
    """A mean over clusters, or the difference of two, with its standard error."""

    value: float
    se: float
    freedom: float
    sizes: npt.NDArray[np.float64]  # shape (clusters,)
    extreme: float  # share of permutations of the clusters as extreme as one without any spread, one-sided


def paired_signal(asked: Asked, scores: Scores, settings: CalibrationSettings) -> Signal:
    """Mean of own - others over what both did, by cluster t with C - 1 degrees of freedom. Miller 2024.

    A row where either is nan is left out. Undefined: nothing to compare. No interval: one cluster, or the same
    difference in all of them; the p of the latter is the sign test's, 2^-C. No p below `FEWEST` clusters.
    """
    (first, second), code = scores_and_clusters([scores.own, scores.others], scores.cluster)
    return _signal(asked, _mean(first - second, code), settings)


def halves_signal(asked: Asked, scores: Scores, late: Mask, settings: CalibrationSettings) -> Signal:
    """Mean of the late rows of own minus that of the early ones, each half by its own clusters. Welch 1947.

    `late`: shape (rows,); nan is left out. Undefined: a half is empty. Where neither half varies, p is the permutation
    test's: one in all the ways to choose which clusters are the late ones.
    """
    (values,), code = scores_and_clusters([scores.own], scores.cluster)
    after, before = (_mean(values[half], code[half]) for half in (late, ~late))
    squares = [(one.se**2, len(one.sizes) - 1) for one in (after, before)]
    total = sum(square for square, _ in squares)
    freedom = math.nan if not total > 0 else total**2 / sum(square**2 / count for square, count in squares)
    sizes = np.concatenate([after.sizes, before.sizes])
    extreme = 1 / math.comb(len(sizes), len(after.sizes))
    return _signal(asked, _Mean(after.value - before.value, math.sqrt(total), freedom, sizes, extreme), settings)


def adjusted(signals: Sequence[Signal]) -> tuple[Signal, ...]:
    """The same signals with Holm's p over all of them that have one. Holm 1979."""
    found = holm([one.p for one in signals])
    return tuple(replace(one, p_holm=float(p)) for one, p in zip(signals, found, strict=True))


def _mean(scores: npt.NDArray[np.float64], code: npt.NDArray[np.intp]) -> _Mean:
    known = ~np.isnan(scores)
    sizes = tally(code[known], 0)
    value = float(scores[known].mean()) if known.any() else math.nan
    sizes = sizes[sizes > 0]
    return _Mean(value, cluster_se(scores[known], code[known]), len(sizes) - 1, sizes, 0.5 ** len(sizes))


def _signal(asked: Asked, found: _Mean, settings: CalibrationSettings) -> Signal:
    pair, notes, low, high = Pair(asked.rater, "others", WHOLE, found.sizes), [asked.note], math.nan, math.nan
    if math.isnan(found.value):
        notes.append("no_items: nothing to compare")
    elif math.isnan(found.se):
        notes.append("no interval: fewer than 2 clusters")
    elif found.se <= TINY:
        notes.append("no interval: zero_variance, the same difference in every cluster")
    else:
        half = float(stats.t.ppf((1 + settings.level) / 2, found.freedom)) * found.se
        low, high = found.value - half, found.value + half
    if not math.isnan(found.value) and pair.clusters < FEWEST:
        notes.append(f"not tested: fewer than {FEWEST} clusters")
    estimate = made(f"{asked.name}_gap", pair, found.value, (low, high), "cluster_t", notes, settings)
    return Signal(asked.name, estimate, asked.margin, _p(asked, found))


def _p(asked: Asked, found: _Mean) -> float:
    if math.isnan(found.value) or math.isnan(found.se) or len(found.sizes) < FEWEST:
        return math.nan
    past = {"below": -found.value, "above": found.value, "either": abs(found.value)}[asked.way] - asked.margin
    sides = 2 if asked.way == "either" else 1
    if found.se <= TINY:
        return min(1.0, sides * found.extreme) if past > TINY else 1.0
    return float(min(1.0, sides * stats.t.sf(past / found.se, found.freedom)))
