from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from threadpoolctl import threadpool_limits

from calibration.arithmetic import closed_forms
from calibration.inference import bootstrap
from calibration.inference.bootstrap import (
    cluster_se,
    cluster_weights,
    effective_sample,
    expanded_percentile,
    percentile,
    resample,
    wilson_effective,
)


def test_every_resample_draws_as_many_clusters_as_there_are():
    weights = np.concatenate(list(cluster_weights(7, 1000, seed=5)))
    assert weights.shape == (1000, 7)
    assert (weights.sum(axis=1) == 7).all()
    assert weights.mean(axis=0) == pytest.approx(np.ones(7), abs=0.12)


@pytest.mark.parametrize("clusters", [3, 200, 40_000])
def test_weights_are_the_counts_of_explicitly_drawn_indices(clusters):
    resamples = 300 if clusters < 1000 else 3
    explicit = []
    for start, child in enumerate(np.random.SeedSequence(11).spawn(2 if resamples > 256 else 1)):
        rng = np.random.Generator(np.random.PCG64(child))
        rows = min(256, resamples - 256 * start)
        explicit += [np.bincount(row, minlength=clusters) for row in rng.integers(0, clusters, (rows, clusters))]
    assert np.array_equal(np.concatenate(list(cluster_weights(clusters, resamples, 11))), explicit)


def made_tables(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 9, (23, 4, 3, 3)).astype(float)


@pytest.mark.parametrize("block", [16, 64, 256])
@pytest.mark.parametrize("threads", [1, 2])
def test_draws_are_the_same_bytes_for_every_block_size_and_number_of_threads(block, threads):
    tables = made_tables(np.random.default_rng(0))
    with threadpool_limits(threads):
        draws = resample(tables, closed_forms.kappa, 700, 3, block)
    expected = resample(tables, closed_forms.kappa, 700, 3)
    assert hashlib.sha256(draws.tobytes()).digest() == hashlib.sha256(expected.tobytes()).digest()


def test_counts_too_large_for_float32_are_still_exact():
    tables = made_tables(np.random.default_rng(0)) + 2**22
    draws = resample(tables, lambda t: t.sum(axis=(-2, -1)), 300, 3)
    weights = np.concatenate(list(cluster_weights(23, 300, 3)))
    assert np.array_equal(draws, weights @ tables.sum(axis=(-2, -1)))


def test_weights_of_one_give_the_point_value():
    tables = made_tables(np.random.default_rng(1))
    whole = closed_forms.kappa(tables.sum(axis=0))
    repeated = resample(np.broadcast_to(tables.sum(axis=0), tables.shape), closed_forms.kappa, 3, 0)
    assert np.array_equal(repeated, np.broadcast_to(closed_forms.kappa(tables.sum(axis=0) * 23), (3, 4)))
    assert repeated[0] == pytest.approx(whole, abs=1e-15)


def test_the_expanded_percentile_uses_wider_levels():
    draws = np.arange(100_001) / 100_000
    low, high = expanded_percentile(draws, clusters=10)
    assert (low, high) == pytest.approx((0.00855, 0.99145), abs=5e-6)  # Hesterberg 2015, C = 10
    assert percentile(draws) == pytest.approx((0.025, 0.975))


@pytest.mark.parametrize("function", [lambda draws: percentile(draws), lambda draws: expanded_percentile(draws, 30)])
def test_more_than_five_percent_undefined_resamples_means_no_interval(function):
    draws = np.arange(100.0)
    draws[:5] = np.nan
    assert not math.isnan(function(draws)[0])
    draws[5] = np.nan
    assert all(map(math.isnan, function(draws)))


def test_one_cluster_has_no_interval_and_two_have_one():
    assert all(map(math.isnan, expanded_percentile(np.arange(99.0), 1)))
    assert all(map(math.isnan, wilson_effective([3], [4])))
    assert not math.isnan(wilson_effective([3, 2], [4, 4])[0])
    assert math.isnan(cluster_se([1.0, 0.0], ["t", "t"]))


def test_wilson_with_one_label_per_cluster_is_wilsons_with_t():
    agree = np.repeat([1.0, 0.0], [21, 9])
    p, n = 0.7, 30
    deff = max(1.0, 30 / 29)  # C/(C-1)
    size, t = n / deff, stats.t.ppf(0.975, 29)
    centre = (p + t * t / (2 * size)) / (1 + t * t / size)
    half = t * math.sqrt(p * (1 - p) / size + t * t / (4 * size**2)) / (1 + t * t / size)
    assert wilson_effective(agree, np.ones(30)) == pytest.approx((centre - half, centre + half), abs=1e-12)


def test_without_variation_a_design_effect_is_assumed():
    n = np.full(10, 39.0)
    low, high = wilson_effective(n, n)
    assert effective_sample(np.ones(390), np.repeat(np.arange(10), 39)).deff == pytest.approx(1 + 38 * 0.1)
    assert (high, low) == (1.0, pytest.approx(1 / (1 + stats.t.ppf(0.975, 9) ** 2 / (390 / 4.8))))
    assert wilson_effective(0 * n, n)[0] == 0.0


COUNTS = st.lists(
    st.integers(1, 20).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=2, max_size=30
)


@given(COUNTS, st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_bounds_lie_inside_the_unit_interval_and_hold_the_value(rows, level):
    agree, n = (np.array(side, float) for side in zip(*rows, strict=True))
    low, high = wilson_effective(agree, n, level)
    value = agree.sum() / n.sum()
    assert 0 <= low <= value + 1e-12
    assert value - 1e-12 <= high <= 1


SCORES = st.lists(st.floats(-5, 5).map(lambda x: round(x, 3)), min_size=2, max_size=30)


@given(SCORES)
def test_one_label_per_cluster_gives_the_independent_standard_error(y):
    naive = np.std(y) / math.sqrt(len(y))
    assert cluster_se(y, np.arange(len(y))) == pytest.approx(naive * math.sqrt(len(y) / (len(y) - 1)), abs=1e-12)


@given(SCORES)
def test_duplicating_every_cluster_shrinks_the_standard_error_by_root_two(y):
    count = len(y)
    once, twice = cluster_se(y, np.arange(count)), cluster_se(y * 2, np.arange(2 * count))
    corrected = once / math.sqrt(count / (count - 1)) / math.sqrt(2) * math.sqrt(2 * count / (2 * count - 1))
    assert twice == pytest.approx(corrected, abs=1e-12)


def test_effective_sample_against_a_one_way_anova():
    rng = np.random.default_rng(4)
    clusters = np.repeat(np.arange(12), rng.integers(2, 9, 12))
    y = rng.normal(size=12)[clusters] + rng.normal(size=len(clusters))
    groups = [y[clusters == c] for c in range(12)]
    sizes = np.array([len(g) for g in groups], float)
    f = stats.f_oneway(*groups).statistic  # MSB / MSW
    n0 = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / 11
    made = effective_sample(y, clusters)
    assert made.icc == pytest.approx((f - 1) / (f + n0 - 1))
    assert made.deff == pytest.approx(cluster_se(y, clusters) ** 2 / (y.var() / len(y)))
    assert made.n_eff == pytest.approx(len(y) / made.deff)
    assert (made.clusters, made.labels_per_cluster) == (12, len(y) / 12)


def test_identical_labels_within_a_cluster_count_once():
    made = effective_sample(np.repeat([1.0, 0, 1, 0, 1, 1], 39), np.repeat(np.arange(6), 39))
    assert made.icc == pytest.approx(1)
    assert made.n_eff == pytest.approx(6 * 5 / 6)  # C - 1 once the factor C/(C-1) is counted


def test_cluster_t_refuses_where_there_is_no_spread():
    assert all(map(math.isnan, bootstrap.cluster_t(1.0, 0.0, 9)))
    assert bootstrap.cluster_t(0.0, 1.0, 2) == pytest.approx((-stats.t.ppf(0.975, 1), stats.t.ppf(0.975, 1)))


@given(st.lists(st.floats(-1e6, 1e6) | st.integers(0, 3).map(float), min_size=1, max_size=60), st.floats(0.001, 0.999))
def test_a_percentile_interval_is_that_of_numpy_to_the_last_bit(draws, level):
    tail = (1 - level) / 2
    assert percentile(draws, level) == tuple(np.quantile(draws, [tail, 1 - tail]))
