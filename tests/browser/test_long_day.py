"""What makes ten hours of labelling easier, kept for the person on any computer, and left out where the owner says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import EIGHT
from tests.browser.driving import box_of, new_tab, ready, saved, settled, signed_in, until

pytestmark = pytest.mark.browser
WITHOUT = EIGHT.replace("[study]", "[study]\naids = []") if "[study]" in EIGHT else f"{EIGHT}\n[study]\naids = []\n"


def menu(page: Page) -> str:
    page.get_by_role("button", name="Menu", exact=True).click()
    words = page.locator(".menu").inner_text()
    page.keyboard.press("Escape")
    return words


def test_bookmarks_notes_pace_and_text_settings_are_found_again_on_another_computer(
    opened: Callable[..., Any], elsewhere: BrowserContext, server: Any
) -> None:
    page, study_id = opened(EIGHT)
    page.get_by_role("region", name="Left report").locator("p").first.click()
    all_sent = "!Object.keys(localStorage).some((key) => key.includes(':entry:'))"
    until(lambda: page.evaluate(all_sent))
    with page.expect_request(lambda request: '"block"' in (request.post_data or "")) as told:
        pressed = page.evaluate("performance.timeOrigin + performance.now()")
        page.keyboard.press("b")
    assert told.value.timing["startTime"] - pressed < 1_500, "a place that was only scrolled to waits two seconds"
    expect(page.get_by_text("Bookmarked; the outline lists it.")).to_be_visible()
    page.keyboard.press("n")
    page.get_by_role("textbox", name="Notes").fill("Ties only where both are silent.")
    page.keyboard.press("Escape")
    page.keyboard.press("+")
    page.get_by_role("button", name="Menu", exact=True).click()
    page.get_by_role("button", name="My pace in sight: off").click()
    expect(page.locator(".time")).to_contain_text("in all")
    until(lambda: page.evaluate(all_sent))
    assert page.evaluate("Object.values(localStorage).filter((kept) => kept.includes('Ties only'))") == []
    there = new_tab(elsewhere)
    signed_in(there, server.link(study_id, "Ada"))
    there.goto(server.address)
    ready(there)
    assert there.locator(".calipers").evaluate("root => root.style.getPropertyValue('--font')") == "17px"
    expect(there.locator(".time")).to_contain_text("in all")
    there.keyboard.press("n")
    expect(there.get_by_role("textbox", name="Notes")).to_have_value("Ties only where both are silent.")
    there.keyboard.press("Escape")
    there.keyboard.press("o")
    mark = there.get_by_role("navigation", name="Left report").get_by_role("button", name="Bookmark")
    expect(mark).to_have_count(1)
    mark.click()
    there.locator(".bookmarked").click()
    there.keyboard.press("b")
    expect(there.get_by_text("Bookmark removed")).to_be_visible()
    expect(there.locator(".bookmarked")).to_have_count(0)


def test_after_fifty_minutes_without_a_rest_a_break_is_suggested_once(
    own_context: BrowserContext, server: Any, study_id: int
) -> None:
    page = own_context.new_page()
    page.clock.install()
    page.goto(server.link(study_id, "Ada"))
    ready(page)
    for _ in range(13):  # never five minutes without a sign of life
        page.clock.fast_forward("04:00")
        page.keyboard.press("j")
    page.keyboard.press("1")
    expect(page.get_by_text("without a rest; a break of five minutes helps")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    expect(page.get_by_text("without a rest")).to_have_count(0)


def test_what_is_dictated_is_kept_as_what_is_typed(page: Page, server: Any, study_id: int) -> None:
    """Dictation writes whole phrases, which it may still change, without a key of the keyboard."""
    page.keyboard.press("1")
    line = page.context.new_cdp_session(page)
    for heard in ("it says", "it says where its", "it says where its figures come from"):
        line.send("Input.imeSetComposition", {"text": heard, "selectionStart": len(heard), "selectionEnd": len(heard)})
    line.send("Input.insertText", {"text": "it says where its figures come from"})
    expect(box_of(page)).to_have_attribute("spellcheck", "true")
    saved(page)
    settled(page, lambda: server.labels(study_id))
    assert server.labels(study_id)[-1][:2] == ("left", "it says where its figures come from")


def test_the_owner_may_leave_every_aid_out(opened: Callable[..., Any]) -> None:
    page, _ = opened(WITHOUT)
    for key in ("b", "n"):
        page.keyboard.press(key)
    expect(page.get_by_role("textbox", name="Notes")).to_have_count(0)
    expect(page.locator(".bookmarked")).to_have_count(0)
    page.keyboard.press("1")
    expect(page.get_by_role("button", name="Undo: ")).to_have_count(0)
    expect(box_of(page)).to_have_attribute("spellcheck", "false")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+z")
    expect(page.get_by_role("radio", name="Left")).to_be_checked()
    assert not {"Bookmark", "My notes", "My pace"} & set(menu(page).split("\n"))
    page.keyboard.press("?")
    said = page.get_by_role("dialog").last.inner_text()
    assert not any(
        words in said for words in ("notes to yourself", "bookmark the passage", "take back the last choice")
    )
