"""The table `comparisons`: judges two by two on the labels that both answered."""

from __future__ import annotations

import math

from calibration.results import CalibrationReport, Estimate
from exports.cells import Cell, Probability
from exports.tables import Column, Table
from exports.words.notes import label_agreement, methods, origin, remarks

OUTCOMES = {"better": "agrees more", "worse": "agrees less", "cannot_tell": "cannot tell"}


def comparisons_table(report: CalibrationReport) -> Table | None:
    """One row for every two judges; None where there are fewer than two."""
    found = {(one.rater, one.reference): one for one in report.estimates if one.statistic == "agreement_difference"}
    pairs = [one for one in report.data.get("judge_pairs", ()) if (one["judge"], one["other"]) in found]
    if not pairs:
        return None
    columns = (
        Column("judge", "Judge"),
        Column("other", "Other judge"),
        Column("agreement_difference", "Agrees more by", "diff"),
        Column("p_holm", "p (Holm)", "p"),
        Column("outcome", "The judge"),
        Column("shared", "Labels shared", "share"),
        Column("n", "n"),
        Column("clusters", "Clusters", "C"),
    )
    rows: list[tuple[Cell, ...]] = []
    for one in pairs:
        estimate = found[one["judge"], one["other"]]
        p = None if math.isnan(one["p_holm"]) else Probability(one["p_holm"])
        outcome = OUTCOMES[one["outcome"]]
        rows.append((one["judge"], one["other"], estimate, p, outcome, one["shared"], estimate.n, estimate.clusters))
    used = [cell for row in rows for cell in row if isinstance(cell, Estimate)]
    holm = f", by Holm over {len(pairs)} pairs" if len(pairs) > 1 else ""
    notes = (
        "Agrees more by: agreement of the judge minus that of the other, on the annotators' labels that both were "
        "asked; an item without a usable answer counts as disagreement.",
        f"p: two-sided, of no difference{holm}. cannot tell: no difference was shown, and neither was its absence.",
        label_agreement(report),
        *methods(used, report),
        *remarks([column.title for column in columns], rows, names=2),
        origin(report),
    )
    return Table("comparisons", "Judges two by two", columns, tuple(rows), notes)
