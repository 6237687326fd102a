"""What browser tests share: waiting for a state, and where things are on the annotator's page."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Locator, Page, expect

import annotation

PARKED = "/_stcore/health"  # an address of the app's own site that shows and keeps nothing
THIRTY_NINE = (Path(annotation.__file__).parent / "protocols" / "wlc_writing_39.toml").read_text(encoding="utf-8")


def parked(context: BrowserContext, address: str) -> Page:
    """The tab that stays, so that the process which compiled the app's files stays too; made where there is none."""
    if (stays := _stays(context)) is not None:
        return stays
    page = context.new_page()
    page.goto(address + PARKED)
    return page


def _stays(context: BrowserContext) -> Page | None:
    return next((page for page in context.pages if page.url.endswith(PARKED)), None)


def new_tab(context: BrowserContext) -> Page:
    """A fresh tab, in the process of the one that stays if there is one: the app's page opens at half the cost."""
    stays = _stays(context)
    if stays is None:
        return context.new_page()
    with stays.expect_popup() as popup:
        stays.evaluate("() => void open('about:blank')")
    return popup.value


def close_tabs(context: BrowserContext) -> None:
    """All but the one that stays."""
    stays = _stays(context)
    for page in context.pages:
        if page is not stays:
            page.close()


def saved(page: Page) -> None:
    expect(page.get_by_role("status").first).to_have_text("Saved", timeout=20_000)


def ready(page: Page) -> None:
    """The item is on screen, and keys act."""
    page.locator('.calipers[data-ready="true"]').wait_for()


def until(condition: Callable[[], Any], seconds: float = 15) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "did not come true in time"
        time.sleep(0.05)


def middle(place: Locator) -> tuple[float, float]:
    box = place.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def box_of(page: Page) -> Locator:
    """The rationale of the open criterion."""
    return page.locator(".boxes textarea:visible")


def rows(page: Page) -> list[str]:
    """The list of criteria as a screen reader hears it: label, answer, what is missing."""
    return page.locator(".list .row").evaluate_all("rows => rows.map(row => row.ariaLabel)")


def item_number(page: Page, number: int, of: int) -> None:
    expect(page.locator(".position")).to_have_text(f"Item {number} of {of}", timeout=20_000)
    ready(page)
