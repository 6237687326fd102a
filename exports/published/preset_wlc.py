"""The preset `wlc`: Wiki Live Challenge's Table 4, judges with their PAR and cost, and what it does not print."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import pandas as pd

from calibration.people.inter_human import label_agreement_of_people
from calibration.results import CalibrationReport, Estimate
from exports.cells import Cell
from exports.published.preset_parts import (
    PEOPLE_ROW,
    clusters_word,
    kept_columns,
    notes_below,
    own_statistics,
    percent,
    refuse_other_kinds,
)
from exports.sheets.criteria import Found, baseline
from exports.tables import PEOPLE, Column, Table

MISSING, BASELINE = "par_missing_as_wrong", "baseline"
CONSTANT = "The best constant answer is what a judge reaches that does not read; the best of several, so no interval."
COLUMNS = (
    Column("judge", "Judge"),
    Column("par", "PAR (%)", "PAR"),
    Column("cost", "Cost per article (USD)", "USD"),
    Column(MISSING, "PAR, unusable as wrong (%)", "PAR-"),
    Column("cohen_kappa_symmetrised", "κ, symmetrised", "κ-s"),
    Column(BASELINE, "Best constant answer (%)", "base"),
    Column("valid_share", "Valid answers", "valid"),
    Column("n", "n"),
    Column("clusters", "Clusters", "C"),
)


def wlc_table(verdicts: pd.DataFrame, report: CalibrationReport) -> Table:
    """One row per judge, in the order of the report, then the annotators. Raises `wrong_task` unless all are pairs."""
    refuse_other_kinds("wlc", report, "pairwise", "agreement of labels on pairs")
    pooled = [one for one in report.estimates if one.criterion == one.category == "all" and one.reference == PEOPLE]
    own = own_statistics(report)
    rows: list[tuple[Cell, ...]] = []
    for judge in dict.fromkeys(one.rater for one in pooled):
        found = {one.statistic: one for one in pooled if one.rater == judge}
        row = judge, found["percent_agreement"], own.get((judge, "cost_per_item")), own.get((judge, "valid_share"))
        rows.append(_row(*row, found))
    people = label_agreement_of_people(verdicts, replace(report.settings, ties="three_class"))
    among = {
        one.statistic: one
        for one in report.estimates
        if (one.rater, one.reference, one.criterion, one.category) == (PEOPLE, "others", "all", "all")
    }
    rows.append(_row(PEOPLE_ROW, people, None, None, among))
    if report.settings.ties != "three_class":  # a constant answer under another rule is no peer of PAR
        place = [one.key for one in COLUMNS].index(BASELINE)
        rows = [(*row[:place], None, *row[place + 1 :]) for row in rows]
    columns, cells = kept_columns(COLUMNS, rows, (MISSING, BASELINE))
    notes = notes_below(report, columns, cells, _reading(report, {one.key for one in columns}), bare=(BASELINE,))
    return Table("preset_wlc", "Judges in the form of Wiki Live Challenge, Table 4", columns, cells, notes)


def _reading(report: CalibrationReport, kept: Collection[str]) -> tuple[str, ...]:
    return (
        "PAR is label agreement, in percent: the share of all labels where judge = annotator, not "
        "of pairs of reports in the same order. Ties: a tie is a label like another.",
        "The paper prints neither intervals nor agreement of people, and does not say how its annotators' labels "
        "overlap; here every annotator's label counts. Its code turns an unreadable or missing answer into a tie, "
        "which is then wrong; here PAR leaves such answers out"
        + (", and a column of its own counts them as wrong." if MISSING in kept else "."),
        "Cost: mean of judging one article on all criteria once, every billed call; both orders cost both. All "
        "columns but PAR and cost, and the row of the annotators (all pairs of them, pooled), are ours.",
        *_not_applicable(report),
        f"n counts comparisons of two labels on the same article and criterion, clusters the {clusters_word(report)}."
        + (f" {CONSTANT}" if BASELINE in kept else ""),
    )


def _row(
    name: str, agreement: Estimate, cost: Estimate | None, valid: Estimate | None, found: Found
) -> tuple[Cell, ...]:
    return (
        name,
        percent(agreement),
        cost,
        percent(found.get("percent_agreement_missing_as_wrong")),
        found.get("cohen_kappa_symmetrised"),
        percent(baseline(found)),
        valid,
        agreement.n,
        agreement.clusters,
    )


def _not_applicable(report: CalibrationReport) -> list[str]:
    said = any("not_applicable" in labels for labels in report.data["marginals"].values())
    if not said or report.settings.not_applicable != "drop":
        return []
    return ["Rows where either side says not applicable, an answer that the paper does not offer, are dropped."]
