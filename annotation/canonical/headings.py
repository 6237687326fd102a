"""The outline of a report: its title, numbers before headings, levels."""

import re
from collections import Counter
from collections.abc import Sequence

from annotation.canonical.blocks import BOLD_LINE, Block

_WORDS = re.compile(r"[^\W_]+")
_SECTIONS = frozenset(
    """introduction overview abstract summary background history contents preface foreword preamble synopsis scope
    purpose objective objectives methodology methods conclusion conclusions findings biography early life career
    executive key and of table the lead section
    引言 摘要 概述 概要 背景 前言 简介 绪论 导论 目录 概览 总览 执行摘要 研究背景""".split()  # noqa: SIM905  (lines of words)
)
_ARABIC = re.compile(
    r"[(（]?([0-9]{1,2}(?:\.[0-9]{1,2}){0,4})(?:\\?[.)）、．:：](?:\s+|(?=[^\d\s.]))|\s*[、．]\s*|\s+)(?=\S)"
)
_ROMAN = re.compile(r"([IVXLC]{1,7})\\?[.)、:]\s+(?=\S)")
_CJK = re.compile(r"(?:[(（]([一二三四五六七八九十]{1,3})[)）]|第?([一二三四五六七八九十]{1,3})[、．.章节節])\s*(?=\S)")
_CJK_DIGITS = {sign: value for value, sign in enumerate("一二三四五六七八九", start=1)}
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}


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
