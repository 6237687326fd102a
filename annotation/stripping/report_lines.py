"""A report as numbered lines, with its headings."""

from __future__ import annotations

import re

from annotation.stripping.reference_entries import URL, grade
from annotation.stripping.spans import SHIELD, Span

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
        self.levels = {n: level for n, line in enumerate(self.text) if (level := _heading_level(line))}
        self.headings = sorted(self.levels)

    def grade(self, n: int) -> str:
        if n not in self._grades:
            self._grades[n] = grade(self.text[n], self.cited)
        return self._grades[n]

    def span(self, first: int, last: int, kind: str) -> Span:
        """Lines `first` to `last` with the line end that follows."""
        end = self.starts[last] + len(self.text[last])
        return Span(self.starts[first], min(end + 1, self.total), kind)


def _heading_level(line: str) -> int:
    """1 to 6 for `#` headings, 7 for a bold line of its own, 0 for everything else."""
    head = line.lstrip(" \t>")[:2]
    if head[:1] == "#":
        match = _HEADING.match(line)
        return len(match[1]) if match and SHIELD not in line else 0
    return 7 if head in ("**", "__") and _BOLD_LINE.match(line) and not URL.search(line) else 0
