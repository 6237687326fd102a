"""An evaluator in a browser: the choice, its table and the labels behind it, plots as files, the planner."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from app.demo import demo_links, make_demo
from tests.browser.conftest import Server
from tests.browser.driving import new_tab
from tests.browser.test_accessibility import AT_REST, violations
from tests.browser.test_judge_screens import choose
from tests.security.policy import at_rest, refused, watch

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(own_server: Any) -> Any:
    return own_server


FIRST = ""  # the first page has no address of its own
PAGES = {
    "": "The card of one judge", "reliability": "by criterion and category", "bias": "Biases looked for",
    "ranking": "How firm the first place is", "agreement": "Agreement of judges with annotators",
    "planner": "Why more criteria do not replace topics", "progress": "Each annotator beside the others",
}  # fmt: skip


@pytest.fixture(scope="module")
def tab(browser: Browser, server: Server) -> Iterator[Page]:
    """One evaluator of the demo study for the whole module: its report is computed once."""
    with ThreadPoolExecutor(1) as pool:  # Playwright's own event loop runs in this thread
        pool.submit(make_demo, server.engine).result()
    context = browser.new_context(viewport={"width": 1440, "height": 757})
    context.set_default_timeout(30_000)
    watch(context, server.address)
    page = new_tab(context)
    page.goto(f"{server.address}/invite/{demo_links(server.engine)['evaluator']}")
    yield page
    context.close()


def opened(tab: Page, server: Server, path: str) -> None:
    """The page with everything on it."""
    tab.goto(f"{server.address}/{path}")
    expect(tab.get_by_text(PAGES[path]).first).to_be_visible(timeout=90_000)
    tab.wait_for_function(AT_REST)


def judges(tab: Page) -> list[str]:
    """First column of the table of judges, from above."""
    return table_of_judges(tab).locator("tbody td:first-child").all_inner_texts()


def table_of_judges(tab: Page) -> Locator:
    return tab.get_by_role("region", name="Which judge can stand in for an annotator")


def test_the_first_page_is_the_choice_and_its_judges_can_be_sorted(tab: Page, server: Server) -> None:
    opened(tab, server, FIRST)
    expect(tab.locator(".c-answer")).to_contain_text("judge")
    expect(tab.get_by_role("figure", name="Agreement of each judge")).to_be_visible()
    listed = judges(tab)
    choose(tab, "Sort by", 1)  # the second column: agreement
    values = table_of_judges(tab).locator("tbody td:nth-child(2) .c-to")
    expect(values).to_have_text(sorted(values.all_inner_texts()))
    rising = judges(tab)
    tab.get_by_text("Largest first").first.click()
    expect(table_of_judges(tab).locator("tbody td:first-child")).to_have_text(rising[::-1])
    assert sorted(rising) == sorted(listed)


def test_a_number_leads_to_the_labels_behind_it_and_filters_stay_in_the_address(tab: Page, server: Server) -> None:
    opened(tab, server, FIRST)
    judge = judges(tab)[0]
    table_of_judges(tab).get_by_role("link").first.click()
    expect(tab.get_by_text("questions are answered differently")).to_be_visible()
    assert tab.url == f"{server.address}/disagreements?judge={judge}"
    expect(tab.get_by_role("combobox", name="Judge")).to_have_value(judge)
    tab.get_by_role("combobox", name="Kind").click()
    tab.get_by_role("option", name="hard").click()
    expect(tab).to_have_url(re.compile(r"judge=.*&kind=hard"))
    tab.reload()
    expect(tab.get_by_role("combobox", name="Kind")).to_have_value("hard")


@pytest.mark.parametrize(("form", "opens"), [("PDF", b"%PDF"), ("SVG", b"<?xml")])
def test_a_plot_comes_as_a_file_for_the_paper(tab: Page, server: Server, form: str, opens: bytes) -> None:
    opened(tab, server, FIRST)
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name=f"Download {form}").click()
    assert waiting.value.suggested_filename == f"frontier.{form.lower()}"
    assert Path(waiting.value.path()).read_bytes().startswith(opens)


def test_a_slider_changes_what_the_plan_asks_for(tab: Page, server: Server) -> None:
    opened(tab, server, "planner")
    answer = tab.locator(".c-answer")
    expect(answer).to_contain_text("It takes 72 topics to know agreement to ±5 points")
    tab.get_by_role("slider", name="Half-width of the interval").focus()
    tab.keyboard.press("ArrowRight")
    expect(answer).to_contain_text("It takes 60 topics to know agreement to ±5.5 points")
    expect(tab.get_by_role("figure", name="Half-width of the 95 % interval")).to_be_visible()


def test_axe_finds_nothing_on_any_page_and_none_is_wider_than_its_window(tab: Page, server: Server) -> None:
    found: dict[str, list[str]] = {}
    for path in PAGES:
        opened(tab, server, path)
        for summary in tab.get_by_text("How to read this table").all():
            summary.click()
        for width in (900, 1440):
            tab.set_viewport_size({"width": width, "height": 757})
            found[f"{path} at {width}"] = violations(tab)
            assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, width)
    assert {state: wrong for state, wrong in found.items() if wrong} == {}


def test_no_page_breaks_the_content_security_policy(tab: Page, server: Server) -> None:
    found = {}
    for path in (*PAGES, "disagreements", "disputes", "judges", "blinding", "paper"):
        tab.goto(f"{server.address}/{path}")
        at_rest(tab)
        found[path] = refused(tab)
    assert {path: wrong for path, wrong in found.items() if wrong} == {}
