"""Characters of a PDF's page that are of a formula become the TeX of what is seen, or stay characters."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from annotation.documents.printed_formulas.formulas import formulas_of

TEXT, MATHS, KATEX, LETTERS = "Serif", "ABCDEF+DejaVuMathTeXGyre-Regular", "A+KaTeX_Main-Regular", "A+KaTeX_Math-Italic"
SIZED = "A+KaTeX_Size2-Regular"
Put = tuple[str, float, float, float, str]  # characters, where they begin, their foot, size and font


def text(said: str, x0: float, foot: float = 100, size: float = 10, font: str = TEXT) -> Put:
    return said, x0, foot, size, font


def read(
    *put: Put, rules: Iterable[tuple[float, float, float]] = (), shapes: Iterable[dict[str, float]] = ()
) -> list[str]:
    """The formulas of a page on which words stand in front of what is put."""
    chars = []
    for said, begin, foot, size, font in (text("Words of the text are ", 0), *put):
        for at, char in enumerate(said):
            x0 = begin + at * size / 2
            chars.append(
                {"text": char, "x0": x0, "x1": x0 + size / 2, "size": size, "fontname": font, "upright": True,
                 "matrix": (1, 0, 0, 1, x0, 800 - foot), "top": foot - 0.8 * size, "bottom": foot + 0.2 * size}
            )  # fmt: skip
    lines = [{"x0": x0, "x1": x1, "top": y, "bottom": y + 0.5} for x0, x1, y in rules]
    page: Any = SimpleNamespace(chars=chars, rects=lines, lines=[], curves=[*shapes], width=600, height=800)
    left, words = formulas_of(page)
    kept = sum(len(word[0]) > 0 for word in words)
    assert (len(left) == len(chars)) == (kept == 0), "what is read as a formula is read once"
    return [word[0] for word in words]


@pytest.mark.parametrize(
    ("put", "rules", "formulas"),
    [
        # stops, brackets and the rest of a word are the text's; a function has no room but is parted from its own
        ([text("(𝑎=ℝ,", 200), text(" 𝑛-gram, 𝑖th ", 250)], [], [r"a=\mathbb{R}", "n", "i"]),
        ([text("𝑥′+2log𝑛", 200)], [], [r"x'+2\log n"]),
        ([text("𝛼≤𝜋±∞∈𝐱", 200)], [], [r"\alpha\leq\pi\pm\infty\in\mathbf{x}"]),
        # scripts, and those of scripts
        ([text("𝑥", 200), text("𝑖", 205, 102, 7), text("𝑗", 209, 103.5, 5), text("2", 205, 96, 7)], [], ["x_{i_{j}}^{2}"]),
        ([text("10", 200), text("−3", 210, 96, 7)], [], ["10^{-3}"]),
        ([text("10", 200), text("3", 210, 96, 7)], [], []),  # a raised number may be one of the text
        # limits are below and above their operator, however wide
        ([text("∑", 206), text("𝑘=1", 203, 109, 7), text("𝑛", 207, 89, 7), text("𝑘", 214)], [], ["\\sum_{k=1}^{n}k"]),
        ([text("lim𝑥", 200), text("𝑛→∞", 202, 107, 7)], [], [r"\lim_{n\rightarrow\infty}x"]),
        # fractions, of numbers alone too, and roots
        ([text("1", 200, 95, 7), text("2", 200, 105, 7)], [(200, 204, 97)], [r"\frac{1}{2}"]),
        ([text("𝑎+1", 200, 93), text("√", 203, 107), text("𝑏", 208, 107)], [(200, 215, 97), (208, 213, 98.5)],
         [r"\frac{a+1}{\sqrt{b}}"]),
        ([text("√𝑏", 200)], [], []),  # a root without its line
        ([text("𝑎", 200), text("̂", 202.5, 97, 7), text("̄", 210, 97, 7), text("𝑏", 208)], [], [r"\hat{a}\bar{b}"]),
        ([text("𝑎𝑏", 200), text("¯", 203.5, 97, 7)], [], []),  # a line over both
        # brackets that are higher than their type are drawn in pieces
        ([text("⎛", 200, 94), text("⎝", 200, 106), text("𝑎", 205, 94), text("2", 205, 107), text("⎞", 211, 94), text("⎠", 211, 106)],
         [(205, 210, 97)], [r"\left(\frac{a}{2}\right)"]),
        ([text("𝑎→𝑏", 200), text("𝑛", 205.5, 94, 7)], [], []),  # what is above an arrow
        # a citation's mark is of the text, in its line or raised; an interval, an index and a script are not
        ([text("𝐸=𝑚𝑐", 200), text("2", 220, 94, 8), text("[3]", 224)], [], ["E=mc^{2}"]),
        ([text("𝐸=𝑚𝑐", 200), text("2", 220, 94, 8), text(".[3,4].", 224)], [], ["E=mc^{2}"]),
        ([text("𝑎=𝑏[3, 4] and 𝛼[^3] [3,4]𝑥=1[4] [^5]𝑦=1", 200)], [], ["a=b", r"\alpha", "x=1", "y=1"]),
        ([text("[2]𝑃=𝑄 [10]𝑥+1[4] 𝑦=[2]𝑃", 200)], [], ["[2]P=Q", "[10]x+1", "y=[2]P"]),  # a factor
        ([text("𝑥", 200), text("1", 205, 101, 8), text("[4]", 209, 96, 25 / 3)], [], ["x_{1}"]),
        ([text("𝑥", 200), text("1", 205, 101, 8), text("5", 209, 96, 25 / 3)], [], ["x_{1}"]),
        ([text("𝑥", 200), text("2", 205, 94, 8), text("5,6", 209, 96, 7.5)], [], ["x^{2}"]),
        ([text("𝑥=1", 200, font=MATHS), text("5", 215, 96, 7)], [], ["x=1"]),
        ([text("𝑥∈[0,1] 𝑥=[1,2] 𝑓(3) (𝑥∈[0,1)) 𝑥∈(0,1], ", 200)], [],
         [r"x\in[0,1]", "x=[1,2]", "f(3)", r"x\in[0,1)", r"x\in(0,1]"]),
        ([text("𝑥", 200), text("[1]", 205, 101, 8), text("(2)", 217, 94, 8)], [], ["x_{[1]}^{(2)}"]),
        # marks that are raised elsewhere on the line are no line of words, to which an exponent would belong
        ([text("𝐸=𝑚𝑐", 200, font=MATHS), text("2", 220, 94, 8, MATHS), text(" so", 230), text("[4]", 245, 95, 8)], [], ["E=mc^{2}"]),
        # so are brackets around all of it
        ([text("(𝑎=𝑏[3]) [𝑥′] (𝑎)+(𝑏)", 200)], [], ["a=b", "x'", "(a)+(b)"]),
        # words in letters of mathematics, and one such letter or sign alone, are no formulas
        ([text("𝗕𝗼𝗹𝗱 𝘁𝗲𝘅𝘁: 𝐀𝐈, 𝗔/𝗕 𝒽ℯ𝓁𝓁ℴ 𝗦𝘁𝗲𝗽→𝗻𝗲𝘅𝘁 𝟮𝟬𝟮𝟱 𝑡𝑒𝑥𝑡 𝕏 (ℝ) ℙ. ∑ ∑: 𝗮𝗯", 200), text("[3]", 380, 96, 25 / 3)], [], []),
        ([text("𝐀𝐱=𝐛 𝐱 𝑥, 2𝑛 𝑓(𝑥) 𝑥∈ℝ 𝔼[𝑋] 𝑂(𝑛log𝑛) 𝐱", 200), text("𝑖", 395, 101, 7)], [],
         [r"\mathbf{A}\mathbf{x}=\mathbf{b}", "x", "2n", "f(x)", r"x\in\mathbb{R}", r"\mathbb{E}[X]", r"O(n\log n)", r"\mathbf{x}_{i}"]),
        # what is not understood, or of which something is missing, stays characters
        ([text("𝑎", 200, 93), text("𝑏", 200, 100), text("𝑐", 200, 107)], [], []),
        ([text("𝑎", 200, 107), text(" 1", 195, 93)], [(199, 206, 97)], []),
        ([text("𝑎", 200), text("\ufffd\U0010fffd", 205)], [], []),
        ([text("𝑎=1", 200, font="CMMI10")], [], []),
    ],
)  # fmt: skip
def test_a_formula_is_told_by_where_its_signs_stand_or_stays_characters(
    put: list[Put], rules: list[tuple[float, float, float]], formulas: list[str]
) -> None:
    assert read(*put, rules=rules) == formulas


def test_katex_draws_what_is_on_the_line_first_and_roots_without_an_end() -> None:
    def katex(said: str, x0: float, foot: float = 100, size: float = 12, font: str = KATEX) -> Put:
        return text(said, x0, foot, size, font)

    fraction = [katex("=", 200), katex("2", 212, 108), katex("x", 212, 92, font=LETTERS), katex("+1", 224)]
    after = text(" and so ", 300)
    assert read(after, *fraction, rules=[(211, 219, 97)]) == [r"=\frac{x}{2}+1"]
    # another formula on the same line, behind words, and one on the line below it
    more = [katex("y", 345, font=LETTERS), katex("z", 346, 118, font=LETTERS)]
    assert read(after, text("Below it ", 290, 118), *fraction, *more, rules=[(211, 219, 97)])[1:] == ["y", "z"]
    assert read(katex("R", 200, font="A+KaTeX_AMS-Regular"), katex("if\xa0x", 206)) == [r"\mathbb{R}\text{if x}"]
    assert read(katex("(", 200, font=SIZED), katex("a", 206, font=LETTERS), katex(")", 212, font=SIZED)) == [
        r"\left(a\right)"
    ]
    assert read(katex("P", 200, font=LETTERS), katex("(A∣B)", 206)) == [r"P(\mathrm{A}|\mathrm{B})"]
    root = [katex("b", 210, font=LETTERS), katex("\u200b", 216, size=0.5), katex("+c", 216)]
    line, hook = ({"x0": x0, "x1": 6000.0, "top": 90.0, "bottom": low} for x0, low in ((209.0, 90.5), (200.0, 104.0)))
    assert read(*root, shapes=[line, hook]) == [r"\sqrt{b}+\mathrm{c}"]
    high = [katex("1", 210, 92), katex("2", 210, 108), katex("+bc", 217, font=LETTERS), katex("\u200b", 236, size=0.5)]
    assert read(*high, rules=[(210, 216, 97)], shapes=[line | {"top": 80.0, "bottom": 80.5}, hook | {"top": 80.0}]) == [
        r"\sqrt{\frac{1}{2}+bc}"
    ]
    assert read(*root, shapes=[hook]) == []
    assert read(root[0], root[2], shapes=[line, hook]) == []
