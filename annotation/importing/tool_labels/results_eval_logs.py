"""Layouts of evaluation tools' logs: `inspect`, `deepeval` and `promptfoo`.

`inspect`: a log of Inspect in its JSON format, a score for each scorer and sample (inspect.aisi.org.uk).
`deepeval`: a test run as DeepEval saves it (DEEPEVAL_RESULTS_FOLDER): metrics of test cases, 0 to 1.
`promptfoo`: `promptfoo eval --output FILE.json` (or .jsonl), a result for each test and prompt.
"""

from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import as_text, collecting
from annotation.files.folders import files
from annotation.files.rows import read_json, read_json_rows
from annotation.importing.labels.results import ResultOptions, ResultRow, Results
from annotation.importing.tool_labels.results_fields import log_row, metadata_places

INSPECT_PLACES = metadata_places("score.metadata", "sample.metadata")
UNSCORED = "NaN"  # Score.unscored(): kept in the log, left out of every metric


def read_inspect_results(path: Path, options: ResultOptions) -> Results:
    """The criterion is the metadata's, else the scorer's name; a score that is a table gives one row a name.

    The judge is the model of the role `grader`, else `--judge`, or `--map judge=eval.model` where the judge was the
    model under evaluation.
    """
    if path.suffix == ".eval":
        raise ImportingError(f"{path}: an archive; turn it into JSON first: inspect log convert {path.name} --to json")
    problems: list[str] = []
    rows: list[ResultRow] = []
    empty = 0
    for file, shown in files(path, "*.json"):
        with collecting(problems):
            log = read_json(file, shown, options.encoding)
            if not isinstance(log, dict) or not isinstance(log.get("samples"), list) or "eval" not in log:
                raise ImportingError(f"{shown}: no 'eval' and 'samples'; give a log of Inspect with its samples")
            for sample in log["samples"]:
                scores = sample.get("scores") if isinstance(sample, dict) else None
                if scores and not isinstance(scores, dict):
                    problems.append(f"{shown}: 'scores' of a sample is no object; give a log of Inspect as it wrote it")
                    continue
                empty += not scores
                for scorer, score in (scores or {}).items():
                    rows += _inspect_rows(shown, log["eval"], sample, scorer, score, options, problems)
    notes = (f"samples without a score {empty}",) if empty else ()
    return Results(tuple(rows), tuple(problems), notes)


def _inspect_rows(
    shown: str, run: Any, sample: dict[str, Any], scorer: str, score: Any, options: ResultOptions, problems: list[str]
) -> list[ResultRow]:
    where = f"{shown}: sample {as_text(sample.get('id'))} epoch {as_text(sample.get('epoch')) or 1} {scorer}"
    value = score.get("value") if isinstance(score, dict) else None
    parts = value if isinstance(value, dict) else {scorer: value}
    rows = []
    for name, part in parts.items():
        record = {
            "eval": run,
            "sample": sample,
            "metadata": sample.get("metadata"),
            "score": score,
            "name": name,
            "value": part,
        }
        several = ["name"] if isinstance(value, dict) else [*INSPECT_PLACES["criterion"], "name"]
        usual = INSPECT_PLACES | {
            "criterion": several, "answer": ["value"], "reason": ["score.explanation"], "run": ["sample.epoch"],
            "judge": [*INSPECT_PLACES["judge"], "eval.model_roles.grader.model"],
        }  # fmt: skip
        unscored = part is None or as_text(part) == UNSCORED
        with collecting(problems):
            rows.append(log_row(where, record, options, usual, status="missing" if unscored else ""))
    return rows


DEEPEVAL_PLACES = metadata_places("metadata", "additionalMetadata")
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
                        rows.append(_deepeval_row(f"{shown}: test case {number}", case, metric, options))
    return Results(tuple(rows), tuple(problems), scale=(0.0, 1.0))


def _deepeval_row(where: str, case: dict[str, Any], metric: Any, options: ResultOptions) -> ResultRow:
    name = (as_text(_first(metric, ("name", "metric"))) or "").removesuffix(KIND)
    usual = DEEPEVAL_PLACES | {
        "criterion": ["name_of_metric"], "answer": ["metric.score"], "reason": ["metric.reason", "metric.error"],
        "judge": ["metric.evaluationModel", *DEEPEVAL_PLACES["judge"]],
    }  # fmt: skip
    failed = not isinstance(metric, dict) or bool(metric.get("error")) or metric.get("score") is None
    record = {**case, "metric": metric, "name_of_metric": name}
    return log_row(f"{where} {name}", record, options, usual, status="missing" if failed else "")


def _first(holder: Any, names: tuple[str, ...]) -> Any:
    return next((holder[name] for name in names if name in holder), None) if isinstance(holder, dict) else None


PROMPTFOO_PLACES = metadata_places("component.assertion", "vars", "metadata", "testCase.vars", "testCase.metadata")
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
            for where, result in _promptfoo_results(file, shown, options.encoding, problems):
                records = _promptfoo_records(result, "answer" in options.columns)
                unnamed += not records
                for record in records:
                    with collecting(problems):
                        rows.append(_promptfoo_row(where, record, options))
    notes = (f"results without an assertion that names a metric {unnamed}",) if unnamed else ()
    return Results(tuple(rows), tuple(problems), notes, None if "answer" in options.columns else (0.0, 1.0))


def _promptfoo_results(file: Path, shown: str, encoding: str, problems: list[str]) -> list[tuple[str, dict[str, Any]]]:
    if file.suffix == ".jsonl":
        return [(row.where, row.values) for row in read_json_rows(file, shown, problems, encoding)]
    content = read_json(file, shown, encoding)
    found = content.get("results") if isinstance(content, dict) else None
    found = found.get("results") if isinstance(found, dict) else found
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ImportingError(f"{shown}: no list 'results' of results; write it with promptfoo eval --output {shown}")
    return [(f"{shown}: result {number}", one) for number, one in enumerate(found, start=1)]


def _promptfoo_records(result: dict[str, Any], asked: bool) -> list[dict[str, Any]]:
    """The result itself where --map says where the answer is, else one record for each component with a metric."""
    if asked:
        return [result]
    grading = result.get("gradingResult")
    components = grading.get("componentResults") if isinstance(grading, dict) else None
    listed = components if isinstance(components, list) else []
    graded = [one for one in listed if isinstance(one, dict) and isinstance(one.get("assertion"), dict)]
    return [{**result, "component": one} for one in graded if as_text(one["assertion"].get("metric"))]


def _promptfoo_row(where: str, record: dict[str, Any], options: ResultOptions) -> ResultRow:
    usual = PROMPTFOO_PLACES | {
        "criterion": ["component.assertion.metric", *PROMPTFOO_PLACES["criterion"]], "answer": ["component.score"],
        "reason": ["component.reason", "gradingResult.reason", "error"],
        "judge": ["component.assertion.provider", *PROMPTFOO_PLACES["judge"]],
    }  # fmt: skip
    failed = as_text(record.get("failureReason")) == ERROR
    return log_row(where, record, options, usual, status="missing" if failed else "")
