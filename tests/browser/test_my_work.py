"""The annotator's home and the way there and back: own items opened, reopened, continued; time shown; signing out."""

from __future__ import annotations

import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect
from sqlalchemy import select

from annotation.labelling import submit
from annotation.people.accounts import Account, sign_in_account
from annotation.people.principals import Principal
from annotation.work.claiming import take
from annotation.work.open_and_close import move_study
from annotation.work.page import assignment_page
from db.connect import reading, transaction
from db.people_tables import Enrollment, Rater
from db.tables import Assignment, Event, Study
from db.types import now
from tests.browser.driving import answered_by_us, item_number, new_tab, ready, saved, until
from tests.browser.test_accessibility import violations
from tests.small_study import PROTOCOL, answer_all, make_study, write_reports

pytestmark = [pytest.mark.browser, pytest.mark.slow]


class Person:
    """Ada of one study, at the service functions instead of the browser."""

    def __init__(self, server: Any, study_id: int) -> None:
        self.server, self.study_id = server, study_id
        with reading(server.engine) as session:
            person = session.scalars(select(Enrollment).where(Enrollment.study_id == study_id)).one()
            rater = session.get_one(Rater, person.rater_id)
        self.principal = Principal(study_id, "annotator", rater.id, person.id, rater.opaque_id)

    def hand_in(self, items: int) -> None:
        for _ in range(items):
            with transaction(self.server.engine) as session:
                mine = take(session, self.principal)
                assert mine is not None
                page = assignment_page(session, self.principal, mine.aid)
                revs = answer_all(session, self.principal, mine.aid)
                submit(session, self.principal, mine.aid, page["page"], f"submit-{mine.aid}", revs)

    def aids(self, *statuses: str) -> list[str]:
        mine = select(Assignment.aid).where(Assignment.study_id == self.study_id, Assignment.status.in_(statuses))
        with reading(self.server.engine) as session:
            return list(session.scalars(mine.where(Assignment.rater_id == self.principal.rater_id)))

    def spend(self, aid: str, minutes: float) -> None:
        with transaction(self.server.engine) as session:
            mine = session.scalars(select(Assignment).where(Assignment.aid == aid)).one()
            begin = now() - timedelta(minutes=minutes)
            mine.taken_at = begin - timedelta(hours=1)
            steps = [(begin + timedelta(minutes=k), begin + timedelta(minutes=k + 1)) for k in range(int(minutes))]
            intervals = [{"criterion": None, "start": a.isoformat(), "end": b.isoformat()} for a, b in steps]
            session.add(
                Event(
                    study_id=self.study_id, rater_id=self.principal.rater_id, assignment_id=mine.id, kind="activity",
                    what="intervals", data={"intervals": intervals}, client_ts=now().isoformat(),
                )
            )  # fmt: skip


@pytest.fixture
def ada(context: BrowserContext, server: Any, study_id: int) -> tuple[Page, Person]:
    """Ada, signed in, with three items submitted and the fourth before her."""
    page = new_tab(context)
    link = server.link(study_id, "Ada")
    person = Person(server, study_id)
    person.hand_in(3)
    page.goto(link)
    page.get_by_role("radio", name="Left").wait_for()
    return page, person


def home(page: Page, server: Any) -> Locator:
    page.goto(f"{server.address}/my_work")
    page.get_by_role("button", name="Log out").wait_for()
    return page.locator(".c-answer")


def test_remarks_need_no_pointer_and_from_the_menu_to_my_work_and_from_a_read_only_item_lead_ways_home_and_on(
    ada: tuple[Page, Person], server: Any
) -> None:
    page, person = ada
    flag_comment_and_skip_need_no_pointer(ada, server, person.study_id)
    page.get_by_role("button", name="Menu", exact=True).click()
    page.get_by_role("link", name="My work").click()
    expect(page.locator(".c-answer")).to_have_text("3 of 9 items submitted; 0 min so far.")
    expect(page.get_by_text("1 in work, 5 to come.")).to_be_visible()
    expect(page).to_have_title("My work · calipers")
    page.get_by_role("link", name="Continue with item 4").click()
    expect(page.get_by_text("Item 4 of 9")).to_be_visible()
    assert len(person.aids("taken")) == 1
    home(page, server)
    page.get_by_role("link", name="Open: ").first.click()
    page.get_by_role("link", name="Back to my work").click()
    expect(page.locator(".c-answer")).to_contain_text("3 of 9 items submitted")
    page.get_by_role("link", name="Open: ").first.click()
    page.get_by_role("link", name="Continue with item 4").click()
    expect(page.get_by_text("Item 4 of 9")).to_be_visible()
    page.goto(f"{server.address}/?open={'f' * 32}")
    expect(page.get_by_role("alert").first).to_have_text("The item you asked for is not among your work.")
    expect(page.get_by_text("Item 4 of 9")).to_be_visible()


def test_a_submitted_item_is_changed_only_after_reopening_a_skipped_one_is_read_and_all_of_a_locked_study(
    ada: tuple[Page, Person], server: Any, study_id: int
) -> None:
    a_submitted_item_opens_read_only_and_is_changed_only_after_reopening(ada, server, study_id)
    a_skipped_item_can_be_read_and_neither_submitted_nor_reopened(ada, server)
    in_a_locked_study_everything_can_be_read_and_nothing_reopened(ada, server)


def a_submitted_item_opens_read_only_and_is_changed_only_after_reopening(
    ada: tuple[Page, Person], server: Any, study_id: int
) -> None:
    page, person = ada
    home(page, server)
    page.get_by_role("link", name="Open: ").first.click()
    box = page.get_by_role("textbox", name="Rationale: Criterion 1")
    expect(box).to_have_value("because of that")
    expect(box).not_to_be_editable()
    expect(page.get_by_role("alert").first).to_contain_text("To change an answer, reopen the item")
    page.keyboard.press("2")
    before = len(server.labels(study_id))
    page.get_by_role("button", name="Reopen").click()
    expect(box).to_be_editable()
    ready(page)
    assert len(server.labels(study_id)) == before
    page.get_by_role("radio", name="Right").click()
    saved(page)
    page.keyboard.press("Control+Shift+Enter")
    item_number(page, 4, 9)
    assert "open=" not in page.url  # a reload now brings this item, not the one the link named
    assert len(person.aids("submitted")) == 3
    assert server.labels(study_id)[-1][0] == "right"


def a_skipped_item_can_be_read_and_neither_submitted_nor_reopened(ada: tuple[Page, Person], server: Any) -> None:
    page, _ = ada
    page.keyboard.press("x")
    page.keyboard.insert_text("the text is cut off")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Item 4 of 8")).to_be_visible()
    home(page, server)
    expect(page.get_by_text("skipped: the text is cut off")).to_be_visible()
    page.get_by_role("row", name="returned").get_by_role("link").click()
    expect(page.get_by_role("alert").first).to_contain_text("You skipped this item")
    for name in ("Submit", "Reopen"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_hidden()


def in_a_locked_study_everything_can_be_read_and_nothing_reopened(ada: tuple[Page, Person], server: Any) -> None:
    page, person = ada
    with transaction(server.engine) as session:
        for status in ("closed", "locked"):
            move_study(session, session.get_one(Study, person.study_id), status)
    expect(home(page, server)).to_have_text("3 items submitted; 0 min in all.")
    expect(page.get_by_role("link", name="Continue")).to_have_count(0)
    page.get_by_role("row", name="locked").first.get_by_role("link").click()
    expect(page.get_by_role("alert").first).to_have_text("The study is locked; this item can no longer be changed.")
    expect(page.get_by_role("button", name="Reopen")).to_be_hidden()
    expect(page.get_by_role("link", name="Back to my work")).to_be_visible()


def test_when_all_is_done_my_work_is_the_next_step(ada: tuple[Page, Person], server: Any) -> None:
    page, person = ada
    person.hand_in(6)
    page.reload()
    expect(page.get_by_text("All done: 9 items submitted.")).to_be_visible()
    page.get_by_role("link", name="My work").click()
    expect(page.locator(".c-answer")).to_have_text("All 9 items submitted; 0 min so far.")
    expect(page.get_by_text("There is nothing left to do.")).to_be_visible()


HIDE = """() => {
    Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""
SHOW = HIDE.replace('"hidden"', '"visible"')


def test_the_header_shows_the_servers_time_and_goes_on_by_itself_but_not_for_who_is_idle_or_elsewhere(
    own_context: BrowserContext, server: Any, study_id: int
) -> None:
    page, link = own_context.new_page(), server.link(study_id, "Ada")
    person = Person(server, study_id)
    page.clock.install()
    page.goto(link)
    timer = page.get_by_role("timer", name="Active time on this item")
    expect(timer).to_have_text("0 min")
    (own,) = person.aids("taken")
    person.spend(own, 42)
    page.reload()
    expect(timer).to_have_text("42 min")
    place = timer.bounding_box(), page.locator(".save").bounding_box()
    for _ in range(4):
        page.mouse.move(300, 300)
        page.clock.fast_forward(30_000)
        page.mouse.move(310, 310)
    expect(timer).to_have_text("44 min")
    assert "44 min on this item, 44 min in this study" in (timer.get_attribute("title") or "")
    assert (timer.bounding_box(), page.locator(".save").bounding_box()) == place
    page.clock.fast_forward(600_000)  # ten idle minutes add at most two
    page.mouse.move(320, 320)
    page.keyboard.press("j")
    expect(timer).to_have_text("46 min")
    page.clock.fast_forward(31_000)
    page.mouse.move(330, 330)
    page.evaluate(HIDE)
    page.clock.fast_forward(100_000)  # less than the idle limit, and still nothing of it counts
    page.evaluate(SHOW)
    page.mouse.move(340, 340)
    page.clock.fast_forward(31_000)
    page.mouse.move(350, 350)
    expect(timer).to_have_text("47 min")


def flag_comment_and_skip_need_no_pointer(ada: tuple[Page, Person], server: Any, study_id: int) -> None:
    page, person = ada
    (before,) = person.aids("taken")
    dialog = page.locator("dialog.sheet")
    ready(page)
    page.keyboard.press("f")
    expect(dialog).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.insert_text("it names its maker")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    page.keyboard.press("m")
    expect(dialog).to_be_visible()
    page.keyboard.type("fcx are letters here")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    until(lambda: len(server.events(study_id)) == 2)
    assert set(server.events(study_id)) == {("flag", "it names its maker"), ("comment", "fcx are letters here")}
    expect(dialog).to_have_count(0)
    page.keyboard.press("x")
    expect(dialog).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # without a reason
    expect(page.get_by_text("Reason is needed.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("Reason is needed.")).to_be_hidden()
    assert person.aids("taken") == [before]


COPIES = """() => new Promise((done) => {
    indexedDB.open('calipers').onsuccess = ({ target: { result } }) => {
        result.transaction('entries').objectStore('entries').count().onsuccess = ({ target }) => done(target.result);
        result.close();
    };
})"""


def logging_out_at_home_empties_the_browser_and_closes_the_door(page: Page, server: Any) -> None:
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_text("Open your invitation link")).to_be_visible()
    assert page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('calipers:'))") == []
    assert page.evaluate(COPIES) == 0
    assert page.context.request.post(f"{server.address}/api/take").status == 401


def test_logging_out_asks_first_where_answers_are_unsaved_and_then_empties_the_browser(
    ada: tuple[Page, Person], server: Any
) -> None:
    page, person = ada
    page.get_by_role("radio", name="Left").click()
    saved(page)
    key = f"calipers:{person.principal.opaque_id}:{'a' * 32}:entry:label:c1"
    page.evaluate("key => localStorage.setItem(key, JSON.stringify({kind: 'label', aid: 'a', rationale: 'kept'}))", key)
    answered_by_us(page, "**/api/labels", lambda route: route.abort())
    home(page, server)
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_text("1 answer in this browser is not saved yet")).to_be_visible()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download my unsaved answers").click()
    assert waiting.value.suggested_filename.startswith("unsaved-")
    page.get_by_role("button", name="Stay").click()
    expect(page.locator(".c-answer")).to_be_visible()
    page.evaluate("key => localStorage.removeItem(key)", key)  # nothing is unsaved any more
    page.unroute_all(behavior="wait")
    home(page, server)
    assert page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('calipers:'))") != []
    logging_out_at_home_empties_the_browser_and_closes_the_door(page, server)


def test_one_sign_in_by_an_account_goes_from_study_to_study_in_every_role(
    server: Any, context: BrowserContext, tmp_path: Path
) -> None:
    name = f"ada-{uuid.uuid4().hex}@lab.example"
    ids = {}
    for role, titled in (("evaluator", "A study to read"), ("annotator", "A study to label"), ("adjudicator", "دراسة")):
        asked = PROTOCOL.replace("A small study", titled)
        root = write_reports(tmp_path / role)
        ids[role] = make_study(server.engine, root, protocol=asked, name=f"{role}-{uuid.uuid4().hex}")
        server.link(ids[role], name, role)
    with transaction(server.engine) as session:
        cookie = sign_in_account(session, Account(name, ()), "::1") or ""
    context.add_cookies([{"name": "calipers", "value": cookie, "url": server.address}])
    page = new_tab(context)
    page.goto(f"{server.address}/studies")
    expect(page.get_by_text("You take part in 3 studies.")).to_be_visible()
    page.locator(f".st-key-study_row_{ids['annotator']}").get_by_role("button", name="Go there").click()
    item_number(page, 1, 9)
    page.goto(f"{server.address}/my_work")
    page.get_by_role("link", name="Your studies").click()
    expect(page.locator(f".st-key-place_{ids['annotator']}")).to_contain_text("1 in work")
    assert violations(page) == []
    page.locator(f".st-key-place_{ids['evaluator']}").get_by_role("button", name="Go there").click()
    expect(page.get_by_role("link", name="Choice", exact=True)).to_be_visible()
    expect(page.get_by_text("A study to read")).to_be_visible()
