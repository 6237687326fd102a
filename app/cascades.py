"""Cascades that were asked for: `mini then large` is a candidate like any judge, `mini then a person` a line beside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import pandas as pd

from annotation.errors import AnnotationError
from calibration.cascade import Cascade, CascadeWithPerson, cascade_with_person, with_cascade
from calibration.results import CalibrationReport, CalibrationSettings

THEN, PERSON = " then ", "a person"


def with_cascades(
    verdicts: pd.DataFrame, names: Sequence[str], settings: CalibrationSettings
) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """The verdicts with one more judge for each cascade of two judges, and what each costs and passes on.

    Raises AnnotationError `bad_option` for a name that is not `CHEAP then DEAR`, CalibrationError for other judges.
    """
    made = []
    for name in names:
        cheap, dear = parts_of(name)
        if dear != PERSON:
            verdicts, cascade = with_cascade(verdicts, cheap, dear, settings)
            made.append(_plain(cascade))
    return verdicts, made


def with_people_behind(
    report: CalibrationReport, verdicts: pd.DataFrame, names: Sequence[str], made: Sequence[dict[str, Any]]
) -> CalibrationReport:
    """The report with `made` and every cascade that ends at a person, at the price of the annotators' own items."""
    if not names:
        return report
    price = next(
        (one.value for one in report.estimates if (one.rater, one.statistic) == ("each_annotator", "cost_per_item")),
        math.nan,
    )
    behind = [
        _plain(cascade_with_person(verdicts, cheap, price, report.settings))
        for cheap, dear in map(parts_of, names)
        if dear == PERSON
    ]
    return replace(report, data={**report.data, "cascades": [*made, *behind]})


def parts_of(name: str) -> tuple[str, str]:
    """`mini then large` as its two raters."""
    cheap, then, dear = name.partition(THEN)
    if not then or not cheap.strip() or not dear.strip():
        raise AnnotationError("bad_option", f"--cascade {name!r} is not 'CHEAP then DEAR' or 'CHEAP then {PERSON}'")
    return cheap.strip(), dear.strip()


def _plain(cascade: Cascade) -> dict[str, Any]:
    plain = asdict(cascade)
    if isinstance(cascade, CascadeWithPerson):
        plain["outcome"] = cascade.test.outcome
    return plain
