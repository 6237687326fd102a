"""Expressions that begin with one of several signs, looked for one sign after another."""

import re
from collections.abc import Iterator


class OpenedBy:
    """One of `signs`, then `rest`, as an expression for each: `re` finds one sign ten times faster than one of a set.

    For matches in which no other of the signs can stand: of those that overlap both would be found.
    """

    def __init__(self, signs: str, rest: str, flags: int = 0) -> None:
        self._patterns = [(sign, re.compile(re.escape(sign) + rest, flags)) for sign in signs]

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Every match in `text`, sign by sign (not in order of place)."""
        for sign, pattern in self._patterns:
            if sign in text:
                yield from pattern.finditer(text)
