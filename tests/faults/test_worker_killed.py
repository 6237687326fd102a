"""kill -9 of judge workers at random moments, at a provider that fails too: the ledger stays equal to the bill.

How often a kill may pay twice is measured in tests/faults/test_judges_killed.py; here the command line, its
workers and the doctor are the real ones.
"""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import psutil

from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import labels, make_study
from tests.faults.conftest import Database
from tests.faults.judging import Judging

PAIRS = 40
FAULTY = {"latency_ms": 60.0, "jitter": 0.5, "retry_after_ms": 50} | dict.fromkeys(
    ("p_429", "p_500", "p_drop", "p_malformed", "p_refusal"), 0.03
)


def test_after_kills_of_one_worker_and_of_all_every_reply_that_arrived_is_in_the_ledger_at_its_price(
    database: Database, fake: Fake, draw: random.Random, tmp_path: Path
) -> None:
    fake.reset(**FAULTY)
    make_study(database.engine, PAIRS)
    judging = Judging(database.url, database.engine, fake, tmp_path)
    for moment in sorted(draw.sample(range(5, 2 * PAIRS - 20), 2)):
        run = judging.start(workers=2)
        judging.until_billed(moment, run)
        workers = psutil.Process(run.pid).children() if run.poll() is None else []
        if workers and draw.random() < 0.5:
            os.kill(draw.choice(workers).pid, signal.SIGKILL)
            judging.until_billed(moment + draw.randint(1, 10), run)
        judging.kill(run)
    judging.finish()
    found = judging.prove()
    assert found["stored"] + found["unstored"] == found["billed"] == fake.stats()["billed"]
    assert {(row["item"], row["pass_no"], row["code"]) for row in labels(database.engine)} == {
        (item, number, code)
        for item in range(1, PAIRS + 1)
        for number in (1, 2)
        for code in ("c_one", "c_two", "d_one")
    }
