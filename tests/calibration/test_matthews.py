"""Matthews' correlation of several labels: its definition, what it is beside kappa, and its place in every report."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from sklearn.metrics import matthews_corrcoef

from calibration.agreement.catalogue import why_undefined
from calibration.arithmetic.metrics import cohen_kappa, matthews_correlation
from calibration.calibrate import calibrate
from calibration.settings import CalibrationSettings
from exports.bibliography import bibtex, keys_of, used
from tests.calibration.studies import made_pairs
from tests.calibration.witnesses import NAN, agrees, columns_of, complete, raters, silent

PAIR = raters(["A", "B", "tie"], 2)


@given(PAIR)
def test_it_is_scikit_learns_which_says_0_where_a_side_never_varies(pair):
    a, b = columns_of(complete(*pair), 2)
    varied = min(len({*a}), len({*b})) > 1
    agrees(matthews_correlation, silent(matthews_corrcoef, b, a) if varied else NAN, *pair)


def test_by_hand():
    # [[20, 5], [10, 15]]: covariance 50 * 35 - (25 * 30 + 25 * 20), variances 2 * 25 * 25 and 2 * 30 * 20
    a = ["A"] * 25 + ["B"] * 25
    b = ["A"] * 20 + ["B"] * 5 + ["A"] * 10 + ["B"] * 15
    assert matthews_correlation(a, b) == pytest.approx(500 / math.sqrt(1250 * 1200))


@given(PAIR)
def test_it_is_never_nearer_to_0_than_kappa_and_knows_no_first_rater(pair):
    value = matthews_correlation(*pair)
    assert math.isnan(value) or abs(value) >= abs(cohen_kappa(*pair)) - 1e-12
    assert matthews_correlation(*reversed(pair)) == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [(([], []), "no_items"), ((["A"], ["A"]), "one_category"), ((["A", "A"], ["A", "tie"]), "zero_variance")],
)
def test_undefined_is_nan_with_its_reason(columns, reason):
    assert math.isnan(matthews_correlation(*columns))
    assert why_undefined(matthews_correlation, *columns) == reason


def test_a_report_bounds_it_by_whole_clusters_and_cites_it():
    report = calibrate(made_pairs(pairs=24), CalibrationSettings(resamples=49))
    found = [one for one in report.estimates if one.statistic == "matthews_correlation"]
    assert {("judge-x", "each_annotator"), ("each_annotator", "others")} <= {
        (one.rater, one.reference) for one in found
    }
    assert all(one.low <= one.value <= one.high and one.method == "cluster_bootstrap_expanded" for one in found)
    assert {*keys_of("matthews_correlation")} <= {*used(report)}
    assert "Gorodkin, Jan" in bibtex(used(report))
