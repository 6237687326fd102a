"""From a report's text to the text that is shown: a pure function of text, settings and versions."""

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from annotation.blinding import Flag, canonical_format, find_self_identification
from annotation.canonical.form import Layout
from annotation.citations import Span, Stripped, strip_citations
from annotation.leaks.self_identification import LOST
from annotation.protocol import Reports
from annotation.texts import scripts, spans
from plain.hashes import text_sha256

NOT_STRIPPED = "none"  # the version where the protocol leaves citations in
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

    @property
    def shown_sha256(self) -> str:
        """Of the shown text's UTF-8 bytes, hex."""
        return text_sha256(self.shown_text)

    @property
    def words(self) -> int:
        """Of the shown text, as `scripts.count_words` counts them."""
        return scripts.count_words(self.shown_text)

    @property
    def is_bare(self) -> bool:
        """Whether nothing but headings is left to read."""
        return not any(line.strip() and not line.startswith("#") for line in self.shown_text.split("\n"))

    def unresolved_flags(self) -> list[dict[str, Any]]:
        """The flags as they are stored: the owner's resolution (keep, mask, exclude) is still open."""
        return [{**asdict(flag), "resolution": None} for flag in self.flags]


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
    was converted, for its owner to decide about.
    """
    stripped = strip_citations(original) if settings.strip_citations else Stripped(original, (), (), NOT_STRIPPED)
    if restored:
        removed = tuple(span for span in stripped.removed if (span.start, span.end) not in restored)
        stripped = Stripped(spans.delete(original, removed), removed, stripped.warnings, stripped.version)
    formatted = canonical_format(stripped.text, title, layout)
    titled = layout in ("canonical", "plain") and bool(title.strip())
    after_title = formatted.text.find("\n") + 1 if titled else 0
    flags = tuple(flag for flag in find_self_identification(formatted.text, names) if flag.start >= after_title)
    left_behind = (Flag(0, 0, LOST, words) for words in lost)
    return Prepared(
        formatted.text, stripped.removed, formatted.changes, (*left_behind, *flags), stripped.warnings,
        stripped.version, formatted.version,
    )  # fmt: skip
