"""Layout `promptfoo`: `promptfoo eval --output FILE.json` (or .jsonl), a result for each test and prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.importing.json_rows import read_json, read_json_rows
from annotation.importing.records import as_text, collecting
from annotation.importing.results import ResultOptions, ResultRow, Results, files
from annotation.importing.results_fields import log_row, metadata_places

PLACES = metadata_places("component.assertion", "vars", "metadata", "testCase.vars", "testCase.metadata")
ERROR = "2"  # ResultFailureReason.ERROR: the call failed, so there is no answer


def read_promptfoo_results(path: Path, options: ResultOptions) -> Results:
    """One row for each graded assertion that names a `metric` (the criterion), with its score, 0 to 1.

    With `--map answer=response.output` (or any other place) it is one row a result: there the prompt asked the judge.
    """
    problems: list[str] = []
    rows: list[ResultRow] = []
    unnamed = 0
    for file, shown in files(path, "*.json*"):
        with collecting(problems):
            for where, result in _results(file, shown, options.encoding, problems):
                records = _records(result, "answer" in options.columns)
                unnamed += not records
                for record in records:
                    with collecting(problems):
                        rows.append(_row(where, record, options))
    notes = (f"results without an assertion that names a metric {unnamed}",) if unnamed else ()
    return Results(tuple(rows), tuple(problems), notes, None if "answer" in options.columns else (0.0, 1.0))


def _results(file: Path, shown: str, encoding: str, problems: list[str]) -> list[tuple[str, dict[str, Any]]]:
    if file.suffix == ".jsonl":
        return [(row.where, row.values) for row in read_json_rows(file, shown, problems, encoding)]
    content = read_json(file, shown, encoding)
    found = content.get("results") if isinstance(content, dict) else None
    found = found.get("results") if isinstance(found, dict) else found
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ImportingError(f"{shown}: no list 'results' of results; write it with promptfoo eval --output {shown}")
    return [(f"{shown}: result {number}", one) for number, one in enumerate(found, start=1)]


def _records(result: dict[str, Any], asked: bool) -> list[dict[str, Any]]:
    """The result itself where --map says where the answer is, else one record for each component with a metric."""
    if asked:
        return [result]
    grading = result.get("gradingResult")
    components = grading.get("componentResults") if isinstance(grading, dict) else None
    listed = components if isinstance(components, list) else []
    graded = [one for one in listed if isinstance(one, dict) and isinstance(one.get("assertion"), dict)]
    return [{**result, "component": one} for one in graded if as_text(one["assertion"].get("metric"))]


def _row(where: str, record: dict[str, Any], options: ResultOptions) -> ResultRow:
    usual = PLACES | {
        "criterion": ["component.assertion.metric", *PLACES["criterion"]], "answer": ["component.score"],
        "reason": ["component.reason", "gradingResult.reason", "error"],
        "judge": ["component.assertion.provider", *PLACES["judge"]],
    }  # fmt: skip
    failed = as_text(record.get("failureReason")) == ERROR
    return log_row(where, record, options, usual, status="missing" if failed else "")
