"""A table as an HTML fragment: text escaped, intervals in a span of their own, no style and no script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from calibration.results import Estimate
from exports.cells import Cell, shown
from exports.tables import Table

LONG, WRAPS = 60, 20  # characters


def as_html(table: Table, address: Callable[[Estimate], str] | None = None) -> str:
    """`<table class="c-table">` and its notes; the page brings the style.

    `address`: where a number's value leads, "" for nowhere.
    """
    kinds = [_kind([row[place] for row in table.rows]) for place in range(len(table.columns))]
    head = "".join(
        f'<th scope="col"{kind}>{escape(column.title)}</th>' for column, kind in zip(table.columns, kinds, strict=True)
    )
    rows = (zip(row, kinds, strict=True) for row in table.rows)
    body = "".join(f"<tr>{''.join(_cell(cell, kind, address) for cell, kind in row)}</tr>" for row in rows)
    notes = "".join(f"<li>{escape(note)}</li>" for note in table.notes)
    listed = f'<ul class="c-notes">{notes}</ul>' if notes else ""
    grid = f'<table class="c-table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    scrolls = f'tabindex="0" role="region" aria-label="{escape(table.title)}"'  # sideways, so by keyboard as well
    return f'<div class="c-scroll" {scrolls}>{grid}</div>{listed}'


def _kind(cells: Sequence[Cell]) -> str:
    """Columns of words are set as text, long ones with room to wrap."""
    words = [cell for cell in cells if isinstance(cell, str)]
    if not words or any(cell is not None and not isinstance(cell, str) for cell in cells):
        return ""
    longest = max(map(len, words))
    return f' class="c-said{" c-words" if longest > LONG else " c-wraps" if longest > WRAPS else ""}"'


def _cell(cell: Cell, kind: str, address: Callable[[Estimate], str] | None) -> str:
    value, interval = map(escape, shown(cell))
    value = value.replace("[both orders]", "[both\N{NO-BREAK SPACE}orders]")
    low_high = f' <span class="ci">{interval}</span>' if interval else ""
    leads = escape(address(cell)) if address and isinstance(cell, Estimate) else ""
    linked = f'<a class="c-to" href="{leads}">{value}</a>' if leads else value
    return f"<td{kind}>{linked}{low_high}</td>"
