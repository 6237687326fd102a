"""TeX as MathML, which browsers draw and screen readers read; whoever quotes or judges a formula keeps its source."""

import html
import re
from functools import lru_cache
from typing import Any

from latex2mathml.converter import convert_to_element

LONGEST = 2_000  # characters: what is longer is no formula but a page of them
TAGS = set(
    "math mrow mi mo mn mtext ms mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mmultiscripts "  # noqa: SIM905  (a line of words)
    "mprescripts none mtable mtr mtd mstyle mpadded mphantom menclose".split()
)
# What a browser may be told of a formula's form; no address, class, id or colour
ATTRIBUTES = set(
    "display stretchy fence form separator largeop movablelimits symmetric accent accentunder columnalign rowspacing "  # noqa: SIM905  (a line of words)
    "columnspacing columnlines rowlines displaystyle scriptlevel linethickness mathvariant minsize maxsize lspace "
    "rspace width height depth voffset notation".split()
)
PARTS = dict.fromkeys(("mfrac", "mroot", "msub", "msup", "munder", "mover"), 2) | dict.fromkeys(
    ("msubsup", "munderover"), 3
)
VALUE = re.compile(r"[\w .%+-]{0,60}")
DEFINING = re.compile(r"\\(?:def|let|edef|gdef|newcommand|renewcommand|providecommand|require|input|include)\b")
SIGNS = (("$$", "$$", True), (r"\[", r"\]", True), (r"\(", r"\)", False), ("$", "$", False))
ALIGNED = re.compile(r"\\(begin|end)\{(?:aligned|alignedat|eqnarray)\}")


@lru_cache(maxsize=2_000)
def mathml(source: str) -> str | None:
    r"""`$x^2$`, `$$…$$`, `\(…\)` or `\[…\]` as one `<math>`; None where any of it cannot be read.

    What it holds is of `TAGS` and `ATTRIBUTES` alone, and all text is escaped. Never raises.
    """
    found = next((sign for sign in SIGNS if source.startswith(sign[0]) and source.endswith(sign[1])), None)
    if found is None or len(source) > LONGEST or DEFINING.search(source):
        return None
    inside = source[len(found[0]) : -len(found[1])].strip()
    try:
        element = convert_to_element(ALIGNED.sub(r"\\\1{align*}", inside), display="block" if found[2] else "inline")
        return _written(element)
    except Exception:  # noqa: BLE001  (the converter raises whatever a wrong formula comes to)
        return None


def _written(element: Any) -> str:
    """Raises ValueError where a name is none of MathML's, a part is missing, or a text is a command not understood."""
    if element.tag not in TAGS or len(element) != PARTS.get(element.tag, len(element)):
        raise ValueError(element.tag)
    if "linebreak" in element.attrib:  # which no browser breaks a line at
        raise ValueError("several lines outside an environment")
    text, tail = (html.unescape(said or "") for said in (element.text, element.tail))
    if "\\" in text or (text.strip() in ("&", "#") and element.tag != "mtext"):
        raise ValueError(text)
    told = "".join(
        f' {name}="{value}"' for name, value in element.attrib.items() if name in ATTRIBUTES and VALUE.fullmatch(value)
    )
    held = "".join(map(_written, element))
    return f"<{element.tag}{told}>{html.escape(text)}{held}</{element.tag}>{html.escape(tail.strip())}"
