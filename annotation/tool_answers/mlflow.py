"""Layout `mlflow`: assessments of MLflow's traces, and evaluation tables with a column a metric.

Traces of MLflow 3 (`mlflow.search_traces` as JSON or Parquet, `mlflow traces search --output json`, Trace.to_dict):
each holds assessments by people, judges and code. Tables of `mlflow.evaluate` (eval_results_table.json): columns such
as `faithfulness/v1/score` and `faithfulness/v1/justification`, or `relevance/value` and `relevance/rationale`.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation.files.decoding import Row, as_text, collecting
from annotation.tool_answers.entries import Entry, Found, Reading, flat, metadata_places, one_of, records, value_of

KINDS = {"HUMAN": "human", "LLM_JUDGE": "judge", "AI_JUDGE": "judge", "CODE": "judge"}
METRIC = re.compile(r"(?P<name>.+?)(?:/(?P<version>v\d+))?/(?P<part>score|value|rating)")
WHY = ("justification", "rationale")
PLACES = metadata_places("metadata", "tags", "info.tags", "inputs")
IDS = ("trace_id", "request_id", "id", "question_id")


def read_mlflow(path: Path, reading: Reading) -> Found:
    """Criterion: an assessment's or a metric's name; item: the trace, else the row. Expectations are no answers.

    An assessment that a later one took the place of (`valid` false) is left out.
    """
    found = Found()
    for number, row in enumerate(records(path, reading, found, ("traces", "data")), start=1):
        with collecting(found.problems):
            info = value_of(row.values.get("info"))
            trace = {**row.values, **(info if isinstance(info, dict) else {})}
            listed = value_of(trace.get("assessments"))
            if isinstance(listed, list):
                _add_trace(found, row, trace, listed, reading)
            else:
                _add_row(found, row, number)
    return found


def _add_trace(found: Found, row: Row, trace: dict[str, Any], listed: list[Any], reading: Reading) -> None:
    name = as_text(one_of(trace, "trace_id", "request_id")) or row.where
    found.leave("traces without an assessment", int(not listed))
    for one in [one for one in listed if isinstance(one, dict)]:
        if "feedback" not in one or one["feedback"] is None:
            found.leave("expectations, which are no answers", 1)
        elif one.get("valid") in (False, "false", "False"):
            found.leave("assessments that a later one took the place of", 1)
        else:
            found.entries.append(_assessed(row.where, trace, one, name, reading))


def _assessed(where: str, trace: dict[str, Any], one: dict[str, Any], name: str, reading: Reading) -> Entry:
    called = as_text(one_of(one, "assessment_name", "name")) or ""
    held_source = one.get("source")
    source = held_source if isinstance(held_source, Mapping) else {}
    kind = KINDS.get((as_text(source.get("source_type")) or "").upper(), "")
    who = as_text(source.get("source_id")) or ("annotator" if kind == "human" else called)
    feedback = one["feedback"]
    value = feedback.get("value") if isinstance(feedback, Mapping) else feedback
    failed = bool(one.get("error")) or (isinstance(feedback, Mapping) and bool(feedback.get("error")))
    held = {
        **trace, "assessment": one, "called": called, "given": value,
        "rater": reading.pseudonym(who) if kind == "human" else who,
    }  # fmt: skip
    usual = PLACES | flat(criterion="called", answer="given", reason="assessment.rationale", judge="rater")
    status = "invalid" if failed else "missing" if as_text(value) in (None, "") else ""
    return Entry(f"{where} {called}", held, usual, status=status, kind=kind, name=name)


def _add_row(found: Found, row: Row, number: int) -> None:
    metrics = [(column, told) for column in row.values if (told := METRIC.fullmatch(column))]
    found.leave("rows without a column METRIC/v1/score or METRIC/value", int(not metrics))
    for column, told in metrics:
        value, stem = as_text(row.values[column]) or "", column.rpartition("/")[0]
        why = next((f"{stem}/{part}" for part in WHY if f"{stem}/{part}" in row.values), "")
        held = {**row.values, "called": told["name"], "given": value, "rater": f"mlflow-{told['name']}"}
        usual = PLACES | flat(criterion="called", answer="given", reason=why or "rationale", judge="rater")
        status = "" if value and value.lower() not in ("nan", "none") else "missing"
        name = as_text(one_of(row.values, *IDS)) or f"row {number}"
        found.entries.append(Entry(f"{row.where} {told['name']}", held, usual, status=status, name=name))
