"""How wide a text is in TeX, before TeX has seen it: the wider of Computer Modern and Times for each letter."""

from __future__ import annotations

import unicodedata

# Character widths of cmr10 and Times Roman in em, from their metric files.
_LETTERS = {
    0.28: ",.:;il|",
    0.31: "j",
    0.34: " !'-[]`f",
    0.36: "I",
    0.39: "()rst",
    0.45: "cez",
    0.47: "?",
    0.50: '"$*/0123456789\\^_ago{}',
    0.53: "Jkqvxy",
    0.56: "~Sbdhnpu",
    0.65: "FLZ",
    0.72: "BCETPw",
    0.78: "&+<=>ADGHKNOQRUVXY",
    0.83: "#%m",
    0.92: "@M",
    1.03: "W",
}
_WIDTH = {letter: width for width, letters in _LETTERS.items() for letter in letters}
OTHER, IDEOGRAPH, EMOJI, ESCAPED = 0.78, 1.05, 1.3, 4.6  # em; escaped is a control character as ⟨U+0007⟩


def width(text: str) -> float:
    """In em of its own font, one line, never less than what TeX sets."""
    return sum(map(_mark, unicodedata.normalize("NFC", text)))


def _mark(mark: str) -> float:
    letter = unicodedata.normalize("NFD", mark)[0]
    if letter in _WIDTH:
        return _WIDTH[letter]
    kind = unicodedata.category(mark)
    if mark.isspace():
        return _WIDTH[" "]
    if kind in {"Mn", "Me", "Cf"}:
        return 0.0
    if kind.startswith("C"):
        return ESCAPED
    if unicodedata.east_asian_width(mark) in "WF":
        return IDEOGRAPH if kind.startswith("L") else EMOJI
    return 1.0 if mark == "—" else OTHER
