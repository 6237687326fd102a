"""Intervals beside the main one: linearised where clusters are few, unclustered on request."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa

from benchmarks.coverage import Design, made_studies
from calibration.arithmetic import closed_forms
from calibration.arithmetic.metrics import cohen_kappa, symmetrised_kappa
from calibration.calibrate import calibrate
from calibration.inference.bootstrap import fisher_z_linearised
from calibration.study.bounding import kappa_se
from tests.calibration.explicit import FEW, PEOPLE, found, plain_report, plain_study, tables_of
from tests.calibration.studies import joined, made_pairs

FRAME = plain_study()
ROWS = joined(FRAME, "judge-x", PEOPLE)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_the_gradient_of_kappa_is_its_derivative(weights):
    table = np.random.default_rng(1).integers(1, 20, (3, 3)).astype(float)
    w = closed_forms.disagreement(3, weights)
    steps = np.zeros((3, 3))
    for cell in np.ndindex(3, 3):
        up, down = table.copy(), table.copy()
        up[cell] += 1e-5
        down[cell] -= 1e-5
        steps[cell] = (closed_forms.kappa(up, w) - closed_forms.kappa(down, w)) / 2e-5
    assert closed_forms.kappa_gradient(table, w) == pytest.approx(steps, abs=1e-8)


def test_below_twenty_clusters_kappa_has_a_linearised_second_opinion():
    frame = made_pairs(pairs=12)
    rows, clusters = joined(frame, "judge-x", PEOPLE), sorted(frame["cluster_id"].unique())
    report = calibrate(frame, FEW)
    kappa = cohen_kappa(rows["a"], rows["b"])
    # by hand: leave the derivative to differences of kappa when one cluster counts a little more
    tables = tables_of(rows, clusters)
    eps = 1e-5
    z = [(float(closed_forms.kappa(tables.sum(axis=0) + eps * one)) - kappa) / eps for one in tables]
    se = math.sqrt(12 / 11 * np.dot(z, z))
    half = stats.t.ppf(0.975, 11) * se / (1 - kappa**2)
    estimate = found(report, "cohen_kappa_linearised", "judge-x")
    assert estimate.value == pytest.approx(kappa)
    expected = math.tanh(math.atanh(kappa) - half), math.tanh(math.atanh(kappa) + half)
    assert (estimate.low, estimate.high) == pytest.approx(expected, abs=1e-6)
    assert estimate.method == "fisher_z_linearised"
    symmetrised = found(report, "cohen_kappa_symmetrised_linearised", "judge-x")
    assert symmetrised.value == pytest.approx(symmetrised_kappa(rows["a"], rows["b"]))
    assert symmetrised.low < symmetrised.value < symmetrised.high
    assert "cohen_kappa_linearised" not in {one.statistic for one in plain_report().estimates}  # 24 clusters


def test_fisher_z_is_refused_where_it_has_no_meaning():
    for value, se, clusters in ((1.0, 0.1, 9), (0.5, 0.0, 9), (0.5, 0.1, 1), (math.nan, 0.1, 9), (0.5, math.nan, 9)):
        assert all(map(math.isnan, fisher_z_linearised(value, se, clusters)))
    low, high = fisher_z_linearised(0.0, 0.1, 10)
    assert (low, high) == pytest.approx((-math.tanh(stats.t.ppf(0.975, 9) / 10), math.tanh(stats.t.ppf(0.975, 9) / 10)))
    assert math.isnan(kappa_se(np.ones((1, 2, 2))))


def test_unclustered_intervals_are_printed_only_on_request_and_under_that_word():
    assert not [one for one in plain_report().estimates if "unclustered" in one.statistic + one.method + one.note]
    report = calibrate(FRAME, replace(FEW, unclustered=True))
    agreed = found(report, "percent_agreement_unclustered", "judge-x")
    hits = int((ROWS["a"] == ROWS["b"]).sum())
    bounds = stats.binomtest(hits, len(ROWS)).proportion_ci(method="wilson")
    assert (agreed.low, agreed.high) == pytest.approx((bounds.low, bounds.high))
    kappa = found(report, "cohen_kappa_unclustered", "judge-x")
    witness = cohens_kappa(tables_of(ROWS, sorted(FRAME["cluster_id"].unique())).sum(axis=0))
    half = stats.t.ppf(0.975, len(ROWS) - 1) * witness.std_kappa / (1 - witness.kappa**2)
    assert kappa.low == pytest.approx(math.tanh(math.atanh(witness.kappa) - half), abs=1e-9)
    assert all(one.method.endswith("unclustered") and "unclustered" in one.note for one in (agreed, kappa))
    main = found(report, "percent_agreement", "judge-x")
    assert main == found(plain_report(), "percent_agreement", "judge-x")


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [5, 10])
def test_the_second_opinion_covers_the_truth_where_clusters_are_few(clusters):
    studies = made_studies(Design(clusters), 1000, seed=5)
    held = 0
    for index in range(1000):
        table = studies[:, index]
        low, high = fisher_z_linearised(float(closed_forms.kappa(table.sum(axis=0))), kappa_se(table), clusters)
        held += low <= 0.6 <= high
    assert 0.925 <= held / 1000 <= 0.97
