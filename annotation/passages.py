"""Which passage of the other report is most alike: TF-IDF cosine between the top-level blocks of two reports."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from annotation.rendering import CACHED, RENDERER_VERSION, Block, report_blocks
from annotation.texts.scripts import UNSPACED

ALIKE = 0.15  # cosine; 95 of 100 blocks of reports on different topics (Wiki Live Challenge sample) stay below it
DIGITS = 9  # of a cosine that count
HEADING = 3  # times a heading counts: so 81 of 100 paragraphs find the section of the same name there, not 69
STEM = 6  # letters of a word that count, so that "erosion" meets "erosive"
WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Passages:
    """For every block of A the index of the most alike block of B, and the other way round; None where none is."""

    a: tuple[int | None, ...]
    b: tuple[int | None, ...]


def alike_passages(a_blocks: Sequence[Block], b_blocks: Sequence[Block]) -> Passages:
    """The most alike block of the other report for each block, of cosine at least ALIKE; the first of equals.

    A heading stands for the section it opens, other blocks carry the headings above them. Not monotone: sections may
    be in another order. A block without words is like none.
    """
    cosines = _cosines(_in_context(a_blocks), _in_context(b_blocks))
    if cosines is None:
        return Passages((None,) * len(a_blocks), (None,) * len(b_blocks))
    best = [tuple(int(row.argmax()) if row.max() >= ALIKE else None for row in rows) for rows in (cosines, cosines.T)]
    return Passages(*best)


@lru_cache(maxsize=CACHED)
def compare_reports(a: str, b: str) -> Passages:
    """The alike passages of two reports, given as Markdown."""
    return alike_passages(report_blocks(a), report_blocks(b))


def nearest(texts: Sequence[str], others: Sequence[str], most: int) -> list[list[int]]:
    """For each text the indices of the `most` others most like it by TF-IDF cosine, the likest first; none of 0."""
    cosines = _cosines(texts, others)
    if cosines is None:
        return [[] for _ in texts]
    return [[int(index) for index in (-row).argsort(kind="stable")[:most] if row[index] > 0] for row in cosines]


def _cosines(texts: Sequence[str], others: Sequence[str]) -> Any:
    """By TF-IDF, shape (texts, others); None where one side has no word."""
    terms = [[_terms(text) for text in side] for side in (texts, others)]
    if not all(map(any, terms)):
        return None
    from sklearn.feature_extraction.text import TfidfVectorizer

    weights = TfidfVectorizer(analyzer=list, sublinear_tf=True).fit_transform([*terms[0], *terms[1]])
    # equal cosines differ in their last digits by the order of summing: A against B chose another than B against A
    return (weights[: len(texts)] @ weights[len(texts) :].T).toarray().round(DIGITS)


def to_stored(passages: Passages, a_sha256: str, b_sha256: str) -> dict[str, Any]:
    """What `items.passages` holds: with the texts and the renderer the indices belong to."""
    return {"renderer": RENDERER_VERSION, "texts": [a_sha256, b_sha256], **asdict(passages)}


def turned(stored: dict[str, Any] | None) -> dict[str, Any] | None:
    """What is stored for A and B, as it is stored for B and A."""
    return stored and {**stored, "texts": stored["texts"][::-1], "a": stored["b"], "b": stored["a"]}


def from_stored(stored: dict[str, Any] | None, a_sha256: str, b_sha256: str) -> Passages | None:
    """None where nothing is stored, or where it belongs to other texts or another renderer."""
    if stored is None or (stored["renderer"], stored["texts"]) != (RENDERER_VERSION, [a_sha256, b_sha256]):
        return None
    return Passages(tuple(stored["a"]), tuple(stored["b"]))


def _in_context(blocks: Sequence[Block]) -> list[str]:
    texts: list[str] = []
    above: list[tuple[str, str, int]] = []  # tag, text and index of the headings a block stands under
    for index, block in enumerate(blocks):
        if block.is_heading:
            above = [heading for heading in above if heading[0] < block.tag]
            above.append((block.tag, block.text, index))
            texts.append(f"{block.text} " * HEADING)
        elif not WORD.search(block.text):
            texts.append("")  # a rule between sections
        else:
            texts.append(block.text + "".join(f" {text}" for _, text, _ in above) * HEADING)
            if above:
                texts[above[-1][2]] += block.text + " "
    return texts


def _terms(text: str) -> list[str]:
    letters = unicodedata.normalize("NFKD", text.casefold())
    folded = unicodedata.normalize("NFC", "".join(c for c in letters if not unicodedata.combining(c)))
    terms = []
    for word in WORD.findall(folded):
        terms += [part[:STEM] for part in UNSPACED.split(word) if part]
        for run in UNSPACED.findall(word):
            terms += [run[at : at + 2] for at in range(max(1, len(run) - 1))]
    return terms
