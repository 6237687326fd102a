"""kill -9 of Postgres, whole or of one of its processes, while people work."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.browser.conftest import Server
from tests.faults.crowd import a_study, at_work, prove
from tests.faults.own_postgres import OwnPostgres

KILLS = 4


@pytest.mark.parametrize("server", ["postgres"], indirect=True)
@pytest.mark.parametrize("whole", [True, False], ids=["the whole server", "one connection's process"])
def test_the_app_goes_on_with_a_postgres_that_was_killed_and_is_back_at_once(
    whole: bool, server: Server, own_postgres: OwnPostgres, draw: random.Random, tmp_path: Path
) -> None:
    study = a_study(server.engine)
    with at_work(server, study) as crowd:
        for _ in range(KILLS):
            crowd.more(draw.randint(1, 80))
            if whole:
                own_postgres.kill()
                own_postgres.start()
            else:
                own_postgres.kill_one(draw.randrange(100))
        crowd.more(40)
    assert crowd.tally.retries, "the kills were felt"
    assert server.process is not None
    assert server.process.poll() is None, "the app is the one that was started"
    prove(server.url, server.engine, study, crowd.tally, tmp_path)
