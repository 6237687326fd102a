"""Looks at planned topics: published boundaries, the error of repeated looks, and what happens beside the plan."""

from __future__ import annotations

import math
from itertools import accumulate

import numpy as np
import pytest
from scipy import stats

from calibration.errors import CalibrationError
from calibration.inference.compare import holm
from calibration.inference.looks import (
    Look,
    cautious_p,
    nominal_levels,
    over_looks,
    shown_by,
    spending_levels,
    spent_by,
    strict_level,
    with_earlier,
)

SIX = [Look(20 * number, number / 6) for number in range(1, 7)]


def z_values(shares: list[float], error: float, spending: str = "obrien_fleming") -> list[float]:
    looks = [Look(round(1000 * share), share) for share in shares]
    return [float(stats.norm.isf(one)) for one in spending_levels(looks, error, spending)]


@pytest.mark.parametrize(
    ("shares", "error", "spending", "published"),
    [
        # SeqBounds.jl, its README, which reproduces Reboussin, DeMets, Kim & Lan 2000
        ([0.25, 0.5, 0.75, 1.0], 0.05, "obrien_fleming", [3.74955, 2.53993, 2.01604, 1.72014]),
        # ldbounds (R), one side of its bounds at .025, five equal looks
        ([0.2, 0.4, 0.6, 0.8, 1.0], 0.025, "obrien_fleming", [4.8769, 3.3569, 2.6803, 2.2898, 2.0310]),
        ([0.2, 0.4, 0.6, 0.8, 1.0], 0.025, "pocock", [2.4380, 2.4268, 2.4101, 2.3966, 2.3859]),
    ],
)
def test_boundaries_are_the_published_ones(
    shares: list[float], error: float, spending: str, published: list[float]
) -> None:
    assert z_values(shares, error, spending) == pytest.approx(published, abs=3e-4)


@pytest.mark.parametrize(
    ("looks", "error"),  # Armitage, McPherson & Rowe 1969, table 2: both sides of a nominal .05, equal steps
    [(2, 0.083), (3, 0.107), (4, 0.126), (5, 0.142), (10, 0.193)],
)
def test_looks_at_an_unchanged_level_err_as_armitage_mcpherson_and_rowe_have_it(looks: int, error: float) -> None:
    topics = [20 * number for number in range(1, looks + 1)]
    # both sides are hardly ever crossed in one study, so twice one side is the published error, a little above it
    assert 2 * shown_by(topics, [0.025] * looks, 0.0) == pytest.approx(error, abs=1.5e-3)


def test_a_look_after_every_topic_at_an_unchanged_level_errs_in_a_fifth_of_studies_and_spends_five_per_cent() -> None:
    topics = list(range(20, 121))
    assert shown_by(topics, [0.05] * len(topics), 0.0) == pytest.approx(0.208, abs=0.001)
    levels = spending_levels([Look(one, one / 120) for one in topics])
    assert shown_by(topics, levels, 0.0) == pytest.approx(0.05, abs=1e-5)
    assert list(levels) == sorted(levels)


def test_the_error_of_looks_is_the_share_of_simulated_sums_that_cross() -> None:
    rng, studies, topics = np.random.default_rng(3), 100_000, [15, 40, 60]
    levels = spending_levels([Look(one, one / 60) for one in topics], 0.05, "pocock")
    sums = np.cumsum(rng.normal(size=(studies, 3)) * np.sqrt([15, 25, 20]), axis=1) / np.sqrt(topics)
    for drift in (0.0, 0.3):
        crossed = (sums + drift * np.sqrt(topics) > stats.norm.isf(levels)).any(axis=1).mean()
        assert shown_by(topics, levels, drift) == pytest.approx(crossed, abs=4 * math.sqrt(0.25 / studies))


@pytest.mark.parametrize(
    ("looks", "case"),
    [
        ([Look(40, 1 / 3), Look(40, 1 / 3), Look(80, 2 / 3), Look(120, 1.0)], "one number of topics twice is one look"),
        ([Look(120, 1.0), Look(80, 2 / 3), Look(40, 1 / 3)], "the order in which they are named"),
        (
            [Look(40, 1 / 3), Look(80, 2 / 3), Look(80, 0.1), Look(120, 1.0)],
            "a share that fell: what is spent is spent",
        ),
    ],
)
def test_the_same_looks_have_the_same_levels(looks: list[Look], case: str) -> None:
    assert nominal_levels(looks) == nominal_levels([Look(40, 1 / 3), Look(80, 2 / 3), Look(120, 1.0)]), case


def test_all_is_spent_where_the_plan_is_reached_and_a_last_look_beyond_it_takes_what_is_left() -> None:
    at_plan = spending_levels([Look(60, 0.5), Look(120, 1.0)])
    beyond = spending_levels([Look(60, 0.5), Look(150, 1.0)])
    assert shown_by([60, 150], beyond, 0.0) == pytest.approx(0.05, abs=1e-6)
    assert beyond[1] < at_plan[1]  # less alike, so less of the error is shared
    assert nominal_levels([Look(60, 0.5), Look(120, 1.0), Look(150, 1.0)])[-1] == 0.0
    assert over_looks(1e-9, 150, 1.0, [Look(120, 1.0)]) == 1.0


def test_labels_withdrawn_since_a_look_do_not_make_a_new_one() -> None:
    assert with_earlier(38, 38 / 120, [Look(20, 1 / 6), Look(40, 1 / 3)]) == (Look(20, 1 / 6), Look(38, 1 / 3))


@pytest.mark.parametrize("error", [0.2, 0.05, 0.05 / 8, 0.001])
@pytest.mark.parametrize("spending", ["obrien_fleming", "pocock"])
def test_p_over_looks_is_the_error_whose_level_it_is(error: float, spending: str) -> None:
    level = nominal_levels(SIX, error, spending)[-1]
    assert over_looks(level, 120, 1.0, SIX[:-1], spending) == pytest.approx(error, rel=2e-3)


def test_one_look_changes_no_p_and_no_level() -> None:
    assert nominal_levels([Look(30, 1.0)], 0.01) == (0.01,)
    assert over_looks(0.0123, 30, 1.0) == 0.0123
    assert math.isnan(over_looks(math.nan, 30, 0.5, [Look(10, 0.2)]))


def test_holm_over_judges_errs_in_five_per_cent_of_studies_where_p_was_adjusted_for_looks_first() -> None:
    # eight judges at the margin, six looks; independent judges are the worst case of Holm
    rng, studies, judges = np.random.default_rng(11), 40_000, 8
    sums = rng.normal(size=(studies, judges, 6)).cumsum(axis=2) / np.sqrt(np.arange(1, 7))
    smallest = stats.norm.sf(sums.max(axis=1))  # at each look: shape (studies, looks)
    first_step = [spending_levels(SIX[: at + 1], 0.05 / judges)[-1] for at in range(6)]
    plain = [one / judges for one in spending_levels(SIX)]
    assert (smallest < first_step).any(axis=1).mean() <= 0.05 + 2.5 * math.sqrt(0.05 * 0.95 / studies)
    assert (smallest < plain).any(axis=1).mean() > 0.0525  # Holm's p at the level of one judge does not hold
    assert holm([over_looks(first_step[-1] * 0.8, 120, 1.0, SIX[:-1]), *[0.9] * 7])[0] < 0.06


@pytest.mark.parametrize("spending", ["obrien_fleming", "pocock"])
def test_what_is_spent_rises_to_the_whole_error_and_no_further(spending: str) -> None:
    spent = [spent_by(share, 0.05, spending) for share in (0, 0.1, 0.5, 0.9, 1, 1.4)]
    assert spent == sorted(spent)
    assert (spent[0], spent[-2], spent[-1]) == (0.0, 0.05, 0.05)
    assert spent == list(accumulate(spent, max))


def test_an_unknown_spending_and_an_impossible_look_are_refused() -> None:
    with pytest.raises(CalibrationError, match="use one of obrien_fleming, pocock"):
        spent_by(0.5, 0.05, "linear")
    for topics, share in ((0, 0.5), (10, 1.2), (10, -0.1)):
        with pytest.raises(CalibrationError, match="topics from 1"):
            Look(topics, share)


@pytest.mark.parametrize("topics", [12, 20, 60, 400])
def test_a_far_tail_is_distrusted_more_the_fewer_the_topics_and_not_at_all_at_five_per_cent(topics: int) -> None:
    assert strict_level(0.05, topics) == 0.05
    assert strict_level(0.2, topics) == 0.2
    for level in (0.04, 0.01, 1e-4):
        assert strict_level(level, topics) < strict_level(level, 4 * topics) < level
        assert cautious_p(strict_level(level, topics), topics) == pytest.approx(level)
