"""Confidence calibrated against people: stated, as votes, and as a panel's share; planted truth lies in the intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from calibration.calibrate import calibrate
from calibration.errors import CalibrationError
from calibration.results import CalibrationReport, CalibrationSettings, Estimate

SETTINGS = CalibrationSettings(resamples=299)
OTHER = {"correct": "incorrect", "incorrect": "correct"}


def row(item: int, rater: str, label: str | None, **more: Any) -> dict[str, Any]:
    return {
        "item_id": f"item-{item}", "rater_id": rater, "rater_kind": "human" if rater[0].isupper() else "judge",
        "criterion": "correct", "label": label, "cluster_id": f"topic-{item // 4}", "run": 1,
        "status": "ok" if label else "invalid",
    } | more  # fmt: skip


def estimates(rows: Iterable[dict[str, Any]], **changes: Any) -> dict[tuple[str, str], Estimate]:
    """(statistic, rater) -> estimate; a level's under its category."""
    report = calibrate(pd.DataFrame(rows), CalibrationSettings(**{"resamples": 299, **changes}))
    return {(one.statistic if one.category == "all" else one.category, one.rater): one for one in report.estimates}


def sure_judge(keeps: Any, items: int = 160, seed: int = 5) -> list[dict[str, Any]]:
    """A judge that states 1 to 5 and is right with `keeps(level)`; one person, always right."""
    rng, rows = np.random.default_rng(seed), []
    for item in range(items):
        truth, level = rng.choice(list(OTHER)), int(rng.integers(1, 6))
        rows.append(row(item, "Ana", truth))
        rows.append(row(item, "mini", truth if rng.random() < keeps(level) else OTHER[truth], confidence=level))
    return rows


def test_a_judge_that_is_right_as_often_as_it_says_is_told_from_one_whose_confidence_is_worth_nothing() -> None:
    kept, flat = estimates(sure_judge(lambda c: c / 5)), estimates(sure_judge(lambda c: 0.6))
    error, chance = (kept[name, "mini"] for name in ("expected_calibration_error", "calibration_error_by_chance"))
    assert error.value == pytest.approx(chance.value, abs=0.05)
    assert error.low == 0
    assert "noise alone gives" in error.note
    assert "c / 5" in error.note
    assert flat["expected_calibration_error", "mini"].low > 0.1
    assert kept["confidence_auroc", "mini"].low > 0.5 > flat["confidence_auroc", "mini"].low
    level = kept["confidence: 5 of 5", "mini"]
    assert (level.value, level.low > 0.7) == (1.0, True)
    assert kept["overconfidence", "mini"].low < 0 < kept["overconfidence", "mini"].high


def test_a_rater_that_is_certain_and_right_errs_no_less_by_chance() -> None:
    rows = [row(item, rater, "A", confidence=5) for item in range(8) for rater in ("Ana", "mini")]
    error = estimates(rows)["expected_calibration_error", "mini"]
    assert error.value == 0
    assert "at least this in 100 % of draws" in error.note


@pytest.mark.parametrize(
    ("said", "claimed"),
    [(1, {"each_annotator": 0.2, "mini": 1.0}), (0.8, dict.fromkeys(("each_annotator", "mini"), 0.8))],
)
def test_people_who_only_say_1_of_5_claim_little_and_a_panel_of_one_mind_all(
    said: float, claimed: dict[str, float]
) -> None:
    rows = [row(item, rater, "A", confidence=said) for item in range(8) for rater in ("Ana", "Bo", "mini")]
    found = estimates(rows)
    assert {rater: found["mean_confidence", rater].value for rater in claimed} == pytest.approx(claimed)


def test_the_numbers_are_those_of_single_answers() -> None:
    rows = sure_judge(lambda c: 0.3 + 0.1 * c)
    found = estimates(rows)
    frame = pd.DataFrame(rows)
    people = frame[frame["rater_id"] == "Ana"].set_index("item_id")["label"]
    own = frame[frame["rater_id"] == "mini"].set_index("item_id")
    hit, p = (own["label"] == people[own.index]).astype(float), own["confidence"] / 5
    assert found["brier_score", "mini"].value == pytest.approx(((p - hit) ** 2).mean())
    assert found["confidence_auroc", "mini"].value == pytest.approx(roc_auc_score(hit, p))
    assert found["confidence_accuracy", "mini"].value == found["percent_agreement", "mini"].value == hit.mean()
    parts = [found[f"brier_{name}", "mini"].value for name in ("reliability", "resolution", "uncertainty")]
    assert parts[0] - parts[1] + parts[2] == pytest.approx(found["brier_score", "mini"].value)
    by_hand = sum(abs((p[p == one] - hit[p == one]).sum()) for one in p.unique()) / len(p)
    assert found["expected_calibration_error", "mini"].value == pytest.approx(by_hand)


def votes_of(counts: Iterable[tuple[int, int]], judge: str = "pro") -> list[dict[str, Any]]:
    """Six votes on each statement: (for correct, usable); people say correct."""
    rows = []
    for item, (yes, usable) in enumerate(counts):
        rows += [row(item, name, "correct") for name in ("Ana", "Bo")]
        said = ["correct"] * yes + ["incorrect"] * (usable - yes) + [None] * (6 - usable)
        rows += [row(item, judge, label, run=run) for run, label in enumerate(said, 1)]
    return rows


def test_three_against_three_is_no_majority_and_no_wrong_answer() -> None:
    """6/6 and 5/6 right, 4/6 wrong, 3/6 open; two usable votes of six are no quorum, three against none are one."""
    found = estimates(votes_of([(6, 6), (5, 6), (2, 6), (3, 6), (1, 2), (3, 3)] * 4))
    accuracy, undecided = found["confidence_accuracy_of_votes", "pro"], found["no_majority_share_of_votes", "pro"]
    assert (accuracy.value, accuracy.n) == (pytest.approx(3 / 4), 4 * 4 * 2), "decided questions, two people each"
    assert (undecided.value, undecided.n) == (pytest.approx(1 / 5), 4 * 5)
    levels = {name: one.value for (name, _), one in found.items() if name.startswith("confidence: ")}
    assert levels == {"confidence: 66.7 %": 0, "confidence: 83.3 %": 1, "confidence: 100 %": 1}


def test_a_failed_vote_is_no_vote_and_no_wrong_one() -> None:
    whole, failed = estimates(votes_of([(6, 6)] * 12)), estimates(votes_of([(4, 4)] * 12))
    for found in (whole, failed):
        assert found["mean_confidence_of_votes", "pro"].value == 1.0
        assert found["confidence_accuracy_of_votes", "pro"].value == 1.0


def test_two_runs_or_two_orders_are_no_votes_and_a_study_without_confidence_says_nothing_of_it() -> None:
    rows = [one for one in votes_of([(6, 6)] * 8) if one["run"] < 3]
    report = calibrate(pd.DataFrame(rows), SETTINGS)
    assert report.confidence == ()
    assert not [one for one in report.estimates if "confidence" in one.statistic or "brier" in one.statistic]


def panel(shares: Iterable[float | None]) -> list[dict[str, Any]]:
    rows = []
    for item, share in enumerate(shares):
        rows.append(row(item, "Ana", "correct"))
        status = "ok" if share is not None and share > 0.5 else "missing"
        label = "correct" if status == "ok" else None
        rows.append(row(item, "six [panel]", label, confidence=share, status=status))
    return rows


def test_a_panels_share_is_its_confidence_and_its_open_questions_are_counted_apart() -> None:
    found = estimates(panel([1.0, 5 / 6, 0.5, None] * 6))
    assert found["confidence_accuracy", "six [panel]"].n == 12
    open_ones = found["no_majority_share", "six [panel]"]
    assert (open_ones.value, open_ones.n) == (pytest.approx(1 / 3), 18), "without a quorum nothing was voted on"
    assert "share of votes" in found["mean_confidence", "six [panel]"].note


def test_people_are_measured_against_each_other() -> None:
    rng, rows = np.random.default_rng(2), []
    for item in range(120):
        truth = rng.choice(list(OTHER))
        for name in ("Ana", "Bo", "Chen", "Dora"):
            level = int(rng.integers(1, 6))
            label = truth if rng.random() < 0.5 + 0.1 * level else OTHER[truth]
            rows.append(row(item, name, label, confidence=level))
        rows.append(row(item, "mini", truth, confidence=5))
    found = estimates(rows)
    stated = found["confidence_accuracy", "each_annotator"]
    assert (stated.reference, stated.n) == ("others", 120 * 4 * 3)
    assert found["confidence_auroc", "each_annotator"].low > 0.5
    voted = found["confidence_accuracy_of_votes", "each_annotator"]
    assert voted.value > stated.value, "the majority of three others is more often what a fourth says than one of them"
    assert math.isnan(found["confidence_auroc", "mini"].value)
    assert "same confidence for every answer" in found["confidence_auroc", "mini"].note


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([0.5, 3], "0.5 here and 3 elsewhere;"),
        ([1.5, 2], "1.5 here and 2 elsewhere;"),
        ([0, 4], "0 here and 4 elsewhere;"),
        ([6, 5], "6;"),
        ([7, 7], "7;"),
    ],
)
def test_two_scales_of_one_rater_are_refused(values: list[float], told: str) -> None:
    rows = [row(item, "Ana", "correct") for item in range(2)]
    rows += [row(item, "mini", "correct", confidence=value) for item, value in enumerate(values)]
    with pytest.raises(CalibrationError) as refused:
        calibrate(pd.DataFrame(rows), SETTINGS)
    assert refused.value.code == "bad_confidence"
    assert f"confidence of mini is {told}" in str(refused.value)


def test_answers_without_a_confidence_are_left_out_and_counted() -> None:
    rows = sure_judge(lambda c: 0.8)
    for one in rows[1:80:2]:
        del one["confidence"]
    found = estimates(rows)
    assert found["confidence_accuracy", "mini"].n == 120
    assert "40 answers without a confidence" in found["confidence_accuracy", "mini"].note


def test_both_orders_of_a_pair_weigh_one_answer_together() -> None:
    rows = []
    for item in range(40):
        pair = {"system_a": "x", "system_b": "y"}
        rows.append(row(item, "Ana", "A", **pair))
        for order, label, sure in (("AB", "A", 5), ("BA", "B" if item % 4 == 0 else "A", 3)):
            rows.append(row(item, "mini", label, presentation=order, confidence=sure, **pair))
    found = estimates(rows)
    assert found["confidence_accuracy", "mini"].n == 40
    assert found["confidence_accuracy", "mini"].value == pytest.approx(found["percent_agreement", "mini"].value)
    assert found["confidence_accuracy", "mini"].value == pytest.approx(1 - 0.25 / 2)


def report_of(rows: list[dict[str, Any]]) -> CalibrationReport:
    return calibrate(pd.DataFrame(rows), SETTINGS)


def test_row_order_and_names_of_runs_change_nothing() -> None:
    rows = votes_of([(6, 6), (5, 6), (2, 6), (3, 6)] * 6)
    assert report_of(rows) == report_of(rows[::-1])


def test_one_cluster_has_values_and_no_intervals_and_every_refusal_has_its_reason() -> None:
    rows = [one | {"cluster_id": "one"} for one in sure_judge(lambda c: c / 5, 40)]
    for one in report_of(rows).estimates:
        if "confidence" in one.statistic or "brier" in one.statistic or "calibration" in one.statistic:
            assert math.isnan(one.low), one
            assert one.note, one
