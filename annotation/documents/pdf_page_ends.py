"""A table that a page's end cuts: its rows on both pages as one, whether they are a table by themselves or too few."""

from collections.abc import Sequence
from itertools import takewhile

from annotation.documents.pdf_pieces import Line, Piece, Table
from annotation.documents.pdf_unruled import FEWEST_ROWS, across, begun, continued

Frame = tuple[Table, float]  # a row between rules that is alone on its page, and where it ends


def over_pages(
    before: Sequence[Piece], pieces: Sequence[Piece], frames_before: Sequence[Frame], frames: Sequence[Frame]
) -> tuple[list[Piece], bool, bool]:
    """The pieces of all pages, those of the next one behind them.

    And whether a table stayed two, and whether that two are one is a guess, by where their columns are.
    """
    whole, is_cut, is_guess = None, False, False
    above, rows_above = _at_end(before, frames_before)
    below, rows_below = _at_top(pieces, frames)
    if below and not above and (above := begun(_lines_at_end(before), below)):
        rows_above = len(above.rows)
    if above and below:
        whole, is_guess = continued(above, below)
        is_cut = whole is None and isinstance(before[-1], Table) and isinstance(pieces[0], Table)
    elif not above and (rows := across(_lines_at_end(before), _lines_at_top(pieces))):
        is_guess = len(rows.rows) >= FEWEST_ROWS
        whole, is_cut = (rows, False) if is_guess else (None, True)
        rows_below = sum(row[0][0].page == pieces[0].page for row in rows.rows)
        rows_above = len(rows.rows) - rows_below
    if whole is None:
        return [*before, *pieces], is_cut, False
    return [*before[: len(before) - rows_above], whole, *pieces[rows_below:]], False, is_guess


def _at_end(pieces: Sequence[Piece], frames: Sequence[Frame]) -> tuple[Table | None, int]:
    """The table at a page's end, or the row alone between rules, and how many pieces that is."""
    if pieces and isinstance(pieces[-1], Table):
        return pieces[-1], 1
    lines = _lines_at_end(pieces)
    for frame, _ in frames:
        if inside := [line for line in lines if line.top > frame.top - 1]:
            return frame, len(inside)
    return None, 0


def _at_top(pieces: Sequence[Piece], frames: Sequence[Frame]) -> tuple[Table | None, int]:
    if pieces and isinstance(pieces[0], Table):
        return pieces[0], 1
    lines = _lines_at_top(pieces)
    for frame, bottom in frames:
        if inside := [line for line in lines if line.bottom < bottom + 1]:
            return frame, len(inside)
    return None, 0


def _lines_at_end(pieces: Sequence[Piece]) -> list[Line]:
    number = pieces[-1].page if pieces else 0
    lines = takewhile(lambda one: isinstance(one, Line) and one.page == number, reversed(pieces))
    return [one for one in lines if isinstance(one, Line)][::-1]


def _lines_at_top(pieces: Sequence[Piece]) -> list[Line]:
    return [one for one in takewhile(lambda one: isinstance(one, Line), pieces) if isinstance(one, Line)]
