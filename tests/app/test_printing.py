"""What a terminal, a pipe and NO_COLOR get: colours only where a person watches, and nothing cut in a pipe."""

from __future__ import annotations

import json
import math
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.commands.printing import print_json, print_table

ROOT = Path(__file__).resolve().parents[2]
COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-9]")
TWICE = """
import os
from app.command_line import run
run(["--help"])
os.environ["NO_COLOR"] = "1"
print("AND NOW WITHOUT")
run(["--help"])
"""


def on_a_terminal(code: str) -> str:
    ours, theirs = pty.openpty()
    env = {"PATH": "", "TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=theirs, env=env) as process:
        os.close(theirs)
        said = b""
        try:
            while piece := os.read(ours, 65_536):
                said += piece
        except OSError:  # how Linux says that the other end is closed
            pass
        process.wait()
    os.close(ours)
    return said.decode()


def test_colours_are_for_terminals_and_no_color_is_honoured() -> None:
    coloured, plain = on_a_terminal(TWICE).split("AND NOW WITHOUT")
    assert COLOUR.search(coloured)
    assert not COLOUR.search(plain)


def test_a_pipe_gets_no_escape_and_no_folded_row(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    row = ["a rater with a name", *["word " * 12] * 4]
    print_table(("rater", "one", "two", "three", "four"), [row])
    said = capsys.readouterr().out
    assert "\x1b" not in said
    (line,) = [line for line in said.splitlines() if "a rater with a name" in line]
    assert line.count("word") == 48


def test_what_is_undefined_is_null_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"p": math.nan, "rows": [{"high": math.inf, "low": 0.1 + 0.2}], "pair": (1, math.nan)})
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert found == {"p": None, "rows": [{"high": None, "low": 0.1 + 0.2}], "pair": [1, None]}
