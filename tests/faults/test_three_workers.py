"""Three machines with a judge worker each, on one Postgres: every call is made once, and the ledger is the provider's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from annotation.facts.soundness import find_faults
from annotation.judges.planning.plan import plan_judges
from db.connect import open_database, reading
from db.judge_tables import JudgeCall
from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import (
    PRICE,
    STUB_JUDGE,
    attempts,
    call_states,
    describe,
    judges,
    make_study,
)

PAIRS, CALLS, CONCURRENCY = 40, 80, 4
USD = {"in": 0.15e-6, "out": 0.60e-6}  # per token, as in PRICE


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    engine = open_database(url)
    make_study(engine, PAIRS)
    yield engine
    engine.dispose()


def start(url: str, fake: Fake, folder: Path) -> subprocess.Popen[str]:
    """`calipers judge run` on a machine of its own: its own folder, its own copy of judges.toml, the one database."""
    folder.mkdir()
    judge = f'[[judge]]\nname = "j"\nmodel = "openai/fake"\napi_base = "{fake.base}"\n'
    (folder / "judges.toml").write_text(f"{judge}concurrency = {CONCURRENCY}\n{PRICE}\n", encoding="utf-8")
    command = [sys.executable, "-P", "-m", "app.command_line", "judge", "run", "small", "--judges", "judges.toml"]
    return subprocess.Popen(
        [*command, "--json"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"CALIPERS_DATABASE_URL": url, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    )  # fmt: skip


def at_work(engine: Engine) -> int:
    """Workers that hold calls."""
    held = sa.select(sa.func.count(JudgeCall.worker.distinct())).where(JudgeCall.state == "leased")
    with reading(engine) as session:
        return session.scalars(held).one()


def ended(workers: Sequence[subprocess.Popen[str]]) -> list[dict[str, Any]]:
    """What each said at its end; its exit code under `code`."""
    said = [worker.communicate(timeout=120) for worker in workers]
    assert [err for _, err in said if "Traceback" in err] == []
    return [json.loads(out) | {"code": worker.returncode} for worker, (out, _) in zip(workers, said, strict=True)]


def check_ledger(engine: Engine, fake: Fake) -> None:
    """Attempt by attempt what the provider billed: as many, the same tokens, the same money."""
    tries, bill = attempts(engine), fake.bill()
    paid = [one for one in tries if one.tokens_in is not None]
    assert sorted((one.tokens_in, one.tokens_out) for one in paid) == sorted((line["in"], line["out"]) for line in bill)
    owed = sum(line["in"] * USD["in"] + line["out"] * USD["out"] for line in bill)
    assert sum(one.cost or 0 for one in paid) == pytest.approx(owed, rel=1e-12)
    done = [one.call_id for one in tries if one.outcome == "ok"]
    assert len(done) == len(set(done)) == CALLS, "no call that was done is made again"
    assert call_states(engine) == {"done": CALLS}
    with reading(engine) as session:
        assert find_faults(session) == []


def test_machines_that_plan_the_same_judge_at_once_plan_it_once(url: str) -> None:
    engine = open_database(url)
    study = make_study(engine, 5)
    definitions = judges(STUB_JUDGE)
    ready = threading.Barrier(4)

    def plan(_: int) -> int:
        ready.wait()
        return sum(one.calls for one in plan_judges(engine, study, definitions, describe=describe))

    with ThreadPoolExecutor(4) as machines:
        assert list(machines.map(plan, range(4))) == [10] * 4
    assert call_states(engine) == {"planned": 10}
    engine.dispose()


def test_three_machines_plan_at_once_one_is_stopped_and_every_call_is_made_once(
    engine: Engine, url: str, tmp_path: Path, fake: Fake, processes: list[subprocess.Popen[str]]
) -> None:
    """The provider refuses or fails one request in ten, which it does not bill."""
    fake.reset(latency_ms=4_000, p_429=0.05, p_500=0.05, retry_after=0.1)  # slow until all three have calls in flight
    workers = [start(url, fake, tmp_path / f"machine-{number}") for number in range(3)]
    processes += workers
    deadline = time.monotonic() + 180
    while at_work(engine) < 3:
        assert time.monotonic() < deadline
        gone = [worker.stderr.read() for worker in workers if worker.poll() is not None and worker.stderr]
        assert gone == []
        time.sleep(0.1)
    fake.set(latency_ms=100)
    workers[0].send_signal(signal.SIGTERM)
    ends = ended(workers)
    assert [one["code"] for one in ends] == [130, 0, 0]
    assert ends[0]["interrupted"]
    assert (fake.stats()["billed"], fake.stats()["dup_billed"]) == (CALLS, 0)
    assert fake.stats()["f_429"] + fake.stats()["f_500"] > 0
    check_ledger(engine, fake)
