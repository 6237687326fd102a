"""Tables of a PDF that no rules show: what white stripes part down many lines."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, pairwise, takewhile, zip_longest
from math import inf

from annotation.documents.pdf_pieces import BOLD, LISTED, TYPED, Line, Table

NARROW = 0.6  # type sizes: what two columns are apart at least; a blank between words is half of it
FEWEST_ROWS = 3  # or two below a head in bold type, as where a page ends
TOUCHING = 0.1  # the same where the right one begins on one place in many rows, as in a table without any room
WRAPPED, APART = 0.35, 1.7  # type sizes: what the lines of a cell are apart at most, and the rows of a table
MOST_WRAPPED = 10  # lines of a head
STOPS = ".!?:。！？："

Level = Sequence[Line]  # what is on one height
White = list[tuple[float, float]]
Starts = Sequence[float]
Row = tuple[tuple[Line, ...], ...]


def joined(lines: Sequence[Line], above: Table | None = None) -> list[Line | Table]:
    """Parts on one height are one line again, or levels of a table that no rules show.

    `above`: the table at the end of the page before, whose rest may be one row, and none of its own.
    """
    made: list[Line | Table] = []
    levels = _levels(lines)
    starts = _starts(levels)
    at = done = 0
    if above and (white := _stripes(above)):
        begin, end = _rest(levels, above, white, starts)
        if rest := _table(levels[begin:end], white[1:-1], above):
            made, at, done = [rest], end, end
    while at < len(levels):
        begin, end, white = _beside(levels, at, done, starts) if len(levels[at]) > 1 else (at, at, [])
        if table := _table(levels[begin:end], white):
            made += [*map(_one_line, levels[done:begin]), table]
            at = done = end
        else:
            at += 1
    return [*made, *map(_one_line, levels[done:])]


def _starts(levels: Sequence[Level]) -> Starts:
    """Where columns begin that all stand left: words in many rows, one of them far from the word before it."""
    begun: defaultdict[int, set[int]] = defaultdict(set)
    wide: defaultdict[int, set[int]] = defaultdict(set)
    for number, level in enumerate(levels):
        words = [word for line in level for word in line.words]
        for left, right in pairwise(words):
            if right.x0 - left.x1 > TOUCHING * level[0].size:
                begun[round(right.x0)].add(number)
            if right.x0 - left.x1 > NARROW * level[0].size:
                wide[round(right.x0)].add(number)
    near = {x0: sorted(begun[x0 - 1] | begun[x0] | begun[x0 + 1]) for x0 in [*begun] if len(wide[x0]) > 1}
    return [
        x0 for x0, rows in near.items() if any(c - a < FEWEST_ROWS + 2 for a, c in zip(rows, rows[2:], strict=False))
    ]


def _rest(levels: Sequence[Level], above: Table, white: White, starts: Starts) -> tuple[int, int]:
    """From which level to which the first ones are rows of the table `above`, below its head, if that is set again."""
    heads = (n for n in range(1, MOST_WRAPPED) if _words(_cells(levels[:n], white[1:-1])) == _words(above.rows[0]))
    begin = next(heads, 0)
    if begin >= len(levels) or (not begin and (_is_alone(levels[0], white) or _is_note(levels[0], above))):
        return 0, 0
    _, end, _ = _beside(levels, begin, begin, starts, white)
    return begin, next((n for n in range(begin, end) if len(_white(white, levels[n], starts)) < len(white)), end)


def _is_note(level: Level, above: Table) -> bool:
    """Whether it is `Note:` and words, below a table whose rows begin otherwise; a row of `Total:` has a number."""
    is_usual = any(row[0] and row[0][-1].text[-1] in ":：" for row in above.rows)
    has_number = any(char.isdigit() for line in level for char in line.text)
    return level[0].text[-1] in ":：" and not is_usual and not has_number


def _levels(lines: Sequence[Line]) -> list[list[Line]]:
    levels: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: (line.top, line.x0)):
        last = levels[-1] if levels else []
        is_free = all(one.x1 <= line.x0 + 1 or line.x1 <= one.x0 + 1 for one in last)
        if last and abs(last[-1].bottom - line.bottom) < 0.4 * line.size and is_free:
            last.append(line)  # one of another script may be higher than those on its left
        else:
            levels.append([line])
    return [sorted(level, key=lambda line: line.x0) for level in levels]


def _one_line(level: Sequence[Line]) -> Line:
    return replace(level[0], words=tuple(word for line in level for word in line.words))


def _beside(
    levels: Sequence[Level], at: int, done: int, starts: Starts, white: White | None = None
) -> tuple[int, int, White]:
    """From which level to which, not before `done`, `white` parts what it parts in level `at`, and where it is."""
    size, begin, end = levels[at][0].size, at, at + 1
    white, most = _white(white or [(-inf, inf)], levels[at], starts), 0.0
    while end < len(levels) and _is_like(levels[end], size):
        left, apart = _white(white, levels[end], starts), _above(levels[:end], levels[end])
        # a short line of the text below is further away than rows are from each other
        is_text = apart > (1.1 * most or APART * size) or (apart > WRAPPED * size and levels[end][0].text[-1] in STOPS)
        is_apart = is_text or len(left) < len(white)
        is_running = is_text and not _is_parted(levels[end])
        if apart > APART * size or is_running or (_is_alone(levels[end], left) and is_apart):
            break
        white, end, most = left, end + 1, max(most, apart * (apart > WRAPPED * size))
    while begin > done:
        left, apart = _white(white, levels[begin - 1], starts), _above(levels[:begin], levels[begin])
        # the text above may end in the first column
        reach = -0.3 * size if _is_alone(levels[begin - 1], left, 0) else WRAPPED * size
        is_apart = apart > reach or len(left) < len(white)
        is_running = apart > WRAPPED * size and not _is_parted(levels[begin - 1])
        if apart > APART * size or is_running or (_is_alone(levels[begin - 1], left) and is_apart):
            break
        white, begin = left, begin - 1
    return begin, end, white[1:-1]


def _is_like(level: Level, size: float) -> bool:
    """Whether it is in type of this size, and no code."""
    return abs(level[0].size - size) < 0.6 and not all(TYPED.search(word.font) for line in level for word in line.words)


def _above(levels: Sequence[Level], below: Level) -> float:
    """How far a level is below the lowest line of those above it."""
    return below[0].top - max(line.bottom for level in levels[-4:] for line in level)


def _white(white: White, level: Level, starts: Starts) -> White:
    """What a level leaves of white stripes, as far as it parts columns; the outer two have no end."""
    size = level[0].size
    words = [word for line in level for word in line.words]
    beside = [*zip([-inf, *(word.x1 for word in words)], [*(word.x0 for word in words), inf], strict=True)]
    parts = [(max(left, x0), min(right, x1), x0, x1) for left, right in white for x0, x1 in beside]
    return [
        (left, right)
        for left, right, x0, x1 in parts
        if right - left > NARROW * size
        or (
            right - left > TOUCHING * size
            and any(abs(right - one) < 1.5 and (abs(x1 - one) < 1.5 or x1 - x0 > NARROW * size) for one in starts)
        )
    ]


def _is_parted(level: Level) -> bool:
    """Whether it has words that are further from each other than those of running text."""
    words = [word for line in level for word in line.words]
    return any(right.x0 - left.x1 > NARROW * level[0].size for left, right in pairwise(words))


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


def _stripes(table: Table) -> White:
    """The white between and beside its columns; nothing where they overlap."""
    sides = _sides(table)
    white = [*zip([-inf, *(x1 for _, x1 in sides)], [*(x0 for x0, _ in sides), inf], strict=True)]
    return white if all(x0 < x1 for x0, x1 in white) else []


def _sides(table: Table) -> White:
    """From where to where each column has words; from infinity where it has none."""
    cells = zip_longest(*table.rows, fillvalue=())
    lines = [[line for cell in column for line in cell] for column in cells]
    return [
        (min((one.x0 for one in found), default=inf), max((one.x1 for one in found), default=-inf)) for found in lines
    ]


def continued(above: Table, below: Table) -> tuple[Table | None, bool]:
    """Two tables at a page's end and at the next one's top as one, without the head that was set again.

    None where the heads or the places of the columns tell that they are two. And whether that they are one is a guess,
    by the columns' places alone: no head was set again, and none is in bold type, as a second one would be.
    """
    wide = {len(row) for table in (above, below) for row in table.rows}
    has_same_head, is_headed = _words(above.rows[0]) == _words(below.rows[0]), _is_bold(below.rows[0])
    beside = [*zip(_sides(above), _sides(below), strict=False)]
    is_apart = all(max(a[1], b[1]) < min(c[0], d[0]) for (a, b), (c, d) in pairwise(beside))
    if len(wide) > 1 or not (has_same_head or (is_apart and not is_headed)):
        return None, False
    *rows, last, first = *above.rows, *below.rows[has_same_head:][:1]
    if not first[0] and all(row[0] for row in above.rows[1:]):  # of a row that the page's end cut
        rows.append(tuple((*a, *b) for a, b in zip(last, first, strict=True)))
    else:
        rows += [last, first]
    whole = replace(below, rows=(*rows, *below.rows[1 + has_same_head :]), top=above.top)
    return whole, not (has_same_head or _is_bold(above.rows[0]))


def begun(lines: Sequence[Line], below: Table) -> Table | None:
    """The rows at a page's end, too few to be a table by themselves, of the one at the next page's top."""
    white = _stripes(below)
    rows = list[Row]()
    for line in reversed(lines[-MOST_WRAPPED:]):
        row = _cells([[line]], white[1:-1])
        is_listed = LISTED.fullmatch(line.words[0].text)
        if is_listed or len(white) < 3 or len(_white(white, [line], ())) < len(white) or sum(map(bool, row)) < 2:
            break
        rows.insert(0, row)
    return Table(tuple(rows), lines[-len(rows)].top, lines[-1].page) if rows else None


def across(above: Sequence[Line], below: Sequence[Line]) -> Table | None:
    """Lines at a page's end and at the next one's top that white stripes part alike; two are no table yet."""
    ends = [*takewhile(_is_row, reversed(above[-FEWEST_ROWS:]))][::-1]
    lines = [*ends, *takewhile(_is_row, below[:FEWEST_ROWS])]
    white: White = [(-inf, inf)]
    for line in lines:
        white = _white(white, [line], ())
    rows = tuple(_cells([[line]], white[1:-1]) for line in lines)
    is_table = 0 < len(ends) < len(rows) and len(white) > 2 and all(map(all, rows))
    return Table(rows, lines[0].top, below[0].page) if is_table else None


def _is_row(line: Line) -> bool:
    """Whether it is parted, and no item of a list."""
    return _is_parted([line]) and not LISTED.fullmatch(line.words[0].text)


def _is_spaced(table: Table) -> bool:
    """Whether its rows are further apart than the lines of a cell."""
    lines = [[line for cell in row for line in cell] for row in table.rows]
    apart = [
        min(b.top for b in below) - max(a.bottom for a in over) for over, below in pairwise(lines) if over and below
    ]
    return min(apart, default=0.0) > WRAPPED * lines[0][0].size if lines[0] else False


def _words(row: Row) -> list[str]:
    return [" ".join(line.text for line in cell) for cell in row]


def _is_bold(row: Row) -> bool:
    return all(BOLD.search(word.font) for cell in row for line in cell for word in line.words)


def _table(levels: Sequence[Level], white: White, above: Table | None = None) -> Table | None:
    """The levels as a table, where there are rows enough and each column has a cell in two of them.

    Rows are further apart than the lines of a cell. Where they are not, each begins with its first cell. `above`: a
    table on the page before, of which these are the rest, if they are no text.
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
        # what is in the middle of its row begins beside the lines of other cells, not below them
        is_centred = any(below[0].top < line.bottom - 0.2 * line.size for (line, *_), below in pairwise(band))
        is_few = len(bands) < FEWEST_ROWS and not (is_centred or (above and _is_spaced(above)))
        is_dense = is_few or (len(band) >= FEWEST_ROWS and all(map(all, cells)))
        if is_dense and sum(bool(row[0]) for row in cells) > 1:
            for level, row in zip(band, cells, strict=True):
                if level is band[0] or row[0]:
                    rows.append([level])
                else:
                    rows[-1].append(level)
        else:
            rows.append(band)
    made = tuple(_cells(row, white) for row in rows)
    fewest = FEWEST_ROWS - _is_bold(made[0]) if made else 1
    if not made or not (
        above or (len(made) >= fewest and all(sum(map(bool, one)) > 1 for one in zip(*made, strict=True)))
    ):
        return None
    return Table(made, min(line.top for line in levels[0]), levels[0][0].page)
