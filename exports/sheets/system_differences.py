"""The table `system_differences`: two systems topic by topic, by people and by each judge, where reports are rated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from calibration.errors import CalibrationError
from calibration.results import CalibrationReport, Estimate
from calibration.systems.system_differences import PEOPLE, SystemDifference, system_differences
from exports.cells import Cell, Probability
from exports.tables import Column, Table
from exports.words.notes import methods, origin, remarks

MOST_SYSTEMS = 6  # fifteen pairs for each rater; of more, those asked for by name
ANNOTATORS = "annotators"
COLUMNS = (
    Column("rater", "By"),
    Column("criterion", "Criterion"),
    Column("system", "System"),
    Column("other", "Other system", "other"),
    Column("difference", "Scores higher by", "diff"),
    Column("p_wilcoxon", "p (Wilcoxon, Holm)", "p"),
    Column("spearman", "ρ over topics", "ρ"),
    Column("n", "Topics", "n"),
)


def system_differences_table(verdicts: pd.DataFrame, report: CalibrationReport) -> Table | None:
    """Every two systems by everybody; None unless reports are rated, or for fewer than two systems or more than six."""
    rated = set(report.data["criteria"].values()) == {"rating"}
    if not rated or not 1 < len([name for name in report.data["systems"] if name]) <= MOST_SYSTEMS:
        return None
    try:
        return differences_table(system_differences(verdicts, report.settings), report)
    except CalibrationError as error:
        if error.code == "mixed_label_types":  # criteria on several scales have no total
            return None
        raise


def differences_table(found: Sequence[SystemDifference], report: CalibrationReport) -> Table | None:
    """One row for each; None for none. The column of criteria stands there only where there are several."""
    if not found:
        return None
    rows: list[tuple[Cell, ...]] = [
        (
            ANNOTATORS if one.rater == PEOPLE else one.rater, one.criterion, one.system, one.other, one.difference,
            Probability(one.p_holm), one.spearman, one.difference.n,
        )
        for one in found
    ]  # fmt: skip
    columns = COLUMNS
    if len({one.criterion for one in found}) == 1:
        columns, rows = _without(columns, 1), [_without(row, 1) for row in rows]
    used = [cell for row in rows for cell in row if isinstance(cell, Estimate)]
    zeros = sum(one.zeros for one in found)
    notes = (
        "Scores higher by: mean over topics of the first system's score minus the other's, on the topics both have. "
        "The annotators' score of a report is the mean of theirs, and a score the mean of all criteria asked.",
        "p: two-sided signed-rank test over topics (Wilcoxon 1945), adjusted by Holm over the pairs of one rater and "
        f"criterion; topics without a difference are dropped ({zeros:,} in all rows). Intervals of two single systems "
        "that overlap, or do not, are no test of their difference.",
        "ρ: Spearman over topics of the two systems' scores, whether topics that are hard for one are hard for both.",
        *methods(used, report),
        *remarks([column.title for column in columns], rows, names=len(columns) - 5),
        origin(report),
    )
    return Table("system_differences", "Systems two by two, topic by topic", columns, tuple(rows), notes)


def _without(row: tuple[Any, ...], place: int) -> tuple[Any, ...]:
    return (*row[:place], *row[place + 1 :])
