"""Two tabs, two computers: no tab labels an item it does not show, and no answer is replaced unseen."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import select

from db.connect import reading
from db.tables import Assignment, Label
from tests.browser.driving import answered_by_us, box_of, item_number, listening, new_tab, ready, saved
from tests.small_study import PROTOCOL, make_study, write_reports

pytestmark = pytest.mark.browser
ONE_QUICK = PROTOCOL.replace("rationale = {required = true, min_length = 5}\n", "").rsplit("[[criterion]]", 1)[0]


@pytest.fixture
def first(context: BrowserContext, server: Any, tmp_path: Path) -> tuple[Page, int]:
    """Ada's first tab with her first item of nine, one criterion each, and the study's id."""
    root = write_reports(tmp_path / "reports")
    study_id = make_study(server.engine, root, protocol=ONE_QUICK, name=uuid.uuid4().hex)
    page = new_tab(context)
    page.goto(server.link(study_id, "Ada"))
    ready(page)
    return page, study_id


def answers(server: Any, study_id: int) -> list[tuple[str, list[tuple[str, str]]]]:
    """(status, [(choice, rationale) of every revision]) of each assignment with labels, in the order of taking."""
    query = select(Assignment, Label).join(Label, Label.assignment_id == Assignment.id).order_by(Label.id)
    found: dict[int, tuple[str, list[tuple[str, str]]]] = {}
    with reading(server.engine) as session:
        for assignment, label in session.execute(query.where(Assignment.study_id == study_id)):
            found.setdefault(assignment.id, (assignment.status, []))[1].append((label.choice, label.rationale))
    return list(found.values())


def test_a_second_tab_never_labels_another_item(first: tuple[Page, int], server: Any, context: BrowserContext) -> None:
    page, study_id = first
    second = new_tab(context)
    second.goto(server.address)
    ready(second)
    expect(second.get_by_role("button", name="Take over")).to_be_visible()
    second.keyboard.press("2")  # read-only: nothing
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    item_number(page, 2, 9)
    # the second tab still shows the first item, which is handed in by now; it never turns into the next one
    expect(second.get_by_role("alert").first).to_contain_text("To change an answer, reopen the item")
    ready(second)
    second.keyboard.press("2")
    second.keyboard.press("Control+Enter")
    assert answers(server, study_id) == [("submitted", [("left", "")])]
    second.reload()
    item_number(second, 2, 9)
    second.keyboard.press("2")
    page.keyboard.press("3")
    saved(page)
    assert answers(server, study_id) == [("submitted", [("left", "")]), ("taken", [("tie", "")])]


def test_on_another_computer_an_item_that_was_handed_in_meanwhile_takes_no_answer_and_passes_none_on(
    first: tuple[Page, int], server: Any, elsewhere: BrowserContext
) -> None:
    page, study_id = first
    there = new_tab(elsewhere)
    there.goto(server.link(study_id, "Ada"))
    ready(there)
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    item_number(page, 2, 9)
    there.keyboard.press("2")
    expect(there.get_by_role("alert").first).to_contain_text("reopen it to change an answer")
    assert answers(server, study_id) == [("submitted", [("left", "")])]


def test_an_answer_sent_for_another_item_than_the_page_shows_is_refused(first: tuple[Page, int], server: Any) -> None:
    page, study_id = first
    sent: list[Any] = []
    with listening(page, "request", lambda one: sent.append(one) if one.url.endswith("/api/labels") else None):
        page.keyboard.press("1")
        page.keyboard.press("Control+Enter")
        item_number(page, 2, 9)
    old = next(one for one in sent if one.post_data_json["entries"][0]["kind"] == "label")
    with reading(server.engine) as session:
        taken = session.scalars(
            select(Assignment).where(Assignment.study_id == study_id, Assignment.status == "taken")
        ).one()
    entry = old.post_data_json["entries"][0] | {"aid": taken.aid, "client_uuid": uuid.uuid4().hex}
    reply = page.context.request.post(
        f"{server.address}/api/labels", data={"entries": [entry]}, headers=own_headers(old, server)
    )
    assert reply.json()["acks"] == []
    assert "another item" in reply.json()["refused"][0]["text"]
    assert answers(server, study_id) == [("submitted", [("left", "")])]


def own_headers(request: Any, server: Any) -> dict[str, str]:
    return {"X-Calipers-Token": request.headers["x-calipers-token"], "Origin": server.address}


def test_a_second_tab_takes_over_what_the_first_could_not_send_and_drops_no_character(
    first: tuple[Page, int], server: Any, context: BrowserContext
) -> None:
    page, study_id = first
    answered_by_us(page, "**/api/labels", lambda route: route.abort())
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    page.keyboard.insert_text("typed where nothing was sent")
    second = new_tab(context)
    second.goto(server.address)
    ready(second)
    second.get_by_role("button", name="Take over").click()
    expect(box_of(second)).to_be_editable()
    expect(box_of(second)).to_have_value("typed where nothing was sent")
    ready(second)
    second.keyboard.press("Enter")
    second.keyboard.insert_text(", and then some")
    saved(second)
    expect(page.get_by_role("button", name="Take over")).to_be_visible()
    page.unroute("**/api/labels")
    page.keyboard.type("nothing")  # it was overtaken: this reaches nobody
    page.get_by_role("button", name="Take over").click()
    expect(box_of(page)).to_be_editable()
    expect(box_of(page)).to_have_value("typed where nothing was sent, and then some")
    [(_, revisions)] = answers(server, study_id)
    assert revisions[-1] == ("right", "typed where nothing was sent, and then some")
    assert {choice for choice, _ in revisions} == {"right"}


def test_a_newer_answer_of_another_computer_is_never_replaced_unseen(
    first: tuple[Page, int], server: Any, elsewhere: BrowserContext
) -> None:
    page, study_id = first
    there = new_tab(elsewhere)
    there.goto(server.link(study_id, "Ada"))
    ready(there)
    page.keyboard.press("1")
    saved(page)
    there.keyboard.press("2")
    versions = there.get_by_role("group", name="Two versions of this answer")
    expect(versions).to_contain_text("Stored: Left")
    expect(versions).to_contain_text("Here: Right")
    there.keyboard.press("Control+Enter")
    expect(there.get_by_role("alert").first).to_contain_text("two versions")
    assert answers(server, study_id) == [("taken", [("left", "")])]
    there.get_by_role("button", name="Keep stored").click()
    expect(there.get_by_role("radio", name="Left")).to_have_attribute("aria-checked", "true")
    saved(there)
    assert answers(server, study_id) == [("taken", [("left", "")])]


# every request for a lock is refused, as in WebKit while a page is being left; a page that goes on asking is stopped here
REFUSED_LOCKS = """
    window.asked = 0;
    LockManager.prototype.request = () => {
        window.asked += 1;
        return window.asked > 50 ? new Promise(() => {}) : Promise.reject(new DOMException('no', 'AbortError'));
    };
"""


def test_a_browser_that_refuses_every_lock_is_asked_once_and_the_page_still_works(
    own_context: BrowserContext, server: Any, study_id: int
) -> None:
    page = own_context.new_page()
    page.add_init_script(REFUSED_LOCKS)
    page.goto(server.link(study_id, "Ada"))
    ready(page)
    page.keyboard.press("1")
    saved(page)
    second = own_context.new_page()
    second.add_init_script(REFUSED_LOCKS)
    second.goto(server.address)
    second.get_by_role("button", name="Take over").click()
    expect(page.get_by_role("button", name="Take over")).to_be_visible()
    assert [tab.evaluate("window.asked") for tab in (page, second)] == [1, 1]
