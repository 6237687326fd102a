"""Places in a report, those of code and mathematics among them, and a copy on which places are crossed out unmoved."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from annotation.texts.scripts import is_prose

GONE = "\ufdd0"  # two noncharacters: never text, so never mistaken for what an author wrote
SHIELD = "\ufdd1"
GONE_END = "\ufdd2"  # a crossed-out line end, seen only by those who tidy up
THINKING = ("think", "thinking", "thought", "reasoning", "scratchpad")  # the tags of what a model said to itself

_KINDS = (
    "number footnote escaped lenticular tool_token link_number link_citation link_url url author_year superscript "
    "glued named table_citation reference_heading reference_line label provenance space encoding"
)
KINDS = _KINDS.split()
_CODES = {kind: bytes([number]) for number, kind in enumerate(KINDS, start=1)}


class Span(NamedTuple):
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
        self._crossed: list[tuple[int, int]] = []  # claims with line ends in them

    def claim(self, spans: Iterable[Span]) -> bool:
        """Cross out `spans`; an earlier claim on the same character keeps its kind. True if there were any."""
        found = [span for span in spans if span.end > span.start]
        self._claims += found
        self._crossed += self._overwrite([(span.start, span.end) for span in found], GONE)
        return bool(found)

    def shield(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Put `ranges` out of bounds: finders see neither letters nor marks there."""
        self._overwrite(list(ranges), SHIELD)

    def _overwrite(self, ranges: list[tuple[int, int]], filler: str) -> list[tuple[int, int]]:
        """Fill `ranges` but for their line ends; gives those with line ends in them."""
        crossed: list[tuple[int, int]] = []
        if not ranges:
            return crossed
        pieces: list[str] = []
        done = 0
        for start, end in sorted(ranges):
            if end <= done:
                continue
            start = max(start, done)
            inside = self.text[start:end]
            filled = filler * (end - start)
            if "\n" in inside:
                filled = "\n".join(filler * len(line) for line in inside.split("\n"))
                crossed.append((start, end))
            pieces += (self.text[done:start], filled)
            done = end
        self.text = "".join(pieces) + self.text[done:]
        return crossed

    def exposed(self) -> str:
        """The working text with crossed-out line ends as `GONE_END`: the lines as they will be read."""
        pieces: list[str] = []
        done = 0
        for start, end in sorted(self._crossed):
            start = max(start, done)
            if end > start:
                pieces += (self.text[done:start], self.text[start:end].replace("\n", GONE_END))
                done = end
        return "".join(pieces) + self.text[done:]

    def removed(self, last: Iterable[Span]) -> tuple[Span, ...]:
        """All claims and the `last` ones, ascending and without overlap, neighbours of one kind joined."""
        self._claims += [span for span in last if span.end > span.start]
        kinds = bytearray(len(self.text) + 1)
        for span in reversed(self._claims):
            kinds[span.start : span.end] = _CODES[span.kind] * (span.end - span.start)
        result: list[Span] = []
        begun = before = 0
        for place in sorted({place for span in self._claims for place in (span.start, span.end)}):
            if (kind := kinds[place]) != before:
                if before:
                    result.append(Span(begun, place, KINDS[before - 1]))
                begun, before = place, kind
        return tuple(result)


def joined(spans: Iterable[Span]) -> list[Span]:
    """`spans`, ascending, with neighbours of one kind as one."""
    result: list[Span] = []
    for span in spans:
        if result and result[-1].end == span.start and result[-1].kind == span.kind:
            result[-1] = Span(result[-1].start, span.end, span.kind)
        else:
            result.append(span)
    return result


def delete(text: str, spans: Iterable[Span]) -> str:
    """`text` without `spans`, which are ascending and do not overlap."""
    kept: list[str] = []
    done = 0
    for span in spans:
        kept.append(text[done : span.start])
        done = span.end
    return "".join(kept) + text[done:]


_FENCE = re.compile(r"^[ \t]{0,3}(?:>[ \t]?)?(`{3,}|~{3,})([^\n`]*)$", re.MULTILINE)
_MARKDOWN = {"markdown", "md"}  # a whole report wrapped in a fence is no code
_PLAIN = {"text", "txt", "plaintext"}  # nor is one with sentences in it
_INLINE_CODE = re.compile(r"(?<!`)(?:`[^`\n]{1,500}+`|``(?:[^`\n]|`(?!`)){1,500}+``)(?!`)")
_DOLLARS = re.compile(r"\$(?<![\\$]\$)(?![\s$])([^$\n]{1,300}+)(?<!\s)\$(?![0-9$])")
_BACKSLASHED = re.compile(
    r"\\\(((?:[^\\\n]|\\(?![()])){1,400}+)\\\)|\\\[((?:[^\\\n]|\\(?![\[\]])|\n(?!\n)){1,800}+)\\\]"
)
# a command of TeX, not a sign that Markdown escapes; `_` between two words is no index: \(Royal\_Navy_officer\)
_FORMULA = re.compile(r"\\[A-Za-z,;!{|\\]|[\^={}]|(?<![^\W_]{2})(?<!\\)_|_[0-9]\b|^\s*[A-Za-z]\s*$")
# without any of these: letters alone beside a sign, as in `P(A|B)`, `n!`, `x'` and `a + b`, and no words
_BESIDE_SIGN = re.compile(
    r"[^\W\d_](?:['!]|\(\S)|\|[^\W\d_][^|]*\||[^\W\d_][)'!]{0,3}\s?[-+*/<>|,]\s?[-+(|\w]|[\w)|]\s?[-+*/<>|]\s?[-+(|]{0,3}[^\W\d_]"
)
_WORDS = re.compile(r"(?<![^\W\d_])(?!(?:log|ln|exp|sin|cos|tan|max|min|Pr|Var|Cov)\b)[^\W\d_]{2}|[^\W\d_]'[^\W\d_]")
# of these, what exporters escape brackets around no less: not `N/A`, `A-1`, `a-c`; a note's letter is none behind `h`
_CALCULATED = re.compile(
    r"[^\W\d_][!'(]|^\|.*\|$|\s[-+*/<>|]\s|(?<![^\W_])[a-z]\s?[+*<>]|[+*<>]\s?[a-z](?!\w)|(?<![^\W_])[i-z]-[0-9]"
)
_HALF = re.compile(r"[-+*/<>,(]$|^[*/>,)]")  # of a range of prices, or of a path
_CITATION_INSIDE = re.compile(r"https?:|\]\(|[0-9]\\?\]\\?\[|(?<!\\sqr)[A-Za-z.,]\\?\[[0-9]{1,3}\]")
_BRACKETED_NUMBERS = re.compile(r"[\s\^0-9,;，、–—-]*")


def code_zones(text: str) -> list[tuple[int, int]]:
    """Fenced blocks (an unclosed fence protects nothing) and inline code, as (start, end), ascending per kind."""
    zones: list[tuple[int, int]] = []
    if "`" not in text and "~~~" not in text:
        return zones
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text) if "```" in text or "~~~" in text else ():
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]) and not fence[2].strip():
            if not _is_report(opened[2].strip().lower(), text[opened.end() : fence.start()]):
                zones.append((opened.start(), fence.end()))
            opened = None
    if "`" in text:
        zones += [match.span() for match in _INLINE_CODE.finditer(text)]
    return zones


def _is_report(language: str, inside: str) -> bool:
    return language in _MARKDOWN or (language in _PLAIN and any(map(is_prose, inside.split("\n"))))


def math_zones(text: str) -> list[tuple[int, int]]:
    r"""`$$…$$`, `\(…\)`, `\[…\]` and `$…$` that hold a formula; `$5 and $7` is money and `\[39\]` a citation."""
    zones: list[tuple[int, int]] = []
    if "$" in text:
        start = text.find("$$")
        while start >= 0:
            end = text.find("$$", start + 2, start + 2000)
            if end >= 0 and "http" not in text[start:end]:
                zones.append((start, end + 2))
            start = text.find("$$", (end if end >= 0 else start) + 2)
        zones += [m.span() for m in _DOLLARS.finditer(text) if _is_formula(m[1]) or _is_plain_formula(m)]
    if "\\" in text:
        for match in _BACKSLASHED.finditer(text):
            inside = match[1] or match[2]
            if (_is_formula(inside) or _is_plain_formula(match)) and not _BRACKETED_NUMBERS.fullmatch(
                inside.replace("\\", "")
            ):
                zones.append(match.span())
    return zones


def _is_formula(inside: str) -> bool:
    return bool(_FORMULA.search(inside)) and not _CITATION_INSIDE.search(inside)


def _is_plain_formula(match: re.Match[str]) -> bool:
    """Whether there are letters and signs alone, and no sign of money is before or behind a word.

    Brackets that were escaped may be the text's: within them something has to be calculated.
    """
    inside = match[1] or match[2]
    if match[0][0] == "\\" and not _CALCULATED.search(inside):
        return False
    is_money = (
        match.string[max(0, match.start() - 1) : match.start()].isalnum()
        or match.string[match.end() : match.end() + 1].isalnum()
    )
    return bool(_BESIDE_SIGN.search(inside)) and not (is_money or _WORDS.search(inside) or _HALF.search(inside))
