"""Agreement of ratings with many distinct values, and of the order in which two raters put the same reports.

Correlations, the intraclass correlation and Krippendorff's alpha come from sums per cluster. Kendall's tau-b and the
rank agreements of studies come from pairs of reports. Spearman's correlation ranks every resample again: ranking once
and resampling the ranks is not exact (errors up to .04 at ten clusters).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from calibration.arithmetic import correlation
from calibration.arithmetic.closed_forms import Array, ratio
from calibration.arithmetic.columns import Codes, tally
from calibration.estimates import Estimate
from calibration.inference import bootstrap
from calibration.remarks import Reason, no_interval, undefined
from calibration.settings import CalibrationSettings
from calibration.study.answering import coverage
from calibration.study.bounding import FEW_CLUSTERS, Group, Pair, drawn, made, share
from calibration.study.crossing import Joined, by_criterion, parts_of, scores_of, stacked, transposed
from calibration.study.joining import Mask, Scale, Study

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
                why = no_interval(Reason.TOO_MANY_VALUES, most=MOST_VALUES)
                yield made(name, pair, value, (np.nan, np.nan), "none", why, settings)
                continue
            draws = bootstrap.resample(sums, statistic, settings.resamples, settings.seed) if wanted else None
            reason = _reason(name, pair, value)
            if name.startswith("krippendorff") and pair.rater == "each_annotator" and transposed(study, group):
                reason = "maybe_transposed"
            yield drawn(name, pair, value, draws, reason, settings, "" if "alpha" in name else LEVEL)
        yield _spearman(one, pair, wanted, settings)
        if not one.single:
            yield kendall(one, pair, settings)


def _plan(study: Study, group: Group, scale: Scale, joined: Joined, parts: list[Joined]) -> Plan:
    """Each statistic's sums per cluster, and its closed form; of two single raters fewer, there may be many of them."""
    clusters, numbers = len(study.clusters), np.asarray(scale.numbers)
    plan: Plan = {
        "krippendorff_alpha_interval": (
            interval_sums(study, scale, group.chosen, joined),
            correlation.alpha_of_moments,
        ),
        "pearson": (
            correlation.moments(joined.x, joined.y, joined.weight, joined.cluster, clusters),
            correlation.pearson_of_moments,
        ),
    }
    if numbers.min(initial=0.0) >= 0 and not joined.single:
        sums = ratio_sums(study, scale, group.chosen, joined, parts)
        plan["krippendorff_alpha_ratio"] = sums, partial(ratio_alpha, numbers=numbers)
    if joined.reference != "others":
        sums = correlation.rater_sums(np.stack([joined.x, joined.y], axis=1), joined.weight, joined.cluster, clusters)
        forms = ("ICC(2,1)",) if joined.single else ("ICC(2,1)", "ICC(3,1)")
        plan |= {correlation.icc_name(form): (sums, partial(correlation.icc_of_sums, form=form)) for form in forms}
    return plan


def _spearman(joined: Joined, pair: Pair, wanted: bool, settings: CalibrationSettings) -> Estimate:
    value = float(weighted_spearman(joined.x, joined.y, joined.weight[None])[0]) if len(joined.x) else np.nan
    reason = _reason("spearman", pair, value)
    if joined.single and not reason:
        why = no_interval(Reason.NOT_ASKED, "ranks are resampled against all annotators only")
        return made("spearman", pair, value, (np.nan, np.nan), "none", [LEVEL, why], settings)
    draws = None
    if wanted and not reason:
        draws = spearman_draws(joined, len(pair.sizes), settings.resamples, settings.seed)
    return drawn("spearman", pair, value, draws, reason, settings, f"{LEVEL}; midranks")


def weighted_spearman(x: Array, y: Array, weights: Array) -> Array:
    """Pearson of weighted midranks. `x`, `y`: shape (rows,); `weights`: shape (block, rows). Undefined.

    A constant side.
    """
    u, v = _centred_ranks(x, weights), _centred_ranks(y, weights)
    covariance = (weights * u * v).sum(axis=-1)
    return ratio(covariance, np.sqrt((weights * u * u).sum(axis=-1)) * np.sqrt((weights * v * v).sum(axis=-1)))


def spearman_draws(joined: Joined, clusters: int, resamples: int, seed: int) -> Array:
    """Spearman of every resample, each ranked anew; the weights are those of `resample`."""
    with bootstrap.one_thread():
        blocks = bootstrap.cluster_weights(clusters, resamples, seed)
        return np.concatenate(
            [weighted_spearman(joined.x, joined.y, block[:, joined.cluster] * joined.weight) for block in blocks]
        )


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


AT_ONCE = 512  # distinct values compared with all others in one step
MOST_VALUES = 200  # distinct values up to which ratio alpha has an interval: its chance part costs their square


def interval_sums(study: Study, scale: Scale, chosen: Mask, joined: Joined) -> Array:
    """Ratings, sum, sum of squares and disagreement within units, for `alpha_of_moments`; shape (clusters, 4)."""
    clusters = len(study.clusters)
    if not _among_people(joined):
        return correlation.pair_moments(joined.x, joined.y, joined.weight, joined.cluster, clusters)
    raters = _raters(study, scale, chosen)
    values, weight, unit = _ratings(study, scale, chosen, raters)
    values = values - (values.mean() if len(values) else 0.0)
    s, q = tally(unit, study.units, weight * values), tally(unit, study.units, weight * values**2)
    kept = raters > 1.5
    m, s, q, cluster = raters[kept], s[kept], q[kept], study.unit_cluster[kept]
    parts = (m, s, q, (m * q - s * s) / (m - 1))
    return np.stack([tally(cluster, clusters, part) for part in parts], axis=-1)


def ratio_sums(study: Study, scale: Scale, chosen: Mask, joined: Joined, parts: Sequence[Joined]) -> Array:
    """Observed disagreement and how often each of `scale.numbers` was given, per cluster; shape (clusters, 1 + K)."""
    clusters, numbers = len(study.clusters), np.asarray(scale.numbers)
    if _among_people(joined):
        raters = _raters(study, scale, chosen)
        values, weight, unit = _ratings(study, scale, chosen, raters)
        seen = sum((_disagreement(p, 1 / (raters[p.unit] - 1), clusters) for p in parts), np.zeros(clusters))
        cluster = study.unit_cluster[unit]
    else:
        values, weight = np.concatenate([joined.x, joined.y]), np.tile(joined.weight, 2)
        cluster = np.tile(joined.cluster, 2)
        seen = _disagreement(joined, np.ones(len(joined.x)), clusters)
    cell = cluster * len(numbers) + np.searchsorted(numbers, values)
    counts = tally(cell, clusters * len(numbers), weight).reshape(clusters, len(numbers))
    return np.column_stack([seen, counts])


def ratio_alpha(sums: Array, numbers: Array) -> Array:
    """Alpha of `ratio_sums`, shape (..., 1 + K). Undefined: nothing, or one value only."""
    seen, counts = sums[..., 0], sums[..., 1:]
    total = counts.sum(axis=-1)
    given = counts.reshape(-1, counts.shape[-1]).any(axis=0)
    counts, numbers = counts[..., given], numbers[given]
    expected = np.zeros(counts.shape[:-1])
    for top in range(0, len(numbers), AT_ONCE):  # a table of very many values never stands in memory whole
        some = slice(top, top + AT_ONCE)
        expected += ((counts @ ratio_distance(numbers[:, None], numbers[some])) * counts[..., some]).sum(axis=-1)
    return 1 - ratio((total - 1) * seen, expected)


def ratio_distance(one: Array, other: Array) -> Array:
    """((k - l) / (k + l))^2, 0 where both are 0. Values from 0."""
    return np.asarray(np.nan_to_num(ratio(one - other, one + other)) ** 2)


def _among_people(joined: Joined) -> bool:
    return (joined.rater, joined.reference) == ("each_annotator", "others")


def _raters(study: Study, scale: Scale, chosen: Mask) -> Array:
    found = [scores_of(scale, annotator, chosen) for annotator in study.annotators]
    return sum((tally(unit, study.units, weight) for unit, _, weight in found), np.zeros(study.units))


def _ratings(study: Study, scale: Scale, chosen: Mask, raters: Array) -> tuple[Array, Array, Codes]:
    """Value, weight and unit of every annotator's rating of a unit with at least two."""
    found = [scores_of(scale, annotator, chosen) for annotator in study.annotators]
    unit = np.concatenate([codes for codes, _, _ in found] or [np.zeros(0, np.intp)])
    values = np.concatenate([numbers for _, numbers, _ in found] or [np.zeros(0)])
    weight = np.concatenate([weights for _, _, weights in found] or [np.zeros(0)])
    kept = raters[unit] > 1.5
    return values[kept], weight[kept], unit[kept]


def _disagreement(joined: Joined, share: Array, clusters: int) -> Array:
    return tally(joined.cluster, clusters, 2 * joined.weight * share * ratio_distance(joined.x, joined.y))


RULES = {
    "strict": ("", "a tie on either side is disagreement"),
    "exclude": ("_exclude_ties", "pairs with a tie on either side dropped"),
    "half_credit": ("_half_credit", "a tie against an order counts one half"),
}


def rank_estimates(study: Study, group: Group, scale: Scale, settings: CalibrationSettings) -> Iterator[Estimate]:
    """Rank agreement of each comparison under each tie rule: each two raters' reports, criterion by criterion, pooled.

    Within a topic only where its cluster holds several reports; of two single raters only there, because pairs across
    clusters cost their square in every resample. n counts pairs of reports.
    """
    clusters = len(study.clusters)
    for rater, reference, parts in parts_of(study, scale, group.chosen):
        if (rater, reference) == ("each_annotator", "others") or reference != "others":
            ranked = by_criterion(study, parts)
            if max((len(one.x) for one in ranked), default=0) > correlation.MOST_ROWS:
                pair = Pair(
                    rater, reference, group, sum((tally(one.cluster, clusters) for one in ranked), np.zeros(clusters))
                )
                yield _too_many("rank_agreement_across_items", pair, settings)
                continue
            matrices = correlation.pair_matrices(ranked, clusters)
            yield from _within_topic(rater, reference, group, matrices, settings)
            if reference in ("each_annotator", "others"):
                yield from _across_items(rater, reference, group, matrices, settings)


def kendall(joined: Joined, pair: Pair, settings: CalibrationSettings) -> Estimate:
    """Tau-b of joined scores, with its interval from cluster concordance matrices."""
    note = "over scores of single reports"
    if len(joined.x) > correlation.MOST_ROWS:
        return _too_many("kendall_tau_b", pair, settings)
    matrices = correlation.pair_matrices(
        [correlation.Ranked(joined.x, joined.y, joined.weight, joined.cluster)], len(pair.sizes)
    )
    value = float(correlation.tau_b(_whole(matrices)))
    draws = (
        correlation.tau_b(bootstrap.concordance_draws(matrices, settings.resamples, settings.seed))
        if pair.may_have_interval
        else None
    )
    few = "too_few_units" if pair.n else "no_items"
    reason = few if pair.n < 2 else "zero_variance" if math.isnan(value) else "two_points" if pair.n == 2 else ""
    return drawn("kendall_tau_b", pair, value, draws, reason, settings, note)


def _within_topic(
    rater: str, reference: str, group: Group, matrices: Array, settings: CalibrationSettings
) -> Iterator[Estimate]:
    counts = np.moveaxis(np.diagonal(matrices, axis1=1, axis2=2), 0, -1) / 2  # (clusters, kinds)
    if not counts[:, 4].any():
        return
    for ties, (suffix, rule) in RULES.items():
        if ties == "half_credit":
            continue  # no share of whole pairs: across items has it
        agree, pairs = correlation.rank_share(counts, ties)
        pair = Pair(rater, reference, group, pairs)
        yield share(f"rank_agreement_within_topic{suffix}", pair, agree, settings, _note(rule, counts.sum(axis=0)))


def _across_items(
    rater: str, reference: str, group: Group, matrices: Array, settings: CalibrationSettings
) -> Iterator[Estimate]:
    whole = _whole(matrices)
    sizes = matrices[4].sum(axis=1) / 2  # each pair of reports counts half for either of its clusters
    pair = Pair(rater, reference, group, sizes)
    drawn_counts = (
        bootstrap.concordance_draws(matrices, settings.resamples, settings.seed) if pair.may_have_interval else None
    )
    for ties, (suffix, rule) in RULES.items():
        agree, pairs = correlation.rank_share(whole, ties)
        value = float(ratio(agree, pairs))
        own = Pair(rater, reference, group, sizes * float(ratio(pairs, whole[4])) if whole[4] else sizes)
        draws = None if drawn_counts is None else ratio(*correlation.rank_share(drawn_counts, ties))
        reason = "no_items" if math.isnan(value) else ""
        note = _note(rule, whole)
        yield drawn(f"rank_agreement_across_items{suffix}", own, value, draws, reason, settings, note)


def _note(rule: str, counts: Array) -> str:
    tied = round(float(counts[4] - counts[0] - counts[1]))
    return f"{rule}; ties: {tied:,} of {round(float(counts[4])):,} pairs of reports"


def _whole(matrices: Array) -> Array:
    return np.asarray(bootstrap.counts_of(matrices, np.ones((1, matrices.shape[-1])))[0])


def _too_many(statistic: str, pair: Pair, settings: CalibrationSettings) -> Estimate:
    why = undefined(Reason.TOO_MANY_ROWS, most=correlation.MOST_ROWS)
    return made(statistic, pair, math.nan, (math.nan, math.nan), "none", why, settings)
