"""What the tables of the published studies share: rows of estimates, percent, and the sentences under each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from calibration.results import CalibrationReport, Estimate
from calibration.verdicts import BOTH_ORDERS
from exports.cells import Cell
from exports.errors import ExportError
from exports.tables import AMONG, Column
from exports.words.notes import methods, origin, remarks

PEOPLE_ROW = f"{AMONG} (ours)"
ELSEWHERE = "Published values rest on other reports, judges and people, and are not comparable with these."
BLANK_COST = "A blank cost is unknown, as of a local judge without a price; it is not 0."


def percent(one: Estimate | None) -> Estimate | None:
    """The same estimate in hundredths, with its interval."""
    return one and replace(one, value=100 * one.value, low=100 * one.low, high=100 * one.high)


def own_statistics(report: CalibrationReport) -> Mapping[tuple[str, str], Estimate]:
    """What is known of a rater alone, such as (judge, `cost_per_item`), pooled over criteria."""
    return {
        (one.rater, one.statistic): one
        for one in report.estimates
        if one.reference == "" and one.criterion == one.category == "all"
    }


def kept_columns(
    columns: Sequence[Column], rows: Sequence[tuple[Cell, ...]], optional: Sequence[str]
) -> tuple[tuple[Column, ...], tuple[tuple[Cell, ...], ...]]:
    """Without those optional columns that no row has anything for."""
    kept = [
        index
        for index, one in enumerate(columns)
        if one.key not in optional or any(row[index] is not None for row in rows)
    ]
    return tuple(columns[index] for index in kept), tuple(tuple(row[index] for index in kept) for row in rows)


def notes_below(
    report: CalibrationReport,
    columns: Sequence[Column],
    rows: Sequence[tuple[Cell, ...]],
    reading: Sequence[str],
    names: int = 1,
    bare: Sequence[str] = (),
) -> tuple[str, ...]:
    """`reading`, then what every preset says. `bare`: columns whose lack of an interval `reading` explains."""
    used = [cell for row in rows for cell in row if isinstance(cell, Estimate)]
    about = [index for index, one in enumerate(columns) if one.key not in bare]
    told = [tuple(row[index] for index in about) for row in rows]
    blank = any(one.key == "cost" for one in columns) and any(_blank(report, columns, row) for row in rows)
    return (
        *reading,
        *([BLANK_COST] if blank else []),
        ELSEWHERE,
        *methods(used, report),
        *remarks([columns[index].title for index in about], told, names),
        origin(report),
    )


def clusters_word(report: CalibrationReport) -> str:
    """What the clusters are that n lies in."""
    return "topics" if report.data["cluster"] == "topic" else "items"


def refuse_other_kinds(name: str, report: CalibrationReport, wanted: str, words: str) -> None:
    """Raises `wrong_task` where a criterion has labels of another kind. `wanted`: pairwise, rating or probe."""
    other = next((one for one, kind in report.data["criteria"].items() if kind != wanted), None)
    if other is not None:
        raise ExportError(
            "wrong_task",
            f"preset {name} prints {words}, and criterion '{other}' has labels of kind {report.data['criteria'][other]}"
            f"; use another preset, or give the rows of its {wanted} criteria only",
        )


def _blank(report: CalibrationReport, columns: Sequence[Column], row: Sequence[Cell]) -> bool:
    place = next(index for index, one in enumerate(columns) if one.key == "cost")
    return row[place] is None and str(row[0]).removesuffix(BOTH_ORDERS) in report.data["judges"]
