"""Ratings with many distinct values: correlations, alphas, ICC from sums per cluster, ranks in each resample.

Ranking once and resampling the ranks is not exact (errors up to .04 at ten clusters): every resample is ranked again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from calibration import bootstrap
from calibration.biases.answering import coverage
from calibration.engine.bounding import FEW_CLUSTERS, Group, Pair, drawn, made, share
from calibration.engine.closed_forms import Array, ratio
from calibration.engine.joining import Scale, Study
from calibration.engine.moments import alpha_of_moments, icc_name, icc_of_sums, moments, pearson_of_moments, rater_sums
from calibration.engine.unit_disagreement import MOST_VALUES, interval_sums, ratio_alpha, ratio_sums
from calibration.estimates import Estimate
from calibration.reading.columns import tally
from calibration.scores.paired_scores import Joined, parts_of, stacked, transposed
from calibration.settings import CalibrationSettings
from calibration.systems.rank_agreement import kendall

LEVEL = "over scores of single reports"
Plan = dict[str, tuple[Array, Callable[[Array], Array]]]


def continuous_estimates(study: Study, group: Group, scale: Scale, settings: CalibrationSettings) -> Iterator[Estimate]:
    """Exact agreement, alphas, ICC and correlations of every comparison; kappa of a fine scale means little."""
    clusters = len(study.clusters)
    wanted = clusters >= (FEW_CLUSTERS if group.single else 2)
    for rater, reference, parts in parts_of(study, scale, group.chosen):
        one = stacked(rater, reference, parts)
        pair = Pair(rater, reference, group, tally(one.cluster, clusters, one.weight))
        agree = tally(one.cluster, clusters, one.weight * (one.x == one.y))
        yield share("percent_agreement", pair, agree, settings)
        yield from coverage(study, pair, agree, settings)
        for name, (sums, statistic) in _plan(study, group, scale, one, parts).items():
            value = float(statistic(sums.sum(axis=0)))
            if name == "krippendorff_alpha_ratio" and sums.shape[1] > MOST_VALUES + 1:
                note = f"no interval: more than {MOST_VALUES} distinct values"
                yield made(name, pair, value, (np.nan, np.nan), "none", [note], settings)
                continue
            draws = bootstrap.resample(sums, statistic, settings.resamples, settings.seed) if wanted else None
            reason = _reason(name, pair, value)
            if name.startswith("krippendorff") and pair.rater == "each_annotator" and transposed(study, group):
                reason = "maybe_transposed"
            yield drawn(name, pair, value, draws, reason, settings, "" if "alpha" in name else LEVEL)
        yield _spearman(one, pair, wanted, settings)
        if not one.single:
            yield kendall(one, pair, settings)


def _plan(study: Study, group: Group, scale: Scale, one: Joined, parts: list[Joined]) -> Plan:
    """Each statistic's sums per cluster, and its closed form; of two single raters fewer, there may be many of them."""
    clusters, numbers = len(study.clusters), np.asarray(scale.numbers)
    plan: Plan = {
        "krippendorff_alpha_interval": (interval_sums(study, scale, group.chosen, one), alpha_of_moments),
        "pearson": (moments(one.x, one.y, one.weight, one.cluster, clusters), pearson_of_moments),
    }
    if numbers.min(initial=0.0) >= 0 and not one.single:
        sums = ratio_sums(study, scale, group.chosen, one, parts)
        plan["krippendorff_alpha_ratio"] = sums, partial(ratio_alpha, numbers=numbers)
    if one.reference != "others":
        sums = rater_sums(np.stack([one.x, one.y], axis=1), one.weight, one.cluster, clusters)
        forms = ("ICC(2,1)",) if one.single else ("ICC(2,1)", "ICC(3,1)")
        plan |= {icc_name(form): (sums, partial(icc_of_sums, form=form)) for form in forms}
    return plan


def _spearman(one: Joined, pair: Pair, wanted: bool, settings: CalibrationSettings) -> Estimate:
    value = float(weighted_spearman(one.x, one.y, one.weight[None])[0]) if len(one.x) else np.nan
    reason = _reason("spearman", pair, value)
    if one.single and not reason:
        notes = [LEVEL, "no interval: ranks are resampled against all annotators only"]
        return made("spearman", pair, value, (np.nan, np.nan), "none", notes, settings)
    draws = None
    if wanted and not reason:
        draws = spearman_draws(one, len(pair.sizes), settings.resamples, settings.seed)
    return drawn("spearman", pair, value, draws, reason, settings, f"{LEVEL}; midranks")


def weighted_spearman(x: Array, y: Array, weights: Array) -> Array:
    """Pearson of weighted midranks. `x`, `y`: shape (rows,); `weights`: shape (block, rows). Undefined.

    A constant side.
    """
    u, v = _centred_ranks(x, weights), _centred_ranks(y, weights)
    covariance = (weights * u * v).sum(axis=-1)
    return ratio(covariance, np.sqrt((weights * u * u).sum(axis=-1)) * np.sqrt((weights * v * v).sum(axis=-1)))


def spearman_draws(one: Joined, clusters: int, resamples: int, seed: int) -> Array:
    """Spearman of every resample, each ranked anew; the weights are those of `resample`."""
    with bootstrap.one_thread():
        blocks = bootstrap.cluster_weights(clusters, resamples, seed)
        return np.concatenate([weighted_spearman(one.x, one.y, block[:, one.cluster] * one.weight) for block in blocks])


def _centred_ranks(values: Array, weights: Array) -> Array:
    """Twice the midrank minus the total weight, of each row; shape (block, rows)."""
    distinct, group = np.unique(values, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(len(distinct)))
    mass = np.add.reduceat(weights[:, order], starts, axis=1)
    ranks = 2 * np.cumsum(mass, axis=1) - mass - mass.sum(axis=1, keepdims=True)
    return np.asarray(ranks[:, group])


def _reason(name: str, pair: Pair, value: float) -> str:
    if pair.n < 2 or np.isnan(value):
        alone = "one_unit" if name.startswith("krippendorff") else "too_few_units"
        return "no_items" if not pair.n else alone if pair.n < 2 else "zero_variance"
    return "two_points" if pair.n == 2 and name in ("pearson", "spearman") else ""
