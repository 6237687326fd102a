"""Layout `deepeval`: a test run as DeepEval saves it (DEEPEVAL_RESULTS_FOLDER): metrics of test cases, 0 to 1."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.importing.json_rows import read_json
from annotation.importing.records import as_text, collecting
from annotation.importing.results import ResultOptions, ResultRow, Results, files
from annotation.importing.results_fields import log_row, metadata_places

PLACES = metadata_places("metadata", "additionalMetadata")
KIND = " [GEval]"  # DeepEval adds it to the name of a metric that a model was asked in words
CASES, METRICS = ("testCases", "test_cases"), ("metricsData", "metrics_data", "metricsMetadata")


def read_deepeval_results(path: Path, options: ResultOptions) -> Results:
    """The criterion is the metric's name, the judge its evaluationModel; with an error, or no score, it is missing.

    `--times 10` turns scores from 0 to 1 back into 0 to 10, as G-Eval asked them.
    """
    problems: list[str] = []
    rows: list[ResultRow] = []
    for file, shown in files(path, "*"):
        with collecting(problems):
            content = read_json(file, shown, options.encoding)
            cases = _first(content, CASES)
            if not isinstance(cases, list):
                raise ImportingError(f"{shown}: no list 'testCases'; give a test run that DeepEval saved")
            for number, case in enumerate(cases, start=1):
                for metric in _first(case, METRICS) or []:
                    with collecting(problems):
                        rows.append(_row(f"{shown}: test case {number}", case, metric, options))
    return Results(tuple(rows), tuple(problems), scale=(0.0, 1.0))


def _row(where: str, case: dict[str, Any], metric: Any, options: ResultOptions) -> ResultRow:
    name = (as_text(_first(metric, ("name", "metric"))) or "").removesuffix(KIND)
    usual = PLACES | {
        "criterion": ["name_of_metric"], "answer": ["metric.score"], "reason": ["metric.reason", "metric.error"],
        "judge": ["metric.evaluationModel", *PLACES["judge"]],
    }  # fmt: skip
    failed = not isinstance(metric, dict) or bool(metric.get("error")) or metric.get("score") is None
    record = {**case, "metric": metric, "name_of_metric": name}
    return log_row(f"{where} {name}", record, options, usual, status="missing" if failed else "")


def _first(holder: Any, names: tuple[str, ...]) -> Any:
    return next((holder[name] for name in names if name in holder), None) if isinstance(holder, dict) else None
