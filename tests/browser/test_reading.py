"""Reading help in a real Chromium: outline, find, alike passages, scrolling together, how far one has read."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect
from sqlalchemy import func, select

from db.connect import reading
from db.tables import Assignment
from tests.browser.conftest import EIGHT
from tests.browser.driving import new_tab, parked, put_away
from tests.browser.test_accessibility import violations
from tests.browser.test_label_page import until
from tests.small_study import make_study

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SECTIONS = {
    "Tides": "The moon pulls the oceans and the tide rises and falls twice a day along every coast.",
    "Sourdough": "Yeast and bacteria ferment the dough overnight and raise a loaf with a sour crumb.",
    "Traffic noise": "Loud streets disturb sleepers, and sound barriers quieten urban motorways.",
    "Glaciers": "Ice creeps downhill, carves valleys and leaves moraines behind when it melts.",
    "Printing": "Movable type made books cheap, and pamphlets spread through the cities.",
}
FILLER = (
    "{} was looked at closely, in one place after another, and nobody could say for certain what had come first. "
    "What was found is told here in the order in which it came to light, without leaving anything out."
)


SEEN_AND_MARKED = """(reading, word) => {
  const panes = [...reading.querySelectorAll(".pane")];
  const seen = (range) => {
    const { top, bottom } = range.getBoundingClientRect();
    const edge = panes.find((pane) => pane.contains(range.startContainer)).getBoundingClientRect();
    return top >= edge.top && bottom <= edge.bottom;
  };
  const ranges = [];
  for (const pane of panes) {
    const walker = document.createTreeWalker(pane, NodeFilter.SHOW_TEXT);
    while (walker.nextNode())
      for (const { index } of walker.currentNode.data.matchAll(word)) {
        const range = document.createRange();
        range.setStart(walker.currentNode, index);
        range.setEnd(walker.currentNode, index + word.length);
        ranges.push(range);
      }
  }
  const marked = [...CSS.highlights.get("found")];
  return [ranges, marked].map((each) => each.filter(seen).map((range) => range.getBoundingClientRect().y));
}"""


def report(names: list[str], style: str) -> str:
    """Sections long enough to scroll; `style` sets the two reports apart."""
    parts = [f"# A report\n\n{style} introduction, which names no section."]
    for name in names:
        paragraphs = "\n\n".join(f"{SECTIONS[name]} {FILLER.format(name)} {style} {n}." for n in range(6))
        parts.append(f"## {name}\n\n{paragraphs}")
    ending = "The *na*ive **Café** stands\nalone; “quoted” once."
    return "\n\n".join([*parts, ending if style == "First" else ending.replace("é", "e")])


def opened_by_ada(context: BrowserContext, server: Any, root: Path) -> Page:
    """Two reports with the same five sections in opposite order, on her screen."""
    names = list(SECTIONS)
    for system, text in (("alpha", report(names, "First")), ("beta", report(names[::-1], "Second"))):
        (root / system).mkdir(parents=True)
        (root / system / "day.md").write_text(text, encoding="utf-8")
    study_id = make_study(server.engine, root, protocol=EIGHT, name=uuid.uuid4().hex)
    page = new_tab(context)
    page.goto(server.link(study_id, "Ada"))
    ready(page)
    return page


@pytest.fixture(scope="module")
def adas(warm: BrowserContext, server: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    parked(warm, server.address)
    yield opened_by_ada(warm, server, tmp_path_factory.mktemp("reports"))
    put_away(warm, server.address)


@pytest.fixture
def reader(adas: Page) -> Iterator[Page]:
    """Ada's page from the top: no word in any box, nothing open over it, each pane by itself."""
    yield adas
    adas.unroute_all(behavior="wait")
    adas.emulate_media(reduced_motion="null")
    adas.keyboard.press("Escape")
    set_sync(adas, "off")
    for side in ("Left", "Right"):
        pane(adas, side).evaluate("pane => { pane.scrollTop = 0; }")
    pane(adas, "Left").focus()
    expect(adas.locator(".pointed")).to_have_count(0)


def ready(page: Page) -> None:
    page.locator('.calipers[data-ready="true"]').wait_for()


def pane(page: Page, side: str) -> Any:
    return page.get_by_role("region", name=f"{side} report")


def top_of(page: Page, side: str, heading: str) -> float:
    """px from the upper edge of the pane to the heading."""
    edge = pane(page, side).bounding_box()
    box = pane(page, side).get_by_role("heading", name=heading).bounding_box()
    assert edge is not None
    assert box is not None
    return float(box["y"] - edge["y"])


def scroll_top(page: Page, side: str) -> float:
    return float(pane(page, side).evaluate("pane => pane.scrollTop"))


def scroll_to(page: Page, side: str, heading: str) -> None:
    """As a wheel would: the pane's own scroll event, no jump of ours."""
    pane(page, side).hover()
    for _ in range(60):
        away = top_of(page, side, heading)
        if abs(away) < 4:
            return
        before = scroll_top(page, side)
        page.mouse.wheel(0, away)
        frames(page)
        if scroll_top(page, side) == before:
            return


def frames(page: Page, count: int = 4) -> None:
    page.evaluate(
        "async n => { for (let i = 0; i < n; i += 1) await new Promise(done => requestAnimationFrame(done)); }", count
    )


def test_the_outline_names_every_heading_and_goes_there_and_everybody_can_use_it(reader: Page) -> None:
    reader.keyboard.press("o")
    outline = reader.get_by_role("dialog", name="Outline")
    usable(reader, outline)
    for side in ("Left", "Right"):
        entries = outline.get_by_role("navigation", name=f"{side} report").get_by_role("button")
        expect(entries).to_have_count(6)
    expect(outline.get_by_role("navigation", name="Left report").get_by_role("button").first).to_be_focused()
    reader.keyboard.press("ArrowRight")
    reader.keyboard.press("ArrowDown")
    reader.keyboard.press("ArrowDown")
    heading = outline.locator("button:focus").inner_text()
    reader.keyboard.press("Enter")
    expect(outline).to_be_hidden()
    expect(pane(reader, "Right")).to_be_focused()
    assert 0 <= top_of(reader, "Right", heading) < 40
    reader.keyboard.press("o")
    expect(outline.locator("[aria-current=true]").last).to_have_text(heading)
    reader.keyboard.press("o")
    expect(outline).to_be_hidden()
    expect(pane(reader, "Right")).to_be_focused()


def usable(page: Page, opened: Locator) -> None:
    expect(opened).to_be_visible()
    assert violations(page, opened) == []
    for button in opened.get_by_role("button").all():
        box = button.bounding_box()
        assert box is None or (box["width"] >= 24 and box["height"] >= 24)


def test_find_counts_in_both_reports_changes_neither_and_enter_walks_the_hits_round(reader: Page) -> None:
    before = reader.locator(".reading").evaluate("root => root.innerHTML")
    pane(reader, "Left").focus()
    reader.keyboard.press("/")
    usable(reader, reader.get_by_role("search"))
    status = reader.get_by_role("search").get_by_role("status")
    for words, left, right in (
        ("glaciers was looked", 6, 6),
        ("GLACIERS WAS LOOKED", 6, 6),
        ("naive cafe stands alone", 1, 1),  # over inline elements, a line break and an accent
        ("Café", 1, 1),
        ("“quoted”", 1, 1),
        ("wie bitte", 0, 0),
        ("moraines", 6, 6),
    ):
        reader.get_by_role("textbox", name="Find in both reports").fill(words)
        expect(status).to_have_text(f"left {left}, right {right}" if left + right else "Not found")
    assert reader.locator(".reading").evaluate("root => root.innerHTML") == before
    on_screen = []
    for share in (0, 0.3, 0.7, 1):
        pane(reader, "Right").evaluate("(pane, share) => { pane.scrollTop = share * pane.scrollHeight; }", share)
        frames(reader)
        seen, marked = reader.locator(".reading").evaluate(SEEN_AND_MARKED, "moraines")
        assert seen == marked, "wherever one scrolls, what one sees is marked"
        on_screen.append(len(seen))
    assert max(on_screen) > min(on_screen)
    now = "[...CSS.highlights.get('found-now')].map(range => [range.toString(), range.getBoundingClientRect().y])"
    for key, number in (("Enter", 1), ("Enter", 2), ("Shift+Enter", 1), ("Shift+Enter", 12), ("Enter", 1)):
        reader.keyboard.press(key)
        expect(status).to_have_text(f"{number} of 12: left 6, right 6")
        [[text, y]] = reader.evaluate(now)
        assert text == "moraines"
        assert 68 <= y < 757, "the hit is in view"
    reader.keyboard.press("Escape")
    expect(reader.get_by_role("search")).to_be_hidden()
    expect(pane(reader, "Left")).to_be_focused()
    assert reader.evaluate("CSS.highlights.get('found').size") == 0


def test_p_shows_the_section_of_the_same_name_though_it_stands_elsewhere(reader: Page) -> None:
    for heading in ("Tides", "Printing"):
        scroll_to(reader, "Left", heading)
        pane(reader, "Left").get_by_role("heading", name=heading).click()
        reader.keyboard.press("p")
        frames(reader)
        assert -4 <= top_of(reader, "Right", heading) < 320
        assert pane(reader, "Right").locator(".pointed").count() == 1
    before = scroll_top(reader, "Left")
    reader.keyboard.press("w")
    reader.keyboard.press("p")  # and back
    frames(reader)
    assert abs(scroll_top(reader, "Left") - before) < 320


def test_p_says_so_where_nothing_is_alike(reader: Page) -> None:
    reader.route("**/api/assignment/*", lambda route: route.fulfill(json=without_passages(route)))
    reader.reload()
    ready(reader)
    reader.keyboard.press("p")
    expect(reader.get_by_text("No matching passage")).to_be_visible()


def without_passages(route: Any) -> Any:
    shown = route.fetch().json()
    return shown | {"passages": {side: [None] * len(found) for side, found in shown["passages"].items()}}


def set_sync(page: Page, words: str) -> None:
    button = page.get_by_role("button", name="Scroll both reports together")
    while button.get_attribute("aria-label") != f"Scroll both reports together: {words}":
        page.keyboard.press("s")


def test_s_goes_round_off_in_proportion_and_by_passages_and_is_kept(reader: Page) -> None:
    button = reader.get_by_role("button", name="Scroll both reports together")
    for words in ("in proportion", "by matching passages", "off", "in proportion", "by matching passages"):
        reader.keyboard.press("s")
        expect(button).to_have_attribute("aria-label", f"Scroll both reports together: {words}")
    expect(reader.locator(".save")).to_have_text("Saved")
    reader.evaluate("localStorage.clear()")
    reader.reload()
    ready(reader)
    expect(button).to_have_attribute("aria-label", "Scroll both reports together: by matching passages")


def test_panes_that_scroll_together_do_not_drive_each_other_and_by_passages_bring_up_the_same_section(
    reader: Page,
) -> None:
    for how in ("in proportion", "by matching passages"):
        set_sync(reader, how)
        pane(reader, "Left").hover()
        for _ in range(4):
            start = scroll_top(reader, "Left")
            reader.mouse.wheel(0, 300)
            until(lambda start=start: scroll_top(reader, "Left") != start)
            frames(reader, 10)
            led = scroll_top(reader, "Left"), scroll_top(reader, "Right")
            reader.wait_for_timeout(120)  # longer than the owner's lock: a late echo would show now
            assert (scroll_top(reader, "Left"), scroll_top(reader, "Right")) == led
        pane(reader, "Right").hover()
        before = scroll_top(reader, "Left")
        reader.mouse.wheel(0, -500)
        frames(reader, 10)
        assert scroll_top(reader, "Left") != before, "the other pane leads when it is scrolled"
    for heading in list(SECTIONS):
        scroll_to(reader, "Left", heading)
        reader.mouse.wheel(0, 40)  # the section is under the reading line now
        frames(reader)
        top = top_of(reader, "Right", heading)
        assert -250 < top < 400, (heading, top)


def places(server: Any) -> list[dict[str, Any]]:
    """Of the newest study, which is the reader's."""
    newest = select(func.max(Assignment.study_id)).scalar_subquery()
    with reading(server.engine) as session:
        return [one for one in session.scalars(select(Assignment.place).where(Assignment.study_id == newest)) if one]


def test_the_furthest_point_on_screen_is_kept_over_scrolling_back_and_reloading(
    elsewhere: BrowserContext, server: Any, tmp_path: Path
) -> None:
    reader = opened_by_ada(elsewhere, server, tmp_path / "reports")
    read = reader.locator('[data-side="left"] .read span').last

    def share() -> int:
        return int(read.inner_text().split()[0])

    begun = share()
    assert 0 < begun < 50
    scroll_to(reader, "Left", "Glaciers")
    frames(reader)
    far = share()
    assert begun < far < 100
    pane(reader, "Left").evaluate("pane => { pane.scrollTop = 0; }")
    frames(reader)
    assert share() == far
    until(lambda: any(place["left"] == 0 and place["left_read"] * 100 >= far for place in places(server)))
    reader.reload()
    ready(reader)
    assert abs(share() - far) <= 1


def test_reading_keys_are_letters_while_one_types(reader: Page) -> None:
    box = reader.get_by_role("textbox", name="Rationale: Criterion 1")
    box.click()
    reader.keyboard.type("so /p o s")
    expect(box).to_have_value("so /p o s")
    expect(reader.get_by_role("search")).to_be_hidden()
    expect(reader.get_by_role("dialog", name="Outline")).to_be_hidden()
    pane(reader, "Left").focus()
    reader.keyboard.press("/")
    reader.keyboard.type("12jps/o?")
    expect(reader.get_by_role("textbox", name="Find in both reports")).to_have_value("12jps/o?")
    expect(reader.get_by_role("radio", checked=True)).to_have_count(0)


def test_a_shown_passage_is_marked_and_fades_only_where_motion_is_welcome(reader: Page) -> None:
    marked = reader.locator(".pointed")
    for motion in ("reduce", "no-preference"):
        reader.emulate_media(reduced_motion=motion)  # type: ignore[arg-type]
        reader.keyboard.press("p")
        expect(marked).to_have_count(2)
        block = marked.first.element_handle()
        expect(marked).to_have_count(0)
        duration = block.evaluate("block => getComputedStyle(block).transitionDuration")
        assert (duration in ("0s", "")) == (motion == "reduce")
