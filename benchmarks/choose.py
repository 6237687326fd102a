"""Is the judge that is chosen the right one? Simulated, so the truth is known.

`python benchmarks/choose.py` simulates studies of judges with known accuracies and prices and prints, with its
Monte-Carlo error: how often the cheapest adequate one of eight is chosen; how often any of four judges is whose true
gap to people is the margin itself; and how often one is that always answers `reference`, where it wins 95 % of pairs.
Below twelve pairs nothing is decided. Exits with 1 when a promise is broken. Four minutes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.promises import Promise, tell
from calibration.choosing.choice import Choice
from calibration.choosing.choose import cheapest_adequate_judge
from calibration.results import CalibrationSettings
from tests.calibration.priced import EIGHT, priced

MARGIN, PEOPLE = 0.1, 0.8
PREVALENCE = (0.45, 0.1, 0.45)
SKEWED = (0.95, 0.01, 0.04)


def skill_at(gap: float) -> float:
    """Of a judge that agrees with people less than they do with each other by `gap`.

    Raters with skills a and b agree with probability ab + (1 - ab) e, e by chance.
    """
    chance = sum(share * share for share in PREVALENCE)
    return PEOPLE - gap / (PEOPLE * (1 - chance))


def rate(
    name: str, study: Callable[[int], pd.DataFrame], right: Callable[[Choice], bool], low: float, high: float,
    studies: int, margin: float = MARGIN,
) -> Promise:  # fmt: skip
    """How often a choice is of the kind asked for; 999 resamples decide it."""
    settings = CalibrationSettings(margin=margin, resamples=999)
    share = sum(right(cheapest_adequate_judge(study(seed), settings)) for seed in range(studies)) / studies
    error = math.sqrt(max(share * (1 - share), 1 / studies) / studies)
    return Promise(name, share, error, low, high)


def promises(studies: int) -> Iterator[Promise]:
    """The right judge, no judge at the margin, no judge that reads nothing."""
    yield rate("eight judges, 120 pairs: the cheapest adequate one is chosen", lambda seed: priced(EIGHT, seed=seed),
               lambda choice: choice.judge == "mini", 0.95, 1.0, studies)  # fmt: skip
    yield from (at_the_margin(*design, studies) for design in ((12, 39, 0.075), (60, 3, 0.06), (20, 3, 0.065)))
    yield rate("always `reference` where it wins 95 %, 200 pairs: chosen",
               lambda seed: priced({"always": (-1.0, 0.001)}, pairs=200, seed=seed, prevalence=SKEWED),
               lambda choice: choice.status == "chosen", 0.0, 0.0, studies, 0.05)  # fmt: skip


def at_the_margin(pairs: int, criteria: int, promised: float, studies: int) -> Promise:
    """How often any of four judges is chosen whose true gap is the margin; STATISTICS section 8 promises 3 to 7 %."""
    judges = {f"judge {n}": (skill_at(MARGIN), 0.001 * n) for n in range(4)}
    high = min(1.0, promised + 2 * math.sqrt(0.07 * 0.93 / studies))
    return rate(f"four judges at the margin, {pairs} pairs of {criteria}: one is chosen",
                lambda seed: priced(judges, pairs, criteria, seed=seed), lambda choice: choice.status == "chosen",
                0.0, high, studies)  # fmt: skip


def main() -> int:
    """One line per promise."""
    return tell("Choosing a judge: percent of simulated studies, with Monte-Carlo standard error", promises(300))


if __name__ == "__main__":
    sys.exit(main())
