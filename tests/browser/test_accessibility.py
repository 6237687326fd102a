"""axe-core, its rules A and AA of WCAG 2.0 to 2.2, best practice and experimental ones, on every state of every screen, light and dark; zoom and motion."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import EIGHT
from tests.browser.driving import THIRTY_NINE, item_number, new_tab, ready, saved
from tests.small_study import PROBES, PROTOCOL, RATING, make_study, write_reports

pytestmark = [pytest.mark.browser, pytest.mark.slow]


RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice", "experimental"],
    "resultTypes": ["violations"],
}
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast"]}, "resultTypes": ["violations"]}
ONE_QUICK = PROTOCOL.replace("rationale = {required = true, min_length = 5}\n", "").rsplit("[[criterion]]", 1)[0]
# Streamlit fades what a running script may replace, and shows a button "Stop": neither is the page one works with
AT_REST = """() => {
    const app = document.querySelector('[data-testid=stApp]');
    const roots = [document, ...[...document.querySelectorAll('*')].map((one) => one.shadowRoot).filter(Boolean)];
    const moving = roots.some((root) => root.getAnimations().some((one) => one.playState === 'running'));
    return !app || (app.dataset.testScriptState === 'notRunning' && !document.querySelector('[data-stale=true]') && !moving);
}"""
# question, answers and rationale of each criterion that cannot be scrolled into the window
OUT_OF_REACH = """form => [...form.querySelectorAll('.list .row')].flatMap((row) => {
    row.click();
    return ['.question.open p', '[role=radio]:last-child', 'textarea:not([hidden])'].filter((name) => {
        const node = form.querySelector(name);
        node.scrollIntoView({block: 'nearest'});
        const {left, right, top, height} = node.getBoundingClientRect();
        return left < 0 || right > innerWidth || top < 0 || top + Math.min(height, 60) > innerHeight;
    }).map((name) => `${row.title}: ${name}`);
})"""


AXE = Axe().axe_script
RUN = "async (node, rules) => (await axe.run(node ?? document, rules)).violations"
# elements of Streamlit's own: the link of its page that lies under ours, the frame of its file uploader, its toast
STREAMLITS = ("stSkipToContent", "stFileUploaderDropzone", "stToast")
THEMES = (("light", RULES), ("dark", COLOURS))  # the dark theme changes colours, nothing else


def violations(page: Page, part: Locator | None = None, themes: Sequence[Any] = THEMES) -> list[str]:
    """Every violation on the page or in a part of it: theme, rule, the node and what is wrong with it."""
    found = []
    for theme, rules in themes:
        page.emulate_media(color_scheme=theme)
        if page.locator(".calipers").count():
            expect(page.locator(".calipers")).to_have_attribute("data-theme", theme)
        page.wait_for_function(AT_REST)
        if not page.evaluate("'axe' in window"):
            page.evaluate(AXE)
        for rule in part.evaluate(RUN, rules) if part else page.evaluate(f"rules => ({RUN})(null, rules)", rules):
            found += [
                f"{theme} {rule['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
                for node in rule["nodes"]
                if not any(name in node["html"] for name in STREAMLITS)
            ]
    return found


@pytest.fixture
def study(server: Any, tmp_path: Path) -> Callable[[str], int]:
    """study(protocol) -> its id."""

    def make(protocol: str) -> int:
        root = write_reports(tmp_path / "reports", ("tides",))
        return make_study(server.engine, root, protocol=protocol, overlap=2, name=uuid.uuid4().hex)

    return make


@pytest.fixture
def tab(context: BrowserContext) -> Page:
    return new_tab(context)


def test_the_label_page_and_everything_that_opens_over_it(tab: Page, server: Any, study: Callable[[str], int]) -> None:
    found: dict[str, list[str]] = {}
    tab.goto(server.link(study(EIGHT), "Ada"))
    ready(tab)
    tab.locator(".where-at").evaluate(
        "node => { node.style.color = 'color-mix(in srgb, currentcolor 40%, transparent)'; }"
    )
    seen = [wrong.split(":")[0] for wrong in violations(tab)]
    assert seen == ["light color-contrast", "dark color-contrast"], "axe sees into the component, and nothing else"
    tab.locator(".where-at").evaluate("node => node.removeAttribute('style')")
    tab.keyboard.press("1")
    tab.keyboard.insert_text("because it says so")
    saved(tab)
    tab.keyboard.press("Escape")
    where_motion_is_unwelcome_nothing_moves_by_itself(tab)
    tab.get_by_role("radiogroup", name="Criterion 1").focus()  # what was opened last may be closing still
    tab.keyboard.press("2")
    expect(tab.get_by_role("radio", name="Right")).to_be_checked()
    saved(tab)
    what_is_marked_is_so_in_forced_colours_too(tab)
    found["answered"] = violations(tab)
    left = tab.get_by_role("region", name="Left report")
    for name, key, opened in (
        ("help", "?", "dialog"), ("flag", "f", "dialog"), ("comment", "m", "dialog"), ("skip", "x", "dialog"),
        ("outline", "o", "dialog"), ("find", "/", "search"),
    ):  # fmt: skip
        left.focus()
        tab.keyboard.press(key)
        if name == "skip":
            tab.get_by_role("button", name="Skip item").click()  # without a reason: an error is shown
        if name == "find":
            tab.keyboard.insert_text("day")
        found[name] = violations(tab, tab.get_by_role(opened).last)  # type: ignore[arg-type]
        tab.keyboard.press("Escape")
    for name, button in (
        ("topic", tab.locator(".topic")), ("menu", tab.get_by_role("button", name="Menu", exact=True)),
        ("history", tab.get_by_role("button", name="History (")),
    ):  # fmt: skip
        button.click()
        found[name] = violations(tab, None if name == "menu" else tab.get_by_role("dialog").last)
        tab.keyboard.press("Escape")
    tab.get_by_role("button", name="Submit").click()
    expect(tab.get_by_role("alert").first).to_contain_text("Not submitted")
    found["notice"] = violations(tab, tab.locator(".calipers"))
    tab.context.set_offline(True)
    tab.get_by_role("radio", name="Tie").click()
    expect(tab.locator(".save")).to_contain_text("unsaved")
    found["offline"] = violations(tab, tab.locator(".header"))
    tab.context.set_offline(False)
    tab.evaluate("dispatchEvent(new Event('online'))")
    saved(tab)
    second = new_tab(tab.context)
    second.goto(server.address)
    expect(second.get_by_role("button", name="Take over")).to_be_visible()
    found["second tab"] = violations(second)
    for width, height in ((1024, 768), (720, 378), (390, 800)):
        tab.set_viewport_size({"width": width, "height": height})
        found[f"{width} px"] = violations(tab, themes=THEMES[:1])
    assert {state: wrong for state, wrong in found.items() if wrong} == {}


def test_my_work_submitted_work_and_the_end_of_work(tab: Page, server: Any, study: Callable[[str], int]) -> None:
    found: dict[str, list[str]] = {}
    tab.goto(server.link(study(ONE_QUICK), "Ada"))
    for number in (1, 2, 3):
        item_number(tab, number, 3)
        tab.keyboard.press("1")
        tab.keyboard.press("Control+Enter")
    expect(tab.get_by_text("All done: 3 items submitted.")).to_be_visible()
    found["finished"] = violations(tab)
    tab.get_by_role("link", name="My work").click()
    tab.get_by_role("button", name="Log out").wait_for()
    tab.get_by_text("Instructions").click()
    found["my work"] = violations(tab)
    for width in (390, 1024, 1440, 1920):
        tab.set_viewport_size({"width": width, "height": 800})
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        box = tab.locator(".w-main").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    tab.get_by_role("link", name="Open: ").first.click()
    expect(tab.get_by_role("button", name="Reopen")).to_be_visible()
    found["read-only"] = violations(tab)
    assert {state: wrong for state, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("protocol", [RATING, PROBES], ids=["rating", "probe"])
def test_a_rating_and_a_probe(tab: Page, server: Any, study: Callable[[str], int], protocol: str) -> None:
    tab.goto(server.link(study(protocol), "Ada"))
    ready(tab)
    tab.keyboard.press("1")
    saved(tab)
    assert violations(tab) == []


def test_the_doors(tab: Page, server: Any) -> None:
    tab.goto(f"{server.address}/invite/unknown")
    found = {"invite error": violations(tab)}
    tab.context.clear_cookies()
    tab.goto(server.address)
    expect(tab.get_by_text("Open your invitation link")).to_be_visible()
    found["signed out"] = violations(tab)
    assert {state: wrong for state, wrong in found.items() if wrong} == {}


def test_the_admins_screens_of_a_new_study(tab: Page, server: Any, study: Callable[[str], int]) -> None:
    tab.goto(server.link(study(PROTOCOL), "Eve", "admin"))
    expect(tab.get_by_text("No judge to choose yet")).to_be_visible()
    found = {"Choice, empty": violations(tab)}
    tab.get_by_text("Blinding", exact=True).first.click()
    expect(tab.get_by_role("region", name="By system")).to_be_visible()
    tab.get_by_text("Change this report by hand").click()
    tab.get_by_label("Reason, kept with the report").wait_for()
    found["Blinding, with results"] = violations(tab)  # as an evaluator sees it
    assert {state: wrong for state, wrong in found.items() if wrong} == {}


def test_at_twice_the_size_everything_is_reached_and_read(tab: Page, server: Any, study: Callable[[str], int]) -> None:
    """A window of 1440 x 757 at 200 % zoom has 720 x 378 CSS pixels."""
    tab.set_viewport_size({"width": 720, "height": 378})
    tab.goto(server.link(study(THIRTY_NINE), "Ada"))
    ready(tab)
    pane = tab.get_by_role("region", name="Left report")
    assert pane.evaluate("node => node.clientHeight") >= 100
    assert tab.locator(".form").evaluate(OUT_OF_REACH) == []
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tab.get_by_role("button", name="All criteria").click()
    tab.get_by_role("button", name="Encyclopedic, non-specialist register").click()
    tab.keyboard.press("1")
    tab.keyboard.insert_text("reached and written")
    saved(tab)
    tab.get_by_role("button", name="Right", exact=True).click()
    expect(tab.get_by_role("region", name="Right report")).to_be_focused()
    tab.get_by_role("button", name="Submit").click()
    expect(tab.get_by_role("alert").first).to_contain_text("38 criteria need")
    assert tab.get_by_role("button", name="Submit").bounding_box()["y"] <= 378 - 24  # type: ignore[index]


def what_is_marked_is_so_in_forced_colours_too(tab: Page) -> None:
    tab.keyboard.press("Escape")
    tab.keyboard.press("b")
    told = tab.locator(".read").filter(has_text="Bookmarked").locator("span")
    assert len(set(told.evaluate_all("spans => spans.map((span) => span.getBoundingClientRect().top)"))) == 1
    tab.emulate_media(forced_colors="active")
    for marked in (".bookmarked", ".list .row[aria-current=true]"):
        expect(tab.locator(marked)).to_have_css("outline-style", "dashed")
    tab.emulate_media(forced_colors="null")
    tab.keyboard.press("b")


def where_motion_is_unwelcome_nothing_moves_by_itself(tab: Page) -> None:
    tab.emulate_media(reduced_motion="reduce")
    moving = """() => {
        const tree = [...document.querySelectorAll('*')].find((e) => e.shadowRoot?.querySelector('.calipers')).shadowRoot;
        return [...tree.querySelectorAll('*')].filter((node) => {
            const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(node);
            return parseFloat(transitionDuration) > 0 || animationName !== 'none' || scrollBehavior === 'smooth';
        }).map((node) => node.className);
    }"""
    assert tab.evaluate(moving) == []
    for key in ("?", "o", "/"):
        tab.keyboard.press(key)
        assert tab.evaluate(moving) == []
        tab.keyboard.press("Escape")
    tab.emulate_media(reduced_motion="null")
