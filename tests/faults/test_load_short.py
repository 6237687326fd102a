"""Twenty seconds of a crowd at two processes, one of which is killed: what was acknowledged stays, once."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import aiohttp
import pytest

from annotation.facts.soundness import find_faults
from db.connect import reading
from tests import annotators
from tests.annotators import Annotator, Tally, sign_in
from tests.browser.conftest import EIGHT
from tests.machines.fleet import Fleet
from tests.small_study import make_study, write_reports

pytestmark = pytest.mark.nginx
PEOPLE, PAUSE_S, SECONDS, KILLED_AFTER_S = 20, 0.3, 20.0, 6.0
LOSES = 0.03  # of the answers, besides those the killed process takes along
TOPICS = tuple(f"topic{number:02}" for number in range(40))


def test_no_acknowledged_label_is_lost_or_doubled_when_one_of_two_processes_is_killed(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(annotators, "GRACE_S", 60.0)  # a machine that does other work too is slow, not wrong
    study = make_study(fleet.engine, write_reports(tmp_path, TOPICS), overlap=3, protocol=EIGHT)
    tally = Tally()

    async def work() -> None:
        async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http:
            cookies = [await sign_in(fleet.link(study, f"Person {number}")) for number in range(PEOPLE)]
            crowd = [Annotator(http, fleet.address, cookie, tally, LOSES) for cookie in cookies]
            await asyncio.gather(*(one.open(1.0) for one in crowd))
            working = asyncio.gather(*(one.work(PAUSE_S, time.monotonic() + SECONDS) for one in crowd))
            await asyncio.sleep(KILLED_AFTER_S)
            before = len(tally.acked)
            fleet.kill(0)
            await asyncio.to_thread(fleet.start_one, 0)
            assert len(tally.acked) > before, "the other process went on meanwhile"
            await working

    asyncio.run(work())
    with reading(fleet.engine) as session:
        assert set(tally.broken(session, study).values()) == {0}
        assert find_faults(session) == []
    assert tally.acked
    assert tally.handed_in
    assert tally.retries > 0
    assert (tally.errors, tally.given_up) == (0, 0)
