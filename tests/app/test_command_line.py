"""The commands as a user types them: what they print, and with which exit code they refuse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.command_line import run
from app.results.pack_files import without_people
from app.settings import database, settings
from exports.plots.forest import forest
from exports.plots.value_maps import criteria_map
from tests.app.drawing import draw_only
from tests.small_study import PROTOCOL, write_reports


class Shell:
    """Commands within this process, in a folder whose database is not there before the first of them."""

    def __init__(self, folder: Path, captured: pytest.CaptureFixture[str]) -> None:
        self.folder, self._captured = folder, captured

    def __call__(self, *words: str, exit_code: int = 0) -> str:
        """What one command prints to stdout; its errors where it is meant to fail."""
        ended = run(words)
        said = self._captured.readouterr()
        assert ended == exit_code, said.out + said.err
        assert "Traceback" not in said.err
        return said.out if exit_code == 0 else said.err


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Shell]:
    (tmp_path / "small.toml").write_text(PROTOCOL)
    write_reports(tmp_path / "reports")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CALIPERS_DATABASE_URL", f"sqlite:///{tmp_path}/x.db")
    settings.cache_clear()
    database.cache_clear()
    yield Shell(tmp_path, capsys)
    settings.cache_clear()
    database.cache_clear()


def test_a_study_from_init_to_labels(shell: Shell) -> None:
    assert "version 1, 2 criteria, seed 7" in shell("init", "s", "--protocol", "small.toml", "--seed", "7")
    assert "3 topics, 3 systems, 9 reports: 9 new" in shell("import", "reports", "reports", "--layout", "folder")
    assert "nothing was written" in shell("pairs", "--design", "all", "--overlap", "2")
    plan = json.loads(shell("pairs", "--design", "all", "--overlap", "2", "--apply", "--json"))
    assert (plan["pairs"], plan["new_slots"], plan["applied"]) == (9, 18, True)
    assert json.loads(shell("pairs", "--design", "all", "--overlap", "2", "--json"))["new_slots"] == 0
    assert "2 annotators an item, 0 invited: 2 more must" in shell("open")
    assert shell("invite", "s", "Ada").startswith("http://127.0.0.1:8501/invite/")
    (ada,) = json.loads(shell("people", "--json"))
    assert (ada["name"], ada["pseudonym"], ada["role"], ada["links"]) == ("Ada", "annotator-01", "annotator", 1)
    assert json.loads(shell("status", "s", "--json"))["slots"] == 18
    assert "2 annotators an item, 1 invited: 1 more must come before every item can be done" in shell("status", "s")
    assert "more must come" not in shell("close") + shell("status", "s"), "nobody can do an item now"
    shell("open")
    shell("invite", "s", "Ben")
    assert "more must come" not in shell("status", "s")
    assert "nobody has handed in work" in shell("calibrate", "s", exit_code=1)
    assert "0 labels written" in shell("export", "labels", "--out", "labels.csv")


def test_a_study_that_too_few_people_can_finish_says_so_where_nobody_sees_a_topic_twice(shell: Shell) -> None:
    (shell.folder / "small.toml").write_text(PROTOCOL.replace("topic_once = false", "topic_once = true"))
    shell("init", "s", "--protocol", "small.toml")
    shell("import", "reports", "reports", "--layout", "folder")
    shell("pairs", "--design", "all", "--overlap", "2", "--apply")
    for name in ("Ana", "Ben"):
        shell("invite", "s", name)
    short = (
        "topic tides has 6 open slots, nobody is to see a topic twice, and 2 of 2 invited have not had it: 4 more must "
        "come before every item can be done (calipers invite s NAME), or set topic_once = false in the protocol\n"
    )
    assert short in shell("open")
    for number in range(4):
        shell("invite", "s", f"Person {number}")
    assert "more must come" not in shell("status", "s")


def test_flags_stop_a_study_from_opening_until_they_are_decided(shell: Shell) -> None:
    report = shell.folder / "reports" / "alpha" / "tides.md"
    report.write_text(report.read_text().replace("A report on", "As an AI language model, I report on"))
    shell("init", "s", "--protocol", "small.toml")
    shell("import", "reports", "reports", "--layout", "folder")
    shell("pairs", "--design", "all", "--apply")
    assert "1 passage in 1 report may say who wrote them" in shell("open", exit_code=1)
    said = shell("audit")
    assert "decide: assistant in alpha/tides: As an AI language model | " in said
    assert "As an AI language model, I report on" in said.split(" | ")[1]
    assert "Not blind yet: 1 passage that may name" in said
    assert "label-blind" not in said
    for refused in ("--report alpha/moons", "--report alpha/tides", "--kind product"):
        told = shell("audit", "--resolve", "mask", *refused.split())
        assert told.startswith("0 passages resolved as mask\n1 passage waits for a decision")
        assert "Not blind yet" not in told, "what is still to decide is told at once, without reading every report"
    assert "assistant is no name" in shell("audit", "--resolve", "mask", "--kind", "assistant", exit_code=1)
    command = next(line for line in said.splitlines() if "--report" in line)
    assert command == "  calipers audit s --resolve exclude --report alpha/tides"
    assert "1 passage resolved as exclude" in shell(*command.split()[1:], "--reason", "it says what it is")
    found = json.loads(shell("audit", "--json"))
    assert found["open_flags"] == []
    assert "label-blind, not style-blind" in found["sentence"]
    assert "too few topics" in found["sentence"]
    said = shell("open")
    assert "study 's' is open\n" in said
    assert "nobody is asked for consent" in said
    shell("close")
    assert "study 's' is open again: it was closed" in shell("open")


def test_passages_for_which_a_study_does_not_open_are_listed_first(shell: Shell) -> None:
    for system, topic in (("alpha", "bread"), ("alpha", "noise"), ("gamma", "tides")):
        report = shell.folder / "reports" / system / f"{topic}.md"
        report.write_text(report.read_text().replace("A report on", "As an AI language model, I report on"))
    shell("init", "s", "--protocol", "small.toml")
    shell("import", "reports", "reports", "--layout", "folder")
    (shell.folder / "pairs.csv").write_text("topic,system_a,system_b\ntides,beta,gamma\n")
    shell("pairs", "--design", "pairs.csv", "--apply")
    assert "1 passage in 1 report may say who wrote them" in shell("open", exit_code=1)
    said = shell("audit")
    first = next(line for line in said.splitlines() if line.startswith("decide:"))
    assert first.startswith("decide: assistant in gamma/tides")
    assert "3 passages wait for a decision (assistant 3; 1 of planned items, for which the study does not open)" in said
    shell("audit", "--resolve", "keep", "--report", "gamma/tides")
    shell("invite", "s", "Ada", "Bo")
    assert "study 's' is open\n" in shell("open")


@pytest.mark.parametrize(
    ("reports", "says"),
    [
        ("", "raters saw no system names, citations or traces of origin, but length"),
        (
            "reports = {strip_citations = false}\n",
            "raters saw no system names or traces of origin, but citations, length",
        ),
    ],
)
def test_the_audit_says_no_citations_only_where_the_protocol_removes_them(
    shell: Shell, reports: str, says: str
) -> None:
    (shell.folder / "small.toml").write_text(PROTOCOL.replace("[answers]", f"{reports}[answers]"))
    shell("init", "s", "--protocol", "small.toml")
    shell("import", "reports", "reports", "--layout", "folder")
    assert says in json.loads(shell("audit", "--json"))["sentence"]


def test_a_dry_run_writes_nothing(shell: Shell) -> None:
    shell("init", "s", "--protocol", "small.toml")
    assert "9 new" in shell("import", "reports", "reports", "--layout", "folder", "--dry-run")
    assert json.loads(shell("status", "--json"))["reports"] == 0


def test_import_problems_as_json(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    (shell.folder / "reports" / "alpha" / "tides.md").write_text("")
    shell("init", "s", "--protocol", "small.toml")
    assert run(["import", "reports", "reports", "--layout", "folder", "--json"]) == 1
    assert "alpha/tides.md: holds no text" in json.loads(capsys.readouterr().out)["problems"][0]


def test_a_changed_protocol_enters_as_a_new_version(shell: Shell) -> None:
    shell("init", "s", "--protocol", "small.toml")
    (shell.folder / "small.toml").write_text(PROTOCOL.replace("Which is clearer?", "Which is much clearer?"))
    assert "version 2" in shell("init", "s", "--protocol", "small.toml")
    assert "version 2" in shell("init", "s", "--protocol", "small.toml")
    assert "made with seed 0; it cannot change" in shell(
        "init", "s", "--protocol", "small.toml", "--seed", "9", exit_code=1
    )


def test_a_pack_says_what_was_read_without_a_persons_name() -> None:
    read = ["'id' is item_id (named)", "'Dr. Ada (3.2.)' is label of Dr. Ada (3.2.) (mapped): 0 to 4", "'Adam' is tag"]
    assert without_people(read, ["Dr. Ada (3.2.)", "Ada"]) == [read[0], read[2], "1 column under a person's name"]
    assert without_people(read, []) == read


def test_a_bare_labels_file_is_calibrated_without_a_database(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    draw_only(monkeypatch, forest, criteria_map)
    lines = ["item_id,rater_id,rater_kind,criterion,label,cluster_id"]
    for n in range(30):
        for rater, kind in (("ann", "human"), ("bea", "human"), ("gpt", "judge")):
            lines.append(f"{n:03d},{rater},{kind},c,{'AB'[(n + (rater == 'gpt' and n % 5 == 0)) % 2]},{n:03d}")
    (shell.folder / "labels.csv").write_text("\n".join(lines) + "\n")
    said = shell("calibrate", "labels.csv", "--out", "report", "--resamples", "199")
    assert "gpt, the one judge tried, is not adequate. It agrees" in said
    written = (  # no systems are named: there is no ranking
        "agreement", "annotators", "bias", "criteria", "judges", "alt_test_checklist", "blinding_checklist",
    )  # fmt: skip
    tables = [f"{name}.{form}" for name in written for form in ("csv", "json", "md", "tex")]
    # one criterion makes no map
    figures = [f"{name}.{form}" for name in ("agreement", "agreement_column") for form in ("pdf", "png", "svg")]
    assert sorted(path.name for path in (shell.folder / "report").iterdir()) == sorted(
        [
            *tables,
            *figures,
            "answer.pdf",
            "calibration-report.json",
            "captions.md",
            "comparison-plan.json",
            "figures.tex",
            "index.md",
            "methods.md",
            "methods.tex",
            "references.bib",
            "report.html",
        ]
    )
    report: dict[str, Any] = json.loads((shell.folder / "report" / "calibration-report.json").read_text())
    assert report["format"] == "calipers-report/1"
    assert not (shell.folder / "x.db").exists()
