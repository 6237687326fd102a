"""The wheel in an environment of its own, beside a project whose files and folders have the names of ours."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.request
import venv
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from calipers.own_folders import NAMES
from tests.calibration.studies import made_pairs

pytestmark = pytest.mark.slow  # builds, installs, and starts processes
ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = """
import app, exports  # theirs
import calipers
from pathlib import Path
assert Path(calipers.__file__).is_relative_to(Path(__import__("sys").prefix)), calipers.__file__
labels = calipers.read("labels.csv", resamples=99)
print(labels.choose().sentence)
assert app.WHOSE == exports.WHOSE == "theirs"
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a new environment with the wheel, and what it needs from the environment of the tests.

    That one's own path is read as a plain folder, so that the tree it was installed from is not found through it.
    """
    folder = tmp_path_factory.mktemp("wheel")
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    venv.create(folder / "env", with_pip=False)
    python = folder / "env" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--no-index", "--no-deps", str(wheel)], check=True, capture_output=True)
    own = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    (Path(own) / "needed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python.parent


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for name in NAMES:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("WHOSE = 'theirs'\n")
    (folder / "app.py").write_text("WHOSE = 'theirs'\n")
    (folder / "db.py").write_text("raise RuntimeError('the database of somebody else')\n")
    made_pairs().to_csv(folder / "labels.csv", index=False)
    return folder


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CALIPERS", "PYTHON"))}
    return kept | {"PYTHONPATH": ".", "CALIPERS_DATABASE_URL": "sqlite:///own.db"}


def ended(project: Path, *command: str | Path) -> str:
    done = subprocess.run(command, cwd=project, env=environment(), capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, f"{command}: {done.stdout[-500:]}{done.stderr[-2000:]}"
    assert "Traceback" not in done.stderr
    return done.stdout


def test_command_and_notebook_answer_from_the_wheel(installed: Path, project: Path) -> None:
    said = ended(project, installed / "calipers", "calibrate", "labels.csv", "--resamples", "99", "--out", "report")
    assert "written to report" in said.lower()
    assert (project / "report" / "agreement.tex").is_file()
    sentence = ended(project, installed / "python", "-c", NOTEBOOK).strip()
    assert sentence
    assert " ".join(sentence.split())[:40] in " ".join(said.split())


def test_the_demo_is_made(installed: Path, project: Path) -> None:
    assert "http://127.0.0.1:8501" in ended(project, installed / "calipers", "demo")
    assert (project / "own.db").is_file()


def test_a_file_is_shown(installed: Path, project: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [installed / "calipers", "show", "labels.csv", "--port", str(port), "--no-browser"]
    log = project / "show.log"
    with (
        log.open("w") as out,
        subprocess.Popen(command, cwd=project, env=environment(), stdout=out, stderr=subprocess.STDOUT) as shown,
    ):
        try:
            assert answers(f"http://127.0.0.1:{port}/_stcore/health", shown), log.read_text()[-2000:]
        finally:
            shown.terminate()
            shown.wait(timeout=30)
    assert "Traceback" not in log.read_text()


def answers(url: str, process: subprocess.Popen[bytes]) -> bool:
    """Whether the address answers while the process lives, within two minutes."""
    until = time.monotonic() + 120
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return answer.status == 200
        except OSError:
            time.sleep(0.3)
    return False
