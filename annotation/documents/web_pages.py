"""A web page as pandoc reads all of its text, and what of it no reader hears."""

import codecs
import re
from collections import Counter
from contextlib import suppress
from html import escape
from html.parser import HTMLParser

from annotation.documents.programs import LimitedProcess
from annotation.texts.spans import THINKING

DATA = re.compile(r"(?<=src=[\"'])data:image/[\w.+-]+;base64,[\w+/=]{1000,}")  # a picture in a page, which fills a heap
TAG = re.compile(r"""<(/?)(img|input|col|colgroup)\b((?:[^<>"']|"[^"<]*"|'[^'<]*')*+)>""", re.IGNORECASE)
THOUGHT = re.compile(rf"</?(?:{'|'.join(THINKING)})>", re.IGNORECASE)  # elements to pandoc, to a reader words
CLOSED = re.compile(r"""(?:\A|(?<=[\s"']))/\s*\Z""")
SOURCE = re.compile(r"(?<![\w-])src(?==)", re.IGNORECASE)
LATER = re.compile(r"(?<![\w-])data-src(?==)", re.IGNORECASE)
# What a page shows by a program or fetches from elsewhere, and formulas that are drawn and not written beside it
UNHEARD = {
    "drawing": re.compile(r"<canvas\b", re.IGNORECASE),
    "embedded page": re.compile(r"<(?:iframe|object|embed)\b", re.IGNORECASE),
    "recording": re.compile(r"<(?:video|audio)\b", re.IGNORECASE),
}
DRAWN = re.compile(r"class=[\"']?katex-html\b|<mjx-container\b", re.IGNORECASE)
WRITTEN = re.compile(r"class=[\"']?katex-mathml\b|<mjx-assistive-mml\b", re.IGNORECASE)

CHARSET = re.compile(rb"charset\s*=\s*[\"']?([\w.:-]{2,40})", re.IGNORECASE)
# which browsers read for it
WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "iso-8859-1": "cp1252"}


def encoding_of(page: bytes, otherwise: str) -> str:
    """UTF-16 by its first bytes, UTF-8 where it is that, then what its owner says, then what it says of itself."""
    if page.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    said = CHARSET.search(page[:1024])
    named = said[1].decode().lower() if said else otherwise
    for encoding in ("utf-8", otherwise, WIDER.get(named, named)):
        with suppress(LookupError, UnicodeError):
            page.decode(encoding)
            return encoding
    return otherwise


# in the middle of a word, and what holds no words of the text, or a second copy
INLINE = re.compile(
    "a|abbr|b|bd[io]|big|cite|code|del|em|font|i|ins|kbd|mark|q|s|samp|small|span|strike|strong|su[bp]|u|var"
)
WORDLESS = re.compile("script|style|template|noscript|math|iframe|object|video|audio|canvas")
COPIES = ("katex", "MathJax", "mjx")
NOTE = re.compile(r"\b(?:footnote-(?:ref|back)|doc-(?:noteref|backlink))\b")
READER = LimitedProcess(250, 10)  # megabytes, seconds: the parser takes the square of what is never closed


class Words(HTMLParser):
    """The words of a page, as whoever opens it finds them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.around: list[str] = []  # the elements that are left out, of which the first has ended when it is empty

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.around[:1] in ([], [tag]) and (WORDLESS.fullmatch(tag) or self.around or _is_unread(tag, dict(attrs))):
            self.around.append(tag)
        self.found.append("" if INLINE.fullmatch(tag) else " ")

    def handle_endtag(self, tag: str) -> None:
        if self.around[-1:] == [tag]:
            self.around.pop()
        self.found.append("" if INLINE.fullmatch(tag) else " ")

    def handle_data(self, data: str) -> None:
        if not self.around:
            self.found.append(data)


def _is_unread(tag: str, attributes: dict[str, str | None]) -> bool:
    """A second copy of a formula, or the number of a note."""
    told = " ".join(attributes.get(name) or "" for name in ("class", "role"))
    return tag.startswith("mjx-") or told.startswith(COPIES) or (tag == "a" and bool(NOTE.search(told)))


def words_of(page: str) -> str:
    """The words that a page shows, without its programs, styles and formulas; none where they cannot be told."""
    try:
        return READER.compute(_words_of, page)
    except (TimeoutError, MemoryError, AssertionError):  # the last of a declaration that the parser does not know
        return ""


def _words_of(page: str) -> str:
    words = Words()
    words.feed(page)
    words.close()
    return "".join(words.found)


def heard(page: str) -> tuple[bytes, dict[str, str], Counter[str]]:
    """The page with short addresses for its pictures, what these stand for, and how much nobody reads of each kind."""
    apart = {f"data:{number}": held for number, held in enumerate(DATA.findall(page))}
    names = iter(apart)
    unheard = Counter({what: len(sign.findall(page)) for what, sign in UNHEARD.items()})
    unheard["formula"] = len(DRAWN.findall(page)) - len(WRITTEN.findall(page))
    page = THOUGHT.sub(lambda tag: escape(tag[0]), DATA.sub(lambda _: next(names), page))
    return TAG.sub(_plain, page).encode(), apart, unheard


def _plain(tag: re.Match[str]) -> str:
    """A tag as pandoc takes it: one that may stand open closed, a picture shown later shown, widths of columns gone.

    Pandoc loses the list after a box that is not closed, and the columns of a table beyond those that have a width.
    """
    closing, name, attributes = tag[1], tag[2].lower(), tag[3]
    if name.startswith("col"):
        return ""
    if name == "img" and LATER.search(attributes):
        attributes = LATER.sub("src", SOURCE.sub("data-before", attributes))
    return f"<{closing}{name}{CLOSED.sub('', attributes)}{'' if closing else ' /'}>"
