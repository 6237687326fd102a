"""Labels made in Label Studio, Argilla and Potato come in: files in the shapes that those tools write themselves."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from annotation.errors import ImportingError
from annotation.importing.labels.results import ResultOptions, ResultRow, Results
from annotation.importing.labels.results_entries import person
from annotation.importing.layouts import RESULT_LAYOUTS
from tests.annotation.layout_trees import json_lines, put
from tests.annotation.result_trees import bring_results, verdicts, winners
from tests.small_study import make_study

PAIR = {"topic": "tides", "system_a": "alpha", "system_b": "beta"}
ADA = {"id": 7, "email": "ada@example.org", "first_name": "Ada", "last_name": "Lovelace"}


def result(name: str, kind: str, **value: Any) -> dict[str, Any]:
    return {"id": "x1", "from_name": name, "to_name": "text", "type": kind, "value": value, "origin": "manual"}


def annotation(*results: dict[str, Any], by: Any = ADA, **changes: Any) -> dict[str, Any]:
    return {
        "id": 1001, "completed_by": by, "result": list(results), "was_cancelled": False, "ground_truth": False,
        "created_at": "2026-03-09T22:16:08.728353Z", "lead_time": 4.288, "task": 1, "last_action": None, **changes,
    }  # fmt: skip


def task(data: dict[str, Any], *annotations: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "id": 12, "data": data, "annotations": list(annotations), "predictions": [], "drafts": [], "meta": {},
        "project": 83, "file_upload": "tasks.json", **changes,
    }  # fmt: skip


def read(layout: str, path: Path, **options: Any) -> Results:
    return RESULT_LAYOUTS[layout].read(path, ResultOptions(key="k", **options))


def told(row: ResultRow) -> tuple[Any, ...]:
    return row.kind, row.rater, row.topic, row.criterion, row.answer, row.status, row.rationale


def test_label_studio_tasks_give_people_judges_answers_and_reasons(tmp_path: Path) -> None:
    why = result("clear_reason", "textarea", text=["reads well", "and short"])
    first = annotation(result("clear", "choices", choices=["A"]), why, result("deep", "rating", rating=4))
    other = annotation(result("clear", "choices", choices=["tie"]), by=9)
    skipped = annotation(result("clear", "choices", choices=["B"]), was_cancelled=True)
    region = result("mark", "labels", start=0, end=3, labels=["good"])
    guess = {"model_version": "mini", "score": 0.5, "result": [result("clear", "choices", choices=["B"]), region]}
    path = put(tmp_path / "export.json", json.dumps([task(PAIR, first, other, skipped, predictions=[guess])]))
    results = read("label_studio", path)
    assert [told(row) for row in results.rows] == [
        ("human", "user-7", "tides", "clear", "alpha", "ok", "reads well\nand short"),
        ("human", "user-7", "tides", "deep", "4", "ok", ""),
        ("human", "user-9", "tides", "clear", "tie", "ok", ""),
        ("judge", "mini", "tides", "clear", "beta", "ok", ""),
    ]
    assert results.rows[0].where == "export.json: task 12 annotation 1 clear"
    assert {row.first for row in results.rows} == {""}  # nobody wrote down what stood left
    assert results.notes == (
        "annotations that were skipped 1",
        "results that answer no question (regions, relations and the like) 1",
    )


def test_sides_of_label_studio_become_systems_only_where_it_is_known_who_stood_left(tmp_path: Path) -> None:
    data = {"query": "tides", "one": "alpha", "two": "beta", "left_is": "beta"}
    found = annotation(result("clear", "pairwise", selected="left"))
    path = put(tmp_path / "export.json", json.dumps([task(data, found)]))
    places = {"topic": "data.query", "system_a": "data.one", "system_b": "data.two"}
    known = read("label_studio", path, columns={**places, "first": "data.left_is"}, labels_are="sides").rows
    assert [(row.answer, row.first) for row in known] == [("beta", "beta")]
    with_first = read("label_studio", path, columns=places, labels_are="sides", first="alpha").rows
    assert [(row.answer, row.first) for row in with_first] == [("alpha", "alpha")]
    assert "pass --labels-are sides" in read("label_studio", path, columns=places).problems[0]
    assert "no order is recorded" in read("label_studio", path, columns=places, labels_are="sides").problems[0]


def test_rows_of_json_min_and_csv_are_one_annotation_each(tmp_path: Path) -> None:
    row = {
        "id": 12, **PAIR, "left": "A long\ntext", "clear": "B", "clear-rationale": "short, and clear", "annotator": 7,
        "annotation_id": 1001, "created_at": "2026-03-09", "updated_at": "2026-03-09", "lead_time": 4.288,
        "deep": [{"rating": 4}],
    }  # fmt: skip
    minimal = put(tmp_path / "min.json", json.dumps([row, row | {"annotator": "ada@example.org", "clear": "tie"}]))
    rows = [told(row) for row in read("label_studio", minimal).rows]
    assert rows == [
        ("human", "user-7", "tides", "clear", "beta", "ok", "short, and clear"),
        ("human", "user-7", "tides", "deep", "4", "ok", ""),
        ("human", person("ada@example.org", "k"), "tides", "clear", "tie", "ok", "short, and clear"),
        ("human", person("ada@example.org", "k"), "tides", "deep", "4", "ok", ""),
    ]
    own = {"pair": "p1", "reply": "Short.", **row}  # as Label Studio writes them: the task's data, its number, the rest
    with_data = read("label_studio", put(tmp_path / "data.json", json.dumps([own])))
    assert [told(row) for row in with_data.rows] == rows[:2]
    assert with_data.notes == ("rows whose pair, reply, before the id, are the task's data and no answers 1",)
    by_name = put(tmp_path / "sorted.json", json.dumps([row], sort_keys=True))
    assert [told(row) for row in read("label_studio", by_name).rows] == rows[:2]
    cells = [value if isinstance(value, str) else json.dumps(value) for value in row.values()]
    content = io.StringIO()
    csv.writer(content).writerows([list(row), cells])
    table = put(tmp_path / "export.csv", content.getvalue())
    assert [told(row) for row in read("label_studio", table).rows] == rows[:2]


def test_an_address_of_a_person_never_enters_a_study(tmp_path: Path) -> None:
    found = annotation(result("clear", "choices", choices=["A"]), by={"email": "Ada@Example.org "})
    rows = read("label_studio", put(tmp_path / "a.json", json.dumps([task(PAIR, found)]))).rows
    record = {"id": "1", "metadata": PAIR, "responses": {"clear": [{"value": "A", "user_id": "ada@example.org"}]}}
    rows += read("argilla", put(tmp_path / "b.json", json.dumps([record]))).rows
    page = {"instance_id": "1", "user_id": "ada@example.org", "labels": {"clear": {"selection": "A"}}}
    put(tmp_path / "p" / "annotations.jsonl", json_lines([page]))
    put(tmp_path / "p" / "data.jsonl", json_lines([{"id": "1", **PAIR}]))
    rows += read("potato", tmp_path / "p").rows
    assert [row.rater for row in rows] == [person("ada@example.org", "k")] * 3
    assert person("ada@example.org", "k").startswith("user-")
    assert "@" not in person("ada@example.org", "k")
    assert person("ada@example.org", "k") != person("ada@example.org", "another database's")


def test_argilla_records_give_responses_and_suggestions(tmp_path: Path) -> None:
    users = ["11111111-2222-3333-4444-555555555555", "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"]
    record = {
        "id": "r1", "fields": {"prompt": "What are tides?"}, "vectors": {}, "_server_id": users[0],
        "metadata": {"qid": "tides", "one": "alpha", "two": "beta"},
        "suggestions": {"clear": {"value": "B", "score": 0.9, "agent": "mini"}},
        "responses": {
            "clear": [{"value": "A", "user_id": users[0]}, {"value": "tie", "user_id": users[1]}],
            "why_clear": [{"value": "reads well", "user_id": users[0]}],
            "deep": [{"value": 7, "user_id": users[1]}],
        },
    }  # fmt: skip
    folder = tmp_path / "dataset"
    put(folder / "records.json", json.dumps([record]))
    put(folder / ".argilla" / "settings.json", "{}")
    places = {"topic": "metadata.qid", "system_a": "metadata.one", "system_b": "metadata.two"}
    expected = [
        ("human", users[0], "tides", "clear", "alpha", "ok", "reads well"),
        ("human", users[1], "tides", "clear", "tie", "ok", ""),
        ("human", users[1], "tides", "deep", "7", "ok", ""),
        ("judge", "mini", "tides", "clear", "beta", "ok", ""),
    ]
    assert [told(row) for row in read("argilla", folder, columns=places).rows] == expected
    flat = {
        "id": "r1", "status": "completed", "qid": "tides", "one": "alpha", "two": "beta",
        "clear.responses": ["A", "tie"], "clear.responses.users": users, "clear.responses.status": ["submitted"] * 2,
        "why_clear.responses": ["reads well"], "why_clear.responses.users": users[:1], "deep.responses": [7],
        "deep.responses.users": users[1:], "clear.suggestion": "B", "clear.suggestion.score": 0.9,
        "clear.suggestion.agent": "mini", "deep.suggestion": None,
    }  # fmt: skip
    draft = flat | {"clear.responses.status": ["draft", "submitted"], "why_clear.responses": None}
    path = put(tmp_path / "flat.jsonl", json_lines([flat]))
    assert [told(row) for row in read("argilla", path, columns=places).rows] == expected
    results = read("argilla", put(tmp_path / "draft.jsonl", json_lines([draft])), columns=places)
    assert [told(row) for row in results.rows] == expected[1:]
    assert results.notes == ("answers in drafts or discarded responses 1",)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of Potato 2.12 with one instance, as its server saves it."""
    put(tmp_path / "config.yaml", "item_properties:\n  id_key: key\n  text_key: text\n")
    row = {"key": "i1", "text": "t", "responses": ["one", "two"], "query": "tides", **PAIR}
    put(tmp_path / "data" / "items.jsonl", json_lines([row]))
    state(tmp_path, "ada", {"clear": {"selection": "B", "justification": json.dumps({"rationale": "reads well"})}})
    return tmp_path


def state(root: Path, user: str, labels: dict[str, dict[str, Any]], **changes: Any) -> None:
    pairs = [[{"schema": scheme, "name": name}, value] for scheme, of in labels.items() for name, value in of.items()]
    content = {
        "user_id": user, "instance_id_ordering": ["i1"], "current_phase_and_page": ["annotation", "annotation"],
        "instance_id_to_label_to_value": {"i1": pairs}, "instance_id_to_span_to_value": {}, **changes,
    }  # fmt: skip
    put(root / "annotation_output" / user / "user_state.json", json.dumps(content))


def test_potato_states_are_joined_with_their_instances(project: Path) -> None:
    machine = {"origin": {"kind": "llm", "model": "mini", "recorded_at": "2026-01-01"}}
    state(project, "bot", {"clear": {"selection": "tie"}, "deep": {"good": "good", "bad": "false"}}, **machine)
    state(project, "ben", {"deep": {"number": "7"}, "deep-why": {"text_box": "it is deep"}})
    assert [told(row) for row in read("potato", project).rows] == [
        ("human", "ada", "tides", "clear", "beta", "ok", "reads well"),
        ("human", "ben", "tides", "deep", "7", "ok", "it is deep"),
        ("judge", "mini", "tides", "clear", "tie", "ok", ""),
        ("judge", "mini", "tides", "deep", "good", "ok", ""),
    ]


@pytest.mark.parametrize(
    ("orders", "answers", "notes"),
    [
        ({"clear": [0, 1], "deep": [0, 1]}, [("clear", "beta", "alpha"), ("deep", "tie", "alpha")], 0),
        ({"clear": [1, 0], "deep": [1, 0]}, [("clear", "alpha", "beta"), ("deep", "tie", "beta")], 0),
        ({"clear": [0, 1], "deep": [1, 0]}, [("deep", "tie", "")], 1),  # one page, two orders: B is nobody
        ({}, [("clear", "beta", ""), ("deep", "tie", "")], 0),
    ],
)
def test_orders_that_potato_recorded_are_followed_unless_they_contradict_the_page(
    project: Path, orders: dict[str, list[int]], answers: list[tuple[str, str, str]], notes: int
) -> None:
    shown = {"instance_id_to_presentation_order": {"i1": orders}}
    state(project, "ada", {"clear": {"selection": "B"}, "deep": {"selection": "tie"}}, **shown)
    results = read("potato", project)
    assert [(row.criterion, row.answer, row.first) for row in results.rows] == answers
    assert len(results.notes) == notes


def test_older_and_exported_files_of_potato_are_read_too(tmp_path: Path) -> None:
    items = json_lines([{"id": "i1", "text": "t", **PAIR}])
    old = {
        "id": "i1", "displayed_text": "t", "label_annotations": {"clear": {"A": "true", "B": False}},
        "span_annotations": {}, "behavioral_data": {"time_string": "Time spent: 0d 0h 0m 5s "},
    }  # fmt: skip
    put(tmp_path / "old" / "items.json", items)
    put(tmp_path / "old" / "annotation_output" / "ada" / "annotated_instances.jsonl", json_lines([old]))
    lines = "instance_id,user_id,annotator_origin,clear.selection,clear-why.text_box\ni1,ada,human,A,short\n"
    put(tmp_path / "new" / "items.jsonl", items)
    put(tmp_path / "new" / "exports" / "annotations.csv", lines)
    assert [told(row) for row in read("potato", tmp_path / "old").rows] == [
        ("human", "ada", "tides", "clear", "alpha", "ok", "")
    ]
    assert [told(row) for row in read("potato", tmp_path / "new").rows] == [
        ("human", "ada", "tides", "clear", "alpha", "ok", "short")
    ]


@pytest.mark.parametrize(
    ("layout", "content", "says"),
    [
        ("label_studio", [1], "export.json: not a list of tasks; export them from Label Studio as JSON"),
        ("label_studio", [{"id": 3}], "export.json: task 3: neither 'data' nor 'annotator'; give an export"),
        (
            "label_studio",
            [task(PAIR, annotation(result("clear", "choices", choices=["A", "B"])))],
            "export.json: task 12 annotation 1: question 'clear' has 2 choices; only questions with one answer",
        ),
        ("label_studio", [task(PAIR, annotations=[5])], "export.json: task 12: annotations are no list of objects"),
        (
            "label_studio",
            [task(PAIR, annotation(result("clear", "choices", choices=["A"]), by=None))],
            "export.json: task 12 annotation 1 clear: does not say who answered; say where it is: --map judge=NAME",
        ),
        (
            "label_studio",
            [task({"calipers": '{"format": "calipers-labels/1"}'})],
            "export.json: task 12: the text under 'calipers' is damaged; export the labels again",
        ),
        (
            "argilla",
            [{"id": "r", "metadata": {}, "responses": {"clear": [{"value": "A", "user_id": "u"}]}}],
            "export.json:1 record r clear: no topic in the metadata; say where it is: --map topic=metadata.NAME",
        ),
        (
            "argilla",
            [{"id": "r", "metadata": PAIR, "responses": {"clear": [{"value": ["a", "b"], "user_id": "u"}]}}],
            "export.json:1 record r clear: a ranking, a span or several labels; only questions with one answer",
        ),
        ("potato", [{"id": "i1"}], "export.json:1: no instance_id and labels; give annotations of Potato"),
    ],
)
def test_what_cannot_be_read_is_named_with_file_task_and_remedy(
    tmp_path: Path, layout: str, content: Any, says: str
) -> None:
    path = put(tmp_path / "export.json", json.dumps(content))
    assert read(layout, path).problems[0].startswith(says)


def test_a_folder_without_annotations_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "data.jsonl", json_lines([{"id": "i1"}]))
    with pytest.raises(ImportingError, match="give a project of Potato"):
        read("potato", tmp_path)


@pytest.mark.databases("sqlite")
def test_a_genuine_export_becomes_labels_of_a_study(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports")
    first = annotation(result("clear", "choices", choices=["A"]), result("Deep", "choices", choices=["tie"]))
    elsewhere = task(PAIR | {"topic": "gravity"}, first)
    path = put(tmp_path / "export.json", json.dumps([task(PAIR, first), elsewhere]))
    report = bring_results(engine, study, path, "label_studio", kind="labels")
    assert (report.new, report.order_unknown, report.matched_by_fallback) == (2, 2, ("Deep -> deep",))
    assert list(report.unmatched) == ["no topic 'gravity' in the study"]
    assert winners(engine, study, "user-7") == {("tides", "clear"): "alpha", ("tides", "deep"): "tie"}
    assert verdicts(engine, study)["presentation"].isna().all()
