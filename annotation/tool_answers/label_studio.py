"""Layout `label_studio`: tasks with annotations as Label Studio exports them: JSON, JSON_MIN or CSV (labelstud.io).

Formats of Label Studio 1.x: https://labelstud.io/guide/export. People are the accounts that completed annotations, by
number; predictions are judges, by model version. Skipped annotations are left out. Our own tasks.json is read too.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import as_text, collecting
from annotation.files.rows import read_csv, read_json
from annotation.tool_answers import entries
from annotation.tool_answers.answers import (
    BOOKKEEPING,
    RATIONALE,
    Answers,
    Mark,
    add_answers,
    add_failed,
    flat_answers,
    mark_of,
)

PLACES = entries.metadata_places("data", "meta")
FIELDS_OF_ROWS = (
    "id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement", "rater", "left", "right",
    "report", *BOOKKEEPING,
)  # fmt: skip
ONE_VALUE = {"choices": "choices", "rating": "rating", "number": "number", "pairwise": "selected"}


def read_label_studio(path: Path, reading: entries.Reading) -> entries.Found:
    """The criterion is a question's name (`from_name`); texts named after it, or beside an only answer, are its reason.

    Topic and systems are the task's data of those names, else as --map says: `--map topic=data.NAME,…`.
    """
    found = entries.Found()
    for file, shown in reading.files(path, "*.json") if path.is_dir() else [(path, path.name)]:
        with collecting(found.problems):
            for where, task in _tasks(file, shown, reading.encoding, found.problems):
                with collecting(found.problems):
                    _add_task(found, where, task, reading)
    return found


def _tasks(file: Path, shown: str, encoding: str, problems: list[str]) -> list[tuple[str, dict[str, Any]]]:
    if file.suffix.lower() == ".csv":
        return [(row.where, row.values) for row in read_csv(file, shown, problems, encoding)[1]]
    content = read_json(file, shown, encoding)
    tasks = content if isinstance(content, list) else [content]
    if not all(isinstance(task, dict) for task in tasks):
        raise ImportingError(f"{shown}: not a list of tasks; export them from Label Studio as JSON, JSON_MIN or CSV")
    return [(f"{shown}: task {as_text(task.get('id')) or number}", task) for number, task in enumerate(tasks, start=1)]


def _add_task(found: entries.Found, where: str, task: Mapping[str, Any], reading: entries.Reading) -> None:
    if not isinstance(task.get("data"), dict):
        _add_flat(found, where, task, reading)
        return
    record = {"data": task["data"], "meta": task.get("meta")}
    name = as_text(task.get("id")) or where
    mark = mark_of(task["data"], where)
    add_failed(found, where, record, mark, PLACES)
    given = [*_listed(task, "annotations", where), *_listed(task, "completions", where)]
    for number, annotation in enumerate(given, start=1):
        if annotation.get("was_cancelled") or annotation.get("skipped"):
            found.leave("annotations that were skipped")
            continue
        with collecting(found.problems):
            at = f"{where} annotation {number}"
            answers, texts = _results(found, at, annotation)
            rater = (texts.pop("rater", "") if mark else "") or _account(annotation.get("completed_by"), reading)
            record_of = {**record, "annotation": annotation}
            add_answers(found, Answers(at, "human", rater, record_of, answers, texts, mark, name=name), reading, PLACES)
    for number, prediction in enumerate(_listed(task, "predictions", where), start=1):
        with collecting(found.problems):
            at = f"{where} prediction {number}"
            answers, texts = _results(found, at, prediction)
            judge = as_text(prediction.get("model_version")) or ""
            record_of = {**record, "prediction": prediction}
            add_answers(found, Answers(at, "judge", judge, record_of, answers, texts, mark, name=name), reading, PLACES)


def _listed(task: Mapping[str, Any], name: str, where: str) -> list[dict[str, Any]]:
    listed = task.get(name) or []
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise ImportingError(f"{where}: {name} are no list of objects (ids alone say nothing); export as JSON in full")
    return listed


def _results(found: entries.Found, where: str, annotation: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Answers and texts by the name of their question. Raises ImportingError for two answers to one question."""
    answers: dict[str, str] = {}
    texts: dict[str, str] = {}
    for result in _listed(annotation, "result", where):
        name, kind = as_text(result.get("from_name")) or "", as_text(result.get("type"))
        value = result.get("value")
        if not isinstance(value, dict) or not name or (kind != "textarea" and kind not in ONE_VALUE):
            found.leave("results that answer no question (regions, relations and the like)")
        elif kind == "textarea":
            texts[name] = _joined(value.get("text"))
        elif name in answers:
            raise ImportingError(f"{where}: question {name!r} is answered twice; keep one answer in Label Studio")
        else:
            answers[name] = _one(value.get(ONE_VALUE[kind]), f"{where}: question {name!r}")
    return answers, texts


def _one(value: Any, where: str) -> str:
    if isinstance(value, list):
        if len(value) > 1:
            raise ImportingError(f"{where} has {len(value)} choices; only questions with one answer can be read")
        value = value[0] if value else ""
    return as_text(value) or ""


def _joined(value: Any) -> str:
    lines = value if isinstance(value, list) else [value]
    return "\n".join(as_text(line) or "" for line in lines)


def _account(completed_by: Any, reading: entries.Reading) -> str:
    """Pseudonym of an account: its number, or a hash of the address it is known by. Names and addresses stay out."""
    if isinstance(completed_by, dict):
        completed_by = completed_by.get("id") or completed_by.get("email")
    text = as_text(completed_by) or ""
    return reading.pseudonym(text) if not text.isdigit() else f"user-{text}"


def _add_flat(found: entries.Found, where: str, row: Mapping[str, Any], reading: entries.Reading) -> None:
    """A row of JSON_MIN or CSV: one annotation, its answers beside the data of its task."""
    name = as_text(row.get("id")) or where
    mark = mark_of(row, where)
    record = {"data": row, **row}
    values = {name: _plain(value) for name, value in row.items()}
    if mark:
        answers, texts = _marked(values, mark)
        rater = values.get("rater") or _account(row.get("annotator"), reading)
    else:
        if not {"annotator", "annotation_id", "annotation"} & set(row):
            raise ImportingError(f"{where}: neither 'data' nor 'annotator'; give an export of Label Studio")
        answers, texts = flat_answers(values, (*FIELDS_OF_ROWS, *_places(reading)), reading)
        names = [*row]  # the task's data, then its number, unless a program has sorted them
        before = {*names[: names.index("id")]} if "id" in row and names != sorted(names) else set[str]()
        if data := [name for name in answers if name in before]:
            found.leave(f"rows whose {', '.join(data)}, before the id, are the task's data and no answers")
            answers = {name: answer for name, answer in answers.items() if name not in before}
        rater = _account(row.get("annotator"), reading)
    add_failed(found, where, record, mark, PLACES, only=rater)
    add_answers(found, Answers(where, "human", rater, record, answers, texts, mark, name=name), reading, PLACES)


def _marked(values: Mapping[str, str], mark: Mark) -> tuple[dict[str, str], dict[str, str]]:
    answers = {name: values[name] for name in mark.criteria if values.get(name)}
    return answers, {name + RATIONALE: values.get(name + RATIONALE, "") for name in answers}


def _places(reading: entries.Reading) -> list[str]:
    """The columns that hold topic and systems rather than answers."""
    return [*PLACES, *(place.removeprefix("data.") for place in reading.places.values())]


def _plain(value: Any) -> str:
    """What JSON_MIN makes of a result, which CSV holds as text of JSON: text, or a list with a table of one value."""
    if isinstance(value, str) and value.startswith(('[{"', '{"')):
        with suppress(ValueError, RecursionError):  # a text that only looks like it stays what it is
            value = json.loads(value, parse_float=str, parse_int=str)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        value = next((value[name] for name in (*ONE_VALUE.values(), "text") if name in value), "")
    return _joined(value)
