"""What a formula of a PDF's page is looked for in: characters, the lines that words stand on, rules and drawings."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from annotation.documents.printed_formulas.layout import Rule

OF_FORMULAS = re.compile(r"\bKaTeX_|\bMJX|Math(?!ematicalPi)(?![a-z])")  # fonts
LAYERED = re.compile(r"\bKaTeX_|\bMJX|MathJax_")  # of those, which hold all signs and are drawn in KaTeX's order
SIZED = re.compile(r"KaTeX_Size([1-4])")
LARGE = "∑∏∐∫∬∭∮"
BAND = 20  # points: characters and rules are looked for on their own height
FAR = 40  # points within which a line of words is looked for
UNSEEN = 2  # points: KaTeX sets signs of this size that nobody sees
HOOK = 30.0  # points that the sign of a root reaches to the left of its line


class Char(NamedTuple):
    """A character as pdfplumber has it, and where it stands."""

    char: Any
    text: str
    font: str
    x0: float
    x1: float
    foot: float
    size: float

    @property
    def middle(self) -> float:
        return (self.x0 + self.x1) / 2

    @property
    def top(self) -> float:
        return self.foot - (0.75 + self._tall) * self.size

    @property
    def bottom(self) -> float:
        return self.foot + (0.25 + self._tall) * self.size

    @property
    def _tall(self) -> float:
        """Type sizes that it may reach beyond letters, above and below."""
        sized = SIZED.search(self.font)
        return 0.35 * int(sized[1]) if sized else 0.3 * (self.text in LARGE)


class Root(NamedTuple):
    """The sign of a root that KaTeX drew: from where to where, and the height of its line."""

    x0: float
    x1: float
    y: float
    bottom: float


Box = tuple[float, float, float, float]  # x0, x1, top, bottom


def _box(one: Any) -> Box:
    return float(one["x0"]), float(one["x1"]), float(one["top"]), float(one["bottom"])


class Drawn:
    """What is on a page."""

    def __init__(self, page: Any) -> None:
        on_page = (one for one in page.chars if one["upright"] and one["top"] + one["bottom"] < 2 * page.height)
        chars = [
            Char(one, one["text"], one["fontname"], float(one["x0"]), float(one["x1"]),
                 float(page.height - one["matrix"][5]), float(one["size"]))
            for one in on_page
        ]  # fmt: skip
        self.chars = [one for one in chars if one.size > UNSEEN and one.text != "\u200b"]
        # KaTeX draws the line of a root without an end; a sign behind what it is of, which nobody sees, tells it
        self.ends = [one for one in chars if one.size <= UNSEEN]
        # fonts of formulas alone: one that a browser takes letters from, and digits from the text's, is none of them
        fonts = {one.font for one in self.chars if OF_FORMULAS.search(one.font) and one.text in "=+-1"}
        self.layered = fonts | {one.font for one in self.chars if LAYERED.search(one.font)}
        self.words: defaultdict[int, list[Char]] = defaultdict(list)  # by the foot of their line
        for one in self.chars:
            if one.text.strip() and one.font not in self.layered:
                self.words[round(one.foot)].append(one)
        self.lines = {foot for foot in self.words if not self._is_raised(foot)}
        sizes = Counter(one.size for line in self.words.values() for one in line)
        self.usual = sizes.most_common(1)[0][0] if sizes else 0.0
        shapes = [_box(one) for one in page.curves]
        flat = [box for box in (*shapes, *map(_box, page.rects), *map(_box, page.lines)) if box[3] - box[2] < 2]
        endless = [box for box in {*shapes, *flat} if box[1] - box[0] >= page.width]
        self.roots = [
            Root(hook[0], line[0], (line[2] + line[3]) / 2, hook[3])
            for hook in endless for line in endless
            if line in flat and hook not in flat and 0 < line[0] - hook[0] < HOOK and abs(line[2] - hook[2]) < 2
        ]  # fmt: skip
        read = {x for root in self.roots for x in (root.x0, root.x1)}
        self.others = [box for box in {*shapes, *endless} if box[0] not in read and (box not in flat or box in endless)]
        self._rules: defaultdict[int, list[Rule]] = defaultdict(list)
        for x0, x1, top, bottom in (box for box in flat if 2 < box[1] - box[0] < page.width):
            self._rules[int(top // BAND)].append(Rule(x0, x1, (top + bottom) / 2))

    def rules(self, top: float, bottom: float) -> Iterator[Rule]:
        """Those on this height."""
        for band in range(int(top // BAND) - 1, int(bottom // BAND) + 2):
            yield from (rule for rule in self._rules.get(band, ()) if top < rule.y < bottom)

    def is_other_line(self, one: Char, other: Char) -> bool:
        """Whether one of two characters is on a line of words, and the other nearer to another line."""
        lines = [self._line_of(one), self._line_of(other)]
        if None in lines or lines[0] == lines[1]:
            return False
        return any(abs((line or 0) - char.foot) < 1.2 for line, char in zip(lines, (one, other), strict=True))

    def _line_of(self, char: Char) -> int | None:
        near = (round(char.foot) + sign * off for off in range(FAR) for sign in (1, -1))
        return next((foot for foot in near if foot in self.lines), None)

    def _is_raised(self, foot: int) -> bool:
        """Whether all that stands there are marks above or below a line of larger type."""
        size = max(one.size for one in self.words[foot])
        near = (foot + off for off in range(-round(0.6 * size), round(0.6 * size) + 1))
        return any(size < 0.9 * one.size for beside in near for one in self.words.get(beside, ()))

    def size_beside(self, foot: float) -> float:
        """The type size of the words on a line, or of most words of the page, where there are none."""
        beside = self.words.get(round(foot))
        return beside[0].size if beside else self.usual

    def has_words(self, x0: float, x1: float, foot: float) -> bool:
        """Whether words are between two places of a line."""
        return any(x0 < one.middle < x1 for off in (0, 1, -1) for one in self.words.get(round(foot) + off, ()))

    def has_words_beside(self, run: Sequence[Char]) -> bool:
        """Whether words are on a line with it."""
        own = {id(one) for one in run}
        near = [one for foot in {round(one.foot) for one in run} for one in self.words.get(foot, ())]
        return any(id(one) not in own for one in near)


def by_height(chars: Sequence[Char]) -> dict[int, list[Char]]:
    """Characters by the band that their foot is in."""
    found: defaultdict[int, list[Char]] = defaultdict(list)
    for one in chars:
        found[int(one.foot // BAND)].append(one)
    return found
