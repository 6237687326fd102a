"""The cost-agreement frontier: by hand, and against two loops."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.choosing.choose import cost_agreement_frontier
from calibration.errors import CalibrationError


@pytest.mark.parametrize(
    ("cost", "agreement", "on"),
    [
        ([1, 2, 3], [0.5, 0.4, 0.9], [True, False, True]),
        ([1, 1], [0.5, 0.6], [False, True]),  # equal cost: the better one
        ([1, 2], [0.6, 0.6], [True, False]),  # equal agreement: the cheaper one
        ([1, 1], [0.6, 0.6], [True, True]),
        ([0, math.nan], [0.6, 0.9], [True, False]),  # an unknown cost keeps nobody off
        ([1, 2], [math.nan, 0.1], [False, True]),
        ([0.1 + 0.2, 0.3], [0.5, 0.5], [True, True]),  # the same cost, summed in another order
        ([], [], []),
    ],
)
def test_nobody_on_the_frontier_is_beaten_in_cost_and_agreement(
    cost: list[float], agreement: list[float], on: list[bool]
) -> None:
    assert cost_agreement_frontier(cost, agreement).tolist() == on


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8))
def test_the_frontier_is_what_two_loops_find(judges: list[tuple[int, int]]) -> None:
    by_hand = [
        not any(c <= cost and a >= agreed and (c, a) != (cost, agreed) for c, a in judges) for cost, agreed in judges
    ]
    assert cost_agreement_frontier(*zip(*judges, strict=True)).tolist() == by_hand
    assert any(by_hand)


def test_costs_and_agreements_of_different_lengths_are_refused() -> None:
    with pytest.raises(CalibrationError) as refused:
        cost_agreement_frontier([1, 2], [0.5])
    assert refused.value.code == "misaligned"
