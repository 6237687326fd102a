"""Tables and whole reports as JSON: every digit, nan as null, the same bytes for the same numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from calibration.choosing.choice import Choice
from calibration.results import CalibrationReport, CalibrationSettings, Estimate
from exports.cells import Cell
from exports.tables import Table

REPORT_FORMAT = "calipers-report/1"
OF_ANSWERS = ("aggregates", "answer_values", "score_times", "off_scale")  # settings that most reports have none of


def as_json(table: Table) -> str:
    """`{name, title, columns: [{key, title}], rows: [{key: cell}], notes}`.

    An estimate is an object with all its fields.
    """
    keys = [column.key for column in table.columns]
    return _dump(
        {
            "name": table.name,
            "title": table.title,
            "columns": [asdict(column) for column in table.columns],
            "rows": [dict(zip(keys, map(_cell, row), strict=True)) for row in table.rows],
            "notes": list(table.notes),
        }
    )


def report_json(report: CalibrationReport) -> str:
    """`calibration-report.json` in the format `calipers-report/1`."""
    return _dump(
        {
            "format": REPORT_FORMAT,
            "data": dict(report.data),
            "settings": settings_dict(report.settings),
            "warnings": [asdict(one) for one in report.warnings],
            "estimates": list(map(vars, report.estimates)),  # flat, and most of the report
            "choice": _choice(report.choice),
            "biases": [asdict(one) | {"effect": one.effect} for one in report.biases],
            "card": [asdict(one) for one in report.card],
        }
    )


def settings_dict(settings: CalibrationSettings) -> dict[str, Any]:
    """Every setting but those about answers that a report without any does not have."""
    found = asdict(settings)
    return {name: value for name, value in found.items() if value or name not in OF_ANSWERS}


def _choice(choice: Choice | None) -> dict[str, Any] | None:
    if choice is None:
        return None
    standings = [asdict(one) | {"standing": one.standing} for one in choice.candidates]
    return asdict(choice) | {"candidates": standings, "plan_sha256": choice.plan.plan_sha256}


def _cell(cell: Cell) -> Any:
    return vars(cell) if isinstance(cell, Estimate) else cell


def _dump(value: Any) -> str:
    return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, Mapping):
        return {str(key): _finite(inner) for key, inner in value.items()}
    return [_finite(inner) for inner in value] if isinstance(value, list | tuple) else value
