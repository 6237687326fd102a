"""Labels as Label Studio 1.x imports them: annotated tasks in JSON, and the labeling configuration of the study.

The task format is that of https://labelstud.io/guide/task_format (data, annotations, predictions; `result` items with
from_name, to_name, type, value), the tags are Choices, Number and TextArea; checked with label-studio-sdk 2.1.2.
`completed_by` is left out: Label Studio takes only ids of its own accounts there, so a number of ours would be refused
or name a stranger. Each annotation says its pseudonym in the text `rater`; a judge is the `model_version`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import pandas as pd

from exports.datasets import tool_labels

TOOL = "Label Studio"
RATER = "rater"
# JSON_MIN and CSV put answers beside the data and beside these
TAKEN = (
    *tool_labels.TAKEN, RATER, "id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement",
)  # fmt: skip
NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_label_studio(verdicts: pd.DataFrame, criteria: tool_labels.Criteria) -> tool_labels.ToolFiles:
    """`tasks.json` and `labeling-config.xml`. `verdicts`: the columns of labels.csv; `criteria`: id -> label, text."""
    tasks = tool_labels.tasks_of(verdicts)
    asked = tool_labels.criteria_asked(tasks, criteria)
    names = tool_labels.tool_names(asked, TAKEN)
    answers = {criterion: tool_labels.answers_of(criterion, tasks, criteria) for criterion in asked}
    scored = {criterion for criterion in asked if _is_scored(answers[criterion])}
    files: dict[str, str | tool_labels.Pieces] = {
        "tasks.json": lambda: tool_labels.listed(
            _task(n, task, names, scored) for n, task in enumerate(tasks, start=1)
        ),
        "labeling-config.xml": _config(tasks, names, scored, answers, criteria),
    }
    not_held = tool_labels.never_held(TOOL, verdicts, tasks, names)
    if timed := sum(label.seconds is not None for task in tasks for label in task.said):
        not_held.append(
            f"The seconds of {tool_labels.labels(timed)}, each by itself: Label Studio keeps one lead_time an "
            "annotation (their sum), a prediction none."
        )
    people = {label.rater[1] for task in tasks for label in task.said if label.rater[0] == "human"}
    if people:
        not_held.append(
            f"Who of {len(people)} people answered, as an account: the pseudonym is the text {RATER!r} of each "
            "annotation, and Label Studio shows whoever imports the file as its author."
        )
    return tool_labels.written(TOOL, files, not_held)


def _is_scored(answers: Sequence[str]) -> bool:
    return bool(answers) and all(tool_labels.number_of(answer) is not None for answer in answers)


def _task(number: int, task: tool_labels.Task, names: Mapping[str, str], scored: set[str]) -> dict[str, Any]:
    seen = next(iter(task.texts))
    return {
        "id": number,
        "data": {**task.place, **task.texts, tool_labels.MARK: task.mark(names)},
        "annotations": [
            {
                "result": [*_results(said, names, scored, seen), _result(RATER, seen, "textarea", {"text": [rater]})],
                "was_cancelled": False,
                "ground_truth": False,
                **_lead_time(said),
            }
            for rater, said in task.by_rater("human").items()
        ],
        "predictions": [
            {"model_version": judge, "result": _results(said, names, scored, seen)}
            for judge, said in task.by_rater("judge").items()
        ],
    }


def _lead_time(said: Sequence[tool_labels.Said]) -> dict[str, float]:
    known = [label.seconds for label in said if label.seconds is not None]
    return {"lead_time": sum(known)} if known else {}


def _results(
    said: Sequence[tool_labels.Said], names: Mapping[str, str], scored: set[str], seen: str
) -> list[dict[str, Any]]:
    results = []
    for label in said:
        name = names[label.criterion]
        if label.criterion in scored:
            results.append(_result(name, seen, "number", {"number": tool_labels.number_of(label.answer)}))
        else:
            results.append(_result(name, seen, "choices", {"choices": [label.answer]}))
        if label.rationale:
            results.append(_result(name + tool_labels.RATIONALE, seen, "textarea", {"text": [label.rationale]}))
    return results


def _result(name: str, seen: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"id": name, "from_name": name, "to_name": seen, "type": kind, "value": value}


def _config(
    tasks: Sequence[tool_labels.Task], names: Mapping[str, str], scored: set[str], answers: Mapping[str, Sequence[str]],
    criteria: tool_labels.Criteria,
) -> str:  # fmt: skip
    """One object for each text, and a question with its rationale for each criterion."""
    view = Element("View")
    texts = dict.fromkeys(name for task in tasks for name in task.texts)
    for text in texts:
        _add(view, "Text", name=text, value=f"${text}")
    seen = next(iter(texts), "report")
    for criterion, name in names.items():
        label, text = tool_labels.words_of(criterion, criteria)
        _add(view, "Header", value=f"{label}: {text}" if text != label else label)
        if criterion in scored:
            _add(view, "Number", name=name, toName=seen, step="any")
        else:
            choices = _add(view, "Choices", name=name, toName=seen, choice="single", showInline="true")
            for answer in answers[criterion]:
                _add(choices, "Choice", value=answer)
        _add(view, "TextArea", name=name + tool_labels.RATIONALE, toName=seen, rows="2", maxSubmissions="1")
    _add(view, "TextArea", name=RATER, toName=seen, maxSubmissions="1", placeholder="Pseudonym of the annotator")
    indent(view)
    return tostring(view, encoding="unicode") + "\n"


def _add(parent: Element, tag: str, **attributes: str) -> Element:
    return SubElement(parent, tag, {name: NOT_IN_XML.sub("\ufffd", value) for name, value in attributes.items()})
