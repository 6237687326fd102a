"""What browser tests share: waiting for a state, and where things are on the annotator's page."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

import annotation

THIRTY_NINE = (Path(annotation.__file__).parent / "protocols" / "wlc_writing_39.toml").read_text(encoding="utf-8")


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
