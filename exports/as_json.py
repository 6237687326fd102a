"""Tables and whole reports as JSON: every digit, nan as null, the same bytes for the same numbers."""

import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from calibration.choosing.choice import Candidate, Choice
from calibration.choosing.panel_sensitivity import Headlines, PanelSensitivity
from calibration.comparing.alternative_annotator import AltTest
from calibration.delegating import alone
from calibration.delegating.cascade import Cascade, CascadeWithPerson
from calibration.inference.compare import JudgePair
from calibration.results import CalibrationReport, CalibrationSettings, Estimate, ReportWarning
from calibration.systems import aggregates, placing
from exports import cells, tables
from exports.sheets.judges import judges_told
from plain.wording import speaking

REPORT_FORMAT = "calipers-report/1"
ALWAYS = (
    "level", "resamples", "seed", "ties", "not_applicable", "references", "majority_ties", "margin", "epsilon",
    "generalise_to", "per_criterion", "per_category", "scales", "families", "length_unit", "plan_hash",
    "per_system_pair", "unclustered", "bias_floor",
)  # fmt: skip
ESTIMATE = (*(field.name for field in fields(Estimate) if field.name != "remarks"), "note")  # as every file names them
Record = TypeVar("Record")
WARNING = ("code", "text", "rater", "criterion")
ROW = ("judge", "question", "estimate", "limit", "outcome", "sentence")  # of a judge's card
USUAL = CalibrationSettings()


def as_json(table: tables.Table) -> str:
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


@speaking()
def report_json(report: CalibrationReport) -> str:
    """`calibration-report.json` in the format `calipers-report/1`."""
    return _dump(
        {
            "format": REPORT_FORMAT,
            "data": data_of(report),
            "settings": settings_dict(report.settings),
            "warnings": [_warning(warning) for warning in report.warnings],
            "estimates": list(map(plain, report.estimates)),
            "choice": _choice(report.choice),
            "judges": {
                judge: {"verdict": verdict, "reason": reason}
                for judge, (verdict, reason) in judges_told(report).items()
            },
            "biases": [plain(bias) | {"effect": bias.effect} for bias in report.biases],
            "card": [{name: plain(getattr(row, name)) for name in ROW} for row in report.card],
        }
    )


def _warning(warning: ReportWarning) -> dict[str, Any]:
    """Facts only where it has any, so that what an older release wrote stays as it was."""
    named = {name: getattr(warning, name) for name in WARNING}
    return named | ({"facts": plain(warning.facts)} if warning.facts else {})


def report_schema() -> str:
    """JSON Schema of `report_json`: what keeps its name and type in this format. Further keys may come at any time."""
    return (Path(__file__).parent / "calipers-report-1.schema.json").read_text(encoding="utf-8")


def data_of(report: CalibrationReport) -> dict[str, Any]:
    """What was counted, and the sections that are no estimates, under the names of `calibration-report.json`."""
    counted = {name: value for name, value in plain(report.labels).items() if value is not None}
    sections = {
        "tables": _all(report.tables, plain),
        "pass_fail": _all(report.pass_fail, plain),
        "panel_sensitivity": report.panel_sensitivity and _panel(report.panel_sensitivity),
        "effective_judges": plain(report.effective_judges),
        "rankings": _all(report.rankings, _ranking),
        "judge_pairs": _all(report.judge_pairs, _pair),
        "category_effects": plain(report.category_effects),
        "confidence": _all(report.confidence or None, plain),
        "alone": _all(report.alone, _alone),
        "alt_tests": _all(report.alt_tests, _tested),
        "aggregates": _all(report.aggregates or None, _aggregated),
        "rated_together": list(report.rated_together) or None,
        "cascades": _all(report.cascades or None, _cascade),
        "plan_root": report.plan_root or None,
        "is_simulated": report.is_simulated or None,
    }
    return counted | {name: section for name, section in sections.items() if section is not None}


def _all(records: Sequence[Record] | None, form: Callable[[Record], Any]) -> list[Any] | None:
    return None if records is None else [form(record) for record in records]


def _alone(one: alone.Alone) -> dict[str, Any]:
    """Why nothing is decided as its sentence, not as what that is made of."""
    made = {name: one.reason if name == "says" else value for name, value in plain(one).items() if name != "facts"}
    return {"reason" if name == "says" else name: value for name, value in made.items()}


def _ranking(ranking: placing.Ranking) -> dict[str, Any]:
    systems, ranks = ([getattr(each, name) for each in ranking.systems] for name in ("system", "rank"))
    named = {"statistic": ranking.statistic, "rater": ranking.rater, "systems": systems, "ranks": ranks}
    return named | {"keeps_first": ranking.keeps_first, "note": ranking.note}


def _pair(pair: JudgePair) -> dict[str, Any]:
    return {name: getattr(pair, name) for name in ("judge", "other", "p_holm", "outcome", "shared")}


def _panel(sensitivity: PanelSensitivity) -> dict[str, Any]:
    return {
        "whole": _headlines(sensitivity.whole),
        "without": list(map(_headlines, sensitivity.without)),
        "note": sensitivity.note,
    }


def _headlines(headlines: Headlines) -> dict[str, Any]:
    return {name: getattr(headlines, name) for name in ("without", "agreement", "top_two", "decision")}


def _tested(test: AltTest) -> dict[str, Any]:
    found = {name: getattr(test, name) for name in ("judge", "epsilon", "method", "omega", "passed", "note")}
    return found | {"annotators": plain(test.annotators)}


def _aggregated(counted: aggregates.AggregateCounts) -> dict[str, Any]:
    named, statuses = (
        {"aggregate": counted.aggregate, "rater": counted.rater, "system": counted.system},
        dict(counted.statuses),
    )
    counts = {name: getattr(counted, name) for name in ("reports", "left_out", "merged")}
    votes = {} if counted.undecided is None else {"undecided": counted.undecided, "vote_share": counted.vote_share}
    return named | statuses | counts | votes


def _cascade(cascade: Cascade) -> dict[str, Any]:
    if not isinstance(cascade, CascadeWithPerson):
        return dict(plain(cascade))
    test = {each.name: plain(getattr(cascade.test, each.name)) for each in fields(cascade.test)}
    return {**plain(cascade), "test": test, "outcome": cascade.test.outcome}


def settings_dict(settings: CalibrationSettings) -> dict[str, Any]:
    """Every setting, but those that few reports change only where this one does."""
    found = asdict(settings)
    return {name: value for name, value in found.items() if name in ALWAYS or value != getattr(USUAL, name)}


def _choice(choice: Choice | None) -> dict[str, Any] | None:
    if choice is None:
        return None
    told = [_candidate(candidate) for candidate in choice.candidates]
    of_few = "alone_error", "replaced"
    plan = {name: value for name, value in asdict(choice.plan).items() if value or name not in of_few}
    told_of: dict[str, Any] = plain(replace(choice, looking=None))
    del told_of["looking"]
    return told_of | {"candidates": told, "plan": plan, "plan_sha256": choice.plan.plan_sha256}


def _candidate(candidate: Candidate) -> dict[str, Any]:
    """Its rows are in the report's `card`."""
    found: dict[str, Any] = plain(candidate)
    kept = {name: value for name, value in found.items() if name not in ("rows", "required")}
    reservations = [row.question for row in candidate.reservations]
    return kept | {"baseline": candidate.baseline, "standing": candidate.standing, "reservations": reservations}


def _cell(cell: cells.Cell) -> Any:
    return plain(cell) if isinstance(cell, Estimate) else cell


def _dump(value: Any) -> str:
    out = io.StringIO()  # piece by piece: all pieces of a long report at once are 40 MB
    json.dump(_finite(value), out, ensure_ascii=False, allow_nan=False, indent=2)
    return out.getvalue() + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(inner) for key, inner in value.items()}
    return [_finite(inner) for inner in value] if isinstance(value, list | tuple) else value


def plain(value: Any) -> Any:
    """A record as nested mappings of its fields, as `dataclasses.asdict` makes them.

    An estimate tells its remarks as a `note`. Left out are the thousands of resamples behind a test (`law`), which
    settings and labels bring back.
    """
    if isinstance(value, Estimate):
        return {**{name: getattr(value, name) for name in ESTIMATE[:-1]}, "note": value.note}
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value) if field.name != "law"}
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list | tuple) else value
