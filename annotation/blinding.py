"""Blinding beyond citations: what is deleted, what is flagged, how every report is laid out, what still leaks.

Most parts have files of their own, whose public names are repeated here beside the audit.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotation.canonical.form import CANONICAL_VERSION, Canonical, canonical_format
from annotation.leaks.blinding_audit import (
    RESIDUE,
    AuditedReport,
    BlindingAudit,
    Gaps,
    Identification,
    RemovedShare,
    Residue,
    Sign,
    find_gaps,
    find_residue,
    hidden_of,
    read_by_raters,
    refusal,
    removed_shares,
)
from annotation.leaks.layout_counts import FORMATTING, formatting_counts
from annotation.leaks.provenance import find_provenance
from annotation.leaks.self_identification import Flag, find_self_identification
from annotation.leaks.system_classifier import Interval, Recognition, by_luck, drawn_evenly, no_interval

__all__ = [
    "CANONICAL_VERSION",
    "FORMATTING",
    "AuditedReport",
    "BlindingAudit",
    "Canonical",
    "Flag",
    "Gaps",
    "Identification",
    "RemovedShare",
    "Residue",
    "audit_blinding",
    "canonical_format",
    "find_provenance",
    "find_self_identification",
    "formatting_counts",
]


@dataclass(frozen=True)
class Measured:
    """What is read out of the texts alone, and takes long: the same for the same texts, whatever is decided."""

    residue: tuple[Residue, ...]
    identification: tuple[Identification, ...]
    giveaways: tuple[Sign, ...]
    is_whole: bool  # what each layout would leave, and what gives each system away, are among it


def audit_blinding(
    reports: Sequence[AuditedReport], seed: int, interval: Interval = no_interval, known: Measured | None = None
) -> BlindingAudit:
    """What shown text still tells about its system: residue, shares removed, a classifier's guesses, gaps.

    `system_classifier` counts how often systems are recognised, every system taking part, the reference too, and what
    gives each away. Under 2 systems or 5 topics both are refused with the reason, never a number. `interval` makes the
    intervals over topics; `seed` makes the classifiers repeatable; `known`: what `measure` said of these texts before.
    Writes nothing.
    """
    ready = readable(reports)
    measured = known or measure(ready, seed, interval)
    by_system = Counter(report.system for report in ready)
    topics = {report.topic for report in ready}
    guessed = Counter(report.system for report in drawn_evenly(ready, seed))
    counted = Counter((hit.system, hit.kind) for hit in measured.residue)
    chance = max(guessed.values()) / guessed.total() if ready else math.nan
    refused = refusal(len(by_system), len(topics))
    return BlindingAudit(
        reports=len(ready),
        systems=len(by_system),
        topics=len(topics),
        residue=measured.residue,
        residue_counts={system: {kind: counted[system, kind] for kind in RESIDUE} for system in sorted(by_system)},
        removed=removed_shares(ready),
        identification=measured.identification,
        giveaways=measured.giveaways,
        guessed=guessed.total(),
        chance=chance,
        by_luck=math.nan if refused else by_luck(chance, guessed.total()),
        refused=refused,
        gaps=find_gaps(reports),
        undecided=sum(report.unresolved_flags for report in read_by_raters(ready)),
        hidden=hidden_of(ready, measured.residue),
        seed=seed,
        is_whole=measured.is_whole,
    )


def readable(reports: Iterable[AuditedReport]) -> list[AuditedReport]:
    """Those that may be shown and hold something to read."""
    return [report for report in reports if report.status == "ready" and report.shown.strip()]


def measure(
    ready: Sequence[AuditedReport],
    seed: int,
    interval: Interval = no_interval,
    *,
    whole: bool = True,
    begun: Measured | None = None,
) -> Measured:
    """Residue and recognition; without `whole` neither what each layout would leave nor what gives a system away.

    `begun`: what was measured of the same texts without these, and is not measured again.
    """
    residue = begun.residue if begun else tuple(
        hit for one in ready for hit in find_residue(one.shown, one.key, one.system)
    )  # fmt: skip
    if refusal(len({report.system for report in ready}), len({report.topic for report in ready})):
        return Measured(residue, (), (), is_whole=True)
    found = Recognition(drawn_evenly(ready, seed), seed, interval)
    layouts, signs = (found.of_layouts(), found.giveaways()) if whole else ((), ())
    return Measured(residue, (*(begun.identification if begun else found.of_texts()), *layouts), signs, is_whole=whole)
