"""What a page keeps of long computations: by the state of the labels, apart from annotators, never as newer than it is."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

import app.results.computing
import app.results.kept
import app.results.shown_file
import app.screens.waiting
from annotation.errors import AnnotationError, ImportingError
from annotation.people.principals import Principal
from app.results.computing import Step, Task, compute, hear, tell
from app.results.kept import kept, under_way
from app.results.shown_file import shown_file
from calibration.errors import CalibrationError
from calibration.results import CalibrationReport
from tests.app.drawing import file_page, page, shown
from tests.calibration.studies import made_pairs
from tests.disputed_study import make_disputed


class Later:
    """Stands for threads: what was started runs when `run` says so."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], object]] = []

    def __call__(self, run: Callable[..., None], *given: object) -> None:
        self.waiting.append(lambda: run(*given))

    def run(self) -> None:
        while self.waiting:
            self.waiting.pop(0)()


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Later:
    """Computations apart begin when the test says so, and in this process."""
    threads = Later()
    monkeypatch.setattr(app.results.kept, "_in_the_background", threads)
    monkeypatch.setattr(app.results.kept, "_asked_of_a_child", app.results.kept._computed)
    return threads


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Every computation of `count`, which gives its own number."""
    made: list[int] = []

    def count(engine: Engine, principal: Principal) -> int:
        made.append(len(made) + 1)
        return made[-1]

    monkeypatch.setitem(app.results.computing.COMPUTED, "count", count)
    return made


COUNT = Task("count", Principal(1, "evaluator"))


def test_one_state_of_the_labels_is_computed_once_and_another_one_anew(engine_here: Engine, counted: list[int]) -> None:
    versions = [(5, 1), (5, 1), (6, 1), (6, 1)]
    found = [kept(engine_here, COUNT, version, apart=False) for version in versions]
    assert [(one.value, one.version, one.is_current) for one in found] == [
        (1, (5, 1), True), (1, (5, 1), True), (2, (6, 1), True), (2, (6, 1), True),
    ]  # fmt: skip


def test_apart_the_page_has_what_is_kept_at_once_and_says_of_which_labels_it_is(
    engine_here: Engine, counted: list[int], later: Later, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.results.kept, "RESTS", 0)
    first = kept(engine_here, COUNT, (5,), apart=True)
    assert (first.value, first.made_at, first.is_under_way) == (None, None, True)
    assert kept(engine_here, COUNT, (6,), apart=True).value is None
    assert len(later.waiting) == 1, "one at a time"
    later.run()
    assert under_way(engine_here, COUNT) is None
    done = kept(engine_here, COUNT, (5,), apart=True)
    assert (done.value, done.is_current, done.is_under_way) == (1, True, False)
    older = kept(engine_here, COUNT, (7,), apart=True)
    assert (older.value, older.version, older.is_current, older.is_under_way) == (1, (5,), False, True)
    later.run()
    assert kept(engine_here, COUNT, (7,), apart=True).value == 2


def test_a_study_that_changes_all_the_time_is_not_computed_all_the_time(
    engine_here: Engine, counted: list[int], later: Later, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.results.kept, "RESTS", 10**9)
    kept(engine_here, COUNT, (5,), apart=True)
    later.run()
    found = kept(engine_here, COUNT, (6,), apart=True)
    assert (found.value, found.is_current, found.is_under_way, later.waiting) == (1, False, False, [])


@pytest.mark.parametrize(
    "refusal", [AnnotationError("no_labels", "nobody yet"), CalibrationError("bad", "row 1 is wrong")]
)
def test_a_refusal_is_kept_and_raised_like_a_value(
    engine_here: Engine, later: Later, monkeypatch: pytest.MonkeyPatch, refusal: Exception
) -> None:
    def refuse(engine: Engine, principal: Principal) -> None:
        raise refusal

    monkeypatch.setitem(app.results.computing.COMPUTED, "count", refuse)
    assert kept(engine_here, COUNT, (5,), apart=True).value is None
    later.run()
    with pytest.raises(type(refusal), match=str(refusal)):
        kept(engine_here, COUNT, (5,), apart=True)


def test_what_nobody_expected_ends_the_wait_and_is_said(
    engine_here: Engine, counted: list[int], later: Later, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(app.results.kept, "_asked_of_a_child", break_down)
    assert kept(engine_here, COUNT, (5,), apart=True).is_under_way
    with pytest.raises(MemoryError):
        later.run()
    assert under_way(engine_here, COUNT) is None
    with pytest.raises(AnnotationError, match="see the server's log"):
        kept(engine_here, COUNT, (5,), apart=True)


@pytest.mark.slow
def test_a_process_of_its_own_that_breaks_down_logs_no_words(tmp_path: Path) -> None:
    given = pickle.dumps((f"sqlite:///{tmp_path}/none.db", Task("what somebody wrote", Principal(1, "evaluator"))))
    ended = subprocess.run([sys.executable, "-m", "app.results.computing"], input=given, capture_output=True)
    assert ended.returncode == 1
    (line,) = map(json.loads, ended.stderr.splitlines())
    assert line["event"].startswith("not computed: KeyError")
    assert "somebody" not in str(line)


@pytest.mark.slow
def test_a_process_of_its_own_finds_the_same(engine_here: Engine, tmp_path: Path) -> None:
    asked = Task("judges", Principal(make_disputed(engine_here, tmp_path / "reports"), "evaluator"))
    assert app.results.kept._asked_of_a_child(engine_here, asked, print) == (compute(engine_here, asked), None)


@pytest.mark.slow
def test_a_process_of_its_own_tells_points_first_then_how_far_it_is(tmp_path: Path) -> None:
    made_pairs(400, seed=8).to_csv(tmp_path / "labels.csv", index=False)
    asked = Task("report", shown_file(str(tmp_path / "labels.csv"), "", '{"resamples": 99}'))
    told: list[object] = []
    report, error = app.results.kept._asked_of_a_child(None, asked, told.append)
    points, first, bounded, *rest = told
    steps = [first, *rest]
    assert error is None
    assert isinstance(points, CalibrationReport)
    assert isinstance(bounded, CalibrationReport)
    assert len(points.estimates) < len(bounded.estimates) < len(report.estimates)
    assert steps == [Step(done, len(steps)) for done in range(1, len(steps) + 1)]


def test_a_page_of_a_large_file_has_points_before_it_has_intervals(
    later: Later, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_pairs(seed=8).to_csv(tmp_path / "labels.csv", index=False)
    monkeypatch.setattr(app.results.shown_file, "MANY_BYTES", 0)
    monkeypatch.setattr("calibration.calibrate.MANY_ROWS", 1)
    drawn: list[str] = []

    def telling(*given: Any) -> Any:
        *whose, told = given

        def told_and_drawn(said: object) -> None:
            told(said)
            if isinstance(said, CalibrationReport):
                drawn.append(shown(file_page("choice", tmp_path / "labels.csv")))

        return app.results.kept._computed(*whose, told_and_drawn)

    monkeypatch.setattr(app.results.kept, "_asked_of_a_child", telling)
    before = shown(file_page("choice", tmp_path / "labels.csv"))
    assert "This page fills in by itself" in before
    assert "Points of" not in before
    later.run()
    between, bounded = drawn
    assert "labels; the choice and the rest follow" in bounded
    assert "their intervals and the choice follow" in between
    assert "judge-x" in between
    after = shown(file_page("choice", tmp_path / "labels.csv"))
    assert "Points of" not in after
    assert "The card of one judge" in after


@pytest.mark.parametrize(
    "refusal",
    [
        AnnotationError("no_file", "not there"), CalibrationError("bad", "row 1"), ImportingError(["row 1", "row 2"]),
    ],
)  # fmt: skip
def test_a_refusal_about_a_file_comes_over_as_it_is(
    refusal: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise refusal

    (tmp_path / "labels.csv").write_text("")
    monkeypatch.setitem(app.results.shown_file.COMPUTED, "judges", refuse)
    value, heard = hear(pickle.loads(pickle.dumps(tell("", Task("judges", shown_file(str(tmp_path / "labels.csv")))))))
    assert value is None
    assert (type(heard), str(heard)) == (type(refusal), str(refusal))


@pytest.mark.parametrize(
    "refusal", [AnnotationError("forbidden", "not yours"), CalibrationError("bad", "row 1 is wrong")]
)
def test_what_a_process_of_its_own_refuses_comes_over_as_it_is(
    engine_here: Engine, monkeypatch: pytest.MonkeyPatch, refusal: Exception
) -> None:
    def refuse(engine: Engine, principal: Principal) -> None:
        raise refusal

    monkeypatch.setitem(app.results.computing.COMPUTED, "count", refuse)
    value, heard = hear(pickle.loads(pickle.dumps(tell(str(engine_here.url), COUNT))))
    assert value is None
    assert (type(heard), vars(heard)) == (type(refusal), vars(refusal))


@pytest.mark.parametrize("name", ["progress", "choice", "disagreements", "disputes", "judges", "blinding"])
def test_of_a_large_study_a_page_stands_before_its_numbers_and_then_fills_in(
    engine_here: Engine, tmp_path: Path, later: Later, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    study = make_disputed(engine_here, tmp_path / "reports")
    small = shown(page(engine_here, study, name))
    monkeypatch.setattr(app.screens.waiting, "MANY", 0)
    monkeypatch.setattr(app.results.kept, "RESTS", 10**9)  # each look signs somebody in, which some pages count
    app.results.kept._shelf.clear()
    assert "This page fills in by itself" in shown(page(engine_here, study, name))
    later.run()
    large = shown(page(engine_here, study, name))
    assert "fills in by itself" not in large
    assert len(large) >= 0.9 * len(small)
