"""Cascades that were asked for: `mini then large` is a candidate like any judge, `mini then a person` a line beside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import pandas as pd

from calibration.calibrate import calibrate
from calibration.choosing.cascade import Cascade, CascadeWithPerson, cascade_with_person, with_cascade
from calibration.errors import CalibrationError
from calibration.results import CalibrationReport
from calibration.settings import CalibrationSettings

THEN, PERSON = " then ", "a person"


def calibrate_with_cascades(
    verdicts: pd.DataFrame, settings: CalibrationSettings, names: Sequence[str] = ()
) -> tuple[CalibrationReport, pd.DataFrame]:
    """`calibrate`, with one more judge for each cascade of two judges and `data["cascades"]` for all of them.

    Beside the report stand the verdicts it was made of: the rows of those judges among them. A cascade that ends at a
    person stands at the price of the annotators' own items. Raises `unknown_form` for a name that is not
    `CHEAP then DEAR`, and as `calibrate` does.
    """
    made = []
    for cheap, dear in map(parts_of, names):
        if dear != PERSON:
            verdicts, cascade = with_cascade(verdicts, cheap, dear, settings)
            made.append(_plain(cascade))
    report = calibrate(verdicts, settings)
    if not names:
        return report, verdicts
    price = next(
        (one.value for one in report.estimates if (one.rater, one.statistic) == ("each_annotator", "cost_per_item")),
        math.nan,
    )
    behind = [
        _plain(cascade_with_person(verdicts, cheap, price, settings))
        for cheap, dear in map(parts_of, names)
        if dear == PERSON
    ]
    return replace(report, data={**report.data, "cascades": [*made, *behind]}), verdicts


def parts_of(name: str) -> tuple[str, str]:
    """`mini then large` as its two raters."""
    cheap, then, dear = name.partition(THEN)
    if not then or not cheap.strip() or not dear.strip():
        raise CalibrationError("unknown_form", f"cascade {name!r} is not 'CHEAP then DEAR' or 'CHEAP then {PERSON}'")
    return cheap.strip(), dear.strip()


def _plain(cascade: Cascade) -> dict[str, Any]:
    plain = asdict(cascade)
    if isinstance(cascade, CascadeWithPerson):
        plain["outcome"] = cascade.test.outcome
    return plain
