"""Paired differences: the t of cluster means, and what is said where there is no spread."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calibration.errors import CalibrationError
from calibration.inference.compare import paired_difference


def test_two_clusters_worked_by_hand() -> None:
    # d = 1, 0 | 1, 1: mean 3/4, cluster sums of residuals -1/2, 1/2, so se = sqrt(2 * 1/2) / 4 = 1/4, t = 3 with 1 df
    found = paired_difference([1, 1, 1, 1], [0, 1, 0, 0], ["x", "x", "y", "y"])
    assert (found.value, found.n, found.clusters, found.note) == (3 / 4, 4, 2, "")
    t = math.tan(math.pi * 0.475)  # the t quantile with 1 df is the Cauchy's
    assert (found.low, found.high) == (pytest.approx(3 / 4 - t / 4), pytest.approx(3 / 4 + t / 4))
    assert found.p == pytest.approx(1 - 2 * math.atan(3) / math.pi)


def test_one_label_a_cluster_is_the_paired_t_test() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 30))
    found = paired_difference(x, y, np.arange(30))
    fit = sm.OLS(x - y, np.ones(30)).fit()
    assert found.p == pytest.approx(fit.pvalues[0], rel=1e-9)
    assert (found.low, found.high) == pytest.approx(tuple(fit.conf_int()[0]))


@pytest.mark.parametrize(
    ("x", "y", "value"),
    [([1, 0, 1, 0], [1, 0, 1, 0], 0.0), ([1, 1, 1, 1], [0, 0, 0, 0], 1.0), ([1, 0, 1, 0], [0, 0, 0, 0], 0.5)],
)
def test_without_spread_between_clusters_there_is_a_value_and_no_interval(
    x: list[float], y: list[float], value: float
) -> None:
    found = paired_difference(x, y, [1, 1, 2, 2])
    assert (found.value, found.note) == (value, "zero_variance")
    assert all(math.isnan(number) for number in (found.low, found.high, found.p))


def test_one_cluster_gives_no_interval_and_no_labels_no_value() -> None:
    one = paired_difference([1, 0], [0, 0], [7, 7])
    assert (one.value, one.clusters, one.note, math.isnan(one.low)) == (0.5, 1, "too_few_units", True)
    none = paired_difference([], [], [])
    assert (math.isnan(none.value), none.n, none.clusters, none.note) == (True, 0, 0, "too_few_units")


def test_a_label_that_one_of_them_lacks_is_left_out_of_both() -> None:
    with_gaps = paired_difference([1, math.nan, 0, 1, 1], [0, 1, math.nan, 1, 0], [1, 1, 2, 2, 3])
    assert with_gaps == paired_difference([1, 1, 1], [0, 1, 0], [1, 2, 3])


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(CalibrationError) as refused:
        paired_difference([1, 0], [1], [1, 2])
    assert refused.value.code == "misaligned"


SCORES = st.lists(st.tuples(st.sampled_from([0, 0.5, 1]), st.sampled_from([0, 0.5, 1]), st.integers(0, 5)), min_size=2)


@given(SCORES, st.randoms(use_true_random=False))
def test_order_of_rows_means_nothing_and_order_of_judges_only_the_sign(rows: list[tuple], random: object) -> None:  # type: ignore[type-arg]
    x, y, clusters = zip(*rows, strict=True)
    found, swapped = paired_difference(x, y, clusters), paired_difference(y, x, clusters)
    assert swapped.value == pytest.approx(-found.value)
    assert (swapped.low, swapped.high) == pytest.approx((-found.high, -found.low), nan_ok=True)
    random.shuffle(rows)  # type: ignore[attr-defined]
    again = paired_difference(*zip(*rows, strict=True))
    assert (again.value, again.low, again.p) == pytest.approx((found.value, found.low, found.p), nan_ok=True)


@given(SCORES)
def test_the_value_lies_in_its_interval(rows: list[tuple[float, float, int]]) -> None:
    found = paired_difference(*zip(*rows, strict=True))
    assert found.note or found.low <= found.value <= found.high


def test_the_error_of_a_difference_is_that_of_leaving_out_each_topic_so_that_a_large_one_does_not_hide_its_own() -> (
    None
):
    rng = np.random.default_rng(5)
    code = np.repeat(np.arange(12), [60, *rng.integers(2, 9, 11)])
    x, y = (rng.random(len(code)) < rng.random(12)[code] for _ in range(2))
    d = x.astype(float) - y
    left = np.array([d[code != one].mean() - d.mean() for one in range(12)])
    half = float(stats.t.ppf(0.975, 11)) * math.sqrt(11 / 12 * (left @ left))
    found = paired_difference(x, y, code)
    assert (found.low, found.high) == pytest.approx((d.mean() - half, d.mean() + half))
