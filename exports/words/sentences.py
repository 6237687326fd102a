"""The headline of a report in one sentence, with the numbers that make it checkable."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from calibration.results import CalibrationReport, Estimate, ReportWarning
from calibration.verdicts import BOTH_ORDERS
from exports.cells import shown

PEOPLE = "each_annotator"
# a judge with people, people among themselves, and what is counted
OF_ANSWERS = ("{} agrees with the annotators on {} of", "the annotators agree among themselves on {}", "verdicts")
OF_SCORES = (
    "{}'s scores go with the annotators' by Spearman's ρ {} over",
    "the annotators' scores go with each other's by {}",
    "scores",
)  # fmt: skip


def pooled_agreement(
    report: CalibrationReport, statistic: str = "percent_agreement"
) -> tuple[list[Estimate], Estimate | None]:
    """Each judge's agreement with the annotators and the annotators' among themselves, pooled and defined ones only."""
    pooled = [
        one
        for one in report.estimates
        if one.statistic == statistic and one.criterion == one.category == "all" and not math.isnan(one.value)
    ]
    people = next((one for one in pooled if one.rater == PEOPLE and one.reference == "others"), None)
    return [one for one in pooled if one.reference == PEOPLE and one.rater != PEOPLE], people


def compared(report: CalibrationReport) -> bool:
    """Whether any two raters were compared at all, pooled or on one criterion."""
    return any(
        one.statistic in ("percent_agreement", "spearman")
        and one.reference in (PEOPLE, "others")
        and not math.isnan(one.value)
        for one in report.estimates
    )


def opening(report: CalibrationReport) -> str:
    """The choice of a judge; where there is none to choose, the headline."""
    known = report.choice is not None and report.choice.candidates and compared(report)
    return report.choice.sentence if known and report.choice else headline(report)


def headline(report: CalibrationReport) -> str:
    """Which judge agrees most with the annotators, beside how far they agree among themselves. Chooses nothing.

    Scores of any number are hardly ever the same twice: of those it says how far they rise and fall together.
    """
    judges, people = pooled_agreement(report, "spearman")
    numbers = any(one.statistic == "krippendorff_alpha_interval" for one in report.estimates)
    unequal = (judges or people) and numbers and not report.settings.scales
    if not unequal:
        judges, people = pooled_agreement(report)
    first, among, unit = OF_SCORES if unequal else OF_ANSWERS
    beside = among.format(_said(people)) if people else ""
    if not judges:
        if not people and compared(report):
            return "Criteria of different kinds are never pooled: read each criterion by itself."
        alone = f"{beside[0].upper()}{beside[1:]}; no judge can be compared with them yet." if beside else ""
        return alone or "No two raters share an answer that can be compared yet."
    best = max(judges, key=lambda one: one.value)
    several = len({one.rater.removesuffix(BOTH_ORDERS) for one in judges})
    orders = ", by one order or both" if several < len(judges) else ""
    tried = f" (highest of {several} judges{orders})" if several > 1 else f" (higher{orders})" if orders else ""
    said = f"{first.format(best.rater, _said(best))} {best.n:,} {unit} in {best.clusters} clusters{tried}"
    return f"{said}; {beside}." if beside else f"{said}."


def about(warning: ReportWarning) -> str:
    """A warning's text, opening with the rater it speaks of."""
    named = not warning.rater or warning.rater in warning.text
    return warning.text if named else f"{warning.rater}: {warning.text}"


def _said(estimate: Estimate) -> str:
    value, interval = shown(estimate)
    return f"{value} {interval}".replace(" ", "\N{NO-BREAK SPACE}")


def cascade_words(cascade: Mapping[str, Any]) -> str:
    """What a cascade passes on and costs; of one that ends at a person also whether it may stand in for one."""
    labels, items = (Estimate(**cascade[name]) for name in ("escalated", "escalated_items"))
    usd = cascade["usd_per_1000_items"]
    cost = "its cost is unknown" if math.isnan(usd) else f"it costs {usd:,.2f} USD per 1,000 items"
    told = {
        "non_inferior": "; it is shown to fall short of an annotator's agreement by less than the margin",
        "inferior": "; it agrees less than an annotator does, beyond the margin",
        "cannot_tell": "; whether it may stand in for an annotator cannot be told",
    }
    share = f"{_said(labels)} of labels and {_said(items)} of items go on"
    return f"{cascade['name']}: {share}, and {cost}{told.get(cascade.get('outcome', ''), '')}."
