"""Self-preference: by hand, against plain pandas, and on the public votes of MT-Bench where they are at hand."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.bias import Design, made_verdicts
from calibration.biases.preference_bias import family_preference, self_preference
from calibration.results import CalibrationSettings
from calibration.study.joining import study_of
from tests.calibration.biased import verdict

LABELS = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "labels"
SETTINGS = CalibrationSettings()


def test_gains_of_each_system_by_hand() -> None:
    rows = []
    for n, (systems, judge, ann) in enumerate(
        [(("x", "y"), "A", "B"), (("y", "x"), "B", "tie"), (("x", "z"), "A", "A"), (("y", "z"), "tie", "A")]
    ):
        for rater, label in (("judge", judge), ("ann", ann)):
            rows.append(verdict(n, rater, label, system_a=systems[0], system_b=systems[1]))
    one = self_preference(pd.DataFrame(rows), "judge", "f", {"x": "f"})
    # x: judge 1, 1, 1 against 0, .5, 1; y: 0, 0, .5 against 1, .5, 1; z: 0, .5 against 0, 0
    gains = {system.system: system.difference.estimate.value for system in one.systems}
    assert gains == pytest.approx({"x": 1.5 / 3, "y": -2 / 3, "z": 0.5 / 2})
    assert [system.judge for system in one.systems] == pytest.approx([1, 0.5 / 3, 0.25])
    assert [system.people for system in one.systems] == pytest.approx([0.5, 2.5 / 3, 0])
    assert (one.own.estimate.value, one.own.estimate.n) == (pytest.approx(0.5), 3)
    assert one.own_minus_others.estimate.value == pytest.approx(0.5 - (-2 / 3 + 0.25) / 2)
    # people preferred the other once and x once; the judge took x both times
    assert one.given_vote.estimate.value == 1.0


def test_two_reports_of_the_family_against_each_other_say_nothing_about_the_family() -> None:
    rows = [verdict(n, rater, label) for n in range(3) for rater, label in (("judge", "A"), ("ann", "B"))]
    one = self_preference(pd.DataFrame(rows), "judge", "f", {"x": "f", "y": "f"})
    assert (one.own.estimate.n, one.outcome, math.isnan(one.own_minus_others.estimate.value)) == (
        0,
        "cannot_tell",
        True,
    )
    assert one.systems[0].difference.estimate.value == 1.0


def test_a_judge_of_no_family_has_no_own_reports() -> None:
    rows = [verdict(n, rater, "A") for n in range(3) for rater in ("judge", "ann")]
    one = family_preference(pd.DataFrame(rows), "judge")
    assert (one.family, one.own.estimate.n, one.outcome, len(one.systems)) == ("", 0, "cannot_tell", 2)


def test_the_contrast_with_the_others_has_the_spread_of_a_jackknife_over_topics() -> None:
    frame = made_verdicts(Design(topics=80, labels=3, own=0.3), np.random.default_rng(3)).drop(columns="item")
    one = self_preference(frame, "judge", "f", {"own": "f"}).own_minus_others.estimate
    wide = (
        frame.assign(score=(frame["label"] == "A").astype(float))
        .groupby(["item_id", "criterion", "cluster_id", "system_a", "system_b", "rater_id"])["score"]
        .mean()
        .unstack()
        .reset_index()
    )
    wide["gain"] = wide["judge"] - (wide["ann0"] + wide["ann1"]) / 2

    def contrast(rows: pd.DataFrame) -> float:
        both = [rows.set_axis(rows["system_a"])["gain"], -rows.set_axis(rows["system_b"])["gain"]]
        gain = pd.concat(both).groupby(level=0).mean()
        return float(gain["own"] - gain.drop("own").mean())

    assert one.value == pytest.approx(contrast(wide))
    left_out = np.array([contrast(wide[wide["cluster_id"] != topic]) for topic in wide["cluster_id"].unique()])
    jackknife = math.sqrt(79 / 80 * ((left_out - left_out.mean()) ** 2).sum())
    assert (one.high - one.low) / 2 / 1.9905 == pytest.approx(jackknife, rel=0.04)


if LABELS.is_dir():

    def test_gpt_4_gives_its_own_reports_twelve_points_more_than_people_do() -> None:
        study = study_of(pd.read_csv(LABELS / "mtbench_votes.csv"), SETTINGS)
        one = self_preference(study, "gpt4_pair", "gpt", {"gpt-4": "gpt"}, SETTINGS)
        assert one.own.estimate.value == pytest.approx(0.12, abs=0.005)
        assert one.own_minus_others.estimate.value == pytest.approx(0.14, abs=0.005)
        assert (one.own.estimate.n, one.own.estimate.clusters) == (1029, 80)
        assert one.own.estimate.low > one.own.floor
        assert (one.outcome, one.own.place) == ("found", "beyond")
