"""TeX from where the signs of a formula stand: fractions, roots, accents, scripts, limits. No PDF is known here.

Places are points from a page's upper left corner, `size` is that of the type. What is none of these forms raises
Unclear: a wrong formula is worse than its characters.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

SMALL = 0.87  # of a line's type: what is smaller is a script
OFF, OFF_LARGE = 0.12, 0.7  # type sizes that a sign of a line may be off its foot; an operator or a high bracket
AXIS = 0.28  # type sizes above the foot, where the rules of fractions are
LARGE = frozenset((r"\sum", r"\prod", r"\coprod", r"\int", r"\iint", r"\iiint", r"\oint", r"\bigcup", r"\bigcap"))
NAMES = frozenset(
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim ln log max min Pr sec sin "  # noqa: SIM905  (a line of words)
    "sinh sup tan tanh".split()
)
OPENING, CLOSING = frozenset(("(", "[", r"\{", r"\langle")), frozenset((")", "]", r"\}", r"\rangle"))
EITHER = frozenset(("|", r"\mid", r"\|"))
BRACKET = re.compile(r"\\[{}|]|\\[a-z]+|.")
WORDS = re.compile(r"\\text\{[A-Za-z]+\}\Z")
COMMAND = re.compile(r"\\[A-Za-z]+\Z")


class Unclear(ValueError):
    """Not a formula that is understood."""


@dataclass(frozen=True, slots=True)
class Sign:
    """A character of a formula, or what several are together.

    `foot`: of the line that it stands on; `axis`: of a fraction, where its rule is, which stands on none. `upright`: a
    letter of a word. `tall`: a bracket higher than its type. `accent`: what it is over a letter. `whole`: of several.
    """

    tex: str
    x0: float
    x1: float
    top: float
    bottom: float
    foot: float
    size: float
    axis: float | None = None
    upright: bool = False
    tall: bool = False
    accent: str = ""
    whole: bool = False

    @property
    def middle(self) -> float:
        return (self.x0 + self.x1) / 2

    @property
    def height(self) -> float:
        """Where it stands, a fraction as if it stood on a line of its own size."""
        return self.foot if self.axis is None else self.axis + AXIS * self.size


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal line."""

    x0: float
    x1: float
    y: float


Token = tuple[str, float, float]  # TeX, from where to where


def tex_of(signs: Sequence[Sign], rules: Sequence[Rule], size: float) -> tuple[str, float]:
    """A formula in type of this size, and the foot of its line. Raises Unclear."""
    made = _accented(_ruled(signs, rules))
    return _line(made, size), _foot(made, size)


def _part(signs: Sequence[Sign], rules: Sequence[Rule] = ()) -> tuple[str, float, float]:
    """A part of a formula, the size of its type, and the foot of its line."""
    made = _accented(_ruled(signs, rules))
    size = max((one.size for one in made), default=0.0)
    return _line(made, size), size, _foot(made, size)


def _whole(tex: str, parts: Sequence[Sign], foot: float, size: float) -> Sign:
    x0, top = min(one.x0 for one in parts), min(one.top for one in parts)
    return Sign(tex, x0, max(one.x1 for one in parts), top, max(one.bottom for one in parts), foot, size, whole=True)


def _ruled(signs: Sequence[Sign], rules: Sequence[Rule]) -> list[Sign]:
    """Fractions, roots and what is under a line, each as one sign; the widest rule is that of the outermost."""
    signs, rules = [*signs], [*rules]
    while rules:
        rule = max(rules, key=lambda one: (round(one.x1 - one.x0), -one.y))
        inner = [one for one in rules if rule.x0 - 1 <= one.x0 and one.x1 <= rule.x1 + 1 and one != rule]
        within = [one for one in signs if rule.x0 - 1 <= one.middle <= rule.x1 + 1 and not _is_around(one, rule)]
        over = [one for one in within if (one.foot if one.axis is None else one.axis) < rule.y]
        under = [one for one in within if one not in over]
        root = next((one for one in signs if one.tex == r"\sqrt" and abs(one.x1 - rule.x0) < 0.25 * one.size), None)
        if root and under and not over:
            index = [one for one in signs if _is_index(one, root) and one not in under]
            made, used = _root(root, index, under, inner), [root, *index, *under]
        elif over and under:
            made, used = _fraction(over, under, inner, rule), within
        elif under:
            content, size, foot = _part(under, inner)
            made, used = _whole(rf"\overline{{{content}}}", under, foot, size), under
        else:
            raise Unclear("a line below")
        rules = [one for one in rules if one not in inner and one != rule]
        signs = [*(one for one in signs if one not in used), made]
    return signs


def _is_around(one: Sign, rule: Rule) -> bool:
    """Whether it is a bracket around a fraction."""
    return one.tall and one.top < rule.y - 0.4 * one.size and one.bottom > rule.y + 0.4 * one.size


def _is_index(one: Sign, root: Sign) -> bool:
    """Whether it is the 3 of a third root."""
    is_small = one.size < SMALL * root.size and one.foot < root.bottom
    return is_small and root.x0 - 0.3 * root.size < one.middle < root.x1 and one.x1 <= root.x1 + 0.1 * root.size


def _root(root: Sign, index: Sequence[Sign], under: Sequence[Sign], inner: Sequence[Rule]) -> Sign:
    content, size, foot = _part(under, inner)
    told = f"[{_part(index)[0]}]" if index else ""
    return replace(_whole(rf"\sqrt{told}{{{content}}}", [root, *under, *index], foot, size), tall=True)


def _fraction(over: Sequence[Sign], under: Sequence[Sign], inner: Sequence[Rule], rule: Rule) -> Sign:
    upper, size, _ = _part(over, [one for one in inner if one.y < rule.y])
    lower, other, _ = _part(under, [one for one in inner if one.y > rule.y])
    if max(rule.y - max(one.bottom for one in over), min(one.top for one in under) - rule.y) > 0.8 * size:
        raise Unclear("a rule with nothing beside it")
    made = _whole(rf"\frac{{{upper}}}{{{lower}}}", [*over, *under], rule.y, max(size, other))
    return replace(made, axis=rule.y, x0=min(made.x0, rule.x0), x1=max(made.x1, rule.x1), tall=True)


def _accented(signs: Sequence[Sign]) -> list[Sign]:
    """Letters with what stands over them."""
    made = [*signs]
    for accent in (one for one in signs if one.accent):
        under = [
            one for one in made
            if one.axis is None and not one.accent and one.x0 <= accent.middle <= one.x1 + 0.1 * one.size
            and -0.05 * one.size < one.foot - accent.foot < 0.9 * one.size
        ]  # fmt: skip
        if not under and accent.tex:
            continue  # a sign of the line, as `→`
        is_one = len(under) == 1 and abs(under[0].middle - accent.middle) <= 0.3 * under[0].size
        if not is_one or under[0].tex in EITHER or "arrow" in under[0].tex:
            raise Unclear("an accent of nothing, of several or of no letter")
        both = [accent, *under]
        made = [one for one in made if one not in both]
        made.append(_whole(rf"\{accent.accent}{{{under[0].tex}}}", both, under[0].foot, under[0].size))
    return made


def _line(signs: Sequence[Sign], size: float) -> str:
    """What stands on one line, with its scripts."""
    ordered = sorted(signs, key=lambda one: (one.x0, one.x1))
    foot = _foot(ordered, size)
    main = [one for one in ordered if _is_on(one, foot, size)]
    if not main or any(one.tex == r"\sqrt" for one in ordered):
        raise Unclear("no line, or a root without its own")
    scripts: dict[int, list[Sign]] = {}
    arrows = [one for one in main if "arrow" in one.tex]
    for one in (one for one in ordered if one not in main):
        if any(arrow.x0 < one.middle < arrow.x1 for arrow in arrows):
            raise Unclear("words above an arrow")
        scripts.setdefault(_base(one, main, foot, size), []).append(one)
    for at, found in scripts.items():
        below = [one for one in found if one.foot > foot + 0.5 * size]
        middle = (min(one.x0 for one in below) + max(one.x1 for one in below)) / 2 if below else 0.0
        if below and main[at].tex in LARGE and not -0.4 * size < middle - main[at].middle < size:
            raise Unclear("a limit that is not below its operator")
    tokens: list[Token] = []
    at = 0
    while at < len(main):
        end = _end_of_word(at, main, size, set(scripts))
        parts = [*main[at : end + 1], *(one for n in range(at, end + 1) for one in scripts.get(n, ()))]
        said = "".join(one.tex for one in main[at : end + 1])
        told = (_word(said) if main[at].upright else said) + _scripts(scripts.get(end, []), foot, size)
        tokens.append((told, min(one.x0 for one in parts), max(one.x1 for one in parts)))
        tokens[-1] = _fenced(tokens[-1], main[at])
        at = end + 1
    return _spaced(_paired(tokens), size)


def _foot(signs: Sequence[Sign], size: float) -> float:
    """Where most of the largest signs stand; where there are fractions alone, below their rules."""
    standing = [one for one in signs if one.axis is None and one.size >= SMALL * size]
    flat = [one for one in standing if not one.tall and one.tex not in LARGE]
    feet = sorted(one.foot for one in flat or standing)
    axes = sorted(one.axis for one in signs if one.axis is not None)
    if not (feet or axes) or (feet and feet[-1] - feet[0] > 0.5 * size):
        raise Unclear("no line, or several")
    return feet[len(feet) // 2] if feet else axes[len(axes) // 2] + AXIS * size


def _is_on(one: Sign, foot: float, size: float) -> bool:
    if one.axis is not None:
        return abs(foot - AXIS * size - one.axis) < 0.2 * size
    off = OFF_LARGE if one.tall or one.tex in LARGE else OFF
    return one.size >= SMALL * size and abs(one.foot - foot) < off * size


def _base(script: Sign, main: Sequence[Sign], foot: float, size: float) -> int:
    """What a script is of: the operator that it is a limit of, or what is before it."""
    rise = (foot - script.foot) / size
    if rise < -0.5 or rise > 0.8:
        names = {_end_of_word(at, main, size) for at, one in enumerate(main) if one.upright}
        over = [at for at, one in enumerate(main) if one.tex in LARGE or at in names]
        near = min(over, key=lambda at: abs(_middle(at, main, size) - script.middle), default=None)
        if near is not None and _is_limit(script, near, main, size):
            return near
    before = [at for at, one in enumerate(main) if one.x0 < script.middle and one.x1 < script.x1 + 0.01]
    if not before:
        raise Unclear("a script of nothing")
    return before[-1]


def _is_limit(script: Sign, at: int, main: Sequence[Sign], size: float) -> bool:
    """Whether it is nearer to an operator than what is beside that; an integral's stand on its right."""
    begin = _begin_of_word(at, main, size)
    left = main[begin - 1].x1 if begin else main[0].x0 - 4 * size
    right = main[at + 1].x0 if at + 1 < len(main) else main[at].x1 + 4 * size
    return left - 0.1 * size <= script.middle <= right + 0.1 * size


def _middle(at: int, main: Sequence[Sign], size: float) -> float:
    return (main[_begin_of_word(at, main, size)].x0 + main[at].x1) / 2


def _begin_of_word(at: int, main: Sequence[Sign], size: float) -> int:
    while at and main[at].upright and main[at - 1].upright and main[at].x0 - main[at - 1].x1 < OFF * size:
        at -= 1
    return at


def _end_of_word(at: int, main: Sequence[Sign], size: float, scripted: set[int] | None = None) -> int:
    """The last of the upright letters that follow each other without room, none but it with a script."""
    while (
        at + 1 < len(main) and main[at].upright and main[at + 1].upright and at not in (scripted or ())
        and main[at + 1].x0 - main[at].x1 < OFF * size
    ):  # fmt: skip
        at += 1
    return at


def _word(said: str) -> str:
    if said in NAMES:
        return rf"\{said}"
    return rf"\text{{{said}}}" if len(said) > 1 else rf"\mathrm{{{said}}}" if said.strip() else r"\ "


def _scripts(signs: Sequence[Sign], foot: float, size: float) -> str:
    """`_{…}^{…}` of what stands below and above a line; a script of a script belongs to the nearest one."""
    largest = max((one.size for one in signs), default=0.0)
    first = [one for one in signs if one.size >= SMALL * largest]
    parts: dict[bool, list[Sign]] = {True: [], False: []}  # by whether they are above
    for one in signs:
        of = one if one in first else min(first, key=lambda other: _distance(one, other))
        parts[of.height < foot - OFF * size].append(one)
    below = f"_{{{_part(parts[False])[0]}}}" if parts[False] else ""
    above = _part(parts[True])[0] if parts[True] else ""
    rest = above.lstrip("'")
    return above[: len(above) - len(rest)] + below + (f"^{{{rest}}}" if rest else "")


def _distance(one: Sign, other: Sign) -> tuple[bool, float, float]:
    up = abs(one.foot - other.foot)
    return up > 0.6 * other.size, max(0.0, one.x0 - other.x1), up


def _fenced(token: Token, sign: Sign) -> Token:
    r"""With `\left` before a bracket that is drawn higher than its type."""
    bracket = BRACKET.match(sign.tex)
    is_fence = sign.tall and not sign.whole and bracket and bracket[0] in OPENING | CLOSING | EITHER
    return (rf"\left{token[0]}", *token[1:]) if is_fence else token


def _paired(tokens: Sequence[Token]) -> list[Token]:
    r"""With `\right` in place of each second `\left`."""
    made, open_ = list[Token](), list[str]()
    for tex, x0, x1 in tokens:
        sign = BRACKET.match(tex, 5) if tex.startswith(r"\left") and not tex.startswith(r"\leftarrow") else None
        is_end = sign is not None and (sign[0] in CLOSING or open_[-1:] == [sign[0]])
        if is_end and not open_:
            raise Unclear("a bracket that nothing opens")
        if sign and is_end:
            open_.pop()
        elif sign:
            open_.append(sign[0])
        made.append((rf"\right{tex[5:]}" if is_end else tex, x0, x1))
    if open_:
        raise Unclear("a bracket that nothing closes")
    return made


def _spaced(tokens: Sequence[Token], size: float) -> str:
    said = ""
    gaps = [0.0, *((right[1] - left[2]) / size for left, right in pairwise(tokens)), 0.0]
    for (tex, _, _), before, after in zip(tokens, gaps, gaps[1:], strict=False):
        if before > 0.9:
            said += r"\qquad " if before > 1.9 else r"\quad "
        elif before > 0.2 and tex[:1].isalnum() and said.endswith("}") and WORDS.search(said):
            said = f"{said[:-1]} }}"
        elif tex == "d" and 0.1 < before < 0.3 and said[-1:] not in "=+-":  # of an integral
            said += r"\,"
        if tex.startswith(r"\mid") and min(before, after) < 0.15:  # which KaTeX draws for `|` too
            tex = f"|{tex[4:]}"
        said += " " * (bool(COMMAND.search(said)) and tex[:1].isalnum()) + tex
    return said
