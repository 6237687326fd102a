"""A study's report: no name of a system before the study may show them, and a plan that is kept before any result."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from annotation.judges.defining.judge_file import JudgeDefinition, JudgeFile
from annotation.people.principals import Principal, local_admin
from annotation.planning.looks import keep_plan, kept_plans
from app.results.study_reports import shown_report
from calibration.results import CalibrationReport
from db.connect import reading, transaction
from db.tables import Study
from exports.as_json import report_json
from tests.disputed_study import SYSTEMS, make_disputed


def admin_of(engine: Engine) -> Principal:
    with reading(engine) as session:
        return local_admin(session.scalars(select(Study)).one())


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_report_of_a_blind_study_names_no_system(engine: Engine, tmp_path: Path) -> None:
    make_disputed(engine, tmp_path / "reports", blind_until="closed")
    blind = shown_report(engine, admin_of(engine), resamples=99).report
    text = report_json(blind)
    assert blind.labels.systems == ["System 1", "System 2"]
    assert not any(name in text for name in SYSTEMS)
    with transaction(engine) as session:
        session.scalars(select(Study)).one().status = "closed"
    named = shown_report(engine, admin_of(engine), resamples=99).report
    assert named.labels.systems == sorted(SYSTEMS)
    assert named.choice is not None
    assert blind.choice is not None
    assert named.choice.sentence == blind.choice.sentence


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_families_tell_no_system_while_the_study_is_blind(engine: Engine, tmp_path: Path) -> None:
    make_disputed(engine, tmp_path / "reports", blind_until="closed")
    families = {SYSTEMS[0]: "x", "steady": "x"}
    blind = shown_report(engine, admin_of(engine), resamples=99, families=families).report
    assert not any(name in report_json(blind) for name in SYSTEMS)
    assert [one.code for one in blind.warnings].count("still_blind") == 1
    with transaction(engine) as session:
        session.scalars(select(Study)).one().status = "closed"
    named = shown_report(engine, admin_of(engine), resamples=99, families=families).report
    assert named.settings.families == families
    assert "still_blind" not in [one.code for one in named.warnings]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_no_estimate_of_a_judge_rests_on_its_own_examples(engine: Engine, tmp_path: Path) -> None:
    make_disputed(engine, tmp_path / "reports")
    principal = admin_of(engine)
    whole = shown_report(engine, principal, resamples=99).report
    shown_to_it = JudgeDefinition(name="steady", model="openai/steady", examples=("item-00001",))
    report = shown_report(engine, principal, JudgeFile((shown_to_it,), ()), resamples=99).report
    (told,) = [one for one in report.warnings if one.code == "examples_in_reference"]
    assert told.rater == "steady"
    assert "1 of the items" in told.text

    def labels(found: CalibrationReport, judge: str) -> int:
        return next(one.n for one in found.estimates if (one.statistic, one.rater) == ("valid_share", judge))

    assert labels(report, "steady") == labels(whole, "steady") / 2
    assert labels(report, "always-first") == labels(whole, "always-first")


@pytest.mark.databases("sqlite")
def test_the_plan_is_kept_when_a_report_is_first_shown_and_a_change_is_said_for_good(
    engine: Engine, tmp_path: Path
) -> None:
    make_disputed(engine, tmp_path / "reports")
    principal = admin_of(engine)
    first = shown_report(engine, principal, resamples=99).report
    shown_report(engine, principal, resamples=99)
    assert first.choice is not None
    with reading(engine) as session:
        (kept,) = kept_plans(session, session.scalars(select(Study)).one())
    assert kept["plan_sha256"] == first.choice.plan.plan_sha256
    wider = shown_report(engine, principal, resamples=99, margin=0.2).report
    (told,) = [one.text for one in wider.warnings if one.code == "changed_after_labels"]
    assert "margin 0.05 became 0.2" in told
    with transaction(engine) as session:
        study = session.scalars(select(Study)).one()
        assert [one["margin"] for one in kept_plans(session, study)] == [0.05, 0.2]
        keep_plan(session, study, kept_plans(session, study)[-1])
        assert len(kept_plans(session, study)) == 2
