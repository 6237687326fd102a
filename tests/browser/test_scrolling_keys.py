"""Keys that scroll: the report in use, wherever the focus is, and no answer comes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.driving import box_of, rows, until
from tests.browser.test_widths import reader

pytestmark = pytest.mark.browser


RESTS = "async (pane) => { const at = pane.scrollTop; await new Promise((go) => setTimeout(go, 60)); return pane.scrollTop === at; }"


def top(pane: Locator) -> float:
    return float(pane.evaluate("pane => pane.scrollTop"))


def moves(page: Page, pane: Locator, key: str, by: tuple[float, float]) -> None:
    """This key brings the pane further by so many pixels, and it comes to rest there."""
    before = top(pane)
    page.keyboard.press(key)
    until(lambda: by[0] <= top(pane) - before <= by[1] and pane.evaluate(RESTS))


def walk(page: Page, pane: Locator, alt: str = "") -> None:
    """Arrows, pages, the ends; only the first two from inside a text."""
    moves(page, pane, f"{alt}ArrowDown", (30, 60))
    moves(page, pane, f"{alt}ArrowUp", (-60, -30))
    moves(page, pane, f"{alt}PageDown", (500, 700))
    moves(page, pane, f"{alt}PageUp", (-700, -500))
    if not alt:
        moves(page, pane, "Space", (500, 700))
        moves(page, pane, "Shift+Space", (-700, -500))
        moves(page, pane, "End", (800, 100_000))
        moves(page, pane, "Home", (-100_000, -800))


def test_arrows_pages_space_and_ends_scroll_the_report_in_use_and_left_and_right_alone_choose(
    context: BrowserContext, server: Any, tmp_path: Path
) -> None:
    page = reader(context, server, tmp_path, 350)
    left, right = (page.get_by_role("region", name=f"{side} report") for side in ("Left", "Right"))
    walk(page, left)  # on a page where nothing was clicked yet
    page.keyboard.press("1")
    page.keyboard.insert_text("it says so at once")
    walk(page, left, alt="Alt+")
    page.keyboard.press("ArrowDown")  # this one is the text's
    expect(box_of(page)).to_be_focused()
    assert top(left) == 0
    page.keyboard.press("Control+Enter")
    group = page.get_by_role("radiogroup")
    expect(group).to_be_focused()
    moves(page, left, "Space", (500, 700))
    moves(page, left, "Home", (-700, -500))
    page.keyboard.press("w")
    page.keyboard.press("j")
    page.locator(".list .row[aria-current]").focus()
    moves(page, right, "PageDown", (500, 700))  # the arrows of the list are the list's
    page.keyboard.press("k")
    expect(group).to_be_focused()
    walk(page, right, alt="Alt+")
    assert [row.split(": ")[-1] for row in rows(page)[:3]] == ["Left", "no answer", "no answer"]
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="Left")).to_be_checked()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="Right")).to_be_checked()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("radio", name="Right")).to_be_checked()
    assert top(left) == 0, "and the other report stays"
