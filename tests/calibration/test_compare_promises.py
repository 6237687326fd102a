"""What comparing judges promises, in small: simulated with known truth. In full: benchmarks/compare.py.

Bounds leave room for the Monte-Carlo error of the few studies made here (three standard errors), and no more.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from benchmarks.compare import Promise, best_of_ten, decisions, levels, powers, promise, told_apart


def near(one: Promise) -> bool:
    """Within the bounds promised, or so close that these few studies cannot tell."""
    return one.low - 3 * one.error <= one.value <= one.high + 3 * one.error


def test_equal_judges_are_rarely_told_apart_and_by_mcnemar_on_labels_in_a_third_of_studies():
    ours, items = told_apart(1_000)
    assert near(ours)
    assert ours.value < 0.08
    assert items.kept  # above .30, without room


def test_the_non_inferiority_test_holds_its_level_alone_and_among_others():
    for one in levels(500):
        assert near(one)
        assert one.value < 0.09


def test_the_non_inferiority_test_has_the_power_that_is_tabulated():
    assert all(one.kept for one in powers(1_000))


def test_the_band_covers_the_best_of_ten_and_its_own_interval_does_not():
    band, own = best_of_ten(300, resamples=299)
    assert near(band)
    assert band.value > 0.92
    assert own.value < 0.84  # promised below .80; five standard errors below the nominal .95 are .89


def test_the_recommended_number_decides_four_studies_of_five():
    for one in itertools.islice(decisions(150, 4), 2):  # one judge, from pilots of 10 and of 30
        # 600 studies: three standard errors are .05
        assert one.value == pytest.approx(0.8, abs=0.05)


def test_a_broken_promise_is_seen():
    one = promise("x", [True] * 3 + [False], 0.8, 1)
    assert (one.value, one.kept, one.error) == (0.75, False, math.sqrt(0.75 * 0.25 / 4))
    assert "BROKEN" in str(one)
    assert np.isclose(promise("x", [True, False], 0, 0.5).value, 0.5)
