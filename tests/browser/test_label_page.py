"""The annotator's page in a real Chromium: what a submit asks for, remarks, skipping, signing out."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.driving import new_tab, saved, until

pytestmark = pytest.mark.browser


def test_an_incomplete_submit_names_what_is_missing_and_goes_there(page: Page, server: Any, study_id: int) -> None:
    page.get_by_role("button", name="Criterion 3:").click()
    page.get_by_role("radio", name="Left").click()
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert")).to_contain_text("8 criteria need an answer or a rationale")
    expect(page.get_by_role("textbox", name="Rationale: Criterion 1")).to_be_visible()
    assert server.labels(study_id)[0][0] == "left"


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


def test_flag_comment_and_skip_reach_the_server_and_work_goes_on(page: Page, server: Any, study_id: int) -> None:
    page.get_by_role("button", name="More", exact=True).or_(page.get_by_role("button", name="Menu", exact=True)).click()
    page.get_by_text("Flag a problem").click()
    dialog = page.get_by_role("dialog").last
    dialog.get_by_role("textbox").fill("the second table is cut off")
    dialog.get_by_role("button", name="Send").click()
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
    expect(page.get_by_text("Item 1 of 8")).to_be_visible()


def test_signing_out_empties_the_browser_and_closes_the_door(page: Page, server: Any) -> None:
    page.keyboard.press("1")
    saved(page)
    page.get_by_role("button", name="More", exact=True).or_(page.get_by_role("button", name="Menu", exact=True)).click()
    page.get_by_text("Log out").click()
    expect(page.get_by_text("Open your invitation link")).to_be_visible(timeout=15_000)
    assert page.context.request.post(f"{server.address}/api/take").status == 401
