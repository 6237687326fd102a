"""A dataset: three forms that hold the same rows, a card, Croissant, and no cell that a spreadsheet would run."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exports.datasets.dataset import MARK, write_dataset
from exports.datasets.label_rows import CRITERIA, LABELS, REPORTS, broken
from exports.errors import ExportError
from plain.spreadsheets import RUNS, guarded, unguarded

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
HOSTILE = (
    '=cmd|"/c calc"!A1', "+1+1", "-2+3", "@SUM(A1)", "\tx", "\rx", "'=quoted", "''", "a,b", 'say "so"', "two\nlines",
    "two\r\nlines", "\\input{x} & 50 % of a_b #1 $x^2$ ~", "🙂 emoji", "中文，左边更好", "NA", "null", "<script>", "-7", "",
)  # fmt: skip
FACTS = {
    "title": "A | small *study*", "task": "Which report is better?", "task_type": "pairwise_choice", "protocol": "small",
    "topics": 1, "systems": 2, "languages": ("en", "zh"), "annotators": 2, "seed": 7, "blind_until": "closed",
    "revealed_at": None, "last_label": "2026-11-20", "plan_root": "f" * 64, "versions": {"calipers": "0.1.0"},
    "judges": ({"name": "mini", "model": "acme/mini"},), "is_simulated": True,
}  # fmt: skip
REPORT = {
    "sha256": "a" * 64, "kind": "report", "topic": "tides", "language": "en", "system": "alpha",
    "is_reference": False, "words": 3, "characters": 14,
}  # fmt: skip
CRITERION = {
    "criterion": "clear", "sha256": "c" * 64, "topic": None, "label": "Clear", "text": "Which is clearer?",
    "category": "", "subcategory": "", "weight": 1.0, "is_asked": True,
}  # fmt: skip


def label(number: int = 1, **changes: Any) -> dict[str, Any]:
    """One row as `label_rows` gives it."""
    row = {
        "assignment": f"assignment-{number:05d}", "assignment_status": "submitted", "purpose": "label", "source": "app",
        "item_id": "item-00001", "item_kind": "pair", "topic": "tides", "category": "Nature", "probe": None, "tag": None,
        "claim": None, "beside": None,
        "system_a": "alpha", "system_b": "beta", "presentation": "BA", "rater_id": "annotator-01",
        "rater_kind": "human", "run": 1, "pass_no": 1, "criterion": "clear", "criterion_sha256": "c" * 64,
        "revision": 1, "is_current": True, "status": "ok", "choice": "left", "label": "B", "confidence": None,
        "flags": "", "rationale": "because of that", "evidence": "", "left_sha256": "a" * 64, "right_sha256": "b" * 64, "brought_sha256": None,
        "stripper_version": "8", "renderer_version": "1", "parser_version": None, "after_reveal": False,
        "created_at": "2026-11-20T10:00:00Z",
    }  # fmt: skip
    return row | changes


def made(folder: Path, rows: list[dict[str, Any]], **options: Any) -> Path:
    write_dataset(rows, [REPORT], [CRITERION], FACTS, folder, **options)
    return folder


def hostile_rows() -> list[dict[str, Any]]:
    return [
        label(number, rationale=text, criterion=text, system_a=text, rater_id=text, choice=text)
        for number, text in enumerate(HOSTILE, start=1)
    ]


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", ["labels.csv", "labels.jsonl", "README.md", "croissant.json", MARK])
def test_the_files_of_a_small_study_are_as_a_human_has_read_them(tmp_path: Path, name: str) -> None:
    rows = [
        label(1, revision=1, is_current=False, rationale="=1+1"),
        label(1, revision=2, choice="tie", label="tie", rationale='"so", he said\n中文 🙂'),
        label(2, rater_id="mini", rater_kind="judge", source="judge", confidence=4, choice=None, label=None,
              status="refused", rationale="", parser_version="3", renderer_version=None),
    ]  # fmt: skip
    text = (made(tmp_path, rows, removed={"name": 2, "e-mail": 1}) / name).read_text(encoding="utf-8")
    for path in tmp_path.glob("*.parquet"):  # its bytes name the library that wrote them
        text = text.replace(hashlib.sha256(path.read_bytes()).hexdigest(), f"sha256 of {path.name}")
        text = text.replace(f'"{path.stat().st_size} B"', f'"size of {path.name}"')
    assert text == (GOLDEN / f"dataset_{name}").read_text(encoding="utf-8")


def test_hostile_text_survives_in_all_three_forms(tmp_path: Path) -> None:
    made(tmp_path, hostile_rows())
    parquet = pd.read_parquet(tmp_path / "labels.parquet")
    lines = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text(encoding="utf-8").split("\n")[:-1]]
    cells = read_csv(tmp_path / "labels.csv")
    for column in ("rationale", "criterion", "system_a", "rater_id", "choice"):
        assert tuple(parquet[column]) == HOSTILE
        assert tuple(row[column] for row in lines) == HOSTILE
        assert tuple(unguarded(row[column]) for row in cells) == HOSTILE
    assert list(broken(lines)) == []


def test_no_text_of_the_csv_starts_a_formula(tmp_path: Path) -> None:
    made(tmp_path, hostile_rows())
    cells = [cell for row in read_csv(tmp_path / "labels.csv") for cell in row.values()]
    assert {cell for cell in cells if cell.startswith(RUNS)} == {"-7"}  # a score below 0 is a number, and runs nothing


@given(st.text() | st.text(alphabet="'=+-@\t\r1", max_size=4))
def test_the_quote_before_a_formula_comes_off_again(text: str) -> None:
    assert unguarded(guarded(text)) == text
    assert not guarded(text).startswith(("=", "+", "@", "\t", "\r"))


def test_every_form_loads_in_one_line_with_the_same_rows(tmp_path: Path) -> None:
    rows = [label(number, revision=number, is_current=number == 3) for number in (1, 2, 3)]
    made(tmp_path, rows)
    parquet = pd.read_parquet(tmp_path / "labels.parquet")
    lines = pd.read_json(tmp_path / "labels.jsonl", lines=True, dtype=False)
    table = pd.read_csv(tmp_path / "labels.csv")
    names = [column.name for column in LABELS]
    for frame in (parquet, lines, table):
        assert list(frame.columns) == names
        assert frame["revision"].tolist() == [1, 2, 3]
        assert frame["is_current"].tolist() == [False, False, True]
        assert frame["sha256"].tolist() == parquet["sha256"].tolist()
        assert frame["confidence"].isna().all()
    assert pd.read_parquet(tmp_path / "reports.parquet")["words"].tolist() == [3]
    assert pd.read_json(tmp_path / "criteria.jsonl", lines=True)["criterion"].tolist() == ["clear"]


def test_croissant_describes_every_file_and_every_column(tmp_path: Path) -> None:
    made(tmp_path, [label()], license="CC-BY-4.0")
    told = json.loads((tmp_path / "croissant.json").read_text(encoding="utf-8"))
    assert told["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert told["license"] == "https://spdx.org/licenses/CC-BY-4.0.html"
    for file in told["distribution"]:
        content = (tmp_path / file["contentUrl"]).read_bytes()
        assert file["sha256"] == hashlib.sha256(content).hexdigest()
        assert file["contentSize"] == f"{len(content)} B"
    columns = {one["name"]: [f["source"]["extract"]["column"] for f in one["field"]] for one in told["recordSet"]}
    wanted = {"labels": LABELS, "reports": REPORTS, "criteria": CRITERIA}
    assert columns == {table: [column.name for column in of] for table, of in wanted.items()}
    data = {path.name for path in tmp_path.iterdir()} - {"README.md", "croissant.json", MARK}
    assert {file["name"] for file in told["distribution"]} == data


@pytest.mark.parametrize(
    ("spdx", "front", "words"),
    [
        ("", "license: unknown", "must choose a license"),
        ("CC-BY-4.0", "license: cc-by-4.0", "CC-BY-4.0, chosen by whoever published this."),
        ("ODbL-1.0", "license: odbl", "ODbL-1.0"),
        ("EUPL-1.2", "license: other\nlicense_name: eupl-1.2", "EUPL-1.2"),
    ],
)
def test_the_licence_is_stated_by_its_owner_or_said_to_be_missing(
    tmp_path: Path, spdx: str, front: str, words: str
) -> None:
    card = (made(tmp_path, [label()], license=spdx) / "README.md").read_text(encoding="utf-8")
    assert front in card.split("---\n")[1]
    assert words in card


@pytest.mark.parametrize("spdx", ["cc by", "x\nlicense: mit", "../x", "-"])
def test_what_is_no_licence_id_is_refused(tmp_path: Path, spdx: str) -> None:
    with pytest.raises(ExportError, match="SPDX"):
        made(tmp_path, [label()], license=spdx)


def test_a_row_with_other_columns_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="handle"):
        made(tmp_path, [label() | {"handle": "Ada"}])


def test_texts_are_there_only_if_they_are_wanted(tmp_path: Path) -> None:
    write_dataset([label()], [REPORT | {"text": "=The tides\n\nrise."}], [CRITERION], FACTS, tmp_path, texts=True)
    assert pd.read_parquet(tmp_path / "reports.parquet")["text"].tolist() == ["=The tides\n\nrise."]
    (tmp_path / "without").mkdir()
    assert "text" not in pd.read_parquet(made(tmp_path / "without", [label()]) / "reports.parquet").columns


def test_the_same_study_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        made(tmp_path / name, hostile_rows())
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_progress_counts_label_rows(tmp_path: Path) -> None:
    seen: list[int] = []
    made(tmp_path, [label(number) for number in range(1, 10_502)], advance=seen.append)
    assert seen == [10_000, 10_501]
