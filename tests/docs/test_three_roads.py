"""The three roads that open the evaluators' page say what they are shown to say, and every tool there has its section."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from annotation.answer_layouts import ANSWER_LAYOUTS
from app.command_line import run
from tests.docs.shell import ROOT, commands, fences

PAGE, SECTION = "docs/evaluators.md", "Three roads"
SHOWN = [(language, block) for heading, language, block in fences(PAGE) if heading == SECTION]
FILE, NOTEBOOK, PIPELINE = [then for (_, first), (language, then) in pairwise(SHOWN) if language == "text"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "labels.csv").write_bytes((ROOT / "docs" / "labels.csv").read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.mark.parametrize("block", [block for language, block in SHOWN if language != "text"])
def test_each_road_takes_at_most_five_lines(block: str) -> None:
    assert len(block.strip().splitlines()) <= 5


def test_a_file_says_what_is_shown_of_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    doctor, calibrate = [list(one.words[1:]) for one in commands(PAGE) if one.section == SECTION][:2]
    assert run(doctor) == 0
    capsys.readouterr()
    assert run([*calibrate[:2], *calibrate[-2:], "--brief"]) == 0
    assert capsys.readouterr().out.startswith(FILE)


def test_a_notebook_says_what_is_shown_of_it(here: Path) -> None:
    (code,) = [block for language, block in SHOWN if language == "python"]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == NOTEBOOK


def test_a_pipeline_decides_and_writes_what_is_shown_of_it(here: Path) -> None:
    gate = [list(one.words[1:]) for one in commands(PAGE) if one.section == SECTION][2]
    assert run(gate) == 0
    assert (here / "summary.md").read_text("utf-8").startswith(PIPELINE.rstrip("\n"))
    assert (here / "gate.xml").stat().st_size


def test_every_tool_that_people_come_from_has_a_section_of_its_own() -> None:
    text = (ROOT / "docs" / "tools.md").read_text("utf-8")
    heads = [line.removeprefix("## From ") for line in text.splitlines() if line.startswith("## From ")]
    assert len(heads) == len({*heads}) == len(ANSWER_LAYOUTS)
    for layout in ANSWER_LAYOUTS:
        plain = layout.replace("_", "").lower()
        assert any(plain == "".join(filter(str.isalnum, head)).lower() for head in heads), layout
