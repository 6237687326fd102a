"""The annotator's page in a real Chromium: what a submit asks for, remarks, skipping, signing out."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import update

from db.connect import transaction
from db.tables import Topic
from tests.browser.driving import answered_by_us, item_number, listening, new_tab, ready, rows, saved, until
from tests.browser.test_accessibility import ONE_QUICK, violations

pytestmark = pytest.mark.browser


def test_a_submit_that_lacks_something_goes_there_remarks_and_a_skip_are_stored_and_signing_out_closes_the_door(
    page: Page, server: Any, study_id: int
) -> None:
    an_incomplete_submit_names_what_is_missing_and_goes_there(page, server, study_id)
    flag_comment_and_skip_reach_the_server_and_work_goes_on(page, server, study_id)
    signing_out_empties_the_browser_and_closes_the_door(page, server)


def an_incomplete_submit_names_what_is_missing_and_goes_there(page: Page, server: Any, study_id: int) -> None:
    page.get_by_role("button", name="Criterion 3:").click()
    page.get_by_role("radio", name="Left").click()
    page.get_by_role("button", name="Submit").click()
    refusal = page.get_by_role("alert").first
    expect(refusal).to_have_text("Not submitted: 8 criteria are unfinished; some need an answer, some a rationale.")
    expect(page.get_by_role("textbox", name="Rationale: Criterion 1")).to_be_visible()
    page.get_by_role("button", name="List all criteria").click()
    expect(page.get_by_role("button", name="List all criteria")).to_have_count(0)
    expect(refusal).to_contain_text("Not submitted")
    lacking = ("1: choose", "2: choose", "3: Left, say why")
    assert rows(page)[:3] == [f"Criterion {each}" for each in lacking]
    assert server.labels(study_id)[0][0] == "left"
    page.get_by_role("radio", name="Right").click()
    why = page.get_by_role("textbox", name="Rationale: Criterion 1")
    why.press("Enter")  # a first one leads here, and writes nothing
    page.keyboard.insert_text("because it says why")
    expect(why).to_have_value("because it says why")
    expect(refusal).to_contain_text("Not submitted: 7 criteria")


def test_the_first_item_says_how_work_goes_and_every_item_what_was_asked(
    page: Page, server: Any, study_id: int
) -> None:
    with transaction(server.engine) as session:
        session.execute(update(Topic).where(Topic.study_id == study_id).values(prompt="Why do the tides rise? " * 20))
    page.reload()
    ready(page)
    how = page.get_by_text("Press ? for the task and all keys.")
    expect(how).to_be_visible()
    asked = page.get_by_text("Why do the tides rise?")
    for width in (1024, 1440):
        page.set_viewport_size({"width": width, "height": 768})
        expect(asked).to_be_in_viewport()
        box = asked.bounding_box()
        assert box is not None
        assert box["width"] > 400
    asked.click()
    expect(page.get_by_role("dialog").get_by_text("Why do the tides rise?").last).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.keyboard.press("End")  # the focus is on Close, above what is scrolled
    expect(page.get_by_role("dialog", name="Help").get_by_text("this sheet")).to_be_in_viewport()
    page.keyboard.press("Escape")
    # what is to come after seconds comes when the test says so
    page.evaluate(
        "() => { const wait = setTimeout; window.later = []; window.setTimeout = (run, ms) => (ms < 3000 ? wait(run, ms) : later.push(run)); }"
    )
    for number in range(8):
        page.keyboard.press("1")
        page.keyboard.insert_text("it says so at once")
        if not number:
            expect(how).to_have_count(0)
        page.keyboard.press("Control+Enter")
    item_number(page, 2, 9)
    told = page.get_by_text("Item 1 handed in.")
    expect(told).to_be_visible()
    page.evaluate("later.forEach((run) => run())")
    expect(told).to_have_count(0)


def test_keys_act_soon_after_the_next_item_is_seen_where_it_took_long_to_come(opened: Callable[..., Any]) -> None:
    page, _ = opened(ONE_QUICK)
    page.evaluate(
        "() => { const wait = setTimeout; window.waits = []; window.setTimeout = (run, ms) => (waits.push(ms), wait(run, ms)); }"
    )
    asked: list[str] = []
    answered_by_us(page, "**/api/submit", lambda route: time.sleep(0.4) or route.continue_())
    with listening(page, "request", lambda request: asked.append(request.url)):
        page.keyboard.press("1")
        page.keyboard.press("Control+Enter")
        item_number(page, 2, 9)
    assert 60 in page.evaluate("waits"), "200 from when the key was pressed are over"
    assert 200 not in page.evaluate("waits")
    assert not [address for address in asked if "/api/assignment/" in address], "it came with the reply"


def test_the_evaluator_sees_the_answer_and_the_signed_out_a_next_step(
    context: BrowserContext, server: Any, study_id: int
) -> None:
    page = new_tab(context)
    page.goto(server.address)
    expect(page.get_by_text("Open your invitation link")).to_be_visible()
    page.goto(server.link(study_id, "Eve", "evaluator"))
    expect(page.get_by_text("No judge to choose yet")).to_be_visible()
    page.get_by_role("link", name="Progress").first.click()
    expect(page.get_by_text("0 of 18 slots are handed in")).to_be_visible()
    page.set_viewport_size({"width": 820, "height": 757})  # too narrow for the slots beside the annotators
    lists = [page.get_by_role("heading", name=name) for name in ("Annotators", "Items and their slots")]
    until(lambda: len({one.bounding_box()["x"] for one in lists}) == 1)


def test_in_a_window_too_narrow_for_their_row_the_evaluators_pages_are_in_a_menu_over_the_page(
    context: BrowserContext, server: Any, study_id: int
) -> None:
    page = new_tab(context)
    page.set_viewport_size({"width": 390, "height": 700})
    page.goto(server.link(study_id, "Eve", "evaluator"))
    expect(page.get_by_text("No judge to choose yet")).to_be_visible()
    menu = page.get_by_role("button", name="Expand sidebar")
    menu.click()
    progress = page.get_by_role("navigation").get_by_role("link", name="Progress")
    progress.click()
    expect(progress).to_have_attribute("aria-current", "page")
    page.get_by_role("button", name="Collapse sidebar").click()  # on a phone it closes by itself
    expect(page.get_by_text("0 of 18 slots are handed in")).to_be_in_viewport()
    expect(progress).not_to_be_in_viewport()
    expect(menu).to_be_in_viewport()
    assert violations(page) == []


# of every rule that paints a highlight: its selector; and what such a rule gives the text of a report
PAINTS = """() => {
    const root = [...document.querySelectorAll('*')].find((e) => e.shadowRoot?.querySelector('.calipers')).shadowRoot;
    const sheets = [...root.styleSheets, ...root.adoptedStyleSheets];
    const rules = sheets.flatMap((sheet) => [...sheet.cssRules]).filter((rule) => rule.selectorText?.includes('highlight('));
    const text = root.querySelector('.report p');
    const look = (name) => {
        const { backgroundColor, textDecoration } = getComputedStyle(text, `::highlight(${name})`);
        return `${backgroundColor} ${textDecoration}`;
    };
    const painted = (name) => look(name) !== look('none');
    return rules.map(({ selectorText }) => [selectorText, painted(selectorText.match(/highlight\\(([a-z-]+)/)[1])]);
}"""


def test_quotes_and_found_words_are_painted_by_rules_that_every_browser_applies_to_the_text_of_a_report(
    page: Page,
) -> None:
    # scoped to an element, Firefox and WebKit paint only what lies in it without another element between
    marks = ("evidence", "found", "found-now", "others")
    assert sorted(page.evaluate(PAINTS)) == [[f"::highlight({name})", True] for name in marks]


def flag_comment_and_skip_reach_the_server_and_work_goes_on(page: Page, server: Any, study_id: int) -> None:
    page.get_by_role("button", name="More", exact=True).or_(page.get_by_role("button", name="Menu", exact=True)).click()
    page.get_by_text("Flag a problem").click()
    dialog = page.get_by_role("dialog").last
    dialog.get_by_label("Description").fill("the second table is cut off")
    dialog.get_by_role("button", name="Send").click()
    expect(dialog.get_by_role("alert")).to_have_text("Choose what kind of problem it is.")
    dialog.get_by_role("radio", name="The text is broken").check()
    page.keyboard.press("Control+Enter")
    until(lambda: ("flag", "the second table is cut off") in server.events(study_id))
    page.keyboard.press("m")
    dialog = page.get_by_role("dialog").last
    dialog.get_by_role("textbox").fill("a general remark")
    dialog.get_by_role("button", name="Send").click()
    until(lambda: ("comment", "a general remark") in server.events(study_id))
    page.keyboard.press("x")
    dialog = page.get_by_role("dialog").last
    dialog.get_by_role("textbox").fill("I wrote about this topic myself")
    dialog.get_by_role("button", name="Skip").click()
    item_number(page, 1, 8)


def signing_out_empties_the_browser_and_closes_the_door(page: Page, server: Any) -> None:
    page.keyboard.press("1")
    saved(page)
    page.get_by_role("button", name="More", exact=True).or_(page.get_by_role("button", name="Menu", exact=True)).click()
    page.get_by_text("Log out").click()
    expect(page.get_by_role("heading", name="You are signed out; everything is saved")).to_be_visible()
    assert page.context.request.post(f"{server.address}/api/take").status == 401
