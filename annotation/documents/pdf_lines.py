"""The lines of a PDF's page in the order in which a person reads them; a PDF knows characters and places only."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.documents import pdf_pieces
from annotation.documents.pdf_page_ends import Frame, over_pages
from annotation.documents.pdf_pieces import Figure, Line, Piece, Table, Word
from annotation.documents.pdf_unruled import NARROW, joined

FORMS = re.compile(r"[\u2f00-\u2fdf\ufb00-\ufb06]")
# Radicals that are whole letters (Unicode's EquivalentUnifiedIdeograph), of which NFKC knows none
RADICALS = str.maketrans(
    "⺠⻄⻅⻆⻉⻋⻑⻓⻔⻗⻘⻙⻚⻛⻜⻝⻢⻣⻤⻥⻦⻧⻨⻩⻪⻫⻬⻭⻮⻯⻰⻱⻲⻳⺟⺩⻁⺽",
    "民西见角贝车長长门雨青韦页风飞食马骨鬼鱼鸟卤麦黄黾斉齐歯齿竜龙龜亀龟母王虎臼",
)
GAP = 2.0  # type sizes: blanks in a line are narrower, what is further apart is another column
MOST_CROSSING = 0.3  # of a page's lines that may reach over both of its columns
MARGIN = 0.09  # of a page's height, above and below which its running titles are
FEWEST = 8  # lines that make a column
SMALL = 0.85  # of the size of most words
RUNNING = 3  # pages on which a picture in one place, or a title, belongs to the paper and not to the text
MOST_OVER = 12  # lines in front of a picture; before more of them it is a page's background, or its scan
FOOT = 0.13  # the same for page numbers alone, which some set nearer to the text
NOTE = 0.95  # of the text's type size: what a note at a page's foot is set in at most
BAND = 20.0  # points: things are looked for on their own height of the page


@dataclass
class Read:
    """What is in a file, in reading order, and what to tell of it."""

    pieces: list[Piece] = field(default_factory=list)
    in_columns: int = 0  # pages
    without_text: int = 0
    drawn: int = 0
    turned: int = 0
    from_right: int = 0
    unnamed: int = 0
    behind: int = 0  # pictures
    cut: int = 0  # tables
    joined: int = 0  # pages
    noted: int = 0
    formulas: int = 0
    rebuilt: int = 0


def read_pages(pages: Iterable[dict[str, Any]]) -> Read:
    """The pieces of all pages, without the running titles and page numbers that are in their margins."""
    found = Read()
    read, widths, heights = [], [], []
    for number, page in enumerate(pages):
        read.append(_page(page, number))
        widths.append(float(page["width"]))
        heights.append(float(page["height"]))
        found.formulas += page["stacked"] or any(_is_of_formula(one[0], one[6]) for one in page["words"])
        found.rebuilt += any(one[6] == pdf_pieces.FORMULA for one in page["words"])
        found.drawn += bool(page["drawn"])
        found.turned += bool(page["turned"])
        found.from_right += bool(page["from_right"])
        found.unnamed += bool(page["unnamed"])
    running = _running([lines for lines, *_ in read], heights)
    text = [[line for line in lines if line not in running] for lines, *_ in read]
    gutters = [_gutter(lines, width) for lines, width in zip(text, widths, strict=True)]
    times = Counter(_place(one) for _, _, figures, _ in read for one in figures)
    usual = Counter(gutter for gutter in gutters if gutter).most_common(1)
    for number, (lines, tables, figures, _) in enumerate(read):
        # the last page of a text in columns has few lines in each
        gutter = gutters[number] or (_gutter(text[number], widths[number], 2, usual[0][0]) if usual else None)
        above = found.pieces[-1] if found.pieces else None
        above = above if isinstance(above, Table) and above.page == number - 1 else None
        ordered, in_columns = _in_order(text[number], gutter, above), gutter is not None
        found.in_columns += in_columns
        found.noted += bool(_notes(text[number]))
        found.without_text += not lines and not tables and bool(figures)
        figures = [one for one in figures if times[_place(one)] < RUNNING]
        beside = [one for one in figures if sum(_is_over(line, one) for line in lines) <= MOST_OVER]
        found.behind, figures = found.behind + len(figures) - len(beside), beside
        pieces = _between(ordered, [*tables, *figures], in_columns)
        is_next = bool(found.pieces) and found.pieces[-1].page == number - 1
        if is_next and pieces:
            found.pieces, is_cut, is_guess = over_pages(found.pieces, pieces, read[number - 1][3], read[number][3])
            found.cut, found.joined = found.cut + is_cut, found.joined + is_guess
        else:
            found.pieces += pieces
    return found


def _page(page: dict[str, Any], number: int) -> tuple[list[Line], list[Table], list[Figure], list[Frame]]:
    words = _linked([Word(_letters(text, where[5]), *where) for text, *where in page["words"]], page["links"])
    tables, frames = [], list[Frame]()
    for rows in page["tables"]:
        cells = [cell for row in rows for cell in row if cell]
        if max(map(len, rows)) < 2:
            continue  # a frame or a ruled heading
        box = [f(cell[at] for cell in cells) for at, f in enumerate((min, min, max, max))]
        inside = [word for word in words if _is_inside(word, box)]
        table = Table(tuple(tuple(tuple(_cell(inside, cell, number)) for cell in row) for row in rows), box[1], number)
        if len(rows) < 2:
            frames.append((table, box[3]))
        else:
            words = [word for word in words if not _is_inside(word, box)]
            tables.append(table)
    boxes = page["boxes"]
    words += [sign for *at, is_ticked in boxes if (sign := _sign("☒" if is_ticked else "☐", words, *at))]
    dots = [at for at in page["dots"] if not any(box[0] < at[0] < box[1] and box[2] < at[2] < box[3] for box in boxes)]
    words += [sign for at in dots if (sign := _sign("•", words, *at))]
    return _lines(words, number), tables, [Figure(number, *told) for told in page["figures"]], frames


def _place(one: Figure) -> tuple[int, ...]:
    return tuple(map(round, (one.x0, one.x1, one.top, one.bottom)))


def _is_over(line: Line, one: Figure) -> bool:
    """Whether a line of text is in front of a picture."""
    return one.x0 < (line.x0 + line.x1) / 2 < one.x1 and one.top < (line.top + line.bottom) / 2 < one.bottom


def _is_of_formula(text: str, font: str) -> bool:
    is_set = bool(pdf_pieces.MATHS.search(font) and pdf_pieces.IN_FORMULA.search(text))
    return is_set or bool(pdf_pieces.ITALIC_MATHS.search(text))


def _letters(text: str, font: str) -> str:
    """Ligatures and radicals, which fonts hold in place of letters, as the letters that they are; TeX's root as √."""
    text = pdf_pieces.RADICAL.sub("√", text) if pdf_pieces.EXTENDED.search(font) else text
    return FORMS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text.translate(RADICALS))


def _sign(text: str, words: Iterable[Word], x0: float, x1: float, top: float, bottom: float) -> Word | None:
    """A dot or box that is drawn close before a word, as a sign that is written there."""
    middle = (top + bottom) / 2
    beside = [word for word in words if word.top < middle < word.bottom and 0 < word.x0 - x1 < GAP * word.size]
    after = min(beside, key=lambda word: word.x0, default=None)
    return replace(after, text=text, x0=x0, x1=x1, font="", link="") if after else None


def _cell(words: Iterable[Word], box: Sequence[float] | None, page: int) -> list[Line]:
    return _lines([word for word in words if _is_inside(word, box)], page, apart=False) if box else []


def _is_inside(word: Word, box: Sequence[float]) -> bool:
    return box[0] <= (word.x0 + word.x1) / 2 <= box[2] and box[1] <= (word.top + word.bottom) / 2 <= box[3]


def _bands(top: float, bottom: float) -> range:
    return range(int(top // BAND), int(bottom // BAND) + 1)


def leading(links: Iterable[Sequence[Any]]) -> Callable[[float, float], str]:
    """What tells of a place on a page, across and down, the address of the first of its links that it is in."""
    at_height: defaultdict[int, list[Sequence[Any]]] = defaultdict(list)
    for link in links:
        for band in _bands(link[2], link[3]):
            at_height[band].append(link)

    def leads(x: float, y: float) -> str:
        beside = at_height.get(int(y // BAND), ())
        return next((str(to) for x0, x1, top, bottom, to in beside if x0 <= x <= x1 and top <= y <= bottom), "")

    return leads


def _linked(words: Iterable[Word], links: Iterable[Sequence[Any]]) -> list[Word]:
    """Each word with the address of the link that its letters are in, or else of the first link that it is in."""
    leads = leading(links)
    return [
        word if word.link else replace(word, link=leads((word.x0 + word.x1) / 2, (word.top + word.bottom) / 2))
        for word in words
    ]


def _lines(words: Iterable[Word], page: int, *, apart: bool = True) -> list[Line]:
    """`apart`: what is far to the right on the same height is a line of its own."""
    rows = _on_one_foot([*words])
    stripe = _stripe(rows) if apart else None
    made = [part for line in rows for part in (_split(line, stripe) if apart else [sorted(line, key=lambda w: w.x0)])]
    return sorted((Line(_raised(part), page) for part in made), key=lambda line: (line.top, line.x0))


def _on_one_foot(words: Sequence[Word]) -> list[list[Word]]:
    """Words by height; a small one beside a larger belongs to its line, wherever it is."""
    usual = _usual(word.size for word in words for _ in word.text) if words else 0.0
    rows = _by_foot(word for word in words if word.size >= SMALL * usual)
    at_height: defaultdict[int, list[tuple[int, Word]]] = defaultdict(list)  # with their row

    def place(number: int, word: Word) -> None:
        for band in _bands(word.top - 2, word.bottom + 2):
            at_height[band].append((number, word))

    for number, row in enumerate(rows):
        for word in row:
            place(number, word)
    alone = []
    for small in (word for word in words if word.size < SMALL * usual):
        beside = at_height.get(int((small.top + small.bottom) / 2 // BAND), ())
        near, number = min(((_distance(small, word), number) for number, word in beside), default=(float("inf"), 0))
        if near > 0.5 * usual:
            alone.append(small)
        else:
            rows[number].append(small)
            place(number, small)
    return rows + (_on_one_foot(alone) if alone else [])  # notes in small type, with numbers in smaller


def _by_foot(words: Iterable[Word]) -> list[list[Word]]:
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda word: (word.bottom, word.x0)):
        row = next((row for row in rows[-4:] if abs(row[0].bottom - word.bottom) <= 0.35 * word.size), None)
        if row is None:
            rows.append([word])
        else:
            row.append(word)
    return rows


def _distance(small: Word, word: Word) -> float:
    """From a small word to a larger one, infinite above and below it."""
    middle = (small.top + small.bottom) / 2
    if small.size > word.size or not word.top - 2 <= middle <= word.bottom + 2:
        return float("inf")
    return max(small.x0 - word.x1, word.x0 - small.x1, 0.0)


def _stripe(rows: Sequence[Sequence[Word]]) -> float | None:
    """Where white runs down the middle of a page, as between columns that are nearer to each other than `GAP`."""
    covered: Counter[int] = Counter(x for row in rows for word in row for x in range(int(word.x0), int(word.x1) + 1))
    if len(rows) < FEWEST or not covered:
        return None
    left, right = min(covered), max(covered)
    middle = range(left + int(0.3 * (right - left)), left + int(0.7 * (right - left)))
    best = min(middle, key=lambda x: covered[x], default=left)
    return best + 0.5 if covered[best] <= MOST_CROSSING * len(rows) else None


def _split(words: Sequence[Word], stripe: float | None) -> list[list[Word]]:
    parts: list[list[Word]] = []
    for word in sorted(words, key=lambda word: word.x0):
        blank = word.x0 - parts[-1][-1].x1 if parts else 0.0
        is_over = parts and stripe and parts[-1][-1].x1 <= stripe <= word.x0 and blank > NARROW * word.size
        if parts and not is_over and blank <= GAP * max(word.size, parts[-1][-1].size):
            parts[-1].append(word)
        elif parts and pdf_pieces.LISTED.fullmatch(parts[-1][-1].text) and len(parts[-1]) == 1:
            parts[-1].append(word)  # a bullet's text is where a tab put it
        else:
            parts.append([word])
    return parts


def _raised(words: Sequence[Word]) -> tuple[Word, ...]:
    """Small words that are above the foot of the line are superscripts."""
    sizes: Counter[float] = Counter()
    for word in words:
        sizes[word.size] += len(word.text)
    usual = max(sizes, key=lambda size: (sizes[size] * size, size))
    foot = max((word.bottom for word in words if word.size >= usual * 0.9), default=words[0].bottom)
    return tuple(
        replace(word, raised=word.size <= 0.85 * usual and word.bottom < foot - 0.12 * usual) for word in words
    )


def _spelled(line: Line) -> str:
    return f"{round(line.x0 / 30)} {re.sub(r'[0-9]+', '#', line.text)}"


NUMBER = re.compile(r"\d+ (page )?[-–— ]*#( (of|/) #)?[-–— ]*", re.IGNORECASE)


def _notes(lines: Sequence[Line]) -> set[Line]:
    """The lines in smaller type below a raised number that begin with it."""
    marks = {word.text: line for line in reversed(lines) for word in line.words if word.raised and word.text.isdigit()}
    begun = ((line, marks.get(line.words[0].text.strip("[]()."))) for line in lines if len(line.words) > 1)
    return {line for line, mark in begun if mark and line.top > mark.top and line.size < NOTE * mark.size}


def _running(pages: Sequence[Sequence[Line]], heights: Sequence[float]) -> set[Line]:
    """What is in the margins of three pages, or of both of two, and the pages' numbers, which count as the pages do.

    A row of a table may begin a page, and its cells may be numbers: what has text beside it is text.
    """
    margins = [_within(lines, MARGIN * height, height) for lines, height in zip(pages, heights, strict=True)]
    feet = [_within(_outermost(lines), FOOT * height, height) for lines, height in zip(pages, heights, strict=True)]
    notes = [*map(_notes, pages)]  # those of one work are alike, and count as pages do
    ends = [{*margin, *foot} - note for margin, foot, note in zip(margins, feet, notes, strict=True)]
    on = Counter(sign for lines in ends for sign in {sign for line in lines for sign in _signs(line)})
    most = {line: max(map(on.__getitem__, _signs(line))) for lines in ends for line in lines}
    numbers = {line for line in most if NUMBER.fullmatch(_spelled(line))}
    within = {line for margin in margins for line in margin if line in most}
    known = {line for line in numbers if most[line] >= min(2, len(pages))}
    titles = {line for line in within if most[line] >= min(3, max(2, len(pages)))}
    running = known | titles | (numbers & within)
    beside = {line: {other for other in pages[line.page] if _is_beside(line, other)} for line in running}
    return {line for line in running if beside[line] <= running or (line in known and len(pages) > 1)}


def _signs(line: Line) -> set[tuple[str, int, str]]:
    """By what a line is known again on another page: its words, or a number in it that counts as the pages do."""
    spelled, numbers = _spelled(line), re.findall("[0-9]{1,9}", line.text)
    return {(spelled, -1, line.text), *((spelled, at, str(int(one) - line.page)) for at, one in enumerate(numbers))}


def _outermost(lines: Sequence[Line]) -> list[Line]:
    """The first and the last line of a page, where nothing is beside it: a table's last number has its row."""
    ends = (min(lines, key=lambda one: one.top), max(lines, key=lambda one: one.bottom)) if lines else ()
    return [end for end in ends if not any(other != end and _is_beside(end, other) for other in lines)]


def _is_beside(line: Line, other: Line) -> bool:
    return min(line.bottom, other.bottom) - max(line.top, other.top) > 0.3 * line.size


def _within(lines: Sequence[Line], reach: float, height: float) -> list[Line]:
    """The lines of the upper and lower margins of a page."""
    return [line for line in lines if line.bottom < reach or line.top > height - reach]


def _in_order(lines: Sequence[Line], gutter: float | None, above: Table | None) -> list[Line | Table]:
    """The lines as they are read: down the left column, then down the right, between lines that reach over both."""
    if gutter is None:
        return joined(lines, above)
    ordered: list[Line | Table] = []
    band: list[Line] = []
    for line in sorted(lines, key=lambda line: line.top):
        if line.x0 < gutter - 4 < gutter + 4 < line.x1:
            ordered += [*_columns(band, gutter), line]
            band = []
        else:
            band.append(line)
    return [*ordered, *_columns(band, gutter)]


def _columns(band: Sequence[Line], gutter: float) -> list[Line | Table]:
    return [
        *joined([line for line in band if line.x0 < gutter]), *joined([line for line in band if line.x0 >= gutter])
    ]  # fmt: skip


def _gutter(lines: Sequence[Line], width: float, fewest: int = FEWEST, near: float | None = None) -> float | None:
    """Where two columns of running text part, `near` the other pages' if given, or None: labels are no column."""
    best: tuple[int, float] | None = None
    lines = [line for line in lines if len(line.words) > 1 or line.words[0].font != pdf_pieces.FORMULA]
    for x in range(int(0.3 * width), int(0.7 * width), 3) if near is None else range(int(near) - 12, int(near) + 13, 3):
        left = [line for line in lines if line.x1 <= x + 1]
        right = [line for line in lines if line.x0 >= x - 1]
        crossing = len(lines) - len(left) - len(right)
        if len(left) < fewest or len(right) < fewest or crossing > MOST_CROSSING * len(lines):
            continue
        reach = [(side, max(one.x1 for one in side) - min(one.x0 for one in side)) for side in (left, right)]
        if near or all(_usual(line.x1 - line.x0 for line in side) > 0.6 * wide for side, wide in reach):
            best = min(best or (crossing, float(x)), (crossing, float(x)))
    return best[1] if best else None


def _usual(lengths: Iterable[float]) -> float:
    return sorted(found := [*lengths])[len(found) // 2]


def _is_below(piece: Piece, other: Table | Figure) -> bool:
    """Below it and, of a figure, in its own column."""
    beside = isinstance(other, Figure) and isinstance(piece, Line) and not (piece.x0 < other.x1 and piece.x1 > other.x0)
    return piece.top > other.top and not beside


def _between(lines: Sequence[Line | Table], others: Sequence[Table | Figure], in_columns: bool) -> list[Piece]:
    """Tables and figures among the lines of their page, by height."""
    pieces: list[Piece] = [*lines]
    for other in sorted(others, key=lambda one: one.top):
        if in_columns:
            at = min((n for n, piece in enumerate(pieces) if _is_below(piece, other)), default=len(pieces))
        else:
            at = sum(piece.top < other.top for piece in pieces)
        pieces.insert(at, other)
    return pieces
