"""Can a rater's confidence be believed? Estimates of its calibration, with intervals of whole clusters.

Right means: the same answer as the reference, which is each annotator (each other annotator, for people). Statistics
of votes end in `_of_votes`. All but discrimination read confidence as a probability of being right: a share as it is,
a level c of 1 to 5 as c / 5, a convention that every note says.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibration.arithmetic import calibration_error
from calibration.arithmetic.closed_forms import Array
from calibration.arithmetic.columns import Codes, tally
from calibration.confidence.sureness import FIFTHS, HIGHEST, OF_VOTES, SHARE, VOTES, Sureness, surenesses
from calibration.estimates import Estimate
from calibration.inference.bootstrap import cluster_t, expanded_percentile, resample, se_of_sums
from calibration.remarks import Reason, no_interval, remarks_of
from calibration.settings import CalibrationSettings
from calibration.study.bounding import WHOLE, Pair, drawn, made, share
from calibration.study.joining import Study

AT = "confidence: "  # opens the `category` of an estimate of one level of confidence
READ = {SHARE: "a share of votes read as a probability", FIFTHS: f"level c of {HIGHEST} read as c / {HIGHEST}"}
DIGITS = 3  # to which shares are told apart
RESAMPLED = (
    "expected_calibration_error", "brier_score", "brier_reliability", "brier_resolution", "brier_uncertainty",
    "confidence_auroc",
)  # fmt: skip


@dataclass(frozen=True)
class Curve:
    """Counts behind a reliability curve. `p`: shape (levels,), ascending; `bins`: the bin of each level.

    `asked`, `right`: comparisons and those that agree, shape (clusters, levels).
    """

    p: Array
    bins: Codes
    asked: Array
    right: Array

    @property
    def claimed(self) -> Array:
        """Mean confidence of each bin."""
        total = self.asked.sum(axis=0)
        return calibration_error.in_bins(total * self.p, self.bins) / calibration_error.in_bins(total, self.bins)


@dataclass(frozen=True)
class ConfidenceReading:
    """How one rater's confidence of one source was read, and what had none.

    `confidence`: mean of each bin; `at`: what these are called. `as_large_by_chance`: how often noise alone gives such
    an error, None where there is none.
    """

    rater: str
    reference: str
    source: str
    read: str
    confidence: Sequence[float]
    at: Sequence[str]
    as_large_by_chance: float | None
    without_confidence: int
    voted: int
    no_majority: int


def confidence_estimates(study: Study, settings: CalibrationSettings) -> tuple[list[Estimate], list[ConfidenceReading]]:
    """Every estimate, and for each rater and source what `CalibrationReport.confidence` says of it: how confidence was
    read, its bins, how often a rater that keeps its promises errs as much, and what had no majority or no confidence.
    Both empty where nobody has a confidence."""
    estimates, told = [], []
    for sureness in surenesses(study, settings):
        curve = _curve(sureness, len(study.clusters))
        sizes = curve.asked.sum(axis=1)
        whole = Pair(sureness.rater, sureness.reference, WHOLE, sizes)
        chance = _chance(curve, settings) if sizes.any() else np.zeros(0)
        found = list(_estimates(whole, curve, chance, sureness, settings)) if sizes.any() else []
        points = list(_points(whole, curve, sureness.scale, settings))
        told.append(_told(sureness, curve, chance, found, points))
        if len(sureness.voted):
            found.append(_undecided(sureness, len(study.clusters), settings))
        end = OF_VOTES if sureness.source == VOTES else ""
        estimates += [replace(single, statistic=single.statistic + end) for single in (*found, *points)]
    return estimates, told


def _told(
    sureness: Sureness, curve: Curve, chance: Array, found: Sequence[Estimate], points: Sequence[Estimate]
) -> ConfidenceReading:
    """What estimates do not say of one rater and source."""
    error = next((single.value for single in found if single.statistic == "expected_calibration_error"), math.nan)
    p = calibration_error.exceeded(chance, error) if len(chance) else math.nan
    return ConfidenceReading(
        sureness.rater,
        sureness.reference,
        sureness.source,
        sureness.scale,
        [float(level) for level in curve.claimed],
        [point.category.removeprefix(AT) for point in points],
        None if math.isnan(p) else p,
        sureness.silent,
        len(sureness.voted),
        len(sureness.undecided),
    )


def _curve(sureness: Sureness, clusters: int) -> Curve:
    key, level = np.unique(np.round(sureness.p, DIGITS), return_inverse=True)
    size = len(key)
    total = tally(level, size, sureness.weight)
    p = tally(level, size, sureness.weight * sureness.p) / total
    cell = sureness.cluster * size + level
    asked, right = (
        tally(cell, clusters * size, each).reshape(clusters, size)
        for each in (sureness.weight, sureness.weight * sureness.right)
    )
    return Curve(p, calibration_error.bins_of(total), asked, right)


def _estimates(
    whole: Pair, curve: Curve, chance: Array, sureness: Sureness, settings: CalibrationSettings
) -> Iterator[Estimate]:
    """All statistics of the whole curve, and the error that noise alone would give."""
    right = curve.right.sum(axis=1)
    claimed = curve.asked @ curve.p
    left_out = f"{sureness.silent:,} answers without a confidence are left out" if sureness.silent else ""
    yield share("confidence_accuracy", whole, right, settings, left_out)
    yield _mean("mean_confidence", whole, claimed, settings, READ[sureness.scale])
    yield _mean(
        "overconfidence",
        whole,
        claimed - right,
        settings,
        f"{READ[sureness.scale]}; above 0: claims more than it keeps",
    )

    yield from _of_curve(whole, curve, chance, sureness, settings)
    told = (
        "mean plug-in error of a rater that is as sure, right as often as it says, and whose errors are as alike "
        "within a cluster",
        "a reference, no estimate",
    )
    yield made("calibration_error_by_chance", whole, float(chance.mean()), (math.nan, math.nan), "none", told, settings)


def _of_curve(
    whole: Pair, curve: Curve, chance: Array, sureness: Sureness, settings: CalibrationSettings
) -> Iterator[Estimate]:
    """What is bounded by resampling whole clusters."""

    def evaluate(summed: Array) -> Array:
        n, hits = summed[..., 0], summed[..., 1]
        parts = calibration_error.murphy(n, hits, curve.p, curve.bins)
        error = calibration_error.calibration_error(n, hits, curve.p, curve.bins)
        return np.stack(
            [error, calibration_error.brier(n, hits, curve.p), *parts, calibration_error.auroc(n, hits)], axis=-1
        )

    sums = np.stack([curve.asked, curve.right], axis=-1)
    values = evaluate(sums.sum(axis=0)[None])[0]
    draws = resample(sums, evaluate, settings.resamples, settings.seed) if whole.clusters > 1 else None
    for place, name in enumerate(RESAMPLED):
        own = None if draws is None else draws[:, place]
        by_order = name == "confidence_auroc"
        reason = ""
        if by_order and math.isnan(values[place]):
            reason = "never_both"
        if by_order and len(curve.p) < 2:
            reason = "one_level"
        coding = "uses the order of confidence alone" if by_order else READ[sureness.scale]
        found = drawn(name, whole, float(values[place]), own, reason, settings, coding)
        yield _without_bias(found, own, chance, curve, settings) if place == 0 else found


def _without_bias(
    found: Estimate, draws: Array | None, chance: Array, curve: Curve, settings: CalibrationSettings
) -> Estimate:
    """The interval of a plug-in error: resampling adds noise once more, so the draws are moved down by twice their
    excess, and the interval begins at 0 where noise alone gives such an error."""
    bins = (
        "each level a bin"
        if len(curve.p) <= calibration_error.MOST_LEVELS
        else f"{len(curve.claimed)} bins of equal mass"
    )
    p = calibration_error.exceeded(chance, found.value)
    often = float(f"{100 * p:.2g}")  # two digits, and 100 instead of 1e+02
    note = f"{bins}; plug-in, noise alone gives {chance.mean():.3f} (at least this in {often:g} % of draws)"
    if draws is not None and not math.isnan(found.low):
        known = draws[~np.isnan(draws)]
        moved = np.maximum(0, known - 2 * max(0.0, known.mean() - found.value))
        low, high = expanded_percentile(moved, found.clusters, settings.level)
        low = 0.0 if p >= 1 - settings.level else min(low, found.value)
        found = replace(found, low=low, high=max(high, found.value))
    return replace(found, remarks=(*remarks_of(note), *found.remarks))


def _chance(curve: Curve, settings: CalibrationSettings) -> Array:
    """Plug-in errors of noise alone."""
    asked, right = (calibration_error.in_bins(each, curve.bins) for each in (curve.asked, curve.right))
    return calibration_error.by_chance(asked, right, np.clip(curve.claimed, 0, 1), settings.resamples, settings.seed)


def _mean(statistic: str, whole: Pair, sums: Array, settings: CalibrationSettings, note: str) -> Estimate:
    value = float(sums.sum() / whole.sizes.sum())
    interval = cluster_t(value, se_of_sums(sums, whole.sizes), whole.clusters, settings.level)
    why = no_interval(Reason.TOO_FEW_UNITS if whole.clusters < 2 else Reason.ZERO_VARIANCE)
    said = [*remarks_of(note), *[why] * math.isnan(interval[0])]
    return made(statistic, whole, value, interval, "cluster_t", said, settings)


def _points(whole: Pair, curve: Curve, scale: str, settings: CalibrationSettings) -> Iterator[Estimate]:
    """Accuracy at each level or bin, the reliability curve from the least sure to the surest."""
    asked, right = (
        calibration_error.in_bins(curve.asked, curve.bins),
        calibration_error.in_bins(curve.right, curve.bins),
    )
    for place in range(asked.shape[1]):
        levels = curve.p[curve.bins == place]
        at = replace(whole, sizes=asked[:, place])
        name = _level(levels[0], scale)
        if len(levels) > 1:
            name = f"{name} to {_level(levels[-1], scale)}"
        yield replace(share("accuracy_at_confidence", at, right[:, place], settings), category=f"{AT}{name}")


def _level(p: float, scale: str) -> str:
    return f"{round(HIGHEST * p)} of {HIGHEST}" if scale == FIFTHS else f"{100 * p:.3g} %"


def _undecided(sureness: Sureness, clusters: int, settings: CalibrationSettings) -> Estimate:
    """Questions that votes do not decide: neither right nor wrong, in none of the other numbers."""
    asked = Pair(sureness.rater, "", WHOLE, tally(sureness.voted, clusters))
    note = "questions without a majority of the votes; neither right nor wrong"
    return share("no_majority_share", asked, tally(sureness.undecided, clusters), settings, note)
