"""Confidence by keyboard: asked after each answer, kept, optional, in the history, and nowhere where nobody asked."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect
from sqlalchemy import select

from db.connect import reading
from db.tables import Assignment, Label
from tests.browser.conftest import EIGHT
from tests.browser.driving import item_number, saved

pytestmark = pytest.mark.browser

SURE = EIGHT.replace("[answers]\n", "[answers]\nconfidence = true\n", 1)
QUICK = SURE.replace("rationale = {required = true, min_length = 5}\n", "")


def stored(server: Any, study_id: int) -> list[tuple[str | None, int | None]]:
    """The answers with their confidence, the newest revision of each, oldest first."""
    query = select(Label.criterion_id, Label.choice, Label.confidence).join(Assignment)
    with reading(server.engine) as session:
        rows = session.execute(query.where(Assignment.study_id == study_id).order_by(Label.id)).all()
    return list({row.criterion_id: (row.choice, row.confidence) for row in rows}.values())


def test_after_an_answer_the_keyboard_is_asked_how_sure_and_goes_on_and_nobody_has_to_say(
    opened: Any, server: Any
) -> None:
    page, study_id = opened(QUICK)
    scale = page.get_by_role("radiogroup", name="Confidence")
    for answer, sure in zip("2132", "5432", strict=True):
        page.keyboard.press(answer)
        expect(scale).to_be_focused()
        page.keyboard.press(sure)
    for answer in "1321":
        page.keyboard.press(answer)
        page.keyboard.press("j")
    saved(page)
    page.keyboard.press("Control+Enter")
    item_number(page, 2, 9)
    said = ["right", "left", "tie", "right", "left", "tie", "right", "left"]
    assert stored(server, study_id) == list(zip(said, [5, 4, 3, 2, None, None, None, None], strict=True))


def test_it_stands_before_a_rationale_that_is_required_and_c_comes_back_to_it(opened: Any, server: Any) -> None:
    page, study_id = opened(SURE)
    box = page.get_by_role("textbox", name="Rationale: Criterion 1")
    page.get_by_role("radio", name="Left").click()
    expect(box).to_be_focused()  # the mouse goes from the answer to its rationale
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    scale = page.get_by_role("radiogroup", name="Confidence")
    expect(scale).to_be_focused()
    page.keyboard.type("so it says at once, no doubt")  # whose first letters are keys of the page elsewhere
    expect(box).to_have_value("so it says at once, no doubt")
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    page.keyboard.press("4")
    expect(box).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_text("asked after an answer; Enter or a letter goes on to the rationale")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    expect(scale.get_by_role("radio", name="4")).to_be_focused()
    for key in ("9", "0"):
        page.keyboard.press(key)  # no level
    page.keyboard.press("ArrowRight")
    expect(scale.get_by_role("radio", name="5")).to_be_checked()
    saved(page)
    assert stored(server, study_id)[:1] == [("left", 5)]
    page.keyboard.press("Delete")
    saved(page)
    assert stored(server, study_id)[:1] == [("left", None)], "the confidence is taken back, the answer stays"
    page.get_by_role("button", name="History").click()
    expect(page.get_by_text("confidence 5").first).to_be_visible()


def test_on_a_phone_it_is_asked_for_where_the_question_is_folded_away(opened: Any) -> None:
    page, _ = opened(SURE)
    page.set_viewport_size({"width": 390, "height": 700})
    fold, box = page.get_by_role("button", name="Question and rationale"), page.get_by_role("textbox", name="Rationale")
    fold.click()
    expect(box).to_be_hidden()
    fold.blur()
    page.keyboard.press("1")
    scale = page.get_by_role("radiogroup", name="Confidence")
    expect(scale).to_be_focused()
    expect(scale).to_be_in_viewport(ratio=1)
    page.keyboard.press("4")
    expect(box).to_be_focused()
    expect(box).to_be_in_viewport(ratio=1)
    expect(fold).to_have_attribute("aria-expanded", "false")  # the reason is asked for, the question stays away
    expect(fold).to_be_in_viewport(ratio=1)
    expect(page.locator(".question.open p")).to_be_hidden()
    page.get_by_role("button", name="Next criterion").click()  # it was not on screen yet
    expect(page.locator(".question.open p")).to_be_visible()
    page.get_by_role("button", name="Previous criterion").click()
    expect(page.locator(".question.open p")).to_be_hidden()


def test_without_confidence_there_is_no_scale_and_no_key(opened: Any, server: Any) -> None:
    page, _ = opened(EIGHT)
    expect(page.get_by_role("radiogroup", name="Confidence")).to_have_count(0)
    page.keyboard.press("?")
    expect(page.get_by_text("how sure you are")).to_have_count(0)
