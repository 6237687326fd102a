"""A line that names its sources where it stands: `Sources: [1] https://…`, `*Source: World Bank, 2023*`."""

from __future__ import annotations

import re

from annotation.stripping.reference_entries import URL, is_prose
from annotation.stripping.reference_headings import LABELS_ABROAD, announces_sources

_ONE_LINE = re.compile(r"([ \t>*_\-#]*[^\n:：]{2,40})[:：][*_]{0,3}[ \t]*(\S[^\n]*)$")
_NOT_RESIDUE = re.compile(
    r"\[[^\[\]\n]{0,200}\]\([^\s()]*(?:\([^\s()]*\)[^\s()]*)*\)|<?(?:https?://|www\.)[^\s<>]+>?"
    r"|\\?\[\^?[0-9, –-]+\^?\\?\]|[\W_0-9]|\band\b",
    re.IGNORECASE,
)
_MARKED_PARTS = re.compile(r"(?:\\?\[\^?[0-9]{1,3}\\?\][^\[\]\n]{1,150}){1,40}+$")
# a superscript that an export flattened, with nothing else left of the line: `**Citations used:**.1`
_GLUED_ONLY = re.compile(r"\.[ \t]?[0-9]{1,3}(?:[ \t]?[,;–-][ \t]?[0-9]{1,3}){0,30}[ \t]*$")
_EMPHASISED = re.compile(
    rf"[ \t>]{{0,4}}([*_]{{1,3}})(?:data )?(?:sources?|{LABELS_ABROAD})[:：][^\n]{{2,200}}\1[ \t]*$", re.IGNORECASE
)


def is_source_line(line: str) -> bool:
    """A label for sources, then nothing but addresses or marks, marked titles, or (in emphasis) any short record."""
    if len(line) > 3000:
        return False
    match = _ONE_LINE.match(line)
    if not match or not announces_sources(match[1] + ":"):
        return False
    content = match[2]
    if _GLUED_ONLY.match(content):
        return True
    if is_prose(content):
        return False
    if _MARKED_PARTS.match(content) or (len(line) <= 250 and _EMPHASISED.match(line)):
        return True
    return bool(URL.search(content)) and len(_NOT_RESIDUE.sub("", content)) <= 0.4 * len(content)
