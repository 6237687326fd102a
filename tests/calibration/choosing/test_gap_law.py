"""The law of a gap's t: by hand, against its own bounds, unmoved by what must not matter; and that it holds its level."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.level import outcomes
from benchmarks.nested_labels import Setting
from calibration.choosing.noninferiority import non_inferiority
from calibration.inference.gap_test import Rows, Rule, adjusted, gap_of, gap_sums, gaps_tested, laws


def rows(clusters: int = 20, labels: int = 6, seed: int = 1, gap: float = 0.0) -> Rows:
    rng = np.random.default_rng(seed)
    code = np.repeat(np.arange(clusters), labels)
    hard = rng.beta(0.3, 1.2, clusters)[code]
    return Rows((rng.random(len(code)) < hard + gap).astype(float) - (rng.random(len(code)) < hard), code)


def test_the_error_of_unequal_clusters_is_the_jackknifes_worked_by_hand() -> None:
    # three clusters of 1, 1 and 2 labels, all in one item each: means 1, 0, 1/2, gap (1 + 0 + 1) / 4 = 1/2
    d, code, items = np.array([1.0, 0.0, 1.0, 0.0]), np.array([0, 1, 2, 2]), np.array([0, 1, 2, 2])
    found = gap_of(gap_sums(d, code, items))
    assert (found.value, found.clusters, found.ends) == (1 / 2, 3, (0.0, 1.0))
    # residuals 1/2, -1/2, 0 over 1 - 1/4: 2/3 x 2 x (2/3)^2 = 16/27, over 4 labels
    # all between clusters: K = 16 / 6, A = (1 + 0 + 1) / 4, so 3.7 / K / A = 2.775 more
    assert found.unseen == pytest.approx(2.775)
    assert found.se == pytest.approx(math.sqrt(16 / 27 * (1 + 2.775)) / 4)
    assert found.trust == 1


@given(st.integers(0, 50), st.floats(0.01, 0.4), st.sampled_from([0.1, 0.05, 0.01, 0.002]))
def test_p_is_below_the_error_exactly_where_the_bound_is_below_the_margin(seed: int, margin: float, error: float):
    one = rows(seed=seed)
    sums = gap_sums(one.difference, one.code)
    (law,) = laws([sums], [gap_of(sums)], 999)
    assert (law.p_below(margin) < error) == (law.upper(error) < margin)
    assert (law.p_above(margin) < error) == (law.lower(error) > margin)
    assert law.lower(error) <= law.gap.value <= law.upper(error) or error > 0.05
    # all draws made and counted, where p and the bound make only the few that they need
    draws = np.array([law._at(rank) for rank in range(999)])
    assert law.p_below(margin) == (1 + np.count_nonzero(draws <= law.t(margin))) / 1000
    assert law.upper(error) == law.gap.value - draws[math.ceil(error * 1000 - 1 - 1e-12) - 1] * law.gap.se


def test_all_steps_of_an_adjustment_look_at_a_law_once_for_each_t(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[float] = []

    def counted(draws: range, t: float, key: Callable[[int], float]) -> int:
        looks.append(t)
        return bisect_right(draws, t, key=key)

    tests = gaps_tested([rows(seed=seed, gap=-0.02 * seed) for seed in range(6)], Rule(0.05, 0.95, 2, 999, 1))
    monkeypatch.setattr("calibration.inference.gap_test.bisect_right", counted)
    adjusted(tests)
    assert 20 < len(looks) <= 36


def test_no_resample_can_show_more_than_their_number_allows() -> None:
    one = rows(gap=-0.2)
    sums = gap_sums(one.difference, one.code)
    (law,) = laws([sums], [gap_of(sums)], 999)
    assert law.p_below(0.9) == 1 / 1000
    assert law.upper(0.001) == math.inf


def test_what_both_sides_score_more_and_the_order_of_rows_change_nothing() -> None:
    one = rows()
    order = np.random.default_rng(0).permutation(len(one.code))
    human = np.full(len(one.code), 0.5)
    first = non_inferiority(human - one.difference / 2, human, one.code, 0.1, resamples=999)
    again = non_inferiority((human - one.difference / 2)[order], human[order], one.code[order], 0.1, resamples=999)
    assert (again.p, again.upper) == (first.p, pytest.approx(first.upper))


def test_the_order_of_judges_changes_no_adjusted_p_and_a_further_judge_lowers_none() -> None:
    judges = [rows(seed=seed, gap=gap) for seed, gap in ((1, -0.1), (2, -0.05), (3, 0.1), (4, -0.1))]
    rule = Rule(0.1, 0.95, resamples=999)
    p = adjusted(gaps_tested(judges, rule))
    assert adjusted(gaps_tested(judges[::-1], rule))[::-1].tolist() == p.tolist()
    assert (adjusted(gaps_tested(judges[:3], rule)) <= p[:3]).all()
    assert all(one.p <= own for one, own in zip(gaps_tested(judges, rule), p, strict=True))


def test_below_twelve_clusters_nothing_is_decided_unless_asked_for() -> None:
    one = rows(11, 40, gap=-0.5)
    person = np.where(one.difference < 0, 0.0, 1.0)
    asked = person - one.difference, person, one.code, 0.4
    found, forced = non_inferiority(*asked), non_inferiority(*asked, min_clusters=8)
    assert (found.outcome, found.reason) == ("cannot_tell", "too_few_clusters")
    assert (forced.outcome, forced.reason, forced.p) == ("non_inferior", "", found.p)


@pytest.mark.slow
@pytest.mark.parametrize(
    "setting", [Setting(20, "lognormal"), Setting(20, error=0.03), Setting(20, judges=8, error=0.03)]
)
def test_a_judge_at_the_margin_passes_no_more_often_than_the_level_where_t_fails(setting: Setting) -> None:
    found = outcomes(setting, 400, seed=7)
    assert found.adequate.mean() < 0.08 < found.by_t.mean()
