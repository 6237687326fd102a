"""What is in which float: rows and notes of a table in the order in which a reader meets them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from exports.latex.tex_layout import SMALL, TIGHT, WIDE, Panel, width

PAGE = 49.0  # lines of \footnotesize, of \textheight of article at 11 points, the least
RULES, BETWEEN, CAPTION_SKIP = 1.6, 0.3, 2.0  # lines
CAPTION, CAPTION_LINE = 1.26, 1.35  # of \normalsize to \footnotesize: letters, lines
SHRUNK = 0.9  # at most, of a TIGHT panel where pages are this short
LENT = 4  # rows, at most, that go on to the page of the notes
NOTE_LINE = 0.87  # of \scriptsize to \footnotesize


@dataclass
class Part:
    """A panel's rows, or some of their lines, within one float: `(row, first line, end)`."""

    panel: Panel
    pieces: list[tuple[int, int, int]] = field(default_factory=list)

    def repeats(self, at: int) -> bool:
        """Whether the row of a piece begins with the name of the row above, and the row itself with another."""
        if at == 0 or [shape.form for shape in self.panel.shapes[:2]] != ["l", "l"]:
            return False
        names, (row, start, _), above = self.panel.shapes[0].texts, self.pieces[at], self.pieces[at - 1][0]
        return start == 0 and row != above and names[row] == names[above]


@dataclass
class Page:
    """One float."""

    parts: list[Part] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left: float = 0.0  # lines

    @property
    def is_empty(self) -> bool:
        return not self.parts and not self.notes


def pages(title: str, panels: Sequence[Panel], notes: Sequence[str]) -> list[Page]:
    """Filled one after the other; never one that is higher than a page."""
    room = min(panels[0].room, WIDE)
    whole = PAGE - CAPTION_SKIP - CAPTION_LINE * _lines(f"Table 99: {title} (continued)", room / CAPTION)
    pages = [Page(left=whole)]
    for panel in panels:
        _place(pages, panel, whole)
    heights = sum(NOTE_LINE * width(note + "   ") * SMALL / room for note in notes) + NOTE_LINE
    if heights > pages[-1].left:
        _lend(pages, heights, whole)
    for note in notes:
        for piece in _note_pieces(note, room, whole):
            height = NOTE_LINE * width(piece + "   ") * SMALL / room
            if height + NOTE_LINE > pages[-1].left:  # a last line that is not full
                pages.append(Page(left=whole))
            pages[-1].notes.append(piece)
            pages[-1].left -= height
    return pages


def _place(pages: list[Page], panel: Panel, whole: float) -> None:
    scale = SHRUNK if panel.room == TIGHT else 1.0
    head = scale * (panel.head_lines + RULES)
    part: Part | None = None
    for row, start, end in _row_pieces(panel, whole - head - 1):
        needed = scale * (end - start + BETWEEN)
        if pages[-1].left < needed + (0 if part else head) and not pages[-1].is_empty:
            pages.append(Page(left=whole))
            part = None
        if part is None:
            part = Part(panel)
            pages[-1].parts.append(part)
            pages[-1].left -= head
        part.pieces.append((row, start, end))
        pages[-1].left -= needed
    if part is None:
        pages[-1].parts.append(Part(panel))
        pages[-1].left -= head


def _lend(pages: list[Page], heights: float, whole: float) -> None:
    """A page for the notes that begins with the last rows of the one before: notes are never without a row."""
    full = pages[-1].parts[-1]
    alone = len(pages[-1].parts) == 1
    lent = full.pieces[-min(LENT, len(full.pieces) // 2) :] if alone and len(full.pieces) > 1 else []
    lent = lent if alone else list(full.pieces)  # the last of several panels as a whole
    scale = SHRUNK if full.panel.room == TIGHT else 1.0
    rows = scale * (full.panel.head_lines + RULES + sum(end - start + BETWEEN for _, start, end in lent))
    if lent and rows + heights <= whole:
        del full.pieces[-len(lent) :]
        pages[-1].parts = [part for part in pages[-1].parts if part.pieces]
        pages.append(Page([Part(full.panel, lent)], left=whole - rows))


def _row_pieces(panel: Panel, most: float) -> Iterator[tuple[int, int, int]]:
    """Each row whole, one that is higher than a page in pieces."""
    for row in range(len(panel.shapes[0].cells)):
        lines = panel.row_lines(row)
        for start in range(0, lines, int(most)):
            yield row, start, min(lines, start + int(most))


def _note_pieces(note: str, room: float, whole: float) -> Iterator[str]:
    """A note whole, one that is longer than half a page at ends of words."""
    if _lines(note, room / SMALL) * NOTE_LINE <= whole / 2:
        yield note
        return
    piece = ""
    for word in note.split():
        if _lines(f"{piece} {word}", room / SMALL) * NOTE_LINE > whole / 2 and piece:
            yield piece
            piece = ""
        piece = f"{piece} {word}".strip()
    yield piece


def _lines(text: str, room: float) -> int:
    return math.ceil(width(text) / room)
