"""docs/notebook.ipynb runs from its first cell to its last, and shows what it says it shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.docs.notebooks import code_cells, executed

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


@pytest.fixture(scope="module")
def notebook() -> dict[str, Any]:
    return json.loads(NOTEBOOK.read_text("utf-8"))


def words(outputs: list[dict[str, Any]]) -> list[Any]:
    """What a cell prints and shows as text; pictures are compared by whether there is one."""
    data = [one["data"] if "data" in one else {"printed": one["text"]} for one in outputs]
    return [{kind: bool(value) if kind == "image/png" else value for kind, value in one.items()} for one in data]


@pytest.mark.slow  # some seconds: intervals by resampling, and every figure of a report
def test_every_cell_runs_and_shows_what_stands_below_it(notebook: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_bytes((ROOT / "docs" / "labels.csv").read_bytes())
    shown = list(executed(notebook, tmp_path))
    assert [words(one) for one in shown] == [words(cell["outputs"]) for cell in code_cells(notebook)]


def test_it_is_a_notebook_that_has_been_run_and_asks_every_question(notebook: dict[str, Any]) -> None:
    assert (notebook["nbformat"], {cell["cell_type"] for cell in notebook["cells"]}) == (4, {"markdown", "code"})
    cells = code_cells(notebook)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    source = "".join("".join(cell["source"]) for cell in cells)
    asked = (
        "read(",
        ".check(",
        ".agreement(",
        ".choose(margin=",
        ".choose(at_least=",
        ".bias(",
        ".plan(",
        ".plot(",
        ".report(",
    )
    assert [one for one in asked if one not in source] == []
