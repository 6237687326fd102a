"""Exports of other tools with anything in any place: read, or refused in a sentence; never a crash."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.errors import ImportingError
from annotation.importing.labels.results import ResultOptions, Results
from annotation.importing.layouts import RESULT_LAYOUTS

TOLD = {"topic": "t1", "system_a": "a", "system_b": "b", "first": "a", "run": "1", "pass_no": "1"}
FAILED = {"rater": "Ada", "kind": "human", "criterion": "clear", "status": "missing"}
HELD = {"format": "calipers-labels/1", "criteria": {"c1": "clear"}, "raters": {"u1": "Ada"}, "failed": [FAILED]}
OURS = {**TOLD, "calipers": json.dumps(HELD)}
RESULT = {"from_name": "c1", "type": "choices", "value": {"choices": ["left"]}}
WHY = {"from_name": "c1-rationale", "type": "textarea", "value": {"text": ["why"]}}
GIVEN = {"completed_by": {"id": "3"}, "result": [RESULT, WHY]}
RESPONSES = {"c1": [{"value": "left", "user_id": "u1", "status": "submitted"}]}
SUGGESTIONS = {"c1": {"value": "left", "agent": "m"}}
FLAT = {"c1.responses": ["left"], "c1.responses.users": ["u1"], "c1.suggestion": "left", "c1.suggestion.agent": "m"}
PAIRS = [[{"schema": "c1", "name": "A"}, "A"]]
STATE = {
    "user_id": "u1", "origin": {"kind": "human"}, "instance_id_to_presentation_order": {"1": {"c1": ["0", "1"]}},
    "instance_id_to_label_to_value": {"1": PAIRS, "2": {"c1": {"left": "left", "justification": '{"rationale": "x"}'}}},
}  # fmt: skip
LINE = {"instance_id": "1", "user_id": "u1", "labels": {"c1": {"left": "left"}}, "annotator_origin": "human"}
TOOLS: dict[str, tuple[Any, str, Any]] = {
    "label_studio": (
        [{"id": 1, "data": data, "annotations": [GIVEN], "predictions": [GIVEN]} for data in (OURS, TOLD)]
        + [{**data, "annotator": "3", "c1": "left", "c1-rationale": "why"} for data in (OURS, TOLD)],
        "x.json", RESULT_LAYOUTS["label_studio"].read,
    ),
    "argilla": (
        [{"metadata": data, "responses": RESPONSES, "suggestions": SUGGESTIONS} for data in (OURS, TOLD)]
        + [{**data, **FLAT} for data in (OURS, TOLD)],
        "records.json", RESULT_LAYOUTS["argilla"].read,
    ),
    "potato_state": (STATE, "user_state.json", RESULT_LAYOUTS["potato"].read),
    "potato_lines": ([LINE, {**LINE, **TOLD}], "annotations.jsonl", RESULT_LAYOUTS["potato"].read),
}  # fmt: skip
MARKS: tuple[Any, ...] = (
    {"criteria": 5},
    {"raters": [1]},
    {"criteria": {"c1": [1]}},
    {"failed": 3},
    {"failed": [{"rater": []}]},
)
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [
        None, True, 0, -1, 1.5, 10**30, "", "x", "\0", "\ud800", "=cmd()", "9" * 5000, "²", '[{"', '{"a', "[" * 100_000,
        [], {}, [[]], [{}], {"a": {}}, {"": []}, [1, 2], {"text": [{}]}, {"kind": 5},
        *(json.dumps({**HELD, **mark}) for mark in MARKS),
    ]
)  # fmt: skip


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value inside."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inner:
        yield (*above, name)
        yield from places(one, (*above, name))


@pytest.mark.parametrize("tool", TOOLS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_anything_in_any_place_is_read_or_refused(tool: str, tmp_path: Path, data: st.DataObject) -> None:
    content, name, read = copy.deepcopy(TOOLS[tool])
    for _ in range(data.draw(st.integers(1, 2))):
        if not (found := list(places(content))):
            break
        *above, last = data.draw(st.sampled_from(found))
        inner = content
        for step in above:
            inner = inner[step]
        inner[last] = copy.deepcopy(data.draw(ODD))
    rows = content if name.endswith("l") else [content]
    (tmp_path / name).write_text("\n".join(map(json.dumps, rows)))
    options = ResultOptions(
        paired=data.draw(st.booleans()), labels_are=data.draw(st.sampled_from(["sides", "systems"]))
    )
    with suppress(ImportingError):
        read(tmp_path / name, options)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("text", ["", "null", "5", "[", "[" * 1_000_000, '{"a":' * 100_000, "\0", "\ufeff", "[[[]]]"])
def test_what_is_no_export_is_refused(tool: str, tmp_path: Path, text: str) -> None:
    _, name, read = TOOLS[tool]
    (tmp_path / name).write_text(text)
    found = Results(())
    with suppress(ImportingError):
        found = read(tmp_path / name, ResultOptions())
    assert found.problems or not found.rows
