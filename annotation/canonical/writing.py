"""Blocks back to Markdown: one layout for lists, tables and quotations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from annotation.canonical.blocks import Block
from annotation.canonical.shelf import Shelf


def tidy_table(table: Block, counts: Counter[str]) -> None:
    """Pad ragged rows, drop empty rows and columns; in place. An empty header above full rows stays."""
    rows = table.rows
    width = max(map(len, rows), default=0)
    counts["table_cells_padded"] += sum(len(row) < width for row in rows)
    rows = [row + [""] * (width - len(row)) for row in rows]
    kept = rows[:1] + [row for row in rows[1:] if any(row)]
    counts["table_rows_dropped"] += len(rows) - len(kept)
    columns = [n for n in range(width) if any(row[n] for row in kept)]
    counts["table_columns_dropped"] += width - len(columns)
    aligned = [_alignment(table.aligned[n]) if n < len(table.aligned) else "---" for n in columns]
    counts["table_delimiters"] += not table.aligned
    table.rows = [[row[n] for n in columns] for row in kept] if columns else []
    table.aligned = aligned


def _alignment(delimiter: str) -> str:
    return ":" * delimiter.startswith(":") + "---" + ":" * (delimiter.endswith(":") and len(delimiter) > 1)


def write_blocks(blocks: Iterable[Block], shelf: Shelf) -> str:
    """`blocks` as Markdown, one empty line between them and none between the items of a list; no final newline."""
    return "\n".join(_lines(blocks, shelf))


def _lines(blocks: Iterable[Block], shelf: Shelf) -> list[str]:
    lines: list[str] = []
    lists = _Lists()
    for block in blocks:
        if block.kind == "item":
            if not block.text:
                continue
            apart, line = lists.item(block)
            lines += [""] * bool(lines and apart)
            lines.append(line)
            continue
        content = _content(block, shelf)
        if content:
            indent = lists.indent(block.depth)
            lines += [""] * bool(lines)
            lines += [indent + line if line else "" for line in content]
    return lines


def _content(block: Block, shelf: Shelf) -> Sequence[str]:
    if block.kind == "heading":
        return ["#" * block.level + " " + block.text]
    if block.kind == "table":
        return [_row(row) for row in (block.rows[0], block.aligned, *block.rows[1:])] if block.rows else []
    if block.kind == "quote":
        return [f"> {line}" if line else ">" for line in _lines(block.children, shelf)]
    if block.kind == "code":
        return _code(block, shelf)
    return [block.text] if block.text else []


def _code(block: Block, shelf: Shelf) -> list[str]:
    """Fenced code, moved to the indent of its place; everything else about it is left alone."""
    lines = (shelf.block(block.text) or "").split("\n")
    blanks = len(lines[0]) - len(lines[0].lstrip(" \t"))
    if lines[0].lstrip()[:1] not in ("`", "~"):
        return lines
    return [line[min(blanks, len(line) - len(line.lstrip(" \t"))) :] for line in lines]


def _row(row: Sequence[str]) -> str:
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in row)


class _Lists:
    """The list items that are open while blocks are written: how wide their markers are, how far they counted."""

    def __init__(self) -> None:
        self.widths: list[int] = []
        self.numbers: list[int | None] = []
        self.broken = True  # something other than an item was written last

    def item(self, block: Block) -> tuple[bool, str]:
        """Whether an empty line goes before it, and the item's line."""
        depth = min(block.depth, len(self.widths))
        opens = depth == len(self.widths)
        before = None if opens else self.numbers[depth]
        changes = not opens and (before is None) != (block.number is None)
        number = block.number
        if number is not None and not opens and before is not None:
            number = before + 1
        # a list that does not begin with 1 would be read as the text of the item above it
        apart = (self.broken and not self.widths) or changes or (opens and depth > 0 and number not in (None, 1))
        sign = "- " if number is None else f"{number}. "
        line = " " * sum(self.widths[:depth]) + sign + block.text
        self.widths = [*self.widths[:depth], len(sign)]
        self.numbers = [*self.numbers[:depth], number]
        self.broken = False
        return apart, line

    def indent(self, depth: int) -> str:
        """The indent of a block inside `depth` items; deeper items are closed."""
        depth = min(depth, len(self.widths))
        self.widths, self.numbers = self.widths[:depth], self.numbers[:depth]
        self.broken = True
        return " " * sum(self.widths)
