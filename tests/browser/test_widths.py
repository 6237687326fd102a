"""At every width of a window, with prompts of ordinary and of great length: both reports and the question are on screen."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.driving import THIRTY_NINE, new_tab, ready, saved, until
from tests.small_study import PROBES, PROTOCOL, make_study

pytestmark = pytest.mark.browser

ASKED = "Write an encyclopedic article on the tides and what they mean to the people of a coast, with sources. "
WORDS = "The moon pulls the oceans, and the tide rises and falls twice a day along every coast of the world. "
SIZES = (
    (390, 700), (390, 844), (768, 1024), (820, 1180), (1024, 768), (1280, 720), (1366, 768), (1440, 900), (1920, 1080),
    (2560, 1440),
)  # fmt: skip
ADDRESS = "See https://en.wikipedia.org/wiki/Wikipedia:Neutral_point_of_view#Explanation_of_the_neutral_point_of_view_and_more"
LONG = WORDS[:-2] * 2 + ", and which of the two says so in words that a reader needs no other book to follow?"
FOUR_AND_SURENESS = PROTOCOL.replace("Which is clearer?", LONG).replace(
    "allow_tie = true", "allow_tie = true\nallow_not_applicable = true\nconfidence = true"
)
FIVE = PROBES.replace("Is the claim supported?", LONG).replace(
    "labels = [", 'labels = [{id = "most", text = "For the most part"}, {id = "against", text = "It is contradicted"},'
)
# parts of the open question that are cut off, covered or not in the window, by their middle and two corners
ANSWERS = ".choices [role=radio], .submit"
HIDDEN = """(root, parts) => {
    return [...root.querySelectorAll(parts)].filter((one) => one.checkVisibility()).filter((one) => {
        const { left, right, top, bottom } = one.getBoundingClientRect();
        const places = [[left + 3, top + 3], [right - 3, bottom - 3], [(left + right) / 2, (top + bottom) / 2]];
        return !places.every((place) => one.contains(root.getRootNode().elementFromPoint(...place)));
    }).map((one) => one.textContent.slice(0, 30));
}"""
# how the page stands in a window of this width: its layout, each part's [left, right, top, bottom], what is cut off
STANDS = """root => {
    const place = (node) => {
        const { left, right, top, bottom } = node.getBoundingClientRect();
        return [left, right, top, bottom];
    };
    const seen = ['.question.open h2', '.question.open p', '[role=radio]', '.boxes textarea:not([hidden])', '.submit'];
    return {
        layout: root.dataset.layout,
        panes: [...root.querySelectorAll('.pane')].filter((pane) => pane.checkVisibility({ visibilityProperty: true })).map(place),
        seen: Object.fromEntries(seen.map((name) => [name, place(root.querySelector(name))])),
        tools: [...root.querySelectorAll('.header button')].filter((one) => one.checkVisibility({ visibilityProperty: true })).map(place),
        header: place(root.querySelector('.header')),
        wide: ['.header', '.reading', '.form', '.ask', '.why'].filter((name) => {
            const part = root.querySelector(name);
            return part.scrollWidth > part.clientWidth + 1;
        }),
    };
}"""


@pytest.mark.parametrize("length", [13_000, pytest.param(350, marks=pytest.mark.slow)])
def test_at_every_width_both_panes_have_their_share_and_the_question_is_seen_whatever_the_length_of_the_prompt(
    context: BrowserContext, server: Any, tmp_path: Path, length: int
) -> None:
    page = reader(context, server, tmp_path, length)
    for width in range(360, 2561, 60):
        page.set_viewport_size({"width": width, "height": 900})
        assert wrong_at(page, width, 900) == [], width
    page.set_viewport_size({"width": 960, "height": 540})  # 1920 x 1080 at 200 % zoom
    assert wrong_at(page, 960, 540) == []


@pytest.mark.slow
@pytest.mark.parametrize("protocol", [FOUR_AND_SURENESS, FIVE], ids=["a pair", "a probe"])
def test_a_question_of_280_characters_is_on_screen_with_every_answer_at_every_size(
    context: BrowserContext, server: Any, tmp_path: Path, protocol: str
) -> None:
    study_id = make_study(server.engine, tmp_path, protocol=protocol, name=uuid.uuid4().hex)
    page = new_tab(context)
    page.goto(server.link(study_id, "Ada"))
    ready(page)
    hidden = {}
    for is_begun in (False, True):  # at first a notice says how it goes
        if is_begun:
            page.keyboard.press("1")
            saved(page)
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            layout = "right" if width >= 1280 else "dock" if width >= 900 else "single"
            expect(page.locator(".calipers")).to_have_attribute("data-layout", layout)
            if found := page.locator(".calipers").evaluate(
                HIDDEN, f".question.open :is(h2, p), .confidence [role=radio], {ANSWERS}"
            ):
                hidden[is_begun, width, height] = found
    assert hidden == {}
    page.set_viewport_size({"width": 960, "height": 540})  # the question scrolls, its answers stay
    expect(page.locator(".calipers")).to_have_attribute("data-layout", "dock")
    assert page.locator(".calipers").evaluate(HIDDEN, ANSWERS) == []
    a_reader_on_a_phone_folds_the_question_away(page)
    if protocol is FOUR_AND_SURENESS:
        at_400_per_cent_the_window_is_the_question_or_a_report(page)
    an_address_is_read_to_its_end_and_keys_scroll_a_long_question(page)


def a_reader_on_a_phone_folds_the_question_away(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 700})
    fold, pane = page.get_by_role("button", name="Question and rationale"), page.locator(".side.active .pane")
    fold.click()
    expect(fold).to_have_attribute("aria-expanded", "false")
    assert pane.evaluate("pane => pane.clientHeight") >= 0.4 * 700
    assert page.locator(".calipers").evaluate(HIDDEN, ANSWERS) == []
    fold.click()
    expect(page.locator(".question.open p")).to_be_visible()


def at_400_per_cent_the_window_is_the_question_or_a_report(page: Page) -> None:
    """1440 x 900 so enlarged."""
    page.set_viewport_size({"width": 360, "height": 225})
    fold, pane = page.get_by_role("button", name="Question and rationale"), page.locator(".side.active .pane")
    form, root = page.locator(".form"), page.locator(".calipers")
    assert [pane.evaluate("pane => pane.clientHeight"), form.bounding_box()["height"]] == [0, 185]  # type: ignore[index]
    for part in (".question.open h2", ".choices :last-child[role=radio]", ".submit"):
        root.locator(part).last.scroll_into_view_if_needed()
        assert root.evaluate(HIDDEN, part) == []
    for shown in (
        fold.click,
        page.get_by_role("button", name="Right", exact=True).click,
        lambda: page.keyboard.press("PageDown"),
    ):
        shown()
        expect(fold).to_have_attribute("aria-expanded", "false")
        assert pane.evaluate("pane => pane.clientHeight") >= 112  # 149 where no confidence is asked
        assert root.evaluate(HIDDEN, ".ask-top button") == []
        fold.click()
        expect(page.locator(".question.open p")).to_be_visible()


def an_address_is_read_to_its_end_and_keys_scroll_a_long_question(page: Page) -> None:
    ask, text = page.get_by_role("region", name="Open criterion"), page.locator(".question.open p")
    for width, height in ((390, 700), (1440, 900)):
        page.set_viewport_size({"width": width, "height": height})
        text.evaluate("(text, words) => { text.textContent = words; }", ADDRESS)
        assert text.evaluate(
            "text => [text.scrollWidth, text.parentNode.scrollWidth].every((w) => w <= text.clientWidth)"
        )
    expect(ask).not_to_have_attribute("tabindex", "0")
    text.evaluate("(text, words) => { text.textContent = words; }", LONG * 4)
    page.set_viewport_size({"width": 960, "height": 540})
    expect(ask).to_have_attribute("tabindex", "0")
    pane = page.locator(".side.active .pane")
    before = pane.evaluate("pane => { pane.lastChild.style.paddingBlockEnd = '2000px'; return pane.scrollTop; }")
    ask.press("End")
    until(lambda: ask.evaluate("ask => ask.scrollTop > 0 && ask.scrollTop + ask.clientHeight >= ask.scrollHeight - 1"))
    assert pane.evaluate("pane => pane.scrollTop") == before, "of the question alone"
    page.get_by_role("radiogroup").first.press("End")
    until(lambda: pane.evaluate("pane => pane.scrollTop") > before)  # from the answers it is the report's key


def reader(context: BrowserContext, server: Any, root: Path, length: int) -> Page:
    """Two reports on a topic whose prompt has so many characters, the 39 criteria."""
    for system in ("alpha", "beta"):
        (root / system).mkdir()
        (root / system / "tides.md").write_text(f"# Tides\n\n{WORDS * 40}{system}", encoding="utf-8")
    prompt = (ASKED * (length // len(ASKED) + 1))[:length]
    (root / "topics.csv").write_text(
        f'topic,title,prompt\ntides,"Tides and people",{prompt}\n'.replace("coast,", "coast"), "utf-8"
    )
    page = new_tab(context)
    page.goto(server.link(make_study(server.engine, root, protocol=THIRTY_NINE, name=uuid.uuid4().hex), "Ada"))
    ready(page)
    return page


def wrong_at(page: Page, width: int, height: int) -> list[str]:
    """What is not as wide as it must be, or not on screen."""
    layout = "right" if width >= 1280 else "dock" if width >= 900 else "single"
    page.locator(f'.calipers[data-layout="{layout}"]').wait_for()
    stands = page.locator(".calipers").evaluate(STANDS)
    form = 424 if layout == "right" else 0  # at most
    least, most = ((width - form) / 2 - 2, (width - 296) / 2) if layout == "right" else (width / 2 - 2, width / 2)
    if layout == "single":
        least, most = width - 1, width
    wrong = [f"wider than it may be: {name}" for name in stands["wide"]]
    wrong += [
        f"pane {left} to {right}" for left, right, _, _ in stands["panes"] if not least <= right - left <= most + 1
    ]
    wrong += [f"low pane {box}" for box in stands["panes"] if box[3] - box[2] < 0.25 * height]
    if len(stands["panes"]) != (1 if layout == "single" else 2):
        wrong.append(f"{len(stands['panes'])} panes")
    if not 40 <= stands["header"][3] <= 64:
        wrong.append(f"header {stands['header']}")
    boxes = [("a tool", box) for box in stands["tools"]] + list(stands["seen"].items())
    for name, (left, right, top, bottom) in boxes:
        low = layout == "single" and width < 600 and name != ".question.open h2"  # a narrow form scrolls
        if left < -1 or right > width + 1 or top < -1 or (bottom > height + 1 and not low) or right - left < 1:
            wrong.append(f"{name} at {left:.0f}, {top:.0f} to {right:.0f}, {bottom:.0f}")
    return wrong
