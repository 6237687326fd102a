"""A table as Markdown: one pipe table, the notes as a list below."""

from __future__ import annotations

import re

from exports.cells import Cell, shown
from exports.tables import Table

_BLOCK = re.compile(r"\s*(?:#{1,6}(?:\s|$)|[+-](?:\s|$)|\d+[.)](?:\s|$)|(?:-\s*){3,}$|[=-]+\s*$)")  # would open a block


def as_markdown(table: Table) -> str:
    """The whole table with title and notes; text is escaped so that it stays text."""
    numeric = [not isinstance(row, str) for row in (table.rows[0] if table.rows else [""] * len(table.columns))]
    lines = [
        f"**{escaped(table.title)}**",
        "",
        _row([escaped(column.title) for column in table.columns]),
        _row(["---:" if right else ":---" for right in numeric]),
        *(_row([_cell(cell) for cell in row]) for row in table.rows),
        "",
        *(f"- {escaped(note)}" for note in table.notes),
    ]
    return "\n".join(lines) + "\n"


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    value, interval = shown(cell)
    return " ".join(filter(None, [escaped(value), escaped(interval)]))


def escaped(text: str) -> str:
    """Text that stays text in Markdown, on one line, wherever that line stands."""
    marks = "\\`*_|<>" + "[]" * _links(text) + "~" * (text.count("~") > 1) + "$" * (text.count("$") > 1)
    text = re.sub(r"&(?=#?\w+;)", r"\&", "".join(f"\\{mark}" if mark in marks else mark for mark in text))
    text = re.sub(r"[\r\n\t]", " ", text).strip()  # blanks in front would make code of a note
    return re.sub(r"^(\s*)(?:(?=[#+=-])|(\d+)(?=[.)]))", r"\1\2\\", text) if _BLOCK.match(text) else text


def _links(text: str) -> bool:
    return any(sign in text for sign in ("](", "][", "[^")) or (text.lstrip().startswith("[") and "]:" in text)
