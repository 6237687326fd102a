"""The card of one judge as a table: each question with its value, the limit fixed beforehand, and one word."""

from __future__ import annotations

from calibration.choosing.card import card_of
from calibration.results import CalibrationReport, Estimate
from exports.cells import Cell
from exports.tables import Column, Table
from exports.words.notes import label_agreement, methods, origin, remarks

COLUMNS = (
    Column("question", "Question"),
    Column("value", "Value"),
    Column("limit", "Limit"),
    Column("outcome", "Outcome"),
    Column("n", "n"),
    Column("clusters", "Clusters", "C"),
    Column("sentence", "In words"),
)


def card_table(report: CalibrationReport, judge: str) -> Table | None:
    """One row per question asked of `judge`; None where the report has no card of it."""
    rows: list[tuple[Cell, ...]] = [
        (one.question, one.estimate, one.limit, one.outcome, one.estimate.n, one.estimate.clusters, one.sentence)
        for one in card_of(report.card, judge)
    ]
    if not rows:
        return None
    used = [cell for row in rows for cell in row if isinstance(cell, Estimate)]
    notes = (
        "within: the whole interval keeps the limit; beyond: all of it is past the limit; cannot tell: neither, and "
        "more labels would say.",
        label_agreement(report),
        *methods(used, report),
        *remarks([column.title for column in COLUMNS], rows),
        origin(report),
    )
    return Table("card", f"The card of {judge}", COLUMNS, tuple(rows), notes)
