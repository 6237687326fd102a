"""Whether a report copies the reference it is held against: its words, and whether it cites the reference's own page.

A topic whose reports quote the answer measures a search engine, not a writer (Wiki Live Challenge, 2026, Table 5).
"""

import math
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

from annotation.texts.scripts import UNITS

RUN = 12  # words in a row: shorter runs are names, titles and phrases that everybody uses


def quoted_share(report: str, reference: str) -> float:
    """Share of the report's words that are in a run of `RUN` or more words of the reference, 0 to 1.

    Words are compared in small letters and without marks between them; a Han or kana character is a word. nan where
    the report has no words.
    """
    words = _words(report)
    if not words:
        return math.nan
    runs = set(_runs(_words(reference)))
    quoted = bytearray(len(words))
    for start, run in enumerate(_runs(words)):
        if run in runs:
            quoted[start : start + RUN] = b"\x01" * RUN
    return sum(quoted) / len(words)


def _words(text: str) -> list[str]:
    return [unit.casefold() for unit in UNITS.findall(text)]


def _runs(words: list[str]) -> Iterable[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(RUN)), strict=False)


def is_page(address: str, page: str) -> bool:
    """Whether both lead to one page: without scheme, `www.` and mobile host, parts of the page, and ways of writing."""
    return bool(page) and _page(address) == _page(page) is not None


def _page(address: str) -> tuple[str, str, str] | None:
    """None for what is no address, such as an open bracket where the host should be."""
    try:
        parts = urlsplit(address if "//" in address else f"//{address}")
        host = ".".join(part for part in (parts.hostname or "").split(".") if part not in ("www", "m"))
    except ValueError:
        return None
    return host, unquote(parts.path).replace(" ", "_").rstrip("/"), parts.query
