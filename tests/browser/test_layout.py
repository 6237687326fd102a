"""Widths, heights and sizes on screen, at the three window sizes that the page was designed for."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.driving import THIRTY_NINE, new_tab, parked, put_away, ready
from tests.small_study import make_study

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WORDS = "The moon pulls the oceans, and the tide rises and falls twice a day along every coast of the world. "
REPORT = f"""# A title of a report that is long enough to be broken over two lines of a narrow pane

{WORDS * 3}

## Section

{WORDS * 4}

| Place | Range | Period | Who measured it there | When | Remarks on the instrument | More |
|---|---|---|---|---|---|---|
| Bay of Fundy | 16 m | 12 h 25 min | a harbour office | 1867 | a float in a well | Unbreakable{"x" * 90} |

### Subsection

```
{"a line of code that does not end " * 12}
```

- {WORDS}
- https_like_words_without_any_blank_{"y" * 160}

"""
LEAST = 529  # px at 16 px: no pane's text is narrower, so a face narrower than Charter has longer lines there
WIDE = """node => {
    const box = node.getBoundingClientRect();
    return box.left < -1 || box.right > innerWidth + 1;
}"""
# how many characters the longest line of the first paragraphs holds, counted on screen
LONGEST_LINE = """pane => Math.max(...[...pane.querySelectorAll('.report > p')].slice(0, 4).map((paragraph) => {
    const text = paragraph.firstChild;
    const range = document.createRange();
    let [longest, from, line] = [0, 0, null];
    for (let at = 0; at < text.length; at += 1) {
        range.setStart(text, at);
        range.setEnd(text, at + 1);
        const { top } = range.getBoundingClientRect();
        if (line !== null && Math.abs(top - line) > 4) {
            longest = Math.max(longest, text.data.slice(from, at).trim().length);
            from = at;
        }
        line = top;
    }
    return longest;
}))"""


@pytest.fixture(scope="module")
def reader(warm: BrowserContext, server: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """Two long reports with wide tables and the 39 criteria."""
    root: Path = tmp_path_factory.mktemp("reports")
    for system in ("alpha", "beta"):
        (root / system).mkdir()
        (root / system / "tides.md").write_text(REPORT + f"{WORDS * 6}\n\n" * 12 + system, encoding="utf-8")
    (root / "topics.csv").write_text(f'topic,title,prompt\ntides,"{"Tides and people " * 8}",Write it.\n', "utf-8")
    study_id = make_study(server.engine, root, protocol=THIRTY_NINE, name=uuid.uuid4().hex)
    parked(warm, server.address)
    page = new_tab(warm)
    page.goto(server.link(study_id, "Ada"))
    ready(page)
    yield page
    put_away(warm, server.address)


@pytest.fixture(params=[(1440, 757), (1920, 1080), (1024, 768)], ids=str)
def sized(request: pytest.FixtureRequest, reader: Page) -> tuple[Page, int, int]:
    width, height = request.param
    reader.set_viewport_size({"width": width, "height": height})
    wide = "right" if width >= 1280 else "dock"
    expect(reader.locator(".calipers")).to_have_attribute("data-layout", wide)
    return reader, width, height


def pane(page: Page, side: str) -> Any:
    return page.get_by_role("region", name=f"{side} report")


def test_both_panes_are_wide_enough_and_no_wider_line_is_longer_than_75_characters(
    sized: tuple[Page, int, int],
) -> None:
    page, width, _ = sized
    for side in ("Left", "Right"):
        text = pane(page, side).locator(".report > p").first.evaluate("p => p.getBoundingClientRect().width")
        assert text >= (440 if width < 1280 else 520)
        assert text <= LEAST or pane(page, side).evaluate(LONGEST_LINE) <= 75


def test_the_open_criterion_is_on_screen_at_every_place_of_the_reports(sized: tuple[Page, int, int]) -> None:
    page, width, height = sized
    seen = (
        page.locator(".question.open h2"), page.locator(".question.open p"), page.get_by_role("radio").first,
        page.get_by_role("radio").last, page.locator(".boxes textarea:visible"), page.locator(".submit"),
    )  # fmt: skip
    places = set()
    for share in (0, 0.5, 1):
        for side in ("Left", "Right"):
            pane(page, side).evaluate("(pane, share) => { pane.scrollTop = share * pane.scrollHeight }", share)
        boxes = [one.bounding_box() for one in seen]
        for box in boxes:
            assert box is not None
            assert box["x"] >= 0
            assert box["y"] >= 0
            assert box["x"] + box["width"] <= width
            assert box["y"] + box["height"] <= height
        places.add(str(boxes))
    assert len(places) == 1, "and it does not move"


def test_all_39_criteria_are_reached_and_each_is_whole_on_screen(sized: tuple[Page, int, int]) -> None:
    page, *_ = sized
    cut = """form => [...form.querySelectorAll('.list .row')].map((row) => {
        row.click();
        const ask = form.querySelector('.ask');
        const above = ask.querySelector('.question.open p').getBoundingClientRect();
        const below = ask.querySelector('.choices').getBoundingClientRect();
        const whole = above.bottom <= below.top + 1 && below.bottom <= innerHeight;
        return whole && ask.scrollHeight <= ask.clientHeight + 1 ? 'whole' : row.title;
    })"""
    assert page.locator(".form").evaluate(cut) == ["whole"] * 39


@pytest.mark.parametrize(
    ("width", "height"), [(390, 700), (820, 1180), (1024, 768), (1440, 900), (1920, 1080), (2560, 1440)]
)
def test_at_every_size_each_question_is_on_screen_with_its_answers_and_what_is_pressed_is_large_enough(
    reader: Page, width: int, height: int
) -> None:
    reader.set_viewport_size({"width": width, "height": height})
    layout = "right" if width >= 1280 else "dock" if width >= 900 else "single"
    expect(reader.locator(".calipers")).to_have_attribute("data-layout", layout)
    wrong = """root => {
        const box = (one) => one.getBoundingClientRect();
        const outside = [...root.querySelectorAll('.list .row')].flatMap((row) => {
            row.click();
            return ['.question.open h2', '.question.open p', '[role=radio]:last-child', '.boxes textarea:not([hidden])', '.submit']
                .filter((name) => { const { top, bottom, right } = box(root.querySelector(name)); return top < 0 || bottom > innerHeight + 1 || right > innerWidth + 1; })
                .map((name) => `${row.title}: ${name}`);
        });
        const small = [...root.querySelectorAll('button:not(.skip), a, textarea, [role=radio]')]
            .filter((one) => one.checkVisibility({ visibilityProperty: true }) && Math.min(box(one).width, box(one).height) < 24)
            .map((one) => `small: ${one.className}`);
        const pane = root.querySelector('.side.active .pane');
        pane.scrollTop = pane.scrollHeight; // where who read to the end comes back to, at whatever size
        const shown = box(pane.querySelector('.report > :last-child')).bottom - box(pane).top;
        return [...outside, ...small, ...(shown < 24 ? [`of the end of a report ${shown} px are shown`] : [])];
    }"""
    assert reader.locator(".calipers").evaluate(wrong) == []


def test_the_header_is_one_line_and_nothing_is_wider_than_the_window(sized: tuple[Page, int, int]) -> None:
    page, width, _ = sized
    header = page.locator(".header").bounding_box()
    assert header is not None
    assert header["height"] == (64 if width < 1280 else 40), "where there is no room beside, one more for the question"
    for part in page.locator(".header :is(button, span, b)").all():
        box = part.bounding_box()
        assert box is None or box["height"] == 0 or box["y"] + box["height"] <= header["height"] + 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    outside = "node => node.scrollWidth > node.clientWidth + 1"
    for name in (".calipers", ".header", ".reading", ".form", ".ask", ".why", ".list", ".foot"):
        assert not page.locator(name).first.evaluate(outside), name
    for side in ("Left", "Right"):
        assert not pane(page, side).evaluate(outside), "a table or a long word scrolls by itself"
    for name in (".header button", ".form button", ".form textarea"):
        assert not any(page.locator(f"{name}:visible").evaluate_all(f"nodes => nodes.map({WIDE})"))


def test_headings_are_at_most_1_6_times_the_text(sized: tuple[Page, int, int]) -> None:
    page, *_ = sized
    size = "node => parseFloat(getComputedStyle(node).fontSize)"
    for side in ("Left", "Right"):
        text = pane(page, side).locator("p").first.evaluate(size)
        headings = pane(page, side).locator("h3, h4, h5, h6").evaluate_all(f"nodes => nodes.map({size})")
        assert len(headings) == 3
        assert all(text <= one <= 1.6 * text for one in headings)


@pytest.mark.parametrize("size", ["14", "22"])
def test_another_text_size_breaks_nothing(reader: Page, size: str) -> None:
    reader.set_viewport_size({"width": 1440, "height": 757})
    button = "Smaller text (-)" if size == "14" else "Larger text (+)"
    for _ in range(6):
        reader.get_by_role("button", name=button).click()
    assert reader.locator(".calipers").evaluate("root => root.style.getPropertyValue('--font')") == f"{size}px"
    assert reader.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for side in ("Left", "Right"):
        text = pane(reader, side).locator(".report > p").first.evaluate("p => p.getBoundingClientRect().width")
        assert text <= LEAST * int(size) / 16 or pane(reader, side).evaluate(LONGEST_LINE) <= 75
        assert not pane(reader, side).evaluate("node => node.scrollWidth > node.clientWidth + 1")
