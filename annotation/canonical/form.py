"""Canonical format: the order of its steps, and the outline that they make (title, numbers, levels of headings).

Every report of a study passes it, the human reference too.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from annotation.canonical import characters, markup
from annotation.canonical.blocks import (
    BOLD_LINE,
    EMOJI,
    LONGEST_HEADING,
    Block,
    Reader,
    is_wrapped,
    tidy_table,
    write_blocks,
)
from annotation.canonical.formulas import plain_formula
from annotation.canonical.plain import plain_blocks, plain_line
from annotation.canonical.shelf import TOKEN, Shelf, put_away

_WORDS = re.compile(r"[^\W_]+")
_SECTIONS = frozenset(
    """introduction overview abstract summary background history contents preface foreword preamble synopsis scope
    purpose objective objectives methodology methods conclusion conclusions findings biography early life career
    executive key and of table the lead section
    引言 摘要 概述 概要 背景 前言 简介 绪论 导论 目录 概览 总览 执行摘要 研究背景""".split()  # noqa: SIM905  (lines of words)
)
_BOX = re.compile(r"^(?:[☐☒]|\[X\])\s+(?=\S)")  # of a task, as Word and pages draw it
_ARABIC = re.compile(
    r"[(（]?([0-9]{1,2}(?:\.[0-9]{1,2}){0,4})(?:\\?[.)）、．:：](?:\s+|(?=[^\d\s.]))|\s*[、．]\s*|\s+)(?=\S)"
)
_ROMAN = re.compile(r"([IVXLC]{1,7})\\?[.)、:]\s+(?=\S)")
_CJK = re.compile(r"(?:[(（]([一二三四五六七八九十]{1,3})[)）]|第?([一二三四五六七八九十]{1,3})[、．.章节節])\s*(?=\S)")
_CJK_DIGITS = {sign: value for value, sign in enumerate("一二三四五六七八九", start=1)}
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}

# 3: paragraphs of the plain layout have an even length. 4: no column is called left. 5: no code says its language, no
# column of sources is kept without them, boxes of tasks are as Markdown has them. 6: formulas are spelled alike.
# 7: they end before a number
CANONICAL_VERSION = "7"
# How far reports are laid out alike, each with all of the one before: nothing is changed; blanks, entities, escapes and
# punctuation; one layout for all; that layout without the habits that it leaves to a writer.
Layout = Literal["kept", "spacing", "canonical", "plain"]
UNCHANGED = "none"  # the version of a text that was left as it came
_MOST_PASSES = 8  # what one change uncovers the next pass takes; the second pass rarely finds anything


@dataclass(frozen=True)
class Canonical:
    """A report in canonical format. `changes`: how many of each kind were made, kinds without any left out."""

    text: str
    changes: dict[str, int] = field(hash=False)
    version: str


def canonical_format(markdown: str, title: str | None = None, layout: Layout = "canonical") -> Canonical:
    """`markdown` in the one layout that all reports of a study share. Never raises; idempotent; linear time.

    `title`: the topic's title, which replaces the report's own or is added, from `canonical` on. The letters and digits
    stay in their order, but for the title, numbers of headings and lists, and tags with their attributes; `plain` also
    takes the phrases of `canonical.plain`. Code is left alone but for its language, of a formula what it shows. Empty
    stays empty.
    """
    if layout == "kept":
        return Canonical(markdown, {}, UNCHANGED)
    counts: Counter[str] = Counter()
    wanted = characters.single_blanks(title.replace("\n", " "), Counter()) if title else ""
    text = markdown
    for _ in range(_MOST_PASSES):
        before = text
        if layout == "spacing":
            text = _spaced(text, counts)
        else:
            text = _formatted(text, wanted or None, counts, plain=layout == "plain")
        if text == before:
            break
    changes = {name: number for name, number in sorted(counts.items()) if number}
    return Canonical(text, changes, f"{CANONICAL_VERSION}/{layout}")


def _formatted(text: str, title: str | None, counts: Counter[str], *, plain: bool) -> str:
    shelf = Shelf()
    text = put_away(characters.plain_line_ends(text, counts), shelf, counts, plain_formula)
    if shelf.full:  # over 65,534 formulas and pieces of code: no report
        return shelf.back(text)
    text = markup.without_blocks(characters.plain_blanks(text, counts), counts)
    lines = _lines(text, counts)
    blocks = Reader(shelf, counts, wrapped=is_wrapped(lines)).read(lines)
    _format_blocks(blocks, shelf, counts, plain=plain)
    blocks = [block for block in blocks if block.text or block.rows or block.children]
    blocks = outline(blocks, _literal(title) if title else None, counts)
    if plain:
        blocks = plain_blocks(blocks, shelf, counts)
    return _ended(shelf.back(shelf.apart(write_blocks(blocks, shelf))))


def _spaced(text: str, counts: Counter[str]) -> str:
    shelf = Shelf()
    text = put_away(characters.plain_line_ends(text, counts), shelf, counts)
    if shelf.full:
        return shelf.back(text)
    out: list[str] = []
    for line in _lines(characters.plain_blanks(text, counts), counts):
        bare = line.lstrip()
        if any(map(str.isalnum, bare)):  # rules and the dashes under a table's header are no punctuation
            indent = line[: len(line) - len(bare)]
            bare = characters.drop_escapes(characters.decode_entities(bare, counts), counts)
            line = indent + characters.plain_punctuation(characters.single_blanks(bare, counts), counts)
        if line or (out and out[-1]):
            out.append(line)
        else:
            counts["empty_lines"] += 1
    return _ended(shelf.back("\n".join(out)))


def _ended(text: str) -> str:
    text = text.strip("\n")
    return text + "\n" if text.strip() else ""


def _lines(text: str, counts: Counter[str]) -> list[str]:
    """Lines without blanks or a backslash at their ends."""
    lines: list[str] = []
    for line in text.split("\n"):
        bare = line.rstrip(" \t\u3000")
        counts["trailing_blanks"] += bare != line
        if bare.endswith("\\") and (len(bare) - len(bare.rstrip("\\"))) % 2:
            counts["line_breaks"] += 1
            bare = bare[:-1].rstrip(" \t\u3000")
        lines.append(bare)
    return lines


def _format_blocks(blocks: Iterable[Block], shelf: Shelf, counts: Counter[str], *, plain: bool) -> None:
    for block in blocks:
        if block.kind == "table":
            block.rows = [
                [_inline(cell, shelf, counts, plain=plain, in_cell=True, header=row is block.rows[0]) for cell in row]
                for row in block.rows
            ]
            tidy_table(block, counts)
        elif block.kind == "quote":
            _format_blocks(block.children, shelf, counts, plain=plain)
            block.children = [child for child in block.children if child.text or child.rows or child.children]
        elif block.kind == "heading":
            block.text = _without_emoji(_inline(block.text, shelf, counts, plain=plain, keep=False), counts)
        elif block.kind == "item":
            text = _BOX.sub(lambda box: "[ ] " if box[0][0] == "☐" else "[x] ", block.text)  # as Markdown has it
            block.text = _without_emoji(_inline(text, shelf, counts, plain=plain), counts)
        elif block.kind == "paragraph":
            block.text = _inline(block.text, shelf, counts, plain=plain)
            if characters.is_bold_throughout(block.text) and len(block.text) > LONGEST_HEADING + 4:
                block.text = block.text[2:-2]
                counts["bold_paragraphs"] += 1


def _inline(
    text: str, shelf: Shelf, counts: Counter[str], *, plain: bool, keep: bool = True, in_cell: bool = False,
    header: bool = False,
) -> str:  # fmt: skip
    def edge(sign: str) -> str:
        return shelf.piece(sign) if TOKEN.match(sign) else sign

    text = characters.decode_entities(markup.without_tags(text, counts, in_cell=in_cell), counts)
    text = characters.plain_emphasis(text, counts, keep=keep and not plain, edge=edge)
    if header and characters.is_bold_throughout(text):  # a header is bold by itself
        text = text[2:-2]
        counts["header_emphasis"] += 1
    text = characters.drop_escapes(text, counts, starts_line=keep and not in_cell)
    text = characters.plain_punctuation(characters.single_blanks(text, counts), counts)
    return plain_line(text, counts, in_cell=in_cell) if plain else text


def _without_emoji(text: str, counts: Counter[str]) -> str:
    opening = len(text) - len(text.lstrip("*_"))
    match = EMOJI.match(text, opening)
    if not match:
        return text
    counts["emoji"] += 1
    return text[:opening] + text[match.end() :]


def _literal(title: str) -> str:
    """A title as Markdown that shows exactly its words."""
    marked = title.replace("\\", "\\\\")
    for sign in "*`<":
        marked = marked.replace(sign, "\\" + sign)
    return characters.plain_punctuation(marked, Counter())


def outline(blocks: list[Block], title: str | None, counts: Counter[str]) -> list[Block]:
    """`blocks` with the title as the only level 1, headings without numbers, levels from 2 down without gaps.

    Without `title` a heading that is plainly the report's own title keeps its words.
    """
    own = _own_title(blocks, title)
    shown = own if title is None else title
    rest = blocks if own is None else blocks[1:]
    if shown is not None and blocks:
        counts["title"] += shown != own or blocks[0].kind != "heading" or blocks[0].level != 1
    headings = [block for block in rest if block.kind == "heading"]
    _drop_numbers(headings, counts)
    _rebase(headings, counts)
    return [Block("heading", shown, 1), *rest] if shown is not None and blocks else rest


def _own_title(blocks: Sequence[Block], title: str | None) -> str | None:
    """The text of the first block where it is the report's title, else None."""
    if not blocks:
        return None
    first = blocks[0]
    if first.kind == "paragraph" and title is not None:
        return first.text if _words(first.text) == _words(title) != [] else None
    if first.kind != "heading":
        return None
    if title is not None and _alike(_words(first.text), _words(title)):
        return first.text
    if first.level != 1 or _SECTIONS.issuperset(_words(first.text)):
        return None
    others = [block.level for block in blocks[1:] if block.kind == "heading"]
    before_another = len(blocks) > 1 and blocks[1].kind == "heading" and blocks[1].level == 1
    return first.text if 1 not in others or before_another else None


def _words(text: str) -> list[str]:
    return _WORDS.findall(text.casefold())


def _alike(heading: list[str], title: list[str]) -> bool:
    a, b = set(heading), set(title)
    if not a or not b:
        return False
    return a <= b or b <= a or len(a & b) >= 0.6 * len(a | b)


def _drop_numbers(headings: Sequence[Block], counts: Counter[str]) -> None:
    for pattern, value in ((_ARABIC, _arabic), (_ROMAN, _roman), (_CJK, _cjk)):
        numbered = [(heading, match) for heading in headings if (match := pattern.match(heading.text))]
        values = [value(match) for _, match in numbered]
        counted = _counted(values)
        levels = {len(v): h.level for (h, _), v in zip(numbered, values, strict=True) if h.level != BOLD_LINE}
        for (heading, match), number in zip(numbered, values, strict=True):
            if number in counted:
                if heading.level == BOLD_LINE:  # `**2. Methods**` is a sister of `## 1. Introduction`
                    heading.level = levels.get(len(number), BOLD_LINE)
                heading.text = heading.text[match.end() :]
                counts["heading_numbers"] += 1


def _counted(values: Sequence[tuple[int, ...]]) -> frozenset[tuple[int, ...]]:
    """The numbers that are part of a count: two of one parent in a row, or sections of a chapter that counts."""
    latest: dict[tuple[int, ...], tuple[int, ...]] = {}  # parent -> its latest child
    seen: set[tuple[int, ...]] = set()
    for value in values:
        before = latest.get(value[:-1])
        if before is not None and value[-1] == before[-1] + 1:
            seen |= {before, value}
        latest[value[:-1]] = value
    if not seen:
        return frozenset()
    chapters = {value for value in seen if len(value) == 1}
    most = len(values) + 3  # a gap in the count is forgiven, `19 Kids and Counting` is not
    return frozenset(
        value
        for value in values
        if value in seen
        or (len(value) == 1 and chapters and value[0] <= most)
        or (len(value) > 1 and (value[:1] in chapters or any(len(v) > 1 and v[0] == value[0] for v in seen)))
    )


def _arabic(match: re.Match[str]) -> tuple[int, ...]:
    return tuple(int(part) for part in match[1].split("."))


def _roman(match: re.Match[str]) -> tuple[int, ...]:
    values = [_ROMAN_DIGITS[sign] for sign in match[1]]
    return (sum(-v if v < max(values[n:]) else v for n, v in enumerate(values)),)


def _cjk(match: re.Match[str]) -> tuple[int, ...]:
    signs = match[1] or match[2]
    tens, ten, ones = signs.partition("十")
    if not ten:
        return (_CJK_DIGITS.get(signs[-1], 0),)
    return (10 * _CJK_DIGITS.get(tens, 1) + _CJK_DIGITS.get(ones, 0),)


def _rebase(headings: Sequence[Block], counts: Counter[str]) -> None:
    """Each heading one below the nearest earlier heading of a higher level; the highest is 2, the lowest 6."""
    path: list[int] = []
    for heading in headings:
        while path and path[-1] >= heading.level:
            path.pop()
        path.append(heading.level)
        level = min(len(path) + 1, 6)
        counts["heading_levels"] += level != heading.level
        heading.level = level
