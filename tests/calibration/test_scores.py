"""ICC, rank agreement and preferences of scores, against published tables and by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.agreement.catalogue import why_undefined
from calibration.agreement.score_preferences import preferences_from_scores
from calibration.arithmetic.correlation import icc, rank_agreement_across_items, rank_agreement_within_topic
from calibration.calibrate import calibrate
from calibration.errors import CalibrationError
from calibration.results import CalibrationSettings

# Shrout & Fleiss 1979, Table 2: six targets (rows) rated by four judges; Table 4 gives the six forms
SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
TABLE_4 = {"ICC(1,1)": 0.17, "ICC(2,1)": 0.29, "ICC(3,1)": 0.71, "ICC(1,k)": 0.44, "ICC(2,k)": 0.62, "ICC(3,k)": 0.91}


@pytest.mark.parametrize(("form", "value"), TABLE_4.items())
def test_the_six_intraclass_correlations_of_shrout_and_fleiss(form, value):
    assert round(icc(SHROUT_FLEISS, form), 2) == value


def test_intraclass_correlation_by_hand():
    # row means 1.5, 3, 4 and column means 7/3, 10/3 around 17/6; what is left within rows is 5/2, of it columns 3/2
    rows = [[1, 2], [3, 3], [3, 5]]
    msr, msc, mse, msw = 2 * ((4 / 3) ** 2 + (1 / 6) ** 2 + (7 / 6) ** 2) / 2, 3 / 2, (5 / 2 - 3 / 2) / 2, 5 / 6
    assert icc(rows, "ICC(1,1)") == pytest.approx((msr - msw) / (msr + msw))
    assert icc(rows, "ICC(2,1)") == pytest.approx((msr - mse) / (msr + mse + 2 * (msc - mse) / 3))
    assert icc(rows, "ICC(3,1)") == pytest.approx((msr - mse) / (msr + mse))


def test_a_subject_with_a_missing_rating_is_dropped():
    assert icc([*SHROUT_FLEISS, [1, None, 3, 4]]) == icc([*SHROUT_FLEISS, [math.nan, 1, 3, 4]]) == icc(SHROUT_FLEISS)


def test_an_offset_of_1e9_costs_an_intraclass_correlation_no_digits():
    assert icc(np.array(SHROUT_FLEISS) + 1e9) == pytest.approx(icc(SHROUT_FLEISS), abs=1e-12)


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 3), min_size=3, max_size=20))
def test_averaging_raters_never_lowers_a_positive_icc(rows):
    single, mean = icc(rows, "ICC(3,1)"), icc(rows, "ICC(3,k)")
    if single > 0:
        assert single <= mean + 1e-12


@pytest.mark.parametrize(
    ("function", "args", "reason"),
    [
        (icc, ([[1, 2]],), "too_few_units"),
        (icc, ([[1], [2]],), "too_few_units"),
        (icc, ([[3, 3], [3, 3]],), "zero_variance"),
        (icc, ([[None, 3], [3, None]],), "no_items"),
        (icc, ([[1.1, 2.2], [1.1, 2.2], [1.1, 2.2]], "ICC(3,1)"), "zero_variance"),
        (rank_agreement_across_items, ([1], [1]), "no_items"),
        (rank_agreement_across_items, ([1, 1], [1, 2], "exclude"), "no_items"),
        (rank_agreement_within_topic, ([1, 2], [1, 2], ["s", "t"]), "no_items"),
    ],
)
def test_undefined_is_nan_with_a_reason(function, args, reason):
    assert math.isnan(function(*args))
    assert why_undefined(function, *args) == reason


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: icc(SHROUT_FLEISS, "ICC(4,1)"), "unknown_form"),
        (lambda: icc(np.transpose(SHROUT_FLEISS)), "maybe_transposed"),
        (lambda: icc([1, 2, 3]), "misaligned"),
        (lambda: icc([["good", 1], [2, 3], [3, 4]]), "unknown_label"),
        (lambda: rank_agreement_across_items([1, 2], [1]), "misaligned"),
        (lambda: rank_agreement_across_items([1, 2], [1, 2], "drop"), "unknown_form"),
    ],
)
def test_misuse_is_refused_by_code(call, code):
    with pytest.raises(CalibrationError) as refusal:
        call()
    assert refusal.value.code == code


def test_more_raters_than_subjects_may_be_said_to_be_meant():
    assert not math.isnan(icc(np.transpose(SHROUT_FLEISS), crowd=True))


# pairs: 1-2 same order, 1-3 tied in y, 2-3 opposite, 1-4 same, 2-4 same, 3-4 tied in x
X, Y = [1, 2, 3, 3], [1, 2, 1, 4]


@pytest.mark.parametrize(("ties", "value"), [("strict", 3 / 6), ("exclude", 3 / 4), ("half_credit", (3 + 2 / 2) / 6)])
def test_rank_agreement_under_each_tie_rule(ties, value):
    assert rank_agreement_across_items(X, Y, ties) == value


def test_two_ties_agree_under_half_credit_only():
    assert rank_agreement_across_items([1, 1], [2, 2], "half_credit") == 1
    assert rank_agreement_across_items([1, 1], [2, 2]) == 0


def test_rank_agreement_within_a_topic_pairs_no_reports_of_two_topics():
    topics = ["s", "s", "t", "t"]
    assert rank_agreement_within_topic(X, Y, topics) == 1 / 2  # 1-2 same order, 3-4 tied in x
    assert rank_agreement_within_topic(X, Y, topics, "exclude") == 1 / 1
    assert rank_agreement_within_topic(X, Y, ["t"] * 4) == rank_agreement_across_items(X, Y)


def test_scores_that_differ_by_rounding_are_tied():
    assert rank_agreement_across_items([0.1 + 0.2, 0.3], [1, 2], "half_credit") == 1 / 2


def scores(**by_rater: dict[str, tuple[float, ...]]) -> pd.DataFrame:
    rows = [
        (f"{topic}-{system}", rater, "judge" if rater.startswith("judge") else "human", score, topic, system)
        for rater, topics in by_rater.items()
        for topic, values in topics.items()
        for system, score in zip(("atlas", "borealis", "cirrus"), values, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["item_id", "rater_id", "rater_kind", "label", "cluster_id", "system_a"])
    return frame.assign(criterion="clarity")


def winner(row: pd.Series) -> str:
    return {"A": row["system_a"], "B": row["system_b"]}.get(row["label"], row["label"])


def test_a_preference_is_the_sign_of_a_score_difference():
    made = preferences_from_scores(scores(judge={"solar": (7.0, 5.0, 7.0)}))
    found = {frozenset((row["system_a"], row["system_b"])): winner(row) for _, row in made.iterrows()}
    assert found == {
        frozenset(("atlas", "borealis")): "atlas",
        frozenset(("atlas", "cirrus")): "tie",
        frozenset(("borealis", "cirrus")): "cirrus",
    }
    assert made["derived"].all()


@pytest.mark.parametrize(("margin", "ties"), [(0, 1), (1, 2), (2, 4)])
def test_a_difference_within_the_margin_is_a_tie(margin, ties):
    made = preferences_from_scores(scores(judge={"solar": (7.0, 5.0, 7.0), "tides": (1.0, 2.0, 5.0)}), margin)
    assert (made["label"] == "tie").sum() == ties


def test_who_is_a_is_a_coin_that_falls_the_same_way_for_every_rater_and_row_order():
    frame = scores(**{name: {f"t{i}": (1.0, 2.0, 3.0) for i in range(20)} for name in ("ann", "judge")})
    made = preferences_from_scores(frame)
    again = preferences_from_scores(frame.sample(frac=1, random_state=1))
    assert made.groupby("item_id")["system_a"].nunique().max() == 1
    key = ["item_id", "rater_id"]
    pd.testing.assert_frame_equal(made.sort_values(key, ignore_index=True), again.sort_values(key, ignore_index=True))
    first = (made["system_a"] < made["system_b"]).mean()
    assert 0.2 < first < 0.8


def test_a_failed_score_makes_no_preference_and_stays_visible():
    frame = scores(judge={"solar": (7.0, 5.0, 6.0)}).astype({"label": "str"}).assign(status="ok")
    frame.loc[0, ["label", "status"]] = ["", "invalid"]
    made = preferences_from_scores(frame)
    assert sorted(made["status"]) == ["invalid", "invalid", "ok"]


def test_derived_preferences_are_counted_with_their_ties_and_say_so():
    # DeepResearchGym: people state a preference, the judge's is the sign of its scores, equal scores are dropped
    judge = preferences_from_scores(scores(judge={"s": (7.0, 5.0, 7.0), "t": (4.0, 5.0, 6.0)}))
    people = judge.assign(rater_id="ann", rater_kind="human", label="A").drop(columns="derived")
    report = calibrate(pd.concat([judge, people]), CalibrationSettings(resamples=20, ties="exclude"))
    assert report.labels.derived == {"judge": {"verdicts": 6, "ties": 1}}
    assert [one.rater for one in report.warnings if one.code == "derived_preferences"] == ["judge"]
    kept = next(one for one in report.estimates if one.statistic == "percent_agreement_exclude_ties")
    assert kept.value == (judge["label"] == "A").sum() / 5
    assert "(5 of 6)" in kept.note


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"label": "good"}, "not_scores"),
        ({"system_a": ""}, "one_system_only"),
        ({"system_a": "atlas"}, "duplicate_verdict"),
    ],
)
def test_what_is_no_score_of_a_system_is_refused_by_name(change, code):
    with pytest.raises(CalibrationError) as refusal:
        preferences_from_scores(scores(judge={"solar": (7.0, 5.0, 6.0)}).assign(**change))
    assert refusal.value.code == code


def test_a_margin_below_nought_is_refused():
    with pytest.raises(CalibrationError, match="margin is -1"):
        preferences_from_scores(scores(judge={"solar": (7.0, 5.0, 6.0)}), -1)
