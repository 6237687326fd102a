"""Strengths from wins: closed forms, two independent implementations, and refusals where there is no solution."""

from __future__ import annotations

import math

import choix
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import optimize
from scipy.sparse import csgraph
from sklearn.linear_model import LogisticRegression

from calibration.inference.bootstrap import cluster_weights
from calibration.results import CalibrationSettings
from calibration.systems.bradley_terry import bradley_terry, chances, strengths, strongly_connected, why_no_strengths
from calibration.systems.win_rates import units_of, win_scores, win_sums
from tests.calibration.ranked import drawn_study, verdicts

FEW = CalibrationSettings(resamples=200)
TABLES = arrays(float, st.integers(2, 6).map(lambda n: (n, n)), elements=st.integers(0, 9).map(lambda n: n / 2))


def emptied(wins: np.ndarray) -> np.ndarray:
    return np.asarray(wins * (1 - np.eye(len(wins))))


def by_logistic_regression(wins: np.ndarray) -> np.ndarray:
    """One row for every pair and outcome, +1 for the one and -1 for the other system, weighted by wins."""
    i, j = np.nonzero(wins)
    x = np.zeros((len(i), len(wins)))
    x[np.arange(len(i)), i], x[np.arange(len(i)), j] = 1, -1
    x = np.concatenate([x, -x])
    y, weight = np.repeat([1, 0], len(i)), np.tile(wins[i, j], 2)
    fit = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(x, y, weight)
    return np.asarray(fit.coef_[0] - fit.coef_[0].mean())


def by_scipy(wins: np.ndarray) -> np.ndarray:
    """The log-likelihood itself, by a quasi-Newton method that never sees our derivatives."""

    def loss(x: np.ndarray) -> float:
        return float((wins * np.logaddexp(0, x[None, :] - x[:, None])).sum() / wins.sum())

    found = optimize.minimize(loss, np.zeros(len(wins)), method="BFGS", options={"gtol": 1e-8}).x
    return np.asarray(found - found.mean())


def test_two_systems_differ_by_the_log_odds_of_their_wins() -> None:
    found = strengths([[0, 6], [2, 0]])
    assert found == pytest.approx([math.log(3) / 2, -math.log(3) / 2], abs=1e-12)
    assert chances(found)[0, 1] == pytest.approx(6 / 8)


@given(TABLES)
def test_strengths_are_those_of_a_logistic_regression_and_of_a_general_solver(table: np.ndarray) -> None:
    wins = emptied(table)
    found = strengths(wins)
    if csgraph.connected_components(wins > 0, connection="strong")[0] > 1:
        assert np.isnan(found).all()
        assert why_no_strengths(wins)
        return
    assert why_no_strengths(wins) is None
    assert found.sum() == pytest.approx(0, abs=1e-9)
    assert found == pytest.approx(by_scipy(wins), abs=2e-3)
    assert found == pytest.approx(by_logistic_regression(wins), abs=2e-3)
    # the maximum has as many expected wins as wins: this holds to the last digits, whatever a witness reaches
    met = wins + wins.T
    assert (met * chances(found)).sum(axis=1) == pytest.approx(wins.sum(axis=1), abs=1e-7)


def test_strengths_are_those_of_choix() -> None:
    wins = emptied(np.random.default_rng(4).integers(1, 9, (5, 5)))
    pairs = [(i, j) for i in range(5) for j in range(5) for _ in range(int(wins[i, j]))]
    assert strengths(wins) == pytest.approx(choix.ilsr_pairwise(5, pairs), abs=1e-6)


@given(arrays(bool, st.integers(1, 7).map(lambda n: (n, n))))
def test_strong_connection_is_that_of_a_graph_library(beat: np.ndarray) -> None:
    assert strongly_connected(beat) == (csgraph.connected_components(beat, connection="strong")[0] == 1)


@pytest.mark.parametrize(
    ("wins", "reason"),
    [
        ([[0, 3, 3], [0, 0, 2], [0, 2, 0]], "separated"),  # never loses
        ([[0, 3, 3], [2, 0, 3], [0, 0, 0]], "separated"),  # never wins
        ([[0, 1, 1, 1], [1, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 0]], "separated"),  # a group that never loses
        ([[0, 3, 0, 0], [3, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], "not_connected"),
        ([[0, 3, 0], [2, 0, 0], [0, 0, 0]], "not_connected"),  # one that never met the others
        ([[0, 0], [0, 0]], "no_items"),
    ],
)
def test_no_finite_solution_is_nan_for_all_with_its_reason(wins: list[list[int]], reason: str) -> None:
    table = np.array(wins, float)
    assert np.isnan(strengths(table)).all()
    assert why_no_strengths(table).reason == reason
    if reason != "no_items":
        assert np.isfinite(strengths(table, ridge=0.1)).all()


def test_a_ridge_is_half_of_it_times_the_squared_strengths() -> None:
    wins = np.array([[0, 5.0], [0, 0]])

    def loss(x: float) -> float:
        return 5 * math.log1p(math.exp(-2 * x)) + 0.1 / 2 * 2 * x * x

    assert strengths(wins, ridge=0.1)[0] == pytest.approx(optimize.minimize_scalar(loss, (0, 3)).x, abs=1e-6)


def test_a_system_that_never_loses_is_undefined_in_the_ranking_unless_a_ridge_is_asked_for_and_printed() -> None:
    rows = [(f"t{n}", "ann", "x", "y", "A") for n in range(8)]
    found = bradley_terry(verdicts(rows), settings=FEW)
    assert all(math.isnan(one.estimate.value) and math.isnan(one.rank) for one in found.systems)
    assert all(one.estimate.method == "none" and "separated" in one.estimate.note for one in found.systems)
    assert math.isnan(found.keeps_first)
    helped = bradley_terry(verdicts(rows), settings=FEW, ridge=0.1)
    assert [one.system for one in helped.systems] == ["x", "y"]
    assert "ridge 0.1" in helped.systems[0].estimate.note


def test_intervals_are_those_of_resampled_topics_fitted_one_by_one() -> None:
    frame, settings_ = drawn_study(), CalibrationSettings(resamples=40)
    units = units_of(frame, settings_)
    wins = win_sums(units, win_scores(units))
    weights = np.concatenate(list(cluster_weights(units.clusters, 40, settings_.seed)))
    draws = np.stack([strengths(np.einsum("c,cij->ij", row, wins)) for row in weights])
    estimate = next(one for one in bradley_terry(frame, settings=settings_).systems if one.system == "atlas").estimate
    assert estimate.method == "cluster_bootstrap_expanded"
    assert draws[:, 0].min() <= estimate.low < estimate.value < estimate.high <= draws[:, 0].max()
    assert estimate.value == pytest.approx(by_scipy(wins.sum(axis=0))[0], abs=1e-5)
