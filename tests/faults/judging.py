"""Judge runs as processes of the command line, on a provider that bills, while a test breaks something."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import Engine, update

from db.connect import transaction
from db.judge_tables import JudgeCall
from db.types import now
from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import PRICE, call_states
from tests.faults.crowd import calipers

CONCURRENCY = 4


class Judging:
    """`calipers judge run small` on this database, by workers that talk to `base`; more than one run may be at work."""

    def __init__(self, url: str, engine: Engine, fake: Fake, folder: Path, base: str | None = None) -> None:
        self._url, self._engine, self._fake, self._folder = url, engine, fake, folder
        self._judges = folder / "judges.toml"
        judge = f'[[judge]]\nname = "j"\nmodel = "openai/fake"\napi_base = "{base or fake.base}"\ntimeout_s = 5\n'
        self._judges.write_text(f"{judge}concurrency = {CONCURRENCY}\n{PRICE}\n", encoding="utf-8")
        self._runs: list[subprocess.Popen[str]] = []

    def start(self, workers: int = 1, settings: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "app.command_line", "judge", "run", "small", "--json"]
        command += ["--judges", str(self._judges), "--workers", str(workers)]
        environment = os.environ | {"CALIPERS_DATABASE_URL": self._url} | dict(settings or {})
        out, errors = ((self._folder / f"run-{len(self._runs)}.{name}").open("w+") for name in ("out", "err"))
        run = subprocess.Popen(command, env=environment, stdout=out, stderr=errors, text=True)
        self._runs.append(run)
        return run

    def until_billed(self, replies: int, run: subprocess.Popen[str]) -> None:
        """Until the provider has billed so many replies in all, or the run has ended."""
        deadline = time.monotonic() + 120
        while self._fake.stats()["billed"] < replies and run.poll() is None:
            assert time.monotonic() < deadline, f"the run does not get on: {self.said()}"
            time.sleep(0.01)

    def kill(self, run: subprocess.Popen[str]) -> None:
        """The run and all its workers, as a power cut; then the minute passes that their leases had left."""
        if run.poll() is None:
            for process in (*psutil.Process(run.pid).children(recursive=True), psutil.Process(run.pid)):
                process.send_signal(signal.SIGKILL)
        run.wait()
        out_of_time(self._engine)

    def finish(self, runs: int = 5, timeout: float = 240) -> None:
        """Started again until nothing is left: what failed for the provider's faults is given up after some tries."""
        for _ in range(runs):
            run = self.start()
            run.wait(timeout)
            if set(call_states(self._engine)) <= {"done", "failed"}:
                return
            out_of_time(self._engine)
        raise AssertionError(f"not finished after {runs} runs: {call_states(self._engine)}: {self.said()}")

    def said(self) -> str:
        """What every run complained of."""
        return "\n".join((self._folder / f"run-{n}.err").read_text()[-2000:] for n in range(len(self._runs)))

    def prove(self) -> dict[str, Any]:
        """The doctor finds no rule broken, and the ledger equal to the provider's bill; what it compared."""
        bill = self._folder / "bill.jsonl"
        bill.write_text("".join(f"{json.dumps(line)}\n" for line in self._fake.bill()))
        doctor = calipers(self._url, "doctor", "--provider", str(bill), "--json")
        assert doctor.returncode == 0, doctor.stdout + doctor.stderr
        found: dict[str, Any] = json.loads(doctor.stdout)["provider"]
        return found


def out_of_time(engine: Engine) -> None:
    """The minute passes in which a dead worker's calls are still its own; a living one never takes its own again."""
    with transaction(engine) as session:
        leased = update(JudgeCall).where(JudgeCall.state == "leased")
        session.execute(leased.values(lease_until=now() - timedelta(hours=1)))
