"""Total scores of reports, and two raters' totals side by side: what DR3-Eval and DeepResearch Bench compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calibration.bootstrap import resample
from calibration.bounding import Group
from calibration.closed_forms import Array, ratio
from calibration.columns import Codes, tally
from calibration.concordance import KINDS, MOST_ROWS, Ranked, concordance_draws, pair_matrices, rank_share
from calibration.continuous import spearman_draws
from calibration.correlation import spearman
from calibration.errors import CalibrationError
from calibration.joining import Answers, Scale, Study
from calibration.moments import moments, pearson_of_moments
from calibration.paired_scores import Joined, scores_of
from calibration.results import CalibrationSettings

DECIMALS = 9  # of totals put in an order: means that differ by rounding alone share a rank


def totals_of(study: Study, raters: Sequence[Answers], group: Group, scale: Scale) -> Array:
    """Mean over all criteria asked of a report, by each rater; shape (raters, reports), nan where one is missing.

    Passes of one rater are averaged first. Raises `not_scores` where the labels have no numbers.
    """
    if scale.numbers is None or scale.kind == "pairwise":
        raise CalibrationError("not_scores", "the labels are no scores; give ratings of single reports")
    report = _report_of_units(study)
    count = int(report.max(initial=-1)) + 1
    asked = tally(report, count)
    totals = []
    for one in raters:
        unit, values, weight = scores_of(scale, one, group.chosen)
        found, position = np.unique(unit, return_inverse=True)
        score = ratio(tally(position, len(found), weight * values), tally(position, len(found), weight))
        complete = tally(report[found], count) == asked
        totals.append(np.where(complete, tally(report[found], count, score) / asked, np.nan))
    return np.array(totals, float).reshape(len(totals), count)


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


def _report_of_units(study: Study) -> Codes:
    units = study.frame.drop_duplicates("unit").sort_values("unit")
    return units["item_id"].cat.codes.to_numpy().astype(np.intp)
