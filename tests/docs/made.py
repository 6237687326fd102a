"""Where the commands of the pages run: a folder with reports, judges, a labels file, and a study that was labelled."""

from __future__ import annotations

import random
from pathlib import Path

from typer.testing import CliRunner

from app.command_line import app
from tests.docs.shell import commands, fences
from tests.small_study import write_reports
from tests.studies.desk import Desk, Task

TOPICS = ("tides", "bread", "noise", "glass", "rivers", "clocks")
GOOD = {"alpha": 0.7, "beta": 0.5, "gamma": 0.3}
JUDGE = """
[[judge]]
name = "{name}"
model = "openai/{model}"
price = {{input = 0.15, output = 0.60}}
max_cost = 5.00
"""
LARGE = JUDGE.format(name="large", model="gpt-4o")
FURTHER = ("close mystudy", "export labels mystudy --out labels.csv")
DECIDED = (0, 3, 4)  # calibrate --gate: a judge is adequate, none is, cannot tell


def lay_out(folder: Path) -> None:
    """What a reader of the pages is supposed to have."""
    write_reports(folder / "my_reports", TOPICS)
    own = "".join(block for _, language, block in fences("README.md") if language == "toml")
    (folder / "judges.toml").write_text(own + LARGE, encoding="utf-8")


def made(desk: Desk) -> None:
    """What the commands of README.md make, its judge and a larger one: the study `mystudy`; closed, and its labels.csv."""
    lay_out(desk.folder)
    for one in commands("README.md"):
        if one.program == "calipers":
            done(desk, *one.words[1:])
    for line in FURTHER:
        done(desk, *line.split())


def done(desk: Desk, *words: str) -> None:
    """One command, and once a study is open, what its people answer."""
    fewer = ("--resamples", "199") if words[0] == "calibrate" else ()  # how many draws is no matter of these pages
    ended = CliRunner().invoke(app, [*words, *fewer])
    assert ended.exit_code in (DECIDED if "--gate" in words else (0,)), f"{words}: {ended.output} {ended.exception!r}"
    if words[0] == "open":
        assert desk.everybody_answers(words[1], choice)


def choice(task: Task) -> str:
    """The better system of the two, now and then the other one."""
    draw = random.Random(f"{task.person} {task.topic} {task.systems} {task.criterion}")
    better = max(task.systems, key=lambda system: GOOD[system] + draw.gauss(0, 0.2))
    return "left" if better == task.left else "right"
