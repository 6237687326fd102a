"""Quoted passages: the text of a report as a browser counts it, spans checked against it, and marked in it.

A browser counts UTF-16 units over the pane's `textContent`; stored offsets are code points of the same text.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from html import unescape
from typing import Any

from annotation.labels.entries import Side, Span
from annotation.rendering import CACHED, render_report

PIECE = re.compile(r"<[^>]*>|&[^;]+;|[^<&]+")

TAG = re.compile(r"<[^>]*>")
NOT_SHOWN = ("", "")  # text and sha256 of a side that has no report
Texts = Mapping[Side, tuple[str, str]]  # side -> shown Markdown and its sha256


@dataclass(frozen=True)
class Evidence:
    """A quoted passage as it is stored: offsets in code points, and the shown text they count in.

    Where `verified` is false the text has something else there: the quote is kept, the offsets prove nothing.
    """

    side: Side
    start: int
    end: int
    quote: str
    verified: bool
    sha256: str  # of the shown Markdown, as stamped on the label


@lru_cache(maxsize=CACHED)
def plain_text(markdown: str) -> str:
    """The `textContent` of a report's pane: `render_report(markdown)` as a browser reads it, without its tags.

    The sanitiser writes `<` and `&` of the text as entities, so every `<` opens a tag and every `&` an entity.
    """
    return unescape(TAG.sub("", render_report(markdown)))


def code_point(text: str, unit: int) -> int:
    """Code points of `text` before UTF-16 unit `unit`: the text's length beyond its end, a pair's start inside it."""
    return len(text[:unit].encode("utf-16-le")[: 2 * unit].decode("utf-16-le", "ignore"))


def utf16_unit(text: str, index: int) -> int:
    """UTF-16 units of `text` before code point `index`."""
    return len(text[:index].encode("utf-16-le")) // 2


def check_span(text: str, sha256: str, span: Span) -> Evidence:
    """`span` as it is stored: verified if `text`, whose report has `sha256`, holds exactly the quote there."""
    start, end = code_point(text, span.start), code_point(text, span.end)
    return Evidence(span.side, start, end, span.quote, text[start:end] == span.quote, sha256)


def check_spans(texts: Texts, spans: Iterable[Span]) -> list[dict[str, Any]]:
    """What a label keeps of `spans`: all of them, each verified or not. Nothing here refuses an answer."""
    checked = []
    for span in spans:
        markdown, sha256 = texts.get(span.side, NOT_SHOWN)
        checked.append(asdict(check_span(plain_text(markdown), sha256, span)))
    return checked


def spans_for_page(texts: Texts, stored: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Stored evidence in UTF-16 units of the text shown now, without the hash, which is constant per report.

    A quote from a text that was replaced since is no longer verified.
    """
    spans = []
    for passage in stored:
        markdown, sha256 = texts.get(passage["side"], NOT_SHOWN)
        text = plain_text(markdown)
        units = {name: utf16_unit(text, passage[name]) for name in ("start", "end")}
        stands = passage["verified"] and passage["sha256"] == sha256
        spans.append({"side": passage["side"], **units, "quote": passage["quote"], "verified": stands})
    return spans


def highlighted(html: str, spans: Iterable[tuple[int, int]]) -> str:
    """`html` of `render_report` with the `spans` in `<mark>`: start and end in code points of its `plain_text`.

    A mark never crosses a tag, so every element keeps its place; blanks alone are not marked, for between the rows of a
    table no mark may stand.
    """
    wanted = sorted(spans)
    if not wanted:
        return html
    out, at = [], 0
    for piece in PIECE.findall(html):
        if piece.startswith("<"):
            out.append(piece)
            continue
        length = len(unescape(piece))
        inside = _inside(wanted, at, at + length)
        at += length
        if not inside:
            out.append(piece)
        elif piece.startswith("&"):
            out.append(f"<mark>{piece}</mark>")
        else:
            out.append(_marked(piece, inside))
    return "".join(out).replace("</mark><mark>", "")


def _inside(spans: list[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """The parts of a run of text that are in a span, joined, counted from its start."""
    parts: list[tuple[int, int]] = []
    for low, high in spans:
        low, high = max(low, start) - start, min(high, end) - start
        if low >= high:
            continue
        if parts and low <= parts[-1][1]:
            parts[-1] = parts[-1][0], max(parts[-1][1], high)
        else:
            parts.append((low, high))
    return parts


def _marked(text: str, parts: list[tuple[int, int]]) -> str:
    pieces, done = [], 0
    for low, high in parts:
        words = text[low:high]
        pieces += [text[done:low], f"<mark>{words}</mark>" if words.strip() else words]
        done = high
    return "".join(pieces) + text[done:]
