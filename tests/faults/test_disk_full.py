"""The disk under the database fills up while people work: a small tmpfs, filled by another file."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import Server
from tests.faults.crowd import a_study, at_work, prove
from tests.faults.own_postgres import OwnPostgres
from tests.faults.small_disk import fill, small_disk

pytestmark = pytest.mark.mount
MEGABYTES = {"sqlite": 12, "postgres": 128}  # Postgres: 40 of its own, and 16 for each part of its log


@pytest.fixture
def disk(kind: str) -> Iterator[Path]:
    """Not under pytest's folder, which every run of pytest shuts to all but its owner as it begins."""
    with small_disk(Path(tempfile.mkdtemp(prefix="calipers-disk-")), MEGABYTES[kind]) as disk:
        disk.chmod(0o755)
        yield disk
    disk.rmdir()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_with_a_full_disk_nothing_is_acknowledged_that_is_not_stored_and_with_room_the_work_goes_on(
    kind: str, disk: Path, draw: random.Random, tmp_path: Path
) -> None:
    postgres = OwnPostgres(disk / "postgres", max_wal_size="32MB", min_wal_size="32MB") if kind == "postgres" else None
    if postgres:
        postgres.start()
    server = Server(tmp_path, postgres.url if postgres else f"sqlite:///{disk}/calipers.db")
    server.start()
    study = a_study(server.engine)
    try:
        with at_work(server, study) as crowd:
            for _ in range(2):
                crowd.more(draw.randint(10, 60))
                filler = fill(disk)
                until_refused(server)
                filler.unlink()
                if postgres and not postgres.answers():
                    postgres.start()  # without room for its log it ends itself
            crowd.more(40)
        assert "free some disk space" in server.log.read_text()
        prove(server.url, server.engine, study, crowd.tally, tmp_path)
    finally:
        server.stop()
        server.engine.dispose()
        if postgres:
            postgres.stop()


def until_refused(server: Server) -> None:
    """Until the app has said once more that it could not write; Postgres may use up what it took beforehand."""
    before, deadline = (
        server.log.read_text().count("Disk") + server.log.read_text().count("Away"),
        time.monotonic() + 90,
    )
    while server.log.read_text().count("Disk") + server.log.read_text().count("Away") <= before:
        assert time.monotonic() < deadline, "the disk is full, and nothing was refused"
        time.sleep(0.1)
