"""What is on a page of a PDF: words in lines, cells in tables, and where pictures are."""

import re
from collections import Counter
from dataclasses import dataclass

BOLD = re.compile(r"bold|black|heavy|semibold|demi", re.IGNORECASE)  # in the name of a font
TYPED = re.compile(r"courier|mono|consolas|menlo|typewriter|(?:cm|ec|lm|sf)tt", re.IGNORECASE)
MATHS = re.compile(r"\bCM(?:SY|MI|MIB|EX|BSY)\d|\bMS[AB]M\d|\bKaTeX_|\bMJX|Math(?![a-z])")  # fonts of formulas
IN_FORMULA = re.compile(r"[^\W_]|[√∑∏∫∂∞≤≥≠±×÷=+−(]")  # these hold list bullets and marks of notes too
FORMULA = "formula"  # the font of a word that is TeX
ITALIC_MATHS = re.compile("[\U0001d400-\U0001d7ff]")  # letters that are of formulas in any font
EXTENDED, RADICAL = re.compile(r"\bCMEX|MathExtension"), re.compile(r"[p-t]|\(cid:11[2-6]\)")  # TeX's places for √

ITEM = re.compile(r"[•◦▪▫‣●○■□☐☒∙·–—*-]|\(?\d{1,3}[.)]")
LISTED = re.compile(rf"{ITEM.pattern}|\[\d{{1,3}}\]")  # a list of sources too


@dataclass(frozen=True, slots=True)
class Word:
    """`over`, `under`: points that a formula reaches beyond the letters beside it."""

    text: str
    x0: float
    x1: float
    top: float
    bottom: float
    size: float
    font: str
    link: str = ""  # the address it leads to, `#` within the file
    over: float = 0.0
    under: float = 0.0
    raised: bool = False


@dataclass(frozen=True)
class Line:
    """Words on one height, from left to right."""

    words: tuple[Word, ...]
    page: int

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @property
    def x0(self) -> float:
        return self.words[0].x0

    @property
    def x1(self) -> float:
        return self.words[-1].x1

    @property
    def top(self) -> float:
        return min(word.top for word in self.words if not word.raised) if self.size else self.words[0].top

    @property
    def bottom(self) -> float:
        return max(word.bottom for word in self.words)

    @property
    def size(self) -> float:
        """The type size of most of its characters."""
        sizes: Counter[float] = Counter()
        for word in self.words:
            sizes[round(word.size * 2) / 2] += len(word.text) * (not word.raised)
        return max(sizes, key=lambda size: sizes[size])


@dataclass(frozen=True)
class Table:
    """Cells as lines of words, row by row; None where a joined cell reaches over."""

    rows: tuple[tuple[tuple[Line, ...], ...], ...]
    top: float
    page: int


@dataclass(frozen=True)
class Figure:
    page: int
    x0: float
    x1: float
    top: float
    bottom: float
    address: str


Piece = Line | Table | Figure
