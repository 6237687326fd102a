"""What only the very end of a report makes a list of sources: numbered without a heading, or titles without records."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from annotation.stripping.reference_entries import grade, is_prose
from annotation.stripping.reference_headings import announces_sources
from annotation.stripping.report_lines import Lines

_ITEM = re.compile(r"[ \t>]{0,4}(?:\(([0-9]{1,3})\)|([0-9]{1,3})\\?[.)])[ \t]+\S")
_BULLET = re.compile(r"[ \t>]{0,6}(?:[-*•·+]|\(?[0-9]{1,3}\\?[.)])[ \t]+\S")
_LABEL = re.compile(r"([^\n:：]{2,40})[:：][^\n]{0,60}$")


def numbered_tail(lines: Lines, gone: Set[int]) -> list[int]:
    """Line numbers of the list, ascending, with a label such as `Sources: chat of 3 May` above it; else empty.

    It counts from 1, most of its numbers are cited, and at least half of its lines are records of sources.
    """
    found: list[int] = []
    n = len(lines.text) - 1
    expected = 0
    while n >= 0:
        line = lines.text[n]
        if n not in gone and line.strip():
            item = _ITEM.match(line) if len(line) <= 500 else None
            number = int(item[1] or item[2]) if item else 0
            if not number or (expected and number != expected):
                return []
            found.append(n)
            expected = number - 1
            if not expected:
                break
        n -= 1
    if n < 0 or len(found) < 2:
        return []
    cited = sum(number in lines.cited for number in range(1, len(found) + 1))
    records = sum(grade(lines.text[n]) == "hard" for n in found)
    if cited < 0.6 * len(found) or records < 0.5 * len(found) or any(is_prose(lines.text[n]) for n in found):
        return []
    return [*_label_above(lines, found[-1]), *reversed(found)]


def closing_list(lines: Lines, body: Sequence[int], end: int, gone: Set[int]) -> bool:
    """Is `body`, under a heading for sources, the report's last section: short items without a sentence among them?

    Two records of sources at least, one line in seven, must be there: a list of things that are sources of something
    (`- Meat`, `- Eggs`) has none.
    """
    if len(body) < 3 or not (end >= len(lines.text) or end in gone):
        return False
    items = [lines.text[n] for n in body]
    if any(len(item) > 200 or not _BULLET.match(item) or is_prose(item) for item in items):
        return False
    records = sum(lines.grade(n) in ("hard", "soft", "tagged") for n in body)
    return records >= 2 and 7 * records >= len(body)


def _label_above(lines: Lines, first: int) -> list[int]:
    above = first - 1
    while above >= 0 and not lines.text[above].strip():
        above -= 1
    label = _LABEL.match(lines.text[above]) if above >= 0 else None
    return [above] if label and announces_sources(label[1] + ":") and not is_prose(lines.text[above]) else []
