"""kill -9 in the middle of a run: what was done is never billed again, and the rest is finished by starting again."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import random
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Mapping, Sequence
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy import Engine, select, update

from annotation.judges.defining.judge_file import JudgeDefinition, Rung
from annotation.judges.planning.plan import plan_judges
from annotation.judges.replies.outcomes import Reply
from annotation.judges.running.run import run_judges
from db.connect import open_database, reading, transaction
from db.judge_tables import Judge, JudgeCall
from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import (
    PRICE,
    account,
    attempts,
    call_states,
    describe,
    judges,
    labels,
    make_study,
    replied,
    verdict,
)

CONCURRENCY, LEASE_S, KILLS = 8, 2.0, 10
ON_THE_WIRE = 16  # replies that a test allows on top of what is in flight


async def plain_http(
    judge: JudgeDefinition, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], rung: Rung
) -> Reply:
    """A transport without litellm, so that the process to be killed starts at once."""
    body = {"model": judge.model, "messages": [dict(m) for m in messages], "seed": judge.params["seed"]}
    request = urllib.request.Request(
        f"{judge.api_base}/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
    )

    def send() -> str:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return str(json.loads(answer.read())["choices"][0]["message"]["content"])

    return replied(await asyncio.to_thread(send), json.dumps(body))


def definitions(base: str) -> tuple[JudgeDefinition, ...]:
    return judges(f'name = "j"\nmodel = "fake"\napi_base = "{base}"\nconcurrency = {CONCURRENCY}\n{PRICE}')


def work(url: str, study: int, base: str) -> None:
    """What a process that may be killed does."""
    run_judges(open_database(url), study, definitions(base), transport=plain_http, lease_s=LEASE_S)


@pytest.fixture(autouse=True)
def _plain_main(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new process runs the file of `__main__` again, and tests of Streamlit pages leave a page's script there."""
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))


def worker(url: str, study: int, fake: Fake) -> BaseProcess:
    """One more worker, in a process that has everything imported."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    process = context.Process(target=work, args=(url, study, fake.base), daemon=True)
    process.start()
    return process


def until(fake: Fake, billed: int, process: BaseProcess) -> None:
    """Wait for the provider to have billed that many calls."""
    deadline = time.monotonic() + 60
    while fake.stats()["billed"] < billed:
        assert process.is_alive(), "the worker ended by itself"
        assert time.monotonic() < deadline, "the worker does not get on"
        time.sleep(0.005)


def done(engine: Engine) -> set[int]:
    with reading(engine) as session:
        return set(session.scalars(select(JudgeCall.id).where(JudgeCall.state == "done")))


def tried(engine: Engine) -> Counter[int]:
    return Counter(attempt.call_id for attempt in attempts(engine))


def holders(engine: Engine) -> int:
    """How many workers hold leases."""
    with reading(engine) as session:
        leased = select(JudgeCall.worker).where(JudgeCall.state == "leased").distinct()
        return len(session.scalars(leased).all())


def test_ten_kills_of_a_thousand_calls_cost_no_more_than_what_was_in_flight(
    engine: Engine, database_url: str, fake: Fake
) -> None:
    fake.reset(latency_ms=15)
    study = make_study(engine, 500)
    plan_judges(engine, study, definitions(fake.base), describe=describe)
    draw = random.Random(4711)
    before: dict[int, int] = {}
    for billed in sorted(draw.sample(range(20, 900), KILLS)):
        process = worker(database_url, study, fake)
        until(fake, billed, process)
        process.kill()
        process.join()
        now = tried(engine)
        assert all(now[call] == count for call, count in before.items()), "no call that was done is made again"
        before = {call: now[call] for call in done(engine)}
    assert 0 < len(before) < 1000

    summary = run_judges(engine, study, definitions(fake.base), transport=plain_http, lease_s=LEASE_S)
    assert summary.judges[0].complete
    after = tried(engine)
    assert all(after[call] == count for call, count in before.items())
    abandoned = sum(attempt.kind == "abandoned" for attempt in attempts(engine))
    assert fake.stats()["dup_billed"] <= KILLS * CONCURRENCY + ON_THE_WIRE
    assert fake.stats()["dup_billed"] <= abandoned, "every call that may be paid twice is told of"
    assert fake.stats()["billed"] == 1000 + fake.stats()["dup_billed"]
    found = labels(engine)
    assert len(found) == 1000 * 3
    assert all(verdict(row) == ("A" if row["item"] % 2 == 1 else "B") for row in found), "as in an undisturbed run"
    assert account(engine).reserved == pytest.approx(0, abs=1e-9)


def test_a_reply_that_the_database_had_no_time_for_is_not_paid_again(
    engine: Engine, database_url: str, fake: Fake
) -> None:
    """The database is held by somebody else when the replies come, and still is when the process is killed."""
    fake.reset(latency_ms=600)
    study = make_study(engine, 20)
    plan_judges(engine, study, definitions(fake.base), describe=describe)
    process = worker(database_url, study, fake)
    deadline = time.monotonic() + 60
    while fake.stats()["inflight"] < CONCURRENCY // 2:
        assert time.monotonic() < deadline, "the worker does not get on"
        time.sleep(0.005)
    with transaction(engine) as session:
        session.execute(update(Judge).values(rung=0))  # a row that every commit of the worker needs
        until(fake, CONCURRENCY, process)
        while fake.stats()["inflight"]:  # what had been claimed ahead went out meanwhile
            assert time.monotonic() < deadline, "more goes out than was claimed"
            time.sleep(0.005)
        time.sleep(0.25)
        process.kill()
        process.join()
    assert attempts(engine) == [], "nothing of it was in the database"
    summary = run_judges(engine, study, definitions(fake.base), transport=plain_http, lease_s=LEASE_S)
    assert (summary.judges[0].complete, summary.abandoned) == (True, 0)
    assert (fake.stats()["billed"], fake.stats()["dup_billed"]) == (40, 0)


def test_one_of_two_workers_is_killed_and_the_other_finishes(engine: Engine, database_url: str, fake: Fake) -> None:
    fake.reset(latency_ms=30)
    study = make_study(engine, 150)
    plan_judges(engine, study, definitions(fake.base), describe=describe)
    doomed, survivor = worker(database_url, study, fake), worker(database_url, study, fake)
    deadline = time.monotonic() + 60
    while holders(engine) < 2:
        assert time.monotonic() < deadline, "both were never at work at once"
        time.sleep(0.005)
    doomed.kill()
    over = done(engine)  # first: the other one goes on meanwhile
    before = tried(engine)
    finished = {call: before[call] for call in over}
    survivor.join(90)
    assert survivor.exitcode == 0
    assert call_states(engine) == {"done": 300}
    after = tried(engine)
    assert all(after[call] == count for call, count in finished.items())
    assert fake.stats()["dup_billed"] <= CONCURRENCY + ON_THE_WIRE
    assert len(labels(engine)) == 300 * 3
