"""Passages marked in a rendered report. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import unescape

PIECE = re.compile(r"<[^>]*>|&[^;]+;|[^<&]+")


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
