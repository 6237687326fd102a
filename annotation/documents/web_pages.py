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
NOTE = re.compile(r"\b(?:footnote-(?:ref|back)|doc-(?:noteref|backlink)|noteref)\b")
EDGE = re.compile(r"(</?(?:head|nav)\b)", re.IGNORECASE)  # of what is no text on a book's page
# Whose end need not be written: what begins behind it and ends it
ENDED = {
    "p": "address|article|aside|blockquote|div|[dou]l|fieldset|figure|footer|form|h[1-6r]|header|main|nav|p(?:re)?"
    "|section|table",
    "li": "li",
    "dt": "d[td]",
    "dd": "d[td]",
    "tr": "tr|thead|tbody|tfoot",
}
ENDED |= dict.fromkeys(("td", "th"), "t[dhr]|thead|tbody|tfoot")
ENDED |= dict.fromkeys(("thead", "tbody", "tfoot"), "thead|tbody|tfoot")
ENDED |= dict.fromkeys(("caption", "colgroup"), "caption|colgroup|thead|tbody|tfoot|tr")
# and whose own end, as they are around it, ends it: no mark within a line, and within a table its parts alone
AROUND = dict.fromkeys(ENDED, "table|tr|thead|tbody|tfoot")
AROUND |= dict.fromkeys(("p", "li", "dt", "dd"), rf"(?!p\Z)(?:{ENDED['p']}|li|d[dt]|t[dhr]|details|figcaption)")
NESTING = {"ul", "ol", "menu", "dl", "table"}  # whose own items and cells end none of what they are in
VOID = re.compile("area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr|html|body")
NOT_SHOWN = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)(?!\s*[\w-])", re.IGNORECASE)
# of tables, and what begins and ends where no tag counts
TABLE_TAG = re.compile(
    r"<!--|-->|<(/?)(script|table|caption|colgroup|thead|tbody|tfoot|tr|td|th)\b(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*+>",
    re.IGNORECASE,
)
READER = LimitedProcess(250, 10)  # megabytes, seconds: the parser takes the square of what is never closed


class Words(HTMLParser):
    """The words of a page, as whoever opens it finds them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.around: list[str] = []  # the elements that are left out, of which the first has ended when it is empty
        self.inner: list[str] = []  # and what is open within the first, if its end need not be written
        self.hidden: list[str] = []
        self.heard = 0  # how many of these were there when what is read now began
        self.begun: tuple[int, int] | None = None  # where the first of them begins, if it is shown to nobody
        self.unseen: list[tuple[tuple[int, int], tuple[int, int], bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        is_nested = not NESTING.isdisjoint(self.inner)
        if self.begun and re.fullmatch(ENDED.get(self.around[0], "-"), tag) and not is_nested:
            self._seen_again()
        begins = not self.around and not VOID.fullmatch(tag)
        if begins and _is_unseen(tag, dict(attrs)):
            self.begun, self.heard = self.getpos(), len(self.hidden)
            self.around.append(tag)
        elif self.begun and self.around[0] in ENDED and not VOID.fullmatch(tag):
            self.inner.append(tag)
        elif self.around[:1] == [tag] or (begins and _is_unread(tag, dict(attrs))):
            self.around.append(tag)
        self.found.append("" if INLINE.fullmatch(tag) else " ")

    def handle_endtag(self, tag: str) -> None:
        if tag in self.inner:
            while self.inner.pop() != tag:
                pass
        elif self.around[-1:] == [tag]:
            self.around.pop()
            if self.begun and not self.around:
                self._seen_again(is_ended=True)
        elif self.begun and re.fullmatch(AROUND.get(self.around[0], "-"), tag):
            self._seen_again()
        self.found.append("" if INLINE.fullmatch(tag) else " ")

    def _seen_again(self, *, is_ended: bool = False) -> None:
        """What nobody is shown has ended with the tag that is read, or else before it."""
        assert self.begun
        self.unseen.append((self.begun, self.getpos(), is_ended))
        self.around.clear()
        self.inner.clear()
        self.begun = None

    def handle_data(self, data: str) -> None:
        if not self.around:
            self.found.append(data)
        elif self.begun and self.around[0] != "template":
            self.hidden.append(data)


def _is_unread(tag: str, attributes: dict[str, str | None]) -> bool:
    """What holds no words of the text, a second copy of a formula, or the number of a note."""
    if WORDLESS.fullmatch(tag) or tag.startswith("mjx-"):
        return True
    told = " ".join(attributes.get(name) or "" for name in ("class", "role", "epub:type"))
    return told.startswith(COPIES) or (tag == "a" and bool(NOTE.search(told)))


def _is_unseen(tag: str, attributes: dict[str, str | None]) -> bool:
    is_closed = tag == "template" or (tag == "dialog" and "open" not in attributes)
    return is_closed or "hidden" in attributes or bool(NOT_SHOWN.search(attributes.get("style") or ""))


def text_of_book(page: str) -> str:
    """A page of a book without its head and tables of contents."""
    kept, is_text = [], True
    for at, part in enumerate(EDGE.split(page)):
        if at % 2:
            is_text = part.startswith("</")
        elif is_text:
            kept.append(part)
    return "".join(kept)


def seen(page: str) -> tuple[str, str, str]:
    """A page without what it hides, the words that it shows, and those it hides; none where they cannot be told."""
    try:
        words, hidden, unseen = READER.compute(_words_of, page)
    except (TimeoutError, MemoryError, AssertionError):  # the last of a declaration that the parser does not know
        return page, "", ""
    begins = [0, *(match.end() for match in re.finditer("\n", page))]
    starts = [begins[line - 1] + column for (line, column), _, _ in unseen]
    ends = [begins[line - 1] + column for _, (line, column), _ in unseen]
    ends = [page.index(">", at) + 1 if is_ended else at for at, (_, _, is_ended) in zip(ends, unseen, strict=True)]
    kept = zip([0, *ends], [*starts, len(page)], strict=True)
    return "".join(page[start:end] for start, end in kept), words, hidden


def _words_of(page: str) -> tuple[str, str, list[tuple[tuple[int, int], tuple[int, int], bool]]]:
    words = Words()
    words.feed(page)
    words.close()
    if words.begun:  # and never ended: no browser would hide the rest of a page for long
        words.found += words.hidden[words.heard :]
        del words.hidden[words.heard :]
    return "".join(words.found), " ".join(words.hidden), words.unseen


def _ended(page: str) -> str:
    """A page whose cells and rows all end, as a browser ends them: of those that do not pandoc makes paragraphs."""
    made, done = list[str](), 0
    tables: list[list[str]] = [[]]  # what is open of each, and first of none
    unread = ""  # until where no tag counts
    for tag in TABLE_TAG.finditer(page):
        name, ends, inside = (tag[2] or tag[0]).lower(), list[str](), tables[-1]
        if unread or name in ("<!--", "-->", "script"):
            is_end = name == unread and (name == "-->" or bool(tag[1]))
            unread = "" if is_end else unread or {"<!--": "-->", "script": "script"}.get(name, "")
        elif not tag[1]:
            while inside and re.fullmatch(ENDED.get(inside[-1], "-"), name):
                ends.append(inside.pop())
            if name == "table":
                tables.append([])
            else:
                inside.append(name)
        elif name == "table":
            ends = inside[::-1]
            inside.clear()
            if len(tables) > 1:
                tables.pop()
        elif name in inside:
            while inside[-1] != name:
                ends.append(inside.pop())
            inside.pop()
        made += [page[done : tag.start()], *(f"</{one}>" for one in ends)]
        done = tag.start()
    return "".join(made) + page[done:]


def heard(page: str) -> tuple[bytes, dict[str, str], Counter[str]]:
    """The page with short addresses for its pictures, what these stand for, and how much nobody reads of each kind."""
    apart = {f"data:{number}": held for number, held in enumerate(DATA.findall(page))}
    names = iter(apart)
    unheard = Counter({what: len(sign.findall(page)) for what, sign in UNHEARD.items()})
    unheard["formula"] = len(DRAWN.findall(page)) - len(WRITTEN.findall(page))
    page = THOUGHT.sub(lambda tag: escape(tag[0]), DATA.sub(lambda _: next(names), page))
    return TAG.sub(_plain, _ended(page)).encode(), apart, unheard


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
