"""What a report says where labels are few, missing or beside nothing: no number that is none, and no firm word."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from calibration.calibrate import calibrate
from calibration.choosing.choice import gate
from calibration.choosing.choice_words import sentence_about
from calibration.choosing.noninferiority import non_inferiority
from calibration.errors import CalibrationError
from calibration.results import CalibrationReport, CalibrationSettings
from exports.sheets.judges import comparisons_table, judges_table
from exports.words.sentences import headline
from tests.calibration.mistakes import asked_twice, table

FEW = CalibrationSettings(resamples=30)
ELSEWHERE = table({"ann": "ABAB....", "bob": "ABAA....", "judge near": "ABAB....", "judge far": "....ABAB"}, shown="AB")


def spoken(report: CalibrationReport) -> str:
    """Every sentence about the judges and every warning."""
    assert report.choice is not None
    about = [sentence_about(one, report.choice.plan) for one in report.choice.candidates]
    rows = [one.sentence for one in report.card]
    return " ".join([report.choice.sentence, *about, *rows, *(one.text for one in report.warnings)])


def test_a_judge_that_shares_no_label_with_people_is_open_without_a_number() -> None:
    report = calibrate(ELSEWHERE, FEW)
    assert report.choice is not None
    (far,) = [one for one in report.choice.candidates if one.judge == "judge far"]
    assert (far.standing, far.reason) == ("open", "no_reference")
    assert sentence_about(far, report.choice.plan) == (
        "judge far may be adequate or not (cannot tell): it was asked nothing that an annotator labelled."
    )
    assert "nan" not in spoken(report)
    listed = judges_table(report)
    assert listed is not None
    assert not any("nan" in note for note in listed.notes)


@pytest.mark.parametrize("judge", ["AAAA", "BBBB", "BABA"])
def test_one_cluster_rules_no_judge_out(judge: str) -> None:
    report = calibrate(table({"ann": "ABAB", "bob": "ABAA", "judge": judge}, per_cluster=4), FEW)
    assert report.choice is not None
    assert gate(report.choice) == gate(report.choice, "judge") == "cannot_tell"
    assert "1 topics" not in spoken(report)
    assert "nan" not in spoken(report)


@pytest.mark.parametrize("margin", [0.0, 1.0, 5.0])
def test_a_margin_in_points_is_refused(margin: float) -> None:
    with pytest.raises(CalibrationError, match="a share of labels between 0 and 1"):
        CalibrationSettings(margin=margin)


def test_a_margin_that_no_gap_reaches_gives_no_negative_p() -> None:
    assert non_inferiority([1.0] * 3, [1.0] * 3, [1, 2, 3], margin=1.5).p == 0


def test_one_is_no_plural() -> None:
    report = calibrate(table({"ann": "AABB", "bob": "AABA", "judge": "AABB", "judge b": "ABBB"}, per_cluster=4), FEW)
    assert "in 1 topic)" in spoken(report) or "from 1 topic " in spoken(report)
    pairs = comparisons_table(report)
    assert pairs is not None
    assert not any("1 pairs" in note for note in pairs.notes)


def test_an_unusable_answer_beside_a_tie_is_no_disagreement_where_ties_are_excluded() -> None:
    frame = table({"ann": "ABtABt", "bob": "ABtABA", "judge": "AB-AB-", "judge b": "ABAABA"})
    report = calibrate(frame, replace(FEW, ties="exclude"))
    assert report.choice is not None
    found = {one.judge: (one.agreement.value, one.agreement.n) for one in report.choice.candidates}
    # nine labels name a winner; of these only the last one of bob stands beside an unusable answer
    assert found == {"judge": (pytest.approx(8 / 9), 9), "judge b": (1.0, 9)}


def test_a_gap_that_counts_unusable_answers_has_a_name_of_its_own() -> None:
    frame = table({"ann": "ABABABAB", "bob": "ABAAABAB", "cyd": "ABBBABAB", "judge": "ABA-AB-B"})
    report = calibrate(frame, FEW)
    (row,) = [one for one in report.card if one.question == "ceiling gap"]
    (plain,) = [
        one
        for one in report.estimates
        if (one.statistic, one.reference, one.criterion) == ("gap_to_ceiling", "others", "all")
    ]
    assert row.estimate.statistic == "gap_to_ceiling_missing_as_wrong"
    assert (row.estimate.n, plain.n) == (24, 18)
    assert row.estimate.value > plain.value


def test_scores_of_any_number_are_compared_by_rank_and_a_constant_judge_is_no_limit() -> None:
    scores = {"ann": "70.5 60 81 40 55.25", "bob": "72 58 85 45 50", "judge": "71 59.5 90 30 52"}
    report = calibrate(table({rater: said.split() for rater, said in scores.items()}), FEW)
    said = headline(report)
    assert said.startswith("judge's scores go with the annotators' by Spearman's ρ .98"), said
    assert "the annotators' scores go with each other's by 1.00" in said
    assert "skewed_reference" not in {one.code for one in report.warnings}


def test_one_judge_in_both_orders_is_not_the_highest_of_several() -> None:
    frame = asked_twice(table({"ann": "ABABAB", "bob": "ABAAAB", "judge": "ABABAB"}), "judge", "ABABBA")
    assert "(higher, by one order or both)" in headline(calibrate(frame, FEW))


def test_a_rate_keeps_its_interval_within_0_and_1() -> None:
    letters = "A" * 9 + "B"
    frame = table({"ann": "ABABABABAB", "judge": letters}, per_cluster=2, shown="AB", len_a=900, len_b=100)
    rates = [one.estimate for one in calibrate(frame, FEW).biases if one.null]
    known = [one for one in rates if one.low == one.low]
    assert known
    assert all(0 <= one.low <= one.value <= one.high <= 1 for one in known)


def test_that_the_choice_holds_for_this_panel_is_said_once_and_of_pairs_of_judges_too() -> None:
    frame = table({"ann": "ABABABAB", "bob": "ABAAABAB", "cyd": "ABBBABAB", "judge": "ABABABAA", "judge b": "BBABAABA"})
    report = calibrate(frame, replace(FEW, generalise_to="pairs_and_annotators"))
    assert [one.code for one in report.warnings].count("fixed_panel") == 1
    (pair,) = [one for one in report.estimates if one.statistic == "agreement_difference"]
    assert "this panel of annotators is fixed" in pair.note


def test_a_panel_whose_errors_cancel_is_worth_a_number() -> None:
    wrong = {"judge": "BAAAAAAAAA", "judge b": "ABBBBBBBBB"}  # one errs exactly where the other does not
    report = calibrate(table({"ann": "AAAAAAAAAA", "bob": "AAAAAAAAAA", **wrong}), FEW)
    listed = judges_table(report)
    assert listed is not None
    (worth,) = [note for note in listed.notes if note.startswith("A panel of these")]
    assert "is worth 1.0 that err" in worth
    assert pd.isna(report.effective_judges.kish)
