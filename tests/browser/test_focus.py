"""Tab: the reading order, and a focus that is always visible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import EIGHT

pytestmark = pytest.mark.browser

# where the focus is: [region, tag, name, outline width in px, contrast of the outline with what is behind it]
FOCUS = """() => {
    let node = document.activeElement;
    while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
    const region = node.matches('.skip') ? 'skip' : node.closest('.header') ? 'header'
        : node.closest('.side')?.dataset.side ?? (node.matches('.submit') ? 'submit' : node.closest('.form') ? 'form' : 'none');
    const light = (color) => {
        const canvas = new OffscreenCanvas(1, 1).getContext('2d');
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3)
            .map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const style = getComputedStyle(node);
    let behind = node.parentElement;
    while (behind && /rgba\\(.*, 0\\)|transparent/.test(getComputedStyle(behind).backgroundColor)) behind = behind.parentElement;
    const [a, b] = [light(style.outlineColor), light(getComputedStyle(behind ?? node).backgroundColor)];
    const box = node.getBoundingClientRect();
    return {region, name: node.ariaLabel ?? node.textContent.slice(0, 30), style: style.outlineStyle,
        width: parseFloat(style.outlineWidth), contrast: (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05),
        seen: box.width > 0 && box.top >= 0 && box.bottom <= innerHeight + 1 && box.left >= 0 && box.right <= innerWidth + 1};
}"""


def test_tab_goes_in_reading_order_and_the_focus_is_always_visible(opened: Callable[..., Any]) -> None:
    page, _ = opened(EIGHT)
    skip, stops = page.get_by_role("button", name="Skip to the criteria"), []
    for number, (width, height, theme) in enumerate(((1440, 757, "light"), (720, 378, "dark")), 2):
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        expect(page.locator(".calipers")).to_have_attribute("data-layout", "right" if width > 1280 else "single")
        page.keyboard.press("j")
        stops += tab_stops(page)
        order = ["skip", "header", "left", "right", "form", "submit"]
        regions = [stop["region"] for stop in stops]
        assert regions == sorted(regions, key=order.index), regions
        assert set(regions) == set(order) - ({"right"} if width < 900 else set())
        assert regions.count("left") == 1, "one stop for a report without anything that scrolls sideways"
        for stop in stops:
            assert stop["style"] != "none", stop
            assert stop["width"] >= 2, stop
            assert stop["contrast"] >= 3, stop
            assert stop["seen"], stop
        skip.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("radiogroup", name=f"Criterion {number}")).to_be_focused()
        page.keyboard.press("Tab")
        expect(page.get_by_role("radio", name="Left")).to_be_focused()
        page.get_by_role("region", name="Left report").focus()
        skip.focus()
        stops = [page.evaluate(FOCUS)]


def tab_stops(page: Page) -> list[dict[str, Any]]:
    """Where Tab leads, from the first stop after the one that has the focus until all were there."""
    stops: list[dict[str, Any]] = []
    for _ in range(40):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUS)
        if stop["region"] == "none" or (stops and stop["region"] == "skip"):
            break
        stops.append(stop)
    return stops
