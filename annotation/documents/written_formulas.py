"""TeX that stands in a document's words: kept as it is written, as in Markdown, and not escaped like words."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from annotation.texts.spans import math_zones

WRITTEN = "Written"  # a kind of formula beside pandoc's two, which has its signs already
SIGNS = {WRITTEN: "", "InlineMath": "$", "DisplayMath": "$$"}
WORDS = {"Space": " ", "SoftBreak": "\n"}
PART = re.compile(r"[ \n]|[^ \n]+")
KINDS = {sign: kind for kind, sign in WORDS.items()}
BARS, BAR = re.compile(r"\\\\|\\?\|"), {"|": r"\vert ", r"\|": r"\Vert "}  # a bar behind a line's end is one alone


def formulas_apart(line: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """A line in which each formula that is written out is one element, whatever blanks are in it."""
    for is_words, run in groupby(line, lambda one: one["t"] == "Str" or one["t"] in WORDS):
        elements = [*run]
        text = "".join(WORDS.get(one["t"]) or one["c"] for one in elements) if is_words else ""
        zones = math_zones(text.replace("\n", " ")) if "$" in text or "\\" in text else []
        if not zones:
            yield from elements
            continue
        done = 0
        for start, end in sorted(zones):
            if start >= done:
                yield from _words(text[done:start])
                yield {"t": "Math", "c": [{"t": WRITTEN}, text[start:end].replace("\n", " ")]}
                done = end
        yield from _words(text[done:])


def without_bars(formula: str) -> str:
    """The same formula for a cell of a table, where `|` would end the cell."""
    return BARS.sub(lambda bar: BAR.get(bar[0], bar[0]), formula)


def _words(text: str) -> Iterator[dict[str, Any]]:
    for part in PART.findall(text):
        yield {"t": KINDS[part]} if part in KINDS else {"t": "Str", "c": part}
