"""A real server in its own process and a real Chromium in front of it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from playwright.sync_api import Error as PlaywrightError
from sqlalchemy import Engine, select

from annotation.people.links import invite
from annotation.people.principals import local_admin
from db.connect import open_database, reading, transaction
from db.migrations import upgrade
from db.tables import Criterion, Event, Label, Study
from tests.browser.driving import FREE, PATIENCE, VIEWPORT, new_tab, parked, put_away, ready
from tests.conftest import chromium
from tests.other_languages import FROM_RIGHT, PSEUDO, write_pseudo
from tests.small_study import PROTOCOL, make_study, write_reports

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip
expect.set_options(timeout=1_000 * PATIENCE)
EIGHT = PROTOCOL.split("[[criterion]]")[0] + "".join(
    f'[[criterion]]\nid = "c{n}"\nlabel = "Criterion {n}"\ntext = "Which is better in {n}?"\ncategory = "Group {n % 2}"\n'
    for n in range(1, 9)
)


class Server:
    """`calipers serve` on a free port, over one SQLite file unless another database is named."""

    def __init__(self, folder: Path, url: str | None = None, settings: Mapping[str, str] | None = None) -> None:
        self.url = url or f"sqlite:///{folder}/calipers.db"
        upgrade(self.url)
        self.engine: Engine = open_database(self.url)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self.log = folder / "server.log"
        self.settings = {"CALIPERS_DATABASE_URL": self.url, "CALIPERS_BASE_URL": self.address} | dict(settings or {})
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.launch()
        self.wait()

    def launch(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "app.command_line", "serve", "--port", str(self.port)],
            env=os.environ | self.settings, stdout=self.log.open("ab"), stderr=subprocess.STDOUT,
        )  # fmt: skip

    def wait(self) -> None:
        """Until it answers."""
        for _ in range(1_200):  # a machine that does other work too is slow, not wrong
            try:
                with urllib.request.urlopen(f"{self.address}/_stcore/health", timeout=1):
                    return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(f"the server did not start:\n{self.log.read_text()}")

    def stop(self, with_signal: int = signal.SIGTERM) -> None:
        assert self.process is not None
        self.process.send_signal(with_signal)
        self.process.wait(timeout=PATIENCE)

    def link(self, study_id: int, name: str, role: str = "annotator") -> str:
        with transaction(self.engine) as session:
            token = invite(session, local_admin(session.get_one(Study, study_id)), name, role)
        return f"{self.address}/invite/{token}"

    def events(self, study_id: int) -> list[tuple[str, str]]:
        """Kind and text of every flag and comment of this study."""
        rows = select(Event).where(Event.study_id == study_id, Event.kind.in_(("flag", "comment")))
        with reading(self.engine) as session:
            return [(event.kind, event.data["text"]) for event in session.scalars(rows)]

    def labels(self, study_id: int) -> list[Any]:
        """Every revision of this study's labels, oldest first: choice, rationale, criterion."""
        rows = select(Label.choice, Label.rationale, Criterion.code).join(Criterion, Criterion.id == Label.criterion_id)
        with reading(self.engine) as session:
            return list(session.execute(rows.where(Criterion.study_id == study_id).order_by(Label.id)))


RUNNING = pytest.StashKey[tuple[Browser, asyncio.AbstractEventLoop]]()
WARM, ELSEWHERE = pytest.StashKey[BrowserContext](), pytest.StashKey[BrowserContext]()


def chromium_of_the_run(config: pytest.Config) -> tuple[Browser, asyncio.AbstractEventLoop]:
    """One Chromium for every folder of tests in this process, and the loop that Playwright runs for it in this thread."""
    if RUNNING not in config.stash:
        playwright = sync_playwright().start()
        loop = asyncio.get_running_loop()
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))

        def stop() -> None:
            asyncio._set_running_loop(loop)
            browser.close()
            playwright.stop()

        config.add_cleanup(stop)
        config.stash[RUNNING] = browser, loop
    return config.stash[RUNNING]


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """The run's one Chromium. Between two modules that use it its loop is not the thread's: others have their own."""
    browser, loop = chromium_of_the_run(request.config)
    asyncio._set_running_loop(loop)
    yield browser
    asyncio._set_running_loop(None)


@contextmanager
def serving(folder: Path, settings: Mapping[str, str] | None = None) -> Iterator[Server]:
    """A server on a new database, until the block ends."""
    server = Server(folder, settings=settings)
    server.start()
    yield server
    if server.process is not None and server.process.poll() is None:
        server.stop()
    server.engine.dispose()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for all modules: each test makes a study of its own there. It has the pseudo-languages beside English."""
    texts = write_pseudo(tmp_path_factory.mktemp("texts"), PSEUDO, FROM_RIGHT)
    with serving(tmp_path_factory.mktemp("server"), {"CALIPERS_TEXTS": str(texts)}) as server:
        yield server


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """For a module that minds what else is in the database."""
    with serving(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture
def study_id(server: Server, tmp_path: Path) -> int:
    """A study of its own for each test, on the one server."""
    return make_study(server.engine, tmp_path / "reports", overlap=2, protocol=EIGHT, name=uuid.uuid4().hex)


def kept_context(
    request: pytest.FixtureRequest, browser: Browser, key: pytest.StashKey[BrowserContext]
) -> BrowserContext:
    """A context for the whole run: the app's files are fetched and compiled once."""
    if key not in request.config.stash:
        request.config.stash[key] = context = browser.new_context(viewport=VIEWPORT)
        context.set_default_timeout(1_000 * PATIENCE)
    return request.config.stash[key]


@pytest.fixture(scope="module")
def warm(browser: Browser, request: pytest.FixtureRequest) -> BrowserContext:
    return kept_context(request, browser, WARM)


@pytest.fixture
def context(warm: BrowserContext, server: Server) -> Iterator[BrowserContext]:
    """The run's context as a browser that nobody signed in with: no cookie, nothing kept, no page open.

    A page that a module keeps would be closed with this test's, and the tests after it wait for what never comes.
    """
    stays = parked(warm, server.address)
    kept = [page.url for page in warm.pages if page is not stays and not page.url.endswith(FREE)]
    assert not kept, f"a fixture of this module keeps a page open: take `warm`, or put that page away: {kept}"
    yield warm
    put_away(warm, server.address)


@pytest.fixture
def elsewhere(browser: Browser, request: pytest.FixtureRequest, server: Server) -> Iterator[BrowserContext]:
    """Another computer."""
    context = kept_context(request, browser, ELSEWHERE)
    parked(context, server.address)
    yield context
    put_away(context, server.address)


@pytest.fixture
def own_context(browser: Browser) -> Iterator[BrowserContext]:
    """For a test that sets the clock, which cannot be taken back."""
    context = browser.new_context(viewport=VIEWPORT)
    context.set_default_timeout(1_000 * PATIENCE)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext, server: Server, study_id: int) -> Page:
    """Ada's first item, opened by her link."""
    page = new_tab(context)
    page.goto(server.link(study_id, "Ada"))
    page.get_by_role("radio", name="Left").wait_for()
    return page


@pytest.fixture
def opened(context: BrowserContext, server: Any, tmp_path: Path) -> Callable[[str], tuple[Page, int]]:
    """open(protocol) -> Ada's first item on screen, and the study's id."""

    def open_first(protocol: str) -> tuple[Page, int]:
        study_id = make_study(
            server.engine, write_reports(tmp_path / "reports"), protocol=protocol, name=uuid.uuid4().hex
        )
        page = new_tab(context)
        page.goto(server.link(study_id, "Ada"))
        ready(page)
        return page, study_id

    return open_first


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What failed says what the server wrote last, and what stands on each open page."""
    report = yield
    if report.failed:
        server = getattr(item, "funcargs", {}).get("server")
        if server is not None:
            report.sections.append(("the server's log", server.log.read_text(errors="replace")[-4_000:]))
        for context in (item.config.stash.get(key, None) for key in (WARM, ELSEWHERE)):
            for page in context.pages if context else ():
                report.sections.append((page.url, _seen(page)))
    return report


def _seen(page: Page) -> str:
    try:
        return page.content()[-4_000:]
    except PlaywrightError as problem:
        return str(problem)
