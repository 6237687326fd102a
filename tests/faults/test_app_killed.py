"""kill -9 of the app while people work, again and again: what was acknowledged is there, once."""

from __future__ import annotations

import random
import signal
from pathlib import Path

from tests.browser.conftest import Server
from tests.faults.crowd import a_study, at_work, prove

KILLS = 4


def test_what_was_acknowledged_outlives_every_kill_and_nobody_does_anything_twice(
    server: Server, draw: random.Random, tmp_path: Path
) -> None:
    study = a_study(server.engine)
    with at_work(server, study) as crowd:
        for _ in range(KILLS):
            crowd.more(draw.randint(1, 80))
            server.stop(signal.SIGKILL)
            server.start()
        crowd.more(40)
    assert crowd.tally.retries, "the kills were felt"
    prove(server.url, server.engine, study, crowd.tally, tmp_path)
