"""`calipers import gold` and `calipers people --pass-training`, as a user types them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner, Result

from app.command_line import app
from tests.small_study import write_reports
from tests.trained_study import AGREED, TRAINED, gold_file

Run = Callable[..., Result]


@pytest.fixture
def run(engine_here: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A study with reports and agreed answers beside it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(TRAINED, encoding="utf-8")
    write_reports(tmp_path / "reports")
    gold_file(tmp_path / "agreed.csv", AGREED)
    gold_file(tmp_path / "wrong.csv", [("rain", "alpha", "beta", "clear", "alpha", "")])
    invoke: Run = lambda *words: CliRunner().invoke(app, [*words])  # noqa: E731
    init = invoke("init", "s", "--protocol", "small.toml")
    assert (init.exit_code, "does not act on it" in init.stderr) == (0, False)
    assert invoke("import", "reports", "reports", "--layout", "folder").exit_code == 0
    return invoke


def test_what_is_planned_for_labels_cannot_become_gold_and_the_study_does_not_open_without(run: Run) -> None:
    assert run("pairs", "--design", "all", "--apply").exit_code == 0
    too_late = run("import", "gold", "agreed.csv", "--use", "training")
    assert too_late.exit_code == 1
    assert "has slots for labels" in str(too_late.exception)
    assert "trains its people on 3 items and has 0" in str(run("open", "s").exception)


def test_gold_before_the_plan_opens_the_study_and_somebody_is_passed_by_hand(run: Run) -> None:
    dry = run("import", "gold", "agreed.csv", "--use", "training", "--dry-run")
    assert (dry.stdout, "nothing was written" in dry.stderr) == (
        "training: 3 items made, 0 changed, 0 unchanged\n",
        True,
    )
    made = run("import", "gold", "agreed.csv", "--use", "training", "--json")
    assert json.loads(made.stdout) == {"made": 3, "changed": 0, "unchanged": 0}
    problems = json.loads(run("import", "gold", "wrong.csv", "--use", "training", "--json").stdout)["problems"]
    assert problems == ["wrong.csv:2: no topic 'rain' in the study"]
    assert run("pairs", "--design", "all", "--apply").exit_code == 0
    assert run("open", "s").exit_code == 0
    assert run("invite", "s", "Ada").exit_code == 0
    assert "needs a reason" in str(run("people", "s", "--pass-training", "Ada").exception)
    passed = run("people", "s", "--pass-training", "Ada", "--reason", "knows it well", "--json")
    assert [one["training"] for one in json.loads(passed.stdout)] == ["passed"]
