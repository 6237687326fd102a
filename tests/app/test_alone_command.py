"""`--alone-error` and `export people-items`: what a judge may decide alone, by command, down to the list for people."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from annotation.errors import AnnotationError
from app.command_line import app
from app.demo.labels import NAME, make_labels_demo
from db.connect import open_database
from tests.calibration.choosing.test_alone import made
from tests.migrated import new_sqlite

SAID = (
    "mini may decide 75 % of items alone at an error of 20 %: 0 % of its labels there differ from the annotators' "
    "majority (an annotator: 0 %), 7.4 % at most (one-sided 95 % bound; 240 labels in 40 topics). 75 % by the judge, "
    "the rest to people: 2.00 USD + 25.0 hours per 1,000 items, instead of 100.0 hours."
)


def called(*words: object) -> Result:
    return CliRunner().invoke(app, [*map(str, words)], catch_exceptions=True)


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("labels") / "labels.csv"
    made().to_csv(path, index=False)
    return path


def flowing(text: str) -> str:
    return " ".join(text.replace("\N{NO-BREAK SPACE}", " ").split())


def unbroken(text: str) -> str:
    """Without the places where a line may end."""
    return "".join(text.split())


@pytest.mark.slow
def test_the_terminal_and_every_file_of_the_report_say_what_the_judge_may_decide(labels: Path, tmp_path: Path) -> None:
    done = called("calibrate", labels, "--alone-error", ".2", "--resamples", "1999", "--out", tmp_path / "report")
    assert done.exit_code == 0, done.output
    assert unbroken(SAID) in unbroken(done.stdout)
    written = {path.name for path in (tmp_path / "report").iterdir()}
    assert {"alone.tex", "alone.csv", "alone_steps.md", "alone.pdf", "alone_column.svg"} <= written
    report = json.loads((tmp_path / "report" / "calibration-report.json").read_text("utf-8"))
    assert report["settings"]["alone_error"] == 0.2
    assert report["choice"]["plan"]["alone_error"] == 0.2
    (told,) = report["data"]["alone"]
    assert (told["judge"], told["at"], told["hours_per_1000_items"]) == ("mini", 0, 25.0)
    methods = flowing((tmp_path / "report" / "methods.md").read_text("utf-8"))
    assert "0 % of its labels there differ from the annotators' majority" in methods
    assert "[@angelopoulos2021learn; @geifman2017selective]" in methods
    assert "What a judge may decide alone" in (tmp_path / "report" / "report.html").read_text("utf-8")


def test_a_report_that_nobody_asked_for_it_says_nothing_of_it(labels: Path, tmp_path: Path) -> None:
    done = called("calibrate", labels, "--resamples", "99", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert not list(tmp_path.glob("alone*"))
    assert "alone" not in (tmp_path / "calibration-report.json").read_text("utf-8"), "an old bundle prints the same"


def test_the_list_holds_what_goes_to_people_and_no_answer(labels: Path, tmp_path: Path) -> None:
    out = tmp_path / "items.csv"
    done = called("export", "people-items", labels, "--judge", "mini", "--error", ".2", "--labelled", "--out", out)
    assert done.exit_code == 0, done.output
    assert "80 items for people written to" in done.stdout
    assert f"next: calipers pairs STUDY --design {out}" in done.stdout
    rows = list(csv.DictReader(out.open(encoding="utf-8")))
    assert rows[0] == {"item_id": "t000-0", "topic": "t000", "system_a": "x", "system_b": "y", "priority": "1"}
    assert {one["item_id"][-1] for one in rows} == {"0", "1"}
    rest = called("export", "people-items", labels, "--judge", "mini", "--error", ".2", "--out", out, "--json")
    assert json.loads(rest.stdout) == {
        "file": str(out), "items": 0, "labelled": 80, "decided_share": 0.75, "reason": ""
    }  # fmt: skip


def test_without_an_error_nothing_is_listed(labels: Path, tmp_path: Path) -> None:
    done = called("export", "people-items", labels, "--judge", "mini", "--out", tmp_path / "items.csv")
    assert isinstance(done.exception, AnnotationError)
    assert "--error" in done.exception.text
    assert not (tmp_path / "items.csv").exists()


@pytest.mark.slow
def test_of_the_demo_labels_the_list_is_one_that_pairs_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = new_sqlite(tmp_path / "demo.db")
    assert make_labels_demo(open_database(url))
    monkeypatch.setenv("CALIPERS_DATABASE_URL", url)
    out = tmp_path / "items.csv"
    done = called(
        "export", "people-items", NAME, "--judge", "simulated-mini", "--error", ".2", "--labelled", "--out", out
    )
    assert done.exit_code == 0, done.output
    assert "simulated-mini may decide 80.6 % of items alone at an error of 20 %" in flowing(done.stdout)
    items = pd.read_csv(out)
    assert len(items) == 31
    planned = called("pairs", NAME, "--design", out, "--overlap", "1")
    assert planned.exit_code == 0, planned.output
    assert "31 pairs on 23 topics" in planned.stdout
