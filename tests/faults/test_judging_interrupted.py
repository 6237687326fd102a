"""The network drops between a worker and its provider or its database, and Postgres dies, in the middle of a run."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import call_states, make_study
from tests.faults.conftest import Database
from tests.faults.judging import Judging
from tests.faults.own_postgres import OwnPostgres
from tests.faults.wire import Wire

PAIRS = 40


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("how", ["cut", "silent"])
def test_a_provider_behind_a_line_that_drops_is_billed_for_nothing_that_the_ledger_does_not_know(
    how: str, database: Database, fake: Fake, wires: Callable[[int], Wire], draw: random.Random, tmp_path: Path
) -> None:
    fake.reset(latency_ms=60.0, jitter=0.5)
    make_study(database.engine, PAIRS)
    wire = wires(int(fake.base.split(":")[2].split("/")[0]))
    judging = Judging(database.url, database.engine, fake, tmp_path, f"http://127.0.0.1:{wire.port}/v1")
    run = judging.start()
    for moment in sorted(draw.sample(range(5, 2 * PAIRS - 20), 2)):
        judging.until_billed(moment, run)
        wire.cut() if how == "cut" else wire.silence()
        assert not _ended(run, draw.uniform(0.2, 1.5)), judging.said()
        wire.mend(forgotten=how == "silent")
    assert run.wait(timeout=240) in (0, 1)
    judging.finish()
    assert call_states(database.engine) == {"done": 2 * PAIRS}
    found = judging.prove()
    assert found["unstored"] <= found["unknown"]


@pytest.mark.parametrize("what", ["postgres killed", "line cut", "line silent"])
def test_a_run_goes_on_when_its_database_is_back_and_no_paid_reply_is_lost(
    what: str, own_postgres: OwnPostgres, fake: Fake, wires: Callable[[int], Wire], draw: random.Random, tmp_path: Path
) -> None:
    fake.reset(latency_ms=60.0, jitter=0.5)
    database = Database(own_postgres.url)
    make_study(database.engine, PAIRS)
    wire = wires(own_postgres.port)
    url = own_postgres.url.replace(f":{own_postgres.port}/", f":{wire.port}/")
    judging = Judging(url, database.engine, fake, tmp_path)
    run = judging.start()
    for moment in sorted(draw.sample(range(5, 2 * PAIRS - 20), 2)):
        judging.until_billed(moment, run)
        if what == "postgres killed":
            own_postgres.kill()
            own_postgres.start()
        else:
            wire.cut() if what == "line cut" else wire.silence()
            _ended(run, draw.uniform(0.2, 1.5))
            wire.mend(forgotten=what == "line silent")
    assert run.wait(timeout=240) == 0, judging.said()
    assert call_states(database.engine) == {"done": 2 * PAIRS}
    found = judging.prove()
    assert (found["stored"], found["unstored"]) == (2 * PAIRS, 0), "nothing is paid twice"
    database.engine.dispose()


def _ended(run: subprocess.Popen[str], within: float) -> bool:
    """Whether the run ended within so many seconds."""
    try:
        run.wait(timeout=within)
    except subprocess.TimeoutExpired:
        return False
    return True
