"""Calibration error, Brier score and AUROC against hand-made numbers, scikit-learn, and what noise alone gives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, roc_auc_score

from calibration.arithmetic.calibration_error import (
    bins_of,
    brier,
    brier_score,
    by_chance,
    by_level,
    calibration_error,
    confidence_auroc,
    exceeded,
    expected_calibration_error,
    in_bins,
    murphy,
)
from calibration.errors import CalibrationError

# six votes on six statements: 6/6 right, 6/6 right, 5/6 wrong, 4/6 right, 4/6 wrong, 4/6 right
SHARES = [1.0, 1.0, 5 / 6, 4 / 6, 4 / 6, 4 / 6]
RIGHT = [1, 1, 0, 1, 0, 1]


def test_six_votes_on_six_statements_by_hand() -> None:
    """6/6: claimed 1, kept 1. 5/6: claimed .83, kept 0. 4/6: claimed .67, kept .67. So (1/6) x (5/6)."""
    assert expected_calibration_error(SHARES, RIGHT) == pytest.approx(5 / 36)
    assert brier_score(SHARES, RIGHT) == pytest.approx((25 + 4 + 16 + 4) / 36 / 6)
    # of 4 right and 2 wrong: 6/6 beats both, twice; 4/6 loses to 5/6 and ties 4/6, twice
    assert confidence_auroc(SHARES, RIGHT) == pytest.approx((2 + 2 + 0.5 + 0.5) / 8)


answers = st.lists(st.tuples(st.sampled_from([0.2, 0.4, 0.6, 0.8, 1.0]), st.booleans()), min_size=2, max_size=60)


@given(answers)
def test_scikit_learn_says_the_same(given_answers: list[tuple[float, bool]]) -> None:
    p, hit = (np.array(side, float) for side in zip(*given_answers, strict=True))
    assert brier_score(p, hit) == pytest.approx(brier_score_loss(hit, p, pos_label=1))
    if 0 < hit.sum() < len(hit):
        assert confidence_auroc(p, hit) == pytest.approx(roc_auc_score(hit, p))
        assert confidence_auroc(p**3, hit) == pytest.approx(confidence_auroc(p, hit)), "only the order counts"
    else:
        assert math.isnan(confidence_auroc(p, hit))


@given(answers)
def test_the_brier_score_is_reliability_minus_resolution_plus_uncertainty(found: list[tuple[float, bool]]) -> None:
    p, asked, right = by_level(*zip(*found, strict=True))
    kept, resolved, uncertain = murphy(asked, right, p, bins_of(asked))
    assert float(brier(asked, right, p)) == pytest.approx(float(kept - resolved + uncertain))
    error = float(calibration_error(asked, right, p, bins_of(asked)))
    assert 0 <= error <= math.sqrt(max(0.0, float(kept))) + 1e-9, "a mean of gaps is below their root mean square"


@pytest.mark.parametrize("function", [expected_calibration_error, brier_score, confidence_auroc])
def test_nothing_said_is_undefined_and_a_missing_side_is_dropped(function: object) -> None:
    assert callable(function)
    assert math.isnan(function([], []))
    assert math.isnan(function([None, math.nan], [1, 0]))
    assert function([1.0, 0.5, None], [1, 0, 1]) == function([1.0, 0.5], [1, 0])


def test_a_level_of_one_to_five_is_no_probability_but_has_an_order() -> None:
    with pytest.raises(CalibrationError) as refused:
        expected_calibration_error([4, 5], [1, 1])
    assert refused.value.code == "bad_number"
    assert confidence_auroc([4, 5, 1], [1, 1, 0]) == 1.0


def test_few_levels_are_bins_and_many_make_ten_of_equal_mass() -> None:
    assert list(bins_of(np.array([50.0, 1.0, 3.0]))) == [0, 1, 2]
    many = bins_of(np.ones(100))
    assert list(in_bins(np.ones(100), many)) == [10] * 10
    lumps = bins_of(np.array([1.0] * 10 + [90.0]))
    assert max(lumps) == lumps[-1], "a level is never cut in two"


def test_noise_alone_is_what_a_calibrated_rater_shows() -> None:
    """400 simulated raters that are right as often as they say, each answer read by three people who agree."""
    rng, p = np.random.default_rng(4), np.array([0.55, 0.7, 0.85, 0.95])
    clusters, each, copies = 40, 5, 3
    seen, told = [], []
    for study in range(400):
        shared = rng.standard_normal((clusters, 1))
        own = rng.standard_normal((clusters, each))
        level = rng.integers(0, 4, (clusters, each))
        # errors of a cluster are alike, each still with its own probability
        hit = 0.3 * shared + math.sqrt(1 - 0.09) * own < np.array([0.1256613, 0.5244005, 1.0364334, 1.6448536])[level]
        n = copies * np.stack([(level == one).sum(axis=1) for one in range(4)], axis=1).astype(float)
        right = copies * np.stack([((level == one) & hit).sum(axis=1) for one in range(4)], axis=1).astype(float)
        error = float(calibration_error(n.sum(axis=0), right.sum(axis=0), p, np.arange(4)))
        chance = by_chance(n, right, p, 199, study)
        seen.append(error)
        told.append((chance.mean(), exceeded(chance, error)))
    mean, share = np.mean([one for one, _ in told]), np.mean([p < 0.05 for _, p in told])
    assert np.mean(seen) == pytest.approx(mean, rel=0.08), "the plug-in error of a perfect rater is noise, not 0"
    assert np.mean(seen) > 0.03
    assert 0.015 < share < 0.1
