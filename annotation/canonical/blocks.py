"""A report's lines as blocks (headings, paragraphs, list items, quotations, tables, code), and blocks as Markdown."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from annotation.canonical.characters import CJK
from annotation.canonical.shelf import Shelf
from annotation.stripping.table_sources import SOURCE_HEAD

BOLD_LINE = 7  # the level of a bold line that stands for a heading: below every `#`
LONGEST_HEADING = 100  # characters of a bold line that may still be one
_MOST_NESTED = 8
_LONGEST_SETEXT = 200

_HEADING = re.compile(r"(#{1,6})(?:[ \t]+|$)(.*)|(#{2,})(?=[^\s#])(.*)|(#{7,})[ \t]+(.*)")
_MARKER = re.compile(r"(?:([-*+◦▪▫●○■□‣⁃∙·–])(?:[ \t]+|$)|(•)[ \t]*+|([0-9]{1,9})([.)])(?:[ \t]+|$))(.*)")
_BOLD = re.compile(r"(?:\*\*(?=\S)([^\n]+?)\*\*|__(?=\S)([^\n]+?)__)([:：]?)$")
_DECORATION = re.compile(r"[-–—─━═=*_~·•⁂❖◆◇★☆✦✧❦※\u2500-\u257f▬+<>\s]+")
_ORNAMENT = re.compile(r"[⁂❖❦※─━═]|([-*_=~·•◆◇★☆✦✧▬—–])\s*\1\s*\1")
_EMOJI_SIGN = (
    "[\U0001f000-\U0001faff\u2600-\u2653\u2668-\u266c\u2670-\u2775\u2794-\u27bf\u231a\u231b\u23e9-\u23fa\u25b6\u2b05-\u2b07"
    "\u2b1b\u2b1c\u2b50\u2b55\u2934\u2935]"
)
EMOJI = re.compile(rf"(?:(?:{_EMOJI_SIGN}|[0-9#*]\ufe0f?\u20e3)[\ufe0f\u200d\U000e0020-\U000e007f]*\s*)+")
_DELIMITER = frozenset("|:- \t")
_SENTENCE_END = re.compile(r"[.!?:;。！？：；…][\"'”’)\]*_]{0,4}\s*\\?$")
_NO_PLAIN_LINE = re.compile(r"\s*(?:[#>|]|[-*+•–] |[0-9]{1,9}[.)] |$)")


@dataclass
class Block:
    """`kind`: heading, paragraph, item, quote, table or code. `depth`: the list items around it."""

    kind: str
    text: str = ""
    level: int = 0
    depth: int = 0
    number: int | None = None  # of an item in a numbered list
    more: list[str] = field(default_factory=list)  # lines to be joined to `text`
    children: "list[Block]" = field(default_factory=list)  # what a quotation holds
    rows: list[list[str]] = field(default_factory=list)  # a table's cells, the header first
    aligned: list[str] = field(default_factory=list)  # delimiter cells: `---`, `:-:` …


def is_wrapped(lines: Sequence[str]) -> bool:
    """True when the line ends inside paragraphs are a typewriter's: then they are blanks, else they end paragraphs.

    A report is wrapped when it separates paragraphs by empty lines and most other lines are 40 to 130 characters long
    and stop in the middle of a sentence.
    """
    plain = [not _NO_PLAIN_LINE.match(line) for line in lines]
    followed = [lines[n] for n in range(len(lines) - 1) if plain[n] and plain[n + 1]]
    separated = any(plain[n] and plain[n + 2] and not lines[n + 1].strip() for n in range(len(lines) - 2))
    if not followed or not separated:
        return False
    open_ended = sum(not _SENTENCE_END.search(line) and 40 <= len(line.strip()) <= 130 for line in followed)
    return open_ended > len(followed) / 2


class Reader:
    """Reads lines into blocks, one pass. Rules and decoration are dropped and counted."""

    def __init__(self, shelf: Shelf, counts: Counter[str], *, wrapped: bool, nested: int = 0) -> None:
        self.shelf = shelf
        self.counts = counts
        self.wrapped = wrapped
        self.nested = nested  # quotations around these lines
        self.blocks: list[Block] = []
        self.markers: list[int] = []  # indents of the list items that are open
        self.open: Block | None = None  # the paragraph or item that a next line may continue
        self.after_empty = True

    def read(self, lines: Sequence[str]) -> list[Block]:
        """The blocks of `lines`."""
        at = 0
        while at < len(lines):
            at = self._step(lines, at)
        for block in self.blocks:
            if block.more:
                block.text = "".join([block.text, *block.more])
                block.more = []
        return [block for block in self.blocks if block.kind != "paragraph" or block.text]

    def _step(self, lines: Sequence[str], at: int) -> int:
        line = lines[at].rstrip()
        bare = line.lstrip()
        if not bare:
            self.open, self.after_empty = None, True
            return at + 1
        indent = len(line[: len(line) - len(bare)].expandtabs(4))
        if (code := self.shelf.block(bare)) is not None:
            self._add(Block("code", bare, depth=self._around(indent) if code.lstrip()[:1] in "`~" else 0))
            return at + 1
        if bare[0] == ">" and indent < 4 and self.nested < _MOST_NESTED:
            return self._quote(lines, at)
        if self._is_table(lines, at):
            return self._table(lines, at, indent)
        if self._underlines(bare):
            return at + 1
        if _is_decoration(bare):
            self.counts["rules"] += 1
            self.open, self.after_empty = None, True
            return at + 1
        if bare[0] == "#" and (heading := _HEADING.match(bare)):
            self._heading(heading, indent)
        else:
            self._text(bare, indent)
        self.after_empty = False
        return at + 1

    def _add(self, block: Block, *, stays_open: bool = False) -> None:
        self.blocks.append(block)
        if block.depth == 0 and block.kind != "item":
            self.markers = []
        self.open = block if stays_open else None
        self.after_empty = False

    def _around(self, indent: int) -> int:
        """How many open items a block with this indent lies in; the others are closed."""
        while self.markers and indent < self.markers[-1] + 2:
            self.markers.pop()
        return len(self.markers)

    def _heading(self, match: re.Match[str], indent: int) -> None:
        signs = match[1] or match[3] or match[5]
        text = (match[2] or match[4] or match[6] or "").strip()
        bare = re.sub(r"(?:^|[ \t])#+$", "", text).rstrip()
        self.counts["heading_marks"] += bare != text or not match[1]
        if not any(map(str.isalnum, self.shelf.back(bare))):
            self.counts["rules"] += 1
            return
        self._add(self._as_heading(bare, min(len(signs), 6), self._around(indent)))

    def _as_heading(self, text: str, level: int, depth: int) -> Block:
        """In lists and quotations a heading is a bold paragraph: the page's outline belongs to the report."""
        if self.nested or depth:
            self.counts["nested_headings"] += 1
            return Block("paragraph", f"**{text}**" if "*" not in text else text, depth=depth)
        return Block("heading", text, level)

    def _underlines(self, bare: str) -> bool:
        """True when this line is the underline of the paragraph before, which thereby became a heading."""
        before = self.open
        if (
            set(bare) not in ({"="}, {"-"})
            or before is None
            or before.kind != "paragraph"
            or before.depth
            or self.nested
        ):
            return False
        if bare == "-" or before.more or len(before.text) > _LONGEST_SETEXT or before.text.endswith((".", "。")):
            return False
        self.blocks[-1] = Block("heading", before.text, 1 if bare[0] == "=" else 2)
        self.counts["setext_headings"] += 1
        self.open = None
        return True

    def _text(self, bare: str, indent: int) -> None:
        marker = _MARKER.match(bare)
        if marker and not self._is_prose(marker):
            self._item(marker, indent)
            return
        bold = _BOLD.match(bare) if bare[:2] in ("**", "__") else None
        if bold and not self.nested and (indent < 2 or not self.markers) and self._may_head(bold):
            self.counts["bold_line_headings"] += 1
            self._add(Block("heading", (bold[1] or bold[2]) + bold[3], BOLD_LINE))
            return
        into = self.open
        if into is not None and not self.after_empty:
            inside = into.kind == "item" and indent >= 2
            if inside or self.wrapped:
                into.more.append(_joint(into.more[-1] if into.more else into.text, bare) + bare)
                self.counts["joined_lines"] += 1
                return
            self.counts["split_lines"] += into.kind == "paragraph"
        self._add(Block("paragraph", bare, depth=self._around(indent)), stays_open=True)

    def _may_head(self, bold: re.Match[str]) -> bool:
        text = (bold[1] or bold[2]).strip()
        if len(text) > LONGEST_HEADING or text.endswith((".", "。")) or "**" in text or "__" in text:
            return False
        return any(map(str.isalnum, text)) and not (self.wrapped and self.open is not None)

    def _is_prose(self, marker: re.Match[str]) -> bool:
        """A year or number that a wrapped line happens to begin with, or that is all there is."""
        if marker[3] and not marker[5].strip():
            return True
        return bool(marker[3]) and self.wrapped and self.open is not None and not self.markers and marker[3] != "1"

    def _item(self, marker: re.Match[str], indent: int) -> None:
        depth = min(self._around(indent), _MOST_NESTED)
        sign = marker[1] or marker[2]
        self.counts["bullets"] += sign not in (None, "-")
        self.counts["list_numbers"] += marker[4] == ")"
        block = Block("item", depth=depth, number=int(marker[3]) if marker[3] else None)
        self._add(block, stays_open=True)
        self.markers = [*self.markers[:depth], indent]
        rest = marker[5].strip()
        inner = _MARKER.match(rest)
        if inner and depth < _MOST_NESTED and not self._is_prose(inner):
            self._item(inner, indent + 2)
            return
        if (heading := _HEADING.match(rest)) and heading[1]:
            rest = self._as_heading(re.sub(r"[ \t]#+$", "", heading[2]).strip(), 1, 1).text
        block.text = rest

    def _quote(self, lines: Sequence[str], at: int) -> int:
        start = at
        while at < len(lines) and lines[at].lstrip().startswith(">"):
            at += 1
        inner = [re.sub(r"^[ \t]*>[ \t]?", "", line) for line in lines[start:at]]
        reader = Reader(self.shelf, self.counts, wrapped=self.wrapped, nested=self.nested + 1)
        indent = len(lines[start]) - len(lines[start].lstrip())
        self._add(Block("quote", children=reader.read(inner), depth=self._around(indent)))
        return at

    def _is_table(self, lines: Sequence[str], at: int) -> bool:
        line = lines[at].strip()
        following = lines[at + 1].strip() if at + 1 < len(lines) else ""
        if line[0] == "|" and len(line) > 1 and (line[-1] == "|" or following.startswith("|")):
            return True
        return "|" in line and _is_delimiter(following)

    def _table(self, lines: Sequence[str], at: int, indent: int) -> int:
        rows: list[list[str]] = []
        aligned: list[str] = []
        while at < len(lines):
            line = lines[at].strip()
            if not line:  # rows set apart by empty lines still make one table
                if not _goes_on(lines, at, len(rows[0]) if rows else 0):
                    break
            elif _is_delimiter(line) and (not rows or (len(rows) == 1 and not aligned)):
                aligned = cells(line) if rows else []  # above the header it aligns nothing
            elif "|" in line and (line[0] == "|" or aligned or not rows):
                if rows and line[0] == "|" and at + 1 < len(lines) and _is_delimiter(lines[at + 1]) and aligned:
                    break  # the next table's header
                rows.append(cells(line))
            else:
                break
            at += 1
        self._add(Block("table", rows=rows, aligned=aligned, depth=self._around(indent)))
        return at


def cells(line: str) -> list[str]:
    """The cells of one table row; an escaped bar belongs to its cell."""
    line = line.strip()
    bars = [match.start() for match in re.finditer(r"\\.|\|", line) if match[0] == "|"]
    if bars and bars[0] == 0:
        line, bars = line[1:], [bar - 1 for bar in bars[1:]]
    edges = [-1, *bars, *([] if bars and bars[-1] == len(line) - 1 else [len(line)])]
    return [line[start + 1 : end].strip() for start, end in pairwise(edges)]


def _goes_on(lines: Sequence[str], at: int, width: int) -> bool:
    following = lines[at + 1].strip() if at + 1 < len(lines) else ""
    if not following.startswith("|") or len(cells(following)) != width or _is_delimiter(following):
        return False
    return at + 2 >= len(lines) or not _is_delimiter(lines[at + 2])


def _is_delimiter(line: str) -> bool:
    return "|" in line and "-" in line and _DELIMITER.issuperset(line)


def _is_decoration(bare: str) -> bool:
    if bare[0].isalnum():
        return False
    if _DECORATION.fullmatch(bare):
        return bool(_ORNAMENT.search(bare))
    return bool(EMOJI.fullmatch(bare)) and not any(map(str.isalnum, bare))


def _joint(before: str, after: str) -> str:
    return "" if before and CJK.match(before[-1]) and CJK.match(after) else " " * bool(before)


def tidy_table(table: Block, counts: Counter[str]) -> None:
    """Pad ragged rows, drop empty rows and columns; in place. An empty header above full rows stays."""
    rows = table.rows
    width = max(map(len, rows), default=0)
    counts["table_cells_padded"] += sum(len(row) < width for row in rows)
    rows = [row + [""] * (width - len(row)) for row in rows]
    kept = rows[:1] + [row for row in rows[1:] if any(row)]
    counts["table_rows_dropped"] += len(rows) - len(kept)
    heads = {n for n in range(width) if kept[1:] and SOURCE_HEAD.match(kept[0][n])}  # alone it tells who had cited
    columns = [n for n in range(width) if any(row[n] for row in kept[n in heads :])]
    counts["table_columns_dropped"] += width - len(columns)
    aligned = [_alignment(table.aligned[n]) if n < len(table.aligned) else "---" for n in columns]
    counts["table_delimiters"] += not table.aligned
    table.rows = [[row[n] for n in columns] for row in kept] if columns else []
    table.aligned = aligned


def _alignment(delimiter: str) -> str:
    """Left is where cells begin anyway: who says so tells the program that wrote the table."""
    if len(delimiter) == 1 or not delimiter.endswith(":"):
        return "---"
    return ":" * delimiter.startswith(":") + "---:"


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
    """Fenced code, moved to the indent of its place, without its language, which some formats do not tell."""
    lines = re.sub(r"\A(\s*(?:`{3,}|~{3,})).*", r"\1", shelf.block(block.text) or "").split("\n")
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
