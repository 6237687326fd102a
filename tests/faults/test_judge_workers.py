"""`calipers judge run --workers 2`: processes that share a queue, interrupted, killed and finished as one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from sqlalchemy import Engine

from annotation.judges.defining.judge_file import parse_judges
from annotation.judges.running.run import run_judges
from annotation.protocol import parse_protocol
from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import PRICE, attempts, call_states, make_study, protocol_text
from tests.faults.judging import out_of_time

CONCURRENCY = 4


@contextmanager
def at_work(engine: Engine, url: str, folder: Path, fake: Fake) -> Iterator[subprocess.Popen[str]]:
    """`judge run --workers 2` on 120 calls, once both workers have calls in flight and some are done. The study is the engine's only."""
    fake.reset(latency_ms=150)
    make_study(engine, 60)
    (folder / "judges.toml").write_text(toml(fake), encoding="utf-8")
    command = [sys.executable, "-m", "app.command_line", "judge", "run", "small", "--workers", "2", "--json"]
    command += ["--judges", str(folder / "judges.toml")]
    environment = os.environ | {"CALIPERS_DATABASE_URL": url}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True) as running:
        deadline = time.monotonic() + 90
        # one worker alone never has more than four in flight
        while fake.stats()["max_inflight"] <= CONCURRENCY or len(attempts(engine)) < 2 * CONCURRENCY:
            assert time.monotonic() < deadline
            assert running.poll() is None
            time.sleep(0.02)
        yield running


def toml(fake: Fake) -> str:
    judge = f'[[judge]]\nname = "j"\nmodel = "openai/fake"\napi_base = "{fake.base}"\n'
    return f"{judge}concurrency = {CONCURRENCY}\n{PRICE}\n"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)  # on Postgres: three machines, beside this file
def test_two_processes_share_the_work_and_a_ctrl_c_ends_both_in_good_order(
    engine: Engine, database_url: str, tmp_path: Path, fake: Fake
) -> None:
    with at_work(engine, database_url, tmp_path, fake) as running:
        running.send_signal(signal.SIGINT)
        first: dict[str, Any] = json.loads(running.communicate(timeout=60)[0])
    assert running.returncode == 130
    assert first["interrupted"]
    states = call_states(engine)
    assert set(states) == {"done", "planned"}
    assert 0 < first["judges"][0]["done"] == states["done"] < 120

    (finished,) = run_judges(engine, 1, parse_judges(toml(fake), parse_protocol(protocol_text()))).judges
    assert (finished.done, finished.labels) == (120, {"ok": 360})
    assert len(attempts(engine)) == fake.stats()["billed"] == 120, "nothing is paid twice"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_workers_end_in_good_order_where_the_process_that_started_them_is_killed(
    engine: Engine, database_url: str, tmp_path: Path, fake: Fake
) -> None:
    with at_work(engine, database_url, tmp_path, fake) as running:
        workers = psutil.Process(running.pid).children()
        running.kill()
        _, living = psutil.wait_procs(workers, timeout=30)
    assert (len(workers), living) == (2, [])
    states = call_states(engine)
    assert set(states) == {"done", "planned"}
    assert len(attempts(engine)) == fake.stats()["billed"] == states["done"] < 120


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_a_worker_that_is_killed_is_told_of_and_the_other_finishes_its_calls(
    engine: Engine, database_url: str, tmp_path: Path, fake: Fake
) -> None:
    with at_work(engine, database_url, tmp_path, fake) as running:
        workers = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
        assert len(workers) == 2
        os.kill(int(workers[0]), signal.SIGKILL)
        assert set(call_states(engine)) - {"done"}, "there is something left to finish"
        out_of_time(engine)
        said, complaints = running.communicate(timeout=90)
    assert running.returncode == 0
    assert f"worker {workers[0]}: ended by signal 9" in complaints
    assert call_states(engine) == {"done": 120}
    assert json.loads(said)["judges"][0]["labels"] == {"ok": 360}

    tries, bill = attempts(engine), fake.bill()
    replies = [one for one in tries if one.outcome == "ok"]
    lost = [one for one in tries if one.kind == "abandoned"]
    assert len(tries) == len(replies) + len(lost)
    assert len(replies) == len({one.call_id for one in replies}) == 120, "no call that was done is made again"
    assert len(bill) == 120 + fake.stats()["dup_billed"]
    assert fake.stats()["dup_billed"] <= min(len(lost), CONCURRENCY), "every call that may be paid twice is told of"
    billed_once = {line["key"]: line for line in bill}.values()
    assert sum(one.tokens_in or 0 for one in replies) == sum(line["in"] for line in billed_once)
    assert sum(one.tokens_out or 0 for one in replies) == sum(line["out"] for line in billed_once)
