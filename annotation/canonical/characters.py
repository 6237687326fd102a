"""Changes to characters, anywhere: blanks, entities, escapes, quotes, dashes, and one sign for each emphasis."""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from html.entities import html5

from annotation.canonical.shelf import TOKEN
from annotation.texts.spans import math_zones

_CJK = "\u2e80-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
CJK = re.compile(f"[{_CJK}]")
_ZERO_WIDTH = re.compile("[\u200b\u2060\ufeff]")
_SPECIAL_BLANK = re.compile("[\u00a0\u202f]")
_IDEOGRAPHIC_INDENT = re.compile("^[ \t]*+\u3000[ \t\u3000]*+", re.MULTILINE)
_RUN = re.compile(r"[ \t]{2,}|\t")
_ENTITY = re.compile(r"(?<!\\)&(?:#[xX][0-9a-fA-F]{1,6}|#[0-9]{1,7}|[A-Za-z][A-Za-z0-9]{1,31});")
_ENTITY_TAIL = re.compile(r"[#\w]{1,32};")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_ACTIVE = frozenset("\\`*_[]#|~<>$!&-+.()")
_CURLY = str.maketrans({"“": '"', "”": '"', "„": '"', "‟": '"', "‘": "'", "’": "'", "‚": "'", "‛": "'"})
_CURLY_QUOTE = re.compile("[“”„‟‘’‚‛]")
_DOUBLED_QUOTE = re.compile("‘‘|’’")
_EM_DASH = re.compile(rf"(?<=[^\s—{_CJK}])(?: —(?!—) ?|—(?!—) )(?=[^\s—{_CJK}])")
_HYPHENS = re.compile(r"(?<=[^\s<!-])(?: (---?) (?=[^\s>-])|(---?)(?=[^\s>-])|(---?) (?=[^\s>-]))")
_ELLIPSIS = re.compile(rf"(?<![{_CJK}…])…(?![{_CJK}…])")
_GAP = re.compile(r"(?<=[^\s|]) (?=[,;](?!\))|[.](?![\w/.])|\.\.\.(?!\w)|[:!?](?![\w=:/)(]))")


def plain_line_ends(text: str, counts: Counter[str]) -> str:
    """LF only. Done before code is put away: a carriage return is never code."""
    if "\r" not in text:
        return text
    counts["line_ends"] += text.count("\r")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def plain_blanks(text: str, counts: Counter[str]) -> str:
    """No invisible characters, no special blanks; runs of blanks and indents are left to whoever reads lines."""
    if text.isascii():
        return text
    text = changed(_ZERO_WIDTH, "", text, counts, "zero_width")
    text = changed(_SPECIAL_BLANK, " ", text, counts, "special_blanks")
    return changed(_IDEOGRAPHIC_INDENT, "", text, counts, "special_blanks") if "\u3000" in text else text


def single_blanks(text: str, counts: Counter[str]) -> str:
    """Runs of blanks as one, none at either end."""
    bare = text.strip()
    return changed(_RUN, " ", bare, counts, "runs_of_blanks") if "  " in bare or "\t" in bare else bare


def changed(pattern: re.Pattern[str], by: str, text: str, counts: Counter[str], name: str) -> str:
    """`text` with `pattern` replaced, the number of replacements added to `counts[name]`."""
    text, number = pattern.subn(by, text)
    if number:
        counts[name] += number
    return text


def decode_entities(text: str, counts: Counter[str]) -> str:
    """Entities as characters, those that would act as syntax behind a backslash; `&lt;` and `&gt;` stay."""
    if "&" not in text:
        return text

    def decoded(match: re.Match[str]) -> str:
        entity = match[0]
        if entity[1] != "#" and entity[1:] not in html5:
            return entity
        character = html.unescape(entity)
        if character in ("<", ">"):
            result = "&lt;" if character == "<" else "&gt;"
        elif character == "&" and _ENTITY_TAIL.match(text, match.end()):
            result = "&amp;"
        elif TOKEN.search(character) or character == entity:
            return entity
        elif character.isspace() or not character or _ZERO_WIDTH.match(character):
            result = " " if character.isspace() else ""
        else:
            result = "\\" + character if character in _ACTIVE else character
        counts["entities"] += result != entity
        return result

    return _ENTITY.sub(decoded, text)


def drop_escapes(text: str, counts: Counter[str], *, starts_line: bool = True) -> str:
    """Backslashes that prevent nothing go. `starts_line`: a sign at the start of `text` could open a list."""
    if "\\" not in text:
        return text
    first = len(text) - len(text.lstrip())
    linked = "](" in text or "]\\(" in text or any(text[m.start() - 1 : m.start()] == "]" for m in TOKEN.finditer(text))
    money = not math_zones(text.replace("\\$", "$")) if "\\$" in text else False

    def needed(match: re.Match[str]) -> bool:
        sign, start, end = match[1], match.start(), match.end()
        before, after = text[start - 1 : start], text[end : end + 1]
        opening = starts_line and start == first
        if sign in "\"'%,/:;?@^{}":
            return False
        if sign in "-+=":
            return opening
        if sign == "#":
            return opening or end == len(text.rstrip())
        if sign == ">":
            return opening
        if sign in ".)":
            return (starts_line and start - first <= 9 and text[first:start].isdigit()) or (sign == ")" and linked)
        if sign in "([]":
            return linked or (sign == "(" and before == "]") or (sign == "]" and after in "(:")
        if sign == "!":
            return after == "["
        if sign == "&":
            return bool(_ENTITY_TAIL.match(text, end))
        if sign == "$":
            return not money
        if sign == "~":
            return before == "~" or after in ("~", "\\")
        if sign == "*":
            return not (before.isspace() and after.isspace())
        if sign == "_":
            return not (before.isalnum() and after.isalnum())
        if sign == "<":
            return after.isalpha() or after in "/!?"
        return True

    def bare(match: re.Match[str]) -> str:
        if needed(match):
            return match[0]
        counts["escapes"] += 1
        return match[1]

    return _ESCAPE.sub(bare, text)


def plain_punctuation(text: str, counts: Counter[str]) -> str:
    """Straight quotes, one dash, three dots, no blank before a stop. Text that is mostly CJK keeps its own signs."""
    if not text.isascii():
        if mostly_cjk(text):
            return changed(_GAP, "", text, counts, "gaps")
        if "\u2011" in text:
            counts["hyphens"] += text.count("\u2011")
            text = text.replace("\u2011", "-")
        curly = len(_CURLY_QUOTE.findall(text))
        if curly:
            counts["quotes"] += curly
            text = _DOUBLED_QUOTE.sub('"', text).translate(_CURLY)
        if "—" in text:
            text = changed(_EM_DASH, " – ", text, counts, "dashes")
        if "…" in text:
            text = changed(_ELLIPSIS, "...", text, counts, "ellipses")
    if "--" in text:
        text = changed(_HYPHENS, " – ", text, counts, "dashes")
    return changed(_GAP, "", text, counts, "gaps")


def mostly_cjk(text: str) -> bool:
    """True when more than three letters in ten are Chinese or Japanese."""
    cjk = len(CJK.findall(text))
    return cjk > 0 and cjk > 0.3 * sum(map(str.isalpha, text))


_MARKS = re.compile(r"\\[!-/:-@\[-`{-~]|(\*+|_+)")
_ESCAPED_BOLD = re.compile(r"\\\*\\\*(?=\S)([^\\*\n]{1,300})(?<=\S)\\\*\\\*")
_WIKI = re.compile(r"'{2,5}")


@dataclass
class _Run:
    """A run of one sign. Closing marks are taken from its left end, opening ones from its right."""

    start: int
    end: int
    sign: str
    opens: bool
    closes: bool
    left: int  # marks without a partner so far
    before: str
    after: str
    closing: list[str] = field(default_factory=list)
    opening: list[str] = field(default_factory=list)


def plain_emphasis(
    text: str, counts: Counter[str], *, keep: bool = True, edge: Callable[[str], str] = lambda token: token
) -> str:
    """`**bold**` and `_italic_` wherever there is a pair, nothing where a mark has no partner.

    `keep=False` takes the paired marks too (headings, plain layout). `edge` gives the sign that a token on the
    shelf stands for.
    """
    if "\\*\\*" in text:  # escaped by an exporter, and shown as asterisks ever since
        text, number = _ESCAPED_BOLD.subn(r"**\1**", text)
        counts["escapes"] += 4 * number
    if "''" in text:
        text = _without_wiki_marks(text, counts)
    if "*" not in text and "_" not in text:
        return text
    runs = [_read(match, text, edge) for match in _MARKS.finditer(text) if match[1]]
    _pair(runs, keep)
    kept: list[str] = []
    done = 0
    for run in runs:
        marks = "".join(run.closing) + _unpaired(run, counts) + "".join(reversed(run.opening))
        if keep:
            counts["emphasis_signs"] += marks != text[run.start : run.end] and bool(run.closing or run.opening)
        else:
            counts["emphasis"] += bool(run.closing or run.opening)
        kept += (text[done : run.start], marks)
        done = run.end
    return "".join(kept) + text[done:]


def is_bold_throughout(text: str) -> bool:
    """One pair of `**` around all of `text`, none inside."""
    return len(text) > 4 and text.startswith("**") and text.endswith("**") and "**" not in text[2:-2]


def _without_wiki_marks(text: str, counts: Counter[str]) -> str:
    def gone(match: re.Match[str]) -> str:
        before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
        if before.isdigit() and match[0] == "''":  # seconds and inches
            return match[0]
        counts["unpaired_marks"] += 1
        return "'" if before.isalnum() and after.isalnum() else ""

    return _WIKI.sub(gone, text)


def _read(match: re.Match[str], text: str, edge: Callable[[str], str]) -> _Run:
    before, after = text[match.start() - 1 : match.start()] or " ", text[match.end() : match.end() + 1] or " "
    before, after = edge(before)[-1], edge(after)[0]
    left = not after.isspace() and (not _punctuation(after) or before.isspace() or _punctuation(before))
    right = not before.isspace() and (not _punctuation(before) or after.isspace() or _punctuation(after))
    if match[1][0] == "_":
        left, right = left and (not right or _punctuation(before)), right and (not left or _punctuation(after))
    return _Run(match.start(), match.end(), match[1][0], left, right, len(match[1]), before, after)


def _punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def _pair(runs: list[_Run], keep: bool) -> None:
    """CommonMark's delimiter stack: each closer takes the nearest opener; what lies between them stays alone."""
    stack: list[_Run] = []
    hopeless: dict[tuple[str, bool, int], int] = {}  # kind of closer -> how deep the stack holds no opener for it
    for run in runs:
        kind = (run.sign, run.opens, (run.end - run.start) % 3)
        while run.closes and run.left:
            at = len(stack) - 1
            while at >= hopeless.get(kind, 0) and not _fits(stack[at], run):
                at -= 1
            if at < hopeless.get(kind, 0):
                hopeless[kind] = len(stack)
                break
            opener = stack[at]
            _join(opener, run, keep)
            del stack[at + (1 if opener.left else 0) :]
            hopeless = {key: min(depth, len(stack)) for key, depth in hopeless.items()}
        if run.opens and run.left:
            stack.append(run)


def _fits(opener: _Run, closer: _Run) -> bool:
    if opener.sign != closer.sign:
        return False
    long, short = opener.end - opener.start, closer.end - closer.start
    # the rule of three: `a**b*c` shall not become bold by half
    return not ((opener.closes or closer.opens) and (long + short) % 3 == 0 and (long % 3 or short % 3))


def _join(opener: _Run, closer: _Run, keep: bool) -> None:
    width = 2 if opener.left >= 2 and closer.left >= 2 else 1
    opener.left -= width
    closer.left -= width
    if not keep:
        mark = ""
    elif width == 2:
        mark = "**"
    else:  # an underscore inside a word would mark nothing
        mark = "*" if opener.before.isalnum() or closer.after.isalnum() else "_"
    opener.opening.append(mark)
    closer.closing.append(mark)


def _unpaired(run: _Run, counts: Counter[str]) -> str:
    """Marks without a partner; kept are operators, names (`Sgr A*`), p values (`0.05**`) and lines to fill in."""
    if not run.left:
        return ""
    marks = run.sign * run.left
    if run.sign == "_":
        stays = (not run.opens and not run.closes) or run.left >= 4
    elif run.before.isspace() and run.after.isspace():
        stays = run.left == 1
    elif run.before.isalnum() and run.after.isalnum() and not CJK.match(run.before) and not CJK.match(run.after):
        stays = True
    else:
        named = run.left == 1 and (run.before.isalnum() or run.before == ")")
        stays = run.closes and not run.opens and (named or (run.left <= 3 and run.before.isdigit()))
    if stays:
        return marks
    counts["unpaired_marks"] += 1
    return ""
