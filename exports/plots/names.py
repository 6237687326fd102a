"""Names in figures: folded once, then shortened in the middle, and placed where they meet no other."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from exports.plots.theme import TEXT, themed
from plain.wording import judge_named, worded

ELLIPSIS = "…"
LEAST_CUT = 8  # letters that all names begin with, from which they are left out


@cache
def width_of(text: str, points: float, weight: str = "normal") -> float:
    """How wide one line of text is in the figure's own font, in inches."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    with themed():
        return (
            float(
                text_to_path.get_text_width_height_descent(
                    text, FontProperties(size=points, weight=weight), ismath=False
                )[0]
            )
            / 72
        )


def wrapped(text: str, room: float, points: float, weight: str = "normal") -> list[str]:
    """`text` in lines of `room` inches, broken between words, and within one only where it is longer than a line."""
    blank, lines, used = width_of("n n", points, weight) - width_of("nn", points, weight), [""], 0.0
    for word in (piece for whole in text.split(" ") for piece in _pieces(whole, room, points, weight)):
        wide = width_of(word, points, weight)
        if lines[-1] and used + blank + wide > room:
            lines, used = [*lines, word], wide
        else:
            lines[-1], used = f"{lines[-1]} {word}".lstrip(), used + wide + blank * bool(lines[-1])
    return lines


def _pieces(word: str, room: float, points: float, weight: str) -> Iterator[str]:
    while len(word) > 1 and width_of(word, points, weight) > room:
        keep = next(at for at in range(len(word) - 1, 0, -1) if at == 1 or width_of(word[:at], points, weight) <= room)
        yield word[:keep]
        word = word[keep:]
    yield word


def fitted(name: str, room: float, points: float, lines: int = 2) -> str:
    """`name` in at most `lines` lines of `room` inches, folded after a space, slash, hyphen or underscore.

    What is still too long loses its middle: the ends of two model names are what tells them apart.
    """
    name = " ".join(judge_named(name).split())
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
    return _cut(name.replace(judge_named("[both orders]"), worded("[both]")), room, points)


def told_apart(names: Sequence[str], rooms: Sequence[float], points: float = TEXT) -> list[str]:
    """One line for each name, in the first of `rooms` (inches) that leaves each of them its own.

    What all of them begin with, up to a sign between words, is left out where it is long and not all fit whole.
    """
    names = [*map(judge_named, names)]
    if all(width_of(name, points) <= rooms[0] for name in names):
        return names
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


STEP = 0.07  # inches between places that are tried
NEAR = 0.07  # inches from the middle of a point to its name
FAR = 0.14  # inches from which a name needs a line to its point
LONGEST = 1.0  # inches of a line that goes around a name; rather than a longer one it crosses it
TOUCH = 0.015  # inches of air around a name

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A rectangle in inches from the lower left corner."""

    left: float
    low: float
    right: float
    high: float

    def meets(self, other: Box) -> bool:
        """Whether the two share any area, with air between them."""
        apart = self.left >= other.right + TOUCH or other.left >= self.right + TOUCH
        return not (apart or self.low >= other.high + TOUCH or other.low >= self.high + TOUCH)

    def holds(self, other: Box) -> bool:
        across = self.left <= other.left and other.right <= self.right
        return across and self.low <= other.low and other.high <= self.high

    def nearest(self, point: Point) -> Point:
        """The point of the box that is nearest to another."""
        return min(max(point[0], self.left), self.right), min(max(point[1], self.low), self.high)


@dataclass(frozen=True)
class Place:
    """Of one name. `line`: from its point to the name, None where the name is beside it."""

    box: Box
    line: tuple[Point, Point] | None


def places(
    points: Sequence[Point], sizes: Sequence[tuple[float, float]], taken: Sequence[Box], room: Box
) -> list[Place] | None:
    """A place for each point's name inside `room`, meeting no other and none of `taken`; None where one finds no room.

    `points`: (x, y), `sizes`: (width, height), in inches. Names go in the order given; right of the point is best.
    Lines keep off the other names where any place allows it.
    """
    placed: list[Place] = []
    for point, size in zip(points, sizes, strict=True):
        solid = [*taken, *(place.box for place in placed), *(part for one in placed for part in _along(one.line))]
        boxes = (Box(left, low, left + size[0], low + size[1]) for left, low in _corners(point, size, room))
        free = (box for box in boxes if room.holds(box) and not any(box.meets(other) for other in solid))
        tried = (Place(box, _line(point, box)) for box in free)
        first = None
        for place in tried:
            first = first or place
            if place.line and math.dist(*place.line) > LONGEST:
                break
            if not any(part.meets(one.box) for part in _along(place.line) for one in placed):
                first = place
                break
        if first is None:
            return None
        placed.append(first)
    return placed


def _corners(point: Point, size: tuple[float, float], room: Box) -> Iterator[Point]:
    """Lower left corners: around the point, then over the whole room, the nearest first."""
    (x, y), (width, height), near = point, size, NEAR / 2
    yield from ((x + NEAR, y - height / 2), (x - NEAR - width, y - height / 2))
    yield from ((x - width / 2, y + NEAR), (x - width / 2, y - NEAR - height))
    yield from ((x + near, y + near), (x + near, y - near - height))
    yield from ((x - near - width, y + near), (x - near - width, y - near - height))
    across, up = (
        int(max(0.0, end - start - length) / STEP)
        for start, end, length in ((room.left, room.right, width), (room.low, room.high, height))
    )
    corners = [(room.left + i * STEP, room.low + j * STEP) for i in range(across + 1) for j in range(up + 1)]
    far = {at: math.dist(point, Box(*at, at[0] + width, at[1] + height).nearest(point)) for at in corners}
    yield from sorted(corners, key=lambda at: (round(far[at], 6), at))


def _line(point: Point, box: Box) -> tuple[Point, Point] | None:
    end = box.nearest(point)
    return (point, end) if math.dist(point, end) > FAR else None


def _along(line: tuple[Point, Point] | None) -> Iterator[Box]:
    """A line as points close together, without its ends."""
    if line is None:
        return
    (x, y), (to_x, to_y) = line
    parts = max(2, math.ceil(math.dist(*line) / 0.03))
    for part in range(1, parts):
        at = x + (to_x - x) * part / parts, y + (to_y - y) * part / parts
        yield Box(*at, *at)
