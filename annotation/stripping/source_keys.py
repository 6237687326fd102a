"""Labels and names that a list of sources proves: `(ito2004silting pages 1-2)`, `[Harbour Office - Tolls] [4]`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from annotation.stripping.author_years import opening
from annotation.stripping.reference_entries import key_of
from annotation.stripping.spans import GONE, Span

_PARENTHESIS = re.compile(r"\(([^()\n]{4,1500})\)")
_JOINT = re.compile(r"[,;][ ]")
_STEM = re.compile(r"(?=\w*[0-9])(?=\w*[^\W\d_])\w{8,}")
_PLACE = 40  # characters behind the stem: `pages 1-2`, `media 4f90b336`
_NAME = re.compile(rf"\[([^\W\d_][^\[\]\n|{GONE}]{{3,160}}+)\][ ]?(?={GONE})")
_WORDS = re.compile(r"\w+")
_AFTER_SITE = re.compile(r"[ ]?[-–—|:]|[ ]?\W*$|[ ][(]")  # a site may be named alone: `Harbour Office - Tolls`
_MOST_ALIKE = 100  # entries that begin with the same word; without a limit a hostile list takes its square in time


def find_source_keys(text: str, entries: Sequence[str]) -> Iterator[Span]:
    """Parentheses that hold nothing but labels of `entries`, or their stems with another place in the same source."""
    keys = {key for entry in entries if (key := key_of(entry))}
    if len(keys) < 2:
        return
    stems = {stem[0] for key in keys if (stem := _STEM.match(key))}
    for match in _PARENTHESIS.finditer(text):
        if match[1] in keys or all(_is_key(part, keys, stems) for part in _JOINT.split(match[1])):
            yield Span(match.start(), match.end(), "named")


def _is_key(part: str, keys: set[str], stems: set[str]) -> bool:
    stem = _STEM.match(part)
    return part in keys or bool(stem and stem[0] in stems and len(part) - stem.end() <= _PLACE)


def find_named_marks(text: str, entries: Sequence[str]) -> Iterator[Span]:
    """Names of `entries` in a bracket of their own before a mark that went: `[Harbour Office - Tolls] [4]`."""
    named: dict[str, list[str]] = {}
    for match in _NAME.finditer(text) if entries else ():
        if not named:
            for entry in entries:
                head = opening(entry)
                if (first := _WORDS.match(head)) and len(alike := named.setdefault(first[0], [])) < _MOST_ALIKE:
                    alike.append(head)
        first = _WORDS.match(match[1])
        if first and first[0][0].isupper() and any(_names(match[1], head) for head in named.get(first[0], ())):
            yield Span(match.start(), match.end(), "named")


def _names(name: str, entry: str) -> bool:
    """Does `entry` begin with this name, or at least with its first two words and hold all the others?"""
    if entry.startswith(name):
        return bool(_AFTER_SITE.match(entry, len(name)))
    words, known = _WORDS.findall(name), _WORDS.findall(entry)
    return len(words) > 2 and words[:2] == known[:2] and set(words) <= set(known)
