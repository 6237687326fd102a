"""Means of drawn topics: those of statsmodels' weights, covered as promised, whatever judges said."""

from __future__ import annotations

import math

import numpy as np
import pytest
from statsmodels.stats.weightstats import DescrStatsW

from calibration.inference.bootstrap import cluster_t, jackknife_se_of_sums
from calibration.sampling.allocation import anticipated_deviation
from calibration.sampling.inclusion import inclusion_probabilities, systematic_sample
from calibration.sampling.weighted_mean import drawn_ratio

RNG = np.random.default_rng(5)


def test_the_value_is_the_weighted_mean_of_statsmodels_and_alike_weights_are_the_jackknife_over_topics() -> None:
    sums, sizes = RNG.integers(0, 9, 30).astype(float), RNG.integers(3, 12, 30).astype(float)
    weights = RNG.uniform(1, 4, 30)
    found = drawn_ratio(sums, sizes, weights)
    assert found.value == pytest.approx(DescrStatsW(sums / sizes, weights * sizes).mean)
    even = drawn_ratio(sums, sizes, np.full(30, 3.0))
    assert even.se == pytest.approx(jackknife_se_of_sums(sums, sizes))
    same = drawn_ratio(sums, np.full(30, 10.0), np.full(30, 3.0))
    assert same.effective == pytest.approx(30)
    assert same.interval() == pytest.approx(cluster_t(same.value, same.se, 30))


def test_one_dominant_topic_and_tiny_probabilities_cost_effective_topics() -> None:
    sums, sizes = RNG.integers(0, 9, 30).astype(float), np.full(30, 10.0)
    tiny = np.ones(30)
    tiny[0] = 100.0  # drawn with a hundredth of the others' probability
    assert drawn_ratio(sums, sizes, tiny).effective < 2
    large = np.append(np.full(29, 10.0), 1_000.0)
    assert drawn_ratio(sums, large, np.ones(30)).effective < 2


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_topics_have_no_interval(count) -> None:
    found = drawn_ratio(np.ones(count), np.full(count, 2.0), np.ones(count))
    assert math.isnan(found.se)
    assert all(math.isnan(bound) for bound in found.interval())


@pytest.mark.parametrize("said", ["true", "useless", "false on purpose"])
def test_intervals_cover_whatever_judges_said_of_all_topics_and_are_narrower_where_it_was_true(said) -> None:
    rng, covered, widths, plain = np.random.default_rng(7), 0, [], []
    for _ in range(400):
        truth = rng.normal(0.5, 0.2, 120)
        told = {"true": truth, "useless": rng.normal(size=120), "false on purpose": -truth}[said]
        control = (told + rng.normal(0, 0.1, 120))[:, None]
        chance = inclusion_probabilities(0.1 + rng.random(120), 40)
        drawn = systematic_sample(chance, rng)
        seen = 10 * truth[drawn] + rng.normal(0, 0.5, 40)
        sizes, weights = np.full(40, 10.0), 1 / chance[drawn]
        low, high = drawn_ratio(seen, sizes, weights, control, drawn).interval()
        covered += low <= 0.5 <= high
        widths.append(high - low)
        low, high = drawn_ratio(seen, sizes, weights).interval()
        plain.append(high - low)
    assert 0.925 <= covered / 400 <= 0.975
    # a lie told always is as good as the truth: its slope is below 0
    assert np.mean(widths) < (1.01 if said == "useless" else 0.85) * np.mean(plain)


def test_intervals_cover_where_what_judges_said_goes_with_the_size_of_a_topic() -> None:
    """Centred on the mean of topics, but weighted by size, such a control moved every estimate: none was covered."""
    rng, covered, values = np.random.default_rng(7), 0, []
    target = (0.5 * 5 + 10 * (0.25 + 0.2 / np.sqrt(2 * np.pi))) / 10  # of size 15 above .5, else 5
    for _ in range(400):
        truth = rng.normal(0.5, 0.2, 120)
        sizes = np.where(truth > 0.5, 15.0, 5.0)
        chance = inclusion_probabilities(0.1 + rng.random(120), 40)
        drawn = systematic_sample(chance, rng)
        control = (truth + rng.normal(0, 0.1, 120))[:, None]
        found = drawn_ratio(sizes[drawn] * truth[drawn], sizes[drawn], 1 / chance[drawn], control, drawn)
        low, high = found.interval()
        covered += low <= target <= high
        values.append(found.value)
    assert 0.925 <= covered / 400 <= 0.98
    assert abs(np.mean(values) - target) < 0.005


@pytest.mark.filterwarnings("error")
def test_topics_whose_influence_is_unknown_teach_nothing_in_silence() -> None:
    sizes = np.array([1.0, 3.0] * 10)
    unknown = anticipated_deviation(np.ones((20, 1)), sizes, np.arange(20), np.full((20, 2), np.nan))
    assert unknown == pytest.approx(sizes / 2)


def test_signs_that_foretell_deviations_are_learnt_and_others_are_not() -> None:
    rng = np.random.default_rng(9)
    sign = rng.random(300)
    influence = rng.normal(size=300) * (0.1 + sign)
    labelled = np.arange(0, 300, 3)
    learnt = anticipated_deviation(sign[:, None], np.ones(300), labelled, influence[labelled])
    assert np.corrcoef(learnt, sign)[0, 1] > 0.9
    assert learnt.max() / learnt.min() > 2
    useless = anticipated_deviation(rng.random((300, 1)), np.ones(300), labelled, influence[labelled])
    assert useless.max() / useless.min() < 1.5
    few = anticipated_deviation(sign[:, None], 1.0 + sign, labelled[:5], influence[labelled[:5]])
    assert few == pytest.approx((1 + sign) / (1 + sign).mean())
