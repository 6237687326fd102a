"""Machines that are stopped, started and given a newer database one by one, while people work at all of them."""

from __future__ import annotations

import asyncio
import signal
import time
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiohttp
import pytest

from annotation.facts.soundness import find_faults
from app.server.routes import STOP_S
from db import migrations
from db.connect import reading
from db.migrations import upgrade
from tests.annotators import Annotator, Tally, sign_in
from tests.browser.conftest import EIGHT
from tests.machines.fleet import Fleet
from tests.machines.later import later_scripts
from tests.small_study import make_study, write_reports

pytestmark = pytest.mark.nginx
PEOPLE, PAUSE_S = 8, 0.2
TOPICS = tuple(f"topic{number:02}" for number in range(30))


def while_people_work(fleet: Fleet, folder: Path, happens: Callable[[Callable[[], int]], Awaitable[None]]) -> None:
    """Eight annotators at work before, during and after what `happens`, which is given a count of their labels.

    Asserts that each acknowledged answer is stored, once, and that every rule of `calipers doctor` holds.
    """
    study = make_study(
        fleet.engine, write_reports(folder, TOPICS), overlap=PEOPLE, protocol=EIGHT, name=uuid.uuid4().hex
    )
    tally = Tally()

    async def all_of_it() -> None:
        async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http:
            cookies = [await sign_in(fleet.link(study, f"Person {number}")) for number in range(PEOPLE)]
            crowd = [Annotator(http, fleet.address, cookie, tally) for cookie in cookies]
            await asyncio.gather(*(one.open(0.5) for one in crowd))
            working = asyncio.gather(*(one.work(PAUSE_S, float("inf")) for one in crowd))
            await further(tally, 2 * PEOPLE)
            await happens(lambda: len(tally.acked))
            await further(tally, 2 * PEOPLE)
            for one in crowd:
                one.ends = time.monotonic()
            await working

    asyncio.run(all_of_it())
    with reading(fleet.engine) as session:
        assert set(tally.broken(session, study).values()) == {0}
        assert find_faults(session) == []
    assert tally.errors == 0
    assert tally.given_up == 0


async def further(tally: Tally, labels: int) -> None:
    """Until so many more are acknowledged."""
    goal, deadline = len(tally.acked) + labels, time.monotonic() + 60
    while len(tally.acked) < goal:
        assert time.monotonic() < deadline, f"{len(tally.acked)} of {goal} labels after a minute"
        await asyncio.sleep(0.05)


def test_a_rolling_restart_loses_nothing_and_stops_nobody(fleet: Fleet, tmp_path: Path) -> None:
    ends: list[float] = []

    async def restart_each(count: Callable[[], int]) -> None:
        for server in fleet.servers:
            before, started = count(), time.monotonic()
            await asyncio.to_thread(server.stop, signal.SIGTERM)
            ends.append(time.monotonic() - started)
            await asyncio.to_thread(server.start)
            assert count() > before, "people go on at the other machine"

    while_people_work(fleet, tmp_path, restart_each)
    assert max(ends) <= STOP_S + 1.5
    assert not any('"level": "ERROR"' in server.log.read_text() for server in fleet.servers)


def test_old_processes_go_on_beside_a_newer_schema_and_only_then_end(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "SCRIPTS", later_scripts(tmp_path))
    served: list[int] = []

    async def expand(count: Callable[[], int]) -> None:
        before = count()
        await asyncio.to_thread(upgrade, fleet.url)
        while count() < before + 3 * PEOPLE:
            await asyncio.sleep(0.05)
        async with aiohttp.ClientSession() as http:
            for server in fleet.servers:
                async with http.get(f"{server.address}/ready") as reply:
                    served.append(reply.status)

    while_people_work(fleet, tmp_path / "reports", expand)
    assert served == [200, 200]
    old = fleet.servers[0]
    old.stop()
    old.launch()
    assert old.process is not None
    assert old.process.wait(timeout=60) == 1, "one that was stopped does not come back with the old code"
    assert old.log.read_text().splitlines()[-1].endswith(": made by a newer calipers; install that version")
    assert "Traceback" not in old.log.read_text()
