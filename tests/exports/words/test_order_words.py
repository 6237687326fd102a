"""A judge that the order moves is said to be moved by it, in words; one that is not is left in peace."""

from __future__ import annotations

import math

import pytest

from calibration.results import Estimate
from exports.words.sentences import order_words


def estimate(value: float, low: float = math.nan, high: float = math.nan, n: int = 24) -> Estimate:
    return Estimate("first_rate", "mini", "", "all", "all", value, low, high, 0.95, n, 6, "cluster_t")


ALWAYS, NEVER_SAME = estimate(1.0), estimate(0.0, 0.0, 0.2)
FAIR, STEADY = estimate(0.52, 0.44, 0.6), estimate(0.9, 0.8, 0.95)


@pytest.mark.parametrize(
    ("first", "swap", "words"),
    [
        (ALWAYS, NEVER_SAME, "picks the report shown first in 100 % of 24 decisive answers; swap consistency 0"),
        (ALWAYS, None, "picks the report shown first in 100 % of 24 decisive answers"),
        (estimate(0.0), NEVER_SAME, "picks the report shown second in 100 % of 24 decisive answers; swap consistency 0"),
        (estimate(0.7, 0.6, 0.8), STEADY, "picks the report shown first in 70 % of 24 decisive answers; swap consistency .90"),
        (estimate(0.996, 0.99, 1.0), None, "picks the report shown first in 99.6 % of 24 decisive answers"),
        (FAIR, estimate(0.5, 0.4, 0.6, n=90), "keeps its verdict in 50 % of 90 labels made in both orders"),
        (None, estimate(0.5, 0.4, 0.6, n=90), "keeps its verdict in 50 % of 90 labels made in both orders"),
        (FAIR, STEADY, ""),
        (estimate(1.0, n=5), None, ""),  # five alike are no habit yet
        (estimate(1.0, n=6), None, "picks the report shown first in 100 % of 6 decisive answers"),
        (estimate(0.6, 0.5, 0.7), None, ""),
        (estimate(0.4, 0.3, 0.5), None, ""),
        (None, estimate(0.8, n=90), ""),  # one of five
        (None, estimate(0.799, n=90), "keeps its verdict in 79.9 % of 90 labels made in both orders"),
        (estimate(math.nan), estimate(math.nan), ""),
        (None, None, ""),
    ],
)  # fmt: skip
def test_the_order_is_spoken_of_where_it_matters(first: Estimate | None, swap: Estimate | None, words: str) -> None:
    assert order_words(first, swap) == words
