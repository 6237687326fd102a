"""From a number to the labels behind it: an address of the Disagreements page."""

from __future__ import annotations

from urllib.parse import urlencode

from calibration.results import CalibrationReport, Estimate
from calibration.sure.confidence import AT
from calibration.systems.aggregates import AGGREGATE
from calibration.verdicts import SYSTEM_PAIR
from exports.words.sentences import BOTH_ORDERS


def labels_address(**filters: str) -> str:
    """Relative to any page of the app. `filters`: as of that page; "" and "all" filter nothing."""
    asked = {name: value for name, value in filters.items() if value not in ("", "all")}
    return f"disagreements?{urlencode(asked)}" if asked else "disagreements"


def behind(number: Estimate, report: CalibrationReport) -> str:
    """Where what a judge and the annotators answered can be read; "" for a number that is of no judge."""
    found = (name.removesuffix(BOTH_ORDERS) for name in (number.rater, number.reference))
    judge = next((name for name in found if name in report.data["judges"]), "")
    if not judge:
        return ""
    systems = number.category.removeprefix(SYSTEM_PAIR) if number.category.startswith(SYSTEM_PAIR) else ""
    return labels_address(
        judge=judge,
        criterion="" if number.statistic.startswith(AGGREGATE) else number.criterion,  # theirs is a measure's name
        category="" if number.category.startswith((SYSTEM_PAIR, AT)) else number.category,
        system=systems if systems in report.data["systems"] else "",
    )
