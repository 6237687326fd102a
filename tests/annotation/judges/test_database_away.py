"""Postgres ends the connection under a run, also right after a COMMIT of which nobody hears: once is still once."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from annotation.facts.soundness import find_faults
from annotation.judges.planning.plan import plan_judges
from annotation.judges.running.run import run_judges
from annotation.judges.running.writer import Writer
from db import connect
from db.connect import reading
from db.errors import DatabaseAway
from tests.annotation.judges.judged_study import (
    PRICE,
    Stub,
    account,
    attempts,
    call_states,
    describe,
    judges,
    judgments,
    labels,
    make_study,
)

JUDGE = f'name = "mini"\nmodel = "openai/x"\nconcurrency = 4\nmax_output_tokens = 200\nmax_cost = 1.0\n{PRICE}\n'


@contextmanager
def losing_every(number: int, engine: Engine, *, before: bool) -> Iterator[None]:
    """Every so many commits of the run's threads the connection is lost, right before or right after it was carried out."""
    commit, count = engine.dialect.do_commit, itertools.count(1)
    others = sa.create_engine(engine.url, isolation_level="AUTOCOMMIT")

    def lose(connection: Any) -> None:
        at_work = threading.current_thread() is not threading.main_thread()  # which plans, and sums up in the end
        lost = at_work and next(count) % number == 0
        if not (lost and before):
            commit(connection)
        if lost:
            with others.connect() as other:
                pid = connection.dbapi_connection.info.backend_pid
                other.execute(sa.text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": pid})
            connection.cursor().execute("SELECT 1")

    engine.dialect.do_commit = lose  # type: ignore[method-assign]
    yield
    engine.dialect.do_commit = commit  # type: ignore[method-assign]
    others.dispose()


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
@pytest.mark.parametrize("before", [True, False], ids=["before COMMIT", "after COMMIT, before its word"])
@pytest.mark.parametrize("every", [2, 3])
def test_every_second_or_third_commit_is_lost_and_everything_is_stored_and_paid_once(
    engine: Engine, every: int, before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "FIRST_S", 0.001)
    study, definitions = make_study(engine, 6), judges(JUDGE)
    plan_judges(engine, study, definitions, describe=describe)
    stub = Stub(lambda text, number: judgments(text) if number % 3 else "prose, so that it is asked again")
    with losing_every(every, engine, before=before):
        (judge,) = run_judges(engine, study, definitions, transport=stub).judges
    assert judge.complete
    assert call_states(engine) == {"done": 12}
    tries = attempts(engine)
    assert len(tries) == len(stub.requests) > 12, "as many tries as requests, none twice"
    assert {one.kind for one in tries} == {"first", "reask"}
    assert account(engine).spent == pytest.approx(sum(one.cost or 0 for one in tries), abs=1e-9)
    assert account(engine).reserved == pytest.approx(0, abs=1e-9)
    assert len(labels(engine)) == 36
    with reading(engine) as session:
        assert find_faults(session) == []


def test_what_cannot_be_written_is_given_up_together_and_not_one_after_the_other(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "AWAY_S", 0)
    tries: list[int] = []

    def together(session: Session, changes: Sequence[int]) -> Sequence[int]:
        tries.append(len(changes))
        raise DatabaseAway("gone")

    async def write() -> list[object]:
        with ThreadPoolExecutor(1) as thread:
            writer = Writer[int](engine, thread, together)
            return await asyncio.gather(*map(writer.change, range(3)), return_exceptions=True)

    assert [type(one) for one in asyncio.run(write())] == [DatabaseAway] * 3
    assert tries == [3]
