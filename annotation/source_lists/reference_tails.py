"""A report as numbered lines, and the lists of sources that only its very end reveals: numbered, or of bare titles."""

import re
from collections.abc import Sequence, Set

from annotation.source_lists.reference_entries import grade, has_address
from annotation.source_lists.reference_headings import announces_sources
from annotation.texts import scripts, spans

_HEADING = re.compile(r"[ \t>]{0,4}(#{1,6})(?:[ \t]|(?=[^\s#]))")
_BOLD_LINE = re.compile(r"[ \t>]{0,4}(?:\*\*|__)(?=\S)[^\n]{1,100}(?:\*\*|__)[:：]?(?:&#x20;|[ \t])*$")


class Lines:
    """The lines of a report: where each begins, which are headings, what each looks like in a list of sources."""

    def __init__(self, text: str, cited: frozenset[int]) -> None:
        self.text = text.split("\n")
        self.starts: list[int] = []
        place = 0
        for line in self.text:
            self.starts.append(place)
            place += len(line) + 1
        self.total = len(text)
        self.cited = cited
        self._grades: dict[int, str] = {}
        self.levels = {
            n: level
            for n, line in enumerate(self.text)
            if line and not line[0].isalpha() and (level := _heading_level(line))
        }
        self.headings = sorted(self.levels)

    def grade(self, n: int) -> str:
        if n not in self._grades:
            self._grades[n] = grade(self.text[n], self.cited)
        return self._grades[n]

    def span(self, first: int, last: int, kind: str) -> spans.Span:
        """Lines `first` to `last` with the line end that follows."""
        end = self.starts[last] + len(self.text[last])
        return spans.Span(self.starts[first], min(end + 1, self.total), kind)


def _heading_level(line: str) -> int:
    """1 to 6 for `#` headings, 7 for a bold line of its own, 0 for everything else."""
    head = line.lstrip(" \t>")[:2]
    if head[:1] == "#":
        match = _HEADING.match(line)
        return len(match[1]) if match and spans.SHIELD not in line else 0
    return 7 if head in ("**", "__") and _BOLD_LINE.match(line) and not has_address(line) else 0


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
    if cited < 0.6 * len(found) or records < 0.5 * len(found) or any(scripts.is_prose(lines.text[n]) for n in found):
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
    if any(len(item) > 200 or not _BULLET.match(item) or scripts.is_prose(item) for item in items):
        return False
    records = sum(lines.grade(n) in ("hard", "soft", "tagged") for n in body)
    return records >= 2 and 7 * records >= len(body)


def _label_above(lines: Lines, first: int) -> list[int]:
    above = first - 1
    while above >= 0 and not lines.text[above].strip():
        above -= 1
    label = _LABEL.match(lines.text[above]) if above >= 0 else None
    return [above] if label and announces_sources(label[1] + ":") and not scripts.is_prose(lines.text[above]) else []
