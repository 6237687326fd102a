"""Sources as a chat page's clipboard leaves them: cards of site and title, marks that were buttons or numbers."""

import re
from collections.abc import Iterator

from annotation.source_lists.reference_headings import hints_at_sources
from annotation.stripping.citation_links import destination_end
from annotation.texts.spans import GONE, Span

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
_RARE = "窗ウ창êöı"  # one sign is found far faster than a word
_HINTED = tuple((next((sign for sign in _RARE if sign in label), label[0]), label) for label in _NEW_WINDOW)
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
    labelled = any(sign in text and label in text for sign, label in _HINTED)
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


# `… on tablets. ⏎17⏎ The next sentence …`: a blank before the break, and a blank or an empty line after the number
_BUTTON = re.compile(
    r"(?<=[.!?…。！？\"'”’»)\]])[ \t]{1,3}\n(?:[0-9]{1,3}[ \t]{0,3}\n){0,5}[0-9]{1,3}"
    r"(?:\n(?=[ \t]{1,3}\S)|[ \t]{0,3}(?=\n[ \t]{0,9}(?:\n|\Z)|\Z))"
)
_BUTTON_HINT = re.compile(r"\n(?<=[ \t]\n)[0-9]")
_ENOUGH = 3  # one such line may be a score or a page number
_CHIP = re.compile(r"(?:^|(?<=\n))([^\n]{2,40})\n[ \t]*\+[0-9]{1,2}[ \t]*(?=\n|$)(?:\n+\1[ \t]*(?=\n|$))*")
_CHIP_NAME = re.compile(r"[ \t]*[\w'’&.\- ]{2,40}$")
_NAME = r"[^\W\d_][\w.'’&-]{1,60}(?:[ ][A-Z][\w.'’&-]{0,40}){0,4}"
_COUNTED = rf"{_NAME}\+[0-9]{{1,2}}"
_CHIPS = re.compile(  # `… fell. Reuters+2AP News+2`, `… fell.pmc.ncbi.nlm.nih+1`, the last one perhaps without a count
    rf"(?<=[\w%)\]*\"”’][.!?…])[ \t\u200b]?{_COUNTED}(?:[ \u200b]?{_COUNTED}){{0,7}}+(?:[A-Z][\w.'’&-]{{1,40}})?"
    r"(?=[ \t\u200b]*(?:\n|$|\||[ \t][\"“*_(]{0,3}[A-Z]))"
)
_BRACKETED = re.compile(r"(?<![\w\]])\[[a-z][a-z0-9.-]{3,60}\+[0-9]{1,2}\](?!\()")
_BRACKETED_ONE = re.compile(r"(?<=[.!?…][ \t])\[(?!sic\])[a-z][a-z0-9.-]{2,60}\](?!\()")
_ONE = re.compile(rf"(?<=[.!?…][ \t])({_NAME})[ \t]*(?=\n|$)")
_COUNT = re.compile(r"\+(?<=[^\W\d_]\+)[0-9]")
_SITE_BELOW = re.compile(r"\n(?:[ \t]*\n)?[ \t]*(?:[a-z0-9-]{1,63}\.){1,5}[a-z]{2,24}[ \t]*(?=\n|$)")
_STOP = re.compile(r"[.!?…。！？\"”’)][ \t]{0,3}$")


def find_copied_marks(text: str) -> Iterator[Span]:
    """Numbers alone on a line after a sentence whose line breaks off behind a blank; three at least, or none."""
    found = list(_BUTTON.finditer(text)) if len(_BUTTON_HINT.findall(text)) >= _ENOUGH else []
    if len(found) >= _ENOUGH:
        yield from (Span(match.start(), match.end(), "tool_token") for match in found)


def find_chips(text: str) -> Iterator[Span]:
    """Sites' names that were buttons: `+2` behind them or on the next line, or alone on a line after a sentence."""
    yield from _counted(text) if _COUNT.search(text) else ()
    for match in _CHIP.finditer(text) if "\n+" in text or "\n +" in text else ():
        if _CHIP_NAME.match(match[1]) and len(match[1].split()) <= 5 and not match[1].rstrip().endswith((".", ":")):
            yield Span(match.start(), match.end(), "tool_token")
    sites = [
        match for match in _SITE_BELOW.finditer(text) if _STOP.search(text, max(0, match.start() - 4), match.start())
    ]
    if len(sites) >= _ENOUGH:
        yield from (Span(match.start(), match.end(), "tool_token") for match in sites)


def _counted(text: str) -> Iterator[Span]:
    """`Reuters+2` behind a sentence, `[nature+1]`, and the same names without a count in the same place."""
    plain, bracketed = list(_CHIPS.finditer(text)), list(_BRACKETED.finditer(text))
    found = [*plain, *bracketed]
    if len(found) < 2:  # `foo.size+1` is none: a site written small needs company
        found = [match for match in found if match[0].strip(" \t\u200b")[0].isupper()]
    if len(bracketed) >= _ENOUGH:
        found += _BRACKETED_ONE.finditer(text)
    names = {name for match in plain for name in re.findall(rf"({_NAME})\+", match[0])} if found else set()
    found += (match for match in _ONE.finditer(text) if match[1] in names) if names else ()
    yield from (Span(match.start(), match.end(), "tool_token") for match in found)
