"""After an item is handed in, the question who wrote it: optional, by keyboard, and kept apart from the answers."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect
from sqlalchemy import select

from db.connect import reading
from db.tables import Event
from tests.annotation.test_guesses import ASKING, folder
from tests.browser.driving import answered_by_us, item_number, new_tab, ready, until
from tests.browser.test_accessibility import violations
from tests.small_study import make_study

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def hand_in(page: Page) -> None:
    for _ in range(2):
        page.keyboard.press("1")
        page.keyboard.insert_text("it says so at once")
        page.keyboard.press("Control+Enter")


def guesses(server: Any, study_id: int) -> list[dict[str, str]]:
    rows = select(Event.data).where(Event.study_id == study_id, Event.what == "guess")
    with reading(server.engine) as session:
        return list(session.scalars(rows))


def test_the_question_comes_after_the_item_and_may_be_left_out(
    context: BrowserContext, server: Any, tmp_path: Path
) -> None:
    protocol = ASKING.replace("required = true, min_length = 5", "required = true, min_length = 1")
    study_id = make_study(server.engine, folder(tmp_path / "reports"), protocol=protocol, name=uuid.uuid4().hex)

    page = new_tab(context)
    page.goto(server.link(study_id, "Ada"))
    ready(page)
    hand_in(page)
    dialog = page.get_by_role("dialog", name="Did you recognise who wrote it?")
    expect(dialog.get_by_label("Left report")).to_be_focused()
    assert violations(page) == []
    dialog.get_by_label("Left report").select_option("Acme")
    dialog.get_by_label("Right report").select_option("No")
    dialog.get_by_role("button", name="Continue").click()
    item_number(page, 2, 9)
    until(lambda: guesses(server, study_id) == [{"left": "Acme", "right": ""}])
    hand_in(page)
    expect(dialog).to_be_visible()
    assert page.locator(".calipers").get_attribute("data-ready") == "false"  # what is typed now reaches no item
    page.keyboard.press("Escape")
    item_number(page, 3, 9)
    hand_in(page)
    dialog.get_by_label("Right report").select_option("A person")
    dialog.get_by_role("button", name="Continue").press("Enter")
    until(lambda: guesses(server, study_id)[1:] == [{"right": "person"}])


def test_a_guess_that_cannot_be_sent_is_told_and_arrives_when_the_person_is_here_again_also_after_the_last_item(
    context: BrowserContext, server: Any, tmp_path: Path
) -> None:
    protocol = ASKING.replace("required = true, min_length = 5", "required = true, min_length = 1")
    reports = folder(tmp_path / "reports", topics=("tides",))
    study_id = make_study(server.engine, reports, protocol=protocol, name=uuid.uuid4().hex)
    page = new_tab(context)
    page.goto(server.link(study_id, "Ada"))
    ready(page)

    def cut_off(route: Route) -> None:
        route.abort() if '"guess"' in str(route.request.post_data) else route.continue_()

    answered_by_us(page, "**/api/labels", cut_off)
    told = page.get_by_text("could not be saved; kept in this browser")
    for number, unsaved in ((1, "1 answer of"), (2, "2 answers of"), (3, "3 answers of")):
        item_number(page, number, 3)
        hand_in(page)
        page.get_by_role("combobox", name="Left report").select_option("Acme")
        page.get_by_role("button", name="Continue").click()
        expect(told).to_contain_text(unsaved)
    assert guesses(server, study_id) == []
    kept = "() => Object.keys(localStorage).filter((key) => key.endsWith(':entry:guess')).length"
    assert page.evaluate(kept) == 3, (
        "one of each item: what is said of it later takes the place of what was said before"
    )
    page.unroute("**/api/labels")
    page.reload()
    until(lambda: guesses(server, study_id) == [{"left": "Acme"}] * 3)
    until(lambda: not page.evaluate("() => Object.keys(localStorage).filter((key) => key.endsWith(':entry:guess'))"))
