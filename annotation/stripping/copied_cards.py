"""Cards of sources as a chat page's clipboard leaves them: site, title, `Opens in a new window`, linked or not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from annotation.stripping.citation_links import destination_end
from annotation.stripping.reference_headings import hints_at_sources
from annotation.stripping.spans import GONE, Span

# What a screen reader is told about such a link, as pages print it in the languages we have seen.
_NEW_WINDOW = (
    "Opens in a new window",
    "Wird in einem neuen Fenster geöffnet",
    "S'ouvre dans une nouvelle fenêtre",
    "S’ouvre dans une nouvelle fenêtre",
    "Se abre en una ventana nueva",
    "Se abrirá en una ventana nueva",
    "Si apre in una nuova finestra",
    "Abre em uma nova janela",
    "Abre numa nova janela",
    "Yeni pencerede açılır",
    "在新窗口中打开",
    "在新視窗中開啟",
    "新しいウィンドウで開く",
    "새 창에서 열기",
)
_LABEL = re.compile(rf"(?:{'|'.join(_NEW_WINDOW)})[\s*]*$")
_IMAGE = re.compile(r"!\[[^\[\]\n]{0,300}+\](?:\([^()\s]{0,2000}+\)|\])?")
_WORDS = r"(?:[^\[\]\\!]|!(?!\[)|\\.){0,500}+"
_LINK = re.compile(  # the words may stand in several paragraphs
    rf"(?<!!)\[((?:{_WORDS}(?:!\[[^\[\]\n]{{0,300}}+\]\([^()\s]{{0,2000}}+\)"
    rf"|!?\[{{1,2}}[^\[\]\n]{{0,200}}+\]{{1,2}}(?!\())){{0,8}}+{_WORDS})\]\((?=[ \t]*<?https?://)",
    re.DOTALL,
)
_SITE = r"(?:[a-z0-9-]{1,63}\.){1,5}[a-z]{2,24}"
_SITE_LINE = re.compile(rf"\**{_SITE}\**")
_SITE_FIRST = re.compile(rf"\**{_SITE}(?:\*\*|[ \t]*\n)")
_SITE_AND_TITLE = re.compile(rf"\**{_SITE}.*\S", re.DOTALL)
_TIME = re.compile(r"[0-9]{1,2}(?::[0-9]{2}){1,2}")  # a place in a film
_LINE_START = re.compile(r"(?:^|\n)[ \t>*_-]*$")
_AROUND = " \t\n*_\\"
_LINES = 3  # of a card above its last: site, title, perhaps the title's second line


def find_cards(text: str) -> Iterator[Span]:
    """Whole cards, and the line right above them that announces sources. Links with other words keep those."""
    labelled = any(label in text for label in _NEW_WINDOW)
    if not labelled and "[\n" not in text:
        return
    cards = [*_linked(text), *(_unlinked(text) if labelled else ())]
    done = 0
    for card in sorted(cards, key=lambda card: card.start):
        if card.kind == "link_citation" and text[done : card.start].strip(f" \t\n*-{GONE}"):
            yield from _heading_above(text, card.start)
        yield card
        done = max(done, card.end)


def _linked(text: str) -> Iterator[Span]:
    trail: tuple[int, int, str] | None = None  # links to one address, one after another from the start of a line
    for match in _LINK.finditer(text):
        start, end = match.start(), destination_end(text, match.start(), match.end())
        address = text[match.end() : end].strip("()<> ")
        if not trail or trail[2] != address or text[trail[1] : start].strip(_AROUND):
            trail = (start, end, address) if _LINE_START.search(text, max(0, start - 9), start) else None
        else:
            trail = (trail[0], end, address)
        label = _LABEL.search(match[1])
        words = _IMAGE.sub("", match[1][: label.start()] if label else match[1]).strip(_AROUND)
        if label and not words:
            yield Span(trail[0] if trail else start, end, "link_citation")
        elif _is_card(words, address, "![" in match[1], bool(label)):
            yield Span(start, end, "link_citation")
        elif label or match[1].startswith("\n"):
            yield Span(start, match.start(1), "link_url")
            yield Span(match.start(1) + label.start() if label else match.end(1), end, "link_url")


def _is_card(words: str, address: str, pictured: bool, labelled: bool) -> bool:
    site = address.lower().partition("//")[2].partition("/")[0].removeprefix("www.")
    named = bool(site and words.lower().startswith(site)) or bool(_SITE_FIRST.match(words))
    if labelled:
        return pictured or named or bool(_TIME.fullmatch(words))
    return named and "\n" in words


def _unlinked(text: str) -> Iterator[Span]:
    """The same without links, line by line; of other lines only a label that is glued to them goes."""
    above: list[tuple[int, str]] = []
    place = 0
    for line in text.split("\n"):
        bare = line.strip()
        label = _LABEL.search(bare) if bare.endswith(_NEW_WINDOW) else None
        if label:
            words = bare[: label.start()]
            sites = [start for start, other in above[-_LINES:] if _SITE_LINE.fullmatch(other)]
            start = place + line.index(bare)
            if not words:
                yield Span(sites[0] if sites else start, place + len(line), "link_citation")
            elif _SITE_AND_TITLE.fullmatch(words):
                yield Span(start, place + len(line), "link_citation")
            elif not words[-1].isspace():
                yield Span(start + label.start(), place + len(line), "link_url")
            above.clear()
        elif bare:
            above.append((place, bare))
        place += len(line) + 1


def _heading_above(text: str, start: int) -> Iterator[Span]:
    end = len(text[max(0, start - 200) : start].rstrip(" \t\n>*-")) + max(0, start - 200)
    first = text.rfind("\n", max(0, end - 100), end) + 1
    if hints_at_sources(text[first:end]) and (first or end <= 100):
        yield Span(first, end, "reference_heading")
