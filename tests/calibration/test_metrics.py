from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from calibration.agreement.catalogue import METRICS, why_undefined
from calibration.arithmetic import correlation
from calibration.arithmetic.metrics import (
    cohen_kappa,
    constant_judge_baseline,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    pabak,
    percent_agreement,
    stratified_kappa,
    symmetrised_kappa,
)
from calibration.errors import CalibrationError

VERDICT = st.sampled_from(["A", "B", "tie"])
COLUMNS = st.lists(st.tuples(VERDICT, VERDICT), min_size=1, max_size=40).map(
    lambda rows: tuple(map(list, zip(*rows, strict=True)))
)
TIED = ["A", "B", "tie", "A"], ["A", "A", "A", "tie"]


@pytest.mark.parametrize(
    ("ties", "value"), [("three_class", 1 / 4), ("half_credit", (1 + 0 + 1 / 2 + 1 / 2) / 4), ("exclude", 1 / 2)]
)
def test_the_three_tie_rules_of_percent_agreement(ties, value):
    assert percent_agreement(*TIED, ties=ties) == value


def test_a_judge_that_ties_when_unsure_looks_different_under_each_rule():
    # 688 right, 320 ties against a winner of 1,000 ... as counts: 600 right, 80 wrong, 320 ties
    a = ["A"] * 600 + ["B"] * 80 + ["tie"] * 320
    b = ["A"] * 680 + ["A"] * 320
    assert percent_agreement(a, b) == 600 / 1000
    assert percent_agreement(a, b, "half_credit") == 760 / 1000
    assert percent_agreement(a, b, "exclude") == 600 / 680


def test_kappa_by_hand():
    # Cohen 1960: the table [[20, 5], [10, 15]] has Po = .7, Pe = .5
    a = ["A"] * 25 + ["B"] * 25
    b = ["A"] * 20 + ["B"] * 5 + ["A"] * 10 + ["B"] * 15
    assert cohen_kappa(a, b) == pytest.approx(4 / 10)


@given(COLUMNS)
def test_kappa_agrees_with_two_other_implementations(columns):
    a, b = columns
    scale = ["A", "B", "tie"]
    value = cohen_kappa(a, b)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert value == pytest.approx(cohen_kappa_score(a, b), abs=1e-12, nan_ok=True)
        table = pd.crosstab(pd.Categorical(a, scale), pd.Categorical(b, scale), dropna=False).to_numpy()
        assert value == pytest.approx(cohens_kappa(table, return_results=False), abs=1e-12, nan_ok=True)


@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=30),
    st.sampled_from([None, "linear", "quadratic"]),
)
def test_weighted_kappa_uses_the_declared_scale(rows, weights):
    a, b = zip(*rows, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        witness = cohen_kappa_score(a, b, labels=[1, 2, 3, 4, 5], weights=weights)
    assert cohen_kappa(a, b, [1, 2, 3, 4, 5], weights) == pytest.approx(witness, abs=1e-12, nan_ok=True)


def test_unused_points_of_a_declared_scale_change_weighted_kappa():
    a, b = [1, 1, 5, 5, 2], [1, 5, 5, 2, 2]
    assert cohen_kappa(a, b, [1, 2, 3, 4, 5], "quadratic") != pytest.approx(cohen_kappa(a, b, None, "quadratic"))


@given(COLUMNS, st.randoms())
def test_kappa_and_alpha_ignore_who_is_first_and_the_order_of_rows(columns, rng):
    a, b = columns
    order = list(range(len(a)))
    rng.shuffle(order)
    shuffled = [a[i] for i in order], [b[i] for i in order]
    assert cohen_kappa(a, b) == pytest.approx(cohen_kappa(b, a), nan_ok=True)
    assert cohen_kappa(a, b) == pytest.approx(cohen_kappa(*shuffled), nan_ok=True)
    alpha = krippendorff_alpha([a, b], "nominal")
    assert alpha == pytest.approx(krippendorff_alpha([b, a], "nominal"), nan_ok=True)
    assert alpha == pytest.approx(krippendorff_alpha(shuffled, "nominal"), nan_ok=True)


@given(COLUMNS, st.data())
def test_symmetrised_kappa_ignores_which_report_of_each_pair_is_called_a(columns, data):
    a, b = columns
    flips = data.draw(st.lists(st.booleans(), min_size=len(a), max_size=len(a)))
    swap = {"A": "B", "B": "A", "tie": "tie"}
    renamed = [[swap[x] if flip else x for x, flip in zip(side, flips, strict=True)] for side in (a, b)]
    assert symmetrised_kappa(a, b) == pytest.approx(symmetrised_kappa(*renamed), abs=1e-12, nan_ok=True)
    assert percent_agreement(a, b) == percent_agreement(*renamed)


@given(COLUMNS)
def test_renaming_labels_leaves_percent_agreement_alone(columns):
    names = {"A": "x", "B": "y", "tie": "z"}
    assert percent_agreement(*columns) == percent_agreement(*[[names[x] for x in side] for side in columns])


def test_renaming_labels_changes_quadratic_kappa():
    a, b = [1, 2, 3, 3, 1, 2], [1, 3, 3, 2, 2, 2]
    renamed = [[{1: 2, 2: 1, 3: 3}[x] for x in side] for side in (a, b)]
    assert cohen_kappa(a, b, [1, 2, 3], "quadratic") != pytest.approx(cohen_kappa(*renamed, [1, 2, 3], "quadratic"))


def test_at_95_to_5_ac1_and_pabak_reward_a_judge_that_never_reads():
    people = ["ref"] * 950 + ["agent"] * 50
    judge = ["ref"] * 1000
    assert percent_agreement(judge, people) == 0.95
    assert cohen_kappa(judge, people) == 0.0
    assert gwet_ac1(judge, people) == pytest.approx(0.947, abs=5e-4)
    assert pabak(judge, people) == pytest.approx(0.9)


def test_ac1_by_hand():
    # Gwet 2008 formula on [[118, 5], [2, 0]]: Po = 118/125, pi_1 = 243/250, Pe = 2 pi_1 (1 - pi_1)
    a, b = ["p"] * 123 + ["n"] * 2, ["p"] * 118 + ["n"] * 5 + ["p"] * 2
    expected = 2 * (243 / 250) * (7 / 250)
    assert gwet_ac1(a, b) == pytest.approx((118 / 125 - expected) / (1 - expected))


def test_one_used_category_of_a_declared_scale_has_ac1_of_one():
    assert gwet_ac1(["A", "A"], ["A", "A"], categories=["A", "B"]) == 1.0
    assert why_undefined(gwet_ac1, ["A"], ["A"]) == why_undefined(pabak, ["A"], ["A"]) == "one_category_scale"


def test_stratified_kappa_weighs_strata_by_their_size():
    a, b, q = ["A", "B", "A", "A", "B"], ["A", "B", "B", "A", "B"], [1, 1, 2, 2, 2]
    # stratum 1: Po 1, Pe 1/2, n 2; stratum 2: Po 2/3, Pe (2*1 + 1*2)/9, n 3
    assert stratified_kappa(a, b, q) == pytest.approx((2 * 0.5 + 3 * (2 / 3 - 4 / 9)) / (2 * 0.5 + 3 * (1 - 4 / 9)))
    assert math.isnan(stratified_kappa(["A"], ["A"], ["x"]))


def test_the_best_constant_answer_by_tie_rule_and_by_system_pair():
    reference = ["A", "A", "B", "tie", "tie", "tie"]
    assert constant_judge_baseline(reference) == 3 / 6
    assert constant_judge_baseline(reference, ties="half_credit") == (3 + 3 / 2) / 6
    assert constant_judge_baseline(reference, ties="exclude") == 2 / 3
    winners = ["wiki", "wiki", "atlas", "atlas", "atlas", "wiki"]
    assert constant_judge_baseline(winners, groups=["p", "p", "p", "q", "q", "q"]) == 4 / 6
    tied = ["wiki", "tie", "tie", "atlas"]
    assert constant_judge_baseline(tied, groups=[1, 1, 1, 2]) == (2 + 1) / 4
    assert constant_judge_baseline(tied, groups=[1, 1, 1, 2], ties="half_credit") == (2.5 + 1) / 4
    assert constant_judge_baseline(tied, groups=[1, 1, 1, 2], ties="exclude") == 2 / 2


EMPTY: list[str] = []


@pytest.mark.parametrize(
    ("function", "args", "reason"),
    [
        (percent_agreement, (EMPTY, EMPTY), "no_items"),
        (percent_agreement, (["tie"], ["A"], "exclude"), "no_items"),
        (cohen_kappa, (EMPTY, EMPTY), "no_items"),
        (cohen_kappa, (["A"], ["A"]), "one_category"),
        (cohen_kappa, (["A", None], ["A", "B"]), "one_category"),
        (symmetrised_kappa, (["tie", "tie"], ["tie", "tie"]), "one_category"),
        (krippendorff_alpha, ([["A", "A"], ["A", "A"]], "nominal"), "one_category"),
        (krippendorff_alpha, ([["A", None], [None, "B"]], "nominal"), "no_shared_units"),
        (krippendorff_alpha, ([[None, None], [None, None]], "nominal"), "no_items"),
        (krippendorff_alpha, ([[None, None], [None, None]], "ratio"), "no_items"),
        (krippendorff_alpha, ([[3, 3], [3, 3]], "interval"), "one_category"),
        (constant_judge_baseline, (EMPTY,), "no_items"),
        (correlation.pearson, ([1.0], [2.0]), "too_few_units"),
        (correlation.pearson, ([1.0, 1.0], [2.0, 3.0]), "zero_variance"),
        (correlation.spearman, (EMPTY, EMPTY), "no_items"),
        (correlation.kendall_tau_b, ([1, 2], [3, 3]), "zero_variance"),
    ],
)
def test_undefined_is_nan_with_a_reason_and_without_a_warning(function, args, reason):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert math.isnan(function(*args))
        assert why_undefined(function, *args) == reason


def test_a_defined_value_has_no_reason():
    assert why_undefined(cohen_kappa, ["A", "B"], ["A", "A"]) == ""


@pytest.mark.parametrize(
    ("args", "value"),
    [((["A"], ["A"]), 1.0), ((["A"], ["B"]), 0.0), ((["A", "B"], ["A", "A"]), 0.5), ((["A", np.nan], ["A", "B"]), 1.0)],
)
def test_agreement_at_the_edges(args, value):
    assert percent_agreement(*args) == value


def test_a_constant_rater_has_kappa_zero_whatever_the_other_says():
    assert cohen_kappa(["A"] * 4, ["A", "B", "A", "A"]) == 0.0


def test_alpha_of_one_unit_is_zero_by_construction():
    assert krippendorff_alpha([["A"], ["B"]], "nominal") == 0.0


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: percent_agreement(["A"], ["A", "B"]), "misaligned"),
        (lambda: cohen_kappa(pd.Series(["A"], index=[0]), pd.Series(["A"], index=[1])), "misaligned"),
        (lambda: cohen_kappa(["A", 1], ["A", "B"]), "unknown_label"),
        (lambda: cohen_kappa(["A"], ["C"], categories=["A", "B"]), "unknown_label"),
        (lambda: percent_agreement(["A"], ["C"], "half_credit"), "not_pairwise"),
        (lambda: symmetrised_kappa(["A"], [1]), "unknown_label"),
        (lambda: symmetrised_kappa([1], [1]), "not_pairwise"),
        (lambda: percent_agreement(["A"], ["A"], "drop"), "unknown_form"),
        (lambda: cohen_kappa(["A"], ["A"], weights="cubic"), "unknown_form"),
        (lambda: fleiss_kappa([[2, 0], [1, 0]]), "unequal_raters"),
        (lambda: krippendorff_alpha([[1], [2]], "metric"), "unknown_form"),
        (lambda: krippendorff_alpha([[-1, 2], [2, 1]], "ratio"), "negative_ratio_values"),
        (lambda: krippendorff_alpha([["x", "y"], ["x", "x"]], "interval"), "unknown_label"),
    ],
)
def test_misuse_is_refused_by_code(call, code):
    with pytest.raises(CalibrationError) as refusal:
        call()
    assert refusal.value.code == code


def test_no_function_changes_its_input():
    a, b = pd.Series(["A", None, "B"]), pd.Series(["A", "tie", "tie"])
    copies = a.copy(), b.copy()
    percent_agreement(a, b)
    cohen_kappa(a, b)
    krippendorff_alpha([a, b], "nominal")
    pd.testing.assert_series_equal(a, copies[0])
    pd.testing.assert_series_equal(b, copies[1])


def test_every_line_of_the_catalogue_names_a_function_a_title_and_a_source():
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    assert all(callable(metric.function) and metric.title and metric.symbol and metric.kinds for metric in METRICS)
