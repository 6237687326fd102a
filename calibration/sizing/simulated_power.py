"""Do so many topics decide as often as planned? Tried on simulated studies, by the rule that will decide."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from calibration.choosing.deciding import POWER, TINY, Needed
from calibration.choosing.noninferiority import non_inferiority
from calibration.compare import paired_difference
from calibration.engine.closed_forms import Array
from calibration.planning import Spread, comparisons

STUDIES = 400  # simulated; the share of them that decides may fall short of the power by SLACK
SLACK = 0.03
SIMULATED_UP_TO = 20_000  # topics; means of more are normal, and the formula stands


def confirmed(
    needed: Needed,
    spread: Spread,
    margin: float,
    level: float = 0.95,
    wanted: float = POWER,
    tried: int = 1,
    seed: int = 0,
) -> tuple[Needed, float]:
    """`needed_for_claim` tried out: 400 studies of topics drawn from `spread`, decided by `non_inferiority` itself.

    Where fewer than `wanted` - .03 of them are non-inferior, topics grow by a twentieth and are tried again. Returns
    the number and the share of studies, nan where there is none or it is above 20,000.
    """
    strict = 1 - (1 - level) / tried

    def decides(differences: Array) -> bool:
        found = non_inferiority(np.zeros(len(differences)), differences, np.arange(len(differences)), margin, strict)
        return found.outcome == "non_inferior"

    return _grown(needed, spread, decides, wanted, seed)


def confirmed_apart(
    needed: Needed, spread: Spread, level: float = 0.95, wanted: float = POWER, tried: int = 2, seed: int = 0
) -> tuple[Needed, float]:
    """The same for `needed_to_tell_apart`, decided by `paired_difference`."""
    strict = (1 - level) / comparisons(tried)

    def decides(differences: Array) -> bool:
        found = paired_difference(differences, np.zeros(len(differences)), np.arange(len(differences)), level)
        return found.value > 0 and found.p < strict

    return _grown(needed, spread, decides, wanted, seed)


def _grown(
    needed: Needed, spread: Spread, decides: Callable[[Array], bool], wanted: float, seed: int
) -> tuple[Needed, float]:
    if needed.clusters is None or spread.sd <= TINY:
        return needed, math.nan
    rng, count = np.random.default_rng(seed), needed.clusters
    centred = spread.topics + (needed.gap - spread.mean)
    while count <= SIMULATED_UP_TO:
        share = float(np.mean([decides(rng.choice(centred, count)) for _ in range(STUDIES)]))
        if wanted - 3 * SLACK <= share < wanted - SLACK:  # perhaps by chance: four times as many tell
            more = float(np.mean([decides(rng.choice(centred, count)) for _ in range(4 * STUDIES)]))
            share = (share + 4 * more) / 5
        if share >= wanted - SLACK:
            return replace(needed, clusters=count, more=max(0, count - spread.pilot)), share
        count += -(-count // 20)
    return replace(needed, clusters=count, more=max(0, count - spread.pilot)), math.nan
