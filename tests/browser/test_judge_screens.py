"""An evaluator opens the judge screens in a browser; whatever a report or a reply says, nothing is fetched for it."""

from __future__ import annotations

import contextlib
import re
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Request, TimeoutError, expect

from annotation.studies import find_study
from db.connect import transaction
from tests.annotation.judges.judged_study import Stub, judgments
from tests.browser.conftest import Server
from tests.browser.driving import new_tab, signed_in
from tests.browser.test_accessibility import AT_REST, violations
from tests.disputed_study import judge, make_disputed
from tests.security.raw import run_page, socket
from tests.security.raw import signed_in as cookie_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def elsewhere(act: Callable[[], Any]) -> Any:
    """In a thread of its own: Playwright's loop runs in this one, and a judge run brings its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(act).result()


def make(server: Server, root: Path, *, judged: bool) -> int:
    """A study of its own name, for tests that share a server."""
    study: int = elsewhere(lambda: make_disputed(server.engine, root, judged=judged))
    with transaction(server.engine) as session:
        find_study(session, "disputed").name = uuid.uuid4().hex
    return study


@pytest.fixture(scope="module")
def disputed(server: Server, tmp_path_factory: pytest.TempPathFactory) -> int:
    return make(server, tmp_path_factory.mktemp("disputed") / "reports", judged=True)


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A tab that is listened to."""
    page = new_tab(context)
    yield page
    page.close()


def opened(page: Page, server: Server, study: int, path: str) -> list[str]:
    """A page of a new evaluator; every address outside the server that it asks for."""
    outside: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith((server.address, "data:", "blob:")):
            outside.append(request.url)

    page.on("request", note)
    signed_in(page, server.link(study, uuid.uuid4().hex, "evaluator"))
    page.goto(f"{server.address}/{path}")
    return outside


def test_disagreements_are_browsed_and_nothing_is_fetched(page: Page, server: Server, disputed: int) -> None:
    outside = opened(page, server, disputed, "disagreements")
    expect(page.get_by_text("8 of 8 questions are answered differently")).to_be_visible()  # first imports
    page.get_by_role("combobox", name="Judge").click()
    page.get_by_role("option", name="steady").click()
    expect(page.get_by_text("4 of 4 questions are answered differently")).to_be_visible()
    expect(page.get_by_text("1 of 4", exact=True)).to_be_visible()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("2 of 4", exact=True)).to_be_visible()
    expect(page.locator(".c-pane mark").first).to_have_text("The moon does it.")
    page.wait_for_function(AT_REST)  # what is unfolded while the page is drawn anew folds again
    page.get_by_text("The prompt that was sent, and the reply, pass 1").click()
    page.get_by_text("Prompt proved by sha256").first.click()
    expect(page.get_by_text("You compare two research reports").first).to_be_visible()
    page.get_by_text("Raw reply").first.click()
    expect(page.get_by_text('"winner": "tie"').first).to_be_visible()
    expect(page.get_by_text("evil.example").first).to_be_attached()  # the rationale is there, as text
    assert page.locator("[data-testid=stMain] img").count() == 0
    assert outside == []


def test_the_judges_page_draws_itself_again_until_all_is_done(page: Page, server: Server, tmp_path: Path) -> None:
    study = make(server, tmp_path / "reports", judged=False)
    first = Stub(lambda text, number: judgments(text, "first"))
    elsewhere(lambda: judge(server.engine, study, "mini", first, limit=1))
    outside = opened(page, server, study, "judges")
    expect(page.get_by_text("mini has made 1 of 4 calls")).to_be_visible()
    elsewhere(lambda: judge(server.engine, study, "mini", first))
    expect(page.get_by_text("mini has made all 4 calls")).to_be_visible()
    expect(page.get_by_text("picks the report shown first in 100 % of 8 decisive answers")).to_be_visible()
    assert outside == []


def test_a_run_is_asked_for_and_a_prompt_read_in_the_browser(page: Page, server: Server, tmp_path: Path) -> None:
    study = make(server, tmp_path / "reports", judged=False)
    first = Stub(lambda text, number: judgments(text, "first"))
    elsewhere(lambda: judge(server.engine, study, "mini", first, limit=2, more="concurrency = 1"))
    outside = opened(page, server, study, "judges")
    page.get_by_role("button", name="Estimate").click()
    expect(page.get_by_text("mini would make 2 calls (2 planned before)")).to_be_visible()
    page.get_by_role("button", name="Ask for these 2 calls").click()
    expect(page.get_by_text("It is asked for. A worker carries it out")).to_be_visible()
    expect(page.get_by_text("asked for and not finished: mini")).to_be_visible()
    choose(page, "Item", -1)
    choose(page, "Call", 0, shows="Prompt as it will be sent")
    expect(page.get_by_text("You compare two research reports").first).to_be_visible()
    assert outside == []


def test_axe_finds_nothing_on_either_screen(page: Page, server: Server, disputed: int) -> None:
    declines = Stub(lambda text, number: "I cannot compare these two reports.")
    elsewhere(lambda: judge(server.engine, disputed, "declines", declines, limit=1))
    opened(page, server, disputed, "judges")
    expect(page.get_by_text("What went wrong")).to_be_visible()
    page.get_by_role("button", name="Estimate").click()
    page.get_by_role("button", name="Not now").wait_for()
    choose(page, "Call", 0, shows="Prompt proved by sha256")
    page.get_by_text("Prompt proved by sha256").click()
    page.get_by_text("Raw reply").click()
    page.locator("summary", has_text="steady").click()
    found = {"Judges": axe_where_tables_scroll(page)}
    page.goto(f"{server.address}/disagreements")
    expect(page.get_by_text("are answered differently")).to_be_visible()
    page.get_by_text("Counts by criterion").click()
    page.get_by_text("The prompt that was sent, and the reply, pass 1").click()
    page.get_by_text("Prompt proved by sha256").first.click()
    found["Disagreements"] = axe_where_tables_scroll(page)
    assert {state: wrong for state, wrong in found.items() if wrong} == {}


def choose(page: Page, box: str, option: int | str, shows: str = "") -> None:
    """Until it `shows`: an open list closes when the page draws itself anew, and what was chosen in a list that is
    then replaced is forgotten."""
    options = page.get_by_role("option")
    chosen = options.nth(option) if isinstance(option, int) else options.filter(has_text=re.compile(f"^{option}$"))
    page.wait_for_function(AT_REST)
    for patience in (2_000, 4_000, 8_000, 20_000, 60_000):
        page.get_by_role("combobox", name=box).click()
        with contextlib.suppress(TimeoutError):
            chosen.click(timeout=patience)
            if shows:
                page.get_by_text(shows).first.wait_for(timeout=patience)
            return
    raise AssertionError(f"choosing in the list {box} never shows {shows!r}")


def axe_where_tables_scroll(page: Page) -> list[str]:
    page.set_viewport_size({"width": 900, "height": 757})
    return violations(page)


def test_an_annotator_has_no_such_page(server: Server, disputed: int) -> None:
    cookie = cookie_of(server, disputed, uuid.uuid4().hex)
    for path in ("judges", "disagreements"):
        with socket(server, cookie) as line:
            said = "".join(map(str, run_page(line, name=path)))
        assert "calipers" in said
        assert "answered differently" not in said
        assert "always-first" not in said
