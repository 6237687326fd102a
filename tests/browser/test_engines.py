"""The heart in three engines, each test written once: their own keys, locks, paint and storage."""

from __future__ import annotations

import io
import itertools
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import BrowserContext

from tests.browser.conftest import EIGHT, Server
from tests.browser.driving import PARKED, new_tab, parked, put_away, until
from tests.browser.engines import Chromium, Engine, firefox, webkit
from tests.browser.test_losing_nothing import TYPED
from tests.browser.test_typing import HURRIED_CLOCK, prose
from tests.small_study import PROTOCOL, make_study, write_reports

pytestmark = pytest.mark.browser

ONE = PROTOCOL.rsplit("[[criterion]]", 1)[0]
VALUE = "() => calipers.querySelector('.boxes textarea:not([hidden])').value"
SCROLLED = "() => calipers.querySelector('.pane').scrollTop"
IS_SAVED = "() => calipers.querySelector('.save').textContent === 'Saved'"
IS_AT = "(words) => calipers?.dataset.ready === 'true' && calipers.querySelector('.position').textContent === words"
# where these words stand in the left report: left, right, and the middle of their height
PLACE = """(words) => {
    const nodes = document.createNodeIterator(calipers.querySelector('.report'), NodeFilter.SHOW_TEXT);
    for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
        const at = node.data.indexOf(words);
        if (at < 0) continue;
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + words.length);
        const { left, right, top, height } = range.getClientRects()[0];
        return [left, right, top + height / 2];
    }
}"""


@contextmanager
def chromium(warm: BrowserContext, address: str) -> Iterator[Engine]:
    parked(warm, address)
    yield Chromium(new_tab(warm))
    put_away(warm, address)


@pytest.fixture(
    scope="module",
    params=[chromium, *(pytest.param(one, marks=getattr(pytest.mark, one.__name__)) for one in (firefox, webkit))],
)
def window(request: pytest.FixtureRequest, warm: BrowserContext, server: Server) -> Iterator[Engine]:
    """One browser of each kind for the module."""
    with request.param(warm, server.address) if request.param is chromium else request.param() as engine:
        yield engine


@pytest.fixture
def engine(window: Engine, server: Server) -> Engine:
    """One that nobody signed in with."""
    window.goto(server.address + PARKED)
    window.forget()
    return window


def reloaded(engine: Engine) -> None:
    engine.run("() => { window.isOld = true; setTimeout(() => location.reload()); }")
    engine.until("() => !window.isOld && calipers?.dataset.ready === 'true'")


def paint_behind(engine: Engine, words: str) -> set[tuple[int, ...]]:
    """The colours of a line through the gap above these words, where no letter is."""
    left, right, middle = engine.run(PLACE, words)
    shot = Image.open(io.BytesIO(engine.picture())).convert("RGB")
    return {shot.getpixel((x, round(middle) - 9)) for x in range(round(left) + 2, round(right) - 2)}


def test_what_is_typed_in_a_box_never_left_outlives_a_reload_and_the_first_click_on_submit_hands_it_in(
    engine: Engine, server: Server, tmp_path: Path
) -> None:
    root = write_reports(tmp_path / "reports", ("tides",))
    study_id = make_study(server.engine, root, protocol=ONE, name=uuid.uuid4().hex)
    engine.goto(server.link(study_id, "Ada"))
    engine.ready()
    engine.press("2")
    engine.dictate(TYPED[:-5])
    engine.type(TYPED[-5:])
    reloaded(engine)
    assert engine.run(VALUE) == TYPED
    engine.press("1")
    engine.type(", and on")
    engine.click(".submit")
    engine.until(IS_AT, "Item 2 of 3")
    assert server.labels(study_id)[-1] == ("left", f"{TYPED}, and on", "clear")


@pytest.mark.slow
def test_a_pair_is_quoted_from_and_labelled_by_keyboard_reloads_end_and_no_character_is_lost(
    engine: Engine, server: Server, tmp_path: Path
) -> None:
    for system, topic in itertools.product(("alpha", "beta"), ("tides", "bread")):
        text = f"# {topic}\n\nThe water rises twice a day.\n\n" + f"It rises and falls, says {system}.\n\n" * 60
        (tmp_path / system).mkdir(exist_ok=True)
        (tmp_path / system / f"{topic}.md").write_text(text, encoding="utf-8")
    study_id = make_study(server.engine, tmp_path, protocol=EIGHT, name=uuid.uuid4().hex)
    engine.goto(server.link(study_id, "Ada"))
    engine.ready()
    a_quote_is_painted_until_it_is_removed(engine, "water rises")
    engine.run(HURRIED_CLOCK)
    engine.press("Escape", "ArrowDown", "ArrowDown")
    engine.until(f"() => ({SCROLLED})() > 60")
    typed, dictated = prose(60, 6), prose(200, 7)
    engine.press("Control+Enter", "1")
    engine.type(typed)
    assert engine.run(VALUE).endswith(typed)
    engine.press("Control+Enter", "2")
    engine.dictate(dictated)
    assert engine.run(VALUE) == dictated
    engine.until(IS_SAVED)
    reloaded(engine)
    assert engine.run(VALUE) == dictated
    for number in range(3, 9):
        engine.press("Control+Enter", "1")
        engine.type(f"because {number}")
    engine.press("Control+Enter")
    engine.until(IS_AT, "Item 2 of 2")
    stored = {criterion: (choice, rationale) for choice, rationale, criterion in server.labels(study_id)}
    assert stored.pop("c1")[1].endswith(typed)
    assert stored == {"c2": ("right", dictated)} | {f"c{n}": ("left", f"because {n}") for n in range(3, 9)}


def a_quote_is_painted_until_it_is_removed(engine: Engine, words: str) -> None:
    plain = paint_behind(engine, words)
    left, right, middle = engine.run(PLACE, words)
    engine.drag((left + 1, middle), (right - 1, middle))
    engine.press("q")
    engine.until(f"() => ({VALUE})().includes('“{words}”')")
    engine.until(IS_SAVED)
    reloaded(engine)  # nothing is selected any more
    until(lambda: not paint_behind(engine, words) & plain)
    engine.click(".quote-remove")
    until(lambda: paint_behind(engine, words) == plain)
