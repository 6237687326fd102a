"""The road of a study: each command says which one comes next, and only to people."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.command_line import run
from tests.small_study import PROTOCOL, write_reports


def test_every_command_of_the_road_names_the_next(
    engine_here: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(PROTOCOL)
    write_reports(tmp_path / "reports")
    road = ("init s --protocol small.toml", "import reports reports --layout folder --study s", "pairs s --design all --apply",
            "invite s Ada", "open s")  # fmt: skip
    said = []
    for words in road:
        assert run(words.split()) == 0
        shown = capsys.readouterr()
        assert "next:" not in shown.out
        said.append(next(line for line in shown.err.splitlines() if line.startswith("next: ")))
        assert run([*words.split(), "--json"]) == (1 if words == "open s" else 0)  # it is open already
        assert "next:" not in capsys.readouterr().err
    assert [one.removeprefix("next: calipers ").split()[0] for one in said] == ["import", "pairs", "invite", "open", "serve"]  # fmt: skip
