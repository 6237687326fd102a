"""What a change that should not matter did to a judge: the size of its effect against a tolerance fixed beforehand."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from calibration.arithmetic import closed_forms, tails
from calibration.errors import CalibrationError
from calibration.inference import bootstrap, compare

TOLERANCE, POWER = 0.05, 0.8
Outcome = Literal["beyond", "within", "cannot tell"]


@dataclass(frozen=True)
class StressEffect:
    """Stressed minus unstressed on the same labels, both in [0, 1].

    `detectable`: the smallest true effect that the interval would leave 0 out for in 80 of 100 repetitions of this
    design; nan without an interval from spread. `note`: `zero_variance` where the interval is that of a share instead,
    `noise_unknown` where an effect beyond the tolerance may be no more than the judge's own noise.
    """

    difference: compare.Difference
    outcome: Outcome
    detectable: float
    tolerance: float
    note: str = ""


def stress_effect(
    unstressed: npt.ArrayLike,
    stressed: npt.ArrayLike,
    clusters: npt.ArrayLike,
    tolerance: float = TOLERANCE,
    *,
    level: float = 0.95,
    noise_known: bool = True,
) -> StressEffect:
    """How far a stress test moved scores in [0, 1], shape (labels,). `beyond`: all of the interval lies outside the
    tolerance.

    `noise_known` False: `unstressed` leaves out how often the judge contradicts itself, so the effect is at most this
    large, and `beyond` cannot be said. Raises `bad_number` for a score or tolerance outside 0 to 1.
    """
    x, y = np.asarray(stressed, float), np.asarray(unstressed, float)
    known = np.concatenate([x[~np.isnan(x)], y[~np.isnan(y)], [tolerance]])
    if ((known < 0) | (known > 1)).any() or tolerance <= 0:
        raise CalibrationError("bad_number", "scores lie in 0 to 1 and the tolerance above 0, up to 1; rescale them")
    found = compare.paired_difference(x, y, clusters, level)
    note = found.note
    if note == "zero_variance":
        low, high = _without_spread(x - y, np.asarray(clusters), level)
        found = compare.Difference(found.value, low, high, found.p, found.n, found.clusters, note)
    outcome = outcome_of(found.low, found.high, tolerance)
    if outcome == "beyond" and not noise_known:
        outcome, note = "cannot tell", "noise_unknown"
    return StressEffect(found, outcome, detectable(found, level), tolerance, note)


@dataclass(frozen=True)
class Share:
    """A share, 0 to 1, of `n` labels in `clusters` topics; nan where there are none, no interval under two topics."""

    value: float
    low: float
    high: float
    n: int
    clusters: int


def share_of(scores: npt.ArrayLike, clusters: npt.ArrayLike, level: float = 0.95) -> Share:
    """Share of 1 among `scores` of 0, 1 and nan (left out), shape (labels,), by Wilson with the effective sample size
    over `clusters`, shape (labels,). Raises `misaligned`."""
    (score,), code = compare.scores_and_clusters([scores], clusters)
    sums, sizes = compare.cluster_sums(score, code)
    n = int(sizes.sum())
    low, high = bootstrap.wilson_effective(sums, sizes, level)
    return Share(float(sums.sum() / n) if n else float("nan"), low, high, n, len(sizes))


def outcome_of(low: float, high: float, tolerance: float) -> Outcome:
    """Where an interval lies: outside -tolerance to tolerance, inside it, or neither. nan bounds cannot tell."""
    if low > tolerance or high < -tolerance:
        return "beyond"
    return "within" if -tolerance <= low and high <= tolerance else "cannot tell"


def detectable(difference: compare.Difference, level: float = 0.95, power: float = POWER) -> float:
    """The smallest true difference found at this power: (t_level + t_power) times the standard error. Bloom 1995.

    nan where no interval came from spread between clusters.
    """
    if difference.note:
        return float("nan")
    df = difference.clusters - 1
    t = tails.Student.ppf((1 + level) / 2, df)
    return float((difference.high - difference.low) / 2 / t * (t + tails.Student.ppf(power, df)))


def _without_spread(difference: closed_forms.Array, clusters: closed_forms.Array, level: float) -> tuple[float, float]:
    """Bounds of a mean difference v seen in every cluster alike: with a share of at least p of labels like these, the
    others anywhere in -1 to 1, it lies within p v -+ (1 - p)."""
    known = ~np.isnan(difference)
    sizes = np.unique(clusters[known], return_counts=True)[1]
    p, _ = bootstrap.wilson_effective(sizes, sizes, level)
    middle = p * float(difference[known].mean())
    return middle - (1 - p), middle + (1 - p)
