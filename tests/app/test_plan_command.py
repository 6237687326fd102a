"""`calipers plan` as a user types it: from assumptions, from a labels file, from a study; and what it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from sqlalchemy import Engine
from typer.testing import CliRunner

from annotation.errors import AnnotationError
from app.command_line import app
from app.settings import database, settings
from calibration.errors import CalibrationError
from tests.calibration.studies import made_pairs
from tests.disputed_study import make_disputed

ROOT = Path(__file__).resolve().parents[2]


def plan(*words: object, width: int = 200) -> Result:
    return CliRunner().invoke(app, ["plan", *map(str, words)], env={"COLUMNS": str(width)})


def planned(*words: object) -> dict[str, Any]:
    done = plan(*words, "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    made_pairs(pairs=24).to_csv(tmp_path / "labels.csv", index=False)
    return tmp_path / "labels.csv"


@pytest.fixture
def fresh() -> Iterator[None]:
    settings.cache_clear()
    database.cache_clear()
    yield
    settings.cache_clear()
    database.cache_clear()


def test_assumptions_give_the_published_numbers_and_what_they_cost() -> None:
    found = planned("--minutes-per-pair", 20, "--rate", 10, "--judge-cost", 0.3, "--topics", 10)
    interval = found["aims"][0]
    assert interval["needed"]["clusters"] == 33
    assert interval["cost"] == {
        "pairs": 33, "labels": 1287, "hours": 11, "annotators": 110, "judges": pytest.approx(9.9), "total": 119.9,
    }  # fmt: skip
    assert found["topics"] == [10, 30, 100, 210]
    assert [row["labels_per_pair"] for row in found["labels_of_a_topic"]] == [1, 9, 39, 78, 156, None]
    assert found["at"]["half_width"] == pytest.approx(0.100, abs=5e-4)
    assert found["assumed"]["icc"] == 0.1
    assert found["pilot"] is None


def test_criteria_annotators_and_pairs_of_a_topic_are_the_labels_that_are_alike() -> None:
    for words in (("--criteria", 13, "--annotators", 3), ("--criteria", 13, "--pairs-per-topic", 3)):
        assert planned(*words)["aims"][0]["needed"]["clusters"] == 33  # 39 labels of a topic, however they come


def test_the_table_says_why_more_criteria_do_not_help() -> None:
    said = plan("--topics", 30).stdout
    assert "never more than 1 / ICC = 10.0" in said
    rows = [line.split() for line in said.splitlines()]
    assert ["39", "8.1", "±.100", "±.052", "±.028", "±.019"] in rows
    assert ["any", "number", "10.0", "±.090", "±.047", "±.025", "±.017"] in rows
    assert "30 topics give agreement ±.052" in said
    assert "\x1b" not in said


def test_a_terminal_of_80_columns_cuts_no_number() -> None:
    priced = ("--minutes-per-pair", 200, "--rate", 40, "--judge-cost", 30, "--tried", 10, "--icc", 0.9)
    wide = plan(*priced, width=300).stdout
    rows = [line for line in wide.splitlines() if line.startswith((" agreement ±", " gap below", " judges "))]
    assert len(rows) == 3
    assert max(len(line.rstrip()) for line in rows) <= 80


def test_a_pilot_is_read_and_its_judge_named(labels: Path) -> None:
    found = planned(labels, "--margin", 0.2)
    assert found["pilot"]["scores"]["clusters"] == 24
    assert found["pilot"]["judge"] in ("judge-x", "judge-y")
    assert found["assumed"] is None
    assert found["pilot"]["tried"] == 2
    named = planned(labels, "--judge", "judge-y", "--other", "judge-x")
    assert (named["pilot"]["judge"], named["pilot"]["other"]) == ("judge-y", "judge-x")
    said = plan(labels, "--judge", "judge-y").stdout
    assert said.startswith("Pilot of 24 topics: judge-y agrees in ")
    assert "To tell it from: judge-x." in said
    assert list(labels.parent.iterdir()) == [labels]  # nothing is written


def test_an_aim_without_a_number_says_why(labels: Path) -> None:
    assert "the gap is as large as the margin" in plan("--true-gap", 0.05).stdout
    alone = made_pairs(pairs=24, annotators=1, judges={"judge-x": 0.8})
    alone.to_csv(labels, index=False)
    said = plan(labels).stdout
    assert "one annotator, so no left-out one to compare the judge with" in said
    assert "one judge only" in said


@pytest.mark.databases("sqlite")
def test_a_study_is_a_pilot_too(
    engine: Engine, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: None
) -> None:
    monkeypatch.setenv("CALIPERS_DATABASE_URL", database_url)
    make_disputed(engine, tmp_path / "reports")
    found = planned("disputed")
    assert (found["pilot"]["scores"]["clusters"], found["pilot"]["annotators_per_pair"]) == (2, 2)
    assert found["pilot"]["cost_per_pair"]["value"] > 0
    refused = plan("disputed", "--protocol", "quick_start").exception
    assert isinstance(refused, AnnotationError)
    assert "a study brings its own protocol" in str(refused)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--margin", 0), "the margin is 0; fix one above 0 before results are seen"),
        (("--agreement", 1), "agreement is 1; use one between 0 and 1"),
        (("--icc", 2), "the icc is 2; use a number from -1 to 1"),
        (("--half-width", 0), "the half-width is 0; use a number above 0 to 1"),
        (("--power", 1), "the power is 1"),
        (("--level", 1), "the level is 1"),
        (("--topics", 1), "1 is too few topics for an interval; use 2 or more"),
        (("--rate", -1), "hourly rate is -1; use a number from 0"),
        (("--true-gap", 0.9), "use a smaller difference"),
        (("--judge", "x"), "--judge is for a pilot; name a study or a labels file"),
        (("labels.csv", "--icc", 0.1), "--icc is an assumption, and a pilot brings its own"),
        (("nowhere.csv",), "nowhere.csv: No such file"),
    ],
)
def test_what_cannot_be_planned_gets_one_sentence_with_a_remedy(words: tuple[object, ...], sentence: str) -> None:
    refused = plan(*words).exception
    assert isinstance(refused, AnnotationError | CalibrationError)
    assert sentence in refused.text
    assert "\n" not in refused.text


def test_a_refusal_is_exit_1_and_wrong_use_exit_2(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "app.command_line", "plan", "--margin", "0"], cwd=tmp_path, text=True,
        capture_output=True, check=False, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "calipers: the margin is 0; fix one above 0 before results are seen\n"
    assert plan("--criteria", 0).exit_code == 2
    assert list(tmp_path.iterdir()) == []  # no database is made
