"""Tables of a PDF that no rules show: what white stripes part down many lines."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from math import inf

from annotation.documents.pdf_pieces import BOLD, TYPED, Line, Table

NARROW = 0.6  # type sizes: what two columns are apart at least; a blank between words is half of it
FEWEST_ROWS = 3  # or two below a head in bold type, as where a page ends
WRAPPED, APART = 0.35, 1.7  # type sizes: what the lines of a cell are apart at most, and the rows of a table
STOPS = ".!?:。！？："

Level = Sequence[Line]  # what is on one height
White = list[tuple[float, float]]


def joined(lines: Sequence[Line]) -> list[Line | Table]:
    """Parts on one height are one line again, or levels of a table that no rules show."""
    made: list[Line | Table] = []
    levels = _levels(lines)
    at = done = 0
    while at < len(levels):
        begin, end, white = _beside(levels, at, done) if len(levels[at]) > 1 else (at, at, [])
        if table := _table(levels[begin:end], white):
            made += [*map(_one_line, levels[done:begin]), table]
            at = done = end
        else:
            at += 1
    return [*made, *map(_one_line, levels[done:])]


def _levels(lines: Sequence[Line]) -> list[list[Line]]:
    levels: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: (line.top, line.x0)):
        last = levels[-1][-1] if levels else None
        if last and abs(last.bottom - line.bottom) < 0.4 * line.size and last.x1 <= line.x0 + 1:
            levels[-1].append(line)
        else:
            levels.append([line])
    return levels


def _one_line(level: Sequence[Line]) -> Line:
    return replace(level[0], words=tuple(word for line in level for word in line.words))


def _beside(levels: Sequence[Level], at: int, done: int) -> tuple[int, int, White]:
    """From which level to which, not before `done`, white parts what it parts in level `at`, and where it is."""
    size, begin, end = levels[at][0].size, at, at + 1
    white, most = _white([(-inf, inf)], levels[at]), 0.0
    while end < len(levels) and _is_like(levels[end], size):
        left, apart = _white(white, levels[end]), _above(levels[:end], levels[end])
        # a short line of the text below is further away than rows are from each other
        is_text = apart > (1.1 * most or APART * size) or (apart > WRAPPED * size and levels[end][0].text[-1] in STOPS)
        is_apart = is_text or len(left) < len(white)
        if apart > APART * size or (_is_alone(levels[end], left) and is_apart):
            break
        white, end, most = left, end + 1, max(most, apart * (apart > WRAPPED * size))
    while begin > done:
        left, apart = _white(white, levels[begin - 1]), _above(levels[:begin], levels[begin])
        # the text above may end in the first column
        reach = -0.3 * size if _is_alone(levels[begin - 1], left, 0) else WRAPPED * size
        is_apart = apart > reach or len(left) < len(white)
        if apart > APART * size or (_is_alone(levels[begin - 1], left) and is_apart):
            break
        white, begin = left, begin - 1
    return begin, end, white[1:-1]


def _is_like(level: Level, size: float) -> bool:
    """Whether it is in type of this size, and no code."""
    return abs(level[0].size - size) < 0.6 and not all(TYPED.search(word.font) for line in level for word in line.words)


def _above(levels: Sequence[Level], below: Level) -> float:
    """How far a level is below the lowest line of those above it."""
    return below[0].top - max(line.bottom for level in levels[-4:] for line in level)


def _white(white: White, level: Level) -> White:
    """What a level leaves of white stripes, as far as it parts columns; the outer two have no end."""
    words = [word for line in level for word in line.words]
    beside = [*zip([-inf, *(word.x1 for word in words)], [*(word.x0 for word in words), inf], strict=True)]
    parts = [(max(left, x0), min(right, x1)) for left, right in white for x0, x1 in beside]
    return [(x0, x1) for x0, x1 in parts if x1 - x0 > NARROW * level[0].size]


def _is_alone(level: Level, white: White, at: int | None = None) -> bool:
    """Whether one cell of a level holds all of it, and that is cell `at`, if that is asked."""
    filled = [n for n, cell in enumerate(_cells([level], white[1:-1])) if cell]
    return len(filled) < 2 and at in (None, *filled)


def _cells(levels: Sequence[Level], white: White) -> tuple[tuple[Line, ...], ...]:
    """The lines of each column, parted by inner stripes of white."""
    columns: list[list[Line]] = [[] for _ in range(len(white) + 1)]
    for level in levels:
        words = _one_line(level).words
        for at, found in groupby(words, key=lambda word: sum(x1 < (word.x0 + word.x1) / 2 for _, x1 in white)):
            columns[at].append(replace(level[0], words=tuple(found)))
    return tuple(map(tuple, columns))


def _table(levels: Sequence[Level], white: White) -> Table | None:
    """The levels as a table, where there are rows enough and each column has a cell in two of them.

    Rows are further apart than the lines of a cell. Where they are not, each begins with its first cell.
    """
    bands: list[list[Level]] = []
    for level in levels if white else ():
        if bands and _above(bands[-1], level) <= WRAPPED * level[0].size:
            bands[-1].append(level)
        else:
            bands.append([level])
    rows: list[list[Level]] = []
    for band in bands:
        cells = [_cells([level], white) for level in band]
        is_dense = len(bands) < FEWEST_ROWS or (len(band) >= FEWEST_ROWS and all(map(all, cells)))
        if is_dense and sum(bool(row[0]) for row in cells) > 1:
            for level, row in zip(band, cells, strict=True):
                if level is band[0] or row[0]:
                    rows.append([level])
                else:
                    rows[-1].append(level)
        else:
            rows.append(band)
    made = tuple(_cells(row, white) for row in rows)
    has_head = bool(rows) and all(BOLD.search(word.font) for level in rows[0] for line in level for word in line.words)
    if len(made) < FEWEST_ROWS - has_head or any(sum(map(bool, column)) < 2 for column in zip(*made, strict=True)):
        return None
    return Table(made, min(line.top for line in levels[0]), levels[0][0].page)
