"""What was seen on 1.0.0, in its files and through its command: each fails there and is as it should be here.

The levels of the test and of looking again are simulated elsewhere: `benchmarks/level.py` and `benchmarks/looks.py`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from app.command_line import app
from calibration.choosing.noninferiority import non_inferiority
from tests.calibration.priced import priced

RESAMPLES = ("--resamples", "199")


def one_annotator() -> pd.DataFrame:
    """The commonest file of all: three judges that agree with the one annotator in 59 to 61 % of labels, κ .2."""
    judges = {"a": (0.25, 0.001), "b": (0.25, 0.002), "c": (0.25, 0.003)}
    return priced(judges, pairs=800, annotators=1, prevalence=(0.5, 0.0, 0.5))


def hardly_above_a_constant() -> pd.DataFrame:
    """People and the judge alike hardly do better than always answering A: .516 beside .513."""
    judge = {"large": (0.18, 0.001)}
    return priced(judge, pairs=300, prevalence=(0.5, 0.0, 0.5), skill=0.15, annotators=4, seed=6)


def changing_its_mind() -> pd.DataFrame:
    """Asked again the judge answers as another annotator would, otherwise in four of ten labels."""
    frame = priced({"large": (0.8, 0.001)}, pairs=200, annotators=4, skill=0.6)
    fourth = frame[frame["rater_id"] == "ann3"].assign(rater_id="large", rater_kind="judge", run=2, cost_usd=0.001)
    return pd.concat([frame[frame["rater_id"] != "ann3"].assign(run=1), fourth])


def people_who_hardly_agree() -> pd.DataFrame:
    """Five answers, and people agree among themselves in a third of them, as on WAX."""
    frame = priced({"best": (0.75, 0.001)}, pairs=400, prevalence=(0.34, 0.33, 0.33), skill=0.3)
    return frame.assign(label=frame["label"].map({"A": "cause", "B": "part", "tie": "kind"}), system_a="", system_b="")


def without_a_price() -> pd.DataFrame:
    return priced({"gpt4_pair": (0.95, math.nan)}, pairs=200)


def scored(points: int, people: int, judge: int) -> pd.DataFrame:
    """Scores from 1 to `points`: of an annotator every second is off by `people`, of the judge each one by `judge`."""
    rng, count = np.random.default_rng(3), 300
    true, frames = rng.integers(1, points + 1, count), []
    for rater in ("ana", "bo", "chen", "mini"):
        own = rater == "mini"
        off = rng.choice([-1, 1], count) * (judge if own else people * rng.integers(0, 2, count))
        frames.append(pd.DataFrame({
            "item_id": [f"r{n}" for n in range(count)], "cluster_id": [f"t{n}" for n in range(count)],
            "criterion": "depth", "rater_id": rater, "rater_kind": "judge" if own else "human", "system_a": "atlas",
            "label": np.clip(true + off, 1, points), "cost_usd": 0.001 if own else math.nan,
        }))  # fmt: skip
    return pd.concat(frames)


def passing() -> pd.DataFrame:
    """Two systems, each answer pass or fail."""
    frame = priced({"mini": (0.8, 0.001)}, prevalence=(0.6, 0.0, 0.4))
    system = np.where(frame["item_id"].str[-1].isin(list("02468")), "atlas", "borealis")
    return frame.assign(label=frame["label"].map({"A": "pass", "B": "fail"}), system_a=system, system_b="")


def judges_alone() -> pd.DataFrame:
    frame = priced({"a": (0.9, 0.001), "b": (0.8, 0.002)})
    return frame[frame["rater_kind"] == "judge"]


def a_missing_price() -> pd.DataFrame:
    frame = priced({"mini": (0.95, 0.001)}, pairs=200)
    frame.loc[frame.index[frame["rater_id"] == "mini"][5], "cost_usd"] = math.nan
    return frame


@dataclass(frozen=True)
class Seen:
    """A file, what is asked of it, and what has to be said now. `never`: what 1.0.0 said."""

    frame: Callable[[], pd.DataFrame]
    options: tuple[str, ...]
    code: int
    says: tuple[str, ...]
    never: tuple[str, ...] = ()


SEEN = {
    "1 adequate without people to compare with": Seen(
        one_annotator, ("--gate",), 4, ("no label has a second annotator's beside it", "second annotator label"),
        ("adequate judge of",),
    ),
    "2 adequate where agreement is hardly above a constant answer": Seen(
        hardly_above_a_constant, ("--gate",), 4, ("whether it beats the best constant answer", "hardly agree here"),
        ("cheapest adequate",),
    ),
    "2 adequate with no word of repeats": Seen(
        changing_its_mind, ("--gate",), 0, ("with reservations: asked again, it changes its answers (",),
    ),
    "2 adequate with no word of people who hardly agree": Seen(
        people_who_hardly_agree, ("--gate",), 0, ("people hardly agree here",),
    ),
    "5 nothing speaks of looking again": Seen(without_a_price, (), 0, ("One look is assumed",)),
    "6 a margin for a file": Seen(without_a_price, ("--margin", ".1"), 0, ("margin 10.0 points",)),
    "7 scores of 1 to 5 by exact equality alone": Seen(
        lambda: scored(5, 2, 1), ("--gate",), 0, ("mini is the cheapest adequate judge", "distance of the scores"),
    ),
    "7 no choice on scores of 0 to 100": Seen(
        lambda: scored(100, 4, 2), ("--gate",), 0, ("mini is the cheapest adequate judge", "distance of the scores"),
    ),
    "9 judges alone": Seen(
        judges_alone, (), 1, ("No annotator's answer is in the table", "agree in 83.1 %"), ("No two raters share an answer",),
    ),
    "9 one missing price": Seen(
        a_missing_price, ("--gate",), 0, ("mini is the cheapest adequate judge", "USD per 1,000 items"),
    ),
}  # fmt: skip


def calibrate(folder: Path, frame: pd.DataFrame, *options: str) -> tuple[int, str]:
    path = folder / "labels.csv"
    frame.to_csv(path, index=False)
    found = CliRunner().invoke(app, ["calibrate", str(path), *RESAMPLES, *options])
    return found.exit_code, " ".join(f"{found.output}{found.exception or ''}".split())


@pytest.mark.parametrize("name", SEEN)
def test_what_was_seen_is_seen_no_more(name: str, tmp_path: Path) -> None:
    seen = SEEN[name]
    code, told = calibrate(tmp_path, seen.frame(), *seen.options)
    assert code == seen.code, told
    assert [words for words in seen.says if words not in told] == [], told
    assert [words for words in seen.never if words in told] == [], told


def test_2_the_panel_is_told_of_the_same_decision_as_the_headline(tmp_path: Path) -> None:
    _, told = calibrate(tmp_path, without_a_price(), "--json")
    report = json.loads(told)
    assert report["data"]["panel_sensitivity"]["whole"]["decision"] == report["choice"]["judge"] == "gpt4_pair"


@pytest.mark.parametrize("named", [(), ("--judge", "gpt4_pair")])
def test_3_the_exit_code_says_what_the_sentence_says(named: tuple[str, ...], tmp_path: Path) -> None:
    code, told = calibrate(tmp_path, without_a_price(), "--gate", *named)
    assert (code, "gpt4_pair is adequate" in told) == (0, True)


def test_4_a_judge_at_the_margin_is_seldom_called_adequate_where_one_topic_holds_two_labels_of_five() -> None:
    rng, passed = np.random.default_rng(11), 0
    cluster = np.repeat(np.arange(40), [104, *[4] * 39])
    for _ in range(200):
        fault = rng.beta(0.1, 1.9, 40)[cluster]  # 5 % in the mean, and gathered in topics
        judge = 1 - (rng.random(len(cluster)) < fault)
        passed += non_inferiority(judge, np.ones(len(cluster)), cluster, 0.05).outcome == "non_inferior"
    assert passed <= 14  # 7 %


def test_8_what_passes_is_told_by_counts_rates_and_corrected_pass_rates(tmp_path: Path) -> None:
    _, told = calibrate(tmp_path, passing(), "--json")
    report = json.loads(told)
    rates = {"true_positive_rate", "true_negative_rate", "precision", "f1_score", "youden_j", "rogan_gladen_pass_rate"}
    assert rates - {one["statistic"] for one in report["estimates"]} == set()
    assert "mini" in {one["rater"] for one in report["data"]["pass_fail"]}


def test_9_a_column_of_percentages_is_read_alike_by_doctor_and_calibrate(tmp_path: Path) -> None:
    frame = scored(100, 4, 2)
    frame["label"] = frame["label"].astype(str) + "%"
    code, _ = calibrate(tmp_path, frame)
    assert code == CliRunner().invoke(app, ["doctor", str(tmp_path / "labels.csv")]).exit_code == 0
