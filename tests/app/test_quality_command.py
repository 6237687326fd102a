"""Status, quality and replies from the command line."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner

from annotation.people.principals import local_admin
from annotation.work.remarks import remarks_of
from app.command_line import app
from db.connect import reading, transaction
from db.tables import Assignment, Event, Study
from tests.calibration.planted import ALWAYS_LEFT, Person
from tests.planted_study import make_planted


@pytest.fixture
def remark(engine_here: Engine, tmp_path: Path) -> int:
    """Number of a flag in a study of four, one of whom always takes the left report."""
    study = make_planted(engine_here, tmp_path / "reports", (*[Person(0.85)] * 3, ALWAYS_LEFT), pairs=8, criteria=6)
    with transaction(engine_here) as session:
        first = session.query(Assignment).order_by(Assignment.id).first()
        assert first is not None
        said = Event(study_id=study, rater_id=first.rater_id, assignment_id=first.id, kind="flag", what="other",
                     data={"text": "Odd."})  # fmt: skip
        session.add(said)
        session.flush()
        return said.id


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_quality_names_who_needs_a_second_look_in_words_and_as_json(remark: int) -> None:
    words = run("quality")
    assert "annotator-04 needs a second look" in words
    assert "annotator-04: gives one answer to everything" in words
    found = json.loads(run("quality", "planted", "--json"))
    assert found["format"] == "calipers-quality/1"
    assert [one["rater"] for one in found["annotators"] if one["flags"]] == ["annotator-04"]
    assert "same_answer" in found["annotators"][3]["flags"]
    assert found["annotators"][0]["self_agreement"]["value"] is None
    assert found["needed"]["clusters"] == found["needed"]["more"] + 8
    assert CliRunner().invoke(app, ["quality", "--half-width", "2"]).exit_code == 2


def test_a_reply_is_sent_and_status_shows_it(engine_here: Engine, remark: int) -> None:
    assert f"#{remark} " in run("status")
    run("reply", "planted", str(remark), "Looked at.", "--dealt-with")
    told = run("status")
    assert "reply, " in told
    assert "[dealt with]" in told
    with reading(engine_here) as session:
        found = remarks_of(session, local_admin(session.get_one(Study, 1)))
    assert [(one.replies[0].text, one.dealt_with) for one in found] == [("Looked at.", True)]
    counted = json.loads(run("status", "--json"))
    assert (counted["submitted"], counted["slots"], counted["stale"]) == (32, 32, [])
    assert len(counted["by_criterion"]) == 6


def test_watch_draws_until_it_is_interrupted(remark: int, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[float] = []

    def wait(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", wait)
    done = CliRunner().invoke(app, ["status", "--watch"])
    assert done.exit_code == 130
    assert looks == [5, 5]
    assert "32 of 32 slots are handed in (100 %)." in done.stdout
