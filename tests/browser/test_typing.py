"""Typing at any pace, over every flush of the clock: what is typed is what stands there and what is stored."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import EIGHT
from tests.browser.driving import box_of, saved
from tests.small_study import RATING

pytestmark = pytest.mark.browser

WORDS = ["the", "tide", "rises", "and", "falls", "twice", "a", "day", "because", "the", "moon", "pulls", "at", "it"]
# by the page's clock the fifteen seconds between two flushes of active time are over every ten milliseconds
HURRIED_CLOCK = "() => { const now = Date.now; const from = now(); Date.now = () => from + 1500 * (now() - from); }"


def prose(length: int, seed: int) -> str:
    draw = random.Random(seed)
    text = ""
    while len(text) < length:
        text += f"{draw.choice(WORDS)} "
    return text[:length]


def open_box(page: Page, number: int) -> None:
    page.get_by_role("button", name=f"Criterion {number}:").click()
    page.keyboard.press("Enter")
    expect(box_of(page)).to_be_focused()


def dictate(page: Page, text: str, pause_ms: float = 0) -> None:
    """Word after word without any keydown, as dictation and input methods put them in."""
    for word in text.split(" "):
        page.keyboard.insert_text(f"{word} ")
        if pause_ms:
            page.wait_for_timeout(pause_ms)


def test_no_character_of_what_is_typed_or_dictated_is_lost_where_active_time_is_sent_meanwhile(
    opened: Callable[..., Any], server: Any
) -> None:
    page, study_id = opened(EIGHT)
    page.evaluate(HURRIED_CLOCK)
    typed, dictated = prose(200, 1), prose(1200, 2).strip()
    open_box(page, 1)
    page.keyboard.type(typed)
    expect(box_of(page)).to_have_value(typed)
    page.keyboard.press("Escape")
    open_box(page, 2)
    dictate(page, dictated)
    expect(box_of(page)).to_have_value(f"{dictated} ")
    page.keyboard.press("Escape")
    saved(page)
    stored = {criterion: rationale for _, rationale, criterion in server.labels(study_id)}
    assert stored == {"c1": typed, "c2": f"{dictated} "}


def test_a_score_that_is_typed_where_active_time_is_sent_meanwhile_keeps_its_digits(
    opened: Callable[..., Any], server: Any
) -> None:
    page, study_id = opened(RATING.replace("max = 10", "max = 1000"))
    page.evaluate(HURRIED_CLOCK)
    field = page.get_by_role("spinbutton").first
    field.focus()
    for number in range(101, 121):
        field.select_text()
        for digit in str(number):
            page.keyboard.insert_text(digit)
        expect(field).to_have_value(str(number))
    saved(page)
    assert server.labels(study_id)[-1][0] == "120"


@pytest.mark.slow
def test_of_10_000_characters_at_the_pace_of_a_person_over_more_than_a_minute_none_is_lost(
    opened: Callable[..., Any], server: Any
) -> None:
    page, study_id = opened(EIGHT)
    meant = {"c1": prose(700, 3), "c2": f"{prose(4600, 4).strip()} ", "c3": f"{prose(4700, 5).strip()} "}
    open_box(page, 1)
    page.keyboard.type(meant["c1"], delay=110)  # over 77 s: five flushes
    for number in (2, 3):
        page.keyboard.press("Escape")
        open_box(page, number)
        dictate(page, meant[f"c{number}"].strip(), pause_ms=40)
    page.keyboard.press("Escape")
    saved(page)
    stored = {criterion: rationale for _, rationale, criterion in server.labels(study_id)}
    assert stored == meant
    assert sum(map(len, stored.values())) >= 10_000
