"""`calipers import reports` as a user types it: every layout by name, a table by its columns, `auto` never silently."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select
from typer.testing import CliRunner, Result

from annotation.errors import ImportingError
from app.command_line import app
from app.settings import database
from db.connect import reading
from db.tables import Topic
from tests.annotation.layout_trees import bench_tree, json_lines, put, text
from tests.small_study import PROTOCOL

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A study, and the command with the words that follow `import reports`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CALIPERS_DATABASE_URL", f"sqlite:///{tmp_path}/x.db")
    put(tmp_path / "small.toml", PROTOCOL)
    put(tmp_path / "a.jsonl", json_lines([{"id": "007", "model": "atlas", "answer": text("one"), "seed": 3}]))
    bench_tree(tmp_path / "bench")
    assert CliRunner().invoke(app, ["init", "s", "--protocol", "small.toml"]).exit_code == 0
    return lambda *words: CliRunner().invoke(app, ["import", "reports", *words])


def test_a_table_comes_in_by_the_columns_the_user_names(run: Run) -> None:
    done = run("a.jsonl", "--layout", "table", "--map", "topic=id,system=model,text=answer", "--keep-columns")
    assert done.stdout.splitlines()[0] == "table: 1 topic, 1 system, 1 report: 1 new, 0 unchanged, 0 empty"
    again = run("a.jsonl", "--layout", "table", "--map", "topic=id,system=model,text=answer", "--json")
    assert (json.loads(again.stdout)["unchanged"], json.loads(again.stdout)["layout"]) == (1, "table")


def test_auto_says_which_layout_it_takes_and_why(run: Run) -> None:
    done = run("bench", "--layout", "auto")
    assert done.stderr.splitlines()[0] == "--layout deepresearch_bench, because of data/prompt_data/query.jsonl"
    assert "2 topics, 3 systems (1 reference), 6 reports: 6 new" in done.stdout


def test_init_brings_a_folder_of_reports_along_as_import_would(run: Run) -> None:
    done = CliRunner().invoke(app, ["init", "one", "--protocol", "small.toml", "--reports", "bench"])
    assert done.stderr.splitlines()[0] == "--layout deepresearch_bench, because of data/prompt_data/query.jsonl"
    again = run("bench", "--layout", "deepresearch_bench", "--study", "one", "--json")
    assert json.loads(again.stdout)["unchanged"] == 6


def test_a_prompt_that_was_missing_is_said_and_may_follow(run: Run, tmp_path: Path) -> None:
    put(tmp_path / "plain/atlas/tides.md", text("one"))
    assert CliRunner().invoke(app, ["init", "asked", "--protocol", "small.toml"]).exit_code == 0
    again = ("plain", "--layout", "folder", "--study", "asked")
    said = "1 topic has no prompt: annotators are asked about a question they cannot see; add topics.csv (topic, title"
    assert said in run(*again).stdout
    put(tmp_path / "plain/topics.csv", "topic,prompt\ntides,Why do they rise?\n")
    after = run(*again).stdout
    assert "no prompt" not in after
    assert "stay as they came" not in after
    with reading(database()) as session:
        assert session.scalars(select(Topic.prompt).where(Topic.key == "tides")).one() == "Why do they rise?"


def test_init_accepts_gaps_as_import_does_and_says_how_to_go_on(run: Run, tmp_path: Path) -> None:
    put(tmp_path / "mine/atlas/rivers.md", text("one"))
    put(tmp_path / "mine/atlas/moons.md", text("two"))
    put(tmp_path / "mine/beta/rivers.md", text("three"))
    begin = ["init", "one", "--protocol", "small.toml", "--reports", "mine"]
    refused = str(CliRunner().invoke(app, begin).exception)
    assert "pass --allow-missing" in refused
    again = "  calipers import reports mine --layout auto --study one"
    assert refused.endswith(
        f"the study 'one' stands, without these reports; once that is mended:\n{again}\n"
        f"or, with these gaps:\n{again} --allow-missing"
    )
    put(tmp_path / "mine/beta/moons.md", " ")
    refused = str(CliRunner().invoke(app, [*begin, "--allow-missing"]).exception)
    assert refused.endswith(f"{again} --allow-missing\nor, with these gaps:\n{again} --allow-missing --allow-empty")
    put(tmp_path / "mine/topics.csv", "topic,topic\n")
    assert str(CliRunner().invoke(app, begin).exception).endswith(again)
    (tmp_path / "mine/topics.csv").unlink()
    (tmp_path / "mine/beta/moons.md").unlink()
    assert "3 reports: 3 new" in CliRunner().invoke(app, [*begin, "--allow-missing", "--layout", "folder"]).stdout


@pytest.mark.parametrize("wrong", [("--reports", "nowhere"), ("--reports", "bench", "--layout", "odd")])
def test_no_study_is_made_for_reports_that_cannot_be_there(run: Run, wrong: tuple[str, ...]) -> None:
    assert CliRunner().invoke(app, ["init", "never", "--protocol", "small.toml", *wrong]).exit_code != 0
    assert "no study called 'never'" in str(run("bench", "--layout", "auto", "--study", "never").exception)


def test_problems_are_all_in_the_json(run: Run) -> None:
    done = run("a.jsonl", "--layout", "table", "--json")
    assert done.exit_code == 1
    assert [problem.split(" (")[0] for problem in json.loads(done.stdout)["problems"]] == [
        "a.jsonl: no column 'topic'",
        "a.jsonl: no column 'system'",
        "a.jsonl: no column 'text'",
    ]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("a.jsonl", "--layout", "folder"), "a.jsonl: not a folder; give the folder that holds the reports, or use --layout table"),
        (("nowhere", "--layout", "auto"), "nowhere: no such folder"),
        (("a.jsonl", "--layout", "table", "--map", "text"), "--map text: no column named"),
        (("a.jsonl", "--layout", "table", "--system", " "), "--system: empty; name the system"),
        (("bench/data", "--layout", "auto"), "cannot tell the layout"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_said_in_one_sentence(run: Run, words: tuple[str, ...], says: str) -> None:
    done = run(*words)
    assert isinstance(done.exception, ImportingError)
    assert says in str(done.exception)


def test_table_options_with_another_layout_are_wrong_use(run: Run) -> None:
    done = run("bench", "--layout", "deepresearch_bench", "--system", "atlas")
    assert done.exit_code == 2
    assert "are for --layout table" in done.stderr
