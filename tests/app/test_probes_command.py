"""`calipers import probes` as a user types it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner, Result

from annotation.errors import AnnotationError, ImportingError
from annotation.importing.layouts import PROBE_LAYOUTS
from app.command_line import app
from tests.annotation.layout_trees import put
from tests.annotation.probe_trees import asking, gym_probes, table
from tests.small_study import PROBES, PROTOCOL, write_reports

Run = Callable[..., Result]
ROWS = [
    {"id": "1", "topic": "tides", "claim": "It rises,\ntwice.", "system": "alpha", "note": "x"},
    {"id": "2", "topic": "tides", "claim": "It falls.", "system": "", "note": ""},
]
MAP = ("--layout", "table", "--map", "probe_id=id,text=claim")


@pytest.fixture
def run(engine_here: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A study of claims with reports, and the command with the words that follow `import probes`."""
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "small.toml", PROBES)
    put(tmp_path / "claims.csv", table(ROWS))
    write_reports(tmp_path / "reports")
    for words in (["init", "s", "--protocol", "small.toml"], ["import", "reports", "reports", "--layout", "folder"]):
        assert CliRunner().invoke(app, words).exit_code == 0
    return lambda *words: CliRunner().invoke(app, ["import", "probes", *words])


def test_an_unknown_layout_is_told_every_known_one(run: Run) -> None:
    told = run("claims.csv", "--layout", "odd").output
    assert [name for name in PROBE_LAYOUTS if name not in told] == []


def test_a_table_comes_in_is_told_and_planned(run: Run) -> None:
    tried = run("claims.csv", *MAP, "--dry-run")
    assert tried.stderr == "dry run: nothing was written\n"
    done = run("claims.csv", *MAP)
    assert tried.stdout == done.stdout
    assert done.stdout.splitlines() == [
        "table: 2 probes (claim) on 1 topic, about 3 reports: 4 items, 4 new, 0 unchanged",
        "columns left out 1 (note)",
    ]
    again = json.loads(run("claims.csv", *MAP, "--json").stdout)
    assert (again["items"], again["new"], again["unchanged"]) == (4, 0, 4)
    plan = CliRunner().invoke(app, ["pairs", "--total", "3", "--json"])
    assert [(one["system"], one["items"]) for one in json.loads(plan.stdout)["systems"]] == [
        ("alpha", 1), ("beta", 1), ("gamma", 1),
    ]  # fmt: skip


def test_a_published_tree_comes_in_by_its_layout(run: Run, tmp_path: Path) -> None:
    put(tmp_path / "points.toml", asking("key point").replace('name = "small"', 'name = "points"'))
    put(tmp_path / "gym_reports/alpha/12.md", "A report on salt. " * 20)
    CliRunner().invoke(app, ["init", "points", "--protocol", "points.toml"])
    CliRunner().invoke(app, ["import", "reports", "gym_reports", "--layout", "folder", "--study", "points"])
    gym_probes(tmp_path / "gym")
    done = run("gym", "--layout", "deepresearchgym", "--study", "points")
    assert done.stdout.splitlines() == [
        "deepresearchgym: 3 probes (key point) on 1 topic, about 1 report: 2 items, 2 new, 0 unchanged",
        "left out, topics that the study does not have 1 (99)",
        "queries without key points 2 (7, 8)",
    ]


def test_problems_are_all_in_the_json_and_a_change_needs_a_word(run: Run, tmp_path: Path) -> None:
    run("claims.csv", *MAP)
    put(tmp_path / "claims.csv", table([ROWS[0] | {"claim": "It stays."}, ROWS[1] | {"topic": "tide"}]))
    done = run("claims.csv", *MAP, "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["problems"] == [
        "claims.csv:3: no topic 'tide' in the study; did you mean 'tides'?",
        "claims.csv:2: probe '1' about 'alpha' differs from what was imported before; pass --replace to take the file's",
    ]
    put(tmp_path / "claims.csv", table([ROWS[0] | {"claim": "It stays."}]))
    assert "0 new, 0 unchanged, 1 replaced" in run("claims.csv", *MAP, "--replace").stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("nowhere.csv", "--layout", "table"), "nowhere.csv: no such file or folder; give what holds the probes"),
        (("claims.csv", "--layout", "wlc"), "claims.csv: not a folder"),
        (("reports", "--layout", "table"), "reports: not a file; give one file that ends in"),
        (("claims.csv", "--layout", "table", "--map", "txt=claim"), "no field 'txt' (there are: probe_id, topic, text"),
        (("reports", "--layout", "deepresearchgym"), "no claims found; expected files like"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence(run: Run, words: tuple[str, ...], says: str) -> None:
    done = run(*words)
    assert isinstance(done.exception, ImportingError)
    assert says in str(done.exception)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("claims.csv", "--layout", "csv"), "no layout 'csv'; choose one of"),
        (("reports", "--layout", "wlc", "--map", "text=claim"), "is for --layout table, not wlc"),
    ],
)
def test_wrong_use_is_told_as_such(run: Run, words: tuple[str, ...], says: str) -> None:
    done = run(*words)
    assert done.exit_code == 2
    assert says in done.stderr


def test_a_study_that_asks_about_no_probes_refuses_them(run: Run, tmp_path: Path) -> None:
    put(tmp_path / "pairs.toml", PROTOCOL.replace('name = "small"', 'name = "pairs"'))
    CliRunner().invoke(app, ["init", "other", "--protocol", "pairs.toml"])
    done = run("claims.csv", *MAP, "--study", "other")
    assert isinstance(done.exception, AnnotationError)
    assert str(done.exception) == "the study is a pairwise_choice; probes need a probe_label, such as drg_keypoints"
