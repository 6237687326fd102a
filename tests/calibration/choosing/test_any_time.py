"""Looks at any time: the bound's crossing probability, the confidence sequence, and what they cost."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from calibration.inference.looks import (
    FIRST,
    any_time_level,
    any_time_p,
    crossing,
    sequence_level,
    shown_by,
)


def test_the_closed_form_is_the_probability_that_looks_after_every_topic_cross() -> None:
    bend, slope, bound = 60.0, 0.2, 17.0
    topics = range(1, 500)
    levels = [float(stats.norm.sf((bound + slope * max(0.0, at - bend)) / math.sqrt(at))) for at in topics]
    assert crossing(bound, bend, slope) == pytest.approx(shown_by(topics, levels, 0.0), rel=0.02)


@pytest.mark.parametrize(("effect", "error"), [(0.15, 0.05), (0.33, 0.00625), (1.0, 0.05)])
def test_looks_after_every_topic_err_in_no_more_than_the_error(effect: float, error: float) -> None:
    topics = range(FIRST, 240)
    assert shown_by(topics, [any_time_level(one, effect, error) for one in topics], 0.0) <= error


@pytest.mark.parametrize("topics", [20, 45, 70, 300])
@pytest.mark.parametrize("effect", [0.1, 0.4, 2.0])
def test_p_at_any_time_is_the_error_whose_level_it_is(topics: int, effect: float) -> None:
    for error in (0.05, 0.01):
        level = any_time_level(topics, effect, error)
        if level > 1e-12:
            assert any_time_p(level, topics, effect) == pytest.approx(error, rel=1e-6)


def test_before_the_first_look_and_without_a_spread_nothing_is_decided() -> None:
    assert any_time_level(FIRST - 1, 0.3) == 0.0
    assert any_time_p(1e-12, FIRST - 1, 0.3) == 1.0
    assert any_time_level(50, math.nan) == 0.0
    assert any_time_p(1e-12, 50, math.nan) == 1.0
    assert math.isnan(any_time_p(math.nan, 50, 0.3))


def test_looks_at_any_time_cost_at_most_35_per_cent_more_topics_than_one_look_at_equal_power() -> None:
    one_look = 80
    effect = (stats.norm.isf(0.05) - stats.norm.isf(0.8)) / math.sqrt(one_look)
    topics = range(FIRST, math.floor(1.35 * one_look) + 1)
    assert shown_by(topics, [any_time_level(one, effect) for one in topics], effect) >= 0.8


def test_a_confidence_sequence_holds_the_truth_at_all_numbers_of_topics_where_an_interval_does_not() -> None:
    rng, studies, topics = np.random.default_rng(5), 4_000, np.arange(20, 301)
    scores = rng.normal(size=(studies, 300))
    means = scores.cumsum(axis=1)[:, 19:] / topics
    squares = (scores**2).cumsum(axis=1)[:, 19:]
    se = np.sqrt((squares - topics * means**2) / (topics - 1) / topics)
    half = stats.t.ppf((1 + np.array([sequence_level(int(at)) for at in topics])) / 2, topics - 1)
    assert (np.abs(means) <= half * se).all(axis=1).mean() >= 0.95
    assert (np.abs(means) <= 1.96 * se).all(axis=1).mean() < 0.75


def test_a_confidence_sequence_is_an_ordinary_interval_at_a_stricter_level_strictest_at_60_topics() -> None:
    assert sequence_level(60) < min(sequence_level(20), sequence_level(200))
