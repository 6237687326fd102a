"""What canonical format must not touch, pictures, code, formulas, addresses, waits on a shelf meanwhile."""

import re
from collections import Counter
from collections.abc import Callable, Iterable

from annotation.texts.figures import figure_zones
from annotation.texts.spans import code_zones, math_zones

# One private-use character stands for each piece. They are neither letters nor blanks, so no rule looks at them.
_FIRST, _LAST = 0xF0000, 0xFFFFD
TOKEN = re.compile("[\U000f0000-\U000ffffd]")
_BEFORE_DIGIT = re.compile(f"{TOKEN.pattern}(?=[0-9])")
_FOREIGN = re.compile("[\U000f0000-\U000ffffd]+")
_FENCE = re.compile(r"^([ \t]*+(?:>[ \t]?)*+[ \t]*+)(`{3,}+|~{3,}+)([^`\n]*+)$", re.MULTILINE)
_PROSE = ("markdown", "md")
_WRAPPING = ("", "text", "txt", "plaintext", *_PROSE)
_ADDRESS = re.compile(
    r"\]\((?:[^\s()<>]|\([^\s()]{0,200}\)){0,2000}+(?:[ \t]\"[^\"\n]{0,200}\")?\)"
    r"|(?:https?://|\bwww\.)[^\s<>|\"]{0,2000}[\w/#=&%+]"
)
_INDENTED = re.compile(r"(?:^(?: {4}|\t)[^\n]*\S[^\n]*(?:\n|\Z))+", re.MULTILINE)
_CODE_LINE = re.compile(r"[={}]|;\s*$|\w\(|\)\s*$|^\s*(?:def|for|if|else|return|import|from|class|while)\b|^\s*[#$>]\s")
_IN_LIST = re.compile(r"[ \t]|[-*+•] |[0-9]{1,9}[.)] ")


class Shelf:
    """Pieces taken out of a text, and how to put them back. `full` when there are more than 65,534 of them."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.full = False

    def take(self, text: str, zones: Iterable[tuple[int, int]], *, foreign: bool = False) -> str:
        """`text` with one token in place of each zone; a zone that overlaps an earlier one is left where it is.

        `foreign`: the zones hold an author's own private-use characters, not tokens.
        """
        kept: list[str] = []
        done = 0
        for start, end in sorted(zones):
            if start < done or start == end:
                continue
            if _FIRST + len(self.pieces) > _LAST:
                self.full = True
                break
            kept += (text[done:start], chr(_FIRST + len(self.pieces)))
            self.pieces.append(text[start:end] if foreign else self.back(text[start:end]))
            done = end
        return "".join(kept) + text[done:] if done else text

    def piece(self, token: str) -> str:
        """What `token` stands for."""
        return self.pieces[ord(token) - _FIRST]

    def back(self, text: str) -> str:
        """`text` with every piece in its place again."""
        return TOKEN.sub(lambda match: self.piece(match[0]), text) if self.pieces else text

    def apart(self, text: str) -> str:
        """`text` with a blank between a formula and a digit: a sign of money behind which one stands ends none."""
        return _BEFORE_DIGIT.sub(lambda match: match[0] + " " * self.piece(match[0]).endswith("$"), text)

    def block(self, line: str) -> str | None:
        """The fenced or indented code that fills `line`, or None."""
        token = line.strip()
        if len(token) != 1 or not TOKEN.match(token):
            return None
        piece = self.piece(token)
        return piece if _FENCE.match(piece) or _INDENTED.match(piece) else None


def put_away(text: str, shelf: Shelf, counts: Counter[str], formula: Callable[[str], str] = str) -> str:
    """`text` with pictures, code, formulas and addresses on `shelf`. A fence around a whole report is taken off.

    `formula`: how a formula is spelled there.
    """
    text = shelf.take(text, (match.span() for match in _FOREIGN.finditer(text)), foreign=True)
    text = shelf.take(text, figure_zones(text))
    if "```" in text or "~~~" in text:
        text = _fences(text, shelf, counts)
    if "\n    " in text or "\n\t" in text or text.startswith(("    ", "\t")):
        text = shelf.take(text, _indented(text))
    if "`" in text:
        text = shelf.take(text, code_zones(text))
    if "$" in text or "\\(" in text or "\\[" in text:
        before = len(shelf.pieces)
        text = shelf.take(text, math_zones(text))
        shelf.pieces[before:] = map(formula, shelf.pieces[before:])
    if "](" in text or "://" in text or "www." in text:
        text = shelf.take(text, (match.span() for match in _ADDRESS.finditer(text)))
    return text


def _fences(text: str, shelf: Shelf, counts: Counter[str]) -> str:
    fences = list(_FENCE.finditer(text))
    longest_after: list[dict[str, int]] = [{}]  # the longest bare fence of each sign behind this one
    for fence in reversed(fences):
        behind = dict(longest_after[-1])
        if not fence[3].strip():
            behind[fence[2][0]] = max(behind.get(fence[2][0], 0), len(fence[2]))
        longest_after.append(behind)
    longest_after.reverse()
    zones: list[tuple[int, int]] = []
    signs: list[tuple[int, int]] = []  # fences that go while what they hold stays
    at = 0
    while at < len(fences):
        opener = fences[at]
        sign, info = opener[2], opener[3].strip().lower()
        if longest_after[at + 1].get(sign[0], 0) < len(sign):
            signs.append(opener.span(2))
            at += 1
            continue
        closing = at + 1
        while not (fences[closing][2].startswith(sign) and not fences[closing][3].strip()):
            closing += 1
        closer = fences[closing]
        wraps = not text[: opener.start()].strip() and not text[closer.end() :].strip()
        if info in _PROSE or (wraps and info in _WRAPPING):
            signs += [(opener.start(2), opener.end()), closer.span(2)]
        else:
            zones.append((opener.start(), closer.end()))
        at = closing + 1
    text = shelf.take(text, zones) if not signs else _without(text, signs, zones, shelf)
    counts["fences"] += len(signs)
    return text


def _without(text: str, signs: list[tuple[int, int]], zones: list[tuple[int, int]], shelf: Shelf) -> str:
    """Take `zones`, then drop `signs`; neither touches the other."""
    kept: list[str] = []
    done = 0
    for start, end in signs:
        inside = [(a - done, b - done) for a, b in zones if done <= a < start]
        zones = [zone for zone in zones if zone[0] >= end]
        kept.append(shelf.take(text[done:start], inside))
        done = end
    return "".join(kept) + shelf.take(text[done:], [(a - done, b - done) for a, b in zones])


def _indented(text: str) -> list[tuple[int, int]]:
    """Blocks set in by four blanks, after an empty line, outside lists, that look like code on most lines."""
    zones = []
    for match in _INDENTED.finditer(text):
        before = text[max(0, match.start() - 2000) : match.start()]
        if before and not before.endswith("\n\n"):
            continue
        last = before.rstrip().rsplit("\n", 1)[-1]
        if _IN_LIST.match(last):
            continue
        lines = match[0].rstrip("\n").split("\n")
        if sum(bool(_CODE_LINE.search(line)) for line in lines) * 2 > len(lines):
            zones.append((match.start(), match.start() + len(match[0].rstrip("\n"))))
    return zones
