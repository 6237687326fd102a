"""Marks as a chat page's clipboard leaves them: what was a button, a raised number or a site's name, is mere text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from annotation.stripping.spans import Span

# `… on tablets. ⏎17⏎ The next sentence …`: a blank before the break, and a blank or an empty line after the number
_BUTTON = re.compile(
    r"(?<=[.!?…。！？\"'”’»)\]])[ \t]{1,3}\n(?:[0-9]{1,3}[ \t]{0,3}\n){0,5}[0-9]{1,3}"
    r"(?:\n(?=[ \t]{1,3}\S)|[ \t]{0,3}(?=\n[ \t]{0,9}(?:\n|\Z)|\Z))"
)
_ENOUGH = 3  # one such line may be a score or a page number
_CHIP = re.compile(r"(?:^|(?<=\n))([^\n]{2,40})\n[ \t]*\+[0-9]{1,2}[ \t]*(?=\n|$)(?:\n+\1[ \t]*(?=\n|$))*")
_CHIP_NAME = re.compile(r"[ \t]*[\w'’&.\- ]{2,40}$")
_NAME = r"[^\W\d_][\w.'’&-]{1,60}(?:[ ][A-Z][\w.'’&-]{0,40}){0,4}"
_COUNTED = rf"{_NAME}\+[0-9]{{1,2}}"
_CHIPS = re.compile(  # `… fell. Reuters+2AP News+2`, `… fell.pmc.ncbi.nlm.nih+1`, the last one perhaps without a count
    rf"(?<=[\w%)\]*\"”’][.!?…])[ \t\u200b]?{_COUNTED}(?:[ \u200b]?{_COUNTED}){{0,7}}+(?:[A-Z][\w.'’&-]{{1,40}})?"
    r"(?=[ \t\u200b]*(?:\n|$|\||[ \t][\"“*_(]{0,3}[A-Z]))"
)
_BRACKETED = re.compile(r"(?<![\w\]])\[[a-z][a-z0-9.-]{3,60}\+[0-9]{1,2}\](?!\()")
_BRACKETED_ONE = re.compile(r"(?<=[.!?…][ \t])\[(?!sic\])[a-z][a-z0-9.-]{2,60}\](?!\()")
_ONE = re.compile(rf"(?<=[.!?…][ \t])({_NAME})[ \t]*(?=\n|$)")
_COUNT = re.compile(r"\+(?<=[^\W\d_]\+)[0-9]")
_SITE = re.compile(r"\n(?:[ \t]*\n)?[ \t]*(?:[a-z0-9-]{1,63}\.){1,5}[a-z]{2,24}[ \t]*(?=\n|$)")
_STOP = re.compile(r"[.!?…。！？\"”’)][ \t]{0,3}$")


def find_copied_marks(text: str) -> Iterator[Span]:
    """Numbers alone on a line after a sentence whose line breaks off behind a blank; three at least, or none."""
    found = list(_BUTTON.finditer(text)) if " \n" in text or "\t\n" in text else []
    if len(found) >= _ENOUGH:
        yield from (Span(match.start(), match.end(), "tool_token") for match in found)


def find_chips(text: str) -> Iterator[Span]:
    """Sites' names that were buttons: `+2` behind them or on the next line, or alone on a line after a sentence."""
    yield from _counted(text) if _COUNT.search(text) else ()
    for match in _CHIP.finditer(text) if "\n+" in text or "\n +" in text else ():
        if _CHIP_NAME.match(match[1]) and len(match[1].split()) <= 5 and not match[1].rstrip().endswith((".", ":")):
            yield Span(match.start(), match.end(), "tool_token")
    sites = [match for match in _SITE.finditer(text) if _STOP.search(text, max(0, match.start() - 4), match.start())]
    if len(sites) >= _ENOUGH:
        yield from (Span(match.start(), match.end(), "tool_token") for match in sites)


def _counted(text: str) -> Iterator[Span]:
    """`Reuters+2` behind a sentence, `[nature+1]`, and the same names without a count in the same place."""
    plain, bracketed = list(_CHIPS.finditer(text)), list(_BRACKETED.finditer(text))
    found = [*plain, *bracketed]
    if len(found) < 2:  # `foo.size+1` is none: a site written small needs company
        found = [match for match in found if match[0].strip(" \t\u200b")[0].isupper()]
    if len(bracketed) >= _ENOUGH:
        found += _BRACKETED_ONE.finditer(text)
    names = {name for match in plain for name in re.findall(rf"({_NAME})\+", match[0])} if found else set()
    found += (match for match in _ONE.finditer(text) if match[1] in names) if names else ()
    yield from (Span(match.start(), match.end(), "tool_token") for match in found)
