"""Blinding beyond citations: what is deleted, what is flagged, how every report is laid out, what still leaks.

Most parts have files of their own, whose public names are repeated here beside the audit.
"""

import math
from collections import Counter
from collections.abc import Sequence

from annotation.canonical.form import CANONICAL_VERSION, Canonical, canonical_format
from annotation.leaks.blinding_audit import (
    RESIDUE,
    AuditedReport,
    BlindingAudit,
    Gaps,
    Identification,
    RemovedShare,
    Residue,
    claim,
    find_gaps,
    find_residue,
    removed_shares,
)
from annotation.leaks.provenance import find_provenance
from annotation.leaks.recognition import FORMATTING, Interval, formatting_counts, giveaways, identify, no_interval
from annotation.leaks.self_identification import Flag, find_self_identification

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

FEWEST_SYSTEMS, FEWEST_TOPICS = 2, 5


def audit_blinding(reports: Sequence[AuditedReport], seed: int, interval: Interval = no_interval) -> BlindingAudit:
    """What shown text still tells about its system: residue, shares removed, a classifier's guesses, gaps.

    How often systems are recognised is `recognition.identify`'s, every system taking part, the reference too; what
    gives each away is `recognition.giveaways`'. Under 2 systems or 5 topics both are refused with the reason, never a
    number. `interval` makes the intervals over topics; `seed` makes the classifiers repeatable. Writes nothing.
    """
    ready = [report for report in reports if report.status == "ready" and report.shown.strip()]
    residue = tuple(hit for report in ready for hit in find_residue(report.shown, report.key, report.system))
    by_system = Counter(report.system for report in ready)
    topics = {report.topic for report in ready}
    counted = Counter((hit.system, hit.kind) for hit in residue)
    chance = max(by_system.values()) / len(ready) if ready else math.nan
    refused = _refusal(len(by_system), len(topics))
    found = () if refused else identify(ready, seed, interval)
    return BlindingAudit(
        reports=len(ready),
        systems=len(by_system),
        topics=len(topics),
        residue=residue,
        residue_counts={system: {kind: counted[system, kind] for kind in RESIDUE} for system in sorted(by_system)},
        removed=removed_shares(ready),
        identification=found,
        giveaways=() if refused else giveaways(ready, seed),
        chance=chance,
        refused=refused,
        gaps=find_gaps(reports),
        sentence=claim(found, chance, len(topics), refused, ready, residue),
        seed=seed,
    )


def _refusal(systems: int, topics: int) -> str:
    if systems < FEWEST_SYSTEMS:
        return f"too few systems: {systems}, at least {FEWEST_SYSTEMS} are needed"
    if topics < FEWEST_TOPICS:
        return f"too few topics: {topics}, at least {FEWEST_TOPICS} are needed"
    return ""
