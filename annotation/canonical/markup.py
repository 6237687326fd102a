"""HTML and wikitext inside Markdown: tables become Markdown tables, other tags go, what they hold stays."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from annotation.canonical.shelf import TOKEN

_BLOCKS = (
    "p|div|section|article|header|footer|main|aside|center|blockquote|details|summary|figure|figcaption|ul|ol|dl|dt|dd"
    "|hr|table|tr|td|th|thead|tbody|tfoot|caption|colgroup|col|h[1-6]|li|pre"
)
_INLINES = (
    "b|i|u|s|em|strong|span|font|small|big|sub|sup|a|img|abbr|mark|del|ins|kbd|code|var|samp|q|cite|dfn|tt|strike|label"
    "|nobr|wbr|br|ruby|rt|rp|button|input|script|style|svg|iframe"
)
_ATTRIBUTES = r"(?:\s[^<>=]{1,100}=[^<>]{0,500})?\s{0,9}/?"
_BLOCK = re.compile(rf"<(/?)({_BLOCKS}){_ATTRIBUTES}>", re.IGNORECASE)
_INLINE = re.compile(rf"</?({_INLINES}){_ATTRIBUTES}>", re.IGNORECASE)
_BREAK = re.compile(rf"\s{{0,9}}<br{_ATTRIBUTES}>\s{{0,9}}", re.IGNORECASE)
_POWER = re.compile(rf"(?:(?<=[\w)])|(?<={TOKEN.pattern}))<sup>([+\-−]?[0-9]{{1,6}})</sup>", re.IGNORECASE)
_TABLE_END = re.compile(r"</table\s{0,9}>", re.IGNORECASE)
_TABLE_START = re.compile(rf"<table{_ATTRIBUTES}>", re.IGNORECASE)
_TABLE_PART = re.compile(
    rf"<(/?)(table|thead|tbody|tfoot|tr|td|th|caption|colgroup|col)({_ATTRIBUTES})>", re.IGNORECASE
)
_SPAN = re.compile(r"\b(col|row)span\s{0,9}=\s{0,9}[\"']?([0-9]{1,2})", re.IGNORECASE)
_WIKI_ATTRIBUTES = re.compile(r"\s{0,9}[\w-]{1,30}\s{0,9}=[^|\[\]]{0,300}\|(?!\|)")
_MOST_COLUMNS = 60


@dataclass(frozen=True)
class _Cell:
    text: str
    columns: int = 1
    rows: int = 1


def without_blocks(text: str, counts: Counter[str]) -> str:
    """`text` with tables as Markdown and with paragraphs, headings and list items in place of their tags."""
    if "{|" in text:
        text = _wiki_tables(text, counts)
    if "<" not in text:
        return text
    text = _html_tables(text, counts)
    return "\n".join(_without_block_tags(line, counts) if "<" in line else line for line in text.split("\n"))


def without_tags(text: str, counts: Counter[str], *, in_cell: bool = False) -> str:
    """`text` without inline tags; a line break is a blank, in a table's cell `; `."""
    if "<" not in text:
        return text
    text, powers = _POWER.subn(r"^\1", text)
    text, breaks = _BREAK.subn("; " if in_cell else " ", text)
    text, tags = _INLINE.subn("", text)
    counts["html_tags"] += powers + breaks + tags
    return text.strip("; ") if in_cell and breaks else text


def _without_block_tags(line: str, counts: Counter[str]) -> str:
    in_table = line.lstrip().startswith("|")

    def replaced(match: re.Match[str]) -> str:
        counts["html_tags"] += 1
        name = match[2].lower()
        if in_table:
            return " "
        if name == "li":
            return "" if match[1] else "\n- "
        if name[0] == "h" and name[1].isdigit():
            return "\n\n" if match[1] else "\n\n" + "#" * int(name[1]) + " "
        return "\n\n"

    return _BLOCK.sub(replaced, line)


def _html_tables(text: str, counts: Counter[str]) -> str:
    ends = [match.end() for match in _TABLE_END.finditer(text)]
    kept: list[str] = []
    done = 0
    for opener in _TABLE_START.finditer(text) if ends else ():
        behind = bisect_right(ends, opener.end())
        if opener.start() < done or behind == len(ends):
            continue
        kept += (text[done : opener.start()], _from_html(text[opener.end() : ends[behind]]))
        done = ends[behind]
        counts["html_tables"] += 1
    return "".join(kept) + text[done:]


def _from_html(inside: str) -> str:
    rows: list[list[_Cell]] = []
    beside: list[str] = []  # captions, and text that stands in no cell
    parts = list(_TABLE_PART.finditer(inside))
    ends = [part.start() for part in parts[1:]] + [len(inside)]
    for part, end in zip(parts, ends, strict=True):
        name, opens = part[2].lower(), not part[1]
        content = " ".join(inside[part.end() : end].split())
        if name == "tr" and opens:
            rows.append([])
        if name in ("td", "th") and opens:
            if not rows:
                rows.append([])
            spans = {kind.lower(): int(number) for kind, number in _SPAN.findall(part[3])}
            rows[-1].append(_Cell(content, spans.get("col", 1), spans.get("row", 1)))
        elif content:
            beside.append(content)
    before = " ".join(inside[: parts[0].start()].split()) if parts else " ".join(inside.split())
    return "\n\n".join(["", *([before] if before else []), *beside, _pipes(rows), ""])


def _wiki_tables(text: str, counts: Counter[str]) -> str:
    lines = text.split("\n")
    ends = [n for n, line in enumerate(lines) if line.lstrip().startswith("|}")]
    kept: list[str] = []
    at = 0
    while at < len(lines):
        behind = bisect_right(ends, at)
        if lines[at].lstrip().startswith("{|") and behind < len(ends):
            kept.append(_from_wiki(lines[at + 1 : ends[behind]]))
            tail = lines[ends[behind]].lstrip()[2:]
            kept += [tail] if tail.strip() else []
            at = ends[behind]
            counts["wiki_tables"] += 1
        else:
            kept.append(lines[at])
        at += 1
    return "\n".join(kept)


def _from_wiki(lines: Iterable[str]) -> str:
    rows: list[list[_Cell]] = [[]]
    captions: list[str] = []
    for line in (line.strip() for line in lines):
        if line.startswith("|+"):
            captions.append(_wiki_cell(line[2:]).text)
        elif line.startswith(("|-", "{|")):
            rows.append([])
        elif line.startswith(("|", "!")):
            rows[-1] += [_wiki_cell(cell) for cell in re.split(r"\|\||!!" if line[0] == "!" else r"\|\|", line[1:])]
        elif line and rows[-1]:
            last = rows[-1][-1]
            rows[-1][-1] = _Cell(f"{last.text} {line}".strip(), last.columns, last.rows)
        elif line:
            captions.append(line)
    return "\n\n".join(["", *captions, _pipes(rows), ""])


def _wiki_cell(cell: str) -> _Cell:
    attributes = _WIKI_ATTRIBUTES.match(cell)
    spans = {k.lower(): int(number) for k, number in _SPAN.findall(attributes[0])} if attributes else {}
    return _Cell(cell[attributes.end() if attributes else 0 :].strip(), spans.get("col", 1), spans.get("row", 1))


def _pipes(rows: list[list[_Cell]]) -> str:
    """A Markdown table; a cell over several columns or rows is followed by empty ones, so that columns stay true."""
    grid: list[list[str]] = []
    owed: dict[int, int] = {}  # column -> rows below that a cell above reaches into
    for row in (row for row in rows if row):
        line: list[str] = []

        def skip_owed(line: list[str] = line) -> None:
            while owed.get(len(line), 0) > 0:
                owed[len(line)] -= 1
                line.append("")

        for cell in row:
            skip_owed()
            width = min(cell.columns, max(1, _MOST_COLUMNS - len(line)))
            for column in range(len(line), len(line) + width):
                owed[column] = cell.rows - 1
            line += [cell.text] + [""] * (width - 1)
        skip_owed()
        grid.append(line)
    if not grid:
        return ""
    table = ["| " + " | ".join(re.sub(r"(?<!\\)\|", r"\\|", cell) for cell in line) + " |" for line in grid]
    return "\n".join([table[0], "|" + " --- |" * len(grid[0]), *table[1:]])
