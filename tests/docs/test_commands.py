"""Every command of README.md and of the pages of docs/ is run, here or by the test that is named."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import typer

from app.command_line import app
from tests.annotation.judges import conftest as provider
from tests.annotation.judges.conftest import Fake
from tests.calibrated_once import calibrate_once
from tests.docs.made import done, made
from tests.docs.shell import LOOKS_RUN, PAGES, ROOT, Command, commands, fences
from tests.studies.desk import a_desk

fake_process = provider.fake_process
# Sections whose commands need people, files or a provider of their own: the test that reads them there
RUN_BY = {
    ("docs/owners.md", "Two published studies, five commands each"): "tests/app/test_running_a_study.py",
    ("docs/owners.md", "From files to pay, step by step"): "tests/app/test_running_a_study.py",
    ("docs/owners.md", "Keep a copy"): "tests/app/test_backup.py",
    ("docs/owners.md", "A crowd"): "tests/app/test_crowd.py",
    ("docs/studies/README.md", ""): "tests/studies/test_reproduce.py",
    ("docs/judge_alignment.md", ""): "tests/app/test_judge_align.py",  # of more topics than the study made here
    ("docs/studies/wlc.md", "From its own files"): "tests/studies/test_wlc.py",
    ("docs/studies/deepresearchgym.md", "From its own files"): "tests/studies/test_deepresearchgym.py",
    ("docs/studies/dr3_eval.md", ""): "tests/studies/test_dr3_eval.py",
    ("docs/studies/race.md", "Run it"): "tests/studies/test_race.py",
    ("docs/studies/reportbench.md", ""): "tests/studies/test_reportbench.py",
}
# What this machine must not do: installing, building, serving. What is named must be there.
NOT_RUN = {
    "make": "a target of the Makefile; it would install, or run this very test",
    "calipers serve": "it never ends; tests/browser starts it",
    "useradd": "changes the machine", "git": "fetches this repository", "install": "writes into /etc",
    "cp": "writes into /etc", "systemctl": "needs a running systemd; tests/machines checks the units",
    "nginx": "needs root; tests/machines runs its configuration", "docker": "no container runs where tests run",
    "for": "restarts services; tests/faults restarts processes one by one", "until": "of that loop", "done": "of it",
    "python": "a folder of the reader's own; tests/app/test_texts.py asks the same of what is shipped",
}  # fmt: skip
ALL = [one for page in PAGES for one in commands(page)]
RUN_BY |= {(one.page, one.section): "tests/calipers/test_layouts.py" for one in ALL if one.page == "docs/tools.md"}
HERE = sorted({one.page for one in ALL if one.program == "calipers" and (one.page, one.section) not in RUN_BY})
INLINE = re.compile(r"(?<!`)`(calipers [^`\n]+)`(?!`)")


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory, fake_process: Fake) -> Path:
    """The folder of a study that people and judges labelled, made by the commands of README.md as they stand there."""
    fake_process.reset(latency_ms=0)
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch, a_desk(folder) as desk:
        at_the_fake(patch, fake_process)
        made(desk)
    return folder


def at_the_fake(patch: pytest.MonkeyPatch, fake: Fake) -> None:
    patch.setenv("OPENAI_API_BASE", fake.base)
    patch.setenv("OPENAI_API_KEY", "none")
    calibrate_once(patch)


@pytest.mark.slow
def test_the_commands_of_the_readme_make_a_study_and_its_report(labelled: Path) -> None:
    assert {"mini", "large"} <= {*pd.read_csv(labelled / "labels.csv")["rater_id"]}
    assert (labelled / "report" / "agreement.tex").stat().st_size


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in HERE if page != "README.md"])
def test_the_commands_of_a_page_run_as_they_stand_there(
    page: str, labelled: Path, tmp_path: Path, fake_process: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_the_fake(monkeypatch, fake_process)
    shutil.copytree(labelled, tmp_path, dirs_exist_ok=True)
    with a_desk(tmp_path) as desk:
        for one in commands(page):
            if one.program == "calipers":
                done(desk, *one.words[1:])


def test_the_commands_of_every_other_section_are_read_by_the_test_that_is_named() -> None:
    shown = {(one.page, one.section) for one in ALL}
    assert set(RUN_BY) <= shown
    for (page, section), test in RUN_BY.items():
        text = (ROOT / test).read_text(encoding="utf-8")
        assert (section and section in text) or Path(page).name in text, (page, section, test)


@pytest.mark.parametrize("one", [one for one in ALL if one.program != "calipers"], ids=lambda one: one.line[:50])
def test_what_is_not_run_here_is_known_and_what_it_names_is_there(one: Command) -> None:
    assert one.program in NOT_RUN, f"{one.page}: nothing runs {one.line!r}"
    named = [word for word in one.words if word.startswith("docs/")]
    assert [word for word in named if not list(ROOT.glob(word))] == []
    if "make" in one.words:
        target = one.words[one.words.index("make") + 1]
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE), target


@pytest.mark.parametrize("page", PAGES)
def test_no_command_stands_in_a_block_that_nothing_runs(page: str) -> None:
    silent = [block for _, language, block in fences(page) if language not in ("sh", "bash")]
    assert [found[0] for block in silent for found in LOOKS_RUN.finditer(block)] == []


def options(words: Sequence[str]) -> tuple[set[str], set[str]]:
    """The options that are typed, and those that the command of these words has."""
    here: Any = typer.main.get_command(app)
    rest = list(words)
    while rest and rest[0] in getattr(here, "commands", {}):
        here = here.commands[rest.pop(0)]
    known = {name for one in here.params for name in (*one.opts, *one.secondary_opts)} | {"--help", "-h"}
    assert not hasattr(here, "commands") or not rest or rest[0].startswith(("-", "…")), f"no command {words}"
    return {word for word in rest if word.startswith("--")}, known


@pytest.mark.parametrize("page", PAGES)
def test_what_a_sentence_tells_to_type_is_there(page: str) -> None:
    prose = re.sub(r"^```.*?^```", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for found in INLINE.finditer(prose):
        for way in found[1].split(" | "):
            typed, known = options(re.split(r"[\s=]+", way)[1:])
            assert typed <= known, f"{page}: {found[0]}"
