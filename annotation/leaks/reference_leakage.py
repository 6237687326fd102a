"""Whether a report copies the reference it is held against, whether it cites its page, and from when its sources are.

A topic whose reports quote the answer measures a search engine, not a writer (Wiki Live Challenge, 2026, Table 5).
When a source came out is what its address says of it; nothing is fetched, nothing guessed.
"""

import math
import re
from collections.abc import Iterable
from datetime import date
from urllib.parse import unquote, urlsplit

from annotation.texts.scripts import UNITS

ARXIV = re.compile(r"/(?:abs|pdf|html)/(\d\d)(\d\d)\.\d{4,5}")  # YYMM of the first version
IN_PATH = re.compile(r"/((?:19|20)\d\d)[/-](\d\d?)(?:[/-](\d\d?))?(?=[/-]|$)")
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


def earliest_date(address: str) -> date | None:
    """The first day on which it can have come out: of the month of an arXiv number, or of a date in the path.

    None where the address says none, or one that is no day.
    """
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        if host == "arxiv.org" or host.endswith(".arxiv.org"):
            found = ARXIV.search(parts.path)
            return date(2000 + int(found[1]), int(found[2]), 1) if found else None
        found = IN_PATH.search(parts.path)
        return date(int(found[1]), int(found[2]), int(found[3] or 1)) if found else None
    except ValueError:
        return None
