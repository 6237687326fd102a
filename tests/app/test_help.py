"""Help: a table of contents that fits a terminal, an example for every command, and nothing heavy loaded for it."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import typer

from annotation.answer_layouts import ANSWER_LAYOUTS
from annotation.importing import layouts
from app.command_line import ROAD, app, run
from app.commands import tidying
from app.commands.items import importing
from app.commands.results import calibrating
from calibration.settings import REQUIRABLE

ROOT = Path(__file__).resolve().parents[2]
BRACKETED = re.compile(r"\[[^\[\]]+\]")
HEAVY = ("pandas", "numpy", "scipy", "sklearn", "sqlalchemy", "alembic", "streamlit", "litellm", "matplotlib", "jinja2")  # fmt: skip


def tree() -> dict[str, Any]:
    """Every group and command by its words: '' is `calipers` itself."""
    found: dict[str, Any] = {}

    def walk(command: Any, words: str) -> None:
        found[words] = command
        for name, child in getattr(command, "commands", {}).items():
            walk(child, f"{words} {name}".strip())

    walk(typer.main.get_command(app), "")
    return found


GROUPS = [words for words, command in tree().items() if hasattr(command, "commands")]
COMMANDS = [words for words, command in tree().items() if not hasattr(command, "commands")]


@pytest.fixture
def help_of(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("COLUMNS", "80")

    def shown(words: str) -> str:
        assert run([*words.split(), "--help"]) == 0
        return capsys.readouterr().out

    return shown


def test_help_is_a_table_of_contents_in_the_order_of_a_study(help_of: Any) -> None:
    said = help_of("")
    heads = [line.strip("╭─╮ ") for line in said.splitlines() if line.startswith("╭─")]
    assert heads == ["Options", *ROAD]
    listed = [line.split()[1] for line in said.split("The study")[1].splitlines() if line.startswith("│ ")]
    assert listed == " ".join(ROAD.values()).split()
    first_steps = said.split("First steps:")[1]
    assert [line.split()[1] for line in first_steps.splitlines() if line.startswith("   calipers")] == ["demo", "serve", "calibrate", "show"]  # fmt: skip


@pytest.mark.parametrize("words", GROUPS)
def test_every_entry_of_the_contents_fits_one_line(words: str, help_of: Any) -> None:
    command = tree()[words]
    part = help_of(words).split("Show this message and exit.")[1]
    lines = [line for line in part.splitlines() if line.startswith("│")]
    assert len(lines) == len(command.commands)
    assert all(line.rstrip("│ ").endswith(".") for line in lines)


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_has_help_with_an_example_and_no_bracket_of_it_vanishes(words: str, help_of: Any) -> None:
    command, said = tree()[words], " ".join(help_of(words).replace("│", " ").split())
    assert f"Example: calipers {words}" in said
    told = " ".join([command.help, *(one.help or "" for one in command.params)])
    assert [one for one in BRACKETED.findall(told) if one not in said] == []


def test_brackets_in_help_are_shown(help_of: Any) -> None:
    assert "(names are shown as [system])" in " ".join(help_of("audit").replace("│", " ").split())


def test_every_command_can_print_json() -> None:
    lacking = [words for words in COMMANDS if "as_json" not in {one.name for one in tree()[words].params}]
    assert lacking == ["serve", "show"]


def test_help_does_not_wait_for_statistics_or_databases() -> None:
    asked = ["--help", "judge --help", "calibrate --help", "statu", "--version"]
    code = f"import sys; from app.command_line import run; [run(words.split()) for words in {asked}]; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_names_written_out_so_that_help_need_not_load_them_are_those_that_are_read() -> None:
    assert (*layouts.LAYOUTS, layouts.AUTO) == (*importing.LAYOUTS, importing.AUTO)
    assert {*ANSWER_LAYOUTS} == {*tidying.LAYOUTS}
    assert REQUIRABLE == calibrating.REQUIRABLE


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"calipers {version('calipers')}\n"
