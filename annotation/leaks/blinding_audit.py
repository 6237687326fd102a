"""The audit's records, and the parts of it that are counting: shares removed, gaps, the sentence for the paper."""

from __future__ import annotations

import itertools
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from annotation.leaks.residue import Residue

FURTHEST = 5  # median absolute deviations from a system's median share
LEAST = 0.01  # of the characters: where all shares are alike the deviation is 0 and a comma would stand out
MOST_UNEQUAL = 4.0  # the longer report of a pair over the shorter
TEXTS = ("original", "stripped", "shown")


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


@dataclass(frozen=True)
class RemovedShare:
    """The share of characters that stripping took from one system's reports, 0 to 1, and who stands far outside."""

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

    text: str  # original, stripped or shown
    features: str  # formatting or length
    accuracy: float  # over all reports, each judged by a forest that saw no report on its topic
    recall: dict[str, float] = field(hash=False)  # system -> share of its reports that were named
    top_features: tuple[str, ...] = ()  # the five that the forests used most


@dataclass(frozen=True)
class Gaps:
    """What is not there or not comparable. Reports are named by their keys."""

    missing: tuple[tuple[str, str], ...]  # system, topic
    empty: tuple[str, ...]
    excluded: tuple[str, ...]
    unresolved_flags: tuple[str, ...]
    duplicates: tuple[tuple[str, ...], ...]  # same shown text
    unequal: tuple[tuple[str, str, float], ...]  # longer, shorter, ratio of their characters, beyond 4


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
    chance: float  # the largest system's share of the reports; NaN without reports
    refused: str  # why identification was not computed, or empty
    gaps: Gaps
    sentence: str  # what a paper may claim, with the figures found; while passages are undecided that it may not yet
    seed: int


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
    )


def _unequal(reports: Sequence[AuditedReport]) -> Iterable[tuple[str, str, float]]:
    for one, other in itertools.combinations(reports, 2):
        longer, shorter = sorted((one, other), key=lambda report: len(report.shown), reverse=True)
        ratio = len(longer.shown) / len(shorter.shown)
        if ratio > MOST_UNEQUAL:
            yield longer.key, shorter.key, ratio


def _percent(share: float) -> str:
    """For a sentence of a paper: no line ends before the sign."""
    return f"{100 * share:.0f}\u00a0%"


def claim(
    found: Sequence[Identification], chance: float, topics: int, refused: str, reports: Sequence[AuditedReport]
) -> str:
    """The sentence a methods section may carry: label-blind, not style-blind, and by how much.

    What the owner of the study kept or masked in `reports` qualifies it, by kind. With passages undecided it cannot be
    true yet, and what is returned says so instead.
    """
    systems = len({report.system for report in reports})
    if undecided := sum(report.unresolved_flags for report in reports):
        waits = (
            "1 passage that may name a report's maker waits"
            if undecided == 1
            else (f"{undecided:,} passages that may name a report's maker wait")
        )
        return f"Not blind yet: {waits} for a decision. What a paper may claim stands here once all are decided."
    opening = f"Reports were label-blind, not style-blind: raters saw {_hidden(reports)} length and style remain"
    if refused:
        return f"{opening}; how far they give a system away was not measured ({refused})."
    share = {(item.text, item.features): _percent(item.accuracy) for item in found}
    return (
        f"{opening}: over {systems} systems and {topics} topics, a simple classifier names the system of the text as "
        f"shown from its formatting in {share['shown', 'formatting']} of cases and from its length alone in "
        f"{share['shown', 'length']} (chance {_percent(chance)}; from formatting, {share['original', 'formatting']} "
        f"in the original and {share['stripped', 'formatting']} with citations removed)."
    )


def _hidden(reports: Sequence[AuditedReport]) -> str:
    """What raters did not see, but for what stands in the shown texts by the owner's decision."""
    nothing = "no system names, citations or traces of origin"
    kept, masked = Counter[str](), Counter[str]()
    for report in reports:
        kept.update(report.kept)
        masked.update(report.masked)
    told = [f"but for {_kinds(kept, 'passage')} kept as content by decision"] if kept else []
    told += [f"{_kinds(masked, 'name')} shown as [system]"] if masked else []
    return f"{nothing}, {', '.join(told)}; but" if told else f"{nothing}, but"


def _kinds(counted: Counter[str], noun: str) -> str:
    """`3 passages (search 2, product 1)`"""
    total = counted.total()
    named = ", ".join(f"{kind} {count:,}" for kind, count in sorted(counted.items(), key=lambda one: (-one[1], one[0])))
    return f"{total:,} {noun}{'' if total == 1 else 's'} ({named})"
