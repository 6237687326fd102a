from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calibration.arithmetic import closed_forms
from calibration.arithmetic.columns import count_table
from calibration.arithmetic.correlation import kendall_tau_b, pearson, spearman
from calibration.errors import CalibrationError

NUMBERS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=30)


@given(NUMBERS)
def test_correlations_agree_with_scipy(rows):
    x, y = (list(side) for side in zip(*rows, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        witnesses = stats.pearsonr(x, y).statistic, stats.spearmanr(x, y).statistic, stats.kendalltau(x, y).statistic
    for function, witness in zip((pearson, spearman, kendall_tau_b), witnesses, strict=True):
        assert function(x, y) == pytest.approx(witness, abs=1e-12, nan_ok=True)


@given(NUMBERS)
def test_the_table_forms_are_the_same_numbers(rows):
    x, y = (np.array(side, float) for side in zip(*rows, strict=True))
    scale = np.arange(7.0)
    table = count_table(x, y, scale)
    assert float(closed_forms.pearson(table, scale, scale)) == pytest.approx(pearson(x, y), abs=1e-12, nan_ok=True)
    assert float(closed_forms.spearman(table)) == pytest.approx(spearman(x, y), abs=1e-12, nan_ok=True)
    assert float(closed_forms.kendall(table)) == pytest.approx(kendall_tau_b(x, y), abs=1e-12, nan_ok=True)


def test_an_offset_of_1e9_costs_no_digits():
    x, y = np.array([1.0, 2, 4, 7, 7]), np.array([2.0, 1, 4, 5, 9])
    assert pearson(x + 1e9, y - 1e9) == pytest.approx(pearson(x, y), abs=1e-15)


def test_rows_with_a_missing_side_are_dropped():
    assert pearson([1, 2, None, 4], [2, 4, 6, 8]) == pytest.approx(1)


def test_text_is_refused():
    with pytest.raises(CalibrationError, match="needs numbers"):
        spearman(["A"], ["B"])


@pytest.mark.parametrize("labels", [2, 3, 8, 9, 12])
def test_kendall_of_many_tables_at_once_is_that_of_each_by_scipy(labels):
    tables = np.random.default_rng(labels).integers(0, 6, (5, 2, labels, labels)).astype(float)
    found = closed_forms.kendall(tables)
    for place in np.ndindex(5, 2):
        rows, columns = np.nonzero(tables[place])
        times = tables[place][rows, columns].astype(int)
        expected = stats.kendalltau(np.repeat(rows, times), np.repeat(columns, times)).statistic
        assert found[place] == pytest.approx(expected, abs=1e-12, nan_ok=True)
