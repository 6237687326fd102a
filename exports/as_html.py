"""A table as an HTML fragment: text escaped, intervals in a span of their own, no style and no script."""

from __future__ import annotations

from html import escape

from exports.cells import Cell, shown
from exports.tables import Table


def as_html(table: Table) -> str:
    """`<table class="c-table">` and its notes; the page brings the style."""
    head = "".join(f'<th scope="col">{escape(column.title)}</th>' for column in table.columns)
    body = "".join(f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in table.rows)
    notes = "".join(f"<li>{escape(note)}</li>" for note in table.notes)
    grid = f'<table class="c-table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    scrolls = f'tabindex="0" role="region" aria-label="{escape(table.title)}"'  # sideways, so by keyboard as well
    return f'<div class="c-scroll" {scrolls}>{grid}</div><ul class="c-notes">{notes}</ul>'


def _cell(cell: Cell) -> str:
    value, interval = shown(cell)
    low_high = f' <span class="ci">{escape(interval)}</span>' if interval else ""
    return f"<td>{escape(value)}{low_high}</td>"
