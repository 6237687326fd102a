"""What stands at the ends of a formula without a blank and is of the text: citations' marks, stops, brackets, words."""

import re
from collections.abc import Sequence

from annotation.documents.printed_formulas.layout import NAMES
from annotation.documents.printed_formulas.page import OF_FORMULAS, Char, Drawn

MATHS = re.compile(r"[\U0001d400-\U0001d7ffℎℝℂℕℤℚℙ∑∏∫∬∮]")
AFTER, BEFORE = ".,;:?”’\"')]}–—-", "“‘\"'([{–—-"  # stops, quotes and brackets of the text
PAIRS = dict(zip("([{)]}", ")]}([{", strict=True))
INTERVAL = re.compile(r"\[[^()\[\]]*,[^()\[\]]*\)|\([^()\[\]]*,[^()\[\]]*\]")  # with one end of its own: `[0,1)`
BEHIND = re.compile(r"(?<=[^\W_a-zA-Z])-?([A-Za-z]+)$")  # `n-gram`, `ith`
# `[3]`, `[3,4]`, or `[3,` that a blank cuts; behind `∈` or `=` it is an interval or a list
MARK = re.compile(r"(?<=[^([{/*·⋅+<=>~−∈∉⊂⊆≈≤≥≠→])\[\^?[1-9]\d{0,2}(?:[,;–-][1-9]\d{0,2})*(?:[,;–-]|\])$")
# `[^3]`, `[3,4]`; one number that touches a formula and no word is a factor of it, `[2]P=Q`
MARK_BEFORE = re.compile(r"\[(?:\^[1-9]\d{0,2}|[1-9]\d{0,2}(?=[,;–-]))(?:[,;–-][1-9]\d{0,2})*\](?=[^\W\d_])")
RAISED_MARK = re.compile(r"[\[(]?\d[\d,;–-]*[\])]?(?:[\[(]\d[\d,;–-]*[\])])*")
LEVEL = 0.9  # of a formula's largest type
RAISED = 0.82  # of it: browsers set raised words at 5/6 of the type, fonts a formula's scripts at .8 at most


def trimmed(drawn: Drawn, chars: Sequence[Char]) -> list[Char]:
    """A formula without what is of the text around it; one that no words are beside keeps its stops and brackets."""
    size, has_words = max(one.size for one in chars), drawn.has_words_beside(chars)
    kept, before = sorted(chars, key=lambda one: one.x0), 0
    while len(kept) != before:
        before = len(kept)
        del kept[before - (_level_mark(kept, size) or _raised_mark(drawn, kept, size)) :]
        del kept[: _mark_before(kept, size)]
        if has_words:
            kept = _without_stops(kept, size)
    word = BEHIND.search(_said(kept)) if has_words else None
    if word and word[1] not in NAMES and MATHS.search(kept[word.start() - 1].text):
        is_level = all(one.size > LEVEL * size for one in kept[word.start() :])
        kept = kept[: word.start()] if is_level else kept
    wanted = {id(one) for one in kept}
    return [one for one in chars if id(one) in wanted]


def _said(chars: Sequence[Char]) -> str:
    return "".join(one.text[:1] for one in chars)


def _level_mark(kept: Sequence[Char], size: float) -> int:
    """How many characters at the end are a mark in brackets, in type of the text."""
    mark = MARK.search(_said(kept))
    found = kept[mark.start() :] if mark else []
    return len(found) if all(_may_be_of_text(one, size) for one in found) else 0


def _mark_before(kept: Sequence[Char], size: float) -> int:
    """How many characters in front of a letter are a mark in brackets; `[3,4]` with an index is none."""
    mark = MARK_BEFORE.match(_said(kept))
    found = kept[: mark.end()] if mark else []
    is_level = bool(found) and kept[len(found)].size >= LEVEL * size
    return len(found) if is_level and all(_may_be_of_text(one, size) for one in found) else 0


def _raised_mark(drawn: Drawn, kept: Sequence[Char], size: float) -> int:
    """How many characters at the end are a raised number of the text, and no script.

    A font of formulas alone, or the size of its type, tells which. Where a formula's digits are of the text's font and
    as large as what is raised, it is a script.
    """
    line = next((one.foot for one in reversed(kept) if one.size >= LEVEL * size), None)
    if line is None or kept[-1].foot > line - 0.1 * size:
        return 0
    last, found = kept[-1], 0
    while abs(kept[-1 - found].size - last.size) < 0.1 and abs(kept[-1 - found].foot - last.foot) < 0.1:
        found += 1
    rest, marks = kept[: len(kept) - found], kept[len(kept) - found :]
    if not RAISED_MARK.fullmatch(_said(marks)) or any(OF_FORMULAS.search(one.font) for one in marks):
        return 0
    has_own_digits = any(one.font in drawn.layered for one in rest)
    scripts = (one.size for one in rest if one.size < LEVEL * size)
    is_odd = any(0.015 < abs(last.size / script - 1) < 0.1 for script in scripts)
    return found if has_own_digits or is_odd or last.size > RAISED * size else 0


def _without_stops(kept: list[Char], size: float) -> list[Char]:
    while kept and _is_of_text(kept[-1], AFTER, kept, size):
        kept.pop()
    while kept and _is_of_text(kept[0], BEFORE, kept, size):
        del kept[0]
    return kept[1:-1] if _is_bracketed(kept, size) else kept


def _is_of_text(one: Char, signs: str, run: Sequence[Char], size: float) -> bool:
    if not _may_be_of_text(one, size) or one.text not in signs:
        return False
    said = INTERVAL.sub(" ", _said(run))
    return one.text not in PAIRS or said.count(one.text) > said.count(PAIRS[one.text])


def _may_be_of_text(one: Char, size: float) -> bool:
    return one.size >= LEVEL * size and not OF_FORMULAS.search(one.font)


def _is_bracketed(kept: Sequence[Char], size: float) -> bool:
    """Whether one pair of the text's brackets is around all of it: `(x)`, not `(a)(b)`."""
    said = INTERVAL.sub(" ", _said(kept))
    if len(said) < 3 or said[0] not in "([" or said[-1] != PAIRS[said[0]]:
        return False
    open_, least = 0, 1
    for sign in said[:-1]:
        open_ += (sign == said[0]) - (sign == said[-1])
        least = min(least, open_)
    return least > 0 and all(_may_be_of_text(one, size) for one in (kept[0], kept[-1]))
