"""TeX as MathML, which browsers draw and screen readers read; whoever quotes or judges a formula keeps its source."""

import html
import re
import unicodedata
from functools import lru_cache
from typing import Any

from latex2mathml import exceptions
from latex2mathml.converter import convert_to_element

LONGEST = 2_000  # characters: what is longer is no formula but a page of them
TAGS = set(
    "math mrow mi mo mn mtext ms mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mmultiscripts "  # noqa: SIM905  (a line of words)
    "mprescripts none mtable mtr mtd mstyle mpadded menclose".split()
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
SCRIPTS = {*PARTS, "mmultiscripts"}
VALUE = re.compile(r"[\w .%+-]{0,60}")
DEFINING = re.compile(r"\\(?:def|let|edef|gdef|newcommand|renewcommand|providecommand|require|input|include)\b")
SIGNS = (("$$", "$$", True), (r"\[", r"\]", True), (r"\(", r"\)", False), ("$", "$", False))
SHAPE = re.compile(  # what TeX is told of a form, which is no word of the text
    r"\\begin\{array\}\{[lcr|:\s]*\}|\\(?:begin|end)\{[a-zA-Z]{1,12}\*?\}|\\(?:text)?color(?:box)?\{(?:#[0-9a-fA-F]{3,6}"
    r"|black|white|gr[ae]y|red|green|blue|cyan|magenta|yellow|orange|purple|violet|brown|pink|teal|olive|lime)\}"
    r"|\\[a-zA-Z]+"
)
WORD = re.compile(r"[^\W\d_]{3,}")
LENGTHS = frozenset(("lspace", "rspace", "width", "height", "depth", "voffset", "minsize", "maxsize", "linethickness"))
EMS = {
    "": 1.0,
    "em": 1.0,
    "ex": 0.5,
    "mu": 1 / 18,
    "pt": 1 / 12,
    "px": 1 / 16,
    "pc": 1.0,
    "mm": 0.24,
    "cm": 2.4,
    "in": 6.0,
}
LENGTH = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))([a-z]*)")
NAMED = re.compile(r"(?:negative)?(?:very){0,2}(?:thin|medium|thick)mathspace")
# what the converter raises of a wrong formula: its own errors, which share no base, and what its code stumbles over
UNREADABLE: tuple[type[Exception], ...] = (
    *(one for one in vars(exceptions).values() if isinstance(one, type) and issubclass(one, Exception)),
    AttributeError, LookupError, RecursionError, StopIteration, TypeError, ValueError,
)  # fmt: skip
FURTHEST = 4.0  # em: a length up to here moves a word beside another, and not out of sight
BACK = 0.25  # em that a length may go back: the converter's own arrows do
MOST_BACK = 2.0  # em of all the spaces of a formula
DEEPEST = 3  # scripts of scripts: each is set in 7/10 of the size
ESCAPED = re.compile(r"\\([&%#_$])")  # signs in words, which the converter leaves as they are typed
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
        _check_seen(element, inside)
        return _written(element)
    except UNREADABLE:
        return None


def _check_seen(formula: Any, source: str) -> None:
    """Raises ValueError where people might not see a word that judges read: left out, moved away, covered or tiny."""
    text = html.unescape("".join(formula.itertext()))
    drawn = re.sub(r"\s", "", unicodedata.normalize("NFKC", text))
    if any(word not in drawn for word in WORD.findall(unicodedata.normalize("NFKC", SHAPE.sub(" ", source)))):
        raise ValueError("a word is not drawn")
    spaces = [_ems(one.get("width", "0")) for one in formula.iter("mspace")]
    room = sum(space for space in spaces if space > 0) + sum(map(str.isspace, text)) * BACK
    if room > FURTHEST * max(1, len(drawn)) or sum(space for space in spaces if space < 0) < -MOST_BACK:
        raise ValueError("spaces move a word away")
    _check_place(formula, 0, 0.0)


def _check_place(element: Any, script: int, moved: float) -> None:
    """`script`: how many scripts this is a script of; `moved`: em by which it is moved already, in any direction."""
    lengths = {name: _ems(value) for name, value in element.attrib.items() if name in LENGTHS}
    if any(not -BACK <= length <= FURTHEST for length in lengths.values()):
        raise ValueError("a length moves a word away")
    if element.tag == "mpadded":
        moved += abs(lengths.get("lspace", 0.0)) + abs(lengths.get("voffset", 0.0))
        covered = any(lengths.get(name) == 0 for name in ("width", "height", "depth"))
        if moved > FURTHEST or (covered and len(html.unescape("".join(element.itertext()))) > 1):
            raise ValueError("a word is moved away, or others are drawn over it")
    script = int(element.get("scriptlevel", script))
    if script > DEEPEST:
        raise ValueError("too small to be read")
    for place, part in enumerate(element):
        is_script = element.tag in SCRIPTS and (place > 0 or element.tag == "mfrac")
        _check_place(part, script + is_script, moved)


def _ems(length: str) -> float:
    """Raises ValueError where it is no length with a unit of `EMS`."""
    if NAMED.fullmatch(length):
        return -BACK if length.startswith("negative") else BACK
    found = LENGTH.fullmatch(length)
    if not found or found[2] not in EMS:
        raise ValueError(length)
    return float(found[1]) * EMS[found[2]]


def _written(element: Any) -> str:
    """Raises ValueError where a name is none of MathML's, a part is missing, or a text is a command not understood."""
    if element.tag not in TAGS or len(element) != PARTS.get(element.tag, len(element)):
        raise ValueError(element.tag)
    if "linebreak" in element.attrib:  # which no browser breaks a line at
        raise ValueError("several lines outside an environment")
    text, tail = (html.unescape(said or "") for said in (element.text, element.tail))
    text = ESCAPED.sub(r"\1", text) if element.tag == "mtext" else text
    if "\\" in text or (text.strip() in ("&", "#") and element.tag != "mtext"):
        raise ValueError(text)
    told = "".join(
        f' {name}="{value}"' for name, value in element.attrib.items() if name in ATTRIBUTES and VALUE.fullmatch(value)
    )
    held = "".join(map(_written, element))
    return f"<{element.tag}{told}>{html.escape(text)}{held}</{element.tag}>{html.escape(tail.strip())}"
