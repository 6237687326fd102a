"""Names of any length in the room a figure has: folded once, then shortened in the middle."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from exports.plots.theme import TEXT, themed

ELLIPSIS = "…"
LEAST_CUT = 8  # letters that all names begin with, from which they are left out


@cache
def width_of(text: str, points: float) -> float:
    """How wide one line of text is in the figure's own font, in inches."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    with themed():
        return (
            float(text_to_path.get_text_width_height_descent(text, FontProperties(size=points), ismath=False)[0]) / 72
        )


def fitted(name: str, room: float, points: float, lines: int = 2) -> str:
    """`name` in at most `lines` lines of `room` inches, folded after a space, slash, hyphen or underscore.

    What is still too long loses its middle: the ends of two model names are what tells them apart.
    """
    name = " ".join(name.split())
    if width_of(name, points) <= room:
        return name
    if lines > 1 and " [" in name:  # what calipers adds to a judge's name, such as [both orders]
        first, _, added = name.rpartition(" [")
        return f"{_cut(first, room, points)}\n[{_cut(added, room, points)}"
    if lines > 1:
        parts = re.findall(r"[^\s/_-]*[\s/_-]?", name)
        for cut in range(len(parts) - 1, 0, -1):
            first, second = "".join(parts[:cut]).strip(), "".join(parts[cut:])
            if first and second and max(width_of(first, points), width_of(second, points)) <= room:
                return f"{first}\n{second}"
        start, end = name[: len(name) // 2], name[len(name) // 2 :]
        return f"{_shortened(start, room, points, tail=False)}\n{_shortened(end, room, points, tail=True)}"
    return _cut(name.replace("[both orders]", "[both]"), room, points)


def told_apart(names: Sequence[str], rooms: Sequence[float], points: float = TEXT) -> list[str]:
    """One line for each name, in the first of `rooms` (inches) that leaves each of them its own.

    What all of them begin with, up to a sign between words, is left out where it is long and not all fit whole.
    """
    if all(width_of(name, points) <= rooms[0] for name in names):
        return list(names)
    cut = 0
    for at, mark in enumerate(min(names) if len(names) > 1 else ""):
        if len({name[: at + 1] for name in names}) > 1:
            break
        cut = at + 1 if mark in "/:_- " else cut
    short = [f"{ELLIPSIS}{name[cut:]}" if cut > LEAST_CUT else name for name in names]
    found = short
    for room in rooms:
        found = [fitted(name, room, points, lines=1) for name in short]
        if len({*found}) == len({*names}):
            break
    return found


def _shortened(half: str, room: float, points: float, tail: bool) -> str:
    """The start of a first half, the end of a second one."""
    if width_of(half, points) <= room:
        return half
    for keep in range(len(half), 0, -1):
        left = ELLIPSIS + half[-keep:] if tail else half[:keep] + ELLIPSIS
        if width_of(left, points) <= room:
            return left
    return ELLIPSIS


def _cut(name: str, room: float, points: float) -> str:
    if width_of(name, points) <= room:
        return name
    keep = len(name)
    while keep > 2 and width_of(f"{name[: (keep + 1) // 2]}{ELLIPSIS}{name[-(keep // 2) :]}", points) > room:
        keep -= 1
    return f"{name[: (keep + 1) // 2]}{ELLIPSIS}{name[-(keep // 2) :]}"
