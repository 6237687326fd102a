"""docs/studies/methods.md names nothing that is not there: commands with their options, layouts, protocols, tables."""

from __future__ import annotations

import re
import tomllib
from itertools import pairwise
from typing import Any

import pytest
import typer
from pydantic import TypeAdapter, ValidationError

from annotation.importing.layouts import LAYOUTS, PROBE_LAYOUTS, RESULT_LAYOUTS
from annotation.judges.defining.judge_file import JudgeDefinition
from annotation.protocol import StudyDefaults, shipped_protocols
from app.command_line import app
from app.reproducing.recipes import Recipe, read_recipe, recipe_names
from exports.pack import FIGURES, TABLES
from exports.presets import PRESETS
from tests.studies.page import PAGES

ROW = re.compile(r"\| (.+) \| (done|otherwise|part|not) \| (.+) \|")
ROWS = [match.groups() for line in (PAGES / "methods.md").read_text("utf-8").splitlines() if (match := ROW.match(line))]
NAMES = {*shipped_protocols(), *TABLES, *FIGURES, "topics.csv"}
LAID_OUT = {*LAYOUTS, *PROBE_LAYOUTS, *RESULT_LAYOUTS}


def commands() -> dict[str, set[str]]:
    """Every command by its words, with its options."""
    top = typer.main.get_command(app)
    groups = {f"{name} ": one.commands for name, one in top.commands.items() if hasattr(one, "commands")}
    every = {f"{lead}{name}": one for lead, held in {"": top.commands, **groups}.items() for name, one in held.items()}
    return {name: {flag for option in one.params for flag in option.opts} for name, one in every.items()}


def wrong_setting(key: str, value: Any) -> str:
    """Why no judge and no study has this setting; empty where one has."""
    field = {**JudgeDefinition.model_fields, **StudyDefaults.model_fields}.get(key)
    if field is None:
        return f"no setting {key}"
    try:
        TypeAdapter(field.annotation).validate_python(value)
    except ValidationError as error:
        return str(error)
    return ""


def missing_of(named: str, known: dict[str, set[str]]) -> str:
    """What of a name in the page is not there; empty where all is."""
    if named in NAMES:
        return ""
    if (key := named.partition(" = ")[0]) != named:
        return wrong_setting(key, tomllib.loads(named)[key])
    words = named.split()
    said = [word for word in words if word.startswith("--")]
    command = next((name for n in (2, 1) if (name := " ".join(words[:n])) in known), "")
    if not command and not named.startswith("--"):
        return "no command, protocol, table or setting"
    lacking = [flag for flag in said if not any(flag in known[name] for name in ([command] if command else known))]
    valued = {flag: word for flag, word in pairwise(words) if flag in ("--layout", "--preset")}
    lacking += [word for flag, word in valued.items() if word not in (LAID_OUT if flag == "--layout" else PRESETS)]
    return ", ".join(lacking)


def unnamed_of(recipe: Recipe, page: str) -> set[str]:
    """Tables and figures of the paper with numbers of which the study's part of the page has no row, and protocols."""
    (section,) = [
        one for one in page.split("\n## ") if one.startswith(recipe.title.replace("Bench RACE", "Bench: RACE"))
    ]
    numbered = re.sub(r"(Table|Figure)s (\d+), (\d+)", r"\1 \2, \1 \3", section)
    wanted = {found[0] for number in recipe.number if (found := re.match(r"(Table|Figure) \d+", number.place))}
    named = {*re.findall(r"(?:Table|Figure) \d+", numbered), *re.findall(r"[\w-]+", section)}
    return (wanted | {part.protocol for part in recipe.part if part.protocol in shipped_protocols()}) - named


@pytest.mark.slow
def test_every_row_of_the_methods_names_what_exists_and_what_is_done_names_something() -> None:
    known = commands()
    page = (PAGES / "methods.md").read_text("utf-8")
    recipes = [*map(read_recipe, recipe_names())]
    assert {recipe.title: lacking for recipe in recipes if (lacking := unnamed_of(recipe, page))} == {}
    assert "Table 2" in unnamed_of(recipes[-1], page.replace("Table 2", "")), "the check can fail"
    assert {*shipped_protocols()} - {*re.findall(r"\w+", page)} == {"quick_start"}, "each protocol does some statement"
    assert len(ROWS) > 50
    assert [what for what, standing, named in ROWS if standing == "done" and "`" not in named] == []
    names = {named: what for what, _, told in ROWS for named in re.findall(r"`([^`]+)`", told)}
    assert {named: why for named in names if (why := missing_of(named, known))} == {}
    assert missing_of("pairs --no-such", known) == "--no-such", "the check can fail"
    assert missing_of("import reports --layout nowhere", known) == "nowhere"
    assert missing_of("no_such_protocol", known)
    assert "one_criterion" in missing_of('batching = "by_criterion"', known)
