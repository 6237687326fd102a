"""The audit's records, and what it counts: shares removed, gaps, traces in shown text, the sentence for the paper."""

import itertools
import math
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from annotation.source_lists.reference_headings import announces_sources
from annotation.texts.spans import WorkingCopy, code_zones, math_zones
from plain.wording import several, worded, worded_of

FURTHEST = 5  # median absolute deviations from a system's median share
LEAST = 0.01  # of the characters: where all shares are alike the deviation is 0 and a comma would stand out
FEWEST_SYSTEMS, FEWEST_TOPICS = 2, 5
MOST_UNEQUAL = 4.0  # the longer report of a pair over the shorter
TEXTS = ("original", "stripped", "shown")
NO_INTERVAL = (math.nan, math.nan)


@dataclass(frozen=True)
class AuditedReport:
    """One report as the audit reads it. `key` names it to the study's owner, never to an annotator."""

    key: str
    topic: str
    system: str
    is_reference: bool
    original: str
    stripped: str
    shown: str
    removed_characters: int
    warnings: tuple[str, ...] = ()
    status: str = "ready"  # ready, empty or excluded
    unresolved_flags: int = 0
    kept: tuple[str, ...] = ()  # the kind of every flag whose words the owner kept
    masked: tuple[str, ...] = ()
    title: str = ""  # the topic's
    is_planned: bool = False  # it stands in an item
    form: str = ""  # the canonical version of `shown`; empty where somebody changed it by hand
    has_citations: bool = False  # nothing was stripped, as the protocol asks: marks and lists stand in what is shown


@dataclass(frozen=True)
class RemovedShare:
    """The share of characters that stripping took from one system's reports, 0 to 1, and who is far outside."""

    system: str
    is_reference: bool
    reports: int
    minimum: float
    median: float
    maximum: float
    outliers: tuple[str, ...]  # keys of reports beyond 5 median absolute deviations, and 1 % of the characters
    warnings: dict[str, tuple[str, ...]] = field(hash=False)  # report -> what stripping warned about


@dataclass(frozen=True)
class Identification:
    """How often a classifier names the right system from one kind of text. Shares are 0 to 1."""

    text: str  # original, stripped or shown; or a layout, for what it would leave of the stripped text
    features: str  # formatting (which includes length), formatting_per_word (which does not), words, length or all
    accuracy: float  # over all reports, each named by a classifier that saw no report on its topic
    recall: dict[str, float] = field(hash=False)  # system -> share of its reports that were named
    reader: str = ""  # the classifier that named most, one of `system_classifier.READERS`
    right_by_topic: dict[str, int] = field(default_factory=dict, hash=False)  # topic -> reports named right
    interval: tuple[float, float] = NO_INTERVAL  # of the accuracy, over topics
    recall_intervals: dict[str, tuple[float, float]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Sign:
    """A feature that speaks for a system, in its reports and in the others' (mean of a report), and where it is."""

    system: str
    kind: str  # word or formatting
    name: str  # the word, or one of `system_classifier.FORMATTING`
    own: float
    others: float
    report: str  # where there is most of it
    passage: str  # empty for what is rarer than elsewhere


@dataclass(frozen=True)
class Gaps:
    """What is not there or not comparable. Reports are named by their keys."""

    missing: tuple[tuple[str, str], ...]  # system, topic
    empty: tuple[str, ...]
    excluded: tuple[str, ...]
    unresolved_flags: tuple[str, ...]
    duplicates: tuple[tuple[str, ...], ...]  # same shown text
    unequal: tuple[tuple[str, str, float], ...]  # longer, shorter, ratio of their characters, beyond 4
    layouts: tuple[tuple[str, int], ...]  # what laid them out, and how many; none where it is one


@dataclass(frozen=True)
class Residue:
    """One hit: its report and system, its kind (one of `RESIDUE`), its place, and some forty characters around it."""

    report: str
    system: str
    kind: str
    start: int
    context: str


@dataclass(frozen=True)
class Hidden:
    """What the claim of the reports that raters read is qualified by: counts by kind, and reports."""

    kept: dict[str, int] = field(hash=False)  # flagged words that stayed, as content
    masked: dict[str, int] = field(hash=False)
    traces: dict[str, int] = field(hash=False)  # residue of reports whose citations were stripped
    cited: int  # reports in which marks and lists stand, of `read`
    read: int
    is_all_stripped: bool  # of all reports, read or not


@dataclass(frozen=True)
class BlindingAudit:
    """Everything that `calipers audit` prints. It measures leakage; it does not gate."""

    reports: int
    systems: int
    topics: int
    residue: tuple[Residue, ...]
    residue_counts: dict[str, dict[str, int]] = field(hash=False)  # system -> kind -> hits, zeros included
    removed: tuple[RemovedShare, ...]
    identification: tuple[Identification, ...]  # empty when refused
    giveaways: tuple[Sign, ...]  # five of each system; empty when refused
    guessed: int  # reports whose system classifiers named: of very many an even draw
    chance: float  # the largest system's share of those; NaN without reports
    by_luck: float  # what the best of four names that only guess; NaN when refused
    refused: str  # why identification was not computed, or empty
    gaps: Gaps
    undecided: int  # passages of reports in planned items, of all while none is planned
    hidden: Hidden
    seed: int
    is_whole: bool = True  # what each layout would leave, and what gives each system away, were measured
    texts_sha256: str = ""  # of the texts and what they were measured with; the same for the same figures

    @property
    def sentence(self) -> str:
        """What a paper may claim, with the figures found: label-blind, not style-blind, and by how much.

        While passages are undecided, that it may not yet. In the language that is set.
        """
        return _claim(self)


def removed_shares(reports: Iterable[AuditedReport]) -> tuple[RemovedShare, ...]:
    """Per system, by name. Reports without any text have no share and are left out."""
    by_system: dict[str, list[AuditedReport]] = defaultdict(list)
    for report in reports:
        if report.original:
            by_system[report.system].append(report)
    return tuple(_removed(system, by_system[system]) for system in sorted(by_system))


def _removed(system: str, reports: Sequence[AuditedReport]) -> RemovedShare:
    shares = [report.removed_characters / len(report.original) for report in reports]
    median = statistics.median(shares)
    spread = statistics.median(abs(share - median) for share in shares)
    outliers = tuple(
        report.key
        for report, share in zip(reports, shares, strict=True)
        if abs(share - median) > max(FURTHEST * spread, LEAST)
    )
    warnings = {report.key: report.warnings for report in reports if report.warnings}
    return RemovedShare(
        system, any(report.is_reference for report in reports), len(reports), min(shares), median, max(shares),
        outliers, warnings,
    )  # fmt: skip


def find_gaps(reports: Sequence[AuditedReport]) -> Gaps:
    """Missing reports are those of a system on a topic that another system has."""
    ready = [report for report in reports if report.status == "ready" and report.shown.strip()]
    have = {(report.system, report.topic) for report in reports}
    missing = tuple(
        (system, topic)
        for system, topic in itertools.product(sorted({s for s, _ in have}), sorted({t for _, t in have}))
        if (system, topic) not in have
    )
    layouts = Counter(report.form for report in ready if report.form)
    same: dict[str, list[str]] = defaultdict(list)
    by_topic: dict[str, list[AuditedReport]] = defaultdict(list)
    for report in ready:
        same[report.shown].append(report.key)
        by_topic[report.topic].append(report)
    return Gaps(
        missing=missing,
        empty=tuple(r.key for r in reports if r.status == "empty" or (r.status == "ready" and not r.shown.strip())),
        excluded=tuple(report.key for report in reports if report.status == "excluded"),
        unresolved_flags=tuple(report.key for report in reports if report.unresolved_flags),
        duplicates=tuple(tuple(keys) for keys in same.values() if len(keys) > 1),
        unequal=tuple(pair for topic in sorted(by_topic) for pair in _unequal(by_topic[topic])),
        layouts=tuple(sorted(layouts.items())) if len(layouts) > 1 else (),
    )


def _unequal(reports: Sequence[AuditedReport]) -> Iterable[tuple[str, str, float]]:
    for one, other in itertools.combinations(reports, 2):
        longer, shorter = sorted((one, other), key=lambda report: len(report.shown), reverse=True)
        ratio = len(longer.shown) / len(shorter.shown)
        if ratio > MOST_UNEQUAL:
            yield longer.key, shorter.key, ratio


def read_by_raters(reports: Sequence[AuditedReport]) -> Sequence[AuditedReport]:
    """The planned ones, of which a paper speaks; all while none is planned."""
    return [report for report in reports if report.is_planned] or reports


def percent(share: float) -> str:
    """For a sentence of a paper: no line ends before the sign."""
    return f"{100 * share:.0f}\u00a0%"


def hidden_of(reports: Sequence[AuditedReport], residue: Sequence[Residue]) -> Hidden:
    """Of the planned ones of `reports`, of all while none is planned."""
    read = read_by_raters(reports)
    kept, masked = Counter[str](), Counter[str]()
    for report in read:
        kept.update(report.kept)
        masked.update(report.masked)
    stripped = {report.key for report in read if not report.has_citations}
    traces = Counter(hit.kind.replace("_", " ") for hit in residue if hit.report in stripped)
    cited = sum(report.has_citations for report in read)
    return Hidden(kept, masked, traces, cited, len(read), not any(report.has_citations for report in reports))


def refusal(systems: int, topics: int) -> str:
    """Why classifiers are not asked, "" where they are."""
    if systems < FEWEST_SYSTEMS:
        return worded(
            "too few systems: {systems}, at least {fewest} are needed", systems=systems, fewest=FEWEST_SYSTEMS
        )
    if topics < FEWEST_TOPICS:
        return worded("too few topics: {topics}, at least {fewest} are needed", topics=topics, fewest=FEWEST_TOPICS)
    return ""


def _claim(audited: BlindingAudit) -> str:
    if audited.undecided:
        return worded_of(
            audited.undecided,
            "Not blind yet: 1 passage that may name a report's maker waits for a decision. What a paper may claim "
            "stands here once all are decided.",
            "Not blind yet: {n:,} passages that may name a report's maker wait for a decision. What a paper may claim "
            "stands here once all are decided.",
        )
    hidden = _hidden(audited.hidden)
    opening = worded(
        "Reports were label-blind, not style-blind: raters saw {hidden} length and style remain", hidden=hidden
    )
    if audited.refused:
        refused = "{opening}; how far they give a system away was not measured ({why})."
        return worded(refused, opening=opening, why=refusal(audited.systems, audited.topics))
    share = {(item.text, item.features): _share(item) for item in audited.identification}
    before = worded("{share} in the original", share=share["original", "formatting"])
    if audited.hidden.is_all_stripped:
        before += worded(" and {share} with citations removed", share=share["stripped", "formatting"])
    guessed, reports = audited.guessed, audited.reports
    drawn = worded(" ({reports:,} reports)", reports=reports)
    if guessed < reports:
        drawn = worded(" ({guessed:,} of {reports:,} reports, drawn evenly)", guessed=guessed, reports=reports)
    return worded(
        "{opening}: over {systems} systems and {topics} topics{drawn}, the best of four standard classifiers names the "
        "system of the text as shown from its formatting in {formatting} of cases (without length in {per_word}), "
        "from its words in {words}, from both in {both} and from its length alone in {length} (chance {chance}, "
        "the best of four that only guess {by_luck}; {told}from formatting, {before}).",
        opening=opening, systems=audited.systems, topics=len(audited.identification[0].right_by_topic),
        drawn=drawn, formatting=share["shown", "formatting"],
        per_word=share["shown", "formatting_per_word"], words=share["shown", "words"], both=share["shown", "all"],
        length=share["shown", "length"], chance=percent(audited.chance), before=before,
        by_luck=percent(audited.by_luck),
        told=worded("brackets: 95\u00a0% intervals over topics; ") * ("[" in share["shown", "formatting"]),
    )  # fmt: skip


def _share(found: Identification) -> str:
    """With its interval where it has one."""
    low, high = found.interval
    told = "" if math.isnan(low) else f" [{100 * low:.0f}, {100 * high:.0f}]"
    return percent(found.accuracy) + told


def _hidden(found: Hidden) -> str:
    """What raters did not see, but for what is in the shown texts by the owner's decision, or was not found."""
    nothing = "no system names or traces of origin" if found.cited else "no system names, citations or traces of origin"
    told = [worded(nothing)]
    if found.kept:
        told.append(worded("but for {passages} kept as content by decision", passages=_kinds(found.kept, "passage")))
    if found.masked:
        told.append(worded("{names} shown as [system]", names=_kinds(found.masked, "name")))
    if found.traces:
        traces = _kinds(found.traces, "place")
        told.append(worded("but for {places} that may be traces of citations or origin", places=traces))
    nothing = told[0] + "".join(worded(", {also}", also=also) for also in told[1:])
    hidden = worded("{nothing}; but" if len(told) > 1 else "{nothing}, but", nothing=nothing)
    if not found.cited:
        return hidden
    some = worded(" (in {cited:,} of {read:,} reports)", cited=found.cited, read=found.read)
    return worded("{hidden} citations{some},", hidden=hidden, some=some if found.cited < found.read else "")


def _kinds(counts: dict[str, int], noun: str) -> str:
    """`3 passages (search 2, product 1)`"""
    named = worded(", ").join(
        f"{worded(kind)} {count:,}" for kind, count in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    )
    return worded("{number} ({named})", number=several(sum(counts.values()), noun), named=named)


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
    "empty_bracket": re.compile(r"\[\s{0,3}\]\(|\(\s{0,3}\)|\[(?<![-*+] \[)(?:\](?!\()|[),;\s]{1,9}\])"),
    "gap": re.compile(r"(?<=[^\s|]) (?:,|\.(?![\w/.]))|,,|,\.(?!\w)"),
}
# of which a text with any of them holds one, in small letters: most texts are never searched
_SIGNS = {
    "url": ("://", "www."),
    "utm": ("utm_", "referrer=", "baike_source="),
    "ai_notice": ("生成", "ai-generated", "ai generated", "generated by", "generated with", "think", "<!--"),
    "gap": (" ,", " .", ",,", ",."),
}
_HEADING = re.compile(r"^[ \t]{0,3}(?:#{1,6}[ \t]|\*\*|__)[^\n]{1,120}$", re.MULTILINE)
RESIDUE = (*_PATTERNS, "reference_heading")


def find_residue(shown: str, report: str, system: str) -> tuple[Residue, ...]:
    """Every hit in the text `shown`, by place. `report` and `system` are copied into each."""
    copy = WorkingCopy(shown)
    copy.shield([*code_zones(copy.text), *math_zones(copy.text)])
    small = copy.text.lower()
    found = [
        (match.start(), match.end(), kind)
        for kind, pattern in _PATTERNS.items()
        if any(sign in small for sign in _SIGNS.get(kind, ("",)))
        for match in pattern.finditer(copy.text)
    ]
    for heading in _HEADING.finditer(copy.text):
        if announces_sources(heading[0]) in ("strong", "medium"):
            found.append((heading.start(), heading.end(), "reference_heading"))
    return tuple(Residue(report, system, kind, start, _around(shown, start, end)) for start, end, kind in sorted(found))


def _around(text: str, start: int, end: int) -> str:
    before = max(0, start - max(0, _CONTEXT - (end - start)) // 2)
    return " ".join(text[before : before + _CONTEXT].split())
