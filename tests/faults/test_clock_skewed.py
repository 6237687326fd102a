"""Machines whose clocks disagree by hours, and jump, on one Postgres that has a clock of its own."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import call_states, make_study
from tests.browser.conftest import Server
from tests.faults.conftest import Database
from tests.faults.crowd import Crowd, a_study, cookies_of, prove
from tests.faults.judging import Judging

SKEWED = Path(__file__).with_name("skewed")
HOUR = 3600.0
APART_H = 11.0  # either way: less than the day after which work in hand goes back to others


def wrong_by(folder: Path, name: str, seconds: float) -> dict[str, str]:
    """The environment of a process whose clock is wrong; written again, the clock jumps."""
    clock = folder / f"{name}.clock"
    beside = folder / f"{name}.next"
    beside.write_text(str(seconds))
    beside.replace(clock)
    return {"PYTHONPATH": str(SKEWED), "CALIPERS_TEST_CLOCK": str(clock)}


def test_the_seam_is_felt(tmp_path: Path) -> None:
    code = "from annotation.studies import now; print(now().timestamp())"
    said = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | wrong_by(tmp_path, "one", 5 * HOUR), capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert float(said.stdout) == pytest.approx(time.time() + 5 * HOUR, abs=60)


@pytest.mark.parametrize("database", ["postgres"], indirect=True)
def test_two_processes_hours_apart_whose_clocks_jump_lose_and_double_nothing(
    database: Database, draw: random.Random, tmp_path: Path
) -> None:
    study = a_study(database.engine)
    servers = []
    for number, hours in enumerate((-3.0, 4.0)):
        (tmp_path / str(number)).mkdir()
        clock = wrong_by(tmp_path, str(number), hours * HOUR)
        servers.append(Server(tmp_path / str(number), database.url, clock))
    try:
        for server in servers:
            server.launch()
        for server in servers:
            server.wait()
        here, there = (cookies_of(server, study, 4, called=f"at {server.port}") for server in servers)
        # each process serves half of those who signed in at it, and half of those who did at the other
        crowd = Crowd([server.address for server in servers], here + there)
        crowd.start()
        for _ in range(4):
            crowd.more(draw.randint(5, 40))
            wrong_by(tmp_path, str(draw.randrange(2)), draw.uniform(-APART_H, APART_H) * HOUR)
        crowd.more(20)
        tally = crowd.end()
    finally:
        for server in servers:
            server.stop()
            server.engine.dispose()
    prove(database.url, database.engine, study, tally, tmp_path)


@pytest.mark.parametrize("database", ["postgres"], indirect=True)
def test_workers_hours_apart_never_take_each_others_living_calls(
    database: Database, fake: Fake, draw: random.Random, tmp_path: Path
) -> None:
    fake.reset(latency_ms=150.0, jitter=0.3)
    make_study(database.engine, 40)
    judging = Judging(database.url, database.engine, fake, tmp_path)
    clocks = [wrong_by(tmp_path, name, hours * HOUR) for name, hours in (("late", -2.0), ("early", 2.0))]
    runs = [judging.start(settings=clock) for clock in clocks]
    judging.until_billed(30, runs[0])
    wrong_by(tmp_path, "late", draw.uniform(5, 9) * HOUR)
    assert [run.wait(timeout=240) for run in runs] == [0, 0], judging.said()
    assert call_states(database.engine) == {"done": 80}
    assert (found := judging.prove())["stored"] == found["billed"] == 80, "nothing is paid twice"
