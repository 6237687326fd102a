"""Bare addresses: `https://…`, `<https://…>`, and the parenthesis or label that announces one."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from annotation.stripping.spans import Span

_BARE = re.compile(
    r"<?(?:(?:https?|ftp)://|www\.(?=[\w-]+\.))(?:[^\s()<>\[\]{}\"“”「」『』【】《》，。；、（）|\ufdd0\ufdd1`]"
    r"|\([^\s()<>]{0,200}+\)|\[\]|\\[\[\]]){1,2000}+>?"
    r"|[()（）\n]",
    re.IGNORECASE,
)
_TRAILING = re.compile(r"[.,;:!?'’*_~\\]+$")
_LABEL_BEFORE = re.compile(
    r"(?:[,;:–—-][ \t]*)?\b(?:sources?|available (?:at|from|online(?: at)?)|retrieved from|accessed (?:at|from)|url"
    r"|link|via|see|website)[ \t]*[:：]?[ \t]*[*_]*[ \t]*$"
    r"|(?:来源|出处|链接|网址|参见|原文)[ \t]*[:：][ \t]*$",
    re.IGNORECASE,
)
_SWALLOWED = re.compile(r"[)）][.,;:]?\]")  # `(the note [https://…).]`: the bracket closed too late
_FINITE = re.compile(r"\b(?:is|are|was|were|has|have|had|can|will|would|said|says)\b")


def find_addresses(text: str) -> Iterator[Span]:
    """Bare addresses and `<https://…>`; a parenthesis that ends with one goes whole."""
    if "://" not in text and "www." not in text.lower():
        return
    addresses: list[tuple[int, int]] = []
    pairs: list[tuple[int, int]] = []
    opened: list[int] = []
    for match in _BARE.finditer(text):
        if match[0] in "(（":
            opened.append(match.start())
        elif match[0] in ")）":
            if opened:
                pairs.append((opened.pop(), match.end()))
        elif match[0] == "\n":
            opened.clear()
        else:
            end = match.end()
            if not match[0].endswith(">"):
                end -= len(match[0]) - len(_TRAILING.sub("", match[0]))
            addresses.append((match.start(), end))
    done = 0
    enclosing = _Enclosing(pairs)
    for start, end in addresses:
        if start < done:
            continue
        pair = enclosing.of(start)
        if pair and pair[0] >= done and _parenthesis_goes(text, pair, start, end):
            yield Span(*pair, "url")
            done = pair[1]
            continue
        label = _LABEL_BEFORE.search(text, max(done, start - 40), start)
        begin = (
            label.start()
            if label and (label[0].rstrip().endswith((":", "：", "at", "from")) or not text[end : end + 1].isalnum())
            else start
        )
        if text[start - 1 : start] in ("(", "（") and text[end - 1] in ")）" and not pair:
            begin = start - 1
        if swallowed := text[start - 1 : start] == "[" and _SWALLOWED.match(text, end):
            begin = start - 1
            yield Span(swallowed.end() - 1, swallowed.end(), "url")
        yield Span(begin, end, "url")
        done = end


class _Enclosing:
    """The innermost pair of parentheses around a place, in one walk for ascending places."""

    def __init__(self, pairs: list[tuple[int, int]]) -> None:
        self._pairs = sorted(pairs)
        self._starts = [start for start, _ in self._pairs]

    def of(self, place: int) -> tuple[int, int] | None:
        at = bisect_left(self._starts, place) - 1
        for candidate in range(at, max(at - 8, -1), -1):
            if self._pairs[candidate][1] > place:
                return self._pairs[candidate]
        return None


def _parenthesis_goes(text: str, pair: tuple[int, int], start: int, end: int) -> bool:
    lead = text[pair[0] + 1 : start]
    rest = text[end : pair[1] - 1]
    if len(lead) > 300 or _FINITE.search(lead) or (lead.endswith("[") and _SWALLOWED.match(text, end)):
        return False
    return len(rest) <= 60 or ":~:text=" in text[start:end]
