"""`calipers judge drift` as a user types it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from annotation.judges.replies.outcomes import Reply
from app.command_line import main
from app.commands.judges.drift import in_words
from app.settings import database, settings
from calibration.comparing.judge_pairs import AgreementDrift
from calibration.inference.compare import Difference
from db.connect import open_database
from tests.annotation.judges.judged_study import Stub, judgments, replied
from tests.disputed_study import judge, make_disputed
from tests.migrated import new_sqlite

Typed = Callable[..., str]


@pytest.fixture
def calipers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Typed]:
    """The command line on a study whose judge answers as another model the second time."""
    url = f"sqlite:///{tmp_path}/x.db"
    monkeypatch.setenv("CALIPERS_DATABASE_URL", url)
    settings.cache_clear()
    database.cache_clear()
    new_sqlite(tmp_path / "x.db")
    engine = open_database(url)
    study = make_disputed(engine, tmp_path / "reports", judged=False)
    for model, winner, more in (("x-01", "first", ""), ("x-06", "tie", "repeats = 2")):
        judge(engine, study, "mini", Stub(partial(_say, winner, model)), more=more)
    judge(engine, study, "slow", Stub(partial(_say, "tie", "x-06")), limit=1)

    def run(*words: str, exit_code: int = 0) -> str:
        monkeypatch.setattr(sys, "argv", ["calipers", "judge", "drift", "disputed", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert (ended.value.code or 0) == exit_code, out + err
        return " ".join((out + err).split())

    yield run
    engine.dispose()
    settings.cache_clear()
    database.cache_clear()


def _say(winner: str, model: str, text: str, number: int) -> Reply:
    return replied(judgments(text, winner), text, model=model)


def test_without_names_it_says_which_runs_there_are(calipers: Typed) -> None:
    listed = json.loads(calipers("--json"))
    assert [(run["run"], run["snapshot"], run["calls"]) for run in listed] == [
        ("mini@1", "x-01", 4), ("mini@2", "x-06", 4), ("slow@1", "x-06", 1),
    ]  # fmt: skip
    assert "mini@2 openai/mini x-06" in calipers()
    assert "name two runs" in calipers("mini@1", exit_code=2).replace("│ ", "")


def test_the_field_that_changed_is_named_beside_the_difference_on_the_same_labels(calipers: Typed) -> None:
    said = calipers("mini@1", "mini@2")
    assert "the judge changed (reported snapshot); it read the same reports" in said
    assert "agreement with the annotators 37.5 %, then 25.0 %: 12.5 points less" in said
    assert "8 of 8 labels, 2 clusters" in said
    assert "snapshot x-01 x-06" in said
    found = json.loads(calipers("mini@1", "mini@2", "--json"))
    assert (found["cause"], found["changed"]) == ("judge changed", ["snapshot"])
    assert found["fields"] == {"snapshot": {"before": "x-01", "after": "x-06"}}
    agreement = found["agreement"]
    assert (agreement["before"], agreement["after"], agreement["difference"]) == (0.375, 0.25, -0.125)
    assert (agreement["n"], agreement["clusters"], found["labels"]) == (8, 2, 8)


def test_runs_held_against_other_labels_are_refused_until_common_is_asked_for(calipers: Typed) -> None:
    assert "are held against different labels" in calipers("mini@1", "slow", exit_code=1)
    assert "of 4 labels" in calipers("mini@1", "slow", "--common")


@pytest.mark.parametrize(
    ("value", "low", "high", "n", "note", "said"),
    [
        (
            -0.2,
            -0.3,
            -0.1,
            40,
            "",
            "20.0 points less (95 % interval -30.0 to -10.0, 40 of 50 labels, 5 clusters)",
        ),
        (
            0.02,
            -0.1,
            0.14,
            40,
            "",
            "(95 % interval -10.0 to +14.0, 40 of 50 labels, 5 clusters); no change is shown",
        ),
        (0.0, float("nan"), float("nan"), 40, "zero_variance", "no difference (the same in every cluster: no interval"),
        (float("nan"), float("nan"), float("nan"), 0, "too_few_units", "none of 50 labels was answered in both"),
    ],
)
def test_the_sentence_never_says_more_than_the_interval(
    value: float, low: float, high: float, n: int, note: str, said: str
) -> None:
    difference = Difference(value, low, high, 0.5, n, 5, note)
    assert said in in_words(AgreementDrift(0.5, 0.5 + value, difference, 50))
