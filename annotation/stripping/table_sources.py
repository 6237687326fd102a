"""What cites from inside a table: a stray row `| 4 |  |  |`, the cells of a column headed `Source`, its head."""

import re
from collections.abc import Iterator
from itertools import pairwise

from annotation.texts.spans import GONE, Span

_STRAY_ROW = re.compile(
    r"\|[ \t]*\\?\[?([0-9]{1,3}(?:[ \t]*[,;][ \t]*[0-9]{1,3}){0,20})"
    r"\\?\]?[ \t]*\|(?:[ \t]*\|){1,30}[ \t]*(?:\n|\Z)"
)
_ROW_BELOW = re.compile(  # the same, cut loose: a paragraph of nothing but numbers right under a table
    r"\|[ \t\ufdd0]*\n(?:[ \t]*\n)?[ \t]*([0-9]{1,3}(?:[ \t]*,[ \t]*[0-9]{1,3}){0,9})[ \t]*"
    r"(?=\n[ \t\ufdd0]*(?:\n|\Z)|\Z)"
)
_DELIMITER = re.compile(r"^[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)+\|?[ \t]*$", re.MULTILINE)
SOURCE_HEAD = re.compile(
    r"[\s*_]*(?:sources?|refs?\.?|references?|citations?|(?:source|ref|reference|citation)\(s\)"
    r"|source ?(?:id|no\.?|#)s?|来源|参考|参考文献|引用|资料来源"
    r"|出处|出典|quellen?|fuentes?|fontes?|fonti|link|links|source links?|url|urls|dois?|pmc?ids?)[\s*_]*$",
    re.IGNORECASE,
)
_LINKS_CELL = re.compile(
    r"(?:[\s,;*_<>]|\band\b|\\?\[[^\[\]|\n]{0,200}+\]\([^\s()|]{1,500}+\)|https?://[^\s|<>]{1,500}+){1,40}+"
)
_MARKED_CELL = re.compile(rf"[^\W\d_]{{3}}[^|\n{GONE}]*{GONE}+[\s.]*$")
_TRAILING_NUMBER = re.compile(r"([^\s|]{2,40})[ ]([0-9]{1,3})[ \t]*$")
_NOTHING = f" \t{GONE}-–—*_.,;"
_NUMBERS_CELL = re.compile(r"[\s]*([0-9]{1,3}(?:[ \t]*[,;–-][ \t]*[0-9]{1,3}){0,20})[ \t.]*$")


def find_table_sources(text: str, listed: frozenset[int]) -> Iterator[Span]:
    """Rows and cells that hold nothing but numbers of the list. Empty without a list: numbered rows are content."""
    if not listed or "|" not in text:
        return
    for row in _STRAY_ROW.finditer(text):
        start = text.rfind("\n", 0, row.start()) + 1
        if not text[start : row.start()].strip(" \t") and _all_listed(row[1], listed):
            yield Span(start, row.end(), "table_citation")
    for row in _ROW_BELOW.finditer(text):
        if _all_listed(row[1], listed):
            yield Span(row.start(1), row.end(1), "table_citation")
    for delimiter in _delimiters(text):
        for a, b in _source_cells(text, delimiter):
            match = _NUMBERS_CELL.match(text, a, b)
            if match and _all_listed(match[1], listed):
                yield Span(match.start(1), match.end(1), "table_citation")
        yield from _cited_cells(text, delimiter, listed)


def _cited_cells(text: str, delimiter: re.Match[str], listed: frozenset[int]) -> Iterator[Span]:
    """Numbers that stand for marks in a column that cites throughout: alone in their cell, or behind its words."""
    columns: dict[int, list[tuple[int, int]]] = {}
    for row in _rows(text, delimiter) if GONE in text else ():
        for column, (a, b) in enumerate(row):
            if text[a:b].strip(f" \t{GONE}"):
                columns.setdefault(column, []).append((a, b))
    for cells in columns.values():
        bare = [match for a, b in cells if (match := _NUMBERS_CELL.match(text, a, b))]
        marked = sum(GONE in text[a:b] and bool(_MARKED_CELL.search(text, a, b)) for a, b in cells)
        if marked >= 3 and marked > len(bare) and marked + len(bare) == len(cells):
            yield from (Span(m.start(1), m.end(1), "table_citation") for m in bare if _all_listed(m[1], listed))
        elif not bare:
            yield from _trailing(text, cells, marked, listed)


def _trailing(text: str, cells: list[tuple[int, int]], marked: int, listed: frozenset[int]) -> Iterator[Span]:
    """`Loss of bearings 27` in nearly every cell of a column. Counts repeat their unit, names are written large."""
    found = [match for a, b in cells if (match := _TRAILING_NUMBER.search(text, a, b))]
    numbers = [int(match[2]) for match in found]
    distinct = len({match[1] for match in found})
    small = sum(match[1][0].islower() or match[1][-1] == ")" for match in found)
    words = sum(len(text[a:b].split()) - 1 for a, b in cells)
    if (
        len(found) >= 4
        and 4 * (len(found) + marked) >= 3 * len(cells)
        and 4 * distinct >= 3 * len(found)
        and 2 * small >= len(found)
        and words >= 2 * len(cells)
        and any(a >= b for a, b in pairwise(numbers))
        and all(number in listed for number in numbers)
    ):
        yield from (Span(match.start(2), match.end(2), "table_citation") for match in found)


def find_linked_cells(text: str) -> Iterator[Span]:
    """Cells of a column headed `Source` that hold nothing but links and addresses."""
    if "|" not in text or not ("](" in text or "://" in text):
        return
    for delimiter in _delimiters(text):
        for a, b in _source_cells(text, delimiter):
            if _LINKS_CELL.fullmatch(text, a, b) and text[a:b].strip():
                yield Span(a + len(text[a:b]) - len(text[a:b].lstrip()), a + len(text[a:b].rstrip()), "table_citation")


def find_emptied_columns(text: str) -> Iterator[Span]:
    """The head of a column `Source` without a word left in its cells: it would tell who had cited there."""
    if "|" not in text:
        return
    for delimiter in _delimiters(text):
        heads = _source_heads(text, delimiter)
        rows = list(_rows(text, delimiter)) if heads else []
        for column, (a, b) in heads.items() if rows else ():
            cells = (text[slice(*row[column])] for row in rows if column < len(row))
            if not any(cell.strip(_NOTHING) for cell in cells):
                yield Span(a + len(text[a:b]) - len(text[a:b].lstrip()), a + len(text[a:b].rstrip()), "label")


def _delimiters(text: str) -> Iterator[re.Match[str]]:
    """The line below each table's head; dashes are looked for first, which is far faster than every line's start."""
    place = text.find("--")
    while place >= 0:
        if delimiter := _DELIMITER.match(text, text.rfind("\n", 0, place) + 1):
            yield delimiter
        line_end = text.find("\n", place)
        place = text.find("--", line_end) if line_end >= 0 else -1


def _source_cells(text: str, delimiter: re.Match[str]) -> Iterator[tuple[int, int]]:
    columns = _source_heads(text, delimiter)
    for row in _rows(text, delimiter) if columns else ():
        yield from (row[column] for column in columns if column < len(row))


def _source_heads(text: str, delimiter: re.Match[str]) -> dict[int, tuple[int, int]]:
    """column -> the cell at its head, of columns that are headed as sources."""
    head_start = (
        text.rfind("\n", 0, max(0, delimiter.start() - 1)) + 1
        if delimiter.start() - 1 < 20_000
        else max(text.rfind("\n", delimiter.start() - 5_000, delimiter.start() - 1) + 1, delimiter.start() - 5_000)
    )
    heads = enumerate(_cells(text, head_start, delimiter.start() - 1))
    return {n: (a, b) for n, (a, b) in heads if SOURCE_HEAD.match(text[a:b])}


def _rows(text: str, delimiter: re.Match[str]) -> Iterator[list[tuple[int, int]]]:
    """The cells of each row under `delimiter`, down to the table's end."""
    place = delimiter.end() + 1
    while place < len(text):
        end = text.find("\n", place)
        end = len(text) if end < 0 else end
        if "|" not in text[place:end] or _DELIMITER.match(text, place, end):
            return
        yield list(_cells(text, place, end))
        place = end + 1


def _cells(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    line = text[start:end]
    place = start + (len(line) - len(line.lstrip()) + 1 if line.lstrip().startswith("|") else 0)
    while place < end:
        bar = text.find("|", place, end)
        stop = end if bar < 0 else bar
        yield place, stop
        place = stop + 1


def _all_listed(numbers: str, listed: frozenset[int]) -> bool:
    return all(int(n) in listed for n in re.findall(r"[0-9]+", numbers))
