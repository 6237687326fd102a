"""Labels as Potato 2.12.1 keeps them: a configuration, the instances, and a `user_state.json` for each annotator.

`user_state.json` is what Potato saves, resumes from and exports (`python -m potato.export --format jsonl`); its labels
are pairs of {schema, name} and a value: `selection` A, B or tie for a pairwise scheme, the label itself for radio,
`number` and `text_box` for the rest. A judge is one of its `machine_annotators`, with its origin on its state.
Potato 2.12.1 may record an order for each scheme of a page that shows one. Here an instance is one order: `responses`
are listed as they were shown, A is the first of them, and `first` says which system that was.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from exports.datasets import tool_labels

TOOL = "Potato"
TILES = {"left": "A", "right": "B"}  # Potato calls what stands first A
PAIRWISE = {"left", "right", "tie", "A", "B"}
VALUE = {"pairwise": "selection", "number": "number"}
NOT_IN_YAML = re.compile("[\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff]")  # in JSON, but not in YAML unless escaped


def to_potato(verdicts: pd.DataFrame, criteria: tool_labels.Criteria) -> tool_labels.ToolFiles:
    """`config.yaml`, `data/instances.jsonl` and `annotation_output/RATER/user_state.json`.

    `verdicts`: the columns of labels.csv; `criteria`: id -> label, text.
    """
    tasks = tool_labels.tasks_of(verdicts)
    asked = tool_labels.criteria_asked(tasks, criteria)
    names = tool_labels.tool_names(asked)
    answers = {criterion: tool_labels.answers_of(criterion, tasks, criteria) for criterion in asked}
    kinds = {criterion: _kind(answers[criterion]) for criterion in asked}
    users = _users(tasks)
    schemes = [scheme for one in asked for scheme in _schemes(names[one], kinds[one], answers[one], one, criteria)]
    files: dict[str, str | tool_labels.Pieces] = {
        "config.yaml": _yaml(_config(schemes, users)), "data/instances.jsonl": partial(_instances, tasks, names, users),
    }  # fmt: skip
    said = _by_rater(tasks)
    for rater, user in users.items():
        state = partial(_state, rater, user, said.get(rater, {}), names, kinds)
        files[f"annotation_output/{user}/user_state.json"] = state
    not_held = tool_labels.never_held(TOOL, verdicts, tasks, names)
    if timed := sum(label.seconds is not None for task in tasks for label in task.said):
        not_held.append(f"The seconds of {tool_labels.labels(timed)}: Potato has no place for a criterion's; left out.")
    if renamed := sum(user != name for (_, name), user in users.items()):
        not_held.append(
            f"The names of {renamed} raters: not folders that Potato takes; they stand under {tool_labels.MARK!r}."
        )
    return tool_labels.written(TOOL, files, not_held)


def _kind(answers: Sequence[str]) -> str:
    if set(answers) <= PAIRWISE and {"A", "left"} & set(answers):
        return "pairwise"
    return "number" if answers and all(tool_labels.number_of(answer) is not None for answer in answers) else "radio"


def _users(tasks: Sequence[tool_labels.Task]) -> dict[tool_labels.Rater, str]:
    """Each rater's user id, which is a folder's name as well."""
    keys = {
        label.rater: "\n".join(label.rater) for task in tasks for label in task.said
    }  # a judge may be named like a person
    users = tool_labels.tool_names(keys.values(), fold=lambda key: key.partition("\n")[2])
    return {rater: users[key] for rater, key in keys.items()}


def _schemes(
    name: str, kind: str, answers: Sequence[str], criterion: str, criteria: tool_labels.Criteria
) -> list[dict[str, Any]]:
    label, text = tool_labels.words_of(criterion, criteria)
    scheme: dict[str, Any] = {"annotation_type": kind, "name": name, "description": text}
    if kind == "pairwise":
        scheme |= {"mode": "binary", "items_key": "responses", "allow_tie": "tie" in answers}
    elif kind == "radio":
        scheme["labels"] = list(answers) or ["not_applicable"]
    why = {
        "annotation_type": "text",
        "name": name + tool_labels.RATIONALE,
        "description": f"{label}: why",
        "multiline": True,
    }
    return [scheme, why]


def _config(schemes: Sequence[Mapping[str, Any]], users: Mapping[tool_labels.Rater, str]) -> dict[str, Any]:
    machines = [{"id": user, "kind": "llm", "model": name} for (kind, name), user in users.items() if kind == "judge"]
    return {
        "annotation_task_name": tool_labels.MARK,
        "task_dir": ".",
        "output_annotation_dir": "annotation_output",
        "data_files": ["data/instances.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "annotation_schemes": list(schemes),
        **({"machine_annotators": {"enabled": True, "annotators": machines}} if machines else {}),
    }


def _instances(
    tasks: Sequence[tool_labels.Task], names: Mapping[str, str], users: Mapping[tool_labels.Rater, str]
) -> Iterator[str]:
    """One a line, in ASCII: Potato cuts the file at every line end that Unicode knows."""
    renamed = {user: name for (_, name), user in users.items() if user != name}
    for task in tasks:
        shown = {"responses": list(task.texts.values())} if task.is_pair else {}
        text = str(task.place["topic"]) if task.is_pair else task.texts.get("report", tool_labels.NOT_GIVEN)
        row = {"id": task.id, "text": text, **shown, **task.place, tool_labels.MARK: task.mark(names, renamed)}
        yield json.dumps(row, ensure_ascii=True) + "\n"


def _by_rater(tasks: Sequence[tool_labels.Task]) -> dict[tool_labels.Rater, dict[str, list[tool_labels.Said]]]:
    """rater -> instance -> usable answers, in the order of the instances."""
    found: dict[tool_labels.Rater, dict[str, list[tool_labels.Said]]] = {}
    for task in tasks:
        for kind in ("human", "judge"):
            for name, said in task.by_rater(kind).items():
                found.setdefault((kind, name), {})[task.id] = said
    return found


def _state(
    rater: tool_labels.Rater,
    user: str,
    said: Mapping[str, Sequence[tool_labels.Said]],
    names: Mapping[str, str],
    kinds: Mapping[str, str],
) -> Iterator[str]:
    """One JSON object, whose values are told one by one: a judge has hundreds of thousands."""
    head = {"user_id": user, "instance_id_ordering": list(said), "current_instance_index": 0}
    yield json.dumps(head)[:-1] + ', "instance_id_to_label_to_value": {'
    for number, (key, answers) in enumerate(said.items()):
        pairs = [pair for label in answers for pair in _pairs(label, names[label.criterion], kinds[label.criterion])]
        yield f"{', ' if number else ''}{json.dumps(key)}: {json.dumps(pairs)}"
    origin = {"origin": {"kind": "llm", "model": rater[1]}} if rater[0] == "judge" else {}
    yield "}, " + json.dumps({"instance_id_to_span_to_value": {}, **origin})[1:] + "\n"


def _pairs(label: tool_labels.Said, name: str, kind: str) -> list[tuple[dict[str, str], str]]:
    answer = TILES.get(label.answer, label.answer) if kind == "pairwise" else label.answer
    pairs = [({"schema": name, "name": VALUE.get(kind, answer)}, answer)]
    if label.rationale:
        pairs.append(({"schema": name + tool_labels.RATIONALE, "name": "text_box"}, label.rationale))
    return pairs


def _yaml(config: Mapping[str, Any]) -> str:
    """JSON, which YAML reads as it is."""
    text = json.dumps(config, ensure_ascii=False, indent=2)
    return NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"
