from __future__ import annotations

import math
import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_witness

from calibration.arithmetic.metrics import cohen_kappa, fleiss_kappa, krippendorff_alpha, light_kappa, percent_agreement

VERDICT = st.sampled_from(["A", "B", "tie"])
COLUMNS = st.lists(st.tuples(VERDICT, VERDICT), min_size=1, max_size=40).map(
    lambda rows: tuple(map(list, zip(*rows, strict=True)))
)


@given(COLUMNS)
def test_alpha_of_two_complete_raters_is_scotts_pi_corrected(columns):
    a, b = columns
    n = len(a)
    share = np.array([(a + b).count(k) / (2 * n) for k in ("A", "B", "tie")])
    expected = (share**2).sum()
    if expected < 1:
        pi = (percent_agreement(a, b) - expected) / (1 - expected)
        value = 1 - (1 - pi) * (2 * n - 1) / (2 * n)
        assert krippendorff_alpha([a, b], "nominal") == pytest.approx(value, abs=1e-12)


RATING = st.one_of(st.none(), st.integers(1, 5))


@given(
    st.lists(st.tuples(RATING, RATING, RATING), min_size=3, max_size=20),
    st.sampled_from(["nominal", "ordinal", "interval", "ratio"]),
)
def test_alpha_agrees_with_the_krippendorff_package(units, level):
    ratings = np.array([[np.nan if x is None else x for x in rater] for rater in zip(*units, strict=True)], dtype=float)
    paired = [[x for x in unit if x is not None] for unit in units]
    values = {x for unit in paired if len(unit) > 1 for x in unit}
    value = krippendorff_alpha(ratings, level)
    if len(values) < 2:
        assert math.isnan(value)
    else:
        witness = krippendorff.alpha(reliability_data=ratings, level_of_measurement=level)
        assert value == pytest.approx(witness, abs=1e-12)


def test_alpha_of_krippendorffs_own_example():
    # Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section C: .743 nominal, .815 ordinal, .849 interval
    n = math.nan
    ratings = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, n, n, n],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, n, 3],
        [n, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, n],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, n],
    ]
    found = {
        level: round(krippendorff_alpha(ratings, level), 3) for level in ("nominal", "ordinal", "interval", "ratio")
    }
    assert found == {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849, "ratio": 0.797}


def test_interval_alpha_loses_no_digits_to_an_offset_of_1e9():
    ratings = np.array([[1.0, 2, 3, 4], [1, 2, 4, 4], [2, 2, 3, np.nan]])
    assert krippendorff_alpha(ratings + 1e9, "interval") == pytest.approx(
        krippendorff_alpha(ratings, "interval"), abs=1e-12
    )


@given(st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=2, max_size=20))
def test_fleiss_kappa_agrees_with_statsmodels(units):
    counts = np.array([[unit.count(k) for k in range(3)] for unit in units])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert fleiss_kappa(counts) == pytest.approx(fleiss_witness(counts), abs=1e-12, nan_ok=True)


def test_light_kappa_is_the_mean_over_pairs_that_have_one():
    ratings = [["A", "B", "A", "B"], ["A", "B", "B", "B"], [None, None, None, "A"]]
    assert light_kappa(ratings) == pytest.approx((cohen_kappa(ratings[0], ratings[1]) + 0 + 0) / 3)
    assert math.isnan(light_kappa([["A"], ["A"]]))
