"""The preset `race`: the judge table of DeepResearch Bench's README, overall, PAR, OPC, FAP, FAS and cost."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from calibration.people.inter_human import rank_agreement_of_people
from calibration.results import CalibrationReport, Estimate
from calibration.systems.rank_stability import FEW_SYSTEMS
from calibration.systems.topic_totals import FEWEST_REPORTS, disputed_topics, reference_in_views, topic_agreement
from exports.cells import Cell
from exports.published.preset_parts import (
    clusters_word,
    kept_columns,
    notes_below,
    own_statistics,
    percent,
    refuse_other_kinds,
)
from exports.tables import AMONG, Column, Table

COLUMNS = (
    Column("judge", "Judge"),
    Column("overall", "Overall", "all"),
    Column("par", "PAR"),
    Column("opc", "OPC"),
    Column("fap", "FAP"),
    Column("fas", "FAS"),
    Column("cost", "Cost per report (USD)", "USD"),
    Column("n", "Pairs of systems", "n"),
    Column("topics_kept", "Topics in FAP", "T"),
    Column("clusters", "Clusters", "C"),
)


def race_table(verdicts: pd.DataFrame, report: CalibrationReport) -> Table:
    """One row per judge, then the annotators' PAR. Raises `wrong_task` unless all labels are scores."""
    refuse_other_kinds("race", report, "rating", "correlations of scores of single reports")
    settings, own = report.settings, own_statistics(report)
    rows: list[tuple[Cell, ...]] = []
    in_views = reference_in_views(verdicts, settings) if "beside" in verdicts else ""
    for one in topic_agreement(verdicts, settings):
        four = (one.overall, one.ordered, one.systems, one.pearson, one.spearman)
        counts = one.ordered.n, one.pearson.n, one.overall.clusters
        cost = _of_a_report(own.get((one.judge, "cost_per_item")), verdicts, one.judge, in_views)
        rows.append((one.judge, *map(percent, four), cost, *counts))
    people = rank_agreement_of_people(verdicts, settings)
    rows.append((AMONG, None, percent(people), None, None, None, None, people.n, None, people.clusters))
    columns, cells = kept_columns(COLUMNS, rows, ("cost",))
    notes = notes_below(report, columns, cells, _reading(verdicts, report, in_views))
    return Table("preset_race", "Judges in the form of DeepResearch Bench's README", columns, cells, notes)


def _reading(verdicts: pd.DataFrame, report: CalibrationReport, in_views: str) -> list[str]:
    """`in_views`: the reference that stands in every view, "" where there is none."""
    disputed = disputed_topics(verdicts, report.settings)
    systems = len(report.data["systems"]) - bool(in_views)
    few = f", fewer than {FEW_SYSTEMS}: it is no correlation over reports" if systems < FEW_SYSTEMS else ""
    return [
        "In percent. PAR is rank agreement within a topic: of all pairs of systems of one topic, pooled, the share "
        "that judge and people put in the same order; strict: a tie on either side is disagreement.",
        f"OPC: Pearson of the systems' mean totals ({systems} systems{few}). FAP, FAS: Pearson and Spearman of the "
        "totals inside a topic, mean over topics. Overall: mean of the four, as in the paper.",
        f"FAP and FAS leave out {len(disputed)} of {report.data['clusters']} topics on which people disagree: ICC(1,1) "
        "of the annotators' totals below 0. This is our reading of the paper's filter and not confirmed; so is that of "
        f"OPC, FAP and FAS. Topics with fewer than {FEWEST_REPORTS} reports, or a side that never varies, have none.",
        f"A total is {_total(verdicts, in_views)}; people's is the mean over annotators. In the paper a report that "
        "fails disappears; here it is left out of that judge's row only, and its n says so.",
        f"{AMONG.capitalize()}: pairs of systems that two annotators put in the same order, all pairs of annotators "
        "pooled; a judge's row has their mean as reference, so this is no ceiling.",
        f"n counts pairs of systems, clusters are the {clusters_word(report)}. Intervals and counts are ours.",
    ]


def _of_a_report(cost: Estimate | None, verdicts: pd.DataFrame, judge: str, reference: str) -> Estimate | None:
    """What it costs to judge one compared report: every order of its view, and the half of a call that is on the
    reference beside it."""
    own = verdicts[verdicts["rater_id"] == judge]
    passes = int(own.groupby(["item_id", "criterion", "run"], dropna=False).size().max()) if "run" in own else 1
    times = passes * (2 if reference else 1)
    if cost is None or times < 2:
        return cost
    value, low, high = (times * one for one in (cost.value, cost.low, cost.high))
    notes = [f"{passes} orders of each view"] * (passes > 1) + ["with the reference beside it"] * bool(reference)
    return replace(cost, value=value, low=low, high=high, note="; ".join([cost.note, *notes]))


def _total(verdicts: pd.DataFrame, reference: str) -> str:
    if "weight" not in verdicts and "beside" not in verdicts:
        return "the mean of the criteria asked of a report, here without the paper's weights for each topic"
    mean = "mean of the criteria asked of a report" + (" by the topic's weights" if "weight" in verdicts else "")
    if "beside" not in verdicts:
        return f"the {mean}"
    left_out = f", and {reference}, which stands in every view, is no system compared" if reference else ""
    return f"t / (t + r) of the {mean}, t, and of the report rated in the same view, r, as in the paper{left_out}"
