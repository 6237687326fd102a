"""What an evaluator sees of adjudication: the Disputes page, and `calipers adjudicate`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner, Result

from annotation.work.claiming import take
from annotation.work.open_and_close import move_study
from app.command_line import app
from db.connect import transaction
from db.tables import Study
from tests.adjudicated_study import ANN, BEN, CYD, UNLIKE, decide, make_adjudicated
from tests.app.drawing import html_of, page
from tests.small_study import PROTOCOL, SYSTEMS, a_person, make_study

BLIND = PROTOCOL.replace('blind_until = "open"', 'blind_until = "closed"')
ZOE = "Zoe Zimmer"


def settle(engine: Engine, study: int, count: int, verdicts: Mapping[str, str], rationale: str = "so it is") -> None:
    with transaction(engine) as session:
        person = a_person(session, study, ZOE, "adjudicator")
        for _ in range(count):
            work = take(session, person)
            assert work is not None
            decide(session, person, work, verdicts, rationale=rationale)


def typed(*words: str) -> Result:
    done = CliRunner().invoke(app, ["adjudicate", "small", *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def test_the_page_counts_disputes_by_criterion_and_says_with_whom_they_were_settled(
    engine_here: Engine, tmp_path: Path
) -> None:
    study = make_adjudicated(engine_here, tmp_path / "reports", protocol=BLIND)
    settle(engine_here, study, 4, {"clear": "A"})
    body = "".join(html_of(page(engine_here, study, "disputes")))
    assert "9 disputes: 4 open on 4 items, 1 in work, 4 settled." in body
    assert "<td>Clear</td><td>9</td><td>4</td><td>1</td><td>4</td><td>9</td><td>0</td><td>0</td><td>0</td>" in body
    assert "Deep" not in body, "nobody differs there"
    assert "annotator-01</td><td>4</td><td>1.0" in body
    assert "annotator-02</td><td>4</td><td>.0" in body or "annotator-02</td><td>4</td><td>0.0" in body
    assert not [name for name in (ANN, BEN, CYD, ZOE, "alpha", "beta", "gamma") if name in body]


def test_a_study_without_a_dispute_says_so(engine_here: Engine, tmp_path: Path) -> None:
    same = {name: {"clear": "A", "deep": "B"} for name in (ANN, BEN)}
    only = PROTOCOL.replace("[study]", '[study]\nadjudicate = ["deep"]')
    study = make_adjudicated(engine_here, tmp_path / "reports", same, protocol=only)
    body = "".join(html_of(page(engine_here, study, "disputes")))
    assert "Nothing is in dispute." in body
    assert "on these criteria alone: Deep." in body


def test_the_command_prints_what_is_left_and_writes_what_is_settled(engine_here: Engine, tmp_path: Path) -> None:
    study = make_adjudicated(engine_here, tmp_path / "reports", protocol=BLIND)
    settle(engine_here, study, 2, {"clear": "B"}, rationale="=as Ben Barlow says")
    told: dict[str, Any] = json.loads(typed("--json").stdout)
    assert (told["states"], told["items_open"]) == ({"open": 6, "in work": 1, "settled": 2}, 6)
    assert told["criteria"][0]["reasons"]["tie_against_winner"] == 9
    assert {one["state"] for one in told["queue"]} == {"open", "in work", "settled"}
    assert told["queue"][0]["verdicts"] == ["A", "B", "tie"]
    assert {one["rater"]: (one["share"], one["n"]) for one in told["sided_with"]} == {
        "annotator-01": (0, 2), "annotator-02": (1, 2), "annotator-03": (0, 2),
    }  # fmt: skip
    assert "small: 6 open, 1 in work, 2 settled; open ones on 6 items" in typed().stdout

    file = tmp_path / "out" / "settled.csv"
    assert "2 settled verdicts written to" in typed("--settled", str(file)).stdout
    blind = list(csv.DictReader(io.StringIO(file.read_text(encoding="utf-8"))))
    assert [(one["criterion"], one["verdict"], one["adjudicator"]) for one in blind] == [
        ("clear", "B", "adjudicator-01")
    ] * 2
    assert json.loads(blind[0]["raters"]) == {"annotator-01": "A", "annotator-02": "B", "annotator-03": "tie"}
    assert {(one["system_a"], one["system_b"]) for one in blind} == {("", "")}
    assert {one["rationale"] for one in blind} == {"'=as [name removed] says"}, "and no spreadsheet runs it"
    with transaction(engine_here) as session:
        move_study(session, session.get_one(Study, study), "closed")
    typed("--settled", str(file))
    named = list(csv.DictReader(io.StringIO(file.read_text(encoding="utf-8"))))
    assert all(one["system_a"] in SYSTEMS and one["system_b"] in SYSTEMS for one in named)


@pytest.mark.parametrize(("flag", "disputes"), [((), 0), (("--early",), 9)])
def test_early_counts_items_that_somebody_is_still_to_hand_in(
    engine_here: Engine, tmp_path: Path, flag: tuple[str, ...], disputes: int
) -> None:
    study = make_study(engine_here, tmp_path / "reports", overlap=3)
    for name in (ANN, BEN):
        with transaction(engine_here) as session:
            person = a_person(session, study, name)
            while (work := take(session, person)) is not None:
                decide(session, person, work, UNLIKE[name])
    assert len(json.loads(typed("--json", *flag).stdout)["queue"]) == disputes
