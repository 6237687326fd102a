"""Every promise of the README names what shows it, and that is there and is run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.__main__ import scripts

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SECTION = README.split("## What calipers promises\n")[1].split("\n## ")[0]
ROWS = [line.strip("| ").split(" | ") for line in SECTION.splitlines() if line.startswith("| ")][1:]
LINK = re.compile(r"\]\(([^)]+)\)")


@pytest.mark.parametrize(("promise", "shown_by"), ROWS, ids=[row[0][:60] for row in ROWS])
def test_a_promise_names_what_shows_it(promise: str, shown_by: str) -> None:
    named = [ROOT / link for link in LINK.findall(shown_by)]
    proofs = [path for path in named if path.parts[len(ROOT.parts)] in ("tests", "benchmarks")]
    assert proofs, promise
    assert [str(path) for path in named if not path.exists()] == []
    for path in proofs:
        if path.parent.name == "benchmarks":
            assert path.stem in scripts(), "make bench runs it"
        else:
            files = [path] if path.is_file() else list(path.glob("test_*.py"))
            assert any("def test_" in file.read_text("utf-8") for file in files), "pytest finds something in it"


def test_every_benchmark_stands_beside_a_promise() -> None:
    assert {
        Path(link).stem for link in LINK.findall(SECTION) if link.startswith("benchmarks/") and link.endswith(".py")
    } == set(scripts())


def test_every_link_of_the_readme_leads_somewhere() -> None:
    links = [link for link in LINK.findall(README) if "://" not in link]
    assert [link for link in links if not (ROOT / link.split("#")[0]).exists()] == []
