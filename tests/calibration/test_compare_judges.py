"""Several judges at once: pairs of them, Holm, McNemar and when it is refused, and the band for the one chosen."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from calibration.errors import CalibrationError
from calibration.inference.bootstrap import cluster_se, wilson_effective
from calibration.inference.compare import (
    compare_judges,
    exact_mcnemar,
    holm,
    max_t_band,
    paired_difference,
    shared_labels,
    studentised,
)

NAN = math.nan
P_VALUES = st.lists(st.floats(0, 1, allow_subnormal=False), min_size=1, max_size=8)


def drawn_clusters(clusters: int, resamples: int, seed: int) -> np.ndarray:
    """The indices behind the first resamples of this seed, as tests/calibration/explicit.py draws them."""
    (child,) = np.random.SeedSequence(seed).spawn(1)
    return np.random.Generator(np.random.PCG64(child)).integers(0, clusters, (resamples, clusters))


def made_scores(judges: int = 3, clusters: int = 12, seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Right or wrong answers in clusters of unequal size, some missing."""
    rng = np.random.default_rng(seed)
    code = np.repeat(np.arange(clusters), rng.integers(2, 7, clusters))
    scores = rng.binomial(1, 0.7, (judges, len(code))).astype(float)
    scores[rng.random(scores.shape) < 0.05] = NAN
    return {f"judge {n}": own for n, own in enumerate(scores)}, code


@settings(max_examples=20)
@given(P_VALUES)
def test_holm_is_that_of_statsmodels_monotone_and_never_below_the_raw_p(p: list[float]) -> None:
    adjusted = holm(p)
    assert adjusted == pytest.approx(multipletests(p, method="holm")[1], abs=1e-12)
    assert holm(p, gone=2) == pytest.approx(multipletests([*p, 1, 1], method="holm")[1][:-2], abs=1e-12)
    assert (adjusted >= p).all()
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


def test_holm_leaves_nan_alone_and_does_not_count_it() -> None:
    # statsmodels counts it: .03 x 3
    assert holm([0.03, NAN, 0.01]) == pytest.approx([0.03, NAN, 0.02], nan_ok=True)
    assert np.isnan(holm([NAN])).all()
    assert len(holm([])) == 0


def test_every_two_judges_are_compared_on_what_both_answered() -> None:
    scores, code = made_scores()
    found = compare_judges(scores, code)
    assert [(one.judge, one.other) for one in found] == [
        ("judge 0", "judge 1"), ("judge 0", "judge 2"), ("judge 1", "judge 2")
    ]  # fmt: skip
    for one in found:
        assert one.difference == paired_difference(scores[one.judge], scores[one.other], code)
        both = ~np.isnan(scores[one.judge]) & ~np.isnan(scores[one.other])
        either = ~np.isnan(scores[one.judge]) | ~np.isnan(scores[one.other])
        assert one.shared == both.sum() / either.sum()
    assert [one.p_holm for one in found] == pytest.approx(holm([one.difference.p for one in found]))


def test_better_and_worse_are_said_of_the_first_and_nothing_else_is_called_equal() -> None:
    rng, code = np.random.default_rng(3), np.repeat(np.arange(40), 5)
    good, bad = rng.binomial(1, 0.9, 200), rng.binomial(1, 0.5, 200)
    found = compare_judges({"good": good, "bad": bad, "as good": rng.binomial(1, 0.9, 200)}, code)
    assert [one.outcome for one in found] == ["better", "cannot_tell", "worse"]


def test_two_judges_without_spread_between_clusters_cannot_be_told_apart() -> None:
    (one,) = compare_judges({"a": [1, 1, 1], "b": [1, 1, 1]}, [1, 2, 3])
    assert (one.outcome, one.difference.note, math.isnan(one.p_holm)) == ("cannot_tell", "zero_variance", True)


def test_mcnemar_is_that_of_statsmodels_where_every_cluster_holds_one_label() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.binomial(1, [[0.8], [0.6]], (2, 60))
    found = exact_mcnemar(x, y, np.arange(60))
    table = [[np.sum((x == 1) & (y == 1)), found.first_only], [found.second_only, np.sum((x == 0) & (y == 0))]]
    assert found.p == pytest.approx(mcnemar(table, exact=True).pvalue)
    assert found.n == 60


@pytest.mark.parametrize(
    ("x", "y", "clusters", "p", "note"),
    [
        ([1, 0, 1], [1, 0, 1], [1, 2, 3], 1.0, ""),  # nothing discordant
        ([1, 1, 1, 1], [0, 0, 0, 0], [1, 2, 3, 4], 1 / 8, ""),
        ([1, 1, 1], [0, 0, 0], [1, 2, 2], NAN, "nested_labels"),
        ([1, NAN, 1], [0, 0, 1], [1, 2, 3], 1.0, ""),  # one discordant label
        ([1, 1, NAN], [0, 1, 1], [1, 2, 2], 1.0, ""),  # the second label of cluster 2 is no pair
        ([], [], [], NAN, "no_items"),
    ],
)
def test_mcnemar_by_hand_and_refused_where_labels_are_nested(x, y, clusters, p, note) -> None:
    found = exact_mcnemar(x, y, clusters)
    assert (found.p, found.note) == (pytest.approx(p, nan_ok=True), note)


def test_mcnemar_refuses_scores_that_are_neither_right_nor_wrong() -> None:
    with pytest.raises(CalibrationError) as refused:
        exact_mcnemar([0.5], [1], [1])
    assert refused.value.code == "bad_number"


def test_the_share_of_shared_labels_by_hand() -> None:
    assert shared_labels([1, NAN, 0, NAN], [1, 1, NAN, NAN]) == 1 / 3
    assert math.isnan(shared_labels([NAN], [NAN]))


def test_the_band_is_that_of_explicit_resampling() -> None:
    scores, code = made_scores()
    clusters, resamples, seed = int(code.max()) + 1, 200, 7
    rows = [np.flatnonzero(code == one) for one in range(clusters)]
    expected = np.empty((resamples, len(scores)))
    for number, indices in enumerate(drawn_clusters(clusters, resamples, seed)):
        taken = np.concatenate([rows[index] for index in indices])
        copy = np.repeat(np.arange(clusters), [len(rows[index]) for index in indices])
        for judge, own in enumerate(scores.values()):
            y, known = own[taken], ~np.isnan(own[taken])
            expected[number, judge] = (y[known].mean() - np.nanmean(own)) / cluster_se(y[known], copy[known])
    sizes = np.stack([np.bincount(code, ~np.isnan(own)) for own in scores.values()], axis=-1)
    totals = np.stack([np.bincount(code, np.nan_to_num(own)) for own in scores.values()], axis=-1)
    assert studentised(totals, sizes, resamples, seed) == pytest.approx(expected, abs=1e-9)

    quantile = np.quantile(np.abs(expected).max(axis=1), 0.9)
    for one, own in zip(max_t_band(scores, code, 0.9, resamples, seed), scores.values(), strict=True):
        known = ~np.isnan(own)
        half = quantile * cluster_se(own[known], code[known])
        assert (one.low, one.high) == pytest.approx((one.value - half, one.value + half))
        assert (one.value, one.n, one.clusters) == (pytest.approx(np.nanmean(own)), known.sum(), clusters)
        assert (one.method, one.note, one.level) == ("max_t", "simultaneous over 3 judges", 0.9)


def test_a_judge_that_is_always_right_gets_a_wilson_interval_and_the_others_their_band() -> None:
    scores, code = made_scores()
    found = max_t_band({**scores, "perfect": np.ones(len(code))}, code, resamples=300)
    assert [one.method for one in found] == ["max_t"] * 3 + ["wilson_effective_n"]
    sizes = np.bincount(code)
    assert (found[3].low, found[3].high) == wilson_effective(sizes, sizes, 1 - 0.05 / 4)
    assert found[3].low < found[3].high == 1.0
    assert "100 % of resamples undefined" in found[3].note
    stricter = max_t_band(scores, code, 1 - 0.05 * 3 / 4, resamples=300)
    assert [one.low for one in found[:3]] == pytest.approx([one.low for one in stricter])


def test_constant_scores_outside_0_to_1_get_no_interval() -> None:
    scores, code = made_scores()
    *_, constant = max_t_band({**scores, "constant": np.full(len(code), 7.1)}, code, resamples=100)
    assert (constant.value, constant.method, math.isnan(constant.low)) == (pytest.approx(7.1), "none", True)
    assert constant.note.endswith("no interval: 100 % of resamples undefined")


@pytest.mark.parametrize(
    ("scores", "clusters", "note"),
    [([], [], "no_items: nothing to compare"), ([1, 0], [1, 1], "no interval: fewer than 2 clusters")],
)
def test_no_labels_and_one_cluster_have_no_band(scores, clusters, note) -> None:
    (one,) = max_t_band({"judge": scores}, clusters, resamples=20)
    assert (one.note, one.method, math.isnan(one.low)) == (note, "none", True)


@settings(max_examples=20)
@given(st.integers(0, 50), st.randoms(use_true_random=False))
def test_order_of_rows_changes_neither_the_band_nor_the_pairs(seed: int, random: object) -> None:
    scores, code = made_scores(seed=seed)
    rows = list(range(len(code)))
    random.shuffle(rows)  # type: ignore[attr-defined]
    turned = {name: own[rows] for name, own in scores.items()}
    for one, other in zip(
        max_t_band(scores, code, resamples=50), max_t_band(turned, code[rows], resamples=50), strict=True
    ):
        assert (one.value, one.low, one.method) == (
            pytest.approx(other.value),
            pytest.approx(other.low, nan_ok=True),
            other.method,
        )
    for one, other in zip(compare_judges(scores, code), compare_judges(turned, code[rows]), strict=True):
        assert (one.outcome, one.p_holm) == (other.outcome, pytest.approx(other.p_holm, nan_ok=True))


def test_no_judge_and_one_judge_are_no_special_case() -> None:
    scores, code = made_scores(judges=1)
    assert (compare_judges({}, code), max_t_band({}, code), compare_judges(scores, code)) == ((), (), ())
    (alone,) = max_t_band(scores, code, resamples=99)
    assert (alone.method, alone.note) == ("max_t", "one judge")


@pytest.mark.parametrize("function", [compare_judges, partial(max_t_band, resamples=9)])
def test_scores_of_different_length_are_refused(function) -> None:
    with pytest.raises(CalibrationError) as refused:
        function({"a": [1, 0], "b": [1]}, [1, 2])
    assert refused.value.code == "misaligned"
