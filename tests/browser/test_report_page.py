"""The exported page in a real Chromium: nothing is fetched, nothing runs, nothing overflows, everybody can read it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.driving import VIEWPORT, new_tab
from tests.browser.test_accessibility import violations
from tests.exports.hostile_page import HOSTILE, hostile_report, page_of

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page_of(hostile_report(), HOSTILE["atlas"], HOSTILE["cirrus"]), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def tab(browser: Browser, address: str) -> Iterator[Page]:
    page = browser.new_page(viewport=VIEWPORT)
    page.goto(address, wait_until="load")
    yield page
    page.context.close()


def test_nothing_is_fetched_and_nothing_runs(tab: Page, address: str) -> None:
    asked, opened, said = [], [], []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("dialog", lambda dialog: (opened.append(dialog.message), dialog.dismiss()))
    tab.on("console", lambda message: said.append(message.text))
    tab.goto(address, wait_until="load")
    tab.wait_for_function("[...document.images].every(image => image.complete && image.naturalWidth > 0)")
    assert [url for url in asked if not url.startswith(("data:image/svg+xml", address))] == []
    assert (opened, said) == ([], [])
    assert tab.locator("script, iframe, svg, object, embed, form, link").count() == 0


def test_the_page_would_not_run_a_script_that_came_in(tab: Page) -> None:
    tab.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.ran = true";
          document.body.append(script);
        }"""
    )
    assert tab.evaluate("window.ran === undefined")


def test_tables_scroll_in_their_box_and_the_page_never_sideways(tab: Page) -> None:
    for width in (390, 1024, 1920, 1440):
        tab.set_viewport_size({"width": width, "height": 757})
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), width


def test_all_but_the_one_page_is_folded_and_opens_by_its_heading_and_by_its_address(tab: Page) -> None:
    first = tab.evaluate("document.body.innerText.split(/\\s+/).length")
    assert first < 900, "words of the page that everybody sees"
    parts = tab.locator(".behind > details")
    for part in parts.all():
        assert not part.locator(":scope > :not(summary)").is_visible()
        part.locator(":scope > summary").evaluate("summary => summary.click()")
        assert part.locator(":scope > :not(summary)").is_visible()
        part.evaluate("part => { part.open = false }")
    tab.evaluate("location.hash = 'agreement'")
    tab.wait_for_function("document.getElementById('agreement').checkVisibility()")
    assert parts.count() > 5


def test_notes_are_set_smaller_than_their_table(tab: Page) -> None:
    size = "one => parseFloat(getComputedStyle(one).fontSize)"
    notes = tab.locator(".behind .c-notes").first.evaluate(size)
    assert notes < tab.locator(".behind .c-table td").first.evaluate(size)


def test_in_print_no_table_is_wider_than_the_paper(tab: Page) -> None:
    tab.emulate_media(media="print")
    tab.set_viewport_size({"width": 688, "height": 1000})  # A4 within its margins, at 96 pixels an inch
    wide = tab.eval_on_selector_all(
        "table, img", "found => found.filter(one => one.getBoundingClientRect().right > innerWidth + 1).length"
    )
    assert wide == 0
    assert tab.pdf(prefer_css_page_size=True).startswith(b"%PDF")


def test_axe_finds_nothing_in_either_theme(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport={"width": 1024, "height": 768}, bypass_csp=True)  # axe itself is a script
    page = new_tab(context)
    page.goto(address)
    try:
        assert violations(page) == []
    finally:
        context.close()
