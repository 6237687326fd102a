"""Tab in a shell: commands, studies, protocols and the words of an option, without a heavy library."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.commands.completing import protocols, studies, studies_or_labels
from app.settings import database
from tests.small_study import make_study

ROOT = Path(__file__).resolve().parents[2]
SHELLS = {
    "bash": {"COMP_WORDS": "{words}", "COMP_CWORD": "{last}"},
    "zsh": {"_TYPER_COMPLETE_ARGS": "{words}"},
    "fish": {"_TYPER_COMPLETE_ARGS": "{words}", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
}


def offered(shell: str, words: str, folder: Path) -> tuple[str, str]:
    """What the shell is given, and which heavy modules were loaded for it."""
    asked = {name: text.format(words=words, last=len(words.split(" ")) - 1) for name, text in SHELLS[shell].items()}
    code = (
        "import sys, atexit; atexit.register(lambda: print([m for m in ('sqlalchemy', 'pandas', 'streamlit') "
        "if m in sys.modules], file=sys.stderr)); sys.argv = ['calipers']; from app.command_line import main; main()"
    )
    env = {**asked, "_CALIPERS_COMPLETE": f"complete_{shell}", "PATH": "", "PYTHONPATH": str(ROOT),
           "CALIPERS_DATABASE_URL": os.environ["CALIPERS_DATABASE_URL"]}  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    return done.stdout, done.stderr.strip()


@pytest.mark.parametrize(
    ("shell", "words", "says"),
    [("bash", "calipers cali", "calibrate"), ("zsh", "calipers judge res", "resume"), ("fish", "calipers status ", "small")],
)  # fmt: skip
def test_a_shell_completes_commands_and_studies(
    engine_here: object, tmp_path: Path, shell: str, words: str, says: str
) -> None:
    make_study(database(), tmp_path)
    found, loaded = offered(shell, words, tmp_path)
    assert (says in found, loaded) == (True, "[]")


def test_names_are_offered_from_the_database_and_the_folder(
    engine_here: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_study(database(), tmp_path)
    monkeypatch.chdir(tmp_path)
    Path("mine.csv").touch()
    Path("mine.toml").touch()
    assert studies("sm") == ["small"]
    assert studies("zz") == []
    assert studies_or_labels("m") == ["mine.csv"]
    assert protocols("quick") == ["quick_start"]
    assert protocols("mi") == ["mine.toml"]
    monkeypatch.setenv("CALIPERS_DATABASE_URL", f"sqlite:///{tmp_path}/nowhere.db")
    assert studies("") == []
    assert not Path("nowhere.db").exists()
