"""Layout `deepeval`: a test run as DeepEval saves it (DEEPEVAL_RESULTS_FOLDER): metrics of test cases, 0 to 1."""

from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files import decoding, rows
from annotation.tool_answers import entries

PLACES = entries.metadata_places("metadata", "additionalMetadata")
KIND = " [GEval]"  # DeepEval adds it to the name of a metric that a model was asked in words
CASES, METRICS = ("testCases", "test_cases"), ("metricsData", "metrics_data", "metricsMetadata")


def read_deepeval(path: Path, reading: entries.Reading) -> entries.Found:
    """The criterion is the metric's name, the judge its evaluationModel; with an error, or no score, it is missing."""
    found = entries.Found(scale=(0.0, 1.0))
    for file, shown in reading.files(path, "*"):
        with decoding.collecting(found.problems):
            cases = _first(rows.read_json(file, shown, reading.encoding), CASES)
            if not isinstance(cases, list):
                raise ImportingError(f"{shown}: no list 'testCases'; give a test run that DeepEval saved")
            for number, case in enumerate(cases, start=1):
                metrics = _first(case, METRICS) or []
                if not isinstance(metrics, list):
                    raise ImportingError(
                        f"{shown}: test case {number}: its metrics are no list; give a test run as saved"
                    )
                found.leave("test cases without a metric", int(not metrics))
                found.entries += [_entry(f"{shown}: test case {number}", number, case, metric) for metric in metrics]
    return found


def _entry(where: str, number: int, case: dict[str, Any], metric: Any) -> entries.Entry:
    name = (decoding.as_text(_first(metric, ("name", "metric"))) or "").removesuffix(KIND)
    usual = PLACES | {
        "criterion": ["name_of_metric"], "answer": ["metric.score"], "reason": ["metric.reason", "metric.error"],
        "judge": ["metric.evaluationModel", *PLACES["judge"]],
    }  # fmt: skip
    failed = not isinstance(metric, dict) or bool(metric.get("error")) or metric.get("score") is None
    return entries.Entry(
        f"{where} {name}", {**case, "metric": metric, "name_of_metric": name}, usual,
        status="missing" if failed else "", name=decoding.as_text(case.get("name")) or f"case {number}", unnamed=name,
    )  # fmt: skip


def _first(holder: Any, names: tuple[str, ...]) -> Any:
    return next((holder[name] for name in names if name in holder), None) if isinstance(holder, dict) else None
