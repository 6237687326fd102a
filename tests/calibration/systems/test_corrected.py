"""The judge-corrected win rate: its formula by hand, its coverage, and what it refuses. In full: benchmarks/ranking.py."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.ranking import Design, corrected_rates, corrected_strengths, labelled_in_part
from calibration.errors import CalibrationError
from calibration.results import CalibrationSettings
from calibration.systems.bradley_terry import judge_corrected_strengths
from calibration.systems.corrected import ClusterMeans, corrected_interval, corrected_mean, judge_corrected_win_rates
from tests.calibration.ranked import drawn_study, verdicts

FEW = CalibrationSettings(resamples=200)
NAN = math.nan


def means(h: list[float], g: list[float], rest: list[float]) -> ClusterMeans:
    """Labelled clusters, then unlabelled ones."""
    n, more = len(h), len(rest)
    return ClusterMeans(
        np.array(h + [NAN] * more), np.array(g + [NAN] * more), np.array([NAN] * n + rest), np.ones(n + more), 0
    )


def test_the_formula_worked_by_hand() -> None:
    # h 0 .5 1, g .25 .5 1: cov = .1875; all of g: .25 .5 1 .25 .5 1, var = 7/60; n / N = 1, so
    # lam = .1875 / (2 * 7/60) = 45/56; both means of g are 7/12, so nothing moves: theta = 1/2
    found = corrected_mean(means([0, 0.5, 1], [0.25, 0.5, 1], [0.25, 0.5, 1]))
    assert found.tuning == pytest.approx(45 / 56)
    assert found.value == pytest.approx(0.5)
    # g 0 .25 .5 there and .5 .75 1 elsewhere: cov = .125 = var, so lam = 1/2, theta = .75 / 2 + (.5 - .25 / 2) = 3/4
    moved = corrected_mean(means([0, 0.5, 1], [0, 0.25, 0.5], [0.5, 0.75, 1]))
    assert (moved.tuning, moved.value) == pytest.approx((1 / 2, 3 / 4))


def test_its_error_is_that_of_both_parts() -> None:
    # cov(h, g) = .05 is more than twice var(g), so lam is 1; h - g: -.4 0 .4, var .16; elsewhere .4 .5 .6, var .01
    found = corrected_mean(means([0, 0.5, 1], [0.4, 0.5, 0.6], [0.4, 0.5, 0.6]))
    assert found.tuning == 1
    assert found.se == pytest.approx(math.sqrt(0.16 / 3 + 0.01 / 3))
    low, high = corrected_interval(corrected_mean(means([0.2, 0.5, 0.8], [0.5] * 3, [0.5] * 9)), 3)
    assert (low, high) == pytest.approx((0, 1))  # 4.303 * .3 / sqrt(3) = .745 either way


def test_where_lambda_is_estimated_each_residual_is_freed_of_its_own_pull() -> None:
    h, g, rest = [0.0, 0.6, 0.5, 0.9], [0.1, 0.4, 0.7, 0.8], [0.2, 0.4, 0.6, 0.8]
    found = corrected_mean(means(h, g, rest))
    assert 0 < found.tuning < 1
    left = np.array(h) - found.tuning * np.array(g)
    x = np.stack([np.ones(4), np.array(g)], axis=1)
    hat = np.diag(x @ np.linalg.inv(x.T @ x) @ x.T)
    labelled = ((left - left.mean()) ** 2 / (1 - hat)).sum() / 16
    assert found.se**2 == pytest.approx(labelled + found.tuning**2 * np.var(rest, ddof=1) / 4)


def test_a_judge_that_is_always_right_counts_as_much_as_labels_everywhere() -> None:
    rng = np.random.default_rng(2)
    h, rest = rng.random(20), rng.random(200_000)
    found = corrected_mean(means(list(h), list(h), list(rest)))
    assert found.value == pytest.approx(rest.mean(), abs=0.05)
    assert found.se < 0.05 * h.std(ddof=1)


@pytest.mark.parametrize("g", [[0.5] * 4, [0.9, 0.6, 0.4, 0.1]])
def test_a_judge_that_never_varies_or_says_the_opposite_is_not_listened_to(g: list[float]) -> None:
    h = [0.1, 0.4, 0.6, 0.9]
    found = corrected_mean(means(h, g, [0.2, 0.5, 0.5, 0.9]))
    assert (found.tuning, found.value) == (0.0, 0.5)
    assert found.se == pytest.approx(np.std(h, ddof=1) / 2)


def test_fewer_than_two_labelled_clusters_have_no_interval_and_none_no_value() -> None:
    one, none = corrected_mean(means([0.7], [0.6], [0.1, 0.2])), corrected_mean(means([], [], [0.1, 0.2]))
    assert (one.value, one.tuning) == (0.7, 0.0)
    assert np.isnan(corrected_interval(one, 1)).all()
    assert math.isnan(none.value)
    assert none.reason.reason == "no_items"


def test_shares_stay_within_0_and_1() -> None:
    found = corrected_mean(means([0.9, 1.0, 1.0], [0.5, 0.9, 0.8], [1.0, 1.0, 0.9]))
    low, high = corrected_interval(found, 3)
    assert 0 <= low <= high == 1


def bounds(share: float, studies: int) -> float:
    return 3.5 * math.sqrt(share * (1 - share) / studies)


@pytest.mark.slow
def test_it_covers_at_half_the_width_of_labels_and_neither_the_judge_nor_single_labels_do() -> None:
    ours, labels, judge, items, width = corrected_rates(600)
    for one in (ours, labels):
        assert 0.93 - bounds(0.95, 600) <= one.value <= 0.97 + bounds(0.95, 600)
    assert judge.value < 0.05
    assert items.value < 0.75
    assert 0.4 < width.value < 0.6


@pytest.mark.slow
def test_a_judge_that_knows_nothing_costs_no_coverage() -> None:
    (ours,) = corrected_rates(600, Design(labels=5, accuracy=0.5))
    assert 0.93 - bounds(0.95, 600) <= ours.value <= 0.97 + bounds(0.95, 600)


@pytest.mark.slow
def test_topics_labelled_in_part_are_covered_jointly() -> None:
    (ours,) = labelled_in_part(600)
    assert 0.93 - bounds(0.95, 600) <= ours.value <= 0.97 + bounds(0.95, 600)


@pytest.mark.slow
def test_corrected_strengths_cover_where_a_judge_with_a_favourite_does_not() -> None:
    ours, labels, judge, width = corrected_strengths(60, resamples=499)
    assert min(ours.value, labels.value) >= 0.92 - bounds(0.95, 60)
    assert judge.value < 0.5
    assert width.value < 0.8


def test_from_verdicts_it_is_the_formula_on_topic_means() -> None:
    frame = drawn_study(30, labelled=10)
    found = judge_corrected_win_rates(frame, "judge-x", FEW)
    score = frame["label"].map({"A": 1.0, "tie": 0.5, "B": 0.0})
    of_atlas = np.where(frame["system_a"] == "atlas", score, 1 - score)
    rows = frame.assign(score=of_atlas)[(frame["system_a"] == "atlas") | (frame["system_b"] == "atlas")]
    judge = rows[rows["rater_id"] == "judge-x"].groupby("cluster_id")["score"].mean()
    people = rows[rows["rater_kind"] == "human"].groupby("cluster_id")["score"].mean()
    n, more = len(people), len(judge) - len(people)
    h, g = people.to_numpy(), judge[people.index].to_numpy()
    rest = judge.drop(people.index).to_numpy()
    lam = np.cov(h, g)[0, 1] / ((1 + n / more) * np.var(judge.to_numpy(), ddof=1))
    lam = min(1, max(0, lam))
    corrected = next(one for one in found.corrected.systems if one.system == "atlas").estimate
    assert found.tuning["atlas"] == pytest.approx(lam)
    assert corrected.value == pytest.approx(lam * rest.mean() + (h - lam * g).mean())
    assert (corrected.clusters, corrected.n, corrected.method) == (30, 60, "cluster_t")
    assert found.people.values["atlas"] == pytest.approx(h.mean())
    assert found.judge_alone.values["atlas"] == pytest.approx(judge.mean())
    assert "10 labelled and 20 unlabelled clusters; lambda" in corrected.note


def test_without_unlabelled_topics_corrected_is_labels_alone() -> None:
    found = judge_corrected_win_rates(drawn_study(), "judge-x", FEW)
    assert found.corrected.values == pytest.approx(found.people.values)
    assert set(found.tuning.values()) == {0.0}
    people, _, corrected = judge_corrected_strengths(drawn_study(), "judge-x", FEW)
    assert corrected.values == pytest.approx(people.values)


def straddling() -> tuple[list[tuple[str, str, str, str, str]], list[tuple[str, str, str, str, str]]]:
    """Ten topics of two pairs; people labelled one of them, and in the second half of the topics both."""
    rng = np.random.default_rng(0)
    people, judge = [], []
    for topic in range(10):
        for k, other in enumerate(("y", "z")):
            judge.append((f"t{topic}", "judge", "x", other, "AB"[rng.integers(2)]))
            if topic >= 5 or not k:
                people.append((f"t{topic}", "ann", "x", other, "AB"[rng.integers(2)]))
    return people, judge


def test_a_cluster_labelled_in_part_is_refused_unless_its_rest_is_dropped_or_taken_jointly() -> None:
    people, judge = straddling()
    frame = verdicts(people + judge)
    refused = judge_corrected_win_rates(frame, "judge", FEW)
    estimates = {one.system: one.estimate for one in refused.corrected.systems}
    assert math.isnan(estimates["x"].value)
    assert "cluster_straddles: 5 clusters" in estimates["x"].note
    assert math.isnan(refused.tuning["x"])
    assert all(
        "cluster_straddles" in one.estimate.note for one in judge_corrected_strengths(frame, "judge", FEW)[2].systems
    )
    dropped = judge_corrected_win_rates(frame, "judge", FEW, "drop")
    assert dropped.corrected.values["x"] == pytest.approx(dropped.people.values["x"])
    assert "the unlabelled part of 5 clusters dropped" in dropped.corrected.systems[0].estimate.note
    jointly = judge_corrected_win_rates(frame, "judge", FEW, "joint")
    joint = next(one.estimate for one in jointly.corrected.systems if one.system == "x")
    assert joint.low < joint.value < joint.high
    assert "5 clusters labelled in part" in joint.note
    with pytest.raises(CalibrationError, match="straddling"):
        judge_corrected_win_rates(frame, "judge", FEW, "perhaps")  # type: ignore[arg-type]


def test_unusable_answers_are_dropped_on_both_sides_and_counted() -> None:
    frame = drawn_study(20, labelled=10)
    frame["status"] = "ok"
    judge = frame.index[(frame["rater_id"] == "judge-x") & (frame["cluster_id"] == "t03")][0]
    frame.loc[judge, ["label", "status"]] = ["", "invalid"]
    item = frame.loc[frame["cluster_id"] == "t05", "item_id"].iloc[0]
    frame.loc[(frame["item_id"] == item) & (frame["rater_kind"] == "human"), "label"] = "not_applicable"
    note = judge_corrected_win_rates(frame, "judge-x", FEW).corrected.systems[0].estimate.note
    assert "1 labelled units without an answer of the judge dropped" in note
    assert "1 units without a usable answer of the people asked dropped" in note
    assert "cluster_straddles" not in note
