"""The judge's unit file of docs/deployment, started as it is written."""

from __future__ import annotations

import shlex
import signal
import subprocess
from pathlib import Path

from db.connect import open_database
from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import PRICE, call_states, make_study
from tests.machines.test_deployment import environment, setting, started, unit, until


def test_the_judge_unit_works_through_its_study_and_ends_when_asked(
    url: str, tmp_path: Path, fake: Fake, processes: list[subprocess.Popen[bytes]]
) -> None:
    engine = open_database(url)
    make_study(engine, 3)
    judge = f'[[judge]]\nname = "j"\nmodel = "openai/fake"\napi_base = "{fake.base}"\n{PRICE}\n'
    (tmp_path / "judges.toml").write_text(judge, encoding="utf-8")
    text = unit("calipers-judge@.service", i="small", etc=str(tmp_path))
    settings = environment(url, 1)
    words = shlex.split(setting(text, "ExecStart"))
    run = [*words[:2], "run", *words[3:-1], "--limit", "1"]  # plans, as a person does once
    subprocess.run(run, env=settings, cwd=tmp_path, check=False, capture_output=True, timeout=180)
    process = started(text, settings, tmp_path / "state")
    processes.append(process)
    until(lambda: call_states(engine) == {"done": 6}, process)
    until(lambda: "waiting for requests" in (tmp_path / "state" / "log").read_text(), process)
    process.send_signal(signal.SIGTERM)
    assert str(process.wait(timeout=60)) == setting(text, "SuccessExitStatus")
    assert fake.stats()["dup_billed"] == 0
    engine.dispose()
