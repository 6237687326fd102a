"""Numbers that cite without brackets: superscripts, and the digits that an export left glued to a word or a stop."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from annotation.stripping.numbering import Profile
from annotation.stripping.spans import Span

_NUMBERS = re.compile(r"[0-9]+")
_SUP = re.compile(
    r"<sup>((?:\s|&nbsp;|<a\b[^<>\n]{0,300}>|</a>|\\?\[|\\?\]|[0-9,;，、–-]|\(|\)){1,400}?)</sup>", re.IGNORECASE
)
_SUPERSCRIPT = re.compile(
    r"(?<=[^\s⁰-⁹²³¹⁻⁺])[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}"
    r"(?:(?:[ʼ˒,⁻–-][ ]?|[ ])[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})*(?![⁰¹²³⁴⁵⁶⁷⁸⁹])"
)
_SUP_NUMBERS = re.compile(r"<sup>\\?\[?([0-9]{1,3}(?:[ ]?[,;–-][ ]?[0-9]{1,3}){0,9})\\?\]?</sup>")
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_SUPER_RUN = re.compile(rf"([{_SUPERSCRIPTS}]{{1,3}})")
_WORD_OR_STOP = re.compile(r"(?:[.,;:!?)”\"]|[^\W\d_]{4})$")
_SUPER_DIGITS = str.maketrans(_SUPERSCRIPTS, "0123456789")
_COUNTED_WORDS = (
    "phase step type level version table figure stage chapter part section model group class tier week year"
)
_COUNTED = frozenset(_COUNTED_WORDS.split())
_ABBREVIATED = _COUNTED | {
    "approx",
    "chap",
    "figs",
    "sect",
    "item",
    "rule",
    "vers",
    "article",
    "clause",
    "example",
    "equation",
}
_UNIT = re.compile(
    r"(?:^|[^A-Za-z])(?:[munkcdp]?m|km|s|sec|ft|in|mi|yd|kg|g|Hz|[A-Z]|[a-z]|10|e|ln|log|sin|cos|cm|mm|ha|R|χ|σ|°)$"
    r"|[/^=+×·*⋅(]\w{0,3}$|[A-Za-z]{0,3}/[A-Za-z]{1,3}$"
)
_CARET = re.compile(r"\^\[?([0-9]{1,3}(?:,[ \t]?[0-9]{1,3})*)\]?\^")
_GLUED = re.compile(
    r"(?:(?<=[^\W\d_][.,;:!?])|(?<=[\"”’)%*²³][.,;:!?])|(?<=[^\W_][.!?,][\"”’)*])|(?<=[0-9]{4}[.,])|(?<=[^\W\d_]\\[.!])|(?<=[0-9]{4}\\[.!])|(?<=[。，；！？]))"
    r"([0-9]{1,3}(?:,[ \t]?[0-9]{1,3}){0,9})(?=[ \t\n\"”’)|\ufdd0]|$|[。，]|(?=[\u4e00-\u9fff]))"
)
_LEFT_OVER = re.compile(
    r"[.!?](?:[\"”’*]{0,2}|[\"”][ ])([0-9]{1,3}(?:,[ ]?[0-9]{1,3}){0,9})"
    r"(?=[ \t\ufdd0]*+(?:\n|\Z)|[ ]{1,2}[*_\"“(]{0,3}[A-Z])"
)
_SENTENCE_END = re.compile(
    r"(?:([^\W\d_]{4,30})|\w[*\"”’)%]{1,4}"
    r"|\b(?:Jan|Feb|Mar|Apr|May|Ju[nl]|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6} (?:[0-9]{1,2}, )?(?:1[5-9]|20)[0-9]{2})\\?$"
)
_BARE_WORD = re.compile(r"(?<!\w)[^\W\d_]{3,30}(?![\w-])")
_GLUED_WORD = re.compile(r"(?<![\w\-./])([^\W\d_]{3,30})([*_]{0,3})([0-9]{1,3})(?=[*_\"”’)]{0,4}(?:[.,;:]?[ \t\n]|$))")
_GLUED_BRACKET = re.compile(r"\)([0-9]{1,3})(?=[.,;:]?(?:[ \t\n]|$))")
_REMARK = re.compile(  # a parenthesis of words, `(the toll)3`; not `(mol/L)2`
    r"(?:^|[\s\ufdd0])\((?=[^()]*[^\W\d_]{3})(?![^\s()]*[/+]|[^()]*(?:[=^×·]|[ ][+*/][ ]))[^()\n]{3,200}$"
)
_CLAUSE_END = re.compile(r"[*_\"”’)]{0,4}(?:[.,;:]|[ \t]*(?:\n|$))")


def raised_numbers(text: str) -> frozenset[int]:
    """Every number of a superscript behind a word or a stop; `10³` and `m²` raise none."""
    found: set[int] = set()
    patterns = [_SUP_NUMBERS] if "<sup>" in text else []
    patterns += [_SUPER_RUN] if any(digit in text for digit in _SUPERSCRIPTS) else []
    for pattern in patterns:
        for match in pattern.finditer(text):
            if _WORD_OR_STOP.search(text, max(0, match.start() - 4), match.start()):
                found.update(int(n) for n in _NUMBERS.findall(match[1].translate(_SUPER_DIGITS)))
    return frozenset(found)


def find_raised(text: str, judged: Profile) -> Iterator[Span]:
    """Superscripts and flattened superscripts; only with a list, and not where brackets do the citing."""
    yield from _tagged(text, judged)
    if judged.listed and judged.brackets > 2:
        yield from _left_over(text, judged)
    if not judged.listed or judged.brackets > 2:
        return
    for match in _SUPERSCRIPT.finditer(text):
        digits = [int(n) for n in re.findall(r"[0-9]+", match[0].translate(_SUPER_DIGITS))]
        if all(n in judged.listed for n in digits) and not _UNIT.search(
            text[max(0, match.start() - 6) : match.start()]
        ):
            yield Span(match.start(), match.end(), "superscript")
    for match in _CARET.finditer(text) if "^" in text else ():
        if _all_listed(match[1], judged):
            yield Span(match.start(), match.end(), "superscript")
    yield from _glued(text, judged)


def _tagged(text: str, judged: Profile) -> Iterator[Span]:
    for match in _SUP.finditer(text) if "<" in text else ():
        digits = [int(n) for n in re.findall(r"[0-9]+", re.sub(r"<[^>]*>", "", match[1]))]
        bracketed = "[" in match[1] or "<a" in match[1].lower()
        unit = _UNIT.search(text[max(0, match.start() - 6) : match.start()])
        if digits and (bracketed or (judged.listed and all(n in judged.listed for n in digits) and not unit)):
            yield Span(match.start(), match.end(), "superscript")


def _left_over(text: str, judged: Profile) -> Iterator[Span]:
    """Where brackets cite: the numbers that an upstream repair did not reach, glued to the stop of a sentence."""
    for match in _LEFT_OVER.finditer(text) if judged.all_short else ():
        end = _SENTENCE_END.search(text, max(0, match.start() - 40), match.start())
        if end and (end[1] or "").lower() not in _ABBREVIATED and _all_listed(match[1], judged):
            yield Span(match.start(1), match.end(1), "glued")


def _glued(text: str, judged: Profile) -> Iterator[Span]:
    found = [m for m in _GLUED.finditer(text) if _all_listed(m[1], judged)]
    for match in found:
        yield Span(match.start(), match.end(), "glued")
    words = [m for m in _GLUED_WORD.finditer(text) if int(m[3]) in judged.listed and m[1] not in _COUNTED]
    if len(found) + len({m[1] for m in words}) < 5:
        return
    for match in _GLUED_BRACKET.finditer(text):
        if int(match[1]) in judged.listed and _REMARK.search(text, max(0, match.start() - 202), match.start()):
            yield Span(match.start(1), match.end(), "glued")
    names = Counter(m[0] for m in words)  # a name that ends in a digit comes again and again
    bare = set(_BARE_WORD.findall(text))  # a capitalised word seen without its digit has none in its name
    lowered = sum(m[1].islower() for m in words)
    for match in words:
        lower = match[1].islower() and len(match[1]) >= 4
        long = lowered >= 8 and len(match[1]) >= 8 and match[1].istitle() and _CLAUSE_END.match(text, match.end())
        if names[match[0]] <= 2 and (lower or long or match[1] in bare or match[1].lower() in bare):
            yield Span(match.start(3), match.end(3), "glued")


def _all_listed(numbers: str, judged: Profile) -> bool:
    return all(int(n) in judged.listed for n in _NUMBERS.findall(numbers))
