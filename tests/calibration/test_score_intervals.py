"""Intervals of ratings against explicit resampling of cluster indices: exact, on short scales and continuous ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import combinations

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from calibration.arithmetic.correlation import MOST_ROWS, icc, rank_agreement_across_items, rank_agreement_within_topic
from calibration.calibrate import calibrate
from calibration.inference.bootstrap import expanded_percentile, wilson_effective
from calibration.results import CalibrationReport, CalibrationSettings, Estimate
from tests.calibration.studies import joined, made_ratings

B, SEED = 25, 7
POINTS = tuple(map(str, range(1, 11)))
SETTINGS = CalibrationSettings(resamples=B, seed=SEED)
PEOPLE = ["ann1", "ann2", "ann3"]
FRAMES = {0: made_ratings(48), 2: made_ratings(48, 2)}
SCALED = {0: replace(SETTINGS, scales={"quality": POINTS}), 2: SETTINGS}


@cache
def report_of(decimals: int) -> CalibrationReport:
    return calibrate(FRAMES[decimals], SCALED[decimals])


def found(report: CalibrationReport, statistic: str, rater: str, reference: str) -> Estimate:
    (one,) = [
        one for one in report.estimates if (one.statistic, one.rater, one.reference) == (statistic, rater, reference)
    ]
    return one


def drawn(clusters: list[str]) -> np.ndarray:
    (child,) = np.random.SeedSequence(SEED).spawn(1)
    return np.random.Generator(np.random.PCG64(child)).integers(0, len(clusters), (B, len(clusters)))


def explicit(rows: pd.DataFrame, clusters: list[str], statistic: Callable[[pd.DataFrame], float]) -> np.ndarray:
    parts = dict(iter(rows.groupby("cluster")))
    return np.array(
        [statistic(pd.concat([parts[clusters[i]] for i in row if clusters[i] in parts])) for row in drawn(clusters)]
    )


def ratio_alpha(rows: pd.DataFrame) -> float:
    return float(krippendorff.alpha(reliability_data=rows[["a", "b"]].T.to_numpy(), level_of_measurement="ratio"))


def weighted(weights: str) -> Callable[[pd.DataFrame], float]:
    return lambda rows: float(cohen_kappa_score(rows["a"], rows["b"], labels=range(1, 11), weights=weights))


def of_two(form: str) -> Callable[[pd.DataFrame], float]:
    return lambda rows: icc(rows[["a", "b"]].to_numpy(), form)


BOTH_SCALES = {
    "kendall_tau_b": lambda rows: stats.kendalltau(rows["a"], rows["b"]).statistic,
    "krippendorff_alpha_ratio": ratio_alpha,
    "icc_2_1": of_two("ICC(2,1)"),
    "icc_3_1": of_two("ICC(3,1)"),
}
SHORT_SCALE = {"cohen_kappa_linear": weighted("linear"), "cohen_kappa_quadratic": weighted("quadratic")}
CASES = [(0, name, function) for name, function in (BOTH_SCALES | SHORT_SCALE).items()]
CASES += [(2, name, function) for name, function in BOTH_SCALES.items()]


@pytest.mark.parametrize(("decimals", "statistic", "function"), CASES, ids=[f"{name} {d}" for d, name, _ in CASES])
def test_a_judges_scores_have_the_interval_of_explicit_resampling(decimals, statistic, function):
    frame = FRAMES[decimals]
    rows = joined(frame, "judge-x", PEOPLE)
    estimate = found(report_of(decimals), statistic, "judge-x", "each_annotator")
    draws = explicit(rows, sorted(frame["cluster_id"].unique()), function)
    assert estimate.value == pytest.approx(function(rows), abs=1e-12)
    assert (estimate.low, estimate.high) == pytest.approx(expanded_percentile(draws, estimate.clusters), abs=1e-12)


def wide_of(frame: pd.DataFrame) -> pd.DataFrame:
    wide = frame.pivot_table(index=["cluster_id", "item_id"], columns="rater_id", values="label")[PEOPLE]
    return wide.reset_index().rename(columns={"cluster_id": "cluster"})


@pytest.mark.parametrize("decimals", FRAMES)
@pytest.mark.parametrize("form", ["ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)"])
def test_the_annotators_six_intraclass_correlations_rest_on_complete_reports(decimals, form):
    frame = FRAMES[decimals]
    wide = wide_of(frame)
    whole = wide.dropna()
    estimate = found(report_of(decimals), f"icc_{form[4]}_{form[6]}", "each_annotator", "others")
    clusters = sorted(frame["cluster_id"].unique())
    draws = explicit(whole, clusters, lambda rows: icc(rows[PEOPLE].to_numpy(), form))
    assert estimate.value == pytest.approx(icc(wide[PEOPLE].to_numpy(), form), abs=1e-12)
    assert (estimate.low, estimate.high) == pytest.approx(expanded_percentile(draws, estimate.clusters), abs=1e-12)
    assert estimate.n == len(whole)
    assert f"{len(wide) - len(whole)} of {len(wide)} reports lack an annotator" in estimate.note


@pytest.mark.parametrize("decimals", FRAMES)
@pytest.mark.parametrize("level", ["interval", "ratio"])
def test_the_annotators_alpha_has_the_interval_of_explicit_resampling(decimals, level):
    frame = FRAMES[decimals]
    wide = wide_of(frame)

    def alpha(rows: pd.DataFrame) -> float:
        return float(krippendorff.alpha(reliability_data=rows[PEOPLE].T.to_numpy(), level_of_measurement=level))

    estimate = found(report_of(decimals), f"krippendorff_alpha_{level}", "each_annotator", "others")
    draws = explicit(wide, sorted(frame["cluster_id"].unique()), alpha)
    assert estimate.value == pytest.approx(alpha(wide), abs=1e-12)
    assert (estimate.low, estimate.high) == pytest.approx(expanded_percentile(draws, estimate.clusters), abs=1e-12)


def test_ordinal_alpha_of_a_declared_scale_is_krippendorffs():
    wide = wide_of(FRAMES[0])

    def alpha(rows: pd.DataFrame) -> float:
        return float(krippendorff.alpha(reliability_data=rows[PEOPLE].T.to_numpy(), level_of_measurement="ordinal"))

    estimate = found(report_of(0), "krippendorff_alpha_ordinal", "each_annotator", "others")
    draws = explicit(wide, sorted(FRAMES[0]["cluster_id"].unique()), alpha)
    assert estimate.value == pytest.approx(alpha(wide), abs=1e-12)
    assert (estimate.low, estimate.high) == pytest.approx(expanded_percentile(draws, estimate.clusters), abs=1e-12)


CREDIT = {
    "": lambda x, y: x * y > 0,
    "_exclude_ties": lambda x, y: x * y > 0 if x * y else None,
    "_half_credit": lambda x, y: 1 - abs(np.sign(x) - np.sign(y)) / 2,
}


def by_hand(parts: list[pd.DataFrame], credit: Callable[[float, float], float | None]) -> float:
    """Every pair of two different reports, however often each was drawn, one annotator at a time."""
    told = [
        credit(one.a - two.a, one.b - two.b)
        for rows in parts
        for one, two in combinations(rows.itertuples(), 2)
        if one.item != two.item
    ]
    told = [value for value in told if value is not None]
    return float(np.mean(told)) if told else math.nan


@pytest.mark.parametrize("suffix", CREDIT)
@pytest.mark.parametrize("decimals", FRAMES)
def test_rank_agreement_across_items_counts_pairs_of_different_reports_of_one_annotator(decimals, suffix):
    frame = FRAMES[decimals]
    judge = frame[frame["rater_id"] == "judge-x"]
    people = [frame[frame["rater_id"] == name] for name in PEOPLE]
    parts = [
        judge.merge(rows, on="item_id").rename(
            columns={"label_x": "a", "label_y": "b", "item_id": "item", "cluster_id_x": "cluster"}
        )
        for rows in people
    ]
    estimate = found(report_of(decimals), f"rank_agreement_across_items{suffix}", "judge-x", "each_annotator")
    assert estimate.value == pytest.approx(by_hand(parts, CREDIT[suffix]), abs=1e-12)
    clusters = sorted(frame["cluster_id"].unique())
    groups = [dict(iter(rows.groupby("cluster"))) for rows in parts]
    draws = []
    for row in drawn(clusters)[:3]:  # slow by hand: three resamples are enough to tell
        names = [clusters[i] for i in row]
        draws.append(by_hand([pd.concat([g[n] for n in names if n in g]) for g in groups], CREDIT[suffix]))
    three = calibrate(frame, CalibrationSettings(resamples=3, seed=SEED))
    again = found(three, f"rank_agreement_across_items{suffix}", "judge-x", "each_annotator")
    assert (again.low, again.high) == pytest.approx(expanded_percentile(draws, again.clusters), abs=1e-12)


def test_one_annotators_rank_agreement_is_that_of_the_public_functions():
    frame = made_ratings(48, annotators=1)
    rows = joined(frame, "judge-x", ["ann1"])
    report = calibrate(frame, SETTINGS)
    for ties, suffix in (("strict", ""), ("exclude", "_exclude_ties")):
        across = found(report, f"rank_agreement_across_items{suffix}", "judge-x", "each_annotator")
        within = found(report, f"rank_agreement_within_topic{suffix}", "judge-x", "each_annotator")
        assert across.value == pytest.approx(rank_agreement_across_items(rows["a"], rows["b"], ties), abs=1e-12)
        expected = rank_agreement_within_topic(rows["a"], rows["b"], rows["cluster"], ties)
        assert within.value == pytest.approx(expected, abs=1e-12)
        assert across.method == "cluster_bootstrap_expanded"
        assert within.method == "wilson_effective_n"
        assert "pairs of reports" in across.note
    assert across.n == sum(
        x != y and v != w for (x, v), (y, w) in combinations(zip(rows["a"], rows["b"], strict=True), 2)
    )


def test_rank_agreement_within_topics_has_the_wilson_interval_of_topics():
    frame = made_ratings(48, annotators=1)
    rows = joined(frame, "judge-x", ["ann1"])
    counts = [
        (sum((a - c) * (b - d) > 0 for (a, b), (c, d) in pairs), len(pairs))
        for _, own in rows.groupby("cluster")
        for pairs in [list(combinations(zip(own["a"], own["b"], strict=True), 2))]
    ]
    estimate = found(calibrate(frame, SETTINGS), "rank_agreement_within_topic", "judge-x", "each_annotator")
    agree, n = zip(*counts, strict=True)
    assert (estimate.low, estimate.high) == pytest.approx(wilson_effective(agree, n), abs=1e-12)


def test_where_every_topic_has_one_report_nothing_is_ranked_within_topics():
    frame = made_ratings(30).assign(cluster_id=lambda rows: rows["item_id"])
    names = {one.statistic for one in calibrate(frame, SETTINGS).estimates}
    assert "rank_agreement_across_items" in names
    assert "rank_agreement_within_topic" not in names


def test_scores_of_different_criteria_are_never_put_in_one_order():
    low, high = made_ratings(30, annotators=1), made_ratings(30, annotators=1, seed=5)
    frame = pd.concat([low, high.assign(criterion="depth", label=high["label"] + 100)])
    report = calibrate(frame, SETTINGS)
    parts = [joined(one, "judge-x", ["ann1"]) for one in (low, high)]
    pairs = [(len(rows) * (len(rows) - 1)) / 2 for rows in parts]
    strict = [rank_agreement_across_items(rows["a"], rows["b"]) for rows in parts]
    estimate = found(report, "rank_agreement_across_items", "judge-x", "each_annotator")
    assert estimate.value == pytest.approx(np.average(strict, weights=pairs), abs=1e-12)


def test_the_scale_that_was_not_declared_is_refused_and_named():
    report = calibrate(FRAMES[0], SETTINGS)
    names = {one.statistic for one in report.estimates}
    assert not {"cohen_kappa_linear", "cohen_kappa_quadratic", "krippendorff_alpha_ordinal"} & names
    assert [one.criterion for one in report.warnings if one.code == "undeclared_scale"] == ["quality"]
    assert "undeclared_scale" not in {one.code for one in report_of(0).warnings}


def test_ratio_alpha_of_very_many_values_is_a_value_without_an_interval():
    frame = made_ratings(64, 4)
    rows = joined(frame, "judge-x", PEOPLE)
    estimate = found(calibrate(frame, SETTINGS), "krippendorff_alpha_ratio", "judge-x", "each_annotator")
    assert estimate.value == pytest.approx(ratio_alpha(rows), abs=1e-9)
    assert (estimate.method, estimate.note) == ("none", "no interval: more than 200 distinct values")


def test_negative_scores_have_no_ratio_alpha():
    report = calibrate(FRAMES[2].assign(label=FRAMES[2]["label"] - 8), SETTINGS)
    assert "krippendorff_alpha_ratio" not in {one.statistic for one in report.estimates}


def test_pairs_of_very_many_scores_are_a_dash_with_a_reason():
    rng = np.random.default_rng(0)
    items = np.arange(MOST_ROWS + 1)
    frames = [
        pd.DataFrame({"item_id": [f"r{i}" for i in items], "label": rng.normal(size=len(items)), "rater_id": rater})
        for rater in ("ann1", "judge-x")
    ]
    frame = pd.concat(frames).assign(criterion="quality", cluster_id=lambda rows: rows["item_id"].str[:3])
    frame["rater_kind"] = np.where(frame["rater_id"] == "ann1", "human", "judge")
    both = "kendall_tau_b", "rank_agreement_across_items"
    report = calibrate(frame, CalibrationSettings(resamples=2), both)
    for statistic in both:
        estimate = found(report, statistic, "judge-x", "each_annotator")
        assert math.isnan(estimate.value)
        assert "too_many_rows" in estimate.note


def test_how_many_points_of_the_scale_each_rater_uses_is_told():
    frame = FRAMES[0]
    used = calibrate(frame, SETTINGS).labels.levels_used
    assert used["judge-x"] == {"quality": frame[frame["rater_id"] == "judge-x"]["label"].nunique()}
