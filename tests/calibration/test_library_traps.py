"""Where a library that we check ourselves against is wrong or silent, and what ours does instead (STATISTICS 5)."""

from __future__ import annotations

import math
import warnings

import evalica
import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from calibration.agreement.catalogue import why_undefined
from calibration.arithmetic.correlation import kendall_tau_b, moments, pearson, pearson_of_moments, spearman
from calibration.arithmetic.metrics import cohen_kappa, krippendorff_alpha
from calibration.errors import CalibrationError
from calibration.inference.bootstrap import percentile, resample

NAN = math.nan


@pytest.mark.filterwarnings("ignore:A single label")
def test_kappa_of_one_category_is_nan_with_a_reason_where_scikit_learn_warns():
    with pytest.warns(UserWarning, match="invalid value|undefined|ill-defined|only|nan"):
        assert math.isnan(cohen_kappa_score(["A", "A"], ["A", "A"]))
    assert math.isnan(cohen_kappa(["A", "A"], ["A", "A"]))
    assert why_undefined(cohen_kappa, ["A", "A"], ["A", "A"]) == "one_category"


def test_weights_are_steps_on_the_declared_scale_where_scikit_learn_counts_labels_seen():
    a, b, scale = [1, 1, 5, 5, 2], [1, 5, 5, 2, 2], [1, 2, 3, 4, 5]
    seen, declared = (cohen_kappa_score(a, b, labels=labels, weights="quadratic") for labels in (None, scale))
    assert seen == pytest.approx(2 / 7)  # steps 1, 2, 3
    assert declared == pytest.approx(6 / 31)  # steps 1, 2, 5
    assert cohen_kappa(a, b, scale, "quadratic") == pytest.approx(declared)


def test_a_missing_label_is_no_label_where_scikit_learn_counts_it_as_text():
    a, b = ["A", "B", NAN, NAN], ["A", "B", "A", "B"]
    assert cohen_kappa_score(a, b) == pytest.approx(1 / 3)  # "nan" is a third category
    assert cohen_kappa(a, b) == 1.0


def test_text_beside_numbers_is_refused_where_scikit_learn_makes_it_text():
    assert cohen_kappa_score(["A", 1], ["A", "1"]) == 1.0
    with pytest.raises(CalibrationError, match="text stands among numbers"):
        cohen_kappa(["A", 1], ["A", "1"])


def test_alpha_has_no_default_level_where_krippendorff_assumes_interval():
    nominal = [[0, 1, 2, 0, 1], [0, 2, 2, 0, 1]]
    assert krippendorff.alpha(nominal) == pytest.approx(20 / 23)  # the interval level
    with pytest.raises(TypeError):
        krippendorff_alpha(nominal)
    assert krippendorff_alpha(nominal, "nominal") == pytest.approx(8 / 11)


def test_a_transposed_table_is_refused_where_krippendorff_takes_it():
    ratings = np.array([[1, 2, 3, 1, 2], [1, 2, 3, 2, 2]])
    assert krippendorff.alpha(ratings.T) != pytest.approx(krippendorff.alpha(ratings))
    with pytest.raises(CalibrationError) as refusal:
        krippendorff_alpha(ratings.T, "interval")
    assert refusal.value.code == "maybe_transposed"


def test_alpha_of_constant_ratings_is_nan_where_krippendorff_raises_and_evalica_says_one():
    ratings = [[1, 1, 1], [1, 1, 1]]
    with pytest.raises(ValueError, match="more than one value"):
        krippendorff.alpha(ratings)
    assert evalica.alpha(pd.DataFrame(ratings)).alpha == 1.0
    assert math.isnan(krippendorff_alpha(ratings, "nominal"))
    assert why_undefined(krippendorff_alpha, ratings, "nominal") == "one_category"


def test_none_is_missing_where_krippendorff_fails():
    with pytest.raises(ValueError, match="dtype kind O"):
        krippendorff.alpha([[1, None, 2], [1, 2, 2]])
    assert krippendorff_alpha([[1, None, 2], [1, 2, 2]], "interval") == krippendorff_alpha([[1, 2], [1, 2]], "interval")


def test_alpha_of_many_continuous_scores_needs_no_table_of_units_by_values_squared():
    # 3 raters x 1,000 units of distinct scores: krippendorff's array would hold 1,000 x 3,000 x 3,000 numbers, 72 GB
    rng = np.random.default_rng(0)
    truth = rng.normal(size=1_000)
    ratings = truth + rng.normal(size=(3, 1_000))
    few = ratings[:, :40]
    assert krippendorff_alpha(ratings, "interval") == pytest.approx(0.5, abs=0.05)
    witness = krippendorff.alpha(few, level_of_measurement="interval")
    assert krippendorff_alpha(few, "interval") == pytest.approx(witness, abs=1e-12)


def test_one_missing_number_drops_a_row_where_scipy_gives_nan():
    x, y = [1, 2, NAN, 4], [1, 3, 2, 2]
    for ours, theirs in ((pearson, stats.pearsonr), (spearman, stats.spearmanr), (kendall_tau_b, stats.kendalltau)):
        assert math.isnan(theirs(x, y).statistic)
        assert ours(x, y) == pytest.approx(theirs([1, 2, 4], [1, 3, 2]).statistic)


def test_one_row_is_nan_where_scipy_raises():
    with pytest.raises(ValueError, match="at least 2"):
        stats.pearsonr([1], [2])
    with pytest.raises(ZeroDivisionError):
        stats.kendalltau([1, 2], [1, 2], method="asymptotic")
    for function in (pearson, spearman, kendall_tau_b):
        assert why_undefined(function, [1], [2]) == "too_few_units"
    assert kendall_tau_b([1, 2], [1, 2]) == 1.0


def test_a_few_undefined_resamples_are_left_out_where_scipy_loses_the_interval():
    x, y = np.array([1.0, 1, 1, 2, 2, 2]), np.array([1.0, 2, 3, 4, 2, 6])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = stats.bootstrap(
            (x, y),
            lambda a, b: stats.pearsonr(a, b).statistic,
            paired=True,
            vectorized=False,
            n_resamples=499,
            method="percentile",
            rng=np.random.default_rng(0),
        ).confidence_interval
    assert math.isnan(theirs.low)
    draws = resample(moments(x, y, np.ones(6), np.arange(6), 6), pearson_of_moments, 499, 0)
    assert 0 < np.isnan(draws).mean() < 0.05
    low, high = percentile(draws)
    assert -1 <= low < pearson(x, y) < high <= 1
