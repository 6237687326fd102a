"""Blanks, entities, escapes, quotes and dashes: changes to characters, wherever they stand."""

from __future__ import annotations

import html
import re
from collections import Counter
from html.entities import html5

from annotation.canonical.shelf import TOKEN
from annotation.stripping.protected import math_zones

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
