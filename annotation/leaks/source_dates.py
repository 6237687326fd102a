"""When a source that a report cites came out, as far as its address says so; nothing is fetched, nothing guessed."""

import re
from datetime import date
from urllib.parse import urlsplit

ARXIV = re.compile(r"/(?:abs|pdf|html)/(\d\d)(\d\d)\.\d{4,5}")  # YYMM of the first version
IN_PATH = re.compile(r"/((?:19|20)\d\d)[/-](\d\d?)(?:[/-](\d\d?))?(?=[/-]|$)")


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
