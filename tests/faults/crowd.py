"""A study, and simulated people at work on it while a test breaks something; then the doctor's proof."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import aiohttp
from sqlalchemy import Engine

from annotation.planning.plan_root import keep_plan_root
from db.connect import reading, transaction
from db.tables import Study
from tests.annotators import Annotator, Tally, sign_in
from tests.browser.conftest import Server
from tests.plain_study import PROTOCOL, plain_study

PEOPLE, PAUSE_S = 8, 0.08
THREE = PROTOCOL.replace("[study]", "[answers]\nallow_tie = true\n[study]") + "".join(
    f'[[criterion]]\nid = "c{n}"\nlabel = "Criterion {n}"\ntext = "Which is better in {n}?"\n' for n in (2, 3)
)


def a_study(engine: Engine, items: int = 400) -> int:
    """Open, planned, its root kept: more work than a crowd can do in a test."""
    study = plain_study(engine, items, 2, protocol=THREE)
    with transaction(engine) as session:
        keep_plan_root(session, session.get_one(Study, study))
    return study


class Crowd:
    """People at work at `addresses` (each at one), on a thread of their own, from `started` to `ended`.

    Requests that fail are sent again as the page's outbox sends them, so whoever breaks something mends it too.
    """

    def __init__(self, addresses: Sequence[str], cookies: Sequence[str], pause: float = PAUSE_S) -> None:
        self.tally = Tally()
        self._addresses, self.cookies, self._pause = addresses, cookies, pause
        self._people: list[Annotator] = []
        self._failed: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="crowd", daemon=True)
        self._over = threading.Event()

    def start(self) -> None:
        self._thread.start()

    def until(self, answers: int, timeout: float = 90) -> None:
        """Until so many answers are acknowledged."""
        deadline = time.monotonic() + timeout
        while len(self.tally.acked) < answers:
            assert self._thread.is_alive(), f"the crowd ended: {self._failed!r}, {self.tally}"
            assert time.monotonic() < deadline, f"{len(self.tally.acked)} answers, and no more come"
            time.sleep(0.005)

    def more(self, answers: int, timeout: float = 90) -> None:
        """Until so many more answers are acknowledged than now."""
        self.until(len(self.tally.acked) + answers, timeout)

    def end(self) -> Tally:
        """Everybody finishes the request that is under way."""
        for person in self._people:
            person.ends = time.monotonic()
        self._over.set()
        self._thread.join(timeout=60)
        assert not self._thread.is_alive()
        if self._failed is not None:
            raise self._failed
        return self.tally

    def _run(self) -> None:
        try:
            asyncio.run(self._work())
        except BaseException as error:
            self._failed = error

    async def _work(self) -> None:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
            self._people = [
                Annotator(http, self._addresses[number % len(self._addresses)], cookie, self.tally)
                for number, cookie in enumerate(self.cookies)
            ]
            await asyncio.gather(*(self._one(person) for person in self._people))

    async def _one(self, person: Annotator) -> None:
        await person.open(0.2)
        working = asyncio.create_task(person.work(self._pause, time.monotonic() + 600))
        while not self._over.is_set() and not working.done():
            await asyncio.sleep(0.05)
        await working


def cookies_of(server: Server, study: int, people: int = PEOPLE, called: str = "person") -> list[str]:
    """Everybody signs in."""
    links = [server.link(study, f"{called} {number}") for number in range(people)]

    async def all_of_them() -> list[str]:
        return list(await asyncio.gather(*(sign_in(link) for link in links)))

    return asyncio.run(all_of_them())


def calipers(url: str, *arguments: str, settings: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own, on this database."""
    return subprocess.run(
        [sys.executable, "-m", "app.command_line", *arguments], capture_output=True, text=True, timeout=300,
        env=os.environ | {"CALIPERS_DATABASE_URL": url} | dict(settings or {}),
    )  # fmt: skip


def prove(url: str, engine: Engine, study: int, tally: Tally, folder: Path) -> None:
    """`calipers doctor` finds every acknowledged answer once and no rule broken; nothing was refused or given up."""
    acknowledged = folder / "acknowledged"
    acknowledged.write_text("".join(f"{one}\n" for one in sorted(tally.acked)))
    doctor = calipers(url, "doctor", "--acknowledged", str(acknowledged))
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr
    assert f"{len(tally.acked):,} acknowledged ids were looked for" in doctor.stdout
    with reading(engine) as session:
        broken = tally.broken(session, study)
    assert not any(broken.values()), broken
    assert (tally.errors, tally.given_up) == (0, 0), "refused, given up"


@contextmanager
def at_work(server: Server, study: int, people: int = PEOPLE, pause: float = PAUSE_S) -> Iterator[Crowd]:
    """A crowd at this server; whatever the block breaks, it mends before its end."""
    crowd = Crowd([server.address], cookies_of(server, study, people), pause)
    crowd.start()
    try:
        yield crowd
    finally:
        crowd.end()
