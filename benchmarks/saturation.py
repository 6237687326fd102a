"""Twenty people without pause, beside a floor: `python benchmarks/saturation.py [--seconds 20]`.

Pairs of eight answers over real HTTP, and the floor: Starlette under the same uvicorn, which checks nothing and puts
each label into SQLite in a transaction of its own. Both write WAL with synchronous=FULL and reply after COMMIT; the
floor is measured before and after, so that a machine which does other work is as slow for both. Told: pairs and labels
a second, saves and hand-ins (p95), CPU of the server a saved label and a hand-in with the next page, beside the floor's
CPU of a label. Exit 1 where a promise is missed, or where what was acknowledged is not what is stored.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import aiohttp
import numpy as np
import psutil
import sqlalchemy as sa

from benchmarks.annotate import QUESTIONS, written
from benchmarks.promises import Figure, record
from db.connect import reading
from db.tables import Label
from tests.annotators import Annotator, Tally, answer, sign_in
from tests.browser.conftest import Server
from tests.machines.proxy import free_port
from tests.small_study import make_study

PEOPLE, ANSWERS = 20, 8
SAVED_MAX, PAIR_MAX = 5, 60  # times the floor's label
PAIRS_MIN, NEXT_MAX = 10.4, 1_100  # a second, and ms: what Potato 2.12.1 does with as many people on such a machine
EIGHT = "[[criterion]]".join(QUESTIONS.split("[[criterion]]")[: ANSWERS + 1])
FLOOR = """
import json, sqlite3, sys, threading
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse
from starlette.routing import Route

lock, store = threading.Lock(), sqlite3.connect(sys.argv[1], check_same_thread=False, isolation_level=None)
for line in ("journal_mode=WAL", "synchronous=FULL"):
    store.execute(f"PRAGMA {line}")
store.execute("CREATE TABLE labels (id INTEGER PRIMARY KEY, client_uuid TEXT UNIQUE, choice TEXT, rationale TEXT)")

def keep(entry):
    with lock:
        store.execute("BEGIN IMMEDIATE")
        store.execute("INSERT INTO labels VALUES (NULL, :client_uuid, :choice, :rationale)", entry)
        store.execute("COMMIT")

async def save(request):
    [entry] = json.loads(await request.body())["entries"]
    await run_in_threadpool(keep, entry)
    return JSONResponse({"acks": [{"client_uuid": entry["client_uuid"], "rev": 1}]})

uvicorn.run(Starlette(routes=[Route("/api/labels", save, methods=["POST"])]), port=int(sys.argv[2]), access_log=False,
            log_level="error")
"""


@dataclass
class Measured:
    """What one server did while it was counted."""

    seconds: float = 0.0
    cpu: float = 0.0
    tally: Tally = field(default_factory=Tally)

    @property
    def cpu_ms(self) -> float:
        return 1e3 * self.cpu / max(len(self.tally.acked), 1)

    @property
    def labels_a_second(self) -> float:
        return len(self.tally.acked) / self.seconds

    @contextmanager
    def counted(self, process: psutil.Process) -> Iterator[None]:
        """The block counts, in wall and CPU seconds of this process."""
        before, started = process.cpu_times(), time.monotonic()
        yield
        after = process.cpu_times()
        self.seconds += time.monotonic() - started
        self.cpu += after.user + after.system - before.user - before.system


def main() -> int:
    """Print the figures and what was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = asyncio.run(measure(Path(folder), asked.seconds))
    for figure in figures:
        print(figure, flush=True)
    record(figures)
    return int(not all(figure.kept for figure in figures))


async def measure(folder: Path, seconds: float) -> list[Figure]:
    """Both servers up, one at work at a time."""
    app, saved, floor = Measured(), Measured(), Measured()
    server = Server(folder)
    study = make_study(server.engine, written(folder / "reports"), overlap=4, protocol=EIGHT, compared=True)
    server.start()
    assert server.process is not None
    links = [server.link(study, f"Person {number}") for number in range(PEOPLE)]
    connector = aiohttp.TCPConnector(limit=0)
    try:
        with floor_server(folder) as (address, bare):
            async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as http:
                people = [Annotator(http, server.address, await sign_in(link), app.tally) for link in links]
                await asyncio.gather(*(person.open(2) for person in people))
                app.tally.nexts.clear()
                await floored(http, address, floor, bare, seconds / 4)
                with app.counted(psutil.Process(server.process.pid)):
                    ends = time.monotonic() + seconds
                    await asyncio.gather(*(person.work(0, ends) for person in people))
                with reading(server.engine) as session:
                    broken = app.tally.broken(session, study)
                with saved.counted(psutil.Process(server.process.pid)):
                    ends = time.monotonic() + seconds / 4
                    await asyncio.gather(*(save_again(person, saved.tally, ends) for person in people if person.page))
                await floored(http, address, floor, bare, seconds / 4)
        with reading(server.engine) as session:
            again = session.scalars(sa.select(Label.client_uuid).where(Label.client_uuid.in_(saved.tally.acked))).all()
        broken["labels saved again and lost"] = len(saved.tally.acked) - len(again)
        kept = sqlite3.connect(folder / "floor.db").execute("SELECT client_uuid FROM labels").fetchall()
        broken["labels of the floor lost"] = len(floor.tally.acked - {uuid for (uuid,) in kept})
    finally:
        server.stop()
        server.engine.dispose()
    return figures_of(app, saved, floor, broken)


@contextmanager
def floor_server(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Starlette and SQLite, and nothing else."""
    script, port = folder / "floor.py", free_port()
    script.write_text(FLOOR, encoding="utf-8")
    with subprocess.Popen([sys.executable, str(script), str(folder / "floor.db"), str(port)]) as process:
        try:
            yield f"http://127.0.0.1:{port}", process
        finally:
            process.terminate()


async def floored(
    http: aiohttp.ClientSession, address: str, floor: Measured, bare: subprocess.Popen[bytes], seconds: float
) -> None:
    """As many people at the floor."""
    with floor.counted(psutil.Process(bare.pid)):
        ends = time.monotonic() + seconds
        await asyncio.gather(*(save_bare(http, address, floor.tally, ends) for _ in range(PEOPLE)))


async def save_bare(http: aiohttp.ClientSession, address: str, tally: Tally, ends: float) -> None:
    """The same body as an annotator's, without anything around it."""
    person = Annotator(http, address, "nobody", tally)
    page = {"aid": "0" * 32, "page": "0" * 64}
    while time.monotonic() < ends:
        await person.save(answer(page, "c1", person.draw))


async def save_again(person: Annotator, tally: Tally, ends: float) -> None:
    """One answer changed over and over, which is a label each time, and nothing handed in."""
    person.tally, person.ends = tally, ends
    code = person.page["criteria"][-1]["id"]
    for number in itertools.count(1):
        if time.monotonic() > ends:
            break
        entry = answer(person.page, code, person.draw)
        await person.save(entry | {"writer": "load-again", "seq": number, "base_rev": person.revs.get(code, 0)})


def figures_of(app: Measured, saved: Measured, floor: Measured, broken: dict[str, int]) -> list[Figure]:
    """What was found, with what was promised of it."""
    pair_ms = (1e3 * app.cpu - saved.cpu_ms * len(app.tally.acked)) / max(len(app.tally.handed_in), 1)
    saves, nexts, bare = (
        float(np.percentile(one, 95)) for one in (app.tally.saves, app.tally.nexts, floor.tally.saves)
    )
    return [
        Figure("pairs a second", len(app.tally.handed_in) / app.seconds, low=PAIRS_MIN),
        Figure("labels a second", app.labels_a_second),
        Figure("labels a second of the floor", floor.labels_a_second),
        Figure("save, p95", saves, "ms"),
        Figure("save of the floor, p95", bare, "ms"),
        Figure("handed in and the next one read, p95", nexts, "ms", high=NEXT_MAX),
        Figure("CPU a saved label", saved.cpu_ms, "ms"),
        Figure("CPU a hand-in with the next page", pair_ms, "ms"),
        Figure("CPU a label of the floor", floor.cpu_ms, "ms"),
        Figure("CPU a saved label / the floor's", saved.cpu_ms / floor.cpu_ms, high=SAVED_MAX),
        Figure("CPU a hand-in with the next page / the floor's label", pair_ms / floor.cpu_ms, high=PAIR_MAX),
        Figure("requests refused", app.tally.errors + saved.tally.errors + floor.tally.errors, high=0),
        Figure("requests sent again", app.tally.retries, high=0),
        *(Figure(name, count, high=0) for name, count in broken.items()),
    ]


if __name__ == "__main__":
    sys.exit(main())
