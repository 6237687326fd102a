"""Studies at the edge: every one gives a report whose numbers are right, or dashes with a reason."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from calibration.calibrate import calibrate
from calibration.errors import CalibrationError
from calibration.results import CalibrationReport, CalibrationSettings, Estimate
from tests.calibration.studies import made_pairs, made_ratings

FEW = CalibrationSettings(resamples=99)


def by_statistic(report: CalibrationReport, rater: str, reference: str = "each_annotator") -> dict[str, Estimate]:
    return {
        one.statistic: one
        for one in report.estimates
        if (one.rater, one.reference, one.criterion) == (rater, reference, "all")
    }


def codes(report: CalibrationReport) -> set[str]:
    return {warning.code for warning in report.warnings}


def constant(frame: pd.DataFrame, rater: str, label: str) -> pd.DataFrame:
    return frame.assign(label=frame["label"].mask(frame["rater_id"] == rater, label))


def test_a_bare_estimate_does_not_exist():
    for frame in (made_pairs(pairs=1), made_pairs(pairs=2), made_pairs(), made_ratings(), made_ratings(40, 3)):
        for one in calibrate(frame, replace(FEW, per_criterion=True)).estimates:
            assert one.method
            assert not math.isnan(one.low) or one.note, one
            assert math.isnan(one.low) or one.low <= one.high


def test_one_row_is_of_one_rater_only():
    with pytest.raises(CalibrationError) as refusal:
        calibrate(made_pairs(pairs=1, criteria=1, annotators=1, judges={"judge-x": 1.0}).iloc[:1], FEW)
    assert refusal.value.code == "one_rater"
    assert "'ann1'" in refusal.value.text


def test_two_rows_that_agree():
    frame = constant(made_pairs(pairs=1, criteria=1, annotators=1, judges={"judge-x": 1.0}), "judge-x", "A")
    report = calibrate(constant(frame, "ann1", "A"), FEW)
    found = by_statistic(report, "judge-x")
    assert found["percent_agreement"].value == 1.0
    assert math.isnan(found["percent_agreement"].low)
    assert "fewer than 2 clusters" in found["percent_agreement"].note
    assert found["cohen_kappa"].note.endswith("one_category: both always give the same one answer")
    assert "undefined_shown_as_dash" in codes(report)


def test_all_labels_one_category():
    frame = made_pairs()
    found = by_statistic(calibrate(frame.assign(label="A"), FEW), "judge-x")
    assert found["percent_agreement"].value == found["percent_agreement"].high == 1.0
    assert found["percent_agreement"].low < 1
    assert "a design effect of" in found["percent_agreement"].note
    for statistic, reason in {
        "cohen_kappa": "one_category",
        "krippendorff_alpha_nominal": "one_category",
        "pearson": "zero_variance",
        "spearman": "zero_variance",
    }.items():
        assert math.isnan(found[statistic].value)
        assert reason in found[statistic].note


def test_a_constant_judge_gets_a_dash_and_the_baseline_warning():
    report = calibrate(constant(made_pairs(), "judge-x", "A"), FEW)
    found = by_statistic(report, "judge-x")
    assert "constant_rater" in found["cohen_kappa"].note
    assert math.isnan(found["cohen_kappa"].value)
    assert found["percent_agreement"].value == found["constant_judge_baseline"].value
    assert any(one.code == "baseline_not_beaten" and one.rater == "judge-x" for one in report.warnings)


def test_a_reference_of_95_to_5_is_called_skewed():
    frame = made_pairs(pairs=40, criteria=1, annotators=1, judges={"judge-x": 1.0})
    truth = frame["item_id"].map(lambda item: "B" if item in ("p000", "p001") else "A")
    report = calibrate(frame.assign(label=truth), FEW)
    assert by_statistic(report, "judge-x")["constant_judge_baseline"].value == 38 / 40
    assert "skewed_reference" in codes(report)


def test_perfect_agreement_has_an_interval_that_is_not_of_zero_width():
    frame = made_pairs()
    truth = frame[frame["rater_id"] == "ann1"].set_index(["item_id", "criterion"])["label"]
    frame["label"] = truth.loc[list(zip(frame["item_id"], frame["criterion"], strict=True))].to_numpy()
    found = by_statistic(calibrate(frame, FEW), "judge-x")
    agreed = found["percent_agreement"]
    expected = found["chance_agreement"].value
    assert found["cohen_kappa"].value == found["cohen_kappa"].high == 1.0
    assert found["cohen_kappa"].low == pytest.approx((agreed.low - expected) / (1 - expected))
    assert found["krippendorff_alpha_nominal"].low < 1
    assert found["percent_agreement_half_credit"].low == agreed.low
    assert "every resample gives the same value" in found["pearson"].note


def test_no_agreement_at_all():
    frame = made_pairs(annotators=1, judges={"judge-x": 1.0})
    wrong = {"A": "B", "B": "A", "tie": "A"}
    truth = frame[frame["rater_id"] == "ann1"].set_index(["item_id", "criterion"])["label"].map(wrong)
    mine = frame["rater_id"] == "judge-x"
    keys = list(zip(frame.loc[mine, "item_id"], frame.loc[mine, "criterion"], strict=True))
    frame.loc[mine, "label"] = truth.loc[keys].to_numpy()
    found = by_statistic(calibrate(frame, FEW), "judge-x")
    assert found["percent_agreement"].value == found["percent_agreement"].low == 0.0
    assert 0 < found["percent_agreement"].high < 0.2


def test_a_judge_with_only_invalid_rows():
    frame = made_pairs()
    frame["status"] = np.where(frame["rater_id"] == "judge-x", "invalid", "ok")
    report = calibrate(frame, FEW)
    found = by_statistic(report, "judge-x")
    assert math.isnan(found["percent_agreement"].value)
    assert "no_items" in found["percent_agreement"].note
    assert found["percent_agreement_missing_as_wrong"].value == 0.0
    assert found["kept_share"].value == 0.0
    assert by_statistic(report, "judge-x", "")["valid_share"].value == 0.0


def test_judges_without_people_and_people_without_judges():
    frame = made_pairs()
    judges = calibrate(frame[frame["rater_kind"] == "judge"], FEW)
    assert "no_items" in by_statistic(judges, "judge-x")["cohen_kappa"].note
    people = calibrate(frame[frame["rater_kind"] == "human"], FEW)
    assert not math.isnan(by_statistic(people, "each_annotator", "others")["cohen_kappa"].value)


def test_scores_of_a_judge_that_was_asked_nothing_that_people_scored_are_told_so_and_end_no_report():
    frame = made_ratings()
    apart = frame.assign(item_id=frame["item_id"].mask(frame["rater_kind"] == "judge", "other " + frame["item_id"]))
    (candidate,) = calibrate(apart, FEW).choice.candidates[:1]
    assert (candidate.reason, math.isnan(candidate.agreement.value)) == ("no_reference", True)


def test_one_cluster_and_two_clusters():
    one = by_statistic(calibrate(made_pairs(pairs=1, criteria=8, seed=3), FEW), "judge-x")
    for statistic in ("percent_agreement", "cohen_kappa", "krippendorff_alpha_nominal", "kept_share"):
        assert math.isnan(one[statistic].low)
        assert "fewer than 2 clusters" in one[statistic].note
    two = calibrate(made_pairs(pairs=2, criteria=9), FEW)
    assert not math.isnan(by_statistic(two, "judge-x")["percent_agreement"].low)
    assert "few_clusters" in codes(two)


def test_two_comparisons_have_no_correlation_worth_a_number():
    frame = made_pairs(pairs=2, criteria=1, annotators=1, judges={"judge-x": 1.0})
    frame["label"] = frame["item_id"].map({"p000": "A", "p001": "B"})
    found = by_statistic(calibrate(frame, FEW), "judge-x")
    assert "two_points" in found["pearson"].note
    assert math.isnan(found["pearson"].value)


def test_a_unit_with_one_rating_does_not_count_for_alpha():
    frame = made_pairs(annotators=3)
    lonely = (frame["item_id"] == "p003") & frame["rater_id"].isin(["ann2", "ann3"])
    with_it = by_statistic(calibrate(frame[~lonely], FEW), "each_annotator", "others")
    without = by_statistic(calibrate(frame[frame["item_id"] != "p003"], FEW), "each_annotator", "others")
    statistic = "krippendorff_alpha_nominal"
    assert with_it[statistic].value == pytest.approx(without[statistic].value, abs=1e-12)


@pytest.mark.parametrize("decimals", [0, 3])
def test_constant_scores(decimals):
    frame = made_ratings(40, decimals)
    scores = frame["label"].mask(frame["rater_id"] == "judge-x", 5)
    found = by_statistic(calibrate(frame.assign(label=scores), FEW), "judge-x")
    assert math.isnan(found["pearson"].value)
    assert "zero_variance" in found["pearson"].note
    assert "zero_variance" in found["spearman"].note


@pytest.mark.parametrize("decimals", [0, 3])
def test_scores_offset_by_1e9_keep_their_correlations(decimals):
    frame = made_ratings(40, decimals)
    near = by_statistic(calibrate(frame, FEW), "judge-x")
    far = by_statistic(calibrate(frame.assign(label=frame["label"] + 1e9), FEW), "judge-x")
    for statistic in ("pearson", "spearman", "krippendorff_alpha_interval"):
        assert far[statistic].value == pytest.approx(near[statistic].value, abs=1e-6)
        assert far[statistic].low == pytest.approx(near[statistic].low, abs=1e-6)


@pytest.mark.parametrize(("cost", "value"), [(0.0, 0.0), (0.004, 0.004 * 2.75), (math.nan, None)])
def test_costs_zero_equal_and_unknown(cost, value):
    frame = made_pairs(pairs=40)
    frame["cost_usd"] = np.where(frame["rater_kind"] == "judge", cost, math.nan)
    found = by_statistic(calibrate(frame, FEW), "judge-x", "")
    if value is None:
        assert "cost_per_item" not in found
    else:
        assert found["cost_per_item"].value == pytest.approx(value)


@pytest.mark.parametrize(
    ("missing", "value", "says"),
    [
        (1, 0.01 * 2.75, "not given in 1 of 110 rows (known in 99.1 %): the rows that say so stand for them"),
        (11, 0.01 * 2.75, "not given in 11 of 110 rows (known in 90.0 %)"),
        (12, math.nan, "unknown: not given in 12 of 110 rows (known in 89.1 %, fewer than 90 %)"),
    ],
)
def test_a_price_that_misses_in_a_few_rows_is_known_and_told_and_in_many_is_unknown(missing, value, says):
    frame = made_pairs(pairs=40)
    frame["cost_usd"] = np.where(frame["rater_id"] == "judge-x", 0.01, math.nan)
    frame.loc[frame[frame["rater_id"] == "judge-x"].index[:missing], "cost_usd"] = math.nan
    found = by_statistic(calibrate(frame, FEW), "judge-x", "")["cost_per_item"]
    assert found.value == pytest.approx(value, nan_ok=True)
    assert says in found.note


def test_identical_annotators_are_noticed():
    frame = made_pairs(annotators=2)
    copy = frame[frame["rater_id"] == "ann1"].assign(rater_id="ann9")
    assert "duplicate_raters" in codes(calibrate(pd.concat([frame, copy]), FEW))
    assert "duplicate_raters" not in codes(calibrate(frame, FEW))


def test_mirrored_items_are_noticed():
    frame = made_pairs(annotators=2, judges={"judge-x": 0.9})
    judge = frame["rater_kind"] == "judge"
    frame.loc[judge, "item_id"] += "-mirrored"
    frame.loc[judge, ["system_a", "system_b"]] = ["borealis", "atlas"]
    found = calibrate(frame, FEW)
    assert {"mirrored_items", "join_loss", "labels_dropped"} <= codes(found)


def test_a_judge_that_prefers_the_first_report_is_noticed():
    frame = made_pairs(pairs=60, criteria=1, both_orders=True)
    biased = frame["rater_id"] == "judge-x"
    frame.loc[biased, "label"] = frame.loc[biased, "presentation"].map({"AB": "A", "BA": "B"})
    report = calibrate(frame, FEW)
    found = by_statistic(report, "judge-x", "")
    assert found["first_rate"].value == 1.0
    assert found["swap_consistency"].value == 0.0
    raters = {one.code: one.rater for one in report.warnings if one.rater.startswith("judge-x")}
    assert raters["order_inconsistent"] == "judge-x"


def test_sides_that_were_never_balanced_are_noticed():
    frame = made_pairs(pairs=40).assign(presentation="AB")
    assert "unbalanced_order" in codes(calibrate(frame, FEW))
    assert "order_unknown" in codes(calibrate(frame.assign(presentation=""), FEW))


def test_a_judge_that_always_takes_the_first_report_is_noticed_without_any_spread():
    frame = made_pairs(pairs=30, criteria=1)
    biased = frame["rater_id"] == "judge-x"
    frame.loc[biased, "label"] = frame.loc[biased, "presentation"].map({"AB": "A", "BA": "B"})
    report = calibrate(frame, FEW)
    assert [one.rater for one in report.warnings if one.code == "position_bias"] == ["judge-x"]
    (rate,) = [one.estimate for one in report.biases if (one.estimate.statistic, one.estimate.rater,
               one.estimate.category) == ("first_rate", "judge-x", "all")]  # fmt: skip
    assert (rate.value, rate.high, rate.method) == (1.0, 1.0, "wilson_effective_n")
    assert rate.low > 0.5
    assert "zero_variance" in rate.note


def test_always_the_reference_wins_is_a_baseline_that_coin_naming_cannot_hide():
    # people prefer the Wikipedia article in 38 of 40 pairs; whether it is A or B was decided by a coin
    frame = made_pairs(pairs=40, criteria=1, annotators=1, judges={"judge-x": 1.0})
    wiki_is_a = frame["item_id"].str[-1].isin(list("02468"))
    wiki_wins = ~frame["item_id"].isin(["p000", "p001"])
    frame["label"] = np.where(wiki_is_a == (wiki_wins | (frame["rater_id"] == "judge-x")), "A", "B")
    frame["system_a"] = np.where(wiki_is_a, "wikipedia", "atlas")
    frame["system_b"] = np.where(wiki_is_a, "atlas", "wikipedia")
    report = calibrate(frame, FEW)
    found = by_statistic(report, "judge-x")
    assert found["percent_agreement"].value == 38 / 40
    assert found["constant_judge_baseline"].value == 20 / 40
    assert found["constant_judge_baseline_by_system"].value == 38 / 40
    assert {"baseline_not_beaten", "skewed_reference"} <= codes(report)


def test_kappa_that_only_knows_the_base_rates_of_criteria_is_noticed():
    # within each criterion judge and annotator are independent: A in 90 % of c0, B in 90 % of c1
    rows = []
    for pair in range(100):
        for criterion, usual, rare in (("c0", "A", "B"), ("c1", "B", "A")):
            for rater, odd in (("ann1", pair % 10 == 0), ("judge-x", pair // 10 == 0)):
                kind = "judge" if rater.startswith("judge") else "human"
                rows.append((f"p{pair}", rater, kind, criterion, rare if odd else usual, f"p{pair}"))
    columns = ["item_id", "rater_id", "rater_kind", "criterion", "label", "cluster_id"]
    report = calibrate(pd.DataFrame(rows, columns=columns), FEW)
    found = by_statistic(report, "judge-x")
    assert found["stratified_kappa"].value == pytest.approx(0, abs=1e-12)
    assert found["cohen_kappa"].value == pytest.approx((0.82 - 0.5) / 0.5)
    assert "pooled_criteria" in codes(report)


def test_seven_and_seven_point_nought_are_one_rating():
    frame = made_ratings()
    text = frame["label"].map(lambda score: f"{score:.1f}")
    mixed = text.where(frame["rater_id"] == "judge-x", frame["label"].map(lambda score: f"{score:.0f}"))
    assert calibrate(frame.assign(label=mixed), FEW).estimates == calibrate(frame, FEW).estimates


def test_a_probe_with_too_many_different_answers_says_so():
    frame = made_pairs(pairs=40, annotators=1).drop(columns=["system_a", "system_b", "presentation"])
    frame["label"] = "answer " + frame["item_id"]
    report = calibrate(frame, FEW)
    assert "many_labels" in codes(report)
