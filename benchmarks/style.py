"""How blind to style `layout = "plain"` is: `python benchmarks/style.py [LAYOUT …]`, by default `plain`.

The rule, written before it was run. Reports: the shared sample's 144 (12 systems, 12 topics), citations stripped, laid
out. Each kind of feature (formatting, which includes length; formatting per word, which does not; words; length; all)
is told by the strongest of the four readers that `calipers audit` has, the same for every kind and layout, each topic
named by readers that saw no report on it. What words alone reach is what the strongest reader of words reaches under
that layout. Promised: formatting under `plain` names at most 5 points more than words do. The interval of the gap is
Student's t over the topics' own gaps.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from annotation.canonical.form import Layout, canonical_format
from annotation.citations import strip_citations
from annotation.leaks.blinding_audit import AuditedReport, Identification
from annotation.leaks.system_classifier import Recognition
from benchmarks.blinding import sample
from benchmarks.promises import Figure, record
from calibration.inference.bootstrap import cluster_t, wilson_effective

SEED = 33
MOST = 5.0  # points


def recognised(layout: Layout) -> dict[str, Identification]:
    """Kind of feature -> how often its strongest reader names the system of the text as shown."""
    reports = []
    for topic, by_system in sample().items():
        title = topic.replace("_", " ")
        for system, original in by_system.items():
            stripped = strip_citations(original).text
            shown = canonical_format(stripped, title, layout).text
            reports.append(
                AuditedReport(f"{system}/{topic}", topic, system, system == "wikipedia", original, stripped, shown, 0)
            )
    found = Recognition(reports, SEED, wilson_effective).of_texts()
    return {one.features: one for one in found if one.text == "shown"}


def gap(one: Identification, other: Identification, per_topic: int) -> tuple[float, tuple[float, float]]:
    """Points by which `one` names more than `other`, with its interval over topics."""
    gaps = np.asarray([100 * (one.right_by_topic[t] - other.right_by_topic[t]) / per_topic for t in one.right_by_topic])
    return float(gaps.mean()), cluster_t(float(gaps.mean()), float(gaps.std(ddof=1)) / len(gaps) ** 0.5, len(gaps))


def main(arguments: Sequence[str]) -> int:
    told: list[Figure] = []
    for layout in arguments or ("plain",):
        found = recognised(cast(Layout, layout))
        systems = len(found["words"].recall)
        for kind, one in found.items():
            low, high = (100 * end for end in one.interval)
            words = f"{layout}: named by {kind} [{low:.0f}, {high:.0f}] ({one.reader})"
            told.append(Figure(words, 100 * one.accuracy, "%"))
            print(told[-1], flush=True)
        for kind in ("formatting", "formatting_per_word"):
            points, (low, high) = gap(found[kind], found["words"], systems)
            most = MOST if (layout, kind) == ("plain", "formatting") else float("inf")
            told.append(Figure(f"{layout}: {kind} over words [{low:.0f}, {high:.0f}]", points, "", high=most))
            print(told[-1], flush=True)
    record(told)
    return int(not all(one.kept for one in told))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
