"""Layout `inspect`: a log of Inspect in its JSON format, a score for each scorer and sample (inspect.aisi.org.uk)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.importing.json_rows import read_json
from annotation.importing.records import as_text, collecting
from annotation.importing.results import ResultOptions, ResultRow, Results, files
from annotation.importing.results_fields import log_row, metadata_places

PLACES = metadata_places("score.metadata", "sample.metadata")
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
                    rows += _rows(shown, log["eval"], sample, scorer, score, options, problems)
    notes = (f"samples without a score {empty}",) if empty else ()
    return Results(tuple(rows), tuple(problems), notes)


def _rows(
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
        several = ["name"] if isinstance(value, dict) else [*PLACES["criterion"], "name"]
        usual = PLACES | {
            "criterion": several, "answer": ["value"], "reason": ["score.explanation"], "run": ["sample.epoch"],
            "judge": [*PLACES["judge"], "eval.model_roles.grader.model"],
        }  # fmt: skip
        unscored = part is None or as_text(part) == UNSCORED
        with collecting(problems):
            rows.append(log_row(where, record, options, usual, status="missing" if unscored else ""))
    return rows
