"""Labels as records of Argilla 2: `Dataset.records.from_json` reads the records, `Settings.from_json` the settings.

The shapes are those of argilla 2.8.0: `Record.to_dict` and `Settings.serialize`; names, ratings and options keep the
limits of argilla-server 2.8 (names of a-z, 0-9, _ and -; whole ratings from 0 to 10; two options or more).
People's answers are responses of users with made-up ids; a judge's are suggestions. A question holds one suggestion,
so each pass of a judge is a record of its own.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pandas as pd

from exports.datasets import tool_labels

TOOL = "Argilla"
SAFE = re.compile(r"[^a-z0-9_-]+")
RATINGS = range(11)
TITLE, DESCRIPTION, OPTION = 500, 1000, 200  # characters that the server takes


def to_argilla(verdicts: pd.DataFrame, criteria: tool_labels.Criteria) -> tool_labels.ToolFiles:
    """`records.json` and `settings.json`. `verdicts`: the columns of labels.csv; `criteria`: id -> label, text."""
    tasks = tool_labels.tasks_of(verdicts)
    asked = tool_labels.criteria_asked(tasks, criteria)
    names = tool_labels.tool_names(asked, tool_labels.TAKEN, SAFE, str.lower)
    options = {criterion: tool_labels.answers_of(criterion, tasks, criteria) for criterion in asked}
    kinds = {criterion: _kind(options[criterion]) for criterion in asked}
    people = dict.fromkeys(label.rater[1] for task in tasks for label in task.said if label.rater[0] == "human")
    users = {name: str(uuid5(NAMESPACE_URL, f"{tool_labels.MARK}:{name}")) for name in people}
    files: dict[str, str | tool_labels.Pieces] = {
        "records.json": lambda: tool_labels.listed(
            record for task in tasks for record in _records(task, names, kinds, users)
        ),
        "settings.json": json.dumps(_settings(tasks, names, kinds, options, criteria), ensure_ascii=False, indent=1)
        + "\n",
    }
    not_held = tool_labels.never_held(TOOL, verdicts, tasks, names)
    if timed := sum(label.seconds is not None for task in tasks for label in task.said):
        not_held.append(f"The seconds of {tool_labels.labels(timed)}: Argilla has no place for them; left out.")
    for criterion in asked:
        if kinds[criterion] == "text":
            not_held.append(
                f"The answers to {criterion!r} as a scale or a choice: Argilla rates only whole numbers from 0 to 10 "
                "and chooses among two options or more, so they stand as text."
            )
    if people:
        not_held.append(
            f"Who of {len(people)} people answered, as an account: Argilla knows users by ids of its own; ours are "
            f"made up and their pseudonyms stand under the key {tool_labels.MARK!r}. A server that does not know them "
            f"refuses them."
        )
    return tool_labels.written(TOOL, files, not_held)


def _kind(options: Sequence[str]) -> str:
    numbers = [tool_labels.number_of(option) for option in options]
    if numbers and all(number is not None for number in numbers):
        return "rating" if all(number in RATINGS for number in numbers) else "text"
    return "label_selection" if len(options) > 1 and max(map(len, options)) <= OPTION else "text"


def _records(
    task: tool_labels.Task, names: Mapping[str, str], kinds: Mapping[str, str], users: Mapping[str, str]
) -> list[dict[str, Any]]:
    """One record with the people's responses (and what failed), then one for each judge."""
    humans = task.by_rater("human")
    responses: dict[str, list[dict[str, Any]]] = {}
    for rater, said in humans.items():
        for question, value in _values(said, names, kinds).items():
            response = {"value": value, "user_id": users[rater], "status": "submitted"}
            responses.setdefault(question, []).append(response)
    theirs = {user: name for name, user in users.items() if name in humans}
    records = []
    if humans or any(label.status != "ok" for label in task.said):
        records.append(_record(task, task.id, task.mark(names, theirs), responses, {}))
    bare = tool_labels.Task(task.id, task.place, task.texts).mark(names)
    for judge, said in task.by_rater("judge").items():
        suggestions = {
            question: {"value": value, "score": None, "agent": judge}
            for question, value in _values(said, names, kinds).items()
        }
        records.append(_record(task, f"{task.id}.{judge}", bare, {}, suggestions))
    return records


def _record(
    task: tool_labels.Task,
    key: str,
    mark: str,
    responses: dict[str, list[dict[str, Any]]],
    suggestions: dict[str, dict[str, Any]],
) -> dict[str, Any]:
    return {
        "id": key, "fields": dict(task.texts), "metadata": {**task.place, tool_labels.MARK: mark},
        "suggestions": suggestions,
        "responses": responses, "vectors": {},
    }  # fmt: skip


def _values(
    said: Sequence[tool_labels.Said], names: Mapping[str, str], kinds: Mapping[str, str]
) -> dict[str, str | int | float]:
    values: dict[str, str | int | float] = {}
    for label in said:
        name = names[label.criterion]
        number = tool_labels.number_of(label.answer) if kinds[label.criterion] == "rating" else None
        values[name] = label.answer if number is None else number
        if label.rationale:
            values[name + tool_labels.RATIONALE] = label.rationale
    return values


def _settings(
    tasks: Sequence[tool_labels.Task], names: Mapping[str, str], kinds: Mapping[str, str],
    options: Mapping[str, Sequence[str]],
    criteria: tool_labels.Criteria,
) -> dict[str, Any]:  # fmt: skip
    fields = dict.fromkeys(name for task in tasks for name in task.texts)
    questions = []
    for criterion, name in names.items():
        label, text = tool_labels.words_of(criterion, criteria)
        settings: dict[str, Any] = {"type": kinds[criterion]}
        if kinds[criterion] == "rating":
            settings["options"] = [{"value": value} for value in RATINGS]
        elif kinds[criterion] == "label_selection":
            settings["options"] = [{"text": option, "value": option} for option in options[criterion]]
        questions.append(_question(name, label, text, settings, required=True))
        questions.append(_question(name + tool_labels.RATIONALE, f"{label}: why", "", {"type": "text"}, required=False))
    held = dict.fromkeys(name for task in tasks for name in task.place)
    return {
        "guidelines": None,
        "questions": questions,
        "fields": [_named(name, name, {"type": "text", "use_markdown": False}, required=True) for name in fields],
        "vectors": [],
        "metadata": [
            {
                **_named(
                    name,
                    name,
                    {"type": "integer" if name in tool_labels.WHOLE else "terms", "visible_for_annotators": False},
                ),
                "visible_for_annotators": False,
            }
            for name in tool_labels.PLACES
            if name in held
        ],
        "allow_extra_metadata": True,
        "distribution": {"strategy": "overlap", "min_submitted": 1},
        "mapping": None,
    }


def _question(name: str, title: str, description: str, settings: dict[str, Any], *, required: bool) -> dict[str, Any]:
    extra = {"use_markdown": False} if settings["type"] == "text" else {}
    description = description[:DESCRIPTION]
    return _named(name, title, settings | extra, required=required, description=description or None)


def _named(name: str, title: str, settings: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {"name": name, "title": title[:TITLE], "settings": settings, **others}
