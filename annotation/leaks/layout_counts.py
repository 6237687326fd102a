"""The layout of a text as counts: what a classifier of formatting is given, and where such signs are."""

import re
from typing import Any

from annotation.canonical.characters import CJK
from annotation.texts.scripts import count_words

# name -> what is counted, and the signs of which a text with any holds one: most texts are never searched
_COUNTED: dict[str, tuple[str, tuple[str, ...]]] = {
    **{f"headings_{level}": (rf"^[ \t]{{0,3}}#{{{level}}}[ \t]", ("#" * level,)) for level in range(1, 7)},
    "bullets_dash": (r"^[ \t]*+-[ \t]+\S", ("-",)),
    "bullets_star": (r"^[ \t]*+\*[ \t]+\S", ("*",)),
    "bullets_plus": (r"^[ \t]*+\+[ \t]+\S", ("+",)),
    "bullets_dot": (r"^[ \t]*+[•◦▪●–][ \t]*\S", tuple("•◦▪●–")),
    "numbered_items": (r"^[ \t]*+[0-9]{1,9}[.)][ \t]", (". ", ".\t", ") ", ")\t")),
    "bold": (r"\*\*(?=\S)[^*\n]{1,300}\*\*|__(?=\S)[^_\n]{1,300}__", ("**", "__")),
    "italic": (
        r"\*(?<![*\w]\*)(?=[^\s*])[^*\n]{1,300}\*(?!\*)|_(?<![_\w]_)(?=[^\s_])[^_\n]{1,300}_(?![_\w])",
        ("*", "_"),
    ),
    "table_rows": (r"^[ \t]*+\|", ("|",)),
    "quote_lines": (r"^[ \t]{0,3}>", (">",)),
    "rules": (
        r"^[ \t]{0,3}(?:-[ \t]*-[ \t]*-|\*[ \t]*\*[ \t]*\*|_[ \t]*_[ \t]*_)[-*_ \t]*$",
        ("--", "**", "__", "- ", "* ", "_ ", "-\t", "*\t", "_\t"),
    ),
    "curly_quotes": (r"[“”„‟‘’‚‛]", tuple("“”„‟‘’‚‛")),
    "straight_quotes": (r"[\"']", ('"', "'")),
    "en_dashes": (r"–", ("–",)),
    "em_dashes": (r"—", ("—",)),
    "parentheses": (r"[(（]", ("(", "（")),
    "gaps": (r"\S +(?:[,;]|\.(?!\w)|[:!?](?!\w))", (" ,", " ;", " .", " :", " !", " ?")),
    "escapes": (r"\\[!-/:-@\[-`{-~]", ("\\",)),
    "two_space_ends": (r" {2}(?<=\S {2}) *$", ("  ",)),
}
PATTERNS = {name: (re.compile(pattern, re.MULTILINE), signs) for name, (pattern, signs) in _COUNTED.items()}
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]{0,3}\s|[。！？]")
FORMATTING = ("characters", "words", *PATTERNS, "mean_paragraph", "mean_sentence", "cjk_share", "title_line")
PER_WORD = FORMATTING[2:]


def formatting_counts(markdown: str) -> dict[str, float]:
    """The layout of `markdown` as counts, always the same names in the same order (`FORMATTING`).

    Counts are of whole texts, not per word. `words`: runs of non-blank characters; `mean_paragraph`: characters per
    stretch between empty lines; `mean_sentence`: characters per sentence; `cjk_share`: of all characters, 0 to 1;
    `title_line`: 1 when the first line that holds text is a `#` heading. All are 0 for an empty text.
    """
    text = markdown.strip()
    paragraphs = [part for part in _PARAGRAPH_END.split(text) if part]
    sentences = len(_SENTENCE_END.findall(text)) + 1
    return {
        "characters": float(len(markdown)),
        "words": float(count_words(markdown)),
        **{name: _count(markdown, *counted) for name, counted in PATTERNS.items()},
        "mean_paragraph": sum(map(len, paragraphs)) / len(paragraphs) if paragraphs else 0.0,
        "mean_sentence": len(text) / sentences if text else 0.0,
        "cjk_share": 0.0 if markdown.isascii() else len(CJK.findall(markdown)) / len(markdown),
        "title_line": float(text.startswith("# ")),
    }


def per_word(counts: Any) -> Any:
    """Formatting without length: each sign of `PER_WORD` in 1,000 words, means, shares and titles as they are.

    A title is there once whatever the length, so that its rate would tell the length and nothing else. `counts`: shape
    (texts, FORMATTING); the answer: shape (texts, PER_WORD). A text without words counts as one word.
    """
    import numpy as np

    words = np.maximum(counts[:, FORMATTING.index("words")], 1)[:, None]
    is_counted = np.asarray([name in PATTERNS and name != "headings_1" for name in PER_WORD])
    return np.where(is_counted, counts[:, 2:] * 1000 / words, counts[:, 2:])


def _count(text: str, pattern: re.Pattern[str], signs: tuple[str, ...]) -> float:
    return float(len(pattern.findall(text))) if any(sign in text for sign in signs) else 0.0
