"""Whether a rater has a bias: its size beside the size that these data could have shown, and one of three words.

Every bias is a mean of scores over labels against the value it has without bias; its uncertainty is that of whole
clusters. A coefficient or a rate within groups comes as linearised scores, so that one interval serves them all.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from calibration.arithmetic import closed_forms, columns
from calibration.estimates import Estimate
from calibration.inference.bootstrap import effective_of_sums, wilson_effective
from calibration.inference.compare import Difference, paired_difference
from calibration.inference.stress_effect import POWER, detectable, outcome_of
from calibration.inference.stress_effect import Outcome as Place
from calibration.remarks import Kind, Reason, Remark, Said, code, remarks_of
from calibration.settings import CalibrationSettings
from calibration.study.bounding import Group, Pair
from calibration.study.joining import Mask, Study
from calibration.table.typed_cells import where

Outcome = Literal["found", "not_found", "cannot_tell"]
EVERYONE = "each_annotator"  # all annotators together, each label counting once
TINY = 1e-12


@dataclass(frozen=True)
class Bias:
    """One possible bias of one rater; its effect is `estimate.value` - `null`.

    `found`: the interval leaves `null` out. `not_found`: it holds `null`, lies inside `null` -+ `floor`, and an effect
    as large as the floor would have been found at power .8. `cannot_tell`: anything else; `detectable` is the size
    that could have been seen.
    """

    estimate: Estimate
    null: float
    p: float  # two-sided; nan where there is no interval
    detectable: float  # smallest true effect found in 80 of 100 such studies; nan where there is no interval
    floor: float
    outcome: Outcome
    place: Place  # of the interval: beyond the floor, within it, or neither

    @property
    def effect(self) -> float:
        """`estimate.value` - `null`; nan where undefined."""
        return self.estimate.value - self.null


@dataclass(frozen=True)
class Asked:
    """What is measured of whom: the words of the estimate, the value without bias, and the size that matters."""

    statistic: str
    rater: str
    settings: CalibrationSettings
    null: float = 0.0
    reference: str = ""
    category: str = "all"
    said: Said = ()
    floor: float = 0.0  # 0: `settings.bias_floor`


def rows_of(study: Study, rater: str) -> pd.DataFrame:
    """All rows of a judge; of an annotator or `each_annotator` the first run, for a retest is self-agreement only."""
    frame = study.frame
    human = where(frame["rater_kind"], "human".__eq__)
    own = human if rater == EVERYONE else where(frame["rater_id"], rater.__eq__)
    return frame[own & (~human | (frame["run"] == 1).to_numpy())]


def bias_of(asked: Asked, scores: npt.ArrayLike, clusters: npt.ArrayLike, method: str = "cluster_t") -> Bias:
    """A mean of `scores`, shape (labels,), against `asked.null`, by cluster t; nan scores are left out.

    Labels that hardly differ show too little spread for t: an interval that holds `asked.null` is at least that of
    `_unseen`. Without any spread that is all of it, and p is the sign test's on clusters, 2 (1/2)^C. Undefined: no
    scores. No interval: one cluster.
    """
    scores = np.asarray(scores, float)
    found = paired_difference(scores, np.full(len(scores), asked.null), clusters, asked.settings.level)
    return bias_from(asked, found, method)


def bias_from(asked: Asked, found: Difference, method: str = "cluster_t") -> Bias:
    """The same from a difference that is known already: its value is the effect."""
    if math.isnan(found.value):
        found = replace(found, note="no_items")
    seen = detectable(found, asked.settings.level)
    if found.clusters < 2 or abs(found.value) > 1 or found.low > 0 or found.high < 0:
        return named(asked, found, seen, method)
    low, high = _unseen(found, asked)
    seen = float(np.nanmax([seen, high - found.value, found.value - low]))
    if found.note == "zero_variance":
        p = 1.0 if abs(found.value) <= TINY else 2 * 0.5**found.clusters
        return named(asked, replace(found, low=low, high=high, p=p), seen, "wilson_effective_n")
    wider = replace(found, low=min(found.low, low), high=max(found.high, high))
    return named(asked, wider, seen, method if wider == found else "wilson_effective_n")


def named(asked: Asked, found: Difference, seen: float, method: str) -> Bias:
    """The bias with its words. `found`: of the effect; `seen`: the detectable effect."""
    settings, known = asked.settings, not math.isnan(found.low)
    floor = asked.floor or settings.bias_floor
    remarks = [*remarks_of(asked.said), *([code(found.note)] if found.note else [])]
    if not known and not math.isnan(found.value):
        remarks.append(
            Remark(Reason.TOO_FEW_UNITS if found.note != "zero_variance" else Reason.ZERO_VARIANCE, Kind.BARE)
        )
    value, low, high = (one + asked.null for one in (found.value, found.low, found.high))
    if asked.null and known:  # a rate: t may pass its ends, and a rate by least squares is past them already
        low, high = max(low, min(value, 0.0)), min(high, max(value, 1.0))
    estimate = Estimate(
        asked.statistic,
        asked.rater,
        asked.reference,
        "all",
        asked.category,
        value,
        low,
        high,
        settings.level,
        found.n,
        found.clusters,
        method if known else "none",
        tuple(remarks),
    )
    place = outcome_of(found.low, found.high, floor)
    return Bias(estimate, asked.null, found.p, seen, floor, outcome(found.low, found.high, seen, floor), place)


def outcome(low: float, high: float, seen: float, floor: float) -> Outcome:
    """The word for the interval of an effect, of which `seen` was detectable. nan bounds cannot tell."""
    if low > 0 or high < 0:
        return "found"
    absent = outcome_of(low, high, floor) == "within" and seen <= floor
    return "not_found" if absent else "cannot_tell"


def both_say(biases: Sequence[Bias]) -> Outcome:
    """One word for measures that fail in opposite ways: theirs where they agree, in direction too, else cannot_tell."""
    words = {(bias.outcome, bias.outcome == "found" and bias.effect > 0) for bias in biases}
    return words.pop()[0] if len(words) == 1 else "cannot_tell"


def evened(scores: closed_forms.Array, group: Mask) -> closed_forms.Array:
    """Linearised scores of the mean of two group means: what the rate is where both groups are equally large.

    `scores`, `group`: shape (labels,). Undefined: a group is empty; then all nan.
    """
    share = group.mean() if len(group) else 0.0
    if share in (0.0, 1.0):
        return np.full(len(scores), math.nan)
    means = scores[group].mean(), scores[~group].mean()
    influence = np.where(group, (scores - means[0]) / share, (scores - means[1]) / (1 - share))
    return np.asarray(sum(means) / 2 + influence / 2)


def share_of_faults(asked: Asked, faults: closed_forms.Array, sizes: closed_forms.Array) -> Bias:
    """A share whose value without bias is 0: one fault is proof, none may be luck. Wilson interval with n_eff.

    `faults`, `sizes`: shape (clusters,), how many of how many. `detectable`: the share of which at least one fault
    would be seen at power .8, 1 - .2^(1 / n_eff). Undefined: nothing asked; no interval: one cluster.
    """
    pair = Pair(asked.rater, asked.reference, Group((), "all", asked.category, np.ones(0, dtype=bool)), sizes)
    low, high = wilson_effective(faults, sizes, asked.settings.level)
    value = float(faults.sum() / sizes.sum()) if pair.n else math.nan
    note = "" if pair.n else "no_items"
    found = Difference(value, low if value else min(low, 0.0), high, math.nan, pair.n, pair.clusters, note)
    worth = effective_of_sums(faults, sizes, float(faults.sum())).n_eff if pair.clusters > 1 else 0.0
    seen = 1 - (1 - POWER) ** (1 / worth) if worth > 0 else math.nan
    return named(asked, found, seen, "wilson_effective_n")


def _unseen(found: Difference, asked: Asked) -> tuple[float, float]:
    """Bounds of the effect if labels of another kind were there and none was drawn: a share p of labels are like
    these, their number spread evenly over the clusters, and the others anywhere; p is Wilson's bound of a share of 1.

    A rate, whose value without bias is not 0, lies within 0 to 1, any other effect within -1 to 1.
    """
    sizes = columns.tally(np.arange(found.n) % found.clusters, found.clusters)
    p, _ = wilson_effective(sizes, sizes, asked.settings.level)
    least, most = (-asked.null, 1 - asked.null) if asked.null else (-1.0, 1.0)
    value = min(max(found.value, least), most)
    return p * value + (1 - p) * least, p * value + (1 - p) * most
