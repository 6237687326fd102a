"""What our exports for annotation tools say is what our import reads: every answer, order, status, word and name."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given

from annotation.importing.labels.results import ResultOptions, ResultRow
from annotation.importing.layouts import RESULT_LAYOUTS
from tests.tool_files import EXPORTERS, hostile_table, labels_table, put_files, tables

Row = tuple[Any, ...]


def read_back(table: pd.DataFrame, tool: str) -> list[Row]:
    """The rows that the import makes of an export, in any order."""
    with tempfile.TemporaryDirectory() as folder:
        return rows_of(tool, put_files(Path(folder), EXPORTERS[tool](table, {})))


def rows_of(tool: str, path: Path) -> list[Row]:
    results = RESULT_LAYOUTS[tool].read(path, ResultOptions())
    assert (results.problems, results.notes) == ((), ())
    return sorted((said(row) for row in results.rows), key=repr)


def said(row: ResultRow) -> Row:
    return (
        row.item, row.topic, row.systems, row.kind, row.rater, row.criterion, row.answer, row.status, row.first,
        row.run, row.pass_no, row.rationale,
    )  # fmt: skip


def written(table: pd.DataFrame) -> list[Row]:
    rows = []
    for row in table.itertuples():
        systems = (row.system_a, row.system_b) if isinstance(row.system_b, str) else (row.system_a or "",)
        named = dict(zip("AB", systems, strict=False)) if len(systems) == 2 else {}
        first = {"AB": row.system_a, "BA": row.system_b}.get(str(row.presentation), "")
        answer = named.get(row.label, row.label) if row.status == "ok" else None
        rows.append(
            (
                row.item_id, row.cluster_id, systems, row.rater_kind, row.rater_id, row.criterion, answer, row.status,
                first, row.run, row.pass_no, row.rationale,
            )
        )  # fmt: skip
    return sorted(rows, key=repr)


@pytest.mark.parametrize("tool", EXPORTERS)
def test_hostile_words_come_back_letter_by_letter(tool: str) -> None:
    assert read_back(hostile_table(), tool) == written(hostile_table())


@pytest.mark.parametrize("tool", EXPORTERS)
@given(table=tables())
def test_any_labels_come_back_as_they_were(tool: str, table: pd.DataFrame) -> None:
    assert read_back(table, tool) == written(table)


def test_pseudonyms_outlive_label_studio_which_puts_its_own_account_on_every_annotation(tmp_path: Path) -> None:
    folder = put_files(tmp_path, EXPORTERS["label_studio"](hostile_table(), {}))
    tasks = json.loads((folder / "tasks.json").read_text(encoding="utf-8"))
    minimal = []
    for task in tasks:
        task |= {"id": task["id"] + 500, "project": 83, "meta": {}, "drafts": []}
        for number, annotation in enumerate(task["annotations"]):
            annotation |= {"id": number, "completed_by": {"id": 1, "email": "admin@example.org"}, "lead_time": 4.2}
            shown = {one["from_name"]: next(iter(one["value"].values())) for one in annotation["result"]}
            plain = {name: value[0] if isinstance(value, list) else value for name, value in shown.items()}
            minimal.append({**task["data"], **plain, "id": task["id"], "annotator": 1, "annotation_id": number})
    (folder / "tasks.json").write_text(json.dumps(tasks), encoding="utf-8")
    assert rows_of("label_studio", folder) == written(hostile_table())
    path = tmp_path / "min.json"  # JSON_MIN has no predictions, and no row for a task without annotations
    path.write_text(json.dumps(minimal), encoding="utf-8")
    usable = hostile_table().query("rater_kind == 'human' and status == 'ok'")
    assert rows_of("label_studio", path) == written(usable)


def test_what_potato_itself_exports_of_our_files_says_the_same(tmp_path: Path) -> None:
    folder = put_files(tmp_path, EXPORTERS["potato"](hostile_table(), {}))
    lines = []
    for path in sorted((folder / "annotation_output").rglob("user_state.json")):
        state = json.loads(path.read_text(encoding="utf-8"))
        for instance, pairs in state["instance_id_to_label_to_value"].items():
            labels: dict[str, dict[str, str]] = {}
            for label, value in pairs:
                labels.setdefault(label["schema"], {})[label["name"]] = value
            origin = {"annotator_origin": state.get("origin", {"kind": "human"})}
            lines.append(
                {"instance_id": instance, "user_id": state["user_id"], **origin, "labels": labels, "spans": {}}
            )
        path.unlink()
    content = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "annotations.jsonl").write_text(content, encoding="utf-8")
    assert rows_of("potato", folder) == written(hostile_table())


def test_who_goes_on_labelling_our_tasks_in_label_studio_is_a_rater_of_their_own(tmp_path: Path) -> None:
    folder = put_files(tmp_path, EXPORTERS["label_studio"](labels_table({"presentation": "BA"}), {}))
    (task,) = json.loads((folder / "tasks.json").read_text(encoding="utf-8"))
    answer = {"from_name": "clear", "to_name": "left", "type": "choices", "value": {"choices": ["left"]}}
    task["annotations"].append({"completed_by": 7, "result": [answer]})
    (folder / "tasks.json").write_text(json.dumps([task]), encoding="utf-8")
    rows = RESULT_LAYOUTS["label_studio"].read(folder, ResultOptions()).rows
    assert [(row.rater, row.answer, row.first) for row in rows] == [
        ("annotator-01", "alpha", "beta"), ("user-7", "beta", "beta"),
    ]  # fmt: skip
