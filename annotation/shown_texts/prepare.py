"""From a report's text to the text that is shown: a pure function of text, settings and versions."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from annotation.blinding import Flag, canonical_format, find_self_identification
from annotation.canonical.form import Layout
from annotation.citations import Span, Stripped, strip_citations
from annotation.documents.reading import WITHOUT_WORDS
from annotation.figures.pictures import Picture
from annotation.leaks.self_identification import FIGURE, LOST
from annotation.protocol import Reports
from annotation.texts import figures, scripts, spans
from plain.counting import counted
from plain.hashes import text_sha256

NOT_STRIPPED = "none"  # the version where the protocol leaves citations in
_WORDLESS = re.compile(
    r"(?P<linked>\[?)(?:!\[\s{0,9}\](?:\((?:[^()\n]|\([^()\n]{0,200}\)){0,3000}+\)|\[[^\[\]\n]{1,60}\])"
    r"|<img\b(?![^<>]{0,2000}\balt\s{0,9}=\s{0,9}(?:\"\s{0,9}[^\"\s]|'\s{0,9}[^'\s]|[^\s\"'>]))[^<>]{0,20000}+>)",
    re.IGNORECASE,
)
# the source of a drawing, which only a program of its own can draw
_DIAGRAM = re.compile(
    r"^[ \t>]{0,9}(?:`{3,}|~{3,})[ \t]*(?:mermaid|dot|graphviz|plantuml|puml|d2|vega(?:-lite)?)\b", re.M | re.I
)
SHORT = 50  # words; a shorter report is imported and warned about


@dataclass(frozen=True)
class Prepared:
    """The exact text that annotators read and judges receive, and how it came about."""

    shown_text: str
    removed: tuple[Span, ...]  # places in the original text
    changes: dict[str, int] = field(hash=False)  # what canonical format changed, counted by name
    flags: tuple[Flag, ...]  # places in the shown text
    warnings: tuple[str, ...]
    stripper_version: str
    canonical_version: str
    original_text: str = ""  # what the text was made from, with the marks of its pictures where these are shown
    pictures: Mapping[str, Picture] = field(default_factory=dict, hash=False)  # by name
    unshown: Mapping[str, int] = field(default_factory=dict, hash=False)  # pictures that could not be, by the reason

    @property
    def shown_sha256(self) -> str:
        """Of the shown text's UTF-8 bytes, hex."""
        return text_sha256(self.shown_text)

    @property
    def words(self) -> int:
        """Of the shown text, as `count_words` counts them."""
        return count_words(self.shown_text)

    @property
    def is_bare(self) -> bool:
        """Whether nothing but headings is left to read."""
        return not any(line.strip() and not line.startswith("#") for line in self.shown_text.split("\n"))

    def unresolved_flags(self) -> list[dict[str, Any]]:
        """The flags as they are stored: the owner's resolution (keep, mask, exclude) is still open."""
        return [{**asdict(flag), "resolution": None} for flag in self.flags]


def count_words(shown_text: str) -> int:
    """What there is to read, as `scripts.count_words` counts it; the name of a picture is no word."""
    return scripts.count_words(figures.MARKS.sub("", shown_text))


def images_without_words(markdown: str) -> tuple[str, ...]:
    """`2 figures without words` where images have no words to be shown in their place, code left alone; else nothing.

    An image that is a link's whole text is the sign of a site, and no figure.
    """
    if "![" not in markdown and "<img" not in markdown.lower():
        return ()
    copy = spans.WorkingCopy(markdown)
    copy.shield(spans.code_zones(copy.text))
    found = sum(not image["linked"] for image in _WORDLESS.finditer(copy.text))
    return (f"{counted(found, 'figure')} {WITHOUT_WORDS}",) if found else ()


def flagged_figures(shown_text: str, names: Collection[str]) -> tuple[Flag, ...]:
    """A flag wherever the text shows one of these pictures."""
    found = ((mark.start(), mark.end(), mark[1] or mark[2]) for mark in figures.MARKS.finditer(shown_text))
    return tuple(Flag(start, end, FIGURE, name) for start, end, name in found if name in names)


def diagrams(markdown: str) -> tuple[str, ...]:
    """`2 diagrams shown as source` where there are such; else nothing."""
    found = len(_DIAGRAM.findall(markdown))
    return (f"{counted(found, 'diagram')} shown as source",) if found else ()


def prepare_report(
    original: str,
    title: str,
    names: Iterable[str],
    settings: Reports,
    restored: Collection[tuple[int, int]] = (),
    *,
    layout: Layout,
    lost: Iterable[str] = (),
) -> Prepared:
    """Strip citations, then format, then flag, each as the protocol says. Running it again gives the same bytes.

    `title`: the topic's, which replaces the report's own from canonical layout on. `names`: public names and keys of
    the study's systems. The title names no author, being the same for every report, and is never flagged. `restored`:
    places of the original that its owner keeps although stripping removes them. `lost`: what became of a document that
    was converted, or of pictures, for its owner to decide about; else it is the images without words, which leave
    nothing behind. Diagrams are code, and are told of in either case.
    """
    stripped = strip_citations(original) if settings.strip_citations else Stripped(original, (), (), NOT_STRIPPED)
    if restored:
        removed = tuple(span for span in stripped.removed if (span.start, span.end) not in restored)
        stripped = Stripped(spans.delete(original, removed), removed, stripped.warnings, stripped.version)
    formatted = canonical_format(stripped.text, title, layout)
    titled = layout in ("canonical", "plain") and bool(title.strip())
    after_title = formatted.text.find("\n") + 1 if titled else 0
    flags = tuple(flag for flag in find_self_identification(formatted.text, names) if flag.start >= after_title)
    told = (*(tuple(lost) or images_without_words(original)), *diagrams(original))
    left_behind = (Flag(0, 0, LOST, words) for words in told)
    return Prepared(
        formatted.text, stripped.removed, formatted.changes, (*left_behind, *flags), stripped.warnings,
        stripped.version, formatted.version, original,
    )  # fmt: skip
