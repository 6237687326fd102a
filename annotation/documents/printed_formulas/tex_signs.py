"""A character of a formula as TeX has it, by its name and by the font that it is in."""

import re
import unicodedata

from latex2mathml.symbols_parser import SYMBOLS

from annotation.documents.printed_formulas.layout import Unclear

ACCENTS = {
    char: name
    for name, chars in {
        "hat": "^ˆ\u0302", "tilde": "~˜\u0303∼", "bar": "¯ˉ‾―\u0304\u0305", "vec": "→\u20d7", "dot": "˙\u0307",
        "ddot": "¨\u0308",
    }.items()
    for char in chars
}  # fmt: skip
PIECES = {  # of a high bracket
    char: sign
    for sign, chars in {"(": "⎛⎜⎝", ")": "⎞⎟⎠", "[": "⎡⎢⎣", "]": "⎤⎥⎦", "{": "⎧⎨⎩", "}": "⎫⎬⎭"}.items()
    for char in chars
}
OTHER = {
    "−": "-", "⋅": r"\cdot", "·": r"\cdot", "∗": "*", "∼": r"\sim", "□": r"\square", "∅": r"\emptyset", "ℏ": r"\hbar",
    "{": r"\{", "}": r"\}", "%": r"\%", "#": r"\#", "&": r"\&", "$": r"\$", "_": r"\_", "′": "'", "″": "''",
    "‴": "'''", "∥": r"\|", "‖": r"\|", "∆": r"\Delta", "\u2126": r"\Omega", "\u00b5": r"\mu",
}  # fmt: skip
ALPHABETS = (  # by what is in Unicode's name of a letter, the longer ones first
    ("BOLD ITALIC", "boldsymbol"), ("SANS-SERIF BOLD", "boldsymbol"), ("BOLD SCRIPT", "mathcal"), ("BOLD", "mathbf"),
    ("DOUBLE-STRUCK", "mathbb"), ("SCRIPT", "mathcal"), ("FRAKTUR", "mathfrak"), ("BLACK-LETTER", "mathfrak"),
    ("MONOSPACE", "mathtt"), ("SANS-SERIF", "mathsf"),
)  # fmt: skip
FONTS = (  # the same by the names of KaTeX's and MathJax's fonts, which hold plain letters
    ("KaTeX_Math-BoldItalic", "boldsymbol"), ("KaTeX_Math", ""), ("MathJax_Math", ""), ("KaTeX_AMS", "mathbb"),
    ("KaTeX_Main-Bold", "mathbf"), ("KaTeX_Caligraphic", "mathcal"), ("KaTeX_Script", "mathcal"),
    ("KaTeX_Fraktur", "mathfrak"),
)  # fmt: skip
NAMED = {chr(int(code, 16)): name for name, code in reversed(SYMBOLS.items()) if re.fullmatch(r"\\[A-Za-z]+", name)}


def alphabet_of(char: str) -> str | None:
    """The command of TeX's for the alphabet that a letter or digit is of, `""` for italics; None where it is plain."""
    if len(char) != 1 or not unicodedata.decomposition(char).startswith("<font>"):
        return None
    name = unicodedata.name(char)
    return next((style for sign, style in ALPHABETS if sign in name), "")


def sign_of(char: str, font: str) -> tuple[str, bool]:
    """A character as TeX, and whether it is an upright letter, or a blank, as words have them. Raises Unclear."""
    if not char.strip():
        return " ", True
    if len(char) > 1:  # a ligature
        raise Unclear(char)
    style = alphabet_of(char)
    plain = PIECES.get(char, char)
    if style is not None:
        plain = chr(int(unicodedata.decomposition(char).split()[1], 16))
    elif char.isalpha():
        style = next((style for name, style in FONTS if name in font), None)
    letter = _named(plain)
    return (rf"\{style}{{{letter}}}" if style else letter), style is None and plain.isascii() and plain.isalpha()


def _named(char: str) -> str:
    if char in OTHER or char.isascii():
        return OTHER.get(char, char)
    if char not in NAMED:
        raise Unclear(char)
    return NAMED[char]
