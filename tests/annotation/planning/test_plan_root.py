"""The plan's root: one hash for what was to be asked, of which texts, in which order, whatever work is done on it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from annotation.open_work.returns import give_back
from annotation.people.principals import local_admin
from annotation.planning.plan_root import plan_roots, root_of, study_plan
from annotation.planning.slots import apply_plan, make_plan
from annotation.shown_texts.overrides import edit_text, exclude_report
from annotation.work.claiming import take
from annotation.work.open_and_close import move_study
from db.connect import transaction
from db.tables import Item, Report, Study
from tests.small_study import a_person, make_study, write_reports


@pytest.fixture
def study(engine: Engine, tmp_path: Path) -> Engine:
    make_study(engine, write_reports(tmp_path), overlap=2)
    return engine


def the_study(session: Session) -> Study:
    return session.scalars(select(Study)).one()


@pytest.mark.databases("sqlite")
def test_opening_keeps_the_root_of_the_plan_as_it_stands(study: Engine) -> None:
    with transaction(study) as session:
        found = the_study(session)
        plan = study_plan(session, found)
        items = session.scalars(select(Item)).all()
        assert found.status == "open"
        assert found.plan_root == root_of(plan)
        assert [one["root"] for one in plan_roots(session, found)] == [found.plan_root]
        assert [one["item"] for one in plan["items"]] == [f"item-{item.id:05d}" for item in items]
        first = session.get_one(Report, items[0].report_a_id)
        assert plan["items"][0]["shown"]["A"] == first.shown_sha256
        assert len(plan["slots"]) == 2 * len(items)
        assert {slot["left"] for slot in plan["slots"]} <= {"A", "B"}
    text = json.dumps(plan, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert root_of(plan) == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.databases("sqlite")
def test_no_work_changes_the_root(study: Engine) -> None:
    with transaction(study) as session:
        before = the_study(session).plan_root
        person = a_person(session, the_study(session).id, "Ada")
        taken = take(session, person)
        assert taken is not None
        give_back(session, taken, "skipped")
        again = take(session, person)
        assert again is not None
        for status in ("paused", "open", "closed", "open"):
            move_study(session, the_study(session), status)
        assert the_study(session).plan_root == before
        assert len(plan_roots(session, the_study(session))) == 1


@pytest.mark.databases("sqlite")
def test_a_later_plan_has_a_root_of_its_own_and_both_are_listed(study: Engine) -> None:
    with transaction(study) as session:
        found, admin = the_study(session), local_admin(the_study(session))
        first = found.plan_root
        apply_plan(session, admin, make_plan(session, admin, design="all", per_topic=None, overlap=3))
        assert found.plan_root != first
        assert [one["root"] for one in plan_roots(session, found)] == [first, found.plan_root]
        assert [one["slots"] for one in plan_roots(session, found)] == [
            2 * len(study_plan(session, found)["items"]),
            3 * len(study_plan(session, found)["items"]),
        ]


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("what", ["order", "text", "seed", "protocol"])
def test_whatever_raters_would_see_otherwise_makes_another_root(study: Engine, what: str) -> None:
    with transaction(study) as session:
        found = the_study(session)
        plan, before = study_plan(session, found), the_study(session).plan_root
        if what == "order":
            plan["slots"][0]["left"] = {"A": "B", "B": "A"}[plan["slots"][0]["left"]]
            assert root_of(plan) != before
            return
        if what == "text":
            report = session.scalars(select(Report).where(Report.id.in_(select(Item.report_a_id)))).first()
            assert report is not None
            edit_text(session, local_admin(found), report.id, report.shown_text + "\n\nMore.", "test")
        elif what == "seed":
            found.seed += 1
        else:
            found.protocol_sha256 = "0" * 64
        session.flush()
        assert root_of(study_plan(session, found)) != before


@pytest.mark.parametrize("act", ["edit a text", "leave a report out"])
def test_an_act_of_the_owner_that_changes_the_plan_of_an_open_study_keeps_the_new_root_at_once(
    study: Engine, act: str
) -> None:
    with transaction(study) as session:
        found, admin = the_study(session), local_admin(the_study(session))
        before, report = found.plan_root, session.scalars(select(Report)).first()
        assert report is not None
        if act == "edit a text":
            edit_text(session, admin, report.id, report.shown_text + "\n\nMore.", "test")
        else:
            exclude_report(session, admin, report.id, "test")
        assert found.plan_root == root_of(study_plan(session, found)) != before
        assert [one["root"] for one in plan_roots(session, found)] == [before, found.plan_root]
