"""kill -9 of a judge run every five seconds: `python benchmarks/kills.py`, eight minutes; `--minutes 1` for a look.

`calipers judge run` is started again and again on one study, through litellm, on the fake provider (1 s, 20 kB, 32 in
flight), and killed with all it started five seconds after its first request; at last it is let finish. For half of the
time it is two processes, as `--workers auto` makes of it where one is held up, and by turns one of these is killed, the
process that started them alone, or all: those whose parent is gone finish what is in flight and end. Promised: no
reply that the provider sent more than .25 s before a kill is paid again; what the runs tell of as perhaps paid twice
covers what was; the money spent stays within max_cost and covers the bill; the doctor finds no rule broken. Then, for a
third of the time, the same of a judge of one's own code (1 s, 8 in flight), which keeps a bill of its answers itself.

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
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import psutil
from sqlalchemy import func, select

from benchmarks.promises import Figure, record
from db.connect import open_database, reading
from db.judge_tables import Judge, JudgeAttempt
from db.migrations import upgrade
from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import PRICE, call_states, make_study
from tests.faults.crowd import calipers
from tests.faults.judging import Judging

EVERY_S, CONCURRENCY, LATENCY_S, KILOBYTES, CALLS = 5.0, 32, 1.0, 20, 20_000
ON_DISK_S, BUDGET = 0.25, 500.0
MINUTES, OWN_SHARE, OWN_AT_ONCE = 4.0, 1 / 3, 8
OWN = """
import asyncio, hashlib, json, os, pathlib, time

HERE = pathlib.Path(__file__).parent

async def judge(item):
    await asyncio.sleep(float((HERE / "latency").read_text()))
    asked = json.dumps({name: value for name, value in item.items() if name != "id"}, sort_keys=True)
    line = json.dumps({"prompt": hashlib.sha256(asked.encode()).hexdigest(), "t": time.time()})
    bill = os.open(HERE / "own.jsonl", os.O_WRONLY | os.O_APPEND)
    os.write(bill, line.encode() + b"\\n")
    os.close(bill)
    return {"answers": {one["id"]: "first" for one in item["criteria"]}, "cost": 0.001}
"""
MOST_S = 3 * LATENCY_S  # of a reply, with its jitter; a run that is started again takes longer to send
FAKE = ROOT / "tests" / "fake_llm.py"


class Many(Judging):
    """Runs with a budget and more in flight."""

    def __init__(self, url: str, folder: Path, fake: Fake) -> None:
        self.engine = open_database(url)
        super().__init__(url, self.engine, fake, folder)
        self.processes, self._turn = 1, 0
        text = self._judges.read_text(encoding="utf-8").replace("concurrency = 4", f"concurrency = {CONCURRENCY}")
        text = text.replace("timeout_s = 5\n", "")  # on a slow machine a request that timed out is paid again too
        self._judges.write_text(f"{text.rstrip()}\nmax_cost = {BUDGET}\n", encoding="utf-8")

    def killed(self, run: subprocess.Popen[str]) -> list[float]:
        """Kill it, and say when; workers by turns: one and then all, or their parent alone."""
        at, workers = [time.time()], psutil.Process(run.pid).children() if self.processes > 1 else []
        self._turn += 1
        if workers and self._turn % 3 == 1:
            workers[0].kill()
            time.sleep(EVERY_S / 2)
            at.append(time.time())
        elif workers and self._turn % 3 == 2:
            run.kill()
            run.wait()
            _, living = psutil.wait_procs(workers, timeout=30)
            assert not living, "a worker goes on without the process that started it"
        self.kill(run)
        return at


class OwnCode(Fake):
    """A judge of one's own code in `folder`, asked as if it were a provider what it has answered."""

    def __init__(self, folder: Path) -> None:
        super().__init__("", folder / "own.jsonl")
        self.folder = folder
        (folder / "own.py").write_text(OWN, encoding="utf-8")
        (folder / "own.jsonl").touch()
        self.set(latency_ms=1000 * LATENCY_S)

    def set(self, **options: Any) -> None:
        (self.folder / "latency").write_text(str(options["latency_ms"] / 1000))

    def stats(self) -> dict[str, Any]:
        return {"billed": len(self.bill())}


class ManyOfOwnCode(Many):
    """Runs of that judge."""

    def __init__(self, url: str, folder: Path, own: OwnCode) -> None:
        super().__init__(url, folder, own)
        judge = (
            f'[[judge]]\nname = "j"\npython = "own:judge"\nconcurrency = {OWN_AT_ONCE}\nmax_cost = {BUDGET}\n{PRICE}\n'
        )
        self._judges.write_text(judge, encoding="utf-8")

    def prove(self) -> dict[str, Any]:
        doctor = calipers(self._url, "doctor", "--json")
        assert doctor.returncode == 0, doctor.stdout + doctor.stderr
        return {}


def kills(runs: Many, fake: Fake, minutes: float) -> list[float]:
    """When each run was killed, in the provider's seconds; until the time is over or nothing is left."""
    at: list[float] = []
    ends = time.time() + 60 * minutes
    while time.time() < ends:
        before, run = fake.stats()["billed"], runs.start(runs.processes)
        runs.until_billed(before + 1, run)
        time.sleep(EVERY_S)
        if run.poll() is not None:
            break
        at += runs.killed(run)
        print(f"killed {len(at)} times; {fake.stats()['billed']:,} replies", flush=True)
    return at


def main() -> int:
    given = argparse.ArgumentParser()
    given.add_argument("--minutes", type=float, default=MINUTES)
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
                calls = min(asked.calls, round(1.5 * minutes * 60 * CONCURRENCY / LATENCY_S))
                make_study(
                    runs.engine, calls // 2,
                    text=lambda number, side: f"[[q={0.9 if side == 'A' else 0.1}]] {number} {side} {words}",
                )  # fmt: skip
                at = kills(runs, fake, minutes / 2)
                runs.processes = 2
                at += kills(runs, fake, minutes / 2)
                fake.set(latency_ms=20)
                runs.finish(runs=100, timeout=3600)
                figures = found(runs, fake, at) + of_own_code(folder / "own", OWN_SHARE * minutes)
            finally:  # whatever happened, nobody waits for a provider that never ends
                process.terminate()
    record(figures)
    for figure in figures:
        print(figure)
    return int(any(not figure.kept for figure in figures))


def of_own_code(folder: Path, minutes: float) -> list[Figure]:
    folder.mkdir()
    own, url = OwnCode(folder), f"sqlite:///{folder}/judge.db"
    upgrade(url)
    runs = ManyOfOwnCode(url, folder, own)
    make_study(runs.engine, max(1, round(minutes * 60 * OWN_AT_ONCE / LATENCY_S / 2)))
    at = kills(runs, own, minutes)
    own.set(latency_ms=20)
    runs.finish(runs=100, timeout=3600)
    return [replace(figure, name=f"own code: {figure.name}") for figure in found(runs, own, at)]


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
