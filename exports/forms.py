"""A table as Markdown, as CSV and as an HTML fragment.

Markdown is one pipe table with its notes as a list below. CSV has full precision, one column for each part of an
estimate, and no cell that a spreadsheet would run. HTML is escaped text without style or script.
"""

import csv
import io
import math
import re
from collections.abc import Callable, Sequence
from html import escape

import pandas as pd

from calibration.results import Estimate
from exports.cells import Cell, shown
from exports.tables import Table
from plain.spreadsheets import guarded
from plain.wording import judge_named

_BLOCK = re.compile(r"\s*(?:#{1,6}(?:\s|$)|[+-](?:\s|$)|\d+[.)](?:\s|$)|(?:-\s*){3,}$|[=-]+\s*$)")  # would open a block


def as_markdown(table: Table) -> str:
    """The whole table with title and notes; text is escaped so that it stays text."""
    numeric = [not isinstance(row, str) for row in (table.rows[0] if table.rows else [""] * len(table.columns))]
    lines = [
        f"**{escaped(table.title)}**",
        "",
        _markdown_row([escaped(column.title) for column in table.columns]),
        _markdown_row(["---:" if right else ":---" for right in numeric]),
        *(_markdown_row([_markdown_cell(cell) for cell in row]) for row in table.rows),
        "",
        *(f"- {escaped(note)}" for note in table.notes),
    ]
    return "\n".join(lines) + "\n"


def _markdown_row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_cell(cell: Cell) -> str:
    value, interval = shown(cell)
    return " ".join(filter(None, [escaped(value), escaped(interval)]))


def escaped(text: str) -> str:
    """Text that stays text in Markdown, on one line, wherever that line is."""
    marks = "\\`*_|<>" + "[]" * _links(text) + "~" * (text.count("~") > 1) + "$" * (text.count("$") > 1)
    text = re.sub(r"&(?=#?\w+;)", r"\&", "".join(f"\\{mark}" if mark in marks else mark for mark in text))
    text = re.sub(r"[\r\n\t]", " ", text).strip()  # blanks in front would make code of a note
    return re.sub(r"^(\s*)(?:(?=[#+=-])|(\d+)(?=[.)]))", r"\1\2\\", text) if _BLOCK.match(text) else text


def _links(text: str) -> bool:
    return any(sign in text for sign in ("](", "][", "[^")) or (text.lstrip().startswith("[") and "]:" in text)


PARTS = ("low", "high", "method", "note")
Part = str | int | float | None


def as_csv(table: Table) -> str:
    """Header and rows, `\\n` at line ends. An undefined number is an empty cell; the column `<key>_note` says why."""
    header, rows = in_parts(table)
    lines: list[list[Part]] = [[*header], *rows]
    return "".join(_csv_line([_csv_text(cell) for cell in line]) for line in lines)


def as_frame(table: Table) -> pd.DataFrame:
    """The columns and rows of `as_csv`, unrounded; an undefined number is nan, and what does not apply None."""
    header, rows = in_parts(table)
    return pd.DataFrame(rows, columns=pd.Index(header))


def in_parts(table: Table) -> tuple[list[str], list[list[Part]]]:
    """Names and rows with a column for each part of an estimate: value, `_low`, `_high`, `_method`, `_note`."""
    wide = [any(isinstance(row[index], Estimate) for row in table.rows) for index in range(len(table.columns))]
    header: list[str] = []
    for column, estimates in zip(table.columns, wide, strict=True):
        header += [column.key, *(f"{column.key}_{part}" for part in PARTS if estimates)]
    rows = [
        [part for cell, estimates in zip(row, wide, strict=True) for part in _parts(cell, estimates)]
        for row in table.rows
    ]
    return header, rows


def _csv_line(cells: list[str]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerow(cells)  # so that a lone \r within a cell is quoted
    return out.getvalue().removesuffix("\r\n") + "\n"


def _parts(cell: Cell, estimates: bool) -> list[Part]:
    """One cell, or five where its column holds estimates."""
    if isinstance(cell, Estimate):
        return [cell.value, *(getattr(cell, part) for part in PARTS)]
    return [cell, *[None] * (len(PARTS) * estimates)]


def _csv_text(cell: Part) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, str):
        return guarded(cell)
    return repr(cell)


LONG, WRAPS = 60, 20  # characters
MARKED = ' aria-current="true"'  # a row


def as_html(
    table: Table, address: Callable[[Estimate], str] | None = None, *, folded: bool = False, chosen: str = ""
) -> str:
    """`<table class="c-table">` and its notes; the page brings the style.

    `address`: where a number's value leads, "" for nowhere. `folded`: the notes, until somebody asks for them.
    `chosen`: the first cell of the row that is marked.
    """
    kinds = [_html_class([row[place] for row in table.rows]) for place in range(len(table.columns))]
    head = "".join(
        f'<th scope="col"{kind}>{escape(column.title)}</th>' for column, kind in zip(table.columns, kinds, strict=True)
    )
    body = "".join(
        f"<tr{MARKED if chosen and row[0] == chosen else ''}>"
        f"{''.join(_html_cell(cell, kind, address) for cell, kind in zip(row, kinds, strict=True))}</tr>"
        for row in table.rows
    )
    notes = "".join(f"<li>{escape(note)}</li>" for note in table.notes)
    listed = f'<ul class="c-notes">{notes}</ul>' if notes else ""
    if notes and folded:
        listed = f"<details><summary>Notes</summary>{listed}</details>"
    grid = f'<table class="c-table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    scrolls = f'tabindex="0" role="region" aria-label="{escape(table.title)}"'  # sideways, so by keyboard as well
    return f'<div class="c-scroll" {scrolls}>{grid}</div>{listed}'


def _html_class(cells: Sequence[Cell]) -> str:
    """Columns of words are set as text, long ones with room to wrap."""
    words = [cell for cell in cells if isinstance(cell, str)]
    if not words or any(cell is not None and not isinstance(cell, str) for cell in cells):
        return ""
    longest = max(map(len, words))
    return f' class="c-said{" c-words" if longest > LONG else " c-wraps" if longest > WRAPS else ""}"'


def _html_cell(cell: Cell, kind: str, address: Callable[[Estimate], str] | None) -> str:
    value, interval = map(escape, shown(cell))
    value = value.replace("[both orders]", judge_named("[both orders]").replace(" ", "\N{NO-BREAK SPACE}"))
    low_high = f' <span class="ci">{interval}</span>' if interval else ""
    leads = escape(address(cell)) if address and isinstance(cell, Estimate) else ""
    linked = f'<a class="c-to" href="{leads}">{value}</a>' if leads else value
    return f"<td{kind}>{linked}{low_high}</td>"
