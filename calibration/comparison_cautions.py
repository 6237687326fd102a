"""Cautions about comparing judges: the one that was chosen, a difference that was not shown, labels not shared."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from calibration.compare import JudgePair
from calibration.noninferiority import Claim, ComparisonPlan
from calibration.results import ReportWarning

UNSHARED = 0.95


def selected_judge(tried: Sequence[str], chosen: str) -> Iterator[ReportWarning]:
    """`selected_judge`: two or more judges, prompts or settings were tried. `tried`: all their names."""
    if len({*tried}) > 1:
        yield ReportWarning(
            "selected_judge",
            f"{chosen} is the one of {len({*tried})} judges, prompts or settings that did best: its own interval would "
            "cover 61-72 % for the best of 10; quote the max-t interval, and how many were tried",
            chosen,
        )


def not_shown_equal(claim: Claim) -> Iterator[ReportWarning]:
    """`not_shown_equal`: the two-sided interval of the gap contains 0 and the outcome is not `non_inferior`."""
    gap = claim.test.difference
    if claim.outcome == "non_inferior" or not gap.low <= 0 <= gap.high:
        return
    text = f"{claim.reference} minus {claim.judge} is {_points(gap.value)}, interval {_points(gap.low)} to "
    text += f"{_points(gap.high)} in {gap.clusters} clusters: no difference was shown, and neither was its absence "
    text += f"within the margin of {_points(claim.test.margin)}; cannot tell"
    if claim.needed and claim.needed.more:
        text += f", label {claim.needed.more:,} more clusters"
    elif claim.needed and claim.needed.note == "gap_reaches_margin":
        text += "; the gap seen is no smaller than the margin, so no number of clusters is likely to show it smaller"
    yield ReportWarning("not_shown_equal", text, claim.judge)


def unpaired_judges(pair: JudgePair) -> Iterator[ReportWarning]:
    """`unpaired_judges`: two judges share less than 95 % of the union of their labels."""
    if not math.isnan(pair.shared) and pair.shared < UNSHARED:
        yield ReportWarning(
            "unpaired_judges",
            f"{pair.judge} and {pair.other} share {100 * pair.shared:.1f} % of the labels that either has: only the "
            f"{pair.difference.n:,} shared ones are compared; run both on the same items",
            pair.judge,
        )


def changed_plan(plan: ComparisonPlan, stored_sha256: str) -> Iterator[ReportWarning]:
    """`changed_after_labels`: the plan of the comparison is not the one stored. Without a stored hash, nothing."""
    if stored_sha256 and plan.plan_sha256 != stored_sha256:
        yield ReportWarning(
            "changed_after_labels",
            f"the comparison's plan (margin {plan.margin:g}, against the {plan.against.replace('_', ' ')}, "
            f"{len(plan.judges)} judges) is not the one fixed before results were shown (sha256 {stored_sha256[:12]}); "
            "report what changed, and why",
        )


def _points(value: float) -> str:
    return f"{100 * value + 0.0:.1f} points"
