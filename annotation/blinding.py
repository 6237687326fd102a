"""Blinding beyond citations: what is deleted, what is flagged, how every report is laid out, what still leaks.

The parts live in files of their own; here are their public names, and the audit that asks a classifier who wrote what.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from annotation.canonical.form import CANONICAL_VERSION, Canonical, canonical_format
from annotation.leaks.blinding_audit import (
    TEXTS,
    AuditedReport,
    BlindingAudit,
    Gaps,
    Identification,
    RemovedShare,
    claim,
    find_gaps,
    removed_shares,
)
from annotation.leaks.formatting import FORMATTING, formatting_counts
from annotation.leaks.provenance import find_provenance
from annotation.leaks.residue import RESIDUE, Residue, find_residue
from annotation.leaks.self_identification import Flag, find_self_identification

__all__ = [
    "CANONICAL_VERSION",
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
FOLDS = 5
TREES = 200
_FEATURES = {"formatting": FORMATTING, "length": ("characters", "words")}


def audit_blinding(reports: Sequence[AuditedReport], seed: int) -> BlindingAudit:
    """What shown text still tells about its system: residue, shares removed, a classifier's guesses, gaps.

    The classifier is a random forest of 200 trees on `formatting_counts` (and, for comparison, on length alone), five
    folds that keep a topic together; every system takes part, the reference too. Under 2 systems or 5 topics it is
    refused with the reason, never a number. `seed` makes the forests repeatable. Writes nothing.
    """
    ready = [report for report in reports if report.status == "ready" and report.shown.strip()]
    residue = tuple(hit for report in ready for hit in find_residue(report.shown, report.key, report.system))
    by_system = Counter(report.system for report in ready)
    topics = {report.topic for report in ready}
    counted = Counter((hit.system, hit.kind) for hit in residue)
    chance = max(by_system.values()) / len(ready) if ready else math.nan
    refused = _refusal(len(by_system), len(topics))
    found = () if refused else _identify(ready, seed)
    return BlindingAudit(
        reports=len(ready),
        systems=len(by_system),
        topics=len(topics),
        residue=residue,
        residue_counts={system: {kind: counted[system, kind] for kind in RESIDUE} for system in sorted(by_system)},
        removed=removed_shares(ready),
        identification=found,
        chance=chance,
        refused=refused,
        gaps=find_gaps(reports),
        sentence=claim(found, chance, len(topics), refused, ready),
        seed=seed,
    )


def _refusal(systems: int, topics: int) -> str:
    if systems < FEWEST_SYSTEMS:
        return f"too few systems: {systems}, at least {FEWEST_SYSTEMS} are needed"
    if topics < FEWEST_TOPICS:
        return f"too few topics: {topics}, at least {FEWEST_TOPICS} are needed"
    return ""


def _identify(reports: Sequence[AuditedReport], seed: int) -> tuple[Identification, ...]:
    found: list[Identification] = []
    before: list[dict[str, float]] = []
    for text in TEXTS:
        counts = [formatting_counts(getattr(report, text)) for report in reports]
        if counts == before:  # canonical format off, or nothing to strip: the forests would only repeat themselves
            found += [replace(item, text=text) for item in found[-len(_FEATURES) :]]
            continue
        before = counts
        for features, names in _FEATURES.items():
            rows = [[count[name] for name in names] for count in counts]
            found.append(_cross_validated(rows, reports, text, features, seed))
    return tuple(found)


def _cross_validated(
    rows: list[list[float]], reports: Sequence[AuditedReport], text: str, features: str, seed: int
) -> Identification:
    import numpy as np
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import GroupKFold

    names = _FEATURES[features]
    values = np.asarray(rows)
    systems = np.asarray([report.system for report in reports])
    topics = np.asarray([report.topic for report in reports])
    guesses = np.empty_like(systems)
    weights = np.zeros(len(names))
    for seen, unseen in GroupKFold(n_splits=FOLDS).split(values, systems, topics):
        forest = RandomForestClassifier(n_estimators=TREES, random_state=seed).fit(values[seen], systems[seen])
        guesses[unseen] = forest.predict(values[unseen])
        weights += forest.feature_importances_
    right = guesses == systems
    recall = {str(system): float(right[systems == system].mean()) for system in sorted(set(systems))}
    top = tuple(names[n] for n in np.argsort(-weights, kind="stable")[:5])
    return Identification(text, features, float(right.mean()), recall, top)
