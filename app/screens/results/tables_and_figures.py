"""Tables and figures of `exports` on a page: numbers lead to their labels, rows can be sorted, files are offered."""

import base64
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from urllib.parse import urlencode

import streamlit as st

from annotation.judges.defining.panel import DERIVED
from app.screens.report_page import section
from calibration.choosing.choice import Choice
from calibration.confidence.confidence import AT
from calibration.results import CalibrationReport, Estimate
from calibration.systems.aggregates import AGGREGATE
from calibration.table.verdicts import BOTH_ORDERS, ONE_LABEL, SYSTEM_PAIR
from exports import cells, figures, forms, tables
from plain.wording import ENGLISH, speaking, spoken, worded


def table_html(table: tables.Table, report: CalibrationReport, chosen: str = "") -> str:
    """The table with its links, and how to read it folded below. `chosen`: the first cell of the row to mark."""
    notes = "".join(f"<li>{escape(worded(note))}</li>" for note in table.notes)
    heads = tuple(replace(column, title=worded(column.title)) for column in table.columns)
    bare = replace(table, title=worded(table.title), columns=heads, notes=())
    grid = forms.as_html(bare, partial(behind, report=report), chosen=chosen)
    fold = (
        f'<details class="c-fold"><summary>{worded("How to read this table")}</summary>'
        f'<ul class="c-notes">{notes}</ul></details>'
    )
    return grid + (fold if notes else "")


def sortable(table: tables.Table, report: CalibrationReport, key: str, chosen: str = "") -> None:
    """The table under a choice of column and direction; the order it came in at first.

    `key`: of its controls. `chosen`: as of `table_html`.
    """
    section(f"<h2>{escape(worded(table.title))}</h2>")
    places, by = range(len(table.columns)), None
    if len(table.rows) > 1:
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            by = st.selectbox(
                worded("Sort by"), places, index=None, format_func=partial(_title, table), key=f"{key}_by", width=280,
                placeholder=worded("As listed"),
            )  # fmt: skip
            falling = st.toggle(worded("Largest first"), key=f"{key}_falling", disabled=by is None)
    section(table_html(table if by is None else in_order(table, by, falling=falling), report, chosen))


def _title(table: tables.Table, place: int) -> str:
    """Of a column; one that shares its title is of what is before it."""
    titles = [worded(column.title) for column in table.columns]
    return titles[place] if titles.count(titles[place]) == 1 else f"{titles[place]}: {titles[place - 1]}"


def in_columns(table: tables.Table, first: Sequence[str], last: Sequence[str]) -> tables.Table:
    """The columns with these keys first and last, in that order; the others between them as they were."""
    rank = {key: place for place, key in enumerate(first, -len(first))} | {key: n for n, key in enumerate(last, 1)}
    places = sorted(range(len(table.columns)), key=lambda place: rank.get(table.columns[place].key, 0))
    rows = tuple(tuple(row[place] for place in places) for row in table.rows)
    return replace(table, columns=tuple(table.columns[place] for place in places), rows=rows)


def by_merit(table: tables.Table, choice: Choice | None) -> tables.Table:
    """Rows from the chosen candidate, or the one that comes closest, by standing and agreement down to the last.

    As it is without a choice; a row whose first cell is no candidate stays behind.
    """
    if choice is None:
        return table
    first = choice.foremost.judge if choice.foremost else ""
    rank = {
        one.judge: (one.judge != first, STANDINGS.index(one.standing), -one.agreement.value)
        for one in choice.candidates
        if not math.isnan(one.agreement.value)
    }
    last = (True, len(STANDINGS), 0.0)
    return replace(table, rows=tuple(sorted(table.rows, key=lambda row: rank.get(str(row[0]), last))))


def in_order(table: tables.Table, column: int, *, falling: bool) -> tables.Table:
    """Rows by the cells of one column; those without a value stay last, equal ones as they were."""
    known = [row for row in table.rows if _rank(row[column]) is not None]
    unknown = tuple(row for row in table.rows if _rank(row[column]) is None)
    # numbers before words, where a column holds both
    by_value = sorted(known, key=lambda row: (isinstance(_rank(row[column]), str), _rank(row[column])), reverse=falling)
    return replace(table, rows=(*by_value, *unknown))


def _rank(cell: cells.Cell) -> float | str | None:
    if isinstance(cell, str):
        return cell.casefold() or None
    value = cell.value if isinstance(cell, Estimate) else cell
    return None if value is None or math.isnan(value) else float(value)


STANDINGS = ("adequate", "open", "ruled_out")  # of a candidate, the best first
OF_NO_LABEL = ("cost_per", "seconds_per")
OF_SOME_ITEMS = "decided_"  # those a judge is sure of, which that page does not tell from others


def labels_address(**filters: str) -> str:
    """Relative to any page of the app. `filters`: as of that page; "" and "all" filter nothing."""
    asked = {name: value for name, value in filters.items() if value not in ("", "all")}
    return f"disagreements?{urlencode(asked)}" if asked else "disagreements"


def behind(number: Estimate, report: CalibrationReport) -> str:
    """Where what a judge and the annotators answered can be read; "" for a number that is of no judge.

    Also "" where that page would show other labels than those the number is made of: for a verdict derived from
    several answers, for two judges beside each other, for a pair of systems, for one level of confidence or one label;
    and for money and time, which no label shows.
    """
    raters = number.rater, number.reference
    found = [name for name in raters if name in report.labels.judges]
    derived = any(name.endswith((BOTH_ORDERS, DERIVED)) for name in raters)
    category = number.category
    pair = category.startswith(SYSTEM_PAIR) and category.removeprefix(SYSTEM_PAIR) not in (report.labels.systems or ())
    if (
        len(found) != 1
        or derived
        or pair
        or category.startswith((AT, ONE_LABEL))
        or number.statistic.startswith((*OF_NO_LABEL, OF_SOME_ITEMS))
    ):
        return ""
    systems = category.removeprefix(SYSTEM_PAIR) if category.startswith(SYSTEM_PAIR) else ""
    return labels_address(
        judge=found[0],
        criterion="" if number.statistic.startswith(AGGREGATE) else number.criterion,  # theirs is a measure's name
        category="" if systems else category,
        system=systems,
    )


LARGER = 1.25  # print is 8 pt, a screen is read at 13 px
SMALLEST = 0.83  # of that width: below 11 px nothing can be read, and the figure scrolls
Draw = Callable[[], figures.Figure | None]
MIME = {"pdf": "application/pdf", "svg": "image/svg+xml"}


def plot(draw: Draw, key: str, shows: str | Callable[[figures.Figure], str]) -> None:
    """Nothing where `draw` draws no figure. `key`: of its buttons; `shows`: as of `plot_html`, or made from it."""
    figure = draw()
    if figure is None:
        return
    said = shows if isinstance(shows, str) else shows(figure)
    st.html(f'<div class="c-page c-room">{plot_html(figure, said)}</div>')
    plot_files(figure, draw, key)


def plot_files(figure: figures.Figure, draw: Draw, key: str) -> None:
    """Offer the figure as files, in English: drawn anew where the page speaks otherwise. `key`: of the buttons."""
    in_english = (lambda: figure) if spoken() == ENGLISH else draw
    with st.container(horizontal=True, gap="medium", key=f"files_of_{key}"):
        for form, mime in MIME.items():
            st.download_button(
                worded("Download {form}", form=form.upper()), partial(_file, in_english, form),
                f"{figure.name}.{form}", mime, key=f"{key}_{form}", type="tertiary", on_click="ignore",
            )  # fmt: skip


@speaking()
def _file(draw: Draw, form: str) -> bytes:
    figure = draw()
    assert figure is not None, "the page has shown it"
    return figures.as_bytes(figure, form)


def plot_html(figure: figures.Figure | None, shows: str) -> str:
    """As a picture that asks for nothing from outside; "" where there is none.

    `shows`: one sentence with this study's numbers, above it, and its text for who cannot see it. How it is drawn
    is below.
    """
    if figure is None:
        return ""
    picture = base64.b64encode(figures.as_bytes(figure, "svg")).decode()
    width = round(float(figure.canvas.get_figwidth()) * 96 * LARGER)
    caption = escape(figures.told(figure))
    drawn = (
        f'<img src="data:image/svg+xml;base64,{picture}" alt="{escape(shows)}" '
        f'style="width: {width}px; min-width: {round(SMALLEST * width)}px">'
    )
    name = escape(worded(figure.name.replace("_", " ")))  # a landmark is told from the next by its name
    label = worded("Figure: {name}", name=name)
    scrolls = f'<div class="c-scroll" tabindex="0" role="region" aria-label="{label}">{drawn}</div>'
    return f'<figure class="c-plot"><p>{escape(shows)}</p>{scrolls}<figcaption>{caption}</figcaption></figure>'
