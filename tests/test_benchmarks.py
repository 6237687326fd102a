"""How the benchmarks are gathered: a promise that is broken cannot be overlooked, and the run before stays beside."""

from __future__ import annotations

import importlib
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import __main__ as bench
from benchmarks import crowds, documents
from benchmarks.promises import FIGURES_FILE, Figure, Promise, as_figure, as_stored, record, tell

NAN = math.nan


@pytest.mark.parametrize(
    ("figure", "kept", "promised"),
    [
        (Figure("a", 249.0, "ms", high=250), True, "<= 250"),
        (Figure("a", 251.0, "ms", high=250), False, "<= 250"),
        (Figure("a", 0.9, low=0.95), False, ">= 0.95"),
        (Figure("a", 94.0, "%", 92.5, 97), True, "92.5 to 97"),
        (Figure("a", NAN, high=250), False, "<= 250"),
        (Figure("a", 1e9), True, ""),
        (Figure("a", NAN), True, ""),
    ],
)
def test_a_figure_keeps_its_promise_only_within_the_bounds_and_only_if_it_is_there(
    figure: Figure, kept: bool, promised: str
) -> None:
    assert (figure.kept, figure.promised) == (kept, promised)
    stored = json.loads(json.dumps(as_stored(figure), allow_nan=False))
    assert repr(as_figure(stored)) == repr(figure)


def test_what_a_script_found_is_handed_on_and_decides_its_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FIGURES_FILE, str(tmp_path / "figures"))
    good, bad = Promise("  covers", 0.95, 0.01, 0.93, 0.97), Promise("covers", 0.5, 0.01, 0.93, 0.97)
    assert tell("heading", iter([good])) == 0
    assert tell("heading", iter([good, bad])) == 1
    lines = [as_figure(json.loads(line)) for line in (tmp_path / "figures").read_text().splitlines()]
    assert [(one.name, one.value, one.kept) for one in lines] == [("covers", 95, True)] * 2 + [("covers", 50, False)]


def test_a_folder_without_examples_is_refused_not_replaced_by_our_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert documents.main([str(tmp_path)]) == 2
    assert f"{tmp_path}: no JSON files" in capsys.readouterr().err


def test_by_hand_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FIGURES_FILE, raising=False)
    monkeypatch.chdir(tmp_path)
    record([Figure("a", 1.0)])
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """main(*arguments) over one script, `quick`, whose only figure is the number it is given."""
    monkeypatch.setattr(bench, "HERE", tmp_path)
    root = Path(bench.ROOT)

    def main(value: float, code: int = 0) -> int:
        (tmp_path / "quick.py").write_text(
            f"import sys\nsys.path.insert(0, {str(root)!r})\nfrom benchmarks.promises import Figure, record\n"
            f'record([Figure("save, p95", {value}, "ms", high=250)])\nraise SystemExit({code})\n'
        )
        monkeypatch.setattr(sys, "argv", ["benchmarks", "quick", "--out", str(tmp_path)])
        return bench.main()

    return main


def test_each_run_leaves_its_table_beside_the_figures_of_the_run_before(scripts: Any, tmp_path: Path) -> None:
    assert scripts(100.0) == 0
    assert scripts(200.0) == 0
    page = (tmp_path / "results.md").read_text()
    assert "1 promises measured, 0 broken." in page
    assert "| save, p95 | 200 | ms | <= 250 | 100 |" in page
    assert "Python 3." in page
    assert str(tmp_path) not in page, "nothing that names this machine"
    assert json.loads((tmp_path / "results.json").read_text())["quick"]["figures"][0]["before"] == 100


def test_a_broken_promise_fails_the_run_and_stands_first(scripts: Any, tmp_path: Path) -> None:
    assert scripts(300.0) == 1
    page = (tmp_path / "results.md").read_text()
    assert "1 broken.\n- quick: save, p95: 300 ms, promised <= 250" in page
    assert "<= 250 **broken**" in page


def test_a_script_that_fails_fails_the_run_and_is_marked(scripts: Any, tmp_path: Path) -> None:
    assert scripts(100.0, code=3) == 1
    assert "**exit 3**" in (tmp_path / "results.md").read_text()


def test_a_name_that_does_not_exist_is_refused_with_those_that_do() -> None:
    command = [sys.executable, "-m", "benchmarks", "lod"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=bench.ROOT)
    assert done.returncode == 2
    assert "there is no lod; there are active, align, alone, annotate, " in done.stderr


def test_every_script_that_can_be_run_hands_its_figures_on() -> None:
    runnable = {path.stem for path in Path(bench.HERE).glob("*.py") if "__main__" in path.read_text("utf-8")}
    makers = {"large_labels", "large_study"}  # they write data for the others
    assert set(bench.scripts()) == runnable - makers - {"__main__", "promises"}


def test_every_script_finds_what_it_imports() -> None:
    """One that is seldom run would break unseen."""
    for name in bench.scripts():
        assert importlib.import_module(f"benchmarks.{name}").__doc__, name


def test_the_curve_of_crowds_is_written_between_its_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "deployment.md"
    page.write_text(crowds.PAGE.read_text("utf-8"), "utf-8")
    (tmp_path / "deployment").mkdir()
    monkeypatch.setattr(crowds, "PAGE", page)
    cores = {"app": 0.3, "annotators": 0.1, "Postgres": 0.08}
    late = crowds.Step(80, 40.0, 100.0, 1_001.0, cores)
    held = crowds.Curve("one", [crowds.Step(40, 40.0, 12.0, 90.0, cores), late], {"labels lost": 0}, 90.0, 2.5, 0.6)
    nobody = crowds.Step(40, 40.0, 100.0, math.nan, cores)
    none = [crowds.Curve(name, steps, {}, 90.0, math.nan, 0.6) for name, steps in
            (("none", [late]), ("idle", [nobody]), ("away", []))]  # fmt: skip
    crowds.write([held, *none])
    before, after = (path.read_text("utf-8").split(crowds.BEGINS)[0] for path in (crowds.PAGE, page))
    table = page.read_text("utf-8").split(crowds.BEGINS)[1].split(crowds.ENDS)[0]
    assert before == after
    assert "| one | 40 | 40 | 12 | 90 | app 7.5, Postgres 2.0 | 90 | 2.5 |" in table, (
        "not the crowd whose next pair is late"
    )
    assert "No crowd in time: none (80: next pair: over 1000 ms).\n" in table
    assert "No crowd in time: idle (40: next pair: none within 60 s more than was asked for).\n" in table
    assert "No crowd in time: away (not all came in 300 s).\n" in table
    assert "nan" not in table + "".join(f"{figure}" for curve in none for figure in crowds.figures_of(curve))
    plan = page.read_text("utf-8").split(crowds.PLANNED)[1].split(crowds.ENDS)[0]
    assert "500 x 7.5 ms = 3.8, and 5,000 who come within 10 minutes x 90 ms = 0.8 |" in plan
    assert "= 8, a core each |" in plan
    assert "| labels on disk | 100,000,000 x 0.60 kB, indices and events included = 60 GB |" in plan
    assert (tmp_path / crowds.DRAWN).read_bytes().startswith(b"<?xml")
    [kept, *_] = crowds.figures_of(held)
    assert (kept.value, kept.kept) == (40, False), "fewer than promised"
