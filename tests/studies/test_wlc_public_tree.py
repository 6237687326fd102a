"""The public tree of Wiki Live Challenge as it is published, where a piece of it is at hand: it comes in as it stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from annotation.protocol import read_protocol
from app.command_line import app
from tests.annotation.judges.conftest import Fake
from tests.annotation.layout_trees import put
from tests.annotation.probe_trees import read_probes
from tests.studies.desk import a_desk
from tests.studies.tables import commands
from tests.studies.test_wlc import CHECKING, WRITING, judges_of_the_page

REAL = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "wlc_real" / "data" / "2025_Mar_Nov"
AGENTS = ("grok", "langchain_w_gpt5", "openai", "qwen")

pytestmark = pytest.mark.skipif(
    not REAL.is_dir(), reason="the publisher's files are not ours to ship; test_import_probes_layouts has the shape"
)


def test_its_statements_come_in_with_the_pages_that_it_keeps() -> None:
    parsed = read_probes(REAL, "wlc", read_protocol("wlc_citation")[1])
    assert parsed.problems == ()
    assert {probe.system for probe in parsed.probes} == {*AGENTS}
    keys = [(probe.topic, probe.system, probe.key) for probe in parsed.probes]
    assert len(keys) == len(set(keys))
    assert "statements that cite nothing, left out 205" in parsed.notes
    first = next(probe for probe in parsed.probes if probe.system == "qwen" and probe.context)
    assert first.text
    assert len(first.context) > 1_000, "the page as it was fetched, whole"


def test_its_facts_stand_beside_each_agents_statements() -> None:
    parsed = read_probes(REAL, "wlc", read_protocol("wlc_fact_coverage")[1])
    assert parsed.problems == ()
    assert len(parsed.probes) == 584 * len(AGENTS)  # 155 + 182 + 88 + 80 + 79 facts
    assert all(probe.context.startswith("- ") for probe in parsed.probes if probe.system != "grok")


def test_its_reports_come_in_by_one_command_from_a_folder_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seven of eleven agencies are not in this piece, and one article is a list of sources and nothing else."""
    monkeypatch.setenv("CALIPERS_DATABASE_URL", f"sqlite:///{tmp_path}/x.db")
    run = CliRunner().invoke
    assert run(app, ["init", "wlc", "--protocol", "wlc_writing_39"]).exit_code == 0
    words = ["import", "reports", str(REAL.parent.parent), "--layout", "auto", "--study", "wlc"]
    refused = str(run(app, words).exception)
    assert len(refused.splitlines()) == 8
    assert "grok/md_data/Jimmy_Essex.md: nothing is left once citations are stripped" in refused
    done = run(app, [*words, "--allow-empty", "--allow-missing"])
    assert "5 topics, 12 systems (1 reference), 25 reports: 24 new, 0 unchanged, 1 empty" in done.stdout


CHOICES = {"wlc": ("left", "right"), "facts": ("consistent", "not_support"), "citations": ("support", "not_support")}


@pytest.mark.slow
def test_every_command_of_its_page_runs_on_it_as_it_stands(tmp_path: Path, fake_process: Fake) -> None:
    fake_process.reset(latency_ms=0)
    with a_desk(tmp_path) as desk:
        (desk.folder / "wlc_files").symlink_to(REAL.parent.parent)
        for file in (WRITING, CHECKING):
            put(desk.folder / file, judges_of_the_page(file, fake_process.base))
        for words in commands("wlc.md"):
            desk(*words)
            if words[0] == "open":
                choices = CHOICES[words[1]]
                assert desk.everybody_answers(words[1], lambda task, of=choices: of[len(f"{task}") % 2])
        assert (desk.folder / "wlc" / "preset_wlc.tex").is_file()
