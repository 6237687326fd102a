"""In a project with an app.py, a db.py, an annotation/ and an exports/ of its own, command and notebook both work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from calipers.own_folders import NAMES, command_of
from tests.calibration.studies import made_pairs

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = """
import exports  # theirs, loaded before ours
import calipers

labels = calipers.read("labels.csv", resamples=99)
assert labels.check().sentence and len(labels.agreement()), "answers"
assert labels.plot()._repr_html_(), "drawn later than asked for"
import app, annotation, calibration, db, annotation.inner
print([module.WHOSE for module in (exports, app, annotation, calibration, db, annotation.inner)])
labels.choose()
import exports as again
assert again is exports and labels.frame is not None
"""


SLOW_CALIBRATE = pytest.param(("calibrate", "labels.csv", "--resamples", "99"), marks=pytest.mark.slow)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Files and folders of somebody else under each of our names, and a labels file."""
    for name in ("app", "db", "calibration", "plain"):
        (tmp_path / f"{name}.py").write_text("WHOSE = 'theirs'\n")
    for name in ("annotation", "exports"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("WHOSE = 'theirs'\n")
        (tmp_path / name / "inner.py").write_text("WHOSE = 'theirs'\n")
    made_pairs().to_csv(tmp_path / "labels.csv", index=False)
    assert {*NAMES} == {path.stem for path in tmp_path.iterdir()} - {"labels"}
    return tmp_path


def ended(project: Path, *command: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"PYTHONPATH": os.pathsep.join([".", str(ROOT)]), "CALIPERS_DATABASE_URL": "sqlite:///own.db"}
    return subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    "words",
    [("doctor", "labels.csv"), SLOW_CALIBRATE, ("init", "--list")],
    ids=lambda words: words[0],
)
def test_the_command_takes_its_own_folders(project: Path, words: tuple[str, ...]) -> None:
    done = ended(project, sys.executable, "-m", "calipers", *words)
    assert done.returncode == 0, done.stderr
    assert not done.stderr or "Traceback" not in done.stderr


def test_a_process_that_the_command_starts_takes_them_too(project: Path) -> None:
    done = ended(project, *command_of("app.command_line", "--version"))
    assert done.stdout.startswith("calipers "), done.stderr


@pytest.mark.slow
def test_a_notebook_has_ours_while_a_call_lasts_and_theirs_before_and_after(project: Path) -> None:
    done = ended(project, sys.executable, "-c", NOTEBOOK)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(["theirs"] * 6)
