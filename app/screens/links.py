"""From a number to the labels behind it: an address of the Disagreements page."""

from __future__ import annotations

from urllib.parse import urlencode

from annotation.judges.panel import DERIVED
from calibration.results import CalibrationReport, Estimate
from calibration.sure.confidence import AT
from calibration.systems.aggregates import AGGREGATE
from calibration.verdicts import BOTH_ORDERS, SYSTEM_PAIR

OF_NO_LABEL = ("cost_per", "seconds_per")


def labels_address(**filters: str) -> str:
    """Relative to any page of the app. `filters`: as of that page; "" and "all" filter nothing."""
    asked = {name: value for name, value in filters.items() if value not in ("", "all")}
    return f"disagreements?{urlencode(asked)}" if asked else "disagreements"


def behind(number: Estimate, report: CalibrationReport) -> str:
    """Where what a judge and the annotators answered can be read; "" for a number that is of no judge.

    Also "" where that page would show other labels than those the number is made of: for a verdict derived from
    several answers, for two judges beside each other, for a pair of systems, for one level of confidence; and for money
    and time, which no label shows.
    """
    raters = number.rater, number.reference
    found = [name for name in raters if name in report.data["judges"]]
    derived = any(name.endswith((BOTH_ORDERS, DERIVED)) for name in raters)
    category = number.category
    pair = category.startswith(SYSTEM_PAIR) and category.removeprefix(SYSTEM_PAIR) not in report.data["systems"]
    if len(found) != 1 or derived or pair or category.startswith(AT) or number.statistic.startswith(OF_NO_LABEL):
        return ""
    systems = category.removeprefix(SYSTEM_PAIR) if category.startswith(SYSTEM_PAIR) else ""
    return labels_address(
        judge=found[0],
        criterion="" if number.statistic.startswith(AGGREGATE) else number.criterion,  # theirs is a measure's name
        category="" if systems else category,
        system=systems,
    )
