"""Total scores of reports, and two raters' totals side by side: what DR3-Eval and DeepResearch Bench compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calibration.bootstrap import resample
from calibration.correlation import spearman
from calibration.engine.bounding import Group
from calibration.engine.closed_forms import Array, ratio
from calibration.engine.concordance import KINDS, MOST_ROWS, Ranked, concordance_draws, pair_matrices, rank_share
from calibration.engine.continuous import spearman_draws
from calibration.engine.joining import Answers, Scale, Study
from calibration.engine.moments import moments, pearson_of_moments
from calibration.errors import CalibrationError
from calibration.reading.columns import Codes, tally
from calibration.scores.paired_scores import Joined, scores_of
from calibration.settings import CalibrationSettings

DECIMALS = 9  # of totals put in an order: means that differ by rounding alone share a rank


def totals_of(
    study: Study, raters: Sequence[Answers], group: Group, scale: Scale, weights: Array | None = None
) -> Array:
    """Mean over all criteria asked of a report, by each rater; shape (raters, reports), nan where one is missing.

    `weights`: of the units, shape (units,); none: all alike. Passes of one rater are averaged first. Raises
    `not_scores` where the labels have no numbers.
    """
    if scale.numbers is None or scale.kind == "pairwise":
        raise CalibrationError("not_scores", "the labels are no scores; give ratings of single reports")
    report = _report_of_units(study)
    count = int(report.max(initial=-1)) + 1
    asked, weights = tally(report, count), np.ones(len(report)) if weights is None else weights
    whole = tally(report, count, weights)
    totals = []
    for one in raters:
        unit, values, weight = scores_of(scale, one, group.chosen)
        found, position = np.unique(unit, return_inverse=True)
        score = ratio(tally(position, len(found), weight * values), tally(position, len(found), weight))
        complete = tally(report[found], count) == asked
        totals.append(np.where(complete, ratio(tally(report[found], count, weights[found] * score), whole), np.nan))
    return np.array(totals, float).reshape(len(totals), count)


def race_totals(study: Study, raters: Sequence[Answers], group: Group, scale: Scale) -> Array:
    """Totals as DeepResearch Bench's RACE makes them; shape and refusals as of `totals_of`.

    Criteria count by their weights, where the labels have some. Of two reports rated in one view each has t / (t + r);
    the reference, which stands in every view, has no total of its own.
    """
    units = study.frame.drop_duplicates("unit").sort_values("unit")
    weights = units["weight"].fillna(1.0).to_numpy(float) if "weight" in units else None
    totals = totals_of(study, raters, group, scale, weights)
    beside = _beside(study)
    seen = beside >= 0
    if seen.any():
        totals[:, seen] = ratio(totals[:, seen], totals[:, seen] + totals[:, beside[seen]])
        totals[:, systems_of_reports(study) == reference_of(study)] = np.nan
    # sums that differ by rounding alone are a tie
    return totals if weights is None and not seen.any() else np.round(totals, DECIMALS)


def reference_of(study: Study) -> int:
    """The position in `Study.systems` of the one system that stands in every view of two; -1 where there is none."""
    beside, system = _beside(study), systems_of_reports(study)
    own = np.flatnonzero(beside >= 0)
    alone = [k for k in np.unique(system[own]) if ((system[own] == k) | (system[beside[own]] == k)).all()]
    return int(alone[0]) if len(alone) == 1 else -1


def clusters_of_reports(study: Study) -> Codes:
    """The cluster of each report, shape (reports,)."""
    report = _report_of_units(study)
    cluster = np.zeros(int(report.max(initial=-1)) + 1, np.intp)
    cluster[report] = study.unit_cluster
    return cluster


def systems_of_reports(study: Study) -> Codes:
    """The system of each report as its position in `Study.systems`, shape (reports,)."""
    first = study.frame.drop_duplicates("item_id").sort_values("item_id")
    return np.searchsorted(study.systems, first["system_a"].astype(str)).astype(np.intp)


def paired(x: Array, y: Array, cluster: Codes) -> Joined:
    """Two totals of the reports that have both."""
    both = np.flatnonzero(~np.isnan(x) & ~np.isnan(y))
    return Joined("", "", x[both], y[both], np.ones(len(both)), both, cluster[both])


def pearson_draws(one: Joined, clusters: int, settings: CalibrationSettings) -> Array:
    """Pearson of each resample of whole clusters, shape (resamples,); so below."""
    sums = moments(one.x, one.y, one.weight, one.cluster, clusters)
    return resample(sums, pearson_of_moments, settings.resamples, settings.seed)


def rank_correlation(x: Array, y: Array) -> float:
    """Spearman of totals, shape (reports,). Undefined as `spearman`."""
    return spearman(np.round(x, DECIMALS), np.round(y, DECIMALS))


def ranked_draws(one: Joined, clusters: int, settings: CalibrationSettings) -> Array:
    """`rank_correlation`, each resample ranked anew."""
    if not len(one.x):
        return np.full(settings.resamples, np.nan)
    one = replace(one, x=np.round(one.x, DECIMALS), y=np.round(one.y, DECIMALS))
    return spearman_draws(one, clusters, settings.resamples, settings.seed)


def order_counts(one: Joined, clusters: int, settings: CalibrationSettings) -> Array:
    """Pairs of two different reports of each kind, shape (resamples, 5), for `rank_share`.

    nan of more than `MOST_ROWS` reports: a matter of minutes.
    """
    if len(one.x) > MOST_ROWS:
        return np.full((settings.resamples, KINDS), np.nan)
    matrices = pair_matrices([Ranked(one.x, one.y, one.weight, one.cluster)], clusters)
    return concordance_draws(matrices, settings.resamples, settings.seed)


def order_draws(one: Joined, clusters: int, settings: CalibrationSettings) -> Array:
    """Rank agreement across items; a tie on either side is disagreement."""
    return ratio(*rank_share(order_counts(one, clusters, settings), "strict"))


def mean_known(values: Array, axis: int = -1) -> Array:
    """Mean over an axis of what is defined; nan where nothing is."""
    known = ~np.isnan(values)
    return ratio(np.where(known, values, 0.0).sum(axis=axis), known.sum(axis=axis))


def _beside(study: Study) -> Codes:
    """The report rated in the same view as each, shape (reports,); -1 where there is none."""
    first = study.frame.drop_duplicates("item_id").sort_values("item_id")
    if "beside" not in first:
        return np.full(len(first), -1)
    names = first["item_id"].astype(str)
    place = dict(zip(names, range(len(names)), strict=True))
    return np.array([place.get(name, -1) for name in first["beside"].fillna("").astype(str)], np.intp)


def _report_of_units(study: Study) -> Codes:
    units = study.frame.drop_duplicates("unit").sort_values("unit")
    return units["item_id"].cat.codes.to_numpy().astype(np.intp)
