"""The preset `dr3_eval`: DR3-Eval's Table 4, judges' total scores against the mean of people, with the people's row."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from calibration.people.inter_human import score_correlations_of_people
from calibration.results import CalibrationReport, Estimate
from calibration.systems.judge_totals import TotalAgreement, total_agreement
from exports.cells import Cell
from exports.published.preset_parts import (
    clusters_word,
    kept_columns,
    notes_below,
    own_statistics,
    refuse_other_kinds,
)
from exports.tables import Column, Table

COLUMNS = (
    Column("rater", "Rater"),
    Column("pearson", "Pearson r", "r"),
    Column("spearman", "Spearman ρ", "ρ"),
    Column("rank_agreement_across_items", "Pairwise agreement", "PA"),
    Column("rank_agreement_across_items_exclude_ties", "Pairwise agreement, ties excluded", "PA-"),
    Column("cost", "Cost per report (USD)", "USD"),
    Column("sd_over_runs", "SD over runs", "SD"),
    Column("n", "n"),
    Column("clusters", "Clusters", "C"),
)
RUNS = "SD over runs: of a report's total (n - 1), mean over reports that were run twice or more."
TWO_BY_TWO, WITH_MEAN = "inter-human, two by two", "inter-human, each with the mean of the others"


def dr3_eval_table(verdicts: pd.DataFrame, report: CalibrationReport) -> Table:
    """One row per judge, then people by one construction, or two where there are three. Raises `wrong_task`."""
    refuse_other_kinds("dr3_eval", report, "rating", "correlations of scores of single reports")
    own = own_statistics(report)
    rows = [_judge(one, own.get((one.judge, "cost_per_item"))) for one in total_agreement(verdicts, report.settings)]
    rows.append(_people(TWO_BY_TWO, score_correlations_of_people(verdicts, report.settings, "pairs")))
    several = len(report.data["annotators"]) > 2
    if several:
        rows.append(_people(WITH_MEAN, score_correlations_of_people(verdicts, report.settings, "others_mean")))
    optional = ("cost", "sd_over_runs", "rank_agreement_across_items_exclude_ties")
    columns, cells = kept_columns(COLUMNS, rows, optional)
    reading = (
        "Pairwise agreement is rank agreement across items: the share of all pairs of reports in the sample that judge "
        "and people put in the same order; strict: a tie on either side is disagreement. Beside it such pairs are "
        "dropped.",
        "A total is the mean of all criteria asked of a report, and runs of a judge are averaged. A judge is compared "
        "with the mean total of the annotators who have one (the paper: of four). There a failed score enters as 0 or "
        "-1; here a total that lacks a criterion is left out. The paper prints no intervals.",
        "The paper does not say how its inter-human row was made. Here it is the mean over pairs of annotators"
        + (", and in a second row over annotators, each with the mean of the others" if several else "")
        + "; a judge's row has the mean of all of them as its reference, so that it is no ceiling.",
        *(RUNS for one in columns if one.key == "sd_over_runs"),
        "n counts reports (in rows of people: reports two people scored, part by part), clusters their "
        f"{clusters_word(report)}. Intervals, pairs without ties, n and clusters are ours.",
    )
    notes = notes_below(report, columns, cells, reading)
    return Table("preset_dr3_eval", "Judges in the form of DR3-Eval, Table 4", columns, cells, notes)


def _judge(one: TotalAgreement, cost: Estimate | None) -> tuple[Cell, ...]:
    measured = one.pearson, one.spearman, one.ordered, one.ordered_without_ties
    return (one.judge, *measured, cost, one.run_sd, one.pearson.n, one.pearson.clusters)


def _people(name: str, found: Sequence[Estimate]) -> tuple[Cell, ...]:
    return (name, *found, None, None, None, found[0].n, found[0].clusters)
