"""kill -9 while a batch is being created: the provider has it, nobody knows its name, and it is not sent again."""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Callable
from types import ModuleType

import pytest
from sqlalchemy import Engine

from annotation.judges.planning.plan import plan_judges
from annotation.judges.running.run import run_judges
from db.connect import open_database
from tests.annotation.judges.batched_study import batch_ids, judge, only, run_until
from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import attempts, call_states, judges, make_study

LEASE_S = 3.0  # longer than the provider takes


def work(url: str, study: int, toml: str) -> None:
    """What the process that is killed does."""
    run_judges(open_database(url), study, judges(toml), lease_s=LEASE_S)


def until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.parametrize("moment", ["marked", "asked"])
def test_kill_9_while_a_batch_is_created(
    engine: Engine, database_url: str, fake: Fake, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    # a new process runs the file of `__main__` again, and tests of Streamlit pages leave a page's script there
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    fake.reset(batch_create_s=1.0)
    study = make_study(engine, 3)
    plan_judges(engine, study, judges(judge(fake)))
    process = multiprocessing.get_context("spawn").Process(
        target=work, args=(database_url, study, judge(fake)), daemon=True
    )
    process.start()
    until(lambda: call_states(engine) == {"submitted": 6})
    if moment == "asked":
        until(lambda: fake.stats()["creates"] == 1)
    process.kill()
    process.join()
    assert all(str(batch).startswith("pending:") for batch in batch_ids(engine))
    last = run_until(engine, study, judge(fake), lambda summary: only(summary).complete)
    assert only(last).labels == {"ok": 18}
    assert (fake.stats()["creates"], fake.stats()["dup_billed"], len(attempts(engine))) == (1, 0, 6)
