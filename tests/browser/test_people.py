"""Getting in by a button, finishing with a code, a tab that goes to the back, and the admin's page of people."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import select, update

from annotation.labelling import submit
from annotation.participation.standing import pause, set_quota, void_work
from annotation.people.links import invite, open_link
from annotation.people.principals import Principal, local_admin
from annotation.work.claiming import take
from annotation.work.page import assignment_page
from db.connect import reading, transaction
from db.people_tables import Enrollment, Invite, Rater
from db.tables import Assignment, Event, Study
from db.types import now
from plain.hashes import text_sha256
from tests.browser.conftest import Server
from tests.browser.driving import new_tab, saved, signed_in
from tests.browser.test_accessibility import AT_REST, violations
from tests.small_study import answer_all

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def person(session: Any, study_id: int, name: str) -> Principal:
    row = session.execute(
        select(Enrollment, Rater).join(Rater, Rater.id == Enrollment.rater_id).where(Enrollment.study_id == study_id)
    )
    enrollment, rater = next((one, who) for one, who in row if who.handle.startswith(name))
    return Principal(study_id, enrollment.role, rater.id, enrollment.id, rater.opaque_id)


def hand_in(session: Any, who: Principal, minutes: int = 0) -> None:
    mine = take(session, who)
    page = assignment_page(session, who, mine.aid)
    submit(session, who, mine.aid, page["page"], f"submit-{mine.aid}", answer_all(session, who, mine.aid))
    if minutes:
        begin = now() - timedelta(minutes=minutes)
        mine.taken_at = begin
        steps = [(begin + timedelta(minutes=k), begin + timedelta(minutes=k + 1)) for k in range(minutes)]
        told = [{"criterion": None, "start": a.isoformat(), "end": b.isoformat()} for a, b in steps]
        session.add(
            Event(
                study_id=mine.study_id, rater_id=mine.rater_id, assignment_id=mine.id, kind="activity",
                what="intervals", data={"intervals": told}, client_ts=now().isoformat(),
            )
        )  # fmt: skip


def test_a_link_for_single_use_lets_in_by_its_button_once(
    server: Server, study_id: int, context: BrowserContext
) -> None:
    link = server.link(study_id, "Ada")
    with transaction(server.engine) as session:
        session.execute(
            update(Invite).where(Invite.token_sha256 == text_sha256(link.rsplit("/", 1)[1])).values(single_use=True)
        )
    page = new_tab(context)
    page.goto(link)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("radio").first).to_be_visible()
    context.clear_cookies()  # somebody else
    page.goto(link)
    expect(page.get_by_role("heading", name="This link does not work")).to_be_visible()


def test_a_platforms_participant_ends_with_a_code_to_take_back(
    server: Server, study_id: int, context: BrowserContext
) -> None:
    with transaction(server.engine) as session:
        token = open_link(session, local_admin(session.get_one(Study, study_id)), places=3, quota=2)
    page = new_tab(context)
    page.goto(f"{server.address}/invite/{token}?PROLIFIC_PID=5f3c9d2e1b")
    expect(page.get_by_role("radio").first).to_be_visible()
    with transaction(server.engine) as session:
        me = person(session, study_id, "participant")
        hand_in(session, me)
        mine = take(session, me)
        assert mine is not None
        answer_all(session, me, mine.aid)
    page.goto(server.address)
    saved(page)
    page.get_by_role("button", name="Submit").click()
    code = page.locator(".message .code")
    expect(code).to_have_text(re.compile("^[A-Z2-7]{8}$"))
    expect(page.get_by_text("All done: 2 items submitted.")).to_be_visible()
    said = code.inner_text()
    page.goto(f"{server.address}/my_work")
    expect(page.locator(".w-code")).to_have_text(said)


def test_somebody_who_is_paused_is_not_told_that_all_is_done(
    server: Server, study_id: int, context: BrowserContext
) -> None:
    page = new_tab(context)
    page.goto(server.link(study_id, "Ada"))
    expect(page.get_by_role("radio").first).to_be_visible()
    with transaction(server.engine) as session:
        mine = take(session, person(session, study_id, "Ada"))
        assert mine is not None
        answer_all(session, person(session, study_id, "Ada"), mine.aid)
        pause(session, local_admin(session.get_one(Study, study_id)), "Ada")
    page.reload()
    saved(page)
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_text("Your work is paused.")).to_be_visible()
    expect(page.get_by_text("All done")).to_have_count(0)


@pytest.fixture
def admins_page(server: Server, study_id: int, context: BrowserContext) -> Page:
    """People of every kind, and the page that lists them."""
    with transaction(server.engine) as session:
        admin = local_admin(session.get_one(Study, study_id))
        for name in ("Ada Lovelace", "Ben Okafor", "Chen Wei-Ling", "Dora <i>"):
            invite(session, admin, name, "annotator")
        invite(session, admin, "Val", "evaluator")
        for name, items in (("Ada", 3), ("Ben", 2), ("Chen", 1)):
            for _ in range(items):
                hand_in(session, person(session, study_id, name), minutes=17)
        pause(session, admin, "Ben Okafor")
        void_work(session, admin, "Chen Wei-Ling", "always left, 9 s an item")
        set_quota(session, admin, 12)
        open_link(session, admin, places=50, quota=5)
    page = new_tab(context)
    signed_in(page, server.link(study_id, "Root", "admin"))
    page.goto(f"{server.address}/people")
    expect(page.get_by_role("heading", name="One person")).to_be_visible()
    return page


def test_an_admin_pauses_someone_and_makes_links_that_work(admins_page: Page, server: Server, study_id: int) -> None:
    page = admins_page
    assert violations(page) == []
    table = page.get_by_role("region", name="People")
    expect(table).to_contain_text("Dora <i>")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    page.get_by_label("Names, one a line").fill("Emil\nFay")
    page.get_by_role("button", name="Make links").click()
    link = page.locator(".p-links code").first
    expect(link).to_be_visible()
    new = link.inner_text()
    page.wait_for_function(AT_REST)  # a file that was asked for while the page is drawn anew does not come
    with page.expect_download() as pay:
        page.get_by_role("button", name="Download the pay file").click()
    lines = pay.value.path().read_text().splitlines()
    assert lines[0].startswith("name,pseudonym,role")
    assert any(line.startswith("Ada Lovelace,annotator-01,annotator,3,0.28") for line in lines)
    page.get_by_role("button", name="Their data").click()
    with page.expect_download() as record:
        page.get_by_role("button", name="Download it").click()
    stored = json.loads(record.value.path().read_text())
    assert (stored["format"], stored["person"][0]["handle"]) == ("calipers-person/1", "Ada Lovelace")
    page.keyboard.press("Escape")
    with reading(server.engine) as session:
        assert "person_record" in session.scalars(select(Event.what).where(Event.study_id == study_id)).all()
        states = session.scalars(select(Assignment.status).where(Assignment.study_id == study_id)).all()
    assert states.count("void") == 2
    page.goto(f"{server.address}/crowd")
    page.get_by_role("button", name="Make the link").click()
    expect(page.get_by_text("What is the URL of your study?")).to_be_visible()
    assert violations(page) == []
    page.context.clear_cookies()
    page.goto(new)
    expect(page.get_by_role("radio").first).to_be_visible()
