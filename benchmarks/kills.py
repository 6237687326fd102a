"""kill -9 of a judge run every five seconds: `python benchmarks/kills.py`, ten minutes; `--minutes 3` for a look.

`calipers judge run` is started again and again on one study, through litellm, on the fake provider (1 s, 20 kB, 32 in
flight), and killed with all it started five seconds after its first request; at last it is let finish. Promised: no
reply that the provider sent more than .25 s before a kill is paid again; what the runs tell of as perhaps paid twice
covers what was; the money spent stays within max_cost and covers the bill; the doctor finds no rule broken.

Told besides: how old the oldest reply was that was paid again, and how many replies were paid twice of how many told.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from sqlalchemy import func, select

from benchmarks.promises import Figure, record
from db.connect import open_database, reading
from db.judge_tables import Judge, JudgeAttempt
from db.migrations import upgrade
from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import call_states, make_study
from tests.faults.judging import Judging

EVERY_S, CONCURRENCY, LATENCY_S, KILOBYTES, CALLS = 5.0, 32, 1.0, 20, 20_000
ON_DISK_S, BUDGET = 0.25, 500.0
MOST_S = 3 * LATENCY_S  # of a reply, with its jitter; a run that is started again takes longer to send
FAKE = ROOT / "tests" / "fake_llm.py"


class Many(Judging):
    """Runs with a budget and more in flight."""

    def __init__(self, url: str, folder: Path, fake: Fake) -> None:
        self.engine = open_database(url)
        super().__init__(url, self.engine, fake, folder)
        text = self._judges.read_text(encoding="utf-8").replace("concurrency = 4", f"concurrency = {CONCURRENCY}")
        text = text.replace("timeout_s = 5\n", "")  # on a slow machine a request that timed out is paid again too
        self._judges.write_text(f"{text.rstrip()}\nmax_cost = {BUDGET}\n", encoding="utf-8")


def kills(runs: Many, fake: Fake, minutes: float) -> list[float]:
    """When each run was killed, in the provider's seconds; until the time is over or nothing is left."""
    at: list[float] = []
    ends = time.time() + 60 * minutes
    while time.time() < ends:
        before, run = fake.stats()["billed"], runs.start()
        runs.until_billed(before + 1, run)
        time.sleep(EVERY_S)
        if run.poll() is not None:
            break
        at.append(time.time())
        runs.kill(run)
        print(f"killed {len(at)} times; {fake.stats()['billed']:,} replies", flush=True)
    return at


def main() -> int:
    given = argparse.ArgumentParser()
    given.add_argument("--minutes", type=float, default=10)
    given.add_argument("--calls", type=int, default=CALLS, help="of the study; fewer end it before the time is over")
    asked = given.parse_args()
    minutes = asked.minutes
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        ledger, url = folder / "ledger.jsonl", f"sqlite:///{folder}/judge.db"
        command = [sys.executable, str(FAKE), "--port", "0", "--ledger", str(ledger)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                fake = Fake(process.stdout.readline().split()[1], ledger)
                fake.reset(latency_ms=1000 * LATENCY_S, jitter=0.3)
                upgrade(url)
                runs, words = Many(url, folder, fake), "several words of a report " * (KILOBYTES * 1000 // 52)
                calls = min(asked.calls, round(minutes * 60 * CONCURRENCY / LATENCY_S))
                make_study(
                    runs.engine, calls // 2,
                    text=lambda number, side: f"[[q={0.9 if side == 'A' else 0.1}]] {number} {side} {words}",
                )  # fmt: skip
                at = kills(runs, fake, minutes)
                fake.set(latency_ms=20)
                runs.finish(runs=100, timeout=3600)
                figures = found(runs, fake, at)
            finally:  # whatever happened, nobody waits for a provider that never ends
                process.terminate()
    record(figures)
    for figure in figures:
        print(figure)
    return int(any(not figure.kept for figure in figures))


def before_its_kill(reply: float, kills: list[float]) -> float:
    """Seconds from a reply that was paid again to the kill of who had asked; infinite where nobody was killed.

    The provider answers who is gone too, until the last request of before the kill has had its time: 0. No run is back
    by then.
    """
    if any(kill <= reply < kill + MOST_S for kill in kills):
        return 0.0
    return min((kill - reply for kill in kills if kill > reply), default=math.inf)


def found(runs: Many, fake: Fake, at: list[float]) -> list[Figure]:
    bill, sent = fake.bill(), defaultdict(list)
    for line in bill:
        sent[line["prompt"]].append(line["t"])
    twice = [sorted(times) for times in sent.values() if len(times) > 1]
    ages = [before_its_kill(first, at) for times in twice for first in times[:-1]]
    proved = runs.prove()
    with reading(runs.engine) as session:
        told = session.scalar(select(func.count()).where(JudgeAttempt.kind == "abandoned")) or 0
        spent, reserved = session.execute(select(Judge.spent, Judge.reserved)).one()
    print(json.dumps({"states": call_states(runs.engine), "doctor": proved}))
    return [
        Figure("kills", len(at)),
        Figure("calls", len(sent)),
        Figure("replies paid twice", len(ages), high=told),
        Figure("told as perhaps paid twice", told),
        Figure("oldest reply that was paid again, before its kill", max(ages, default=0.0), "s", high=ON_DISK_S),
        Figure("spent of the budget", spent + reserved, "USD", high=BUDGET),
    ]


if __name__ == "__main__":
    sys.exit(main())
