"""The warnings of a report for a reader who has one screen: the most important first, one for each kind, counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calibration.results import CalibrationReport, ReportWarning
from exports.words.sentences import about

FIRST = (  # what can make a number wrong, then what makes it say less than it seems, then what it rests on
    "named_sides",
    "join_loss", "mirrored_items", "duplicate_raters", "copied_rationale", "examples_in_reference", "out_of_range",
    "changed_after_labels", "revealed", "missing_answers", "labels_dropped", "baseline_not_beaten", "skewed_reference",
    "pooled_criteria", "unlike_references", "position_bias", "order_inconsistent", "unbalanced_order", "own_family",
    "unpaired_judges", "selected_judge", "not_shown_equal", "panel_sensitive", "few_systems", "few_clusters",
    "one_annotator", "two_annotators", "nested_labels",
)  # fmt: skip
LAST = ("thin_criteria", "order_unknown", "undefined_shown_as_dash")
NAMED = 3  # further raters or criteria that are named before the rest is counted


@dataclass(frozen=True)
class Caution:
    """All warnings of one code. `text`: the first in full and whom else it concerns; `count`: how many there are."""

    code: str
    text: str
    count: int


def folded(report: CalibrationReport) -> tuple[Caution, ...]:
    """One caution for each code; the full texts are in `calibration-report.json`."""
    groups: dict[str, list[ReportWarning]] = {}
    for warning in report.warnings:
        groups.setdefault(warning.code, []).append(warning)
    return tuple(Caution(code, _text(groups[code]), len(groups[code])) for code in sorted(groups, key=_rank))


def _rank(code: str) -> int:
    """Codes without a place of their own stand between the two lists; the sort keeps the report's order there."""
    if code in LAST:
        return len(FIRST) + 1 + LAST.index(code)
    return FIRST.index(code) if code in FIRST else len(FIRST)


def _text(warnings: Sequence[ReportWarning]) -> str:
    first, rest = about(warnings[0]), warnings[1:]
    if not rest:
        return first
    places = [" on ".join(filter(None, (one.rater, one.criterion))) for one in rest]
    named = [place for place in dict.fromkeys(places) if place][:NAMED]
    if not named:
        return f"{first} (and {len(rest)} more like it)"
    more = len(rest) - len(named)
    return f"{first} (likewise {', '.join(named)}{f' and {more} more' if more else ''})"
