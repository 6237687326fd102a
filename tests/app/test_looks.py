"""Looks at results: a study keeps its own, and a labels file is told of the earlier ones."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from sqlalchemy import Engine, select
from typer.testing import CliRunner, Result

from annotation.errors import AnnotationError
from annotation.people.principals import Principal, local_admin
from annotation.planning.looks import kept_looks
from annotation.protocol import parse_protocol
from app.command_line import app
from app.results.looks import LooksGiven, looks_of_file
from app.results.reporting import settings_of
from app.results.study_reports import shown_report
from calibration.inference.looks import Look
from db.connect import reading, transaction
from db.tables import Study
from exports.as_json import report_json
from exports.bundles.recomputing import Inputs, inputs_json, read_inputs
from tests.calibration.priced import priced
from tests.disputed_study import CHOICES, annotate, make_disputed
from tests.small_study import PROTOCOL, a_person

GOOD = {"mini": (0.85, 0.001)}
FORTY = pd.DataFrame({"cluster_id": [str(one) for one in range(40)]})


def admin_of(engine: Engine) -> Principal:
    with reading(engine) as session:
        return local_admin(session.scalars(select(Study)).one())


def kept(engine: Engine) -> list[tuple[int, float]]:
    with reading(engine) as session:
        return [(one["topics"], one["share"]) for one in kept_looks(session, session.scalars(select(Study)).one())]


def calibrated(folder: Path, labels: pd.DataFrame, *words: str) -> Result:
    labels.to_csv(folder / "labels.csv", index=False)
    return CliRunner().invoke(app, ["calibrate", str(folder / "labels.csv"), "--resamples", "199", *words])


def settings_in(folder: Path) -> dict[str, object]:
    return json.loads((folder / "calibration-report.json").read_text())["settings"]


@pytest.mark.databases("sqlite")
def test_a_study_plans_the_topics_it_has_items_of_and_each_look_is_kept_once(engine: Engine, tmp_path: Path) -> None:
    study = make_disputed(engine, tmp_path / "reports", people=False)
    with transaction(engine) as session:
        annotate(session, a_person(session, study, "Ada"), CHOICES["Ada"])
    principal = admin_of(engine)
    first = shown_report(engine, principal, resamples=99).report
    again = shown_report(engine, principal, resamples=99).report
    assert (first.settings.looks, first.settings.planned_topics, first.settings.topics_labelled) == ("planned", 2, 1)
    assert report_json(first) == report_json(again), "the look that was kept is this very look"
    assert kept(engine) == [(1, 0.5)]
    with transaction(engine) as session:
        annotate(session, a_person(session, study, "Ben"), CHOICES["Ben"])
    last = shown_report(engine, principal, resamples=99).report
    assert last.settings.earlier_looks == (Look(1, 0.5),)
    assert kept(engine) == [(1, 0.5), (2, 1.0)]


@pytest.mark.databases("sqlite")
def test_nothing_is_kept_where_no_judge_was_shown(engine: Engine, tmp_path: Path) -> None:
    make_disputed(engine, tmp_path / "reports", judged=False)
    shown_report(engine, admin_of(engine), resamples=99)
    assert kept(engine) == []


def test_several_looks_without_a_plan_are_refused_for_each_would_be_the_last() -> None:
    with pytest.raises(AnnotationError, match="--looks 2 needs --planned-topics"):
        looks_of_file(LooksGiven(so_far=2), pd.DataFrame({"cluster_id": ["a", "b", "c"]}), {})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (LooksGiven(), ("one", None, ())),
        (LooksGiven(planned=120), ("planned", 120, ())),
        (LooksGiven(any_time=True), ("any_time", None, ())),
        (LooksGiven(so_far=1), ("planned", None, ())),
        (LooksGiven(planned=120, so_far=2), ("planned", 120, (Look(20, 20 / 120),))),
        (LooksGiven(planned=30, so_far=2), ("planned", 30, (Look(20, 0.5),))),  # the plan was overrun
    ],
)
def test_what_a_command_says_of_looks_at_a_file(given: LooksGiven, expected: tuple[object, ...]) -> None:
    found = looks_of_file(given, FORTY, {})
    assert (found["looks"], found["planned_topics"], found["earlier_looks"]) == expected


@pytest.mark.usefixtures("undrawn")
def test_an_earlier_report_brings_its_plan_and_its_looks_a_brief_one_too(tmp_path: Path) -> None:
    whole = priced(GOOD, pairs=30)
    topics = sorted(whole["cluster_id"].unique())
    few = whole[whole["cluster_id"].isin(topics[:12])]
    one, two = tmp_path / "one", tmp_path / "two"
    assert calibrated(tmp_path, few, "--planned-topics", "60", "--brief", "--out", str(one)).exit_code == 0
    assert calibrated(tmp_path, whole, "--earlier-look", str(one), "--out", str(two)).exit_code == 0
    found = settings_in(two)
    assert (found["looks"], found["planned_topics"]) == ("planned", 60)
    assert found["earlier_looks"] == [{"topics": 12, "share": 0.2}]


@pytest.mark.slow
def test_an_earlier_report_without_a_plan_was_to_be_the_only_look(tmp_path: Path) -> None:
    whole = priced(GOOD, pairs=30)
    one, two = tmp_path / "one", tmp_path / "two"
    assert calibrated(tmp_path, whole, "--out", str(one)).exit_code == 0
    assert "looks" not in settings_in(one)
    assert calibrated(tmp_path, whole, "--earlier-look", str(one), "--out", str(two)).exit_code == 0
    assert settings_in(two)["earlier_looks"] == [{"topics": 30, "share": 1.0}]


@pytest.mark.parametrize(
    ("plan", "looks", "shows"),
    [
        ((), [{"topics": 29, "share": 1.0}], "spent the whole error"),
        (("--planned-topics", "60"), [{"topics": 29, "share": 0.5}], "Second look"),
    ],
)
def test_more_items_of_topics_that_were_looked_at_are_another_look(
    tmp_path: Path, plan: tuple[str, ...], looks: list[dict[str, float]], shows: str
) -> None:
    whole = priced(GOOD, pairs=30, criteria=2)
    first = whole[(whole["criterion"] == "c0") | (whole["rater_kind"] == "judge")]
    # another judge on the labels that were there is a further candidate, and no look at more labels
    tried = pd.concat([whole, whole[whole["rater_kind"] == "judge"].assign(rater_id="other")])
    report, after, found = tmp_path / "report.json", ("--earlier-look", str(tmp_path / "report.json")), []
    for frame, options in ((first, plan), (whole, after), (tried, after)):
        told = calibrated(tmp_path, frame, *options, "--json").stdout
        report.write_text(told, "utf-8")
        found.append(json.loads(told))
    assert found[1]["settings"]["earlier_looks"] == looks
    assert shows in found[1]["choice"]["look"]
    assert found[2]["settings"]["earlier_looks"][-1] == {"topics": 30, "share": looks[0]["share"]}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--any-time", "--planned-topics", "50"), "--any-time needs no plan"),
        (("--looks", "2", "--earlier-look", "."), "use one"),
        (("--looks", "99"), "use 1 to 12"),
        (("--earlier-look", "nowhere"), "no report of an earlier look"),
    ],
)
def test_options_about_looks_that_cannot_be_are_refused(tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    done = calibrated(tmp_path, priced(GOOD, pairs=12), *words)
    assert done.exit_code != 0
    assert says in str(done.exception) + done.output


def test_a_protocol_says_how_results_are_looked_at_but_not_what_was_done() -> None:
    protocol = parse_protocol(
        PROTOCOL + '\n[calibration]\nlooks = "any_time"\nspending = "pocock"\nplanned_topics = 9\n'
    )
    settings = settings_of(protocol)
    assert (settings.looks, settings.spending, settings.planned_topics) == ("any_time", "pocock", 9)
    for wrong, says in (
        ("topics_labelled = 3", "calipers counts itself"), ('looks = "often"', "use one of one, planned, any_time"),
        ('planned_topics = "many"', "whole number"),
    ):  # fmt: skip
        with pytest.raises(AnnotationError, match=says):
            settings_of(parse_protocol(f"{PROTOCOL}\n[calibration]\n{wrong}\n"))


def test_a_bundle_takes_its_looks_back() -> None:
    settings = settings_of(
        None, looks="planned", planned_topics=40, earlier_looks=(Look(10, 0.25),), topics_labelled=20
    )
    inputs = Inputs(settings)
    assert read_inputs(inputs_json(inputs)) == inputs
    with pytest.raises(ValueError, match="earlier_looks"):
        read_inputs(inputs_json(inputs).replace('"share": 0.25', '"share": "much"'))
