"""What a study of so many topics takes: pairs, labels, hours of annotators, and money."""

from __future__ import annotations

import math
from dataclasses import dataclass

from calibration.errors import CalibrationError


@dataclass(frozen=True)
class Design:
    """What one topic brings. Raises `bad_number` below one of each."""

    pairs_per_topic: float = 1
    labels_per_pair: float = 39  # criteria times annotators
    annotators_per_pair: float = 1

    def __post_init__(self) -> None:
        for what, value in (
            ("pairs per topic", self.pairs_per_topic),
            ("labels per pair", self.labels_per_pair),
            ("annotators per pair", self.annotators_per_pair),
        ):
            if not 0 < value < math.inf:
                raise CalibrationError("bad_number", f"{what} is {value:g}; use a number above 0")

    @property
    def labels_per_topic(self) -> float:
        """All of them answer for one topic, and are alike."""
        return self.pairs_per_topic * self.labels_per_pair


@dataclass(frozen=True)
class Prices:
    """nan is unknown, which is not 0. Raises `bad_number` below 0."""

    minutes_per_pair: float = math.nan  # of one annotator
    hourly_rate: float = math.nan  # USD
    judge_per_pair: float = math.nan  # USD
    other_judge_per_pair: float = math.nan  # USD

    def __post_init__(self) -> None:
        for what, value in vars(self).items():
            if value < 0 or math.isinf(value):
                raise CalibrationError("bad_number", f"{what.replace('_', ' ')} is {value:g}; use a number from 0")


NO_PRICES = Prices()


@dataclass(frozen=True)
class Cost:
    """Of one study size. Hours and USD are nan where a price they rest on is unknown."""

    pairs: int
    labels: int
    hours: float
    annotators: float
    judges: float
    total: float


def cost_of(topics: int, design: Design, prices: Prices, judges: int = 1) -> Cost:
    """Hours and USD of so many topics; `judges`: 1 or 2 of the two that have a price."""
    pairs = math.ceil(topics * design.pairs_per_topic - 1e-9)
    hours = pairs * design.annotators_per_pair * prices.minutes_per_pair / 60
    per_pair = prices.judge_per_pair + (prices.other_judge_per_pair if judges == 2 else 0.0)
    people, machines = hours * prices.hourly_rate, pairs * per_pair
    return Cost(pairs, round(pairs * design.labels_per_pair), hours, people, machines, people + machines)
