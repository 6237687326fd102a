"""Estimates from topics that were drawn with known probabilities: weighted, by topic, with a judge's help if it helps.

Hájek 1971 for the weights; Robins, Rotnitzky & Zhao 1994 and Angelopoulos, Duchi & Zrnic 2023 (PPI++) for what judges
said of every topic, labelled or not, as a control variate: whatever they said, the estimate stays consistent.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from calibration.arithmetic import tails
from calibration.arithmetic.closed_forms import Array
from calibration.arithmetic.columns import Codes
from calibration.inference.bootstrap import REFUSED, Interval

LEAST_GAIN = 0.1  # of the variance: a control variate that saves less is left out, for tuning it costs as much


@dataclass(frozen=True)
class DrawnEstimate:
    """A value with its standard error. `effective`: topics that as many drawn at random would be worth (Kish 1965)."""

    value: float
    se: float
    effective: float
    slopes: Array = field(default_factory=lambda: np.zeros(0))  # of the control variates; all 0 where none is used

    def interval(self, level: float = 0.95) -> Interval:
        """value -+ t se, with effective - 1 degrees of freedom. Refused: without spread, or fewer than 2 topics."""
        if not self.se > 0 or not self.effective >= 2:
            return REFUSED
        half = float(tails.Student.ppf((1 + level) / 2, self.effective - 1)) * self.se
        return self.value - half, self.value + half


def drawn_ratio(
    sums: Array, sizes: Array, weights: Array, controls: Array | None = None, labelled: Codes | None = None
) -> DrawnEstimate:
    """Sum over sums of sizes, of all topics. `sums`, `sizes`, `weights`: of the labelled ones, shape (labelled,).

    `controls`: shape (topics, k), of every topic a mean that judges alone make, `labelled` the places of the labelled
    ones among them. Undefined: no labels.
    """
    total = float(weights @ sizes)
    value = float(weights @ sums / total) if total else math.nan
    return drawn_estimate(value, (sums - sizes * value) / total if total else sums, sizes, weights, controls, labelled)


def drawn_estimate(
    value: float, influence: Array, sizes: Array, weights: Array, controls: Array | None = None,
    labelled: Codes | None = None,
) -> DrawnEstimate:  # fmt: skip
    """Any smooth statistic: `influence` is its derivative by each labelled topic's weight, so its weighted sum is 0."""
    count, share = len(weights), weights * sizes
    if count < 2 or not share.any():
        return DrawnEstimate(value, math.nan, float(count))
    share = share / share.sum()
    effective = float(1 / (share @ share))
    part = weights * influence
    plain = float(np.sqrt(((part / (1 - share)) ** 2).sum() * (count - 1) / count))  # CR3: as leaving out each topic
    found = DrawnEstimate(value, plain, effective)
    if controls is None or labelled is None or not plain > 0:
        return found
    tuned = _tuned(found, part, weights / weights.sum(), controls, labelled)
    return tuned if tuned is not None and tuned.se**2 < (1 - LEAST_GAIN) * plain**2 else found


def _tuned(plain: DrawnEstimate, part: Array, share: Array, controls: Array, labelled: Codes) -> DrawnEstimate | None:
    """With control variates tuned by least squares; None where they do not vary or topics are too few for them.

    `share`: of each labelled topic in the weights alone. A topic's size does not enter: the mean of a control over all
    topics is a plain one, and what is weighted by size would have another.
    """
    centred = controls - controls.mean(axis=0)
    spread = centred.std(axis=0)
    use = spread > 1e-9
    x = centred[labelled][:, use] / spread[use]
    count, k = x.shape
    if not k or count < 10 * (k + 1):
        return None
    x = share[:, None] * x
    own = x - share[:, None] * x.sum(axis=0)  # what is left of each once the weighted mean is taken off
    gram = own.T @ own
    if np.linalg.cond(gram) > 1e10:
        return None
    slope = np.linalg.solve(gram, own.T @ part)
    leverage = np.einsum("ij,ij->i", own @ np.linalg.inv(gram), own) + share
    left = (part - own @ slope) / (1 - np.minimum(leverage, 0.9))
    shift = float(slope @ x.sum(axis=0))
    rest = float(slope @ slope) if k == 1 else float(((centred[:, use] / spread[use] @ slope) ** 2).mean())
    variance = float(left @ left) + rest / len(controls)
    slopes = np.zeros(len(spread))
    slopes[use] = slope / spread[use]
    return DrawnEstimate(plain.value - shift, math.sqrt(variance), plain.effective - k, slopes)
