"""Takes the citations out of a report by deleting characters, and nothing else.

A report that shows its sources shows who wrote it: every system cites in its own style. The finders live in files of
their own; here is the order in which they look, and the law that all of them obey: the shown text is the report with
spans deleted, nothing inserted, nothing moved.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from annotation.blinding import find_provenance
from annotation.source_lists import named_citations, reference_lists
from annotation.stripping import (
    citation_links,
    citation_numbers,
    citation_signs,
    citation_tokens,
    copied_pages,
    table_sources,
    tidying,
)
from annotation.texts.figures import figure_zones
from annotation.texts.rare_signs import RareSigns, rare_signs
from annotation.texts.spans import GONE, Span, WorkingCopy, code_zones, delete, joined, math_zones

__all__ = ["VERSION", "Span", "Stripped", "strip_citations"]

# A closing note that sources are missing goes where it stands in place of the list. Summaries after a list, search
# talk inside the report, image captions and brackets that an export had already emptied stay.
# 2: headings and labels of more languages, numbers in round and curly brackets, numbered lists without a heading.
# 3: beside bracket marks, numbers glued to the stop that ends a line, and bare ones below a table or in a column that
# cites throughout; links named like a source at the end of a clause.
# 4: labels in parentheses that the list gives; PubMed numbers alone in a bracket; an entry's title and address apart.
# 5: numbers that were buttons of a chat page, labelled runs of links that end a passage, closing lists of bare titles.
# 6: names from the list in a bracket before a mark, linked numbers in a column of PubMed numbers or DOIs.
# 7: numbers glued to a closing bracket, labelled links that are a sentence within a paragraph, links joined by
# semicolons at a line's end, source ledgers.
# 8: cards of sources with `Opens in a new window`, names of sites with a count (`Reuters+2`), a retriever's numbers,
# links side by side in a table's cell, images by reference; a fence of plain text without sentences is code.
# 9: the head of a column whose sources went. 10: escaped brackets around words with `_` are no formula.
# 11: escaped marks beyond what is left of their list, names of sources alone in a bracket, images wherever they lie.
# 12: those marks only near a list that some of them name, names only where a clause or a line ends.
# 14: several names in one bracket, and a name of one word beside another bracket of names.
# 15: `†` and `‡` that the list has before its entries; `et al. (1)` where other numbers in round brackets cite.
# 16: several such signs in one mark, whole or not at all, and none that a note of the report explains; `*et al.* (1)`.
VERSION = "16"

_NO_MARK = frozenset(("reference_heading", "reference_line", "provenance", "space", "encoding"))
_MOST_PASSES = 8  # a deletion may expose a mark; two passes are the rule, nesting takes more
_ENCODING = re.compile(r"\A\ufeff+|\r+(?=\n)")
_DEFINED_LABEL = re.compile(r"\[([^\[\]\n^]{1,60}+)\]:[ \t]*\S")
_LEFT_ADDRESS = re.compile(r"https?://|www\.(?<=\bwww\.)[\w-]+\.")
_LEFT_NUMBER = re.compile(r"\[\^?[0-9]{1,3}(?:[,;–-][ ]?[0-9]{1,3})*\^?\\?\]")


@dataclass(frozen=True)
class Stripped:
    """A report without its citations. Deleting `removed` from the report gives `text` exactly."""

    text: str
    removed: tuple[Span, ...]  # offsets into the report, ascending, without overlap
    warnings: tuple[str, ...]  # for the study's owner, each with its count
    version: str


def strip_citations(markdown: str) -> Stripped:
    """Delete citations, lists of sources and traces of origin from `markdown`. Never raises; idempotent.

    Code and formulas are left as they are. Time is linear in the length of the report.
    """
    text = markdown
    removed: list[Span] = []
    first: _Pass | None = None
    rare = rare_signs(markdown)
    for _ in range(_MOST_PASSES):
        encoding = list(_encoding(text))
        current = _Pass(tuple(encoding), reference_lists.Lists(), 0) if encoding else _strip_once(text, rare)
        if first is None and not encoding:
            first = current
        if not current.spans:
            break
        removed = _merge(removed, current.spans)
        text = delete(markdown, removed)
    return Stripped(text, tuple(removed), _warnings(markdown, text, removed, first), VERSION)


@dataclass(frozen=True)
class _Pass:
    spans: tuple[Span, ...]
    lists: reference_lists.Lists
    marks: int


def _strip_once(text: str, rare: RareSigns) -> _Pass:
    copy = WorkingCopy(text)
    copy.claim(find_provenance(text))
    copy.shield([*figure_zones(copy.text), *code_zones(copy.text), *math_zones(copy.text)])
    copy.claim(citation_links.find_images(copy.text))
    labels = _defined_labels(copy.text)
    lists = reference_lists.find_lists(
        copy.text,
        citation_numbers.bracket_numbers(copy.text) | citation_numbers.raised_numbers(copy.text, rare.superscripts),
    )
    copy.claim(lists.spans)
    listed = frozenset(lists.numbers)
    copy.claim(copied_pages.find_cards(copy.text))
    copy.claim(citation_tokens.find_tokens(copy.text, rare.private_use))
    copy.claim([*copied_pages.find_chips(copy.text), *copied_pages.find_copied_marks(copy.text)])
    copy.claim(table_sources.find_linked_cells(copy.text))
    copy.claim(citation_links.find_links(copy.text, labels, lists.entries))
    copy.claim(citation_numbers.find_damaged(copy.text))
    bracketed = citation_numbers.find_marks(copy.text)
    judged = citation_numbers.profile(copy.text, bracketed, listed)
    copy.claim(citation_numbers.find_raised(copy.text, judged))
    copy.claim(citation_numbers.find_rounded(copy.text, judged) if lists.numbered else ())
    copy.claim(
        [*citation_numbers.find_glossed(copy.text, listed), *citation_numbers.find_labels(copy.text, lists.labels)]
    )
    copy.claim(citation_signs.find_signs(copy.text, lists.labels))
    copy.claim(citation_numbers.find_numbers(copy.text, bracketed, judged))
    copy.claim(named_citations.find_named_marks(copy.text, lists.entries))
    copy.claim(citation_links.find_addresses(copy.text))
    copy.claim(named_citations.find_author_years(copy.text, lists.entries))
    copy.claim(named_citations.find_source_keys(copy.text, lists.entries))
    copy.claim(table_sources.find_table_sources(copy.text, listed))
    copy.claim(table_sources.find_emptied_columns(copy.text))
    copy.claim(tidying.find_husks(copy.text))
    if GONE in copy.text:
        copy.claim(tidying.find_empty_lines(copy.exposed()))
    removed = copy.removed(tidying.find_blanks(copy.exposed()) if GONE in copy.text else ())
    return _Pass(removed, lists, sum(span.kind not in _NO_MARK for span in removed))


def _defined_labels(text: str) -> frozenset[str]:
    """Labels of link definitions: the `4` of a line `[4]: https://…`."""
    if "]:" not in text:
        return frozenset()
    at_line_start = (m for m in _DEFINED_LABEL.finditer(text) if not text[m.start() - 1 : m.start()].strip(" \t\n"))
    return frozenset(m[1].strip().lower() for m in at_line_start)


def _encoding(text: str) -> Iterator[Span]:
    """A byte order mark, and the carriage returns of CRLF; a lone one separates lines and stays."""
    if text.startswith("\ufeff") or "\r" in text:
        yield from (Span(m.start(), m.end(), "encoding") for m in _ENCODING.finditer(text))


def _merge(earlier: Sequence[Span], later: Sequence[Span]) -> list[Span]:
    """`later` are places in the text that `earlier` left; give all of them as places in the report."""
    if not earlier:
        return list(later)
    kept_starts: list[int] = []  # where kept pieces begin in the shortened text …
    origins: list[int] = []  # … and in the report
    place = shortened = 0
    for span in earlier:
        if span.start > place:
            kept_starts.append(shortened)
            origins.append(place)
            shortened += span.start - place
        place = span.end
    kept_starts.append(shortened)
    origins.append(place)
    pieces = list(earlier)
    for span in later:
        pieces += _moved(span, kept_starts, origins)
    return joined(sorted(pieces, key=lambda span: span.start))


def _moved(span: Span, kept_starts: list[int], origins: list[int]) -> Iterator[Span]:
    start = span.start
    at = bisect_right(kept_starts, start) - 1
    while start < span.end:
        stop = min(span.end, kept_starts[at + 1] if at + 1 < len(kept_starts) else span.end)
        origin = origins[at] + start - kept_starts[at]
        yield Span(origin, origin + stop - start, span.kind)
        start, at = stop, at + 1


def _warnings(report: str, text: str, removed: Sequence[Span], first: _Pass | None) -> tuple[str, ...]:
    warnings: list[str] = []
    share = 1 - len(text) / len(report) if report else 0.0
    if share > 0.4:
        warnings.append(f"{100 * share:.0f} % of the characters removed")
    if report.strip() and len(text.strip()) < 300:
        warnings.append(f"{len(text.strip())} characters left")
    counts = Counter(span.kind for span in removed)
    if "[" in text or "://" in text or "www." in text:
        copy = WorkingCopy(text)
        copy.shield([*figure_zones(text), *code_zones(text), *math_zones(text)])
        if addresses := len(_LEFT_ADDRESS.findall(copy.text)):
            warnings.append(f"{addresses} addresses left")
        if numbers := len(_LEFT_NUMBER.findall(copy.text)):
            warnings.append(f"{numbers} bracket numbers left")
    if first and first.lists.entries and not first.marks:
        warnings.append(f"a list of {len(first.lists.entries)} sources but no marks")
    if first and first.marks and not first.lists.entries:
        warnings.append(f"{first.marks} marks but no list of sources")
    if first and first.lists.kept_weak:
        warnings.append(f"{first.lists.kept_weak} headings of possible lists kept")
    if counts["provenance"]:
        warnings.append(f"{counts['provenance']} traces of origin removed")
    return tuple(warnings)
