"""The threat model names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
NAMED = re.findall(r"(tests/[\w/]+\.py)::(\w+)", TEXT)


def test_every_test_that_it_names_is_there() -> None:
    assert len(NAMED) > 40
    gone = [
        f"{path}::{name}" for path, name in NAMED if f"def {name}(" not in (ROOT / path).read_text(encoding="utf-8")
    ]
    assert gone == []


def test_every_threat_has_a_defence_and_a_test() -> None:
    tables = TEXT.split("| threat | defence | shown by |\n")[1:]
    rows = [line for table in tables for line in table.split("\n\n")[0].splitlines()[1:]]
    assert len(rows) > 30
    assert [row for row in rows if len(row.split(" | ")) != 3 or "::" not in row] == []
