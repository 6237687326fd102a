"""The owner's first page: what is left to do until the study is open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

from annotation.importing.reports.folder import read_folder
from annotation.importing.reports.write import import_reports
from annotation.people.links import invite
from annotation.people.principals import local_admin
from annotation.people.sign_ins import sign_in
from annotation.planning.slots import apply_plan, make_plan
from annotation.studies import init_study
from annotation.work.open_and_close import move_study
from app.setting_up import SetUp, sentence, set_up_of, steps
from db.connect import transaction
from db.tables import Study
from tests.app.drawing import drawn, html_of
from tests.small_study import PROTOCOL, a_person, write_reports

FRESH = SetUp("mine", "Two reports", "pairwise_choice", 3, 0, 0, 0, 0, 0, 0)
IMPORTED = replace(FRESH, topics=6, reports=18)
READY = replace(IMPORTED, items=6, slots=12, annotators=2)


@pytest.mark.parametrize(
    ("found", "done", "after"),
    [
        (FRESH, 1, "Import the reports"),
        (replace(IMPORTED, undecided=14), 2, "Decide what may give a system away"),
        (IMPORTED, 3, "Plan what is labelled"),
        (replace(IMPORTED, items=6, slots=12), 4, "Invite people"),
        (READY, 5, "Open the study"),
        (replace(READY, undecided=1), 4, "Decide what may give a system away"),  # it would be refused
    ],
)
def test_the_first_step_that_is_not_done_is_next(found: SetUp, done: int, after: str) -> None:
    taken = steps(found)
    assert [one.title for one in taken if one.state == "next"] == [after]
    assert sum(one.state == "done" for one in taken) == done
    assert f"{done} of 6 steps" in sentence(taken)
    assert all(one.command.startswith("calipers ") for one in taken if one.state != "done")


def test_topics_that_nobody_can_see_the_question_of_are_said() -> None:
    told = {one.title: one.told for one in steps(replace(IMPORTED, without_prompt=1))}["Import the reports"]
    assert told.startswith("18 reports on 6 topics. 1 topic has no prompt: annotators are asked about a question they")


@pytest.mark.parametrize("task", ["pointwise_rating", "probe_label"])
def test_a_design_of_pairs_is_asked_for_only_where_pairs_are_compared(task: str) -> None:
    with_items = replace(IMPORTED, task_type=task, items=6)  # probes are items as soon as they are imported
    plan = next(one for one in steps(with_items) if one.title == "Plan what is labelled")
    assert plan.command == "calipers pairs mine --overlap 2 --apply"


def test_probes_come_in_before_slots_are_planned() -> None:
    plan = next(one for one in steps(replace(IMPORTED, task_type="probe_label")) if one.state == "next")
    assert plan.command == "calipers import probes FILE --layout table --study mine"


def run(cookie):  # type: ignore[no-untyped-def]  # Streamlit runs this as a file of its own
    from annotation.people.sign_ins import who
    from app.screens.evaluator import evaluator_pages, shown
    from app.settings import database
    from db.connect import reading

    with reading(database()) as session:
        principal = who(session, cookie)
    assert principal is not None
    shown(evaluator_pages(principal, cookie)).run()


def test_the_owner_opens_on_the_steps_until_the_study_is_open(engine_here: Engine, tmp_path: Path) -> None:
    with transaction(engine_here) as session:
        study = init_study(session, "mine", PROTOCOL, 7)
        study.name = "mine <b>"  # as older studies may be called
        admin = local_admin(study)
        cookie = invite(session, admin, "Olga", "admin")
        import_reports(session, admin, read_folder(write_reports(tmp_path)), layout="folder", source="here")
        apply_plan(session, admin, make_plan(session, admin, design="all", per_topic=None, overlap=1))
        a_person(session, study.id)
        counted, study_id = set_up_of(session, admin), study.id
    assert (counted.reports, counted.topics, counted.items, counted.slots, counted.annotators) == (9, 3, 9, 9, 1)
    screen = AppTest.from_function(run, args=(_signed_in(engine_here, cookie),), default_timeout=60)
    first = "".join(html_of(drawn(screen.run())))
    assert "5 of 6 steps to an open study are done; next: open the study." in first
    assert "calipers open &#x27;mine &lt;b&gt;&#x27;" in first
    with transaction(engine_here) as session:
        move_study(session, session.get_one(Study, study_id), "open")
    assert "steps to an open study" not in "".join(html_of(drawn(screen.run())))


def _signed_in(engine: Engine, token: str) -> str:
    with transaction(engine) as session:
        cookie = sign_in(session, token, "127.0.0.1")
    assert cookie is not None
    return cookie
