"""Judges' totals against the mean of people: DR3-Eval's published table, other libraries, explicit resampling."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from calibration.errors import CalibrationError
from calibration.inference.bootstrap import cluster_se, cluster_t, expanded_percentile
from calibration.results import CalibrationSettings
from calibration.totals.total_scores import MEAN, TotalAgreement, total_agreement
from tests.calibration.brute_force import rank_agreement
from tests.calibration.explicit import FEW, PEOPLE, explicit
from tests.calibration.studies import made_pairs, made_ratings
from tests.exports.toy_studies import dr3_study, race_study


def two_criteria(reports: int = 48) -> pd.DataFrame:
    parts = [made_ratings(reports, 1, seed).assign(criterion=name) for seed, name in ((2, "depth"), (3, "facts"))]
    return pd.concat(parts, ignore_index=True)


def side_by_side(frame: pd.DataFrame) -> pd.DataFrame:
    """The judge's total, the mean of the annotators' totals, and the cluster of each report both have."""
    keys = ["item_id", "cluster_id", "rater_id"]
    scores = frame.groupby([*keys, "criterion"])["label"].mean().unstack()
    totals = scores.dropna().mean(axis=1).unstack()
    asked = frame.groupby("item_id")["criterion"].nunique()
    assert set(asked) == {2}
    rows = pd.DataFrame({"a": totals["judge-x"], "b": totals[PEOPLE].mean(axis=1)}).dropna().reset_index()
    return rows.rename(columns={"cluster_id": "cluster"}).assign(row=np.arange(len(rows)), part="judge-x")


def test_table_14_of_dr3_eval_is_reproduced_from_labels() -> None:
    (found,) = total_agreement(dr3_study(), FEW)
    assert found.judge == "gpt-5.1"
    assert found.pearson.value == pytest.approx(0.99878, abs=5e-6)
    assert found.spearman.value == pytest.approx(1)
    assert (found.ordered.value, found.ordered.n, found.ordered.reference) == (1, 5, MEAN)
    assert found.run_sd is None


def test_four_equal_scores_of_five_have_a_high_correlation_and_a_low_strict_agreement() -> None:
    frame = dr3_study()
    (found,) = total_agreement(frame[frame["criterion"] == "DQ"], FEW)
    assert found.pearson.value == pytest.approx(0.8784, abs=5e-5)
    assert found.spearman.value == pytest.approx(0.7071, abs=5e-5)
    assert found.ordered.value == pytest.approx(0.4)
    assert "6 of 10 pairs of reports" in found.ordered.note
    assert found.ordered_without_ties.value == 1
    assert "kept 4 of 10" in found.ordered_without_ties.note


FRAME = two_criteria()
ROWS = side_by_side(FRAME)
(FOUND,) = total_agreement(FRAME, FEW)


@pytest.mark.parametrize(
    ("estimate", "statistic"),
    [
        (FOUND.pearson, lambda rows: stats.pearsonr(rows["a"], rows["b"]).statistic),
        (FOUND.spearman, lambda rows: stats.spearmanr(rows["a"], rows["b"].round(9)).statistic),
        (FOUND.ordered, rank_agreement("strict")),
        (FOUND.ordered_without_ties, rank_agreement("exclude")),
    ],
    ids=lambda one: getattr(one, "statistic", ""),
)
def test_each_value_and_interval_is_that_of_explicit_resampling(estimate, statistic) -> None:
    draws = explicit(ROWS, sorted(FRAME["cluster_id"].unique()), statistic)
    assert estimate.value == pytest.approx(statistic(ROWS), abs=1e-12)
    assert (estimate.low, estimate.high) == pytest.approx(expanded_percentile(draws, estimate.clusters), abs=1e-12)
    assert (estimate.n, estimate.clusters) == (len(ROWS), ROWS["cluster"].nunique())


def test_a_total_that_lacks_a_criterion_is_left_out_and_never_zero() -> None:
    gone = FRAME.index[(FRAME["rater_id"] == "judge-x") & (FRAME["item_id"] == ROWS["item_id"].iloc[0])][0]
    (after,) = total_agreement(FRAME.drop(index=gone), FEW)
    assert after.pearson.n == FOUND.pearson.n - 1
    assert after.pearson.value == pytest.approx(stats.pearsonr(ROWS["a"][1:], ROWS["b"][1:]).statistic)


def test_runs_of_a_judge_are_averaged_and_their_spread_is_told() -> None:
    rng = np.random.default_rng(5)
    judged = FRAME["rater_id"] == "judge-x"
    again = FRAME[judged].assign(run=2, label=lambda rows: (rows["label"] + rng.normal(0, 1, len(rows))).round(1))
    frame = pd.concat([FRAME.assign(run=1), again], ignore_index=True)
    (found,) = total_agreement(frame, FEW)
    rows = side_by_side(frame)
    assert found.pearson.value == pytest.approx(stats.pearsonr(rows["a"], rows["b"]).statistic)
    whole = frame[judged.reindex(frame.index, fill_value=True)]
    totals = whole.groupby(["item_id", "cluster_id", "run", "criterion"])["label"].first().unstack().dropna()
    spread = totals.mean(axis=1).unstack("run").dropna().std(axis=1, ddof=1).reset_index(name="sd")
    se = cluster_se(spread["sd"], spread["cluster_id"])
    assert found.run_sd is not None
    assert found.run_sd.value == pytest.approx(spread["sd"].mean())
    assert (found.run_sd.low, found.run_sd.high) == pytest.approx(
        cluster_t(spread["sd"].mean(), se, spread["cluster_id"].nunique())
    )
    assert found.run_sd.n == len(spread)


def undefined(found: TotalAgreement) -> dict[str, bool]:
    parts = (found.pearson, found.spearman, found.ordered, found.ordered_without_ties)
    assert all(one.note for one in parts)
    return {one.statistic: math.isnan(one.value) for one in parts}


def test_a_judge_that_never_varies_has_no_correlation_and_agrees_on_no_order() -> None:
    frame = race_study()
    frame.loc[frame["rater_kind"] == "judge", "label"] = "5"
    (found,) = total_agreement(frame, FEW)
    assert undefined(found) == {
        "pearson": True,
        "spearman": True,
        "rank_agreement_across_items": False,
        "rank_agreement_across_items_exclude_ties": True,
    }
    assert found.ordered.value == 0
    assert found.pearson.note.endswith("zero_variance: one side never varies")


@pytest.mark.parametrize(("kept", "reason"), [(["x1"], "too_few_units"), (["x1", "y1"], "two_points")])
def test_one_or_two_reports_have_no_correlation(kept: list[str], reason: str) -> None:
    frame = race_study()
    (found,) = total_agreement(frame[frame["item_id"].isin(kept)], FEW)
    assert math.isnan(found.pearson.value)
    assert f"{reason}:" in found.pearson.note


def test_preferences_are_no_scores_and_nothing_is_changed() -> None:
    with pytest.raises(CalibrationError) as refused:
        total_agreement(made_pairs(pairs=4), CalibrationSettings(resamples=9))
    assert refused.value.code == "not_scores"
    before = FRAME.copy(deep=True)
    total_agreement(FRAME, CalibrationSettings(resamples=9))
    pd.testing.assert_frame_equal(FRAME, before)


def test_more_reports_than_can_be_resampled_have_a_value_without_an_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calibration.arithmetic.correlation.MOST_ROWS", 20)
    (found,) = total_agreement(FRAME, FEW)
    assert found.ordered.value == FOUND.ordered.value
    assert (math.isnan(found.ordered.low), found.ordered.method) == (True, "none")
    assert "more than 20 reports are too many to resample" in found.ordered.note
