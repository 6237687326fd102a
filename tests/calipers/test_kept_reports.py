"""What was computed is kept on this machine by what it is made of, read by nobody who could make it do more."""

from __future__ import annotations

import hashlib
import os
import pickle
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import calipers.kept_reports
from app.command_line import run
from calibration.calibrate import Waiting, calibrate, calibrate_with_cascades
from calibration.settings import CalibrationSettings
from calipers.kept_reports import (
    SUFFIX,
    cache_folder,
    calibrated_or_kept,
    make_room,
    place_of,
    read_report,
    report_key,
)
from exports.as_json import report_json
from tests.calibration.studies import made_pairs, made_ratings

SETTINGS = CalibrationSettings(resamples=99)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALIPERS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A number for every report that was computed and not read."""
    made: list[int] = []

    def counting(*given: object) -> object:
        made.append(len(made))
        return calibrate_with_cascades(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(calipers.kept_reports, "calibrate_with_cascades", counting)
    return made


@pytest.mark.parametrize("made", [made_pairs, made_ratings])
def test_a_report_is_computed_once_and_read_as_it_was(
    made: Callable[[], pd.DataFrame], folder: Path, computed: list[int]
) -> None:
    labels = made()
    first, second = (calibrated_or_kept(labels, SETTINGS)[0] for _ in range(2))
    assert len(computed) == 1
    assert report_json(second) == report_json(first) == report_json(calibrate(labels, SETTINGS))
    assert [path.suffix for path in folder.iterdir()] == [SUFFIX]
    assert folder.stat().st_mode & 0o077 == 0


def test_other_labels_other_settings_and_other_code_are_another_report(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = made_pairs()
    other = labels.assign(label=["A" if labels["label"][0] == "B" else "B", *labels["label"][1:]])
    told = labels.assign(rationale="because")
    keys = [
        report_key(labels, SETTINGS), report_key(other, SETTINGS), report_key(told, SETTINGS),
        report_key(labels, replace(SETTINGS, seed=1)), report_key(labels, replace(SETTINGS, families={"mini": "x"})),
    ]  # fmt: skip
    monkeypatch.setattr(calipers.kept_reports, "code_sha256", lambda: "another")
    keys.append(report_key(labels, SETTINGS))
    assert len({*keys}) == len(keys)


def test_what_holds_no_plain_values_is_computed_and_not_kept(folder: Path, computed: list[int]) -> None:
    labels = made_pairs().assign(mixed=[[1], *["x"] * (len(made_pairs()) - 1)])
    for _ in range(2):
        calibrated_or_kept(labels, SETTINGS)
    assert len(computed) == 2


def whole(packed: bytes) -> bytes:
    return hashlib.sha256(packed).digest() + packed


class Evil:
    """What runs a command where a pickle may do what it likes."""

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("touch harmed",)


@pytest.mark.parametrize(
    "held",
    [
        b"", b"cut off", whole(zlib.compress(pickle.dumps("another thing"))), whole(zlib.compress(pickle.dumps(Evil()))),
        whole(zlib.compress(pickle.dumps(calibrate))), whole(zlib.compress(pickle.dumps(Path("x")))),
    ],
    ids=["empty", "cut", "no report", "a command", "a function of ours", "another class"],
)  # fmt: skip
def test_a_file_that_holds_no_whole_report_is_none_and_runs_nothing(
    held: bytes, folder: Path, computed: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = place_of(made_pairs(), SETTINGS)
    assert place is not None
    place.write_bytes(held)
    assert read_report(place) is None
    calibrated_or_kept(made_pairs(), SETTINGS)
    assert read_report(place) is not None, "the next one is put in its place"
    assert not (tmp_path / "harmed").exists()


def test_nothing_is_kept_where_others_could_write_or_nobody_wants_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cache_folder() == folder
    folder.chmod(0o777)
    assert cache_folder() is None
    (tmp_path / "file").write_text("")
    for value in ("off", "OFF", str(tmp_path / "file")):
        monkeypatch.setenv("CALIPERS_CACHE", value)
        assert cache_folder() is None
    monkeypatch.delenv("CALIPERS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "calipers"


def test_a_full_disk_keeps_nobody_from_the_report(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("calipers.kept_reports.tempfile.NamedTemporaryFile", full)
    assert calibrated_or_kept(made_pairs(), SETTINGS)[0].estimates
    assert [*folder.iterdir()] == []


def test_many_at_once_find_whole_reports_and_leave_one_file(folder: Path) -> None:
    labels = made_pairs()
    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(lambda _: report_json(calibrated_or_kept(labels, SETTINGS)[0]), range(8))]
    assert len({*found}) == 1
    assert len([*folder.iterdir()]) == 1


def test_what_was_used_longest_ago_makes_room(tmp_path: Path) -> None:
    names = ("new.report", "older.report", "oldest.report", "left.report.part", "mine.txt", "mine.part")
    for age, name in enumerate(names):
        (tmp_path / name).write_bytes(bytes(100))
        os.utime(tmp_path / name, (10_000 - age, 10_000 - age))
    make_room(tmp_path, most_bytes=250)
    assert {path.name for path in tmp_path.iterdir()} == {"new.report", "older.report", "mine.txt", "mine.part"}


def test_points_come_first_then_intervals_of_agreement_and_how_far_the_rest_is(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("calibration.calibrate.MANY_ROWS", 1)
    told: list[object] = []
    waiting = Waiting(told.append, lambda done, of: told.append((done, of)))
    report, _ = calibrated_or_kept(made_pairs(), SETTINGS, waiting=waiting)
    points, first, bounded, *rest = told
    steps = [first, *rest]
    values = {(one.statistic, one.rater, one.reference, one.criterion): one.value for one in report.estimates}
    assert points.estimates  # type: ignore[attr-defined]
    for one in points.estimates:  # type: ignore[attr-defined]
        assert values[one.statistic, one.rater, one.reference, one.criterion] == pytest.approx(one.value, nan_ok=True)
    whole = {(one.statistic, one.rater, one.reference, one.criterion): one for one in report.estimates}
    assert {one.rater for one in bounded.estimates} >= {"each_annotator"}  # type: ignore[attr-defined]
    for one in bounded.estimates:  # type: ignore[attr-defined]
        assert one == whole[one.statistic, one.rater, one.reference, one.criterion]
    count = len(steps)
    assert steps == [(done, count) for done in range(1, count + 1)]
    made_pairs().to_csv(tmp_path / "labels.csv", index=False)
    for first in (True, False):  # the second time there is nothing to wait for
        assert run(["calibrate", str(tmp_path / "labels.csv"), "--resamples", "99", "--seed", "3"]) == 0
        said = capsys.readouterr()
        assert ("their intervals and the choice follow" in said.err) == first
        assert ("labels; the choice and the rest follow" in said.err) == first
        assert "Points of" not in said.out
