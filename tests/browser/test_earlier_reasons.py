"""Own earlier reasons are read from the form, where the protocol lets them be."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.conftest import Server
from tests.browser.driving import new_tab, ready
from tests.small_study import PROTOCOL, make_study, write_reports

pytestmark = [pytest.mark.browser, pytest.mark.slow]
STEERED = PROTOCOL.replace("[study]", "[study]\nearlier_reasons = true")


def test_what_was_said_of_the_item_before_is_read_in_a_sheet(
    context: BrowserContext, server: Server, tmp_path: Path
) -> None:
    study = make_study(server.engine, write_reports(tmp_path), protocol=STEERED, name="steered")
    page = new_tab(context)
    page.goto(server.link(study, "Ada"))
    ready(page)
    earlier = page.get_by_role("button", name="Earlier")
    earlier.click()
    expect(page.get_by_role("dialog", name="My earlier reasons")).to_contain_text("You have handed in no other item")
    page.keyboard.press("Escape")
    assert page.locator(".hint").evaluate("hint => hint.scrollWidth <= hint.clientWidth"), "what is asked for is cut"
    for words in ("plain words throughout", "figures with their sources"):
        page.keyboard.press("1")
        page.keyboard.insert_text(words)
        page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Item 2 of")).to_be_visible()
    ready(page)
    earlier.click()
    sheet = page.get_by_role("dialog", name="My earlier reasons")
    expect(sheet.locator(".reason")).to_have_count(1)
    expect(sheet).to_contain_text("plain words throughout")
    expect(sheet).not_to_contain_text("figures with their sources")
