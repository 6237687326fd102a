"""How a report is laid out, as numbers: what a classifier could recognise a system by without reading a word."""

from __future__ import annotations

import re

from annotation.canonical.characters import CJK
from annotation.stripping.scripts import count_words

_PATTERNS = {
    **{f"headings_{level}": rf"^[ \t]{{0,3}}#{{{level}}}[ \t]" for level in range(1, 7)},
    "bullets_dash": r"^[ \t]*+-[ \t]+\S",
    "bullets_star": r"^[ \t]*+\*[ \t]+\S",
    "bullets_plus": r"^[ \t]*+\+[ \t]+\S",
    "bullets_dot": r"^[ \t]*+[•◦▪●–][ \t]*\S",
    "numbered_items": r"^[ \t]*+[0-9]{1,9}[.)][ \t]",
    "bold": r"\*\*(?=\S)[^*\n]{1,300}\*\*|__(?=\S)[^_\n]{1,300}__",
    "italic": r"(?<![*\w])\*(?=[^\s*])[^*\n]{1,300}\*(?!\*)|(?<![_\w])_(?=[^\s_])[^_\n]{1,300}_(?![_\w])",
    "table_rows": r"^[ \t]*+\|",
    "quote_lines": r"^[ \t]{0,3}>",
    "rules": r"^[ \t]{0,3}(?:-[ \t]*-[ \t]*-|\*[ \t]*\*[ \t]*\*|_[ \t]*_[ \t]*_)[-*_ \t]*$",
    "curly_quotes": r"[“”„‟‘’‚‛]",
    "straight_quotes": r"[\"']",
    "en_dashes": r"–",
    "em_dashes": r"—",
    "parentheses": r"[(（]",
    "gaps": r"\S +(?:[,;]|\.(?!\w)|[:!?](?!\w))",
    "escapes": r"\\[!-/:-@\[-`{-~]",
    "two_space_ends": r"\S {2,}$",
}
_COMPILED = {name: re.compile(pattern, re.MULTILINE) for name, pattern in _PATTERNS.items()}
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]{0,3}\s|[。！？]")
FORMATTING = ("characters", "words", *_PATTERNS, "mean_paragraph", "mean_sentence", "cjk_share", "title_line")


def formatting_counts(markdown: str) -> dict[str, float]:
    """The layout of `markdown` as counts, always the same names in the same order (`FORMATTING`).

    Counts are of whole texts, not per word. `words`: runs of non-blank characters; `mean_paragraph`: characters per
    stretch between empty lines; `mean_sentence`: characters per sentence; `cjk_share`: of all characters, 0 to 1;
    `title_line`: 1 when the first line that holds text is a `#` heading. All are 0 for an empty text.
    """
    text = markdown.strip()
    counts = {name: float(sum(1 for _ in pattern.finditer(markdown))) for name, pattern in _COMPILED.items()}
    paragraphs = [part for part in _PARAGRAPH_END.split(text) if part]
    sentences = sum(1 for _ in _SENTENCE_END.finditer(text)) + 1
    return {
        "characters": float(len(markdown)),
        "words": float(count_words(markdown)),
        **counts,
        "mean_paragraph": sum(map(len, paragraphs)) / len(paragraphs) if paragraphs else 0.0,
        "mean_sentence": len(text) / sentences if text else 0.0,
        "cjk_share": sum(1 for _ in CJK.finditer(markdown)) / len(markdown) if markdown else 0.0,
        "title_line": float(text.startswith("# ")),
    }
