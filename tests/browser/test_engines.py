"""The heart in three engines, each test written once: their own keys, locks, paint and storage."""

from __future__ import annotations

import io
import itertools
import signal
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from PIL import Image
from playwright.sync_api import Browser

from app.demo.study import demo_links, make_demo
from tests.browser.conftest import EIGHT, Server
from tests.browser.driving import PARKED, VIEWPORT, until
from tests.browser.engines import Engine, WebKit, chromium, firefox, webkit
from tests.browser.test_adjudicating import dispute
from tests.browser.test_evaluator_screens import PAGES
from tests.browser.test_losing_nothing import FIRST, LAST, TYPED
from tests.browser.test_typing import HURRIED_CLOCK, prose
from tests.faults.wire import Wire
from tests.small_study import PROTOCOL, make_study, write_reports
from tests.trained_study import TRAINED, make_trained_study

pytestmark = pytest.mark.browser
Opening = Callable[[Path], AbstractContextManager[Engine]]

ONE = PROTOCOL.rsplit("[[criterion]]", 1)[0]
BOX = ".boxes textarea:not([hidden])"
VALUE = f"() => calipers.querySelector('{BOX}').value"
OWN = "() => [calipers.querySelectorAll('.bookmarked').length, getComputedStyle(calipers.querySelector('.report')).fontSize]"
SCROLLED = "() => calipers.querySelector('.pane').scrollTop"
IS_SAVED = "() => calipers.querySelector('.save').textContent === 'Saved'"
IS_AT = (
    "(words) => calipers?.dataset.ready === 'true' && calipers.querySelector('.position').textContent.startsWith(words)"
)
HAS_FOCUS = "(selector) => calipers.getRootNode().activeElement === calipers.querySelector(selector)"
TOLD = "() => [...calipers.querySelectorAll('.other-top b')].map((one) => one.textContent).sort()"
# nothing is wider than the window, and what a table hides of itself can be scrolled to
FITS = """(width) => innerWidth === width && document.documentElement.scrollWidth <= width
    && [...document.querySelectorAll('table')].every((table) => {
        if (table.getBoundingClientRect().right <= width) return true;
        const around = table.closest('.c-scroll');
        around.scrollLeft = 9;
        const { scrollLeft } = around;
        around.scrollLeft = 0;
        return scrollLeft > 0;
    })"""
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


@pytest.fixture(
    scope="module",
    params=[chromium, *(pytest.param(one, marks=getattr(pytest.mark, one.__name__)) for one in (firefox, webkit))],
)
def opening(request: pytest.FixtureRequest, browser: Browser) -> Opening:
    """opening(home) -> a browser of each kind, until the block ends."""
    return partial(chromium, browser.browser_type) if request.param is chromium else request.param


@pytest.fixture(scope="module")
def window(opening: Opening) -> Iterator[Engine]:
    """One for the module."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as home, opening(Path(home)) as engine:
        yield engine


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Wire]]:
    """A server at the end of a line that can be cut."""
    server = Server(tmp_path_factory.mktemp("server"))
    wire = Wire(server.port)
    server.address = server.settings["CALIPERS_BASE_URL"] = f"http://127.0.0.1:{wire.port}"
    server.start()
    yield server, wire
    server.stop()
    server.engine.dispose()
    wire.close()


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
    engine.click(".list .row", "Criterion 2")
    engine.until("() => calipers.querySelector('.where-at').textContent.startsWith('2 ')")
    engine.click(".list .row", "Criterion 1")
    engine.until("() => calipers.querySelector('.where-at').textContent.startsWith('1 ')")
    engine.press("1")
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


@pytest.mark.slow
def test_from_consent_over_training_to_find_a_killed_server_and_an_item_that_was_reopened_with_its_history(
    engine: Engine, server: Server, tmp_path: Path
) -> None:
    protocol = TRAINED.replace("items = 3", "items = 1")
    study_id = make_trained_study(server.engine, tmp_path, protocol=protocol, name=uuid.uuid4().hex)
    engine.goto(server.link(study_id, "Ada"))
    engine.click("button", "I have read this and agree")
    engine.until(IS_AT, "Training 1 of 1")
    alpha_stands_left = engine.run("() => calipers.querySelector('.report').innerText.includes('in manner 1')")
    for choice in "12" if alpha_stands_left else "21":
        engine.press(choice)
        engine.dictate("because it says so")
        engine.press("Control+Enter")
    engine.see("You passed the training. What follows counts.")
    engine.click("button", "Continue")
    engine.until(IS_AT, "Item 1 of ")
    engine.press("/")
    engine.until(HAS_FOCUS, ".find input")
    engine.type("it rises")
    engine.see("left 1, right 1")
    engine.press("Escape", "1")
    engine.dictate(FIRST)
    server.stop(signal.SIGKILL)
    engine.dictate(LAST)
    engine.see("unsaved")
    server.start()
    engine.until(IS_SAVED)
    engine.press("Control+Enter", "2")
    engine.dictate("because it says so")
    engine.press("Control+Enter")
    engine.until(IS_AT, "Item 2 of ")
    engine.goto(f"{server.address}/my_work")
    engine.see(" items submitted")
    engine.click("a", "Open: ")
    engine.see("To change an answer, reopen the item")
    before = server.labels(study_id)
    assert ("left", TYPED) in [(choice, rationale) for choice, rationale, _ in before]
    engine.press("3")  # changes nothing yet
    engine.click("button", "Reopen")
    engine.until(f"() => calipers.dataset.ready === 'true' && !calipers.querySelector('{BOX}').readOnly")
    assert server.labels(study_id) == before
    engine.press("3")
    until(lambda: server.labels(study_id)[-1].choice == "tie")
    engine.click(".history")
    engine.see("after reopening")
    engine.press("Escape")
    engine.press("Control+Shift+Enter")
    engine.until(IS_AT, "Item 2 of ")


@pytest.mark.slow
def test_what_is_answered_while_the_line_is_cut_or_silent_is_kept_and_sent_when_it_is_mended(
    engine: Engine, line: tuple[Server, Wire], tmp_path: Path
) -> None:
    server, wire = line
    root = write_reports(tmp_path / "reports", ("tides",))
    study_id = make_study(server.engine, root, protocol=EIGHT, name=uuid.uuid4().hex)
    engine.goto(server.link(study_id, "Ada"))
    engine.ready()
    for breaks in (wire.cut, wire.silence, wire.cut):
        engine.press("1")
        engine.dictate(FIRST)
        breaks()
        engine.dictate(LAST[:-5])
        engine.type(LAST[-5:])
        engine.press("Control+Enter", "2")
        engine.dictate(FIRST)
        engine.see("2 unsaved")
        wire.mend()
        engine.until(IS_SAVED)
        engine.press("Control+Enter")
    engine.press("1")
    engine.dictate(FIRST)
    engine.press("Control+Enter", "2")
    wire.cut()
    engine.dictate(FIRST)
    engine.press("Control+Enter")
    engine.see("Not submitted: no connection yet")
    wire.mend()
    engine.until(IS_SAVED)
    engine.press("Control+Shift+Enter")
    engine.until(IS_AT, "Item 2 of 3")
    stored = {criterion: (choice, rationale) for choice, rationale, criterion in server.labels(study_id)}
    expected = [("left", TYPED), ("right", FIRST)] * 3 + [("left", FIRST), ("right", FIRST)]
    assert [*stored.values()] == expected


@pytest.mark.slow
def test_a_browser_that_is_killed_in_the_middle_of_a_word_has_every_letter_bookmark_and_note_again_and_work_goes_on(
    opening: Opening, line: tuple[Server, Wire], tmp_path: Path
) -> None:
    server, wire = line
    root = write_reports(tmp_path / "reports", ("tides",))
    study_id = make_study(server.engine, root, protocol=ONE, name=uuid.uuid4().hex)
    link, first, second, third = server.link(study_id, "Ada"), prose(150, 8), prose(150, 9), prose(60, 10)
    with ExitStack() as ends:
        engine = opened(ends, opening, tmp_path, link)
        engine.press("1")
        for word in first.split(" "):  # for longer than localStorage may take to reach the disk
            engine.type(f"{word} ")
            time.sleep(0.2)
        engine.until(IS_SAVED)
        engine.kill()
        engine = opened(ends, opening, tmp_path, link)
        assert engine.run(VALUE) == f"{first} "
        engine.press("Enter")
        engine.type(second)
        engine.until(IS_SAVED)
        wire.cut()
        engine.type(third)
        engine.see("1 unsaved")
        engine.press("Escape", "-", "b", "n")
        engine.until(HAS_FOCUS, ".sheet textarea")
        engine.type("a note to myself")
        engine.kill()
        wire.mend()
        engine = opened(ends, opening, tmp_path, link)
        is_kept = not isinstance(engine, WebKit)  # under automation it keeps nothing on its disk
        typed = f"{first} {second}{third if is_kept else ''}"
        assert engine.run(VALUE) == typed
        bookmarks, size = engine.run(OWN)
        engine.press("Escape", "n")
        engine.until(HAS_FOCUS, ".sheet textarea")
        notes = engine.run("() => calipers.querySelector('.sheet textarea').value")
        assert (bookmarks, size, notes) == ((1, "15px", "a note to myself") if is_kept else (0, "16px", ""))
        engine.press("Escape")
        engine.press("Control+Enter")
        engine.until(IS_AT, "Item 2 of 3")
    assert server.labels(study_id)[-1] == ("left", typed, "clear")


def opened(ends: ExitStack, opening: Opening, home: Path, link: str) -> Engine:
    engine = ends.enter_context(opening(home))
    engine.goto(link)
    engine.ready()
    return engine


@pytest.mark.slow
def test_an_adjudicator_reads_all_answers_goes_to_a_quote_and_decides(
    engine: Engine, server: Server, tmp_path: Path
) -> None:
    study_id = make_study(server.engine, tmp_path / "reports", overlap=2, protocol=PROTOCOL, name=uuid.uuid4().hex)
    dispute(server, study_id)
    engine.goto(server.link(study_id, "Zoe Zander", "adjudicator"))
    engine.ready()
    assert engine.run(TOLD) == ["Left", "Right"]
    side = engine.run("() => calipers.querySelector('.other .quote-go b').textContent.toLowerCase()")
    engine.click(".other .quote-go")
    engine.until("(side) => calipers.querySelector('.reading').dataset.active === side", side)
    for _ in range(2):
        engine.press("3")
        engine.dictate("neither is clearer than the other")
        engine.press("Control+Enter")
    engine.until(IS_AT, "Item 2 of 9")
    assert [choice for choice, *_ in server.labels(study_id)][-2:] == ["tie", "tie"]


@pytest.mark.slow
def test_every_page_of_an_evaluator_is_drawn_and_none_is_wider_than_its_window(engine: Engine, server: Server) -> None:
    with ThreadPoolExecutor(1) as pool:  # Playwright's own event loop runs in this thread
        pool.submit(make_demo, server.engine).result()
    engine.goto(f"{server.address}/invite/{demo_links(server.engine)['evaluator']}")
    for name, words in PAGES.items():
        engine.see(words)
        engine.until("(title) => document.title === title", f"{name} · calipers")
        for width in (390, 820, 1440):
            engine.resize(width, VIEWPORT["height"])
            engine.until(FITS, width)
        assert not engine.run("() => document.querySelector('[data-testid=stException]')")
        later = [*PAGES, "Choice"][[*PAGES].index(name) + 1]
        engine.click("[data-testid=stSidebarNav] a", later)
    engine.resize(390, VIEWPORT["height"])
    engine.click("[data-testid=stExpandSidebarButton]")
    engine.click("[data-testid=stSidebarNav] a", "Bias")
    engine.see(PAGES["Bias"])
    engine.until(FITS, 390)


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
