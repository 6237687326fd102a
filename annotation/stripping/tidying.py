"""What a deletion exposes: blanks, doubled commas, labels without a source, emptied bullets, rows and lines."""

import re
from collections.abc import Iterator

from annotation.source_lists.reference_headings import LABELS_ABROAD, POINTERS_ABROAD
from annotation.texts.openers import OpenedBy
from annotation.texts.spans import GONE, GONE_END, SHIELD, Span

_G, _E = GONE, GONE_END
_GAP = re.compile(rf"{_G}[{_G} \t]*+")
_LABEL_END = OpenedBy(":：", rf"([*_]{{0,3}})[ \t]*[*_]{{0,3}}{_G}")
_LABEL = re.compile(
    r"[*_(]{0,4}(?:\b(?:data )?(?:sources?|references?|refs?|citations?|cited|see|read more|learn more)|"
    rf"{LABELS_ABROAD}|参考|引用)[ \t]*[*_]{0, 3}$",
    re.IGNORECASE,
)
_WORDS_LEFT = re.compile(rf"[^\s{_G}*_.,;:|)\]&-]")
_LEFT_LABEL = re.compile(
    r"[-*•>_( \t🔗📖👉]{0,9}(?:data )?(?:sources?|references?|citations?|read more|learn more|"
    rf"{LABELS_ABROAD}|参考|引用)[ \t]{{0,3}}[*_]{{0,3}}[:：][ \t*_)]{{0,9}}$",
    re.IGNORECASE,
)
_HUSK = re.compile(r"(?:[0-9]{1,3}\\?[.)])?[\s\[\](){}（）【】*_~.,;:，、；。|<>&↩†‡⁂^\\+•·🔗📖👉-]*+$")
_EMPTY_TAG = re.compile(
    rf"<(sup|sub|small|cite|span|em|strong|i|b)\b[^<>\n]{{0,100}}>[ \t,;]{{0,5}}{_G}[ \t{_G},;]*+</\1>", re.IGNORECASE
)
_EMPTY_PAIR = OpenedBy(
    "(（[",
    rf"(?:[ \t*_]{{0,3}}(?:data |see )?(?:sources?|refs?|references?|citations?|see(?: also)?|via|cf|from|来源"
    rf"|{LABELS_ABROAD}|{POINTERS_ABROAD}"
    rf"|参考|参见|见|引用)[:：.]?[*_]{{0,3}})?"
    rf"[ \t,;，；.&]{{0,9}}{_G}[ \t{_G},;，；.&]*+[)）\]]",
    re.IGNORECASE,
)
_STOPS = ".,;:!?)]）。，；：！？、”،؛؟"
_CJK_STOPS = "。，；：！？、）"


def find_husks(text: str) -> Iterator[Span]:
    """Emptied brackets and labels. `text` is a working copy: what was deleted reads as `GONE`."""
    if _G not in text:
        return
    for match in _EMPTY_TAG.finditer(text) if "</" in text else ():
        yield Span(match.start(), match.end(), "superscript")
    for match in _EMPTY_PAIR.finditer(text):
        yield Span(match.start(), match.end(), "label")
    for colon in _LABEL_END.finditer(text):
        label = _LABEL.search(text, max(0, colon.start() - 40), colon.start())
        stop = text.find("\n", colon.end(), colon.end() + 2000)
        rest = text[colon.end() : stop if stop >= 0 else colon.end() + 2000]
        if label and not _WORDS_LEFT.search(rest):
            yield Span(label.start(), colon.end(1), "label")


def find_blanks(text: str) -> Iterator[Span]:
    """Blanks and commas that a deletion exposed. `text` shows crossed-out line ends as `GONE_END`."""
    for match in _GAP.finditer(text.replace(_E, _G)):
        start = match.start()
        while text[start - 1 : start] in (" ", "\t"):
            start -= 1
        yield from _around(text, start, match.end())


def _around(text: str, start: int, end: int) -> Iterator[Span]:
    """One gap: the deleted characters with all blanks beside them. Leave one blank where two words would join."""
    left = text[start - 1] if start else "\n"
    right = text[end] if end < len(text) else "\n"
    gap = text[start:end]
    if right == "\n":
        yield Span(start, end, "space")
    elif left == "\n":
        if gap.rstrip(" \t")[-1:] != _E:  # after whole lines the next one keeps its indent
            yield Span(start + len(gap) - len(gap.lstrip(" \t")), end, "space")
    elif left in ",;，；、" and right in ".,;:!?。，；！？" and not text[end + 1 : end + 2].isalnum():
        yield Span(start - 1, end, "space")
    elif gap.strip(_G + _E):
        ends_word = right == "." and text[end + 1 : end + 2].isalnum()  # `.5`, `.NET`: no full stop
        possessive = right in "'’" and text[end + 1 : end + 2] == "s" and not text[end + 2 : end + 3].isalnum()
        if (right in _STOPS and not ends_word) or possessive or left in "([（" + _CJK_STOPS:
            yield Span(start, end, "space")
        else:
            keep = max(gap.rfind(" "), gap.rfind("\t"))
            yield Span(start, start + keep, "space")
            yield Span(start + keep + 1, end, "space")


def find_empty_lines(text: str) -> Iterator[Span]:
    """Lines that held nothing but what was deleted, emptied table rows, and line ends beyond one empty line."""
    place = 0
    empty = 1  # empty lines before this one; a text begins as if after one
    exposed = False
    for line in text.split("\n"):
        end = place + len(line)
        bare = line.replace(_G, "").replace(_E, "") if _G in line or _E in line else line
        if len(bare) < len(line) and SHIELD not in line and _nothing_left(bare):
            yield Span(place, min(end + 1, len(text)), "space")
            exposed = True
        elif bare.strip():
            empty, exposed = 0, len(bare) < len(line) and line[-1:] in (_G, _E)
        else:
            empty += 1
            if exposed and empty > 1:
                yield Span(place, min(end + 1, len(text)), "space")
        place = end + 1


def _nothing_left(bare: str) -> bool:
    stripped = bare.strip()
    if not stripped or (stripped[0] == "|" and set(stripped) <= set("| \t")):
        return True
    return len(stripped) <= 80 and bool(_HUSK.match(stripped) or _LEFT_LABEL.match(stripped))
