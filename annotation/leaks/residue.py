"""What citations and makers left behind in shown text; looked for outside code and formulas."""

from __future__ import annotations

import re
from dataclasses import dataclass

from annotation.stripping.protected import code_zones, math_zones
from annotation.stripping.reference_headings import announces_sources
from annotation.stripping.spans import WorkingCopy

_CONTEXT = 40  # characters around a hit, half of them before it

_PATTERNS = {
    "url": re.compile(r"https?://|\bwww\.[a-z0-9-]+\.", re.IGNORECASE),
    "bracket_number": re.compile(r"\\?\[\^?[0-9]{1,3}(?:\s{0,2}[,;，、–—-]\s{0,2}[0-9]{1,3}){0,30}\^?\\?\]"),
    "lenticular": re.compile(r"【[0-9][^】\n]{0,40}"),
    "tool_token": re.compile(
        r"oaicite|oai_citation|contentReference|cite(?:turn[0-9]|_start)|\[cite[:_]|turn[0-9]+(?:search|news|view|file)"
        r"[0-9]+|</?grok|<argument name=|grok_render|<reference |\[span_[0-9]|\[Source:|\[(?:web|post|memory"
        r"|attached_file):|[\ue000-\uf8ff]"
    ),
    "utm": re.compile(r"utm_[a-z]+=|referrer=|baike_source="),
    "ai_notice": re.compile(
        r"由\s?(?:AI|人工智能)\s?(?:自动|辅助)?生成|AI\s?生成|\bAI[- ]generated\b|\bgenerated (?:by|with) (?:an? )?AI\b"
        r"|</?think(?:ing)?>|<!--",
        re.IGNORECASE,
    ),
    "empty_bracket": re.compile(r"\[\s{0,3}\]\(|\(\s{0,3}\)|(?<![-*+] )\[\](?!\()|(?<![-*+] )\[[),;\s]{1,9}\]"),
    "gap": re.compile(r"(?<=[^\s|]) (?:,|\.(?![\w/.]))|,,|,\.(?!\w)"),
}
_HEADING = re.compile(r"^[ \t]{0,3}(?:#{1,6}[ \t]|\*\*|__)[^\n]{1,120}$", re.MULTILINE)
RESIDUE = (*_PATTERNS, "reference_heading")


@dataclass(frozen=True)
class Residue:
    """One hit: its report and system, its kind (one of `RESIDUE`), its place, and some forty characters around it."""

    report: str
    system: str
    kind: str
    start: int
    context: str


def find_residue(shown: str, report: str, system: str) -> tuple[Residue, ...]:
    """Every hit in the text `shown`, by place. `report` and `system` are copied into each."""
    copy = WorkingCopy(shown)
    copy.shield([*code_zones(copy.text), *math_zones(copy.text)])
    found = [(match.start(), match.end(), kind) for kind, p in _PATTERNS.items() for match in p.finditer(copy.text)]
    for heading in _HEADING.finditer(copy.text):
        if announces_sources(heading[0]) in ("strong", "medium"):
            found.append((heading.start(), heading.end(), "reference_heading"))
    return tuple(Residue(report, system, kind, start, _around(shown, start, end)) for start, end, kind in sorted(found))


def _around(text: str, start: int, end: int) -> str:
    before = max(0, start - max(0, _CONTEXT - (end - start)) // 2)
    return " ".join(text[before : before + _CONTEXT].split())
