"""Places in a report, and a working copy on which places are crossed out without moving anything."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

GONE = "\ufdd0"  # two noncharacters: never text, so never mistaken for what an author wrote
SHIELD = "\ufdd1"
GONE_END = "\ufdd2"  # a crossed-out line end, seen only by those who tidy up

_KINDS = (
    "number footnote escaped lenticular tool_token link_number link_citation link_url url author_year superscript "
    "glued named table_citation reference_heading reference_line label provenance space encoding"
)
KINDS = _KINDS.split()


@dataclass(frozen=True)
class Span:
    """Characters `start` to `end` (end excluded) of a report, and why they matter."""

    start: int
    end: int
    kind: str


class WorkingCopy:
    """A report of which some characters are crossed out (`GONE`) or out of bounds (`SHIELD`).

    `text` always has the length of the report, so offsets found in it hold for the report itself. Line ends survive
    both, so that a finder which thinks in lines still sees them.
    """

    def __init__(self, report: str) -> None:
        self.report = report
        self.text = report.replace("\r", "\n")
        for filler in (GONE, SHIELD, GONE_END):
            self.text = self.text.replace(filler, "\ufffd")
        self._claims: list[Span] = []

    def claim(self, spans: Iterable[Span]) -> bool:
        """Cross out `spans`; an earlier claim on the same character keeps its kind. True if there were any."""
        found = [span for span in spans if span.end > span.start]
        self._claims += found
        self._overwrite([(span.start, span.end) for span in found], GONE)
        return bool(found)

    def shield(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Put `ranges` out of bounds: finders see neither letters nor marks there."""
        self._overwrite(list(ranges), SHIELD)

    def _overwrite(self, ranges: list[tuple[int, int]], filler: str) -> None:
        if not ranges:
            return
        pieces: list[str] = []
        done = 0
        for start, end in sorted(ranges):
            if end <= done:
                continue
            start = max(start, done)
            inside = self.text[start:end]
            pieces += (
                self.text[done:start],
                re.sub(r"[^\n]", filler, inside) if "\n" in inside else filler * len(inside),
            )
            done = end
        self.text = "".join(pieces) + self.text[done:]

    def exposed(self) -> str:
        """The working text with crossed-out line ends as `GONE_END`: the lines as they will be read."""
        pieces: list[str] = []
        done = 0
        for span in sorted(self._claims, key=lambda span: span.start):
            start = max(span.start, done)
            if span.end > start and "\n" in self.text[start : span.end]:
                pieces += (self.text[done:start], self.text[start : span.end].replace("\n", GONE_END))
                done = span.end
        return "".join(pieces) + self.text[done:]

    def removed(self) -> tuple[Span, ...]:
        """All claims, ascending and without overlap, neighbours of one kind joined."""
        kinds = bytearray(len(self.text))
        for span in reversed(self._claims):
            kinds[span.start : span.end] = bytes([KINDS.index(span.kind) + 1]) * (span.end - span.start)
        return tuple(Span(run.start(), run.end(), KINDS[run[1][0] - 1]) for run in _RUN.finditer(kinds))


_RUN = re.compile(rb"([\x01-\xff])\1*+", re.DOTALL)


def delete(text: str, spans: Iterable[Span]) -> str:
    """`text` without `spans`, which are ascending and do not overlap."""
    kept: list[str] = []
    done = 0
    for span in spans:
        kept.append(text[done : span.start])
        done = span.end
    return "".join(kept) + text[done:]
