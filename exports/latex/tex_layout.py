"""How a table is laid out on paper: which columns fit side by side, where long names fold, what a page holds.

Widths are in em of the table's type, heights in its lines. Both are the least that common classes leave: `article` of
10 and 11 points in one column, and the two columns of ACL.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from exports.cells import DASH, shown
from exports.latex.tex_text import together
from exports.tables import Column, Table

NARROW, WIDE = 23.5, 38.5  # em of \footnotesize: a column of 77 mm at 9 points, a page of 345 pt at 8
TIGHT = 46.0  # fits the 160 mm of ACL; 345 pt show it at 7 points
GAP, SMALL = 0.5, 0.94  # between columns; of \scriptsize to \footnotesize
FLOOR = 7.0  # em that a folded column keeps
LINES, RAGGED = 99, 1.15  # of one cell; of lines that end at a word, to the letters in them
# room, lines that a name may take, whether symbols may stand for titles: the first that holds all columns
TRIES = ((NARROW, 2, False), (NARROW, 3, True), (WIDE, 3, False), (WIDE, 9, True), (TIGHT, 9, True))
NO_INTERVAL = f"[{DASH}]"
NUMBER = re.compile(r"(−?)([\d,]*)(?:\.(\d+))?")


@dataclass(frozen=True)
class Shape:
    """One column as printed. `form`: `l` text, `c` no number in it, else the numbers' `table-format` of siunitx."""

    place: int
    head: tuple[str, ...]  # lines
    symbol: bool  # whether the head is a symbol that a note explains
    form: str
    room: float
    cells: tuple[tuple[str, ...], ...]  # lines of each row; the second of a number is its interval
    texts: tuple[str, ...] = ()  # each row's text before it was folded; of `l` only


@dataclass(frozen=True)
class Panel:
    """Columns that are side by side within `room` em: NARROW, WIDE or TIGHT."""

    shapes: tuple[Shape, ...]
    room: float

    @cached_property
    def is_prose(self) -> bool:
        """Whether TeX may break the lines, for no number is beside them."""
        return all(shape.form == "l" for shape in self.shapes) and len(self.shapes) > 1

    @cached_property
    def head_lines(self) -> int:
        return max(len(shape.head) for shape in self.shapes)

    def row_lines(self, row: int) -> int:
        return max(len(shape.cells[row]) for shape in self.shapes)


def panels(table: Table) -> list[Panel]:
    """One panel in one column of a page where everything fits, else across the page, else several one above another."""
    everything = range(len(table.columns))
    for room, lines, short in TRIES:
        found = _panel(table, everything, room, lines, short)
        if found:
            return [found]
    kept = [0] if _is_text(table, 0) else []
    others = [place for place in everything if place not in kept]
    for count in range(2, len(others) + 1):
        stacked = [_panel(table, [*kept, *part], WIDE, 99, True) for part in _parts(others, count)]
        if all(stacked):
            return [found for found in stacked if found]
    return [_forced(table, [*kept, place]) for place in others]


def _parts(places: Sequence[int], count: int) -> Iterator[list[int]]:
    size, longer = divmod(len(places), count)
    start = 0
    for part in range(count):
        end = start + size + (part < longer)
        yield list(places[start:end])
        start = end


def _panel(table: Table, places: Sequence[int], budget: float, lines: int, short: bool) -> Panel | None:
    """None where the columns are wider than `budget`, or a name of theirs needs more than `lines`."""
    text = [place for place in places if _is_text(table, place)]
    numbers = {place: _number_shape(table, place, short) for place in places if place not in text}
    left = budget - GAP * (len(places) - 1) - sum(shape.room for shape in numbers.values())
    rooms = _shared(left, {place: _natural(table, place) for place in text})
    if rooms is None or left < 0:
        return None
    shapes = [numbers[place] if place in numbers else _text_shape(table, place, rooms[place]) for place in places]
    if lines < max((len(cell) for shape in shapes if shape.form == "l" for cell in shape.cells), default=1):
        return None
    return Panel(tuple(shapes), budget)


def _forced(table: Table, places: Sequence[int]) -> Panel:
    rooms = WIDE / len(places) - GAP
    return Panel(tuple(_text_shape(table, place, rooms) for place in places), WIDE)


def _shared(room: float, natural: dict[int, float]) -> dict[int, float] | None:
    """Room for each column of text, so that all fold into about as many lines. None where `room` is too little."""
    for lines in range(1, LINES):
        needed = {place: min(one, max(FLOOR, RAGGED * one / lines)) for place, one in natural.items()}
        spare = room - sum(needed.values())
        if spare >= 0:
            folded = sum(natural[place] - one for place, one in needed.items())
            share = min(1.0, spare / folded) if folded else 0.0
            return {place: one + share * (natural[place] - one) for place, one in needed.items()}
    return None


def _natural(table: Table, place: int) -> float:
    column = table.columns[place]
    head = min(map(width, filter(None, (column.title, column.symbol))))
    return max([head, *(width(shown(row[place])[0]) for row in table.rows)])


def _is_text(table: Table, place: int) -> bool:
    """A column with more words than numbers; an interval by itself is a number."""
    cells = [row[place] for row in table.rows if row[place] is not None]
    words = [cell for cell in cells if isinstance(cell, str) and not re.fullmatch(r"\[[\d.,−– ]+\]", cell)]
    return 2 * len(words) > len(cells) or not table.rows


def _text_shape(table: Table, place: int, room: float) -> Shape:
    head, symbol = _head(table.columns[place], room, short=True)
    texts = tuple(shown(row[place])[0] for row in table.rows)
    return Shape(place, head, symbol, "l", room, tuple(tuple(fold(text, room)) for text in texts), texts)


def _number_shape(table: Table, place: int, short: bool) -> Shape:
    cells = tuple(tuple(filter(None, shown(row[place]))) for row in table.rows)
    if all(cell[1:] in ((), (NO_INTERVAL,)) for cell in cells):  # a note says so once
        cells = tuple(cell[:1] for cell in cells)
    values = [cell[0] for cell in cells if cell]
    form = table_format(values)
    room = _format_width(form) if form else 0.0
    room = max([room, *(width(value) for value in values), *(SMALL * width(cell[1]) for cell in cells if cell[1:])])
    head, symbol = _head(table.columns[place], room, short)
    return Shape(place, head, symbol, form or "c", max([room, *map(width, head)]), cells)


def _head(column: Column, room: float, short: bool) -> tuple[tuple[str, ...], bool]:
    """The title in two lines, or its symbol where only that is no wider than the cells; whether it is the symbol."""
    title = (column.title,) if width(column.title) <= room else _balanced(column.title)
    known = column.symbol in column.title.split()  # κ of Cohen's κ
    if column.symbol and short and (known or max(map(width, title)) > max(room, width(column.symbol))):
        return (column.symbol,), True
    return title, False


def _balanced(title: str) -> tuple[str, ...]:
    """In two lines, as narrow as words allow."""
    words = title.split()
    cuts = [(" ".join(words[:cut]), " ".join(words[cut:])) for cut in range(1, len(words))]
    best = min(cuts, key=lambda cut: max(map(width, cut)), default=(title, ""))
    return tuple(filter(None, best)) or ("",)


def table_format(values: Sequence[str]) -> str:
    """Of siunitx: sign, digits before the point and after it, such as `-1.2`, `.3` or `4`; "" without a number."""
    found = [NUMBER.fullmatch(value) for value in values]
    parts = [one.groups() for one in found if one and any(mark.isdigit() for mark in one[0])]
    if not parts:
        return ""
    before = max(len(whole.replace(",", "")) for _, whole, _ in parts)
    after = max(len(digits or "") for _, _, digits in parts)
    sign = "-" if any(minus for minus, _, _ in parts) else ""
    return f"{sign}{before or ''}{f'.{after}' if after else ''}"


def _format_width(form: str) -> float:
    whole, _, after = form.lstrip("-").partition(".")
    text = f"{'9' * int(whole or 0)}{',' * (max(0, int(whole or 0) - 1) // 3)}{'.' + '9' * int(after) if after else ''}"
    return width(text) + width("−") * form.startswith("-")


def fold(text: str, room: float) -> list[str]:
    """Lines of at most `room` em, broken after a space, / _ - : or =, else within a word.

    What is in brackets at the end, as after a judge asked in both orders, stays together.
    """
    lines = [""]
    for piece in re.findall(r"(?<=\s)\[[^\[\]]{1,12}\]$|\s+|[^\s/_:=-]*[/_:=-]+|[^\s/_:=-]+", text):
        for part in [piece] if width(piece.strip()) <= room else _cut(piece, room):
            if width((lines[-1] + part).rstrip()) > room and lines[-1].strip():
                lines.append("")
            lines[-1] += part if lines[-1] else part.lstrip()
    return [line.strip() for line in lines]


def _cut(piece: str, room: float) -> Iterator[str]:
    part = ""
    for mark in together(piece):
        if part and width(part + mark) > room:
            yield part
            part = ""
        part += mark
    yield part


# Character widths of cmr10 and Times Roman in em, from their metric files.
_LETTERS = {
    0.28: ",.:;il|",
    0.31: "j",
    0.34: " !'-[]`f",
    0.36: "I",
    0.39: "()rst",
    0.45: "cez",
    0.47: "?",
    0.50: '"$*/0123456789\\^_ago{}',
    0.53: "Jkqvxy",
    0.56: "~Sbdhnpu",
    0.65: "FLZ",
    0.72: "BCETPw",
    0.78: "&+<=>ADGHKNOQRUVXY",
    0.83: "#%m",
    0.92: "@M",
    1.03: "W",
}
_WIDTH = {letter: width for width, letters in _LETTERS.items() for letter in letters}
OTHER, IDEOGRAPH, EMOJI, ESCAPED = 0.78, 1.05, 1.3, 4.6  # em; escaped is a control character as ⟨U+0007⟩


def width(text: str) -> float:
    """In em of its own font, one line, never less than what TeX sets."""
    return sum(map(_mark, unicodedata.normalize("NFC", text)))


def _mark(mark: str) -> float:
    letter = unicodedata.normalize("NFD", mark)[0]
    if letter in _WIDTH:
        return _WIDTH[letter]
    kind = unicodedata.category(mark)
    if mark.isspace():
        return _WIDTH[" "]
    if kind in {"Mn", "Me", "Cf"}:
        return 0.0
    if kind.startswith("C"):
        return ESCAPED
    if unicodedata.east_asian_width(mark) in "WF":
        return IDEOGRAPH if kind.startswith("L") else EMOJI
    return 1.0 if mark == "—" else OTHER
