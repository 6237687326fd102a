"""Krippendorff's alpha of fine scales from sums per cluster: what disagrees within units, and what all ratings are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibration.engine.closed_forms import Array, ratio
from calibration.engine.joining import Mask, Scale, Study
from calibration.engine.moments import pair_moments
from calibration.reading.columns import Codes, tally
from calibration.scores.paired_scores import Joined, scores_of

AT_ONCE = 512  # distinct values compared with all others in one step
MOST_VALUES = 200  # distinct values up to which ratio alpha has an interval: its chance part costs their square


def interval_sums(study: Study, scale: Scale, chosen: Mask, one: Joined) -> Array:
    """Ratings, sum, sum of squares and disagreement within units, for `alpha_of_moments`; shape (clusters, 4)."""
    clusters = len(study.clusters)
    if not _among_people(one):
        return pair_moments(one.x, one.y, one.weight, one.cluster, clusters)
    raters = _raters(study, scale, chosen)
    values, weight, unit = _ratings(study, scale, chosen, raters)
    values = values - (values.mean() if len(values) else 0.0)
    s, q = tally(unit, study.units, weight * values), tally(unit, study.units, weight * values**2)
    kept = raters > 1.5
    m, s, q, cluster = raters[kept], s[kept], q[kept], study.unit_cluster[kept]
    parts = (m, s, q, (m * q - s * s) / (m - 1))
    return np.stack([tally(cluster, clusters, part) for part in parts], axis=-1)


def ratio_sums(study: Study, scale: Scale, chosen: Mask, one: Joined, parts: Sequence[Joined]) -> Array:
    """Observed disagreement and how often each of `scale.numbers` was given, per cluster; shape (clusters, 1 + K)."""
    clusters, numbers = len(study.clusters), np.asarray(scale.numbers)
    if _among_people(one):
        raters = _raters(study, scale, chosen)
        values, weight, unit = _ratings(study, scale, chosen, raters)
        seen = sum((_disagreement(p, 1 / (raters[p.unit] - 1), clusters) for p in parts), np.zeros(clusters))
        cluster = study.unit_cluster[unit]
    else:
        values, weight = np.concatenate([one.x, one.y]), np.tile(one.weight, 2)
        cluster = np.tile(one.cluster, 2)
        seen = _disagreement(one, np.ones(len(one.x)), clusters)
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


def _among_people(one: Joined) -> bool:
    return (one.rater, one.reference) == ("each_annotator", "others")


def _raters(study: Study, scale: Scale, chosen: Mask) -> Array:
    found = [scores_of(scale, one, chosen) for one in study.annotators]
    return sum((tally(unit, study.units, weight) for unit, _, weight in found), np.zeros(study.units))


def _ratings(study: Study, scale: Scale, chosen: Mask, raters: Array) -> tuple[Array, Array, Codes]:
    """Value, weight and unit of every annotator's rating of a unit with at least two."""
    found = [scores_of(scale, one, chosen) for one in study.annotators]
    unit = np.concatenate([codes for codes, _, _ in found] or [np.zeros(0, np.intp)])
    values = np.concatenate([numbers for _, numbers, _ in found] or [np.zeros(0)])
    weight = np.concatenate([weights for _, _, weights in found] or [np.zeros(0)])
    kept = raters[unit] > 1.5
    return values[kept], weight[kept], unit[kept]


def _disagreement(one: Joined, share: Array, clusters: int) -> Array:
    return tally(one.cluster, clusters, 2 * one.weight * share * ratio_distance(one.x, one.y))
