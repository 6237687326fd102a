"""`calipers judge run --workers 2`: processes that share a queue, interrupted and finished as one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from annotation.judges.judge_file import parse_judges
from annotation.judges.run import run_judges
from annotation.protocol import parse_protocol
from app.commands.judge_workers import shares
from db.connect import open_database
from db.migrations import upgrade
from tests.annotation.judges import conftest as provider
from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import PRICE, attempts, call_states, make_study, protocol_text

fake, fake_process = provider.fake, provider.fake_process


@pytest.mark.parametrize(
    ("limit", "workers", "each"),
    [(None, 2, [None, None]), (5, 2, [3, 2]), (2, 4, [1, 1]), (4, 4, [1, 1, 1, 1])],
)
def test_a_limit_is_shared_out(limit: int | None, workers: int, each: list[int | None]) -> None:
    assert shares(limit, workers) == each


def test_two_processes_share_the_work_and_a_ctrl_c_ends_both_in_good_order(tmp_path: Path, fake: Fake) -> None:
    fake.reset(latency_ms=150)
    url = f"sqlite:///{tmp_path}/x.db"
    upgrade(url)
    engine = open_database(url)
    study = make_study(engine, 60)
    toml = f'[[judge]]\nname = "j"\nmodel = "openai/fake"\napi_base = "{fake.base}"\nconcurrency = 4\n{PRICE}\n'
    (tmp_path / "judges.toml").write_text(toml, encoding="utf-8")
    command = [sys.executable, "-m", "app.command_line", "judge", "run", "small", "--workers", "2", "--json"]
    command += ["--judges", str(tmp_path / "judges.toml")]
    environment = os.environ | {"CALIPERS_DATABASE_URL": url}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as running:
        deadline = time.monotonic() + 90
        # one worker alone never has more than four in flight
        while fake.stats()["max_inflight"] <= 4:
            assert time.monotonic() < deadline
            assert running.poll() is None
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        first: dict[str, Any] = json.loads(running.communicate(timeout=60)[0])
    assert running.returncode == 130
    assert first["interrupted"]
    states = call_states(engine)
    assert set(states) == {"done", "planned"}
    assert 0 < first["judges"][0]["done"] == states["done"] < 120

    (finished,) = run_judges(engine, study, parse_judges(toml, parse_protocol(protocol_text()))).judges
    assert (finished.done, finished.labels) == (120, {"ok": 360})
    assert len(attempts(engine)) == fake.stats()["billed"] == 120, "nothing is paid twice"
    engine.dispose()
