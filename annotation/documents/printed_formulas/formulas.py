"""Formulas of a PDF's page: which characters are of one, as browsers print MathML and KaTeX, and each as TeX.

A browser draws a formula without blanks, so that what stands between blanks and has a sign of mathematics is one. KaTeX
draws what is on the line before what is above and below it. TeX's own fonts share digits and brackets with the text:
what it prints stays characters.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, zip_longest
from typing import Any

from annotation.documents.pdf_pieces import FORMULA
from annotation.documents.printed_formulas.ends import MATHS, trimmed
from annotation.documents.printed_formulas.layout import AXIS, SMALL, Rule, Sign, Unclear, tex_of
from annotation.documents.printed_formulas.page import BAND, SIZED, Char, Drawn, by_height
from annotation.documents.printed_formulas.tex_signs import ACCENTS, PIECES, alphabet_of, sign_of

OF_TEX = re.compile(r"\bCM(?:SY|MI|MIB|EX|BSY)\d|\bMS[AB]M\d")
BRACKETS = "()[]{}|⟨⟩⌊⌋⌈⌉∣∥‖"
NO_PART = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff60]")  # words of the text, without blanks
NEAR, HIGH, BESIDE = 0.3, 0.8, 2.6  # type sizes above or below a formula, the same in KaTeX's order, and beside it
FEWEST_BLANKS = 0.04  # of the characters: a program that draws none parts formulas from words in no way
WORD = 3  # letters of one alphabet beside each other that are no product of matrices
MOST_CHARS, LONGEST, MOST_RULES = 20_000, 400, 60  # of a page; of a formula


def formulas_of(page: Any) -> tuple[list[Any], list[list[Any]]]:
    """The characters of a page that are of no formula, and the formulas as words of a page, which are TeX."""
    blanks = sum(not one["text"].strip() for one in page.chars)
    is_of_tex = any(OF_TEX.search(font) for font in {one["fontname"] for one in page.chars})
    if blanks < FEWEST_BLANKS * len(page.chars) or len(page.chars) > MOST_CHARS or is_of_tex:
        return page.chars, []
    drawn = Drawn(page)
    found = [run for run in _runs(drawn) if _is_formula(drawn, run)]
    runs = [run for one in found if not _is_word(drawn, run := _Run(trimmed(drawn, one.chars)))]
    made = [(run, word) for run in runs if (word := _word(drawn, run))]
    used = {id(one) for run, _ in made for one in run.chars}
    # one that a sign of no formula is beside, or a number above its rule, is not whole
    left = by_height([one for run in runs for one in run.chars if id(one) not in used])
    others = by_height([one for one in drawn.chars if id(one) not in used and one.text.strip()])
    whole = [(run, word) for run, word in made if not (_is_torn(run, left) or _is_cut(drawn, run, others))]
    read = {id(one.char) for run, _ in whole for one in run.chars}
    return [one for one in page.chars if id(one) not in read], [word for _, word in whole]


class _Run:
    """Characters after each other, from where to where they are, and their largest size."""

    def __init__(self, chars: Sequence[Char]) -> None:
        self.chars: list[Char] = []
        self.x0 = self.top = float("inf")
        self.x1 = self.bottom = -float("inf")
        self.size = 0.0
        for one in chars:
            self.add(one)

    def add(self, one: Char) -> None:
        self.chars.append(one)
        self.x0, self.x1 = min(self.x0, one.x0), max(self.x1, one.x1)
        self.top, self.bottom = min(self.top, one.top), max(self.bottom, one.bottom)
        self.size = max(self.size, one.size)


def _runs(drawn: Drawn) -> Iterator[_Run]:
    """Characters that no blank and no way from one line to another parts."""
    run = _Run(())
    for char, after in zip_longest(drawn.chars, drawn.chars[1:]):
        is_blank = (not char.text.strip() and char.font not in drawn.layered) or NO_PART.match(char.text) is not None
        # a blank that the next character stands in is none to see: MathML's sign between a function and what it is of
        if is_blank and after and run.chars and abs(after.x0 - char.x0) < 0.1 * char.size:
            continue
        if run.chars and (is_blank or not _goes_on(drawn, run, char)):
            yield run
            run = _Run(())
        if not is_blank:
            run.add(char)
    if run.chars:
        yield run


def _goes_on(drawn: Drawn, run: _Run, char: Char) -> bool:
    if len(run.chars) >= LONGEST:
        return False
    is_layered = char.font in drawn.layered
    if is_layered:
        between = (run.x1, char.x0) if char.x0 > run.x1 else (char.x1, run.x0)
        first = run.chars[0]
        if drawn.is_other_line(first, char) or any(drawn.has_words(*between, one.foot) for one in (first, char)):
            return False
    else:
        near = run.x1 + BESIDE * run.size
        rules = (rule for rule in drawn.rules(run.top, run.bottom) if run.x0 - run.size < rule.x0 < near)
        if char.middle < run.x0 - BESIDE * run.size / 2 or char.x0 > max([near, *(rule.x1 for rule in rules)]):
            return False
    far = (HIGH if is_layered else NEAR) * run.size
    if run.top - far < char.bottom and char.top < run.bottom + far:
        return True
    reach = 1.8 * run.size  # from a numerator to its denominator
    over = [rule for rule in drawn.rules(char.foot - reach, char.foot + reach) if rule.x0 <= char.middle <= rule.x1]
    return any(
        rule.x0 <= one.middle <= rule.x1 and abs(rule.y - one.foot) < reach for rule in over for one in run.chars
    )


def _is_formula(drawn: Drawn, run: _Run) -> bool:
    """Whether there is a sign of mathematics in it, or a rule with numbers above and below it."""
    has_sign = any(
        one.font in drawn.layered or MATHS.search(one.text) or (one.text == "−" and one.size < SMALL * run.size)
        for one in run.chars
    )
    return has_sign or _has_fraction(drawn, run)


def _has_fraction(drawn: Drawn, run: _Run) -> bool:
    for rule in drawn.rules(run.top, run.bottom):
        rises = [(rule.y - one.foot) / run.size for one in run.chars if rule.x0 - 1 < one.middle < rule.x1 + 1]
        is_within = run.x0 - 1 <= rule.x0 and rule.x1 <= run.x1 + 1
        if is_within and any(0 < rise < 0.7 for rise in rises) and any(-1.3 < rise < -0.3 for rise in rises):
            return True
    return False


def _is_word(drawn: Drawn, run: _Run) -> bool:
    """Whether it is of letters as chat pages have them for bold words: some beside each other, or one, without a sign.

    A letter in italics alone is a formula: browsers draw a variable so.
    """
    if any(one.font in drawn.layered for one in run.chars) or _has_fraction(drawn, run):
        return False
    chars = sorted(run.chars, key=lambda one: one.x0)
    beside = [(style, len([*found])) for style, found in groupby(alphabet_of(one.text) for one in chars)]
    if any(style and count >= WORD for style, count in beside):
        return True
    is_level = all(one.size >= SMALL * run.size for one in chars)
    if len(chars) > 1 and (not is_level or any(_is_sign(one.text) for one in chars)):
        return False
    letters = [(style, count) for style, count in beside if style is not None]
    return ("", 1) not in letters or any(count > 1 for _, count in letters)


def _is_sign(char: str) -> bool:
    return char in ACCENTS or (unicodedata.category(char[0]) == "Sm" and not MATHS.search(char))


def _is_torn(run: _Run, left: Mapping[int, Sequence[Char]]) -> bool:
    """Whether a character of `left` is beside, above or below it."""
    room, x0, x1 = 0.2 * run.size, run.x0 - run.size, run.x1 + run.size
    return any(
        one.top < run.bottom + room and one.bottom > run.top - room and x0 < one.middle < x1
        for band in range(int(run.top // BAND) - 1, int(run.bottom // BAND) + 2) for one in left.get(band, ())
    )  # fmt: skip


def _is_cut(drawn: Drawn, run: _Run, others: Mapping[int, Sequence[Char]]) -> bool:
    """Whether other characters are above or below one of its rules."""
    return any(
        rule.x0 < one.middle < rule.x1 and abs(rule.y - one.foot + 0.3 * one.size) < 0.95 * one.size
        for rule in _rules(drawn, run)
        for band in range(int(rule.y // BAND) - 1, int(rule.y // BAND) + 2) for one in others.get(band, ())
    )  # fmt: skip


def _rules(drawn: Drawn, run: _Run) -> list[Rule]:
    """Those that are within it, or above or below all of it."""
    room = 0.4 * run.size
    found = drawn.rules(run.top - room, run.bottom + room)
    return [rule for rule in found if run.x0 - 2 <= rule.x0 and rule.x1 <= run.x1 + 2]


def _word(drawn: Drawn, run: _Run) -> list[Any] | None:
    """A formula as a word of its line; None where it is not understood."""
    boxes = drawn.others if run.chars else ()
    if not run.chars or any(a < run.x1 and b > run.x0 and c < run.bottom and d > run.top for a, b, c, d in boxes):
        return None
    try:
        roots, rules = [*_roots(drawn, run)], _rules(drawn, run)
        if len(rules) > MOST_RULES:
            return None
        signs = [*_assembled([*map(_sign, run.chars)]), *(sign for sign, _ in roots)]
        tex, foot = tex_of(signs, [*rules, *(rule for _, rule in roots)], run.size)
    except (Unclear, RecursionError):
        return None
    size = drawn.size_beside(foot) or run.size
    top, bottom = foot - 0.78 * size, foot + 0.22 * size
    return [tex, run.x0, run.x1, top, bottom, size, FORMULA, "", max(0, top - run.top), max(0, run.bottom - bottom)]


def _roots(drawn: Drawn, run: _Run) -> Iterator[tuple[Sign, Rule]]:
    """The roots of KaTeX in a formula, each with the line above what it is of. Raises Unclear."""
    for x0, x1, y, bottom in drawn.roots:
        if run.x0 - run.size < x1 < run.x1 and y < run.bottom and run.top < bottom:
            under = [one for one in run.chars if one.middle > x1 and y < one.foot < bottom + 0.5 * one.size]
            size = max((one.size for one in under), default=0.0)
            feet = Counter(round(one.foot) for one in under if one.size == size).most_common(1)
            ends = (one.x0 for one in drawn.ends if feet and one.x0 > x1 + 1 and abs(one.foot - feet[0][0]) < 1.2)
            end = next(ends, None)
            if end is None:
                raise Unclear("a root of nothing")
            yield Sign(r"\sqrt", x0, x1, y, bottom, feet[0][0], size, tall=True), Rule(x1, end, y)


def _sign(one: Char) -> Sign:
    accent = ACCENTS.get(one.text, "")
    try:
        tex, is_upright = sign_of(one.text, one.font)
    except Unclear:
        if not accent:
            raise
        tex, is_upright = "", False
    is_tall = one.text in PIECES or (one.text in BRACKETS and SIZED.search(one.font) is not None)
    return Sign(
        tex, one.x0, one.x1, one.top, one.bottom, one.foot, one.size, upright=is_upright, tall=is_tall, accent=accent
    )  # fmt: skip


def _assembled(signs: Sequence[Sign]) -> Iterator[Sign]:
    """High brackets that are drawn in pieces, each as one."""
    for (is_tall, _), found in groupby(sorted(signs, key=_piece), key=_piece):
        parts = [*found]
        if is_tall and len(parts) > 1:
            top, bottom = min(one.top for one in parts), max(one.bottom for one in parts)
            yield replace(parts[0], top=top, bottom=bottom, foot=(top + bottom) / 2 + AXIS * parts[0].size)
        else:
            yield from parts


def _piece(one: Sign) -> tuple[bool, float]:
    return one.tall, round(one.x0) if one.tall else 0.0
