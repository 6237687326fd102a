"""Numbers of the published studies that say less than they seem to, each beside what calipers prints instead."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from calibration.calibrate import calibrate
from calibration.results import CalibrationReport, CalibrationSettings, Estimate
from tests.calibration.mistakes import table
from tests.calibration.plain_aggregates import majority, mean, share

FEW = CalibrationSettings(resamples=99)


def estimate(
    report: CalibrationReport, statistic: str, rater: str = "judge", reference: str = "each_annotator"
) -> Estimate:
    (found,) = [
        one for one in report.estimates
        if (one.statistic, one.rater, one.reference, one.criterion) == (statistic, rater, reference, "all")
    ]  # fmt: skip
    return found


def codes(report: CalibrationReport) -> set[str]:
    return {one.code for one in report.warnings}


def test_390_labels_of_ten_pairs_are_ten_clusters_and_not_390() -> None:
    """Agreement .8: eight pairs of 39 labels right, two wrong. Labels taken one by one would claim 4 points."""
    frame = table({"ann": "A" * 390, "judge": "A" * 312 + "B" * 78}, per_cluster=39)
    report = calibrate(frame, FEW)
    agreement = estimate(report, "percent_agreement")
    assert (agreement.value, agreement.n, agreement.clusters) == (pytest.approx(0.8), 390, 10)
    naive = 1.96 * math.sqrt(0.8 * 0.2 / 390)
    assert naive == pytest.approx(0.040, abs=0.0005)
    assert (agreement.high - agreement.low) / 2 > 5 * naive
    assert "nested_labels" in codes(report)


def test_two_raters_who_both_prefer_wikipedia_agree_in_71_percent_and_know_nothing_of_each_other() -> None:
    people, judge = "A" * 68 + "A" * 12 + "B" * 17 + "B" * 3, "A" * 68 + "B" * 12 + "A" * 17 + "B" * 3
    report = calibrate(table({"ann": people, "judge": judge}), FEW)
    assert estimate(report, "percent_agreement").value == pytest.approx(0.71)
    assert estimate(report, "cohen_kappa").value == pytest.approx(0, abs=1e-12)
    assert "baseline_not_beaten" in codes(report)


def test_a_judge_that_always_says_wikipedia_agrees_on_37_of_39_and_is_told_apart_from_one_that_reads() -> None:
    """The published file 1982_*: the agent wins 1 of 21, 1 of 8 and 0 of 10."""
    report = calibrate(table({"ann": "A" * 37 + "BB", "judge": "A" * 39}), FEW)
    assert estimate(report, "percent_agreement").value == pytest.approx(37 / 39)
    assert "constant_rater" in estimate(report, "cohen_kappa").note, "a dash with its reason, and no kappa of 0"
    assert {"baseline_not_beaten", "skewed_reference"} <= codes(report)


def test_six_of_thirteen_key_points_are_six_thirteenths_whatever_was_not_contradicted() -> None:
    labels = ["Supported" if number in (1, 2, 4, 5, 10, 12) else "Omitted" for number in range(1, 14)]
    assert share(labels, {"Supported"}) == 6 / 13
    assert share(labels, {"Contradicted"}) == 0


def test_a_topic_without_key_points_is_no_topic_with_none_supported() -> None:
    """Their average divides by all topics: two of four with points, and .75 becomes .375."""
    empty = share([], {"Supported"})
    assert math.isnan(empty)
    assert mean([0.5, 1.0, None, None]) == 0.75


@pytest.mark.parametrize(
    ("votes", "answer", "confidence"),
    [
        (["correct"] * 3 + ["incorrect"] * 3, "", 0.5),  # theirs: wrong
        (["correct"] * 4 + ["incorrect"] * 2, "correct", 4 / 6),
        (["correct"] * 3 + ["incorrect"] * 2 + [""], "correct", 3 / 5),  # a failed reply: theirs a sixth, false vote
        ([""] * 6, "", math.nan),
    ],
)
def test_three_votes_against_three_are_a_draw_and_a_failed_reply_is_no_vote(
    votes: Sequence[str], answer: str, confidence: float
) -> None:
    found = majority(votes)
    assert found[0] == answer
    assert found[1] == pytest.approx(confidence, nan_ok=True)


def test_one_missing_answer_of_three_drops_that_answer_and_not_the_topic() -> None:
    frame = table({"ann1": "AABB", "ann2": "AAB.", "ann3": "ABBB", "judge": "AABB"})
    report = calibrate(frame, FEW)
    agreement = estimate(report, "percent_agreement")
    assert (agreement.n, agreement.clusters) == (11, 4)


def test_a_failed_answer_is_no_tie_no_loss_and_stays_to_be_counted() -> None:
    """Theirs: three failures among ten are three ties, which count as lost."""
    report = calibrate(table({"ann": "AAAAABBBBB", "judge": "AAAAABB---"}), FEW)
    assert estimate(report, "percent_agreement").value == 1.0
    assert estimate(report, "percent_agreement").n == 7
    assert "missing_answers" in codes(report)
