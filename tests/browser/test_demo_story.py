"""An evaluator of the labels-only demo clicks, and has found all four: cheap, biased, dear, unsteady."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from app.demo.labels import NAME, make_labels_demo
from app.demo.study import demo_links
from tests.browser.conftest import Server
from tests.browser.driving import new_tab, parked, put_away
from tests.browser.test_judge_screens import choose

pytestmark = [pytest.mark.browser, pytest.mark.slow]


COMPUTED = 90_000  # milliseconds until a report stands, on a machine that does other work too


@pytest.fixture(scope="module")
def page(warm: BrowserContext, server: Server) -> Iterator[Page]:
    with ThreadPoolExecutor(1) as pool:  # Playwright's own event loop runs in this thread
        pool.submit(make_labels_demo, server.engine).result()
    parked(warm, server.address)
    page = new_tab(warm)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(f"{server.address}/invite/{demo_links(server.engine, NAME, ('evaluator',))['evaluator']}")
    yield page
    page.close()
    put_away(warm, server.address)


def test_an_evaluator_finds_all_four_by_clicking(page: Page) -> None:
    said = page.locator(".c-answer").first
    expect(said).to_contain_text(
        "simulated-mini is the cheapest adequate judge of 6 candidates tried", timeout=COMPUTED
    )
    expect(page.get_by_text("Simulated answers").first).to_be_visible()
    judges = page.get_by_role("region", name="Which judge can stand in for an annotator")
    expect(judges.get_by_role("row").filter(has_text="simulated-max").first).to_contain_text("adequate: dearer")
    choose(page, "Judge", "simulated-flash")
    for asked in ("order", "length", "self-preference"):
        row = page.get_by_role("row").filter(has=page.get_by_role("cell", name=asked, exact=True))
        expect(row).to_contain_text("beyond the limit")
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Bias").click()
    expect(said).to_contain_text("7 found (simulated-flash: ", timeout=COMPUTED)
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Progress").click()
    expect(said).to_contain_text("simulated-cleo needs a second look", timeout=COMPUTED)
    expect(page.get_by_text("agrees less with the others than these do among themselves").first).to_be_visible()
    expect(page.get_by_text("on retests gave the same answer again in").first).to_be_visible()
