"""Position bias: by hand, against a second implementation, and where the order cannot be told from the system."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

from benchmarks.bias import Design, made_verdicts
from calibration.biases.position_bias import position_bias
from calibration.calibrate import calibrate
from calibration.results import CalibrationSettings
from tests.calibration.biased import verdict
from tests.calibration.explicit import found

FEW = CalibrationSettings(resamples=20)


def in_both_orders(said: list[tuple[str, str]], rater: str = "judge") -> pd.DataFrame:
    """One item for each pair of verdicts, the first with A shown first, the second with B."""
    rows = [
        verdict(n, rater, label, presentation=shown)
        for n, pair in enumerate(said)
        for label, shown in zip(pair, ("AB", "BA"), strict=True)
    ]
    return pd.DataFrame(rows)


def test_flips_are_counted_by_the_way_they_turn() -> None:
    said = [("A", "A"), ("A", "B"), ("A", "tie"), ("tie", "B"), ("B", "A"), ("tie", "tie"), ("A", "not_applicable")]
    one = position_bias(in_both_orders(said), "judge")
    # towards the first: A then B, A then tie, tie then B; towards the second: B then A
    assert (one.toward_first, one.toward_second, one.flipped) == (3, 1, 5)
    assert one.flips.effect == pytest.approx(2 / 7)
    assert one.swap_consistency.value == pytest.approx(2 / 7)
    assert one.p_flips == stats.binomtest(3, 4).pvalue  # one label in each cluster: the exact binomial of flips
    # winners shown first: A, B of (A, A) is one of two; (A, B) two of two; (A, tie), (tie, B), (A, n/a) one each
    assert (one.first_rate.estimate.value, one.first_rate.estimate.n) == (6 / 9, 9)


def test_a_sign_test_counts_clusters_and_not_their_labels() -> None:
    one = in_both_orders([("A", "B")] * 12 + [("B", "A")] * 2)
    one["cluster_id"] = [f"t{n // 8}" for n in range(24)] + ["u", "u", "v", "v"]
    assert position_bias(one, "judge").p_flips == stats.binomtest(3, 5).pvalue


@pytest.mark.parametrize(("said", "word"), [(("A", "B"), "found"), (("B", "A"), "found"), (("A", "A"), "not_found")])
def test_always_first_and_always_second_are_found_and_always_the_same_report_is_not(
    said: tuple[str, str], word: str
) -> None:
    found = position_bias(in_both_orders([said] * 100), "judge")
    assert found.outcome == found.headline.outcome == word
    assert position_bias(in_both_orders([said] * 4), "judge").outcome == "cannot_tell"


@pytest.mark.parametrize(("topics", "word"), [(6, "cannot_tell"), (7, "not_found")])
def test_one_missing_answer_makes_a_consistent_judge_neither_surer_nor_less_sure(topics: int, word: str) -> None:
    whole = in_both_orders([("A", "A"), ("B", "B"), ("A", "A")] * 13 * topics)
    whole["cluster_id"] = [f"t{n // 78}" for n in range(len(whole))]
    for frame in (whole, whole.drop(index=5)):
        one = position_bias(frame, "judge")
        for measure in (one.first_rate, one.order_effect):
            half = max(measure.estimate.high - 0.5, 0.5 - measure.estimate.low)
            assert (measure.outcome, half) == (word, pytest.approx(0.055 if topics == 6 else 0.044, abs=0.001))


def test_people_are_measured_by_the_same_function_and_a_retest_is_no_second_label() -> None:
    rows = [verdict(n, f"ann{n % 2}", "AB"[n % 3 == 0], presentation="AB", run=run) for n in range(9) for run in (1, 2)]
    everyone, one = (position_bias(pd.DataFrame(rows), name).first_rate.estimate for name in ("each_annotator", "ann0"))
    assert (everyone.value, everyone.n, one.n) == (6 / 9, 9, 5)


def test_first_rate_and_consistency_are_those_of_the_calibration_report() -> None:
    frame = made_verdicts(Design(topics=25, labels=2, position=0.3), np.random.default_rng(1)).drop(columns="item")
    report, mine = calibrate(frame, FEW), position_bias(frame, "judge", FEW)
    for own, name in ((mine.first_rate.estimate, "first_rate"), (mine.swap_consistency, "swap_consistency")):
        theirs = found(report, name, "judge", "")
        assert (own.value, own.low, own.high, own.n) == pytest.approx((theirs.value, theirs.low, theirs.high, theirs.n))


def test_the_order_effect_is_the_intercept_of_least_squares_with_its_jackknife_over_topics() -> None:
    frame = made_verdicts(Design(topics=40, both_orders=False, better_own=1.0), np.random.default_rng(2))
    one = position_bias(frame.drop(columns="item"), "judge").order_effect
    rows = frame[frame["rater_id"] == "judge"]
    a_first = np.where(rows["presentation"] == "AB", 1.0, -1.0)
    first = ((rows["label"] == "A").to_numpy() == (a_first > 0)).astype(float)
    names = ("own", "other1", "other3")  # one system is left out: the columns add up to nothing
    columns = [a_first * ((rows["system_a"] == s).astype(float) - (rows["system_b"] == s)) for s in names]
    x = np.column_stack([np.ones(len(rows)), *columns])
    topics = rows["cluster_id"].to_numpy()
    left_out = np.array([sm.OLS(first[topics != t], x[topics != t]).fit().params[0] for t in np.unique(topics)])
    se = math.sqrt(39 / 40 * ((left_out - left_out.mean()) ** 2).sum())
    assert one.estimate.value == pytest.approx(sm.OLS(first, x).fit().params[0], abs=1e-10)
    assert one.estimate.high - one.estimate.value == pytest.approx(stats.t.ppf(0.975, 39) * se, rel=1e-8)


def test_a_better_system_that_always_stands_first_is_no_bias_that_anyone_could_see() -> None:
    rng = np.random.default_rng(4)
    rows = [verdict(n, "judge", "A" if rng.random() < 0.9 else "B", presentation="AB") for n in range(100)]
    one = position_bias(pd.DataFrame(rows), "judge")
    assert one.first_rate.outcome == "found"  # nine of ten winners stood first, whatever the reason
    assert (one.outcome, one.headline.estimate.note.split(":")[0]) == ("cannot_tell", "order_confounded")
    assert math.isnan(one.by_systems[0].estimate.value)


def test_primacy_by_pair_of_systems_counts_each_order_alike() -> None:
    # x wins 8 of 8 standing first and 1 of 2 standing second; so the first wins 1 and 1/2 of the time, mean 3/4
    rows = [verdict(n, "judge", "A", presentation="AB") for n in range(8)]
    rows += [verdict(8, "judge", "A", presentation="BA"), verdict(9, "judge", "B", presentation="BA")]
    (pair,) = position_bias(pd.DataFrame(rows), "judge").by_systems
    assert (pair.estimate.category, pair.estimate.value) == ("systems: x, y", 3 / 4)


def test_without_any_known_order_nothing_is_told_and_nothing_fails() -> None:
    one = position_bias(pd.DataFrame([verdict(n, "judge", "A") for n in range(30)]), "judge")
    assert (one.outcome, one.by_systems, one.flipped) == ("cannot_tell", (), 0)
    assert all(math.isnan(value) for value in (one.first_rate.estimate.value, one.p_flips, one.swap_consistency.value))
