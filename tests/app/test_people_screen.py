"""The admin's People page: who takes part, and every button does what its service function does; nobody else has it."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from sqlalchemy import Engine, select
from streamlit.testing.v1 import AppTest

from annotation.errors import AnnotationError
from annotation.labelling import submit
from annotation.participation.people_list import PersonLine, list_people
from annotation.people.links import invite
from annotation.people.principals import local_admin
from annotation.people.sign_ins import sign_in, sign_out, who
from annotation.work.claiming import take
from annotation.work.open_and_close import set_status
from annotation.work.page import assignment_page
from app.screens.study.people import acting, downloaded, sentence
from db.connect import reading, transaction
from db.tables import Assignment, Event, Study
from tests.app.drawing import drawn, html_of
from tests.small_study import a_person, answer_all, make_study


def run(cookie):  # type: ignore[no-untyped-def]  # Streamlit runs this as a file of its own
    from annotation.people.sign_ins import who
    from app.screens.study import people
    from app.settings import database
    from db.connect import reading

    with reading(database()) as session:
        principal = who(session, cookie)
    people.show(principal, cookie)


@pytest.fixture
def page(engine_here: Engine, tmp_path: Path) -> tuple[AppTest, str]:
    """The page of a study in which Ben has handed in one item and has one in work; and its admin's cookie."""
    study_id = make_study(engine_here, tmp_path)
    with transaction(engine_here) as session:
        ben = a_person(session, study_id, "Ben <b>")
        first = take(session, ben)
        assert first is not None
        shown = assignment_page(session, ben, first.aid)
        submit(session, ben, first.aid, shown["page"], "submit-1", answer_all(session, ben, first.aid))
        token = invite(session, local_admin(session.get_one(Study, study_id)), "Root", "admin")
        cookie = sign_in(session, token, "127.0.0.1")
    assert cookie is not None
    return drawn(AppTest.from_function(run, args=(cookie,), default_timeout=60).run()), cookie


def people(engine: Engine) -> dict[str, PersonLine]:
    with reading(engine) as session:
        admin = local_admin(session.scalars(select(Study)).one())
        return {one.name: one for one in list_people(session, admin)}


def press(screen: AppTest, key: str) -> AppTest:
    return drawn(screen.button(key=f"people_{key}").click().run())


def test_a_row_says_who_how_far_and_by_which_link_and_names_are_only_text(page: tuple[AppTest, str]) -> None:
    first = "".join(html_of(page[0]))
    assert "1 annotator, 1 admin; 1 with an item in hand." in first
    assert "Ben &lt;b&gt;" in first
    assert "annotator-01" in first
    assert "used 1 ×" in first
    assert sentence([]) == "Nobody takes part yet."


def test_buttons_pause_resume_withdraw_and_limit_one_person(page: tuple[AppTest, str], engine_here: Engine) -> None:
    screen, _ = page
    screen.selectbox(key="person").select("Ben <b>").run()
    press(screen, "pause")
    assert people(engine_here)["Ben <b>"].status == "paused"
    press(screen, "resume")
    screen.number_input(key="quota_annotator-01").set_value(4)
    press(screen, "set_quota")
    assert (people(engine_here)["Ben <b>"].status, people(engine_here)["Ben <b>"].quota) == ("active", 4)
    press(screen, "withdraw")
    ben = people(engine_here)["Ben <b>"]
    assert (ben.status, ben.in_work, ben.handed_in) == ("withdrawn", 0, 1)


def test_a_group_of_the_provider_is_let_in_and_shut_out_again(
    page: tuple[AppTest, str], engine_here: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen, _ = page
    assert "people_group" not in {button.key for button in screen.button}, "nobody signs in by an account here"
    monkeypatch.setattr("app.screens.study.people.providers", lambda: ["lab", "other"])
    press(drawn(screen.run()), "group")
    assert "write at least one name" in screen.toast[0].value
    for role, listed in (("evaluator", True), ("", False)):
        screen.text_input(key="new_group").set_value(" lab/<phd> ")
        screen.selectbox(key="group_role").select(role)
        press(screen, "group")
        assert ("<td>lab/&lt;phd&gt;</td><td>evaluator</td>" in "".join(html_of(screen))) == listed


def test_a_file_made_before_is_downloaded_by_an_admin_alone_and_leaves_a_line(
    page: tuple[AppTest, str], engine_here: Engine
) -> None:
    with reading(engine_here) as session:
        root = who(session, page[1])
    assert root is not None
    whose = acting(root, page[1])
    assert downloaded(whose, "settlement", "id,bonus") == "id,bonus"
    with pytest.raises(AnnotationError, match="needs the role admin"):
        downloaded(lambda session: replace(whose(session), role="evaluator"), "links", "names")
    with reading(engine_here) as session:
        lines = session.scalars(select(Event).where(Event.kind == "audit", Event.what == "export")).all()
    assert [(line.rater_id, line.data["kind"]) for line in lines] == [(root.rater_id, "settlement")]


def test_work_is_voided_with_a_reason_only(page: tuple[AppTest, str], engine_here: Engine) -> None:
    screen, _ = page
    screen.selectbox(key="person").select("Ben <b>").run()
    press(screen, "void")
    assert "needs a reason" in screen.toast[0].value
    assert people(engine_here)["Ben <b>"].handed_in == 1
    screen.text_input(key="reason_annotator-01").set_value("always left")
    press(screen, "void")
    ben = people(engine_here)["Ben <b>"]
    assert (ben.handed_in, ben.in_work, ben.void) == (0, 0, 2)


def test_several_are_invited_at_once_and_their_links_are_shown_until_they_are_taken(
    page: tuple[AppTest, str], engine_here: Engine
) -> None:
    screen, _ = page
    screen.text_area(key="new_names").set_value("Ada\n\n  Cy\n")
    next(button for button in screen.button if button.label == "Make links").click()
    drawn(screen.run())
    told = "".join(html_of(screen))
    assert told.count("/invite/") == 3, "of each, and in the e-mail text of the first"
    assert "They open on this machine alone" in told
    assert screen.text_area(key="new_names").value == "", "pressed again it would make other links"
    drawn(screen.selectbox(key="mail_for").select("Cy").run())
    subject, mail = map(unescape, re.findall('class="p-mail">(?:<b>)?([^<]*)', "".join(html_of(screen))))
    assert subject == "Invitation: A small study"
    assert mail.startswith("Hello Cy,")
    assert re.findall("https?://.*", mail) == re.findall("https?://[^<]*", told)[1:2], "Cy's link, on a line of its own"
    (opened,) = re.findall('href="mailto:([^"]*)"', "".join(html_of(screen)))
    assert parse_qs(unescape(opened).lstrip("?"))["body"] == [mail]
    assert {"Ada", "Cy"} <= set(people(engine_here))
    drawn(screen.button(key="links_done").click().run())
    assert "/invite/" not in "".join(html_of(screen))


def test_a_page_left_open_after_signing_out_changes_nothing(page: tuple[AppTest, str], engine_here: Engine) -> None:
    screen, cookie = page
    screen.selectbox(key="person").select("Ben <b>").run()
    with transaction(engine_here) as session:
        sign_out(session, cookie)
        assert who(session, cookie) is None
    screen.button(key="people_pause").click().run()
    assert people(engine_here)["Ben <b>"].status == "active"
    with reading(engine_here) as session:
        assert session.scalars(select(Assignment.status).where(Assignment.status == "taken")).all() == ["taken"]


def test_names_go_by_a_period_or_at_once_and_one_person_is_erased_by_their_name_alone(
    page: tuple[AppTest, str], engine_here: Engine
) -> None:
    screen, _ = page
    assert "Names of who labels are kept until they are deleted." in "".join(html_of(screen))
    screen.number_input(key="keep_names").set_value(90)
    press(screen, "keep_names")
    screen.selectbox(key="person").select("Ben <b>").run()
    press(screen, "erase")
    assert "nobody was erased" in screen.toast[0].value
    assert ("Ben <b>" in people(engine_here), "people_delete_names" in {one.key for one in screen.button}) == (
        True,
        False,
    )
    screen.text_input(key="erased_annotator-01").set_value("Ben <b>")
    press(screen, "erase")
    assert {"annotator-01 (name deleted)", "Root"} == set(people(engine_here))
    with transaction(engine_here) as session:
        admin = local_admin(session.scalars(select(Study)).one())
        invite(session, admin, "Cy", "annotator")
        set_status(session, admin, "closed")
    assert "for 90 days after closing: they go by themselves on 20" in "".join(html_of(drawn(screen.run())))
    press(screen, "delete_names")
    assert {"annotator-01 (name deleted)", "annotator-02 (name deleted)", "Root"} == set(people(engine_here))
    with reading(engine_here) as session:
        acts = session.scalars(select(Event.what).where(Event.kind == "audit", Event.rater_id.is_not(None))).all()
    assert {"keep_names", "erase_person", "delete_names"} <= set(acts)
