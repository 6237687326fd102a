"""Taking back: a choice, a confidence, what was cleared by key or by a second click. Every step is a further revision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import EIGHT
from tests.browser.driving import box_of, middle, rows, saved

pytestmark = pytest.mark.browser
SURE = EIGHT.replace("[answers]", "[answers]\nconfidence = true")


def checked(page: Page) -> list[str]:
    return [radio.inner_text().split("\n")[0] for radio in page.get_by_role("radio", checked=True).all()]


def test_ctrl_z_and_the_button_take_back_choices_and_clearing_and_what_was_stored_stays_in_the_history(
    opened: Callable[..., Any], server: Any
) -> None:
    page, study_id = opened(EIGHT)
    undo = page.get_by_role("button", name="Undo: ")
    expect(undo).to_have_count(0)
    page.keyboard.press("Control+z")  # nothing yet
    page.keyboard.press("1")
    expect(undo).to_have_accessible_name("Undo: Left, Criterion 1 (Ctrl Z)")
    page.keyboard.press("Control+z")  # the box it led to is empty
    assert checked(page) == []
    for key in ("1", "Escape", "2", "Escape"):
        page.keyboard.press(key)
    assert checked(page) == ["Right"]
    page.keyboard.press("Delete")
    assert checked(page) == []
    expect(page.get_by_text("Cleared: Right, Criterion 1.")).to_be_visible()
    expect(undo).to_have_accessible_name("Undo: clearing of Right, Criterion 1 (Ctrl Z)")
    page.get_by_role("button", name="Undo", exact=True).click()
    assert checked(page) == ["Right"]
    expect(page.get_by_text("Undone. Now: Right, Criterion 1.")).to_be_visible()
    page.keyboard.press("j")
    undo.click()  # of the criterion that was left: it comes back
    expect(page.get_by_role("heading", name="Criterion 1")).to_be_visible()
    assert checked(page) == ["Left"]
    expect(page.get_by_role("radio", name="Left")).to_be_focused()
    page.keyboard.press("Control+z")
    saved(page)
    assert rows(page)[0] == "Criterion 1: no answer"
    expect(undo).to_have_count(0)
    stored = [choice for choice, _, _ in server.labels(study_id)]
    assert stored[-1] is None
    assert len(stored) >= 3, "nothing is rewritten"


def test_a_second_click_on_the_chosen_answer_clears_it_without_a_question_and_a_double_click_chooses(
    opened: Callable[..., Any], server: Any
) -> None:
    page, study_id = opened(SURE)
    left = page.get_by_role("radio", name="Left")
    left.dblclick()
    expect(left).to_be_checked()
    page.keyboard.insert_text("it says so")
    page.wait_for_timeout(700)  # longer than any double click
    page.mouse.click(*middle(left))
    expect(left).not_to_be_checked()
    expect(page.get_by_role("dialog").filter(visible=True)).to_have_count(1)  # the page itself
    expect(box_of(page)).to_have_value("it says so")
    page.keyboard.press("Control+z")
    expect(left).to_be_checked()
    sure = page.get_by_role("radiogroup", name="Confidence").get_by_role("radio", name="4")
    sure.click()
    expect(sure).to_be_checked()
    page.wait_for_timeout(700)
    sure.click()
    expect(page.get_by_text("Cleared: confidence 4, Criterion 1.")).to_be_visible()
    expect(sure).not_to_be_checked()
    saved(page)
    assert server.labels(study_id)[-1][:2] == ("left", "it says so")
