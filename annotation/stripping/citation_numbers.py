"""Which numbers are citations, in brackets or raised, judged by the list of sources and by how the body uses them."""

import re
from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import NamedTuple

from annotation.texts.openers import OpenedBy
from annotation.texts.spans import Span

_SEPARATOR = r"[ \t]{0,2}(?:[,;，；、،؛]|[–—‑－～~-])[ \t]{0,2}"
_INSIDE = rf"[ \t]?\^?([0-9]{{1,4}}(?:{_SEPARATOR}\^?[0-9]{{1,4}}){{0,60}})\^?[ \t]?\\?[\]］]"
_MARK = re.compile(rf"\[{_INSIDE}")
_WIDE_MARK = re.compile(rf"[\[［]{_INSIDE}")  # by itself: to look for one sign is several times faster
_MARK_JOINT = re.compile(r"[ \t\ufdd0]{0,3}[,;，；、،؛–—-]?[ \t\ufdd0]{0,3}[\\^]?")
_GLOSSED = re.compile(
    r"\[(?:see |cf\.? )?([0-9]{1,3})(?:[ ,:;]{1,3}(?:pp?\.|pages?|ch\.|chap\.|sec\.|§|figs?\.|tables?|ll?\.|ss?\."
    r"|с\.|стр\.|str\.|págs?\.|blz\."
    r"|第)[^\[\]\n]{1,30}"
    r"|[ ]?\([^()\[\]\n]{1,80}\))\]",
    re.IGNORECASE,
)
_LABELLED = re.compile(r"\[([\w#:.+-]{2,30}(?:[ ]?[,;][ ]?[\w#:.+-]{2,30}){0,20})\](?!\()")
_LABEL_SPLIT = re.compile(r"[ ]?[,;][ ]?")
_RANGE = re.compile(r"([0-9]+)[ \t]*[–—‑－～~-][ \t]*\^?([0-9]+)")
# the page that an encyclopedia sets behind a mark: `[2]: 14`, with a word joiner or a thin blank between
_PAGE_BEHIND = re.compile(r":[ \u2009\u200a\u2060]{0,3}[0-9]{1,4}(?:[–‑-][0-9]{1,4})?(?=[ \t\n.,;)\[]|$)")
_NUMBERS = re.compile(r"[0-9]+")
_BEYOND_LIST = 150  # an exporter's escaped marks that go on beyond what is left of their list; `\\[500\\]` is an amount
_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+$")
_PAIR_WORD = re.compile(
    r"\b(?:(in)|from|between|interval|range[sd]?|aged?|ages|won|lost|beat|defeated|drew|scores?|score of|record"
    r"|∈)[ \t(:]*$|∈[ \t]*$",
    re.IGNORECASE,
)
_CITING_IN = re.compile(
    r"\b(?:shown|discussed|described|reported|presented|noted|proposed|cited|see|as|outlined|detailed|mentioned"
    r"|introduced|given|found|works?|studies|papers?)"
    r"[ \t]+(?:e\.g\.,?[ \t]+)?in[ \t]*$",
    re.IGNORECASE,
)
_PINPOINT = re.compile(
    r"\b(?:at|para(?:graph)?s?\.?|(?:Rn|Rz|Rdnr|Randnr|Tz)\.?)[ \t]*$|[§¶][ \t]*$"
    r"|\bat[ \t]+\[[0-9]{1,3}\][ \t]?[–-][ \t]?$",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[ \t\ufdd0]*(?:[.,;:!?،؛؟。，；：！？)）\"”\[［\\]|\n|$)")
_CELL_END = re.compile(r"[ \t\ufdd0]*\|")  # a table proves nothing: there a player's seed looks like a mark
_AFTER_CLAUSE = re.compile(r"[.,;:!?。，；：！？\"”)）][ \t\ufdd0]*$")
_DAMAGED = re.compile(
    r"\[\[?[ \t]?[0-9]{1,3}\]?\)(?:[\[\](),; \t]|[0-9]{1,3}(?=[\]),; \t])){0,60}+(?<=\])"
    r"|\[\[(?:[\[\](),; \t]|[0-9]{1,3}(?=[\]),; \t])){0,60}\]\]?"
    r"|\[(?:[0-9]{1,3}\]?\)?[,; \t]{1,2}\[?){1,20}[0-9]{1,3}\]?\)\]"
    r"|\[[0-9]{1,3}\][^\s\[\]%]{0,30}(?:%[0-9A-Fa-f]{2}[^\s\[\]]{0,60}){1,20}(?<![.,;:])"
)
_LISTED = r"([1-9][0-9]{0,2}(?:[ ]?[,;–-][ ]?[1-9][0-9]{0,2}){0,9})"
_ROUND = re.compile(  # `(1, 3)` or `{2}` where a clause ends
    rf"(?<=[\w%.\"”’)}}*_])[ ]?[({{]{_LISTED}[)}}]"
    r"(?=[.,;:!?][ \n\"”*_]|[.,;:!?]$|[ ]?\{|\n|$)"
)
_BEHIND_AUTHORS = re.compile(  # `et al. (3)`, `*et al.* (3)`, `*et al*. (3)`
    rf"(?:(?<=[\s*_]et al\.)|(?<=[\s*_]et al[.*_]{{2}})|(?<=[\s*_]et al[.*_]{{3}}))[ ]?\({_LISTED}\)"
)
_COUNTING = re.compile(
    r"\b(?:eqs?|equations?|formulas?|steps?|options?|points?|items?|parts?|sections?|clauses?|articles?|under|rules?"
    r"|cases?|questions?|scenarios?|set|and|or)\.?[ ]?$",
    re.IGNORECASE,
)


class Mark(NamedTuple):
    """A bracket that holds nothing but numbers. `values` is empty where they cannot all be citations."""

    start: int
    end: int
    values: tuple[int, ...]
    ranges: tuple[tuple[int, int], ...]
    thousands: bool  # `[1,000]`: one number, unless the list knows both halves
    look_alike: bool  # a score, an interval, a law report: whatever the list says
    escaped: bool = False  # `\\[116\\]`


@dataclass(frozen=True)
class Profile:
    """How the body uses bracket numbers: `listed` by the sources, or (no list) `free` if they look like citations."""

    listed: frozenset[int]
    all_short: bool  # nearly all bracket numbers are listed: then the few others are citations too
    free: bool
    brackets: int
    last_escaped: int = 0  # single escaped numbers up to here are citations; 0 where only `listed` says so


def bracket_numbers(text: str) -> frozenset[int]:
    """Every number of 1 to 3 digits that is in a bracket mark."""
    found: set[str] = set()
    for inside in (_WIDE_MARK if "［" in text else _MARK).findall(text):
        found.update((inside,) if inside.isdigit() else _NUMBERS.findall(inside))
    return frozenset(int(number) for number in found if len(number) <= 3)


def find_marks(text: str) -> list[Mark]:
    """Every bracket mark in `text`, ascending."""
    return [_read(text, match) for match in (_WIDE_MARK if "［" in text else _MARK).finditer(text)]


def _read(text: str, match: re.Match[str]) -> Mark:
    start, end, inside = match.start(), match.end(), match[1]
    if inside.isdigit() and len(inside) <= 3:
        values: tuple[int, ...] = (int(inside),) if int(inside) else ()
        return Mark(start, end, values, (), False, _look_alike(text, start, end, 1), text[end - 2] == "\\")
    parts = _NUMBERS.findall(inside)
    thousands = bool(_THOUSANDS.match(inside.strip()))
    ranges = tuple((int(low), int(high)) for low, high in _RANGE.findall(inside))
    values = tuple(int(part) for part in parts)
    if any(len(part) > 3 for part in parts) or not all(values) or any(not 0 < b - a <= 30 for a, b in ranges):
        values = ()
    look_alike = _look_alike(text, start, end, len(parts))
    return Mark(start, end, values, ranges, thousands, look_alike, text[end - 2] == "\\")


def _look_alike(text: str, start: int, end: int, count: int) -> bool:
    before = text[max(0, start - 30) : start]
    last = before.rstrip(" \t(:")[-3:].lower()
    if count == 2 and (word := _PAIR_WORD.search(before)) and not (word[1] and _CITING_IN.search(before)):
        return True
    pinpointed = last[-2:] in ("at", "ra", "as", "s.", "a.", "n.", "z.", "r.", "rn", "rz") or last[-1:] in (
        "§",
        "¶",
        "–",
        "-",
    )
    if pinpointed and _PINPOINT.search(before):
        return True
    if not before[-1:].isalnum():
        return False
    following = text[end : end + 1]
    return (following.isascii() and following.islower()) or following.isdigit()


def profile(text: str, marks: list[Mark], listed: frozenset[int]) -> Profile:
    """Judge the bracket numbers of the body. `listed`: the numbers that the removed entries carry."""
    total = inside = in_prose = at_end = escaped = escaped_at_end = escaped_listed = 0
    smallest = 1000
    for mark in marks:
        if not mark.values or mark.thousands or mark.look_alike:
            continue
        total += 1
        inside += all(v in listed for v in mark.values)
        smallest = min(smallest, *mark.values)
        if _CELL_END.match(text, mark.end):
            continue
        in_prose += 1
        is_at_end = bool(
            _CLAUSE_END.match(text, mark.end)
            or _AFTER_CLAUSE.search(text, max(0, mark.start - 6), mark.start - mark.escaped)
        )
        at_end += is_at_end
        if mark.escaped and len(mark.values) == 1:
            escaped += 1
            escaped_at_end += is_at_end
            escaped_listed += mark.values[0] in listed
    goes_on = escaped >= 3 and escaped_listed > 0 and escaped_at_end >= 0.6 * escaped
    return Profile(
        listed,
        all_short=bool(listed) and total > 0 and inside >= 0.6 * total,
        free=in_prose >= 3 and smallest <= 3 and at_end >= 0.7 * in_prose,
        brackets=total,
        last_escaped=max(listed) + _BEYOND_LIST if goes_on else 0,
    )


def find_glossed(text: str, listed: frozenset[int]) -> Iterator[Span]:
    """A number of the list with a page or a gloss: `[4, p. 12]`, `[9 (tide tables)]`."""
    for match in _GLOSSED.finditer(text) if listed and "[" in text else ():
        if int(match[1]) in listed:
            yield Span(match.start(), match.end(), "named")


def find_labels(text: str, labels: Set[str]) -> Iterator[Span]:
    """Marks by label, where the list has the label: `[S4]`, `[Ito2004; S1]`."""
    for match in _LABELLED.finditer(text) if labels else ():
        if all(label in labels for label in _LABEL_SPLIT.split(match[1])):
            yield Span(match.start(), match.end(), "named")


def find_numbers(text: str, marks: list[Mark], judged: Profile) -> Iterator[Span]:
    """Bracket marks that are citations, each with the joint to the mark before it."""
    before: Mark | None = None
    for mark in marks:
        if text[mark.start] not in "[［" or not _is_citation(mark, judged):
            before = None
            continue
        start = mark.start
        if before is not None and _MARK_JOINT.fullmatch(text, before.end, start):
            start = before.end
        elif text[start - 1 : start] in ("\\", "^"):
            start -= 1
        end = mark.end + (text[mark.end : mark.end + 1] == "^")
        if text[end : end + 1] == ":" and (page := _PAGE_BEHIND.match(text, end)):
            end = page.end()
        yield Span(start, end, "escaped" if text[mark.end - 2] == "\\" or text[start] == "\\" else "number")
        before = mark


def _is_citation(mark: Mark, judged: Profile) -> bool:
    if mark.look_alike or not mark.values:
        return False
    if mark.thousands:
        return all(value in judged.listed for value in mark.values)
    if mark.escaped and len(mark.values) == 1 and mark.values[0] <= judged.last_escaped:
        return True
    if judged.listed and any(a not in judged.listed and b not in judged.listed for a, b in mark.ranges):
        return False
    return judged.all_short or judged.free or (bool(judged.listed) and all(v in judged.listed for v in mark.values))


def find_damaged(text: str) -> Iterator[Span]:
    """What a failed repair left of bracket marks: `[[1]), [10]]`, `[2]%20per%20hour.)`."""
    if "[" in text and ("%" in text or "[[" in text or ")]" in text or "])" in text):
        for match in _DAMAGED.finditer(text):
            if re.search(r"[0-9]", match[0]) or not re.search(r"\w", match[0]):
                yield Span(match.start(), match.end(), "number")


def find_rounded(text: str, judged: Profile) -> Iterator[Span]:
    """Numbers in round or curly brackets, where no square brackets cite and half of the list is named so."""
    if not judged.listed or judged.brackets:
        return
    found = [
        match
        for match in _ROUND.finditer(text)
        if _all_listed(match[1], judged) and not _COUNTING.search(text, max(0, match.start() - 12), match.start())
    ]
    named = {int(n) for match in found for n in _NUMBERS.findall(match[1])}
    closing = sum(text[match.end() : match.end() + 1] in ".!?" for match in found)  # `cooks (2), pilots (3).` counts
    if len(found) >= 3 and 2 * closing >= len(found) and 2 * len(named) >= len(judged.listed):
        found += (m for m in _BEHIND_AUTHORS.finditer(text) if _all_listed(m[1], judged))
        yield from (Span(match.start(), match.end(), "number") for match in found)


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
    r"([0-9](?:(?<=[^\W\d_][.,;:!?].)|(?<=[\"”’)%*²³][.,;:!?].)|(?<=[^\W_][.!?,][\"”’)*].)|(?<=[0-9]{4}[.,].)"
    r"|(?<=[^\W\d_]\\[.!].)|(?<=[0-9]{4}\\[.!].)|(?<=[。，；！？].))[0-9]{0,2}(?:,[ \t]?[0-9]{1,3}){0,9})"
    r"(?=[ \t\n\"”’)|\ufdd0]|$|[。，]|(?=[\u4e00-\u9fff]))"
)
_LEFT_OVER = OpenedBy(
    ".!?",
    r"(?:[\"”’*]{0,2}|[\"”][ ])([0-9]{1,3}(?:,[ ]?[0-9]{1,3}){0,9})"
    r"(?=[ \t\ufdd0]*+(?:\n|\Z)|[ ]{1,2}[*_\"“(]{0,3}[A-Z])",
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
_CLOSING = re.compile(r"[*_\"”’)]{0,4}(?:[.,;:]|[ \t]*(?:\n|$))")


def raised_numbers(text: str, superscripts: bool) -> frozenset[int]:
    """Every number of a superscript behind a word or a stop; `10³` and `m²` raise none.

    `superscripts`: whether there may be digits that are ones as characters.
    """
    found: set[int] = set()
    patterns = [_SUP_NUMBERS] if "<sup>" in text else []
    patterns += [_SUPER_RUN] if superscripts else []
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
        long = lowered >= 8 and len(match[1]) >= 8 and match[1].istitle() and _CLOSING.match(text, match.end())
        if names[match[0]] <= 2 and (lower or long or match[1] in bare or match[1].lower() in bare):
            yield Span(match.start(3), match.end(3), "glued")


def _all_listed(numbers: str, judged: Profile) -> bool:
    return all(int(n) in judged.listed for n in _NUMBERS.findall(numbers))
