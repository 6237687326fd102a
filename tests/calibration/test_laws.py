"""What holds for any data (STATISTICS 8), beyond the laws that stand beside single functions in the other tests."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration import metrics
from calibration.agreement.score_preferences import preferences_from_scores
from calibration.arithmetic import closed_forms, correlation
from calibration.calibrate import calibrate
from calibration.inference import bootstrap
from calibration.results import CalibrationSettings
from calibration.study.joining import code
from calibration.table.checking import check_verdicts
from calibration.table.verdicts import normalise
from tests.calibration.studies import made_pairs, made_ratings
from tests.calibration.witnesses import raters

PAIR, SCORES = raters(["A", "B", "tie"], 2), raters([1, 2, 3, 4, 5], 2)
NOMINAL: dict[str, Callable[..., float]] = {
    "percent_agreement": metrics.percent_agreement,
    "cohen_kappa": metrics.cohen_kappa,
    "symmetrised_kappa": metrics.symmetrised_kappa,
    "gwet_ac1": metrics.gwet_ac1,
    "pabak": metrics.pabak,
    "light_kappa": lambda a, b: metrics.light_kappa([a, b], crowd=True),
    "krippendorff_alpha": lambda a, b: metrics.krippendorff_alpha([a, b], "nominal", crowd=True),
}
ORDERED: dict[str, Callable[..., float]] = {
    "quadratic kappa": lambda a, b: metrics.cohen_kappa(a, b, weights="quadratic"),
    "pearson": correlation.pearson,
    "spearman": correlation.spearman,
    "kendall_tau_b": correlation.kendall_tau_b,
    "rank_agreement_across_items": correlation.rank_agreement_across_items,
    "rank agreement, half credit": lambda a, b: correlation.rank_agreement_across_items(a, b, "half_credit"),
    **{
        form: lambda a, b, form=form: correlation.icc(np.array([a, b], dtype=object).T.reshape(-1, 2), form, crowd=True)
        for form in ("ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)")
    },
    **{
        f"alpha, {level}": lambda a, b, level=level: metrics.krippendorff_alpha([a, b], level, crowd=True)
        for level in ("ordinal", "interval", "ratio")
    },
}
SYMMETRIC = [
    *((function, PAIR) for function in NOMINAL.values()),
    *((function, SCORES) for function in ORDERED.values()),
]
NAMES = [*NOMINAL, *ORDERED]


def same(value: float) -> Any:
    return pytest.approx(value, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize(("function", "columns"), SYMMETRIC, ids=NAMES)
def test_who_is_called_first_and_the_order_of_rows_change_nothing(function, columns):
    @given(columns, st.randoms(use_true_random=False))
    def law(pair, rng):
        a, b = pair
        order = rng.sample(range(len(a)), len(a))
        value = function(a, b)
        assert function(b, a) == same(value)
        assert function([a[i] for i in order], [b[i] for i in order]) == same(value)

    law()


# an alpha has its n - 1, an ICC its degrees of freedom, and a report is tied with its own copy
CHANGED_BY_COPIES = {name for name in NAMES if "alpha" in name or "ICC" in name or "rank" in name}


@pytest.mark.parametrize("name", [name for name in NAMES if name not in CHANGED_BY_COPIES])
def test_having_everything_twice_changes_no_point_value(name):
    function, columns = SYMMETRIC[NAMES.index(name)]

    @given(columns)
    def law(pair):
        a, b = pair
        if sum(None not in row and row == row for row in zip(a, b, strict=True)) > 1:
            assert function(a * 2, b * 2) == same(function(a, b))

    law()


TABLE = st.lists(st.integers(0, 9), min_size=9, max_size=9).map(lambda cells: np.array(cells, float).reshape(3, 3))
FORMS = {
    "agreement": closed_forms.agreement,
    "chance": closed_forms.chance,
    "kappa": closed_forms.kappa,
    "quadratic kappa": lambda t: closed_forms.kappa(t, closed_forms.disagreement(3, "quadratic")),
    **{metric.name: metric.of_table for metric in metrics.METRICS if metric.of_table},
    "stratified_kappa": lambda t: closed_forms.stratified_kappa(t[..., None, :, :]),
    "pearson": lambda t: closed_forms.pearson(t, np.arange(3.0), np.arange(3.0)),
    "spearman": closed_forms.spearman,
    "kendall": closed_forms.kendall,
}


@given(TABLE, st.sampled_from([2, 3, 6, 210]))
def test_counts_times_a_factor_and_tables_in_a_block_have_the_value_of_one_table(table, factor):
    for function in FORMS.values():
        value = float(function(table))
        assert float(function(factor * table)) == same(value)
        block = function(np.stack([table.T, table, np.zeros((3, 3))])[:, None])
        assert float(block[1, 0]) == same(value)
        assert math.isnan(block[2, 0])


@given(TABLE)
def test_shares_lie_between_0_and_1_and_chance_corrected_values_are_at_most_1(table):
    for name, function in FORMS.items():
        value = float(function(table))
        assert math.isnan(value) or value <= 1 + 1e-12
        lowest = 0 if name in ("agreement", "chance", "balanced_accuracy") else -1
        assert math.isnan(value) or value >= lowest - 1e-12


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.integers(2, 1000), st.sampled_from([0.8, 0.95, 0.99]))
def test_a_t_interval_holds_its_value_and_grows_with_its_level(value, se, clusters, level):
    low, high = bootstrap.cluster_t(value, se, clusters, level)
    wider = bootstrap.cluster_t(value, se, clusters, (1 + level) / 2)
    assert wider[0] < low < value < high < wider[1]


@given(st.lists(st.floats(-1, 1), min_size=20, max_size=60), st.integers(2, 300))
def test_an_expanded_interval_is_never_narrower_than_the_plain_one(draws, clusters):
    low, high = bootstrap.percentile(draws)
    expanded = bootstrap.expanded_percentile(draws, clusters)
    assert min(draws) <= expanded[0] <= low + 1e-12
    assert high - 1e-12 <= expanded[1] <= max(draws)


FEW = CalibrationSettings(resamples=20, per_criterion=True)
DIFFERENCES = (
    "flip_direction", "longer_rate_difference", "tie_rate_gap", "not_applicable_rate_gap", "self_preference",
)  # fmt: skip


@settings(max_examples=4)
@given(st.integers(0, 1000), st.integers(1, 9), st.floats(0, 0.6), st.randoms(use_true_random=False), st.booleans())
def test_a_report_of_any_study_holds_its_values_and_ignores_the_order_of_its_rows(seed, pairs, missing, rng, both):
    frame = made_pairs(pairs=pairs, criteria=2, seed=seed, missing=missing, both_orders=both)
    if frame.empty:
        return
    report = calibrate(frame, FEW)
    order = rng.sample(range(len(frame)), len(frame))
    assert repr(calibrate(frame.iloc[order], FEW)) == repr(report)
    for one in report.estimates:
        assert math.isnan(one.value) or math.isnan(one.low) or one.low <= one.high
        assert one.note or not math.isnan(one.value)
        assert one.note or not math.isnan(one.low)
        if one.method in ("wilson_effective_n", "cluster_t"):
            assert one.low - 1e-12 <= one.value <= one.high + 1e-12
        if one.method == "wilson_effective_n":
            assert (-1 if one.statistic in DIFFERENCES else 0) <= one.low <= one.high <= 1


A, B_ = ["A", None, "tie", "B", "A"], ["A", "A", "tie", "A", math.nan]
X, Y = [1.0, 2.0, math.nan, 4.0, 2.5], [2.0, 1.0, 3.0, 3.0, 2.0]
TOPICS = ["p", "q", "p", None, "q"]
PER_CLUSTER = np.array([3.0, 0.0, 4.0]), np.array([4.0, 0.0, 7.0])
RATINGS = made_ratings(12)
CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    **{
        f"{rule} agreement": (metrics.percent_agreement, (A, B_, rule))
        for rule in ("three_class", "half_credit", "exclude")
    },
    "cohen_kappa": (metrics.cohen_kappa, (A, B_, ["tie", "B", "A"], "linear")),
    "symmetrised_kappa": (metrics.symmetrised_kappa, (A, B_)),
    "stratified_kappa": (metrics.stratified_kappa, (A, B_, TOPICS)),
    "gwet_ac1": (metrics.gwet_ac1, (A, B_, ["B", "tie", "A"])),
    "pabak": (metrics.pabak, (A, B_)),
    "balanced_accuracy": (metrics.balanced_accuracy, (A, B_)),
    "fleiss_kappa": (metrics.fleiss_kappa, ([[2, 1], [3, 0], [1, 2]],)),
    "light_kappa": (metrics.light_kappa, ([A, B_, A],)),
    **{
        f"alpha {level}": (metrics.krippendorff_alpha, ([X, Y, Y], level))
        for level in ("nominal", "ordinal", "interval", "ratio")
    },
    "constant_judge_baseline": (metrics.constant_judge_baseline, (A, TOPICS, "half_credit")),
    "why_undefined": (metrics.why_undefined, (metrics.cohen_kappa, A, A)),
    "pearson": (correlation.pearson, (X, Y)),
    "spearman": (correlation.spearman, (X, Y)),
    "kendall_tau_b": (correlation.kendall_tau_b, (X, Y)),
    "icc": (correlation.icc, ([[1.0, 2.0], [3.0, 3.0], [math.nan, 1.0], [4.0, 6.0]],)),
    "rank_agreement_across_items": (correlation.rank_agreement_across_items, (X, Y)),
    "rank_agreement_within_topic": (correlation.rank_agreement_within_topic, (X, Y, TOPICS)),
    "preferences_from_scores": (preferences_from_scores, (RATINGS.assign(system_a=RATINGS["item_id"]),)),
    "resample": (bootstrap.resample, (np.arange(36.0).reshape(4, 3, 3), closed_forms.kappa, 20)),
    "percentile": (bootstrap.percentile, (np.array([3.0, 1, math.nan, *range(60)]),)),
    "expanded_percentile": (bootstrap.expanded_percentile, (np.array([3.0, 1, math.nan, *range(60)]), 5)),
    "wilson_effective": (bootstrap.wilson_effective, PER_CLUSTER),
    "cluster_se": (bootstrap.cluster_se, (np.array([1.0, 0, 1]), np.array(["p", "q", "p"]))),
    "effective_sample": (bootstrap.effective_sample, (np.array([1.0, 0, 1]), np.array(["p", "q", "p"]))),
    "normalise": (normalise, (made_pairs(pairs=3),)),
    "check_verdicts": (check_verdicts, (made_pairs(pairs=3), {"c0": ("B", "tie", "A")})),
    "code": (code, (check_verdicts(made_pairs(pairs=3, both_orders=True)), FEW)),
    "calibrate pairs": (calibrate, (made_pairs(pairs=6, both_orders=True), FEW)),
    "calibrate ratings": (calibrate, (RATINGS, FEW)),
}


KINDS = {"lists": list, "arrays": lambda one: np.array(one, dtype=object), "columns": pd.Series}


def is_column(one: Any) -> bool:
    return isinstance(one, list) and np.ndim(one) == 1


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (call, kind)
        for call, (_, given_) in CALLS.items()
        for kind in (KINDS if any(map(is_column, given_)) else ["lists"])
    ],
)
def test_no_function_changes_what_it_was_given(call, kind):
    function, given_ = CALLS[call]
    args = [KINDS[kind](one) if is_column(one) else one for one in given_]
    before = copy.deepcopy(args)
    function(*args)
    for one, other in zip(args, before, strict=True):
        assert one.equals(other) if isinstance(one, pd.DataFrame | pd.Series) else repr(one) == repr(other)


def test_a_sum_over_clusters_is_taken_of_a_copy():
    sums = np.arange(18.0).reshape(2, 3, 3)
    sums.flags.writeable = False
    assert bootstrap.resample(sums, closed_forms.kappa, 5).shape == (5,)
