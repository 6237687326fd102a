"""Finds lists of sources by their structure: under a heading, at the end without one, or line by line."""

import re
from bisect import bisect_left
from dataclasses import dataclass, field

from annotation.source_lists import named_citations, reference_entries, reference_headings
from annotation.source_lists.reference_tails import Lines, closing_list, numbered_tail
from annotation.texts.scripts import is_prose
from annotation.texts.spans import Span

_ENTRY = frozenset(("hard", "tagged", "soft", "numbered"))
_ASIDE = 120  # characters of prose between two entries that are no more than a remark
_PROSE_RUN = 300  # characters of prose inside or after a list that are worth keeping
_UNDERLINE = re.compile(r"[ \t]{0,3}(?:={2,}|-{2,})[ \t]*$")
_ADDRESS_ONLY = re.compile(
    r"[ \t>\ufdd0]*(?:[-*•·+][ \t]+|[0-9]{1,3}\\?[.)][ \t]+)?(?:URL:?[ \t]*)?<?(?:https?://"
    r"|www\.)[^\s<>]+>?[ \t.;,]*(?:\\?\[[0-9]{1,3}\\?\][ \t]*)*$",
    re.IGNORECASE,
)
_MARKED_ADDRESS = re.compile(
    r"[ \t>]*(?:[-*•·+][ \t]+)?\\?\[\^?[0-9]{1,3}\^?\\?\]\]?(?:[:：]"
    r"|[ \t])?[ \t]*(?:[^\n]{0,400}?[ \t(:<\[])?(?:https?://|www\.)\S+[^\w\n]*$"
    r"|[ \t>]*(?:[-*•·+][ \t]+)?\[?\\?\[\^?[0-9]{1,3}\^?\\?\]\]?\((?:https?://|www\.)\S+\)[ \t]*$",
    re.IGNORECASE,
)
_DEFINITION = re.compile(
    r"[ \t]{0,3}\\?\[[^\]\n^]{1,60}\\?\]:[ \t]*<?(?:https?://|www\.|#|/)\S*>?(?:[ \t]+[\"'(][^\n]*)?[ \t]*$",
    re.IGNORECASE,
)
_LABELLED = re.compile(r"[ \t>*_-]{0,6}[^\s:：*_][^\n:：*_]{1,40}[:：][*_]{0,2}[ \t]*(?:\\?\[|[^\n]{2,200}[*_][ \t]*$)")
_CLOSING_TAG = re.compile(r"[ \t>]*</(?:div|details|ol|ul|p|section)>[ \t]*$", re.IGNORECASE)
_OPENING_TAG = re.compile(r"[ \t>]*<(?:details|section|div)\b[^<>\n]*>[ \t]*$", re.IGNORECASE)
_NO_SOURCES = re.compile(
    r"[\W_]*(?:no|none|not|without|unfortunately|due to|as no|since no|there (?:are"
    r"|were) no)\b[^.\n]{0,120}\b(?:sources?|references?|citations?|urls?)\b"
    r"|[\W_]*(?:无|没有|未能|暂无)[^。\n]{0,40}(?:来源|参考|引用|文献)",
    re.IGNORECASE,
)


@dataclass
class Lists:
    """What was found: `spans` to delete, the `entries`, the `numbers` and `labels` they carry, weak headings kept."""

    spans: list[Span] = field(default_factory=list)
    numbers: set[int] = field(default_factory=set)
    entries: list[str] = field(default_factory=list)
    labels: set[str] = field(default_factory=set)
    blocks: int = 0
    kept_weak: int = 0
    numbered: bool = False  # the entries carry numbers of their own
    names: dict[str, set[str]] | None = None  # years by surname, as the text cites them; read when first needed


def find_lists(text: str, cited: frozenset[int] = frozenset()) -> Lists:
    """All lists of sources in `text`. `cited` are the numbers of bracket marks; linear in the length of `text`."""
    lines = Lines(text, cited)
    found = Lists()
    gone: set[int] = set()
    following = len(lines.text)  # the candidate below the present one: a plain announcement reaches no further
    for n in _candidates(lines):
        if n not in gone:
            _take_block(lines, n, following, gone, found)
        following = n
    _take_tail(lines, gone, found)
    _take_lone_lines(lines, gone, found)
    _number(found)
    return found


def _candidates(lines: Lines) -> list[int]:
    """Lines that announce sources, last first, so that an empty heading can see what follows it."""
    return [
        n
        for n in range(len(lines.text) - 1, -1, -1)
        if len(lines.text[n]) <= 120
        and _may_announce(lines.text[n])
        and reference_headings.announces_sources(lines.text[n])
    ]


def _may_announce(line: str) -> bool:
    """A cheap look: headings and bold lines, plain ones up to 60 characters, no table rows, no bullets, no blank."""
    first = line.lstrip(" \t>")[:2]
    if first[:1] in ("#", "*", "_", "&", "\\"):
        return first != "* "
    return len(line) <= 60 and first[:1] not in ("", "|", "-", "•", "+")


def _take_block(lines: Lines, start: int, following: int, gone: set[int], found: Lists) -> None:
    strength = reference_headings.announces_sources(lines.text[start])
    level = lines.levels.get(start, 0)
    first = start + 1
    if not level and first < len(lines.text) and _UNDERLINE.match(lines.text[first]):
        level, first = 2, first + 1
    end = _section_end(lines, first) if level else min(_section_end(lines, first), following)
    body = [n for n in range(first, end) if lines.grade(n) not in ("blank", "rule") and n not in gone]
    if not body and (last := _extend(lines, level, end)) > end:
        _claim(lines, start, last, set(range(start, last)), gone, found, heading=start)
        found.blocks += 1
        return
    if not body:
        rest_gone = end >= len(lines.text) or end in gone
        if level and rest_gone and (strength != "weak" or found.blocks):
            _claim(lines, start, end, set(range(start, end)), gone, found, heading=start)
        return
    if not level and not _opens_plainly(lines, start, body[0]):
        return
    named = level and strength != "weak"
    if not (_accepted(lines, body, strength or "weak", found) or (named and closing_list(lines, body, end, gone))):
        if named and (_points_at_list(lines, body, end, gone) or _lacks_list(lines, body, end, gone)):
            _claim(lines, start, body[-1] + 1, set(range(start, body[-1] + 1)), gone, found, heading=start)
        else:
            found.kept_weak += 1
        return
    last = _extend(lines, level, end)
    chosen = _entry_lines(lines, first, last)
    chosen |= set(range(start, first)) | _frame(lines, start, max(chosen))
    _claim(lines, start, last, chosen, gone, found, heading=start)
    found.blocks += 1


def _opens_plainly(lines: Lines, start: int, first: int) -> bool:
    """A line without any sign of a heading needs an entry right below; a numbered one may be a table of contents."""
    numbered = lines.text[start].lstrip()[:1].isdigit()
    below = reference_entries.grade(lines.text[first]) if numbered else lines.grade(first)
    return below in ("hard", "soft") and first - start <= 3 and "." not in lines.text[start][-3:]


def _points_at_list(lines: Lines, body: list[int], end: int, gone: set[int]) -> bool:
    """`(see Key Citations below)` under a heading, and the list itself directly after it."""
    after = body[-1] + 1
    while after < len(lines.text) and after not in gone and lines.grade(after) in ("blank", "rule"):
        after += 1
    return after in gone and after <= end and sum(len(lines.text[n]) for n in body) <= 160


def _lacks_list(lines: Lines, body: list[int], end: int, gone: set[int]) -> bool:
    """A closing note that no sources could be given: it takes the place of a list."""
    note = " ".join(lines.text[n] for n in body)
    return (end >= len(lines.text) or end in gone) and len(note) <= 800 and bool(_NO_SOURCES.match(note))


def _section_end(lines: Lines, first: int) -> int:
    at = bisect_left(lines.headings, first)
    return lines.headings[at] if at < len(lines.headings) else len(lines.text)


def _accepted(lines: Lines, body: list[int], strength: str, found: Lists) -> bool:
    grades = [lines.grade(n) for n in body]
    hard = grades.count("hard") / len(body)
    if strength == "strong":
        hard += grades.count("tagged") / len(body)
    soft = hard + grades.count("soft") / len(body)
    addresses = sum(reference_entries.has_address(lines.text[n]) for n in body) / len(body)
    if strength == "weak":
        return hard >= 0.6 or addresses >= 0.5 or (soft >= 0.6 and _cited_by_name(lines, body, found))
    if strength == "strong":
        soft += grades.count("numbered") / len(body)
    return soft >= 0.5 or hard >= 0.4


def _cited_by_name(lines: Lines, body: list[int], found: Lists) -> bool:
    """Does the text cite half of these entries as `(Surname, year)`? A subject's own works are not cited so."""
    found.names = years = named_citations.cited_names(lines.text) if found.names is None else found.names
    openings = ((named_citations.opening_name(lines.text[n]), lines.text[n]) for n in body)
    proven = {name for name, entry in openings if any(year in entry for year in years.get(name, ()))}
    return len(proven) >= 2 and 2 * len(proven) >= len(body)


def _extend(lines: Lines, level: int, end: int) -> int:
    """Take sub-headings (`### Books` under `## References`) whose sections are lists of sources too."""
    while end < len(lines.text) and level and lines.levels.get(end, 0) > level:
        following = _section_end(lines, end + 1)
        body = [n for n in range(end + 1, following) if lines.grade(n) not in ("blank", "rule")]
        if not body or sum(lines.grade(n) in ("hard", "soft", "tagged") for n in body) < 0.6 * len(body):
            break
        end = following
    return end


def _entry_lines(lines: Lines, first: int, end: int) -> set[int]:
    """The lines of a block that go: entries, what is between them, and no long prose."""
    chosen: set[int] = set()
    last, size, spoken = first - 1, 0, False  # last entry; since then: characters of text, whether in sentences
    for n in range(first, end):
        graded = lines.grade(n)
        if graded in _ENTRY and (graded == "hard" or not spoken or size <= _ASIDE):
            between = range(last + 1, n)
            chosen |= {n} | (_attached(lines, between) if spoken and size > _PROSE_RUN else set(between))
            last, size, spoken = n, 0, False
        elif graded == "rule" and last >= first:
            spoken, size = True, size + _ASIDE + 1  # what follows a rule must be an entry beyond doubt
        elif graded != "blank":
            size += len(lines.text[n])
            spoken = spoken or is_prose(lines.text[n])
    return chosen | _attached(lines, range(last + 1, end)) if last >= first else set(range(first, end))


def _frame(lines: Lines, start: int, last: int) -> set[int]:
    """`<details>` right above the heading and the closing tags right below the last entry."""
    below, taken = last + 1, set()
    while below < len(lines.text) and (_CLOSING_TAG.match(lines.text[below]) or not lines.text[below].strip()):
        taken |= set(range(last + 1, below + 1)) if lines.text[below].strip() else set()
        below += 1
    if taken and start and _OPENING_TAG.match(lines.text[start - 1]):
        taken.add(start - 1)
    return taken


def _attached(lines: Lines, between: range) -> set[int]:
    """Lines directly under an entry, without an empty line before them, that continue it."""
    taken: set[int] = set()
    for n in between:
        if lines.grade(n) != "text" or n in lines.levels:
            break
        if is_prose(lines.text[n]) and not lines.text[n][:1].isspace() and len(lines.text[n]) > 120:
            break
        taken.add(n)
    return taken


def _claim(
    lines: Lines, start: int, end: int, chosen: set[int], gone: set[int], found: Lists, heading: int | None = None
) -> None:
    for n in sorted(chosen):
        kind = "reference_heading" if n == heading or n in lines.levels else "reference_line"
        found.spans.append(lines.span(n, n, kind))
        if kind == "reference_line" and lines.grade(n) in _ENTRY:
            found.entries.append(lines.text[n])
    gone |= chosen


def _take_tail(lines: Lines, gone: set[int], found: Lists) -> None:
    """A list without heading at the very end: walk up over lines that can be nothing else."""
    entries: list[int] = []
    pending: list[int] = []
    for n in range(len(lines.text) - 1, -1, -1):
        line, near = lines.text[n], entries[-1] if entries else n
        titled = (
            n < near <= n + 2 and reference_entries.LEADING_MARKS.match(line) and _ADDRESS_ONLY.match(lines.text[near])
        )
        if n in gone or reference_entries.spacing(line):
            pending.append(n)
        elif _is_pure_entry(line) or (titled and (near == n + 1 or not is_prose(line))):
            entries.append(n)
            pending.clear()
        else:
            break
    if not entries and not found.blocks and (tail := numbered_tail(lines, gone)):
        _claim(lines, tail[0], tail[-1] + 1, set(tail), gone, found)
    if len(entries) >= 2 or (entries and found.blocks):
        above = [n for n in pending if n > 0 and "⁂" in lines.text[n]]
        chosen = (
            set(entries) | set(above) | {n for n in range(min(entries), max(entries)) if lines.grade(n) == "rule"}
        ) - gone
        _claim(lines, min(entries), max(entries) + 1, chosen, gone, found)


def _is_pure_entry(line: str) -> bool:
    return bool(
        _ADDRESS_ONLY.match(line)
        or _MARKED_ADDRESS.match(line)
        or _DEFINITION.match(line)
        or reference_entries.FOOTNOTE.match(line)
    )


def _take_lone_lines(lines: Lines, gone: set[int], found: Lists) -> None:
    """`[3] https://…`, `[3]: https://…`, `[^3]: …` and `References: https://…` wherever they are."""
    for n, line in enumerate(lines.text):
        if n in gone or not line or not _may_name_sources(line):
            continue
        if reference_entries.FOOTNOTE.match(line):
            last = n
            while last + 1 < len(lines.text) and re.match(r"(?: {2,}|\t)\S", lines.text[last + 1]):
                last += 1
            _claim(lines, n, last + 1, set(range(n, last + 1)) - gone, gone, found)
        elif (reference_entries.has_address(line) and (_MARKED_ADDRESS.match(line) or _DEFINITION.match(line))) or (
            _DEFINITION.match(line) or reference_entries.is_source_line(line)
        ):
            _claim(lines, n, n + 1, {n}, gone, found)


def _may_name_sources(line: str) -> bool:
    if ":" not in line and "：" not in line:
        return "www." in line
    is_short = len(line) < 60 and (":*" in line or ":." in line)
    addressed = "://" in line or "www." in line or "]:" in line or "]：" in line
    if is_short or addressed:
        return True
    return ("[" in line or line.rstrip(" \t").endswith(("*", "_"))) and _LABELLED.match(line) is not None


def _number(found: Lists) -> None:
    """Numbers of the entries; a list without numbers counts from one."""
    for entry in found.entries:
        found.numbers |= reference_entries.numbers_of(entry)
        if label := reference_entries.label_of(entry):
            found.labels.add(label)
    found.numbered = len(found.numbers) >= 0.3 * len(found.entries) > 0
    if found.entries and len(found.numbers) < 0.3 * len(found.entries):
        found.numbers |= set(range(1, min(len(found.entries), 999) + 1))
