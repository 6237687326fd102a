"""An evaluator in a browser: the choice, its table and the labels behind it, plots as files, the planner."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from annotation.studies import init_study
from app.demo.study import demo_links, make_demo
from db.connect import transaction
from tests.browser.conftest import Server
from tests.browser.driving import VIEWPORT, new_tab, parked, put_away
from tests.browser.test_accessibility import violations
from tests.browser.test_judge_screens import choose
from tests.security.policy import at_rest, refused, watch
from tests.small_study import PROTOCOL

pytestmark = [pytest.mark.browser, pytest.mark.slow]


# what each page shows when all of it is there, in the order of a walk by the links above
PAGES = {
    "Choice": "The card of one judge", "Reliability": "by criterion and category", "Bias": "Biases looked for",
    "Ranking": "How firm the first place is", "Agreement": "Agreement of judges with annotators",
    "Disagreements": "Previous", "Disputes": "An item counts once", "Judges": "How each was asked", "Paper": "Methods",
    "Progress": "slots are handed in", "Planner": "Why more criteria do not replace topics",
}  # fmt: skip
# the tables and figures that hide a part of themselves
CUT = """() => [...document.querySelectorAll('.c-scroll')].filter((one) => one.scrollWidth > one.clientWidth + 1)
    .map((one) => one.ariaLabel)"""


@pytest.fixture(scope="module")
def tab(warm: BrowserContext, server: Server) -> Iterator[Page]:
    """One evaluator of the demo study for the whole module: its report is computed once."""
    with ThreadPoolExecutor(1) as pool:  # Playwright's own event loop runs in this thread
        pool.submit(make_demo, server.engine).result()
    parked(warm, server.address)
    page = new_tab(warm)
    watch(page, server.address)
    page.goto(f"{server.address}/invite/{demo_links(server.engine)['evaluator']}")
    yield page
    page.close()
    put_away(warm, server.address)


def opened(tab: Page, name: str) -> None:
    """The page with everything on it."""
    tab.get_by_test_id("stSidebarNav").get_by_role("link", name=name, exact=True).click()
    expect(tab).to_have_url(re.compile("/$" if name == "Choice" else rf"/{name.lower()}(\?|$)"))
    expect(tab.get_by_text(PAGES[name]).first).to_be_visible()
    expect(tab).to_have_title(f"{name} · calipers")
    at_rest(tab)


def judges(tab: Page) -> list[str]:
    """First column of the table of judges, from above."""
    return table_of_judges(tab).locator("tbody td:first-child").all_inner_texts()


def table_of_judges(tab: Page) -> Locator:
    return tab.get_by_role("region", name="Which judge can stand in for an annotator")


def test_the_first_page_is_the_choice_its_judges_can_be_sorted_and_its_plot_comes_as_a_file(tab: Page) -> None:
    opened(tab, "Choice")
    expect(tab.locator(".c-answer")).to_contain_text("judge")
    figure = tab.get_by_role("figure", name="Agreement of each judge")
    expect(figure).to_be_visible()
    # who, how far, at what price and what not to trust: on one screen, with the figure beside
    for part in (tab.locator(".c-facts"), tab.locator(".c-first .c-warnings"), figure):
        box = part.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 900, part
    listed = judges(tab)
    choose(tab, "Sort by", 2)  # the third column: agreement
    values = table_of_judges(tab).locator("tbody td:nth-child(3)")
    expect(values).to_have_text(sorted(values.all_inner_texts()))
    rising = judges(tab)
    tab.get_by_text("Largest first").first.click()
    expect(table_of_judges(tab).locator("tbody td:first-child")).to_have_text(rising[::-1])
    assert sorted(rising) == sorted(listed)
    for form, opens in (("PDF", b"%PDF"), ("SVG", b"<?xml")):
        with tab.expect_download() as waiting:
            tab.get_by_role("button", name=f"Download {form}").click()
        assert waiting.value.suggested_filename == f"frontier.{form.lower()}"
        assert Path(waiting.value.path()).read_bytes().startswith(opens)


def test_a_number_leads_to_the_labels_behind_it_and_filters_stay_in_the_address(tab: Page) -> None:
    opened(tab, "Choice")
    judge = next(one for one in judges(tab) if "[" not in one)  # what two answers make leads nowhere
    # by its name: the page may be drawing itself anew, in another order
    row = table_of_judges(tab).get_by_role("row").filter(has=tab.get_by_role("cell", name=judge, exact=True))
    row.get_by_role("link").first.click()
    expect(tab.get_by_text("questions are answered differently")).to_be_visible()
    assert tab.url.endswith(f"/disagreements?judge={judge}")
    expect(tab.get_by_role("combobox", name="Judge")).to_have_value(judge)
    tab.get_by_role("combobox", name="Kind").click()
    tab.get_by_role("option", name="hard").click()
    expect(tab).to_have_url(re.compile(r"judge=.*&kind=hard"))
    tab.reload()
    expect(tab.get_by_role("combobox", name="Kind")).to_have_value("hard")


def test_on_no_page_axe_finds_anything_or_the_policy_refuses_or_a_window_is_too_narrow_and_a_slider_changes_the_plan(
    tab: Page,
) -> None:
    found: dict[str, list[str]] = {}
    for name in PAGES:
        opened(tab, name)
        found[f"{name}, refused"] = refused(tab)
        for summary in tab.get_by_text(re.compile("^How (to read this table|this was computed)$")).all():
            summary.click()
        for width in (1440, 1280, 1024, 820, 390):
            tab.set_viewport_size({"width": width, "height": 757})
            assert width < 820 or tab.evaluate(CUT) == [], (name, width)
            assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), (name, width)
        found[name] = violations(tab)  # where tables scroll
        tab.set_viewport_size(VIEWPORT)
    assert {state: wrong for state, wrong in found.items() if wrong} == {}
    a_slider_changes_what_the_plan_asks_for(tab)


def test_an_address_of_no_page_is_told_by_a_page_of_ours_and_the_first_page_has_its_word_too(
    tab: Page, server: Server, browser: Browser
) -> None:
    tab.goto(f"{server.address}/choices")
    expect(tab.get_by_role("heading", name="There is no page at this address")).to_be_visible()
    expect(tab.get_by_role("dialog")).to_have_count(0)
    with transaction(server.engine) as session:
        draft = init_study(session, "draft", PROTOCOL, 7).id
    with browser.new_context() as owners:
        owner = owners.new_page()
        owner.goto(server.link(draft, "Olga", "admin"))
        for page, word, first in ((tab, "choice", "Choice"), (owner, "set_up", "Set up")):
            page.goto(f"{server.address}/{word}")
            expect(page).to_have_title(f"{first} · calipers")
            expect(page.locator(".c-answer, h1").first).to_be_visible()
            expect(page.get_by_test_id("stException").or_(page.get_by_role("dialog"))).to_have_count(0)
    opened(tab, "Progress")
    opened(tab, "Choice")


def test_a_page_in_chinese_says_so_to_a_screen_reader(tab: Page) -> None:
    opened(tab, "Choice")
    expect(tab.locator("html")).to_have_attribute("lang", "en")
    for language, tag in (("简体中文", "zh-CN"), ("English", "en")):
        languages = tab.get_by_test_id("stSidebar").get_by_role("combobox")
        languages.scroll_into_view_if_needed()  # a list that opens while the menu scrolls is closed by it
        at_rest(tab)
        languages.click()
        tab.get_by_role("option", name=language).click()
        expect(tab.locator("html")).to_have_attribute("lang", tag)
    assert refused(tab) == []


def a_slider_changes_what_the_plan_asks_for(tab: Page) -> None:
    """Where the walk ends."""
    answer = tab.locator(".c-answer")
    tab.get_by_text("Assumptions").click()
    expect(answer).to_contain_text("It takes 72 topics to know agreement to ±5 points")
    tab.get_by_role("slider", name="Half-width of the interval").focus()
    tab.keyboard.press("ArrowRight")
    expect(answer).to_contain_text("It takes 60 topics to know agreement to ±5.5 points")
    expect(tab.get_by_role("figure", name="Half-width of the 95 % interval")).to_be_visible()
