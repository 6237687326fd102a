"""Where the commands of the pages run: a folder with reports, judges, a labels file, and a study that was labelled."""

from __future__ import annotations

import random
from pathlib import Path

from typer.testing import CliRunner

from app.command_line import app
from tests.docs.shell import Command
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
JUDGES = "".join(JUDGE.format(name=name, model=model) for name, model in (("mini", "gpt-4o-mini"), ("large", "gpt-4o")))
SET_UP = (
    "init mystudy --protocol quick_start --seed 7 --reports my_reports",
    "invite mystudy Ana Bo Chen",
    "pairs mystudy --design balanced --per-topic 1 --overlap 3 --apply",
    "open mystudy",
    "judge run mystudy --judges judges.toml",
    "close mystudy",
    "export labels mystudy --out labels.csv",
)
DECIDED = (0, 3, 4)  # calibrate --gate: a judge is adequate, none is, cannot tell


def lay_out(folder: Path) -> None:
    """What a reader of the pages is supposed to have."""
    write_reports(folder / "my_reports", TOPICS)
    (folder / "judges.toml").write_text(JUDGES, encoding="utf-8")


def made(desk: Desk) -> None:
    """The study `mystudy`, labelled by three people and judged by two judges, closed, and its labels.csv."""
    lay_out(desk.folder)
    for line in SET_UP:
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


def begins_empty(page: list[Command]) -> bool:
    """Whether the page begins with making `mystudy` itself."""
    return page[0].words[:3] == ("calipers", "init", "mystudy")
