"""Pass rates without a judge's errors: Rogan and Gladen's by hand and drawn row by row, beside PPI++, cut and refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from calibration.calibrate import calibrate
from calibration.inference.bootstrap import cluster_weights, expanded_percentile
from calibration.settings import CalibrationSettings
from calibration.systems.pass_rates import rogan_gladen
from tests.calibration.passing.passed import by_name, made_answers

FEW = CalibrationSettings(resamples=199)
RG, PPI = "rogan_gladen_pass_rate", "judge_corrected_pass_rate"


def test_by_hand_and_undefined_where_the_judge_says_nothing():
    right = np.array([[80.0, 30.0], [20.0, 70.0]])  # TPR .8, TNR .7
    assert rogan_gladen(np.array([0.5, 0.3, 0.8]), right) == pytest.approx([0.4, 0.0, 1.0])
    for table in ([[50.0, 50.0], [50.0, 50.0]], [[30.0, 80.0], [70.0, 20.0]], [[0.0, 3.0], [0.0, 7.0]]):
        assert np.isnan(rogan_gladen(np.array([0.5]), np.array(table))).all()


def test_every_draw_is_that_of_whole_clusters_drawn_row_by_row():
    frame = made_answers(topics=24, labelled=16)
    report = calibrate(frame, FEW)
    judge, people = (frame[frame["rater_kind"] == kind] for kind in ("judge", "human"))
    passed = judge["label"].eq("pass").groupby(judge["cluster_id"]).mean().to_numpy()
    joined = people.merge(judge, on="item_id", suffixes=("", "_judge"))
    truth, judged = (joined[name].eq("pass").to_numpy() for name in ("label", "label_judge"))
    own = [np.flatnonzero(joined["cluster_id"] == f"t{topic:02}") for topic in range(16)]
    found = []
    for weights in (np.ones((1, 24)), *cluster_weights(24, 199, 0)):
        for drawn in weights:
            chosen = np.repeat(np.arange(24), drawn.astype(int))
            rows = np.concatenate([own[topic] for topic in chosen if topic < 16])
            found.append(_by_formula(passed[chosen].mean(), truth[rows], judged[rows]))
    one = by_name(report, RG)
    assert one.value == pytest.approx(found[0])
    assert (one.low, one.high) == pytest.approx(expanded_percentile(np.array(found[1:]), 16))
    assert (one.n, one.clusters) == (24 * 6, 24)


def _by_formula(passed, truth, judged):
    right, refused = judged[truth].mean(), (~judged[~truth]).mean()
    return (passed + refused - 1) / (right + refused - 1)


def test_both_corrections_find_what_people_would_have_said_where_the_judge_alone_does_not():
    frame = made_answers(topics=200, labelled=60, right=(0.9, 0.6), seed=8)
    report = calibrate(frame, FEW)
    for system, truth in {"systems: s1": 0.8, "systems: s2": 0.4}.items():
        alone = by_name(report, "pass_rate", category=system)
        assert abs(alone.value - truth) > 0.02
        for name in (RG, PPI):
            one = by_name(report, name, category=system)
            assert one.low <= truth <= one.high
            assert abs(one.value - truth) < abs(alone.value - truth)
    people = by_name(report, "pass_rate", "each_annotator")
    assert people.low <= 0.6 <= people.high


def test_where_people_labelled_everything_ppi_is_what_people_say():
    report = calibrate(made_answers(people=2), FEW)
    for system in ("all", "systems: s1", "systems: s2"):
        people = by_name(report, "pass_rate", "each_annotator", category=system)
        assert by_name(report, PPI, category=system).value == pytest.approx(people.value)


def test_a_judge_no_better_than_a_guess_corrects_nothing_and_says_why():
    frame = made_answers(right=(0.3, 0.4))
    one = by_name(calibrate(frame, FEW), RG)
    assert math.isnan(one.value)
    assert math.isnan(one.low)
    assert "uninformative: true positive and true negative rate add up to 1 or less" in one.note
    frame.loc[frame["rater_id"] == "j", "label"] = "fail"  # never says pass: TPR 0, TNR 1
    assert "uninformative" in by_name(calibrate(frame, FEW), RG).note


def test_a_value_beyond_a_share_is_cut_and_told():
    frame = made_answers(topics=40, labelled=20, right=(0.9, 0.9), passing={"s1": 0.95, "s2": 0.1}, seed=6)
    unlabelled = frame["cluster_id"] >= "t20"
    frame.loc[unlabelled & (frame["system_a"] == "s1"), "label"] = "pass"
    one = by_name(calibrate(frame, FEW), RG, category="systems: s1")
    assert one.value == 1.0
    assert "before it was cut at 1" in one.note
    assert math.isnan(one.low) or (0.0 <= one.low < one.high <= 1.0)
    assert one.method == ("none" if math.isnan(one.low) else "cluster_bootstrap_expanded")
