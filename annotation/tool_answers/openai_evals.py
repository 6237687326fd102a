"""Layout `openai_evals`: logs of openai/evals, and output items of the Evals API.

Logs of evals 3 (`oaieval … --record_path LOG.jsonl`): a line with the spec, then events with sample_id, type and data.
Output items (GET /v1/evals/ID/runs/ID/output_items): each with the results of its graders.
"""

from pathlib import Path
from typing import Any

from annotation.files.decoding import Row, as_text, collecting
from annotation.tool_answers.entries import Entry, Found, Reading, flat, metadata_places, records

PLACES = metadata_places("data", "datasource_item", "datasource_item.item")
ANSWERED = ("choice", "score", "correct")  # of an event's data, the first that is there


def read_openai_evals(path: Path, reading: Reading) -> Found:
    """The answer of an event is the choice of a model-graded eval, else its score, else whether it was correct.

    The criterion is the eval's name, the judge the last of its completion functions, which grades; of output items,
    the grader's name and its model. Sampling events hold no answer.
    """
    found = Found()
    spec: dict[str, Any] = {}
    for row in records(path, reading, found):
        with collecting(found.problems):
            if isinstance(row.values.get("spec"), dict):
                spec = row.values["spec"]
            elif isinstance(row.values.get("results"), list) and "datasource_item_id" in row.values:
                _add_item(found, row)
            elif "sample_id" in row.values:
                _add_event(found, row, spec)
    return found


def _add_event(found: Found, row: Row, spec: dict[str, Any]) -> None:
    data = row.values.get("data")
    part = next((name for name in ANSWERED if isinstance(data, dict) and data.get(name) is not None), "")
    if not part:
        found.leave("events without an answer (sampling and the like)")
        return
    functions = spec.get("completion_fns")
    judge = as_text(functions[-1]) if isinstance(functions, list) and functions else ""
    held = {**row.values, "spec": spec, "judge": judge, "eval": as_text(spec.get("base_eval") or spec.get("eval_name"))}
    usual = PLACES | flat(criterion=("eval", "type"), answer=f"data.{part}", reason="data.sampled", judge="judge")
    name = as_text(row.values.get("sample_id")) or ""
    found.entries.append(Entry(f"{row.where} sample {name}", held, usual, name=name, unnamed="openai-evals"))


def _add_item(found: Found, row: Row) -> None:
    name = as_text(row.values.get("datasource_item_id")) or ""
    for result in [one for one in row.values["results"] if isinstance(one, dict)]:
        value = result.get("score") if result.get("score") is not None else result.get("passed")
        called = (as_text(result.get("name")) or "grader").partition("-")[0].strip()
        held = {**row.values, "result": result, "called": called, "given": value}
        usual = PLACES | flat(
            criterion="called", answer="given", judge=("result.sample.model", "result.model", "called")
        )
        status = "" if value is not None else "missing"
        found.entries.append(Entry(f"{row.where} {called}", held, usual, status=status, name=name))
