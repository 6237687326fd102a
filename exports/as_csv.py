"""A table as CSV: full precision, one column per part of an estimate, and no cell that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import math

from calibration.results import Estimate
from exports.cells import Cell
from exports.spreadsheets import guarded
from exports.tables import Table

PARTS = ("low", "high", "method", "note")


def as_csv(table: Table) -> str:
    """Header and rows, `\\n` at line ends. An undefined number is an empty cell; the column `<key>_note` says why."""
    lines: list[str] = []
    wide = [any(isinstance(row[index], Estimate) for row in table.rows) for index in range(len(table.columns))]
    header: list[str] = []
    for column, estimates in zip(table.columns, wide, strict=True):
        header += [column.key, *(f"{column.key}_{part}" for part in PARTS if estimates)]
    lines.append(_line([_text(key) for key in header]))
    for row in table.rows:
        cells: list[str] = []
        for cell, estimates in zip(row, wide, strict=True):
            cells += _parts(cell) if estimates else [_text(cell)]
        lines.append(_line(cells))
    return "".join(lines)


def _line(cells: list[str]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerow(cells)  # so that a lone \r within a cell is quoted
    return out.getvalue().removesuffix("\r\n") + "\n"


def _parts(cell: Cell) -> list[str]:
    if not isinstance(cell, Estimate):
        return [_text(cell)] + [""] * len(PARTS)
    return [_text(cell.value), *(_text(getattr(cell, part)) for part in PARTS)]


def _text(cell: Cell) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, str):
        return guarded(cell)
    return repr(cell)
