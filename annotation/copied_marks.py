"""Marks as a chat page's clipboard leaves them: the raised number that was a button stands alone on a line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from annotation.spans import Span

# `… on tablets. ⏎17⏎ The next sentence …`: a blank before the break, and a blank or an empty line after the number
_BUTTON = re.compile(
    r"(?<=[.!?…。！？\"'”’»)\]])[ \t]{1,3}\n(?:[0-9]{1,3}[ \t]{0,3}\n){0,5}[0-9]{1,3}"
    r"(?:\n(?=[ \t]{1,3}\S)|[ \t]{0,3}(?=\n[ \t]{0,9}(?:\n|\Z)|\Z))"
)
_ENOUGH = 3  # one such line may be a score or a page number


def find_copied_marks(text: str) -> Iterator[Span]:
    """Numbers alone on a line after a sentence whose line breaks off behind a blank; three at least, or none."""
    found = list(_BUTTON.finditer(text))
    if len(found) >= _ENOUGH:
        yield from (Span(match.start(), match.end(), "tool_token") for match in found)
