"""Tables of `exports` on a page: numbers lead to their labels, notes are folded, rows stand in the order one likes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from html import escape

import streamlit as st

from app.screens.links import behind
from app.screens.report_page import section
from calibration.results import CalibrationReport, Estimate
from exports.as_html import as_html
from exports.cells import Cell
from exports.tables import Table


def table_html(table: Table, report: CalibrationReport) -> str:
    """The table with its links, and how to read it folded below."""
    notes = "".join(f"<li>{escape(note)}</li>" for note in table.notes)
    grid = as_html(replace(table, notes=()), partial(behind, report=report))
    fold = (
        f'<details class="c-fold"><summary>How to read this table</summary><ul class="c-notes">{notes}</ul></details>'
    )
    return grid + (fold if notes else "")


def sortable(table: Table, report: CalibrationReport, key: str) -> None:
    """The table under a choice of column and direction; the order it came in at first. `key`: of its controls."""
    section(f"<h2>{escape(table.title)}</h2>")
    places, by = range(len(table.columns)), None
    if len(table.rows) > 1:
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            by = st.selectbox(
                "Sort by", places, index=None, format_func=partial(_title, table), placeholder="As listed",
                key=f"{key}_by", width=280,
            )  # fmt: skip
            falling = st.toggle("Largest first", key=f"{key}_falling", disabled=by is None)
    section(table_html(table if by is None else in_order(table, by, falling=falling), report))


def _title(table: Table, place: int) -> str:
    """Of a column; one that shares its title is of what stands before it."""
    titles = [column.title for column in table.columns]
    return titles[place] if titles.count(titles[place]) == 1 else f"{titles[place]}: {titles[place - 1]}"


def in_columns(table: Table, first: Sequence[str], last: Sequence[str]) -> Table:
    """The columns with these keys first and last, in that order; the others between them as they were."""
    rank = {key: place for place, key in enumerate(first, -len(first))} | {key: n for n, key in enumerate(last, 1)}
    places = sorted(range(len(table.columns)), key=lambda place: rank.get(table.columns[place].key, 0))
    rows = tuple(tuple(row[place] for place in places) for row in table.rows)
    return replace(table, columns=tuple(table.columns[place] for place in places), rows=rows)


def in_order(table: Table, column: int, *, falling: bool) -> Table:
    """Rows by the cells of one column; those without a value stay last, equal ones as they were."""
    known = [row for row in table.rows if _rank(row[column]) is not None]
    unknown = tuple(row for row in table.rows if _rank(row[column]) is None)
    # numbers before words, where a column holds both
    by_value = sorted(known, key=lambda row: (isinstance(_rank(row[column]), str), _rank(row[column])), reverse=falling)
    return replace(table, rows=(*by_value, *unknown))


def _rank(cell: Cell) -> float | str | None:
    if isinstance(cell, str):
        return cell.casefold() or None
    value = cell.value if isinstance(cell, Estimate) else cell
    return None if value is None or math.isnan(value) else float(value)
