"""What takes minutes: faults at random moments, several processes under load, and those proofs once more that one
process gives in `make test`. The seed is printed; `CALIPERS_FAULT_SEED` repeats a run's moments."""

from __future__ import annotations

import os
import random
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from db.connect import open_database
from db.migrations import upgrade
from tests.annotation.judges import conftest as provider
from tests.browser import conftest as chromium
from tests.browser.conftest import Server
from tests.faults.own_postgres import OwnPostgres
from tests.faults.small_disk import may_mount
from tests.faults.wire import Wire
from tests.machines import conftest as machines

fake, fake_process = provider.fake, provider.fake_process
browser, warm = chromium.browser, chromium.warm
url, processes, fleet = machines.url, machines.processes, machines.fleet
SEED = os.environ.setdefault("CALIPERS_FAULT_SEED", secrets.token_hex(4))  # the same in every worker of xdist


class Database:
    """A migrated database: its address, and an engine of the test's own."""

    def __init__(self, url: str) -> None:
        upgrade(url)
        self.url, self.engine = url, open_database(url)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "mount: mounts a small disk; left out, loudly, where that is not allowed")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not may_mount():
        left_out = [item for item in items if item.get_closest_marker("mount")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not may_mount():
        terminalreporter.section("NO MOUNT: the full disk was not tested on a disk", sep="!", red=True, bold=True)
        terminalreporter.line(
            "Run as root where a tmpfs may be mounted; tests/app/test_faults.py simulates it elsewhere."
        )
    terminalreporter.section("faults")
    terminalreporter.line(f"the moments of this run were drawn from CALIPERS_FAULT_SEED={SEED}")


@pytest.fixture
def draw(request: pytest.FixtureRequest) -> random.Random:
    """The test's own random numbers: the same again with the same seed, whichever tests run beside it."""
    return random.Random(f"{SEED} {request.node.name}")


@pytest.fixture
def own_postgres() -> Iterator[OwnPostgres]:
    """Not under pytest's folder, which only its owner may enter."""
    folder = Path(tempfile.mkdtemp(prefix="calipers-faults-"))
    folder.chmod(0o755)
    postgres = OwnPostgres(folder / "postgres")
    postgres.start()
    yield postgres
    postgres.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgres"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """`calipers serve` on a database of each kind; the Postgres is the test's own."""
    url = None if request.param == "sqlite" else request.getfixturevalue("own_postgres").url
    server = Server(tmp_path, url)
    server.start()
    yield server
    if server.process is not None and server.process.poll() is None:
        server.stop()
    server.engine.dispose()


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A database of each kind; the Postgres is the test's own."""
    url = f"sqlite:///{tmp_path}/calipers.db"
    database = Database(url if request.param == "sqlite" else request.getfixturevalue("own_postgres").url)
    yield database
    database.engine.dispose()


@pytest.fixture
def wires() -> Iterator[Callable[[int], Wire]]:
    """wires(port) -> a line to it, taken down after the test."""
    laid: list[Wire] = []

    def lay(to: int) -> Wire:
        laid.append(Wire(to))
        return laid[-1]

    yield lay
    for wire in laid:
        wire.close()
