"""What `make` installs: uv first where it can be had, for running only what running needs, for tests the rest."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    ("target", "tests_too"), [("install-run", False), ("run", False), ("install", True), ("test", True)]
)
def test_uv_comes_first_and_only_what_needs_the_tests_installs_them(
    target: str, tests_too: bool, tmp_path: Path
) -> None:
    done = subprocess.run(["make", "-n", target, f"VENV={tmp_path}/new"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    order = ["-m venv", "-r requirements-uv.lock", "-r requirements.lock", "-e ."]
    places = [done.stdout.index(one) for one in order]
    assert places == sorted(places)
    assert ("-r requirements-test.lock" in done.stdout) is tests_too


@pytest.mark.parametrize("uv", ["missing", "fails", "works"])
def test_pip_installs_what_uv_does_not(uv: str, tmp_path: Path) -> None:
    """With programs that only write down how they are called."""
    programs, called = tmp_path / "programs", tmp_path / "called"
    programs.mkdir()
    venv = tmp_path / "venv" / "bin"
    venv.mkdir(parents=True)
    note = f"#!/bin/sh\necho {{}} $* >> {called}\nexit {{}}\n"
    fetched = 1 if uv == "missing" else 0
    (programs / "python").write_text("#!/bin/sh\nexit 0\n")
    (venv / "python").write_text(
        f'#!/bin/sh\necho pip $* >> {called}\ncase "$*" in *-uv.lock*) exit {fetched};; esac\n'
    )
    if uv != "missing":
        (venv / "uv").write_text(note.format("uv", 1 if uv == "fails" else 0))
    for one in [*programs.iterdir(), *venv.iterdir()]:
        one.chmod(0o755)
    command = ["make", "install", f"VENV={tmp_path}/venv", f"PYTHON={programs}/python"]
    env = os.environ | {"PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    last = [line.split()[0] for line in called.read_text().splitlines() if "requirements.lock" in line]
    assert last[-1] == ("uv" if uv == "works" else "pip")
    whole = [line.split()[0] for line in called.read_text().splitlines() if "requirements-test.lock" in line]
    assert whole[-1] == ("uv" if uv == "works" else "pip")
