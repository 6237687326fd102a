"""Estimates with their intervals: which method each gets, when an interval is refused, and the note that says so."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from calibration.bootstrap import effective_of_sums, expanded_percentile, undefined_share, wilson_effective
from calibration.engine.closed_forms import Array
from calibration.engine.joining import Mask
from calibration.estimates import Estimate
from calibration.settings import CalibrationSettings

FEW_CLUSTERS = 20

REASONS = {
    "no_items": "nothing to compare",
    "one_category": "both always give the same one answer",
    "one_category_scale": "a scale of one answer; declare the scale",
    "constant_rater": "one of the two always gives the same answer",
    "zero_variance": "one side never varies",
    "too_few_units": "fewer than two comparisons",
    "two_points": "a correlation of two points is always 1 or -1",
    "maybe_transposed": "more raters than labels to give",
    "one_unit": "one comparison cannot show reliability",
    "one_level": "the same confidence for every answer",
    "never_both": "every answer is right, or every one wrong",
}

SAME = 1e-9  # draws that differ by less are one value: ranks summed in another order differ by 1e-16
FEWEST = 5  # clusters; with four there are 35 distinct resamples, and a percentile of them is their range


@dataclass(frozen=True)
class Group:
    """The units that one set of estimates rests on: everything, one criterion, or one category of topics."""

    criteria: tuple[str, ...]
    criterion: str  # "all" when pooled
    category: str  # "all" when pooled
    chosen: Mask  # shape (units,)

    @property
    def single(self) -> bool:
        """A part of the study: below 20 clusters it gets no interval at all."""
        return self.criterion != "all" or self.category != "all"


@dataclass(frozen=True)
class Pair:
    """Who is compared with whom, on how much, in which group."""

    rater: str
    reference: str
    group: Group
    sizes: Array  # comparisons per cluster, shape (clusters,)

    @cached_property
    def n(self) -> int:
        """Comparisons."""
        return round(float(self.sizes.sum()))

    @cached_property
    def clusters(self) -> int:
        """Clusters with at least one comparison."""
        return int((self.sizes > 0).sum())


def share(statistic: str, pair: Pair, agree: Array, settings: CalibrationSettings, note: str = "") -> Estimate:
    """A share, `agree` of `pair.sizes` per cluster, with its Wilson interval."""
    total = float(pair.sizes.sum())
    value = float(agree.sum() / total) if total else math.nan
    low, high = wilson_effective(agree, pair.sizes, settings.level)
    notes = [note] if note else []
    refusal = _refusal(pair)
    if not total:
        notes.append(_sentence("no_items"))
    elif refusal:
        low = high = math.nan
        notes.append(refusal)
    elif value in (0.0, 1.0):
        deff = effective_of_sums(agree, pair.sizes, float(agree.sum())).deff
        notes.append(f"no variation was seen; a design effect of {deff:.2f} is assumed")
    return made(statistic, pair, value, (low, high), "wilson_effective_n", notes, settings)


def drawn(
    statistic: str,
    pair: Pair,
    value: float,
    draws: Array | None,
    reason: str,
    settings: CalibrationSettings,
    coding: str = "",
    perfect: Callable[[], float] = lambda: math.nan,
) -> Estimate:
    """A bootstrapped statistic. `draws`: shape (resamples,). `reason`: why the value is not shown, or "".

    `perfect`: gives the lower bound to use where every resample shows perfect agreement; there is never an interval of
    zero width.
    """
    notes = [coding] if coding else []
    interval = math.nan, math.nan
    refusal = _refusal(pair)
    if reason:
        value = math.nan
        notes.append(_sentence(reason))
    elif refusal or draws is None:
        notes.append(refusal)
    elif pair.clusters < FEWEST:
        notes.append(f"no interval: {pair.clusters} clusters have too few distinct resamples for a bootstrap")
    else:
        undefined = undefined_share(draws)
        interval = expanded_percentile(draws, pair.clusters, settings.level)
        if math.isnan(interval[0]):
            notes.append(f"no interval: {100 * undefined:.1f} % of resamples undefined")
        elif undefined:
            notes.append(f"{100 * undefined:.2g} % of resamples undefined and left out")
        if math.isclose(interval[0], interval[1], abs_tol=SAME):
            bound = perfect() if math.isclose(value, 1.0, abs_tol=SAME) else math.nan
            known = not math.isnan(bound)
            interval = (bound, value) if known else (math.nan, math.nan)
            notes.append(
                "perfect agreement: the bound is the Wilson bound of percent agreement"
                if known
                else "no interval: every resample gives the same value"
            )
    return made(statistic, pair, value, interval, "cluster_bootstrap_expanded", notes, settings)


def made(
    statistic: str,
    pair: Pair,
    value: float,
    interval: tuple[float, float],
    method: str,
    notes: list[str],
    settings: CalibrationSettings,
) -> Estimate:
    """The estimate; its method is `none` where there is no interval."""
    return Estimate(
        statistic,
        pair.rater,
        pair.reference,
        pair.group.criterion,
        pair.group.category,
        float(value),
        float(interval[0]),
        float(interval[1]),
        settings.level,
        pair.n,
        pair.clusters,
        "none" if math.isnan(interval[0]) else method,
        "; ".join(notes),
    )


def _sentence(reason: str) -> str:
    return f"{reason}: {REASONS[reason]}"


def _refusal(pair: Pair) -> str:
    if pair.clusters < 2:
        return "no interval: fewer than 2 clusters"
    if pair.group.single and pair.clusters < FEW_CLUSTERS:
        return f"no interval: too few pairs, fewer than {FEW_CLUSTERS} clusters"
    return ""
