"""What `calibrate` takes and returns: frozen, unrounded, and saying how each number was made.

`CalibrationSettings`, `Estimate` and `ReportWarning` are read from here too, by whoever holds a report.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from calibration.bias import Bias
from calibration.choosing.card import CardRow
from calibration.choosing.choice import Choice
from calibration.estimates import Estimate, ReportWarning
from calibration.settings import Aggregate, CalibrationSettings

__all__ = ["Aggregate", "CalibrationReport", "CalibrationSettings", "Estimate", "ReportWarning"]


@dataclass(frozen=True)
class CalibrationReport:
    """All estimates of one study, the input of every export. Same verdicts and settings give the same bytes."""

    data: Mapping[str, Any]  # what was counted: rows, clusters, raters, joins, marginals, spellings mapped, sha256
    settings: CalibrationSettings
    warnings: tuple[ReportWarning, ...]
    estimates: tuple[Estimate, ...]
    choice: Choice | None = None  # None where no agreement over all criteria exists to choose by
    biases: tuple[Bias, ...] = ()  # every bias looked for; `estimates` holds their estimates too
    card: tuple[CardRow, ...] = ()  # one row per judge and question, judges in the order of the candidates
