"""What a screen reader says: short names that begin with what is seen, where one is, and of saving the exceptions only."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import EIGHT
from tests.browser.driving import answered_by_us, ready, saved, until
from tests.small_study import RATING

pytestmark = pytest.mark.browser

# every text that a live region of the page comes to hold, but the minute of the clock, which is none
LISTEN = """() => {
    const root = [...document.querySelectorAll('*')].find((e) => e.shadowRoot?.querySelector('.calipers')).shadowRoot;
    window.spoken = [];
    const live = (node) => (node.nodeType === 1 ? node : node.parentElement)?.closest('[role=status], [role=alert], [aria-live]');
    new MutationObserver((changes) => {
        for (const region of new Set(changes.map(({ target }) => live(target))))
            if (region && region.ariaLive !== 'off' && region.textContent) spoken.push(region.textContent);
    }).observe(root, { subtree: true, childList: true, characterData: true });
}"""
# what of a button is made anew while its words stay: one that is pressed then counts for nothing in WebKit
REMADE = """() => {
    const root = [...document.querySelectorAll('*')].find((e) => e.shadowRoot?.querySelector('.calipers')).shadowRoot;
    const words = (nodes) => [...nodes].map((one) => one.textContent).join('');
    window.remade = new Set();
    new MutationObserver((changes) => {
        for (const { target, addedNodes, removedNodes } of changes)
            if (target.closest?.('button') && removedNodes.length && words(addedNodes) === words(removedNodes))
                remade.add(target.closest('button').className);
    }).observe(root, { subtree: true, childList: true });
}"""
# what stands on each button, and what it is called
BUTTONS = """root => [...root.querySelectorAll('button:not(.row)')].filter((one) => one.checkVisibility({ visibilityProperty: true })).map((one) => {
    const seen = [...one.querySelectorAll('*')].filter((part) => part.ariaHidden === 'true');
    const text = [...one.childNodes].filter((part) => !seen.includes(part)).map((part) => part.textContent).join('').trim();
    return [text, (one.ariaLabel ?? text).trim()];
})"""


def test_saving_is_silent_an_outage_and_its_end_are_said_once(opened: Callable[..., Any]) -> None:
    page, _ = opened(EIGHT)
    page.evaluate(LISTEN)
    page.evaluate(REMADE)
    page.keyboard.press("1")
    for word in ("because", " it", " says so"):
        page.keyboard.insert_text(word)
        page.wait_for_timeout(700)  # a pause in typing: it is sent
    saved(page)
    assert page.evaluate("window.spoken") == []
    answered_by_us(page, "**/api/labels", lambda route: route.abort())
    page.keyboard.insert_text(", here")
    expect(page.locator(".save")).to_contain_text("unsaved")
    page.keyboard.insert_text(" and there")
    page.get_by_role("button", name="Criterion 2:").click()
    page.keyboard.press("3")
    expect(page.locator(".save")).to_contain_text("2 unsaved")
    page.unroute("**/api/labels")
    saved(page)
    told = [words for words in page.evaluate("window.spoken") if "Criterion" not in words]
    assert told == ["Offline, 1 unsaved", "Saved again"]
    assert page.evaluate("[...window.remade]") == []


def test_what_the_focus_lands_on_says_which_criterion_of_how_many(opened: Callable[..., Any]) -> None:
    page, _ = opened(EIGHT)
    page.evaluate(LISTEN)
    page.keyboard.press("1")
    page.keyboard.insert_text("it says so")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("radiogroup", name=re.compile("^Criterion 2, 2 of 8: ."))).to_be_focused()
    page.keyboard.press("j")  # the focus stays where it is, and so would say nothing
    expect(page.get_by_role("radiogroup", name=(third := re.compile("^Criterion 3, 3 of 8: .")))).to_be_focused()
    assert len([*filter(third.search, page.evaluate("window.spoken"))]) == 1


def test_ctrl_enter_on_the_only_open_criterion_says_what_it_lacks_and_a_sheet_its_title(
    opened: Callable[..., Any],
) -> None:
    page, _ = opened(EIGHT.rsplit("[[criterion]]", 7)[0])
    told = page.get_by_role("alert").first
    page.keyboard.press("Control+Enter")
    expect(told).to_have_text("Not submitted: 1 criterion needs an answer.")
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    expect(told).to_have_text("The rationale is missing. Ctrl Enter again leaves it so.")
    page.keyboard.press("Control+Enter")
    expect(told).to_have_text("Not submitted: 1 criterion needs a rationale that is long enough.")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("button", name="Close")).to_be_focused()
    expect(page.get_by_role("dialog", name="Help")).to_have_attribute("aria-modal", "true")


def test_a_field_for_a_score_says_which_criterion_of_how_many(opened: Callable[..., Any]) -> None:
    page, _ = opened(RATING)
    page.keyboard.press("j")
    page.get_by_role("button", name="Skip to the criteria").press("Enter")
    expect(page.get_by_role("spinbutton", name="Deep, 2 of 2: How deep does it go?", exact=True)).to_be_focused()


def test_the_topic_has_a_short_name_and_every_name_begins_with_what_is_seen(page: Page) -> None:
    page.keyboard.press("1")
    topic = page.locator(".topic")
    prompt = "Why do the tides rise? " * 40
    page.route("**/api/assignment/*", lambda route: with_prompt(route, prompt))
    page.reload()
    ready(page)
    until(lambda: len(topic.inner_text()) > 200)
    expect(topic).to_have_accessible_name("Tides")
    page.unroute("**/api/assignment/*")
    named = page.locator(".calipers").evaluate(BUTTONS)
    assert {text for text, _ in named} >= {"A−", "A+", "?", "Submit"}
    assert [pair for pair in named if not pair[1].startswith(pair[0]) and pair[0] != "?"] == []


def with_prompt(route: Any, prompt: str) -> None:
    answer = route.fetch()
    item = answer.json()
    item["topic"] |= {"title": "Tides", "prompt": prompt}
    route.fulfill(response=answer, json=item)
