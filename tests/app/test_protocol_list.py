"""`calipers init --list` tells what each shipped protocol is for; `--copy` hands one out to be changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from annotation.protocol import read_protocol, shipped_protocols
from app.command_line import app
from app.commands.study.protocols import PRESET_OF
from exports.presets import PRESETS

DRG_KEYPOINTS = """\
drg_keypoints: DeepResearchGym: key points
  used by DeepResearchGym (2025), arXiv 2505.19253: key point recall (KPR) and
          contradiction (KPC), by a judge; the words are our own
  task    probe_label: one key point against the report, 1 question
  answers Supported | Omitted | Contradicted
  a rater One key point that an answer should make, against the whole report:
          supported, omitted or contradicted.
  people  2 an item
  judges  one in a call
  table   KPR = share of Supported; KPC = share of Contradicted"""


def run(*words: str) -> str:
    done = CliRunner().invoke(app, ["init", *words])
    assert done.exit_code == 0, done.output
    return done.output


def refused(*words: str) -> str:
    done = CliRunner().invoke(app, ["init", *words])
    assert done.exit_code != 0
    return f"{done.output} {done.exception}"


def test_each_protocol_is_a_block_that_fits_a_terminal() -> None:
    blocks = run("--list").rstrip("\n").split("\n\n")
    assert [block.partition(":")[0] for block in blocks] == shipped_protocols()
    assert DRG_KEYPOINTS in blocks
    assert max(len(line) for block in blocks for line in block.splitlines()) <= 80
    for block in blocks:
        told = [line[2:10].strip() for line in block.splitlines()[1:] if line[2:10].strip()]
        assert told == ["used by", "task", "answers", "a rater", "people", "judges", "table"]


def test_json_holds_every_field_and_names_presets_that_exist() -> None:
    rows = {row["name"]: row for row in json.loads(run("--list", "--json"))}
    assert [*rows] == shipped_protocols()
    assert rows["drg_citation_support"] == {
        "name": "drg_citation_support",
        "title": "DeepResearchGym: support by citations",
        "source": read_protocol("drg_citation_support")[0].source,
        "task_type": "probe_label",
        "criteria": 1,
        "item": "one claim against its sources, if any",
        "answers": ["full", "partial", "no", "source_unavailable", "uncited"],
        "scale": "",
        "summary": read_protocol("drg_citation_support")[0].summary,
        "judges": "one in a call",
        "overlap": 2,
        "pay": "",
        "aggregates": [
            "Precision = mean of full (1), partial (0.5), no (0)",
            "Recall = share of full, partial, no, source_unavailable",
            "Cited pages that cannot be read = share of source_unavailable",
        ],
        "preset": "",
    }
    assert rows["wlc_writing_39"]["pay"] == "10 USD an hour"
    assert rows["race"]["criteria"] == 0
    assert {row["preset"] for row in rows.values()} - {""} <= {*PRESETS}
    assert {*PRESET_OF} <= {*rows}


def test_a_copy_is_a_protocol_of_its_own_name(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    assert "a copy of drg_quality, called mine" in run("--copy", "drg_quality", str(mine))
    copied, text = read_protocol(mine)
    original, shipped = read_protocol("drg_quality")
    assert copied == original.model_copy(update={"name": "mine"})
    assert len(text) == len(shipped) - len("drg_quality") + len("mine")


@pytest.mark.parametrize(
    ("name", "file", "says"),
    [
        ("drg_quality", "there.toml", "a file is there already"),
        ("drg_quality", "mine.txt", "call it mine.toml"),
        ("drg_quality", "none/mine.toml", "No such file or directory"),
        ("drg_quality", "my own.toml", "name: "),
        ("nonsense", "mine.toml", "no protocol called 'nonsense'"),
    ],
)
def test_a_copy_never_overwrites_and_says_what_it_cannot_write(tmp_path: Path, name: str, file: str, says: str) -> None:
    (tmp_path / "there.toml").write_text("mine\n")
    assert says in refused("--copy", name, str(tmp_path / file))
    assert [path.name for path in tmp_path.iterdir()] == ["there.toml"]
    assert (tmp_path / "there.toml").read_text() == "mine\n"
