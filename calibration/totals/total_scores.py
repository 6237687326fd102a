"""Total scores of reports, and judges' totals against the mean of the annotators'.

DR3-Eval and DeepResearch Bench compare these.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from calibration.agreement.continuous import spearman_draws
from calibration.arithmetic import correlation
from calibration.arithmetic.closed_forms import Array, ratio
from calibration.arithmetic.columns import Codes, tally
from calibration.errors import CalibrationError
from calibration.estimates import Estimate
from calibration.inference.bootstrap import cluster_t, concordance_draws, resample, se_of_sums
from calibration.remarks import Reason, Remark, no_interval
from calibration.settings import CalibrationSettings
from calibration.study import crossing, left_out
from calibration.study.bounding import Group, Pair, drawn, made
from calibration.study.joining import Answers, Scale, Study, answers_of

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
    for rater in raters:
        unit, values, weight = crossing.scores_of(scale, rater, group.chosen)
        found, position = np.unique(unit, return_inverse=True)
        score = ratio(tally(position, len(found), weight * values), tally(position, len(found), weight))
        complete = tally(report[found], count) == asked
        totals.append(np.where(complete, ratio(tally(report[found], count, weights[found] * score), whole), np.nan))
    return np.array(totals, float).reshape(len(totals), count)


def race_totals(study: Study, raters: Sequence[Answers], group: Group, scale: Scale) -> Array:
    """Totals as DeepResearch Bench's RACE makes them; shape and refusals as of `totals_of`.

    Criteria count by their weights, where the labels have some. Of two reports rated in one view each has t / (t + r);
    the reference, which is in every view, has no total of its own.
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
    """The position in `Study.systems` of the one system that is in every view of two; -1 where there is none."""
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


def paired(x: Array, y: Array, cluster: Codes) -> crossing.Joined:
    """Two totals of the reports that have both."""
    both = np.flatnonzero(~np.isnan(x) & ~np.isnan(y))
    return crossing.Joined("", "", x[both], y[both], np.ones(len(both)), both, cluster[both])


def pearson_draws(joined: crossing.Joined, clusters: int, settings: CalibrationSettings) -> Array:
    """Pearson of each resample of whole clusters, shape (resamples,); so below."""
    sums = correlation.moments(joined.x, joined.y, joined.weight, joined.cluster, clusters)
    return resample(sums, correlation.pearson_of_moments, settings.resamples, settings.seed)


def rank_correlation(x: Array, y: Array) -> float:
    """Spearman of totals, shape (reports,). Undefined as `spearman`."""
    return correlation.spearman(np.round(x, DECIMALS), np.round(y, DECIMALS))


def ranked_draws(one: crossing.Joined, clusters: int, settings: CalibrationSettings) -> Array:
    """`rank_correlation`, each resample ranked anew."""
    if not len(one.x):
        return np.full(settings.resamples, np.nan)
    one = replace(one, x=np.round(one.x, DECIMALS), y=np.round(one.y, DECIMALS))
    return spearman_draws(one, clusters, settings.resamples, settings.seed)


def order_counts(joined: crossing.Joined, clusters: int, settings: CalibrationSettings) -> Array:
    """Pairs of two different reports of each kind, shape (resamples, 5), for `rank_share`.

    nan of more than `MOST_ROWS` reports: a matter of minutes.
    """
    if len(joined.x) > correlation.MOST_ROWS:
        return np.full((settings.resamples, correlation.KINDS), np.nan)
    matrices = correlation.pair_matrices(
        [correlation.Ranked(joined.x, joined.y, joined.weight, joined.cluster)], clusters
    )
    return concordance_draws(matrices, settings.resamples, settings.seed)


def order_draws(joined: crossing.Joined, clusters: int, settings: CalibrationSettings) -> Array:
    """Rank agreement across items; a tie on either side is disagreement."""
    return ratio(*correlation.rank_share(order_counts(joined, clusters, settings), "strict"))


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


MEAN = "mean_of_annotators"


@dataclass(frozen=True)
class TotalAgreement:
    """One judge. Every n counts reports with a total by the judge and by an annotator.

    `run_sd`: SD (n - 1) of a report's total over the judge's runs, mean over reports; None where nothing was run twice.
    """

    judge: str
    pearson: Estimate
    spearman: Estimate
    ordered: Estimate  # rank_agreement_across_items: a tie on either side is disagreement
    ordered_without_ties: Estimate
    run_sd: Estimate | None


def total_agreement(verdicts: pd.DataFrame, settings: CalibrationSettings | None = None) -> tuple[TotalAgreement, ...]:
    """Pearson, Spearman and pairwise agreement of each judge's totals with the mean of the annotators' totals.

    `verdicts`: ratings of single reports. A total is the mean of all criteria asked of a report; a rater who left one
    out has none there. Runs of a judge are averaged. Undefined: fewer than two reports, a side that never varies.
    Raises `not_scores`, `mixed_label_types`. DR3-Eval, Table 4.
    """
    settings = settings or CalibrationSettings()
    study, group, scale = left_out.pooled(verdicts, settings)
    cluster = clusters_of_reports(study)
    people = mean_known(totals_of(study, study.annotators, group, scale), axis=0)
    judged = totals_of(study, study.judges, group, scale)
    return tuple(
        _agreement(study, group, scale, judge, paired(own, people, cluster), settings)
        for judge, own in zip(study.judges, judged, strict=True)
    )


def _agreement(
    study: Study, group: Group, scale: Scale, judge: Answers, joined: crossing.Joined, settings: CalibrationSettings
) -> TotalAgreement:
    clusters = len(study.clusters)
    pair = Pair(judge.rater, MEAN, group, tally(joined.cluster, clusters))
    wanted = pair.clusters > 1
    note = "totals of reports with the mean total of the annotators"
    correlations, orders = [], []
    for name, function, draws_of in (
        ("pearson", correlation.pearson, pearson_draws),
        ("spearman", rank_correlation, ranked_draws),
    ):
        value = function(joined.x, joined.y)
        reason = why_no_correlation(pair.n, value)
        draws = draws_of(joined, clusters, settings) if wanted and not reason else None
        correlations.append(drawn(name, pair, value, draws, reason, settings, note))
    counts = correlation.sign_counts(joined.x, joined.y)
    drawn_counts = order_counts(joined, clusters, settings) if wanted else None
    for ties, suffix in (("strict", ""), ("exclude", "_exclude_ties")):
        value = correlation.rank_agreement_across_items(joined.x, joined.y, ties)
        draws = None if drawn_counts is None else ratio(*correlation.rank_share(drawn_counts, ties))
        reason = "no_items" if math.isnan(value) else ""
        kept = f"{note}; {_rule(counts, ties)}"
        kept += (
            f"; more than {correlation.MOST_ROWS:,} reports are too many to resample"
            if pair.n > correlation.MOST_ROWS
            else ""
        )
        orders.append(drawn(f"rank_agreement_across_items{suffix}", pair, value, draws, reason, settings, kept))
    return TotalAgreement(
        judge.rater,
        correlations[0],
        correlations[1],
        orders[0],
        orders[1],
        _run_sd(study, group, scale, judge, settings),
    )


def why_no_correlation(n: int, value: float) -> str:
    """The reason that a correlation of `n` points is not shown, "" where it is."""
    few = "no_items" if not n else "too_few_units"
    return few if n < 2 else "zero_variance" if math.isnan(value) else "two_points" if n == 2 else ""


def _rule(counts: Array, ties: str) -> str:
    decided, everything = (round(float(correlation.rank_share(counts, rule)[1])) for rule in ("exclude", "strict"))
    if ties == "exclude":
        return f"pairs with a tie on either side dropped, kept {decided:,} of {everything:,}"
    return f"a tie on either side is disagreement: {everything - decided:,} of {everything:,} pairs of reports"


def _run_sd(study: Study, group: Group, scale: Scale, judge: Answers, settings: CalibrationSettings) -> Estimate | None:
    rows = study.frame[study.frame["rater_id"] == judge.rater]
    drop = settings.dropped
    runs = [answers_of(judge.rater, "judge", own, drop) for _, own in rows.groupby("run")]
    totals = totals_of(study, runs, group, scale)
    count = (~np.isnan(totals)).sum(axis=0)
    repeated = np.flatnonzero(count > 1)
    if not len(repeated):
        return None
    spread = np.nanstd(totals[:, repeated], axis=0, ddof=1)
    return _mean_of_reports(study, judge.rater, spread, clusters_of_reports(study)[repeated], group, settings)


def _mean_of_reports(
    study: Study, judge: str, values: Array, cluster: Codes, group: Group, settings: CalibrationSettings
) -> Estimate:
    clusters = len(study.clusters)
    pair = Pair(judge, "", group, tally(cluster, clusters))
    se = se_of_sums(tally(cluster, clusters, values), pair.sizes)
    interval = cluster_t(float(values.mean()), se, pair.clusters, settings.level)
    said: list[str | Remark] = ["SD (n - 1) of a report's total over runs, mean over reports"]
    if math.isnan(interval[0]):
        said.append(no_interval(Reason.ZERO_VARIANCE if pair.clusters > 1 else Reason.TOO_FEW_UNITS))
    return made("sd_over_runs", pair, float(values.mean()), interval, "cluster_t", said, settings)
