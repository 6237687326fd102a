"""Win rates of a judge, corrected by the labels that people gave to some topics: prediction-powered inference.

The judge's mean over many topics is precise and biased; people on a few show by how much. Everything is a mean over
clusters of cluster means, for labels of one topic are no independent evidence. Angelopoulos et al. 2023 (PPI, PPI++);
Boyeau et al. 2024.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from calibration import errors, remarks
from calibration.arithmetic.closed_forms import Array, ratio
from calibration.estimates import Estimate
from calibration.inference.bootstrap import cluster_t, resample
from calibration.sampling.weighted_mean import drawn_ratio
from calibration.settings import CalibrationSettings
from calibration.study import bias, bounding, joining
from calibration.systems import placing, win_rates

Straddling = Literal["refuse", "drop", "joint"]
TINY = 1e-12

NOT_ANSWERED = "people labelled nothing that the judge answered"


@dataclass(frozen=True)
class Halves:
    """Wins by cluster, shape (clusters, systems, systems): people and judge where people labelled, judge elsewhere."""

    people: Array
    judged: Array
    elsewhere: Array
    note: str  # what was left out
    drawn: Array | None = None  # weight of each cluster that people labelled, where these were drawn unequally


@dataclass(frozen=True)
class CorrectedWinRates:
    """Three rankings of the same systems, side by side.

    `people`: labels alone; `judge_alone`: the judge on all topics, biased as it is; `corrected`: both together.
    `tuning`: system to lambda, how much the judge is listened to: 0 not at all. nan where not corrected.
    """

    judge: str
    people: placing.Ranking
    judge_alone: placing.Ranking
    corrected: placing.Ranking
    tuning: dict[str, float]


def judge_corrected_win_rates(
    verdicts: pd.DataFrame | joining.Study,
    judge: str,
    settings: CalibrationSettings | None = None,
    straddling: Straddling = "refuse",
) -> CorrectedWinRates:
    """The people's win rates over all topics, 0 to 1, where people labelled some topics and the judge all of them.

    Of a system, h and g are the cluster means of people and judge: theta = lam mean(g unlabelled) + mean(h - lam g
    labelled), lam = cov(h, g) / ((1 + n / N) var g) within 0 to 1, t with n - 1 df. The labelled topics must be a
    random part of all. Without unlabelled ones lam is 0. Units without a usable answer of the judge, or of the people
    asked, are dropped and counted. Undefined: no labelled cluster, `no_items`; a cluster with labelled and unlabelled
    units of the system, `cluster_straddles`, unless `straddling` is `drop` (its unlabelled part is left out) or
    `joint` (the judge's mean over all of each cluster is used, and one influence per cluster carries the covariance).
    Raises `unknown_form`, `unknown_rater`, `not_pairwise`.
    """
    settings = settings or CalibrationSettings()
    units = win_rates.units_of(verdicts, settings)
    halves = halves_of(units, judge, straddling)
    ranking, tuning = corrected_ranking(units, judge, halves, settings, straddling)
    return CorrectedWinRates(
        judge,
        win_rates.win_rate_ranking(bias.EVERYONE, units.systems, halves.people, settings, halves.drawn),
        win_rates.win_rate_ranking(judge, units.systems, halves.judged + halves.elsewhere, settings),
        ranking,
        tuning,
    )


def corrected_ranking(
    units: win_rates.Units, judge: str, halves: Halves, settings: CalibrationSettings, straddling: Straddling
) -> tuple[placing.Ranking, dict[str, float]]:
    """The third ranking of `judge_corrected_win_rates` alone, and lambda of each system."""
    columns = [_means(halves, index, straddling) for index in range(len(units.systems))]
    found = [corrected_mean(column, straddling) for column in columns]
    estimates = [
        corrected_estimate(judge, one, fit, halves.note, settings) for one, fit in zip(columns, found, strict=True)
    ]
    ranking = placing.placed(units.systems, estimates, _draws(columns, found, settings))
    return ranking, {name: fit.tuning for name, fit in zip(units.systems, found, strict=True)}


def halves_of(units: win_rates.Units, judge: str, straddling: Straddling) -> Halves:
    """What can be compared. Raises `unknown_form`."""
    if straddling not in ("refuse", "drop", "joint"):
        raise errors.CalibrationError("unknown_form", f"straddling is {straddling!r}; use refuse, drop or joint")
    h, g = win_rates.win_scores(units), win_rates.win_scores(units, judge)
    silent = np.isnan(g)
    spared = ~silent & np.isnan(h) & win_rates.asked(units)
    labelled, rest = ~silent & ~np.isnan(h), ~silent & np.isnan(h) & ~spared
    dropped = {
        "labelled units without an answer of the judge dropped": int((silent & ~np.isnan(h)).sum()),
        "units without a usable answer of the people asked dropped": int(spared.sum()),
    }
    note = "; ".join(f"{count:,} {which}" for which, count in dropped.items() if count)
    people, judged, elsewhere = (
        win_rates.win_sums(units, np.where(where, score, np.nan))
        for score, where in ((h, labelled), (g, labelled), (g, rest))
    )
    if straddling == "drop":
        both = straddles(people, elsewhere)
        elsewhere = np.where(both[:, None, None], 0.0, elsewhere)
        note = "; ".join(filter(None, [note, f"the unlabelled part of {int(both.sum())} clusters dropped"]))
    return Halves(people, judged, elsewhere, note, units.study.drawn)


def straddles(people: Array, elsewhere: Array) -> joining.Mask:
    """Whether a cluster holds labelled and unlabelled units, shape (clusters,)."""
    held, rest = (win_rates.compared(wins).sum(axis=(1, 2)) > 0 for wins in (people, elsewhere))
    return np.asarray(held & rest)


@dataclass(frozen=True)
class ClusterMeans:
    """Of one system, shape (clusters,): cluster means of people and judge where labelled, and of the judge as the
    reference; nan where there is none."""

    h: Array
    g: Array
    reference: Array
    sizes: Array  # units, labelled and not
    straddle: int  # clusters with both
    drawn: Array | None = None  # weights of the labelled ones; the judge's mean of every cluster is then the reference

    @property
    def labelled(self) -> joining.Mask:
        """Clusters that people labelled."""
        return ~np.isnan(self.h)

    @property
    def referred(self) -> joining.Mask:
        """Clusters whose mean by the judge stands for all."""
        return ~np.isnan(self.reference)


@dataclass(frozen=True)
class CorrectedMean:
    """theta, its standard error and lambda; all nan where `reason` says why; se nan for one labelled cluster."""

    value: float
    se: float
    tuning: float
    reason: remarks.Remark | None = None
    effective: float = math.inf  # clusters that those labelled are worth, where they were drawn unequally


def _means(halves: Halves, system: int, straddling: Straddling) -> ClusterMeans:
    h, met = (rates[:, system] for rates in win_rates.cluster_rates(halves.people))
    g, _ = (rates[:, system] for rates in win_rates.cluster_rates(halves.judged))
    rest, others = (rates[:, system] for rates in win_rates.cluster_rates(halves.elsewhere))
    both = int(((met > 0) & (others > 0)).sum())
    if halves.drawn is not None:
        whole, _ = (rates[:, system] for rates in win_rates.cluster_rates(halves.judged + halves.elsewhere))
        return ClusterMeans(h, g, whole, met + others, both, halves.drawn)
    if straddling == "joint" and both:
        rest, _ = (rates[:, system] for rates in win_rates.cluster_rates(halves.judged + halves.elsewhere))
    return ClusterMeans(h, g, rest, met + others, both)


def corrected_mean(means: ClusterMeans, straddling: Straddling = "refuse") -> CorrectedMean:
    """`judge_corrected_win_rates` of one system, from its cluster means. Undefined: as there, in `reason`."""
    h, g, reference = means.h[means.labelled], means.g[means.labelled], means.reference[means.referred]
    if not len(h):
        return CorrectedMean(math.nan, math.nan, math.nan, remarks.undefined(remarks.Reason.NO_ITEMS, NOT_ANSWERED))
    if means.drawn is not None:
        return _weighted(means)
    if means.straddle and straddling == "refuse":
        return CorrectedMean(
            math.nan, math.nan, math.nan,
            remarks.undefined(remarks.Reason.CLUSTER_STRADDLES, clusters=means.straddle),
        )  # fmt: skip
    if len(h) < 2 or len(reference) < 2:
        return CorrectedMean(float(h.mean()), _se(h), 0.0)
    if means.straddle and straddling == "joint":
        return _jointly(means)
    share = 1 + len(h) / len(reference)
    spread = share * float(np.var(np.concatenate([g, reference]), ddof=1))
    lam = _clipped(float(np.cov(h, g)[0, 1]), spread)
    value = lam * reference.mean() + (h - lam * g).mean()
    return CorrectedMean(float(value), math.hypot(_left_se(h, g, lam), lam * _se(reference)), lam)


def _weighted(means: ClusterMeans) -> CorrectedMean:
    """Each labelled cluster by its draw, the judge's means of all clusters as control variate."""
    known = means.referred
    labelled, weight = means.labelled[known], np.asarray(means.drawn)[known]
    place = np.flatnonzero(labelled)
    found = drawn_ratio(
        means.h[known][place], np.ones(len(place)), weight[place], means.reference[known][:, None], place
    )
    return CorrectedMean(found.value, found.se, float(found.slopes.sum()), None, found.effective)


def _jointly(means: ClusterMeans) -> CorrectedMean:
    """Influences of whole clusters: what is labelled and what is referred to overlap, and so do their errors."""
    n, referred = int(means.labelled.sum()), int(means.referred.sum())
    a = np.where(means.labelled, means.h - np.nanmean(means.h), 0.0) / n
    of_g = np.where(means.labelled, means.g - np.nanmean(means.g), 0.0) / n
    b = of_g - np.where(means.referred, means.reference - np.nanmean(means.reference), 0.0) / referred
    lam = _clipped(float(a @ b), float(b @ b))
    value = np.nanmean(means.h) + lam * (np.nanmean(means.reference) - np.nanmean(means.g))
    influence = a - lam * b
    return CorrectedMean(float(value), math.sqrt(n / (n - 1) * float(influence @ influence)), lam)


def _clipped(covariance: float, variance: float) -> float:
    """A ratio within 0 to 1, 0 where nothing varies: whatever it is, the estimate stays unbiased."""
    return min(1.0, max(0.0, covariance / variance)) if variance > TINY else 0.0


def _se(values: Array) -> float:
    return float(np.std(values, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan


def _left_se(h: Array, g: Array, lam: float) -> float:
    """Standard error of the mean of h - lam g, where lam was estimated from the same clusters, each pulling it its way.

    Residuals are divided by 1 - leverage (HC2, MacKinnon & White 1985): without it 30 labelled clusters cover a point
    less. A lam at its bound was not estimated.
    """
    left, pull = h - lam * g, g - g.mean()
    if not 0 < lam < 1:
        return _se(left)
    leverage = 1 / len(h) + pull * pull / (pull @ pull)
    if (leverage > 1 - TINY).any():  # one cluster alone decides lam, and hides its own error
        return math.nan
    return float(math.sqrt(((left - left.mean()) ** 2 / (1 - leverage)).sum()) / len(h))


def _said(means: ClusterMeans, fit: CorrectedMean, left_out: str) -> tuple[remarks.Remark, ...]:
    labelled, unlabelled = int(means.labelled.sum()), int((means.referred & ~means.labelled).sum())
    parts: list[str | remarks.Remark] = [f"{labelled} labelled and {unlabelled} unlabelled clusters"]
    if means.straddle and not fit.reason:
        parts.append(f"{means.straddle} clusters labelled in part")
    if not fit.reason:
        parts.append(f"lambda {fit.tuning:.3f}")
    return remarks.remarks_of(*parts, left_out, fit.reason or ())


def corrected_interval(fit: CorrectedMean, labelled: int, level: float = 0.95) -> tuple[float, float]:
    """theta -+ t_{n-1} se within 0 to 1. Refused: fewer than 2 labelled clusters, or no spread."""
    low, high = cluster_t(fit.value, fit.se if fit.se > TINY else 0.0, labelled, level)
    return (low, high) if math.isnan(low) else (min(1.0, max(0.0, low)), max(0.0, min(1.0, high)))


def corrected_estimate(
    judge: str, means: ClusterMeans, fit: CorrectedMean, left_out: str, settings: CalibrationSettings,
    statistic: str = "judge_corrected_win_rate",
) -> Estimate:  # fmt: skip
    """theta as an estimate. `left_out`: what was, in words."""
    said = _said(means, fit, left_out)
    pair = bounding.Pair(judge, "people", win_rates.WHOLE, means.sizes)
    clusters = int(means.labelled.sum())
    bounds = corrected_interval(fit, int(min(clusters, fit.effective)), settings.level)
    if math.isnan(bounds[0]) and not fit.reason:
        few = "fewer than 2 labelled clusters" if clusters < 2 else "too few labelled clusters to tune lambda"
        still = remarks.no_interval(remarks.Reason.ZERO_VARIANCE, "zero_variance")
        said += (remarks.no_interval(remarks.Reason.TOO_FEW_UNITS, few) if math.isnan(fit.se) else still,)
    value = fit.value if fit.reason else min(1.0, max(0.0, fit.value))  # a share: nothing lies outside
    return bounding.made(statistic, pair, value, bounds, "cluster_t", said, settings)


def _draws(columns: list[ClusterMeans], found: list[CorrectedMean], settings: CalibrationSettings) -> Array:
    """Corrected rates of every resample of clusters, labelled and unlabelled together, at the same lambdas."""
    parts = np.stack([np.stack(list(_columns_of(column)), axis=-1) for column in columns], axis=1)
    lam = np.array([fit.tuning for fit in found])

    def statistic(sums: Array) -> Array:
        h, g, n, reference, referred = np.moveaxis(sums, -1, 0)
        shift = ratio(reference, referred) - ratio(g, n)
        return np.asarray(ratio(h, n) + np.where(lam == 0, 0.0, lam * shift))

    return resample(parts, statistic, settings.resamples, settings.seed)


def _columns_of(means: ClusterMeans) -> Iterator[Array]:
    if means.drawn is None:
        yield from (np.nan_to_num(means.h), np.nan_to_num(means.g), means.labelled.astype(float))
    else:
        labelled = means.labelled & means.referred
        yield from (np.where(labelled, side, 0.0) * means.drawn for side in (means.h, means.reference, 1.0))
    yield from (np.nan_to_num(means.reference), means.referred.astype(float))
