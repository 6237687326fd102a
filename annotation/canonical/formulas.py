"""One spelling of a formula's TeX: each program that exports a report writes the same formula in its own way.

What is seen stays the same, but that a small fraction is as large as others. What is not understood stays as it is.
"""

import re
from functools import lru_cache

from annotation.texts.spans import math_zones

LONGEST, DEEPEST = 2_000, 40  # characters, groups within each other: beyond them it is no formula of a report
SIGNS = (("$$", "$$"), (r"\[", "$$"), (r"\(", "$"), ("$", "$"))  # how it begins, and how all do
# Words, lengths and names, of which each blank counts; commands and what Markdown or TeX escapes; signs
PART = re.compile(
    r"\\(?:text[a-z]*|[hm]space|[hm]box|color|tag|label|ref|operatorname)\*?\{(?:[^{}\\$]|\\[&%#_ ])*\}"
    r"|\\begin\{array\}\{[^{}]*\}|\\(?:begin|end)\{[a-zA-Z]+\*?\}|\\\\\[[^\]\n]*\]|\\[a-zA-Z]+|\\[^\n]|[^\s]"
)
SAME = {
    rf"\{one}": other if other in ("[", "]", "*") else rf"\{other}"
    for one, other in (
        ("tfrac", "frac"), ("dfrac", "frac"), ("lbrack", "["), ("rbrack", "]"), ("lbrace", "{"), ("rbrace", "}"),
        ("ast", "*"), ("le", "leq"), ("ge", "geq"), ("ne", "neq"), ("to", "rightarrow"), ("gets", "leftarrow"),
        ("dots", "ldots"), ("land", "wedge"), ("lor", "vee"), ("lnot", "neg"),
    )
}  # fmt: skip
ACCENTS = {r"\widehat": r"\hat", r"\widetilde": r"\tilde", r"\overrightarrow": r"\vec", r"\mathbf": r"\boldsymbol"}
ONE = "sqrt hat bar vec dot tilde widehat widetilde overline overrightarrow mathrm mathbf mathbb mathcal boldsymbol"
ARGUMENTS = {rf"\{name}": 1 for name in ONE.split()} | {r"\frac": 2, r"\binom": 2}
OPEN, CLOSED = ("(", "[", r"\{", "|"), (")", "]", r"\}", "|")
TALL = {"^", "_", "'", r"\sum", r"\prod", r"\int", r"\oint", r"\left", r"\right", r"\middle"}
DECLARED = re.compile(r"\\(?:bf|it|rm|cal|over|atop|choose|color|[a-z]*style|tiny|small|large)\b")
WORDS = re.compile(r"\\text[a-z]*\{[^{}]*\}")
WORDS_ALONE = re.compile(r"\\(?:text(?!style)[a-z]*|[hmf]box|tag)\*?")  # before words with a group or formula in them
# Prose between signs of money, a quotation's own signs, what HTML escapes, a remark
NO_FORMULA = re.compile(
    r"(?<![\\\w])(?:[^\W\d_]{2,}\s+[^\W\d_]|[a-z]{3,}\s)|\n\s*(?:>|\n)|&#?\w+;|\$|(?<!\\)%|\\\Z|\\\n"
)
ARROW = re.compile(r"\\overset\{\\rightarrow\}\{(\\?[a-zA-Z]+)\}")
CASES = re.compile(r"\\left\\\{ ?\\begin\{matrix\}(.*?)\\end\{matrix\} ?\\right\.(?:\\ )?")

Node = str | list["Node"]  # a sign or command, or what is in braces


class _Foreign(ValueError):
    """Not understood."""


@lru_cache(maxsize=2_000)
def plain_formula(formula: str) -> str:
    r"""`$x_1$`, `$$…$$`, `\(…\)` or `\[…\]` in the one spelling, between dollars. Idempotent. Never raises."""
    begins, sign = next(pair for pair in SIGNS if formula.startswith(pair[0]))
    try:
        inside = formula[len(begins) : -len(begins)]
        inside = _spelled(inside.replace(r"\limits", " ") if sign == "$$" else inside)
        is_settled = _spelled(inside) == inside
    except _Foreign:
        return formula
    made = f"{sign}{inside}{sign}"
    return made if is_settled and math_zones(made) == [(0, len(made))] else formula


def _spelled(inside: str) -> str:
    if len(inside) > LONGEST or NO_FORMULA.search(WORDS.sub("", inside)):
        raise _Foreign
    parts = PART.findall(inside)
    if any(map(WORDS_ALONE.fullmatch, parts)):
        raise _Foreign
    nodes = _plain(_grouped(parts))
    while nodes and nodes[-1] == r"\ ":
        nodes.pop()
    return CASES.sub(r"\\begin{cases}\1\\end{cases}", ARROW.sub(r"\\vec{\1}", _written(nodes)))


def _grouped(parts: list[str]) -> list[Node]:
    open_: list[list[Node]] = [[]]
    for part in parts:
        if part == "{":
            open_.append([])
        elif part == "}" and len(open_) > 1:
            group: list[Node] = open_.pop()
            open_[-1].append(group)
        elif part == "}":
            raise _Foreign
        else:
            open_[-1].append(SAME.get(part, part))
        if len(open_) > DEEPEST:
            raise _Foreign
    if len(open_) > 1:
        raise _Foreign
    return open_[0]


def _plain(nodes: list[Node]) -> list[Node]:
    nodes = _unfenced(nodes)
    made: list[Node] = []
    at = 0
    while at < len(nodes):
        node = nodes[at]
        at += 1
        if isinstance(node, list):
            made += _ungrouped(node, made[-1] if made else "", nodes[at] if at < len(nodes) else "")
        elif node in ("^", "_"):
            script, at = _argument(nodes, at)
            if node == "^" and script and all(one == "'" for one in script):
                made += script
            elif node == "_" and made[-2:-1] == ["^"]:
                made[-2:-2] = [node, script]  # what is below before what is above
            else:
                made += [node, script]
        elif node in ARGUMENTS and nodes[at : at + 1] != ["["]:
            held: list[Node] = []
            for _ in range(ARGUMENTS[node]):
                one, at = _argument(nodes, at)
                held.append(one)
            is_one = len(held[0]) == 1 and (node != r"\mathbf" or held[0][0][:1] == "\\")
            made += [ACCENTS.get(node, node) if is_one else node, *held]
        else:
            made.append(node)
    return made


def _argument(nodes: list[Node], at: int) -> tuple[list[Node], int]:
    """What a script or a command is of, as in braces, and where what follows begins."""
    if at >= len(nodes):
        raise _Foreign
    node = nodes[at]
    if isinstance(node, list):
        return _plain(node), at + 1
    if node in ("^", "_", "&", r"\\", r"\left", r"\right") or node.startswith((r"\begin", r"\end")):
        raise _Foreign
    end = at + 1 + ARGUMENTS.get(node, 0)
    return _plain(nodes[at:end]), end


def _ungrouped(group: list[Node], before: Node, after: Node) -> list[Node]:
    """A group without its braces, where they say nothing: not of a command, and no script is of all of it."""
    held = _plain(group)
    said = _written(held)
    is_of_command = isinstance(before, list) or before == "]" or (before[:1] == "\\" and before[1:2].isalpha())
    is_based = after in ("^", "_", "'") and len(held) != 1
    if not held or is_of_command or is_based or said[0] == "[" or DECLARED.search(said):
        return [held]
    return held


def _unfenced(nodes: list[Node]) -> list[Node]:
    r"""Without `\left` and `\right` that nobody sees: of nothing, or around what is no higher than a bracket."""
    made: list[Node] = []
    at = 0
    while at < len(nodes):
        if nodes[at] != r"\left":
            made.append(nodes[at])
            at += 1
            continue
        end = _right(nodes, at)
        opening, closing, inside = nodes[at + 1], nodes[end + 1], nodes[at + 2 : end]
        if isinstance(opening, list) or isinstance(closing, list) or {opening, closing} & TALL or at + 1 >= end:
            raise _Foreign
        flat = all(isinstance(one, str) and one not in TALL and not one.startswith(r"\begin") for one in inside)
        if opening == closing == ".":
            made += _unfenced(inside)
        elif flat and opening in OPEN and closing in CLOSED:
            made += [opening, *inside, closing]
        else:
            made += [r"\left", opening, *_unfenced(inside), r"\right", closing]
        at = end + 2
    return made


def _right(nodes: list[Node], at: int) -> int:
    """Where the fence ends that begins at `at`."""
    open_ = 0
    for end in range(at, len(nodes) - 1):
        open_ += (nodes[end] == r"\left") - (nodes[end] == r"\right")
        if not open_:
            return end
    raise _Foreign


def _written(nodes: list[Node]) -> str:
    said = ""
    for node in nodes:
        one = f"{{{_written(node)}}}" if isinstance(node, list) else node
        is_set = one in ("=", "<", ">", "&", r"\\")
        is_word = bool(re.search(r"\\[a-zA-Z]+\Z", said)) and one[:1].isalnum()
        said += " " * bool(said and said[-1] != " " and (is_word or is_set)) + one + " " * is_set
    return said.rstrip() + " " * (nodes[-1:] == [r"\ "])
