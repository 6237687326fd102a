"""Judges' total scores against the mean of the annotators', over reports: what DR3-Eval's judge table holds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.bootstrap import cluster_t, se_of_sums
from calibration.correlation import pearson, rank_agreement_across_items
from calibration.engine.bounding import Group, Pair, drawn, made
from calibration.engine.closed_forms import Array, ratio
from calibration.engine.concordance import MOST_ROWS, rank_share, sign_counts
from calibration.engine.joining import Answers, Scale, Study, answers_of
from calibration.estimates import Estimate
from calibration.people.left_out import pooled
from calibration.reading.columns import Codes, tally
from calibration.scores.paired_scores import Joined
from calibration.settings import CalibrationSettings
from calibration.systems.total_scores import (
    clusters_of_reports,
    mean_known,
    order_counts,
    paired,
    pearson_draws,
    rank_correlation,
    ranked_draws,
    totals_of,
)

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
    study, group, scale = pooled(verdicts, settings)
    cluster = clusters_of_reports(study)
    people = mean_known(totals_of(study, study.annotators, group, scale), axis=0)
    judged = totals_of(study, study.judges, group, scale)
    return tuple(
        _agreement(study, group, scale, judge, paired(own, people, cluster), settings)
        for judge, own in zip(study.judges, judged, strict=True)
    )


def _agreement(
    study: Study, group: Group, scale: Scale, judge: Answers, one: Joined, settings: CalibrationSettings
) -> TotalAgreement:
    clusters = len(study.clusters)
    pair = Pair(judge.rater, MEAN, group, tally(one.cluster, clusters))
    wanted = pair.clusters > 1
    note = "totals of reports with the mean total of the annotators"
    correlations, orders = [], []
    for name, function, draws_of in (
        ("pearson", pearson, pearson_draws),
        ("spearman", rank_correlation, ranked_draws),
    ):
        value = function(one.x, one.y)
        reason = why_no_correlation(pair.n, value)
        draws = draws_of(one, clusters, settings) if wanted and not reason else None
        correlations.append(drawn(name, pair, value, draws, reason, settings, note))
    counts = sign_counts(one.x, one.y)
    drawn_counts = order_counts(one, clusters, settings) if wanted else None
    for ties, suffix in (("strict", ""), ("exclude", "_exclude_ties")):
        value = rank_agreement_across_items(one.x, one.y, ties)
        draws = None if drawn_counts is None else ratio(*rank_share(drawn_counts, ties))
        reason = "no_items" if math.isnan(value) else ""
        kept = f"{note}; {_rule(counts, ties)}"
        kept += f"; more than {MOST_ROWS:,} reports are too many to resample" if pair.n > MOST_ROWS else ""
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
    decided, everything = (round(float(rank_share(counts, rule)[1])) for rule in ("exclude", "strict"))
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
    notes = ["SD (n - 1) of a report's total over runs, mean over reports"]
    if math.isnan(interval[0]):
        notes.append(
            "no interval: no spread between clusters" if pair.clusters > 1 else "no interval: fewer than 2 clusters"
        )
    return made("sd_over_runs", pair, float(values.mean()), interval, "cluster_t", notes, settings)
