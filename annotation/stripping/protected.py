"""Code and mathematics: zones of a report in which brackets, numbers and headings mean something else."""

from __future__ import annotations

import re

from annotation.stripping.reference_entries import is_prose

_FENCE = re.compile(r"^[ \t]{0,3}(?:>[ \t]?)?(`{3,}|~{3,})([^\n`]*)$", re.MULTILINE)
_MARKDOWN = {"markdown", "md"}  # a whole report wrapped in a fence is no code
_PLAIN = {"text", "txt", "plaintext"}  # nor is one with sentences in it
_INLINE_CODE = re.compile(r"(?<!`)(?:`[^`\n]{1,500}+`|``(?:[^`\n]|`(?!`)){1,500}+``)(?!`)")
_DOLLARS = re.compile(r"(?<![\\$])\$(?![\s$])([^$\n]{1,300}+)(?<!\s)\$(?![0-9$])")
_BACKSLASHED = re.compile(
    r"\\\(((?:[^\\\n]|\\(?![()])){1,400}+)\\\)|\\\[((?:[^\\\n]|\\(?![\[\]])|\n(?!\n)){1,800}+)\\\]"
)
# a command of TeX, not a sign that Markdown escapes; `_` between two words is no index: \(Royal\_Navy_officer\)
_FORMULA = re.compile(r"\\[A-Za-z,;!{|\\]|[\^={}]|(?<![^\W_]{2})(?<!\\)_|_[0-9]\b|^\s*[A-Za-z]\s*$")
_CITATION_INSIDE = re.compile(r"https?:|\]\(|[0-9]\\?\]\\?\[|[A-Za-z.,]\\?\[[0-9]{1,3}\]")
_BRACKETED_NUMBERS = re.compile(r"[\s\^0-9,;，、–—-]*")


def code_zones(text: str) -> list[tuple[int, int]]:
    """Fenced blocks (an unclosed fence protects nothing) and inline code, as (start, end), ascending per kind."""
    zones: list[tuple[int, int]] = []
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text) if "```" in text or "~~~" in text else ():
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]) and not fence[2].strip():
            if not _is_report(opened[2].strip().lower(), text[opened.end() : fence.start()]):
                zones.append((opened.start(), fence.end()))
            opened = None
    if "`" in text:
        zones += [match.span() for match in _INLINE_CODE.finditer(text)]
    return zones


def _is_report(language: str, inside: str) -> bool:
    return language in _MARKDOWN or (language in _PLAIN and any(map(is_prose, inside.split("\n"))))


def math_zones(text: str) -> list[tuple[int, int]]:
    r"""`$$…$$`, `\(…\)`, `\[…\]` and `$…$` that hold a formula; `$5 and $7` is money and `\[39\]` a citation."""
    zones: list[tuple[int, int]] = []
    if "$" in text:
        start = text.find("$$")
        while start >= 0:
            end = text.find("$$", start + 2, start + 2000)
            if end >= 0 and "http" not in text[start:end]:
                zones.append((start, end + 2))
            start = text.find("$$", (end if end >= 0 else start) + 2)
        zones += [m.span() for m in _DOLLARS.finditer(text) if _is_formula(m[1])]
    if "\\(" in text or "\\[" in text:
        for match in _BACKSLASHED.finditer(text):
            inside = match[1] or match[2]
            if _is_formula(inside) and not _BRACKETED_NUMBERS.fullmatch(inside.replace("\\", "")):
                zones.append(match.span())
    return zones


def _is_formula(inside: str) -> bool:
    return bool(_FORMULA.search(inside)) and not _CITATION_INSIDE.search(inside)
