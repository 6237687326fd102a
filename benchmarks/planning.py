"""Do planned studies give what was planned? Simulated, so the truth is known.

`python benchmarks/planning.py` plans studies by STATISTICS section 2.9 and then runs them (a rater agrees with the
reference on a pair with probability Beta(mean .8, ICC .1), 39 labels a pair, unless a line says otherwise). It prints,
with its Monte-Carlo error: the half-width that `wilson_effective` then has; how often the non-inferiority test and the
test of two judges succeed; how often the ICC interval and the cautious spread of a pilot hold the truth; and how often
the number planned from a pilot decides. Exits with 1 when a promise is broken. A minute or two.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.promises import Promise, promise, tell
from calibration.arithmetic.closed_forms import Array
from calibration.choosing.noninferiority import non_inferiority
from calibration.inference.bootstrap import effective_sample, wilson_effective
from calibration.inference.compare import Difference, paired_difference
from calibration.sizing.pilot import icc_interval, spread_of
from calibration.sizing.planning import (
    CAUTION,
    SLACK,
    Spread,
    confirmed,
    needed_for_claim,
    needed_for_interval,
    needed_to_tell_apart,
    pairs_needed,
    sd_of_pair_differences,
    sd_of_pair_means,
)

AGREEMENT, LABELS, MARGIN, POWER = 0.8, 39, 0.05, 0.8
DEVIATIONS = 3.5  # binomial standard errors that a share may lie from what was planned


def share(name: str, found: Sequence[bool], low: float, high: float) -> Promise:
    """Of one outcome per study; the bounds are widened by what chance does to a binomial share."""
    slack = [DEVIATIONS * math.sqrt(p * (1 - p) / len(found)) for p in (low, high)]
    return promise(name, found, low - slack[0], high + slack[1])


def made_counts(rng: np.random.Generator, agreement: float, size: tuple[int, int], icc: float = 0.1) -> Array:
    """How many of a pair's labels agree; shape `size`."""
    k = 1 / icc - 1
    return rng.binomial(LABELS, rng.beta(agreement * k, (1 - agreement) * k, size)).astype(float)


def widths(studies: int, seed: int = 41) -> Iterator[Promise]:
    """Half-width of the interval that the tool prints, at the number of pairs planned."""
    rng = np.random.default_rng(seed)
    for icc in (0.02, 0.1, 0.2):
        for target in (0.05, 0.03):
            found = half_widths(rng, pairs_needed(target, icc=icc), studies, icc) / target
            error = float(found.std(ddof=1)) / math.sqrt(studies)
            yield Promise(f"mean half-width / planned {target}, ICC {icc}", float(found.mean()), error, 0.95, 1.03)
    spread = Spread(AGREEMENT, sd_of_pair_means(AGREEMENT, LABELS, 0.1), np.empty(0))
    pairs = needed_for_interval(spread, 0.05, assurance=CAUTION).clusters or 0
    found = half_widths(rng, pairs, studies)
    yield share(f"half-width at most .05, {pairs} pairs planned with assurance .8", list(found <= 0.05), 0.76, 0.86)


def half_widths(rng: np.random.Generator, pairs: int, studies: int, icc: float = 0.1) -> Array:
    """One per study."""
    bounds = [
        wilson_effective(one, np.full(pairs, LABELS)) for one in made_counts(rng, AGREEMENT, (studies, pairs), icc)
    ]
    return np.array([(high - low) / 2 for low, high in bounds])


def claims(studies: int, seed: int = 42) -> Iterator[Promise]:
    """How often a planned study shows a judge non-inferior to a person, or tells two judges apart."""
    rng = np.random.default_rng(seed)
    for gap, icc in ((0.0, 0.1), (0.02, 0.1), (0.0, 0.3)):
        spread = with_topics(assumed(AGREEMENT, AGREEMENT - gap, icc), icc)
        planned, _ = confirmed(needed_for_claim(spread, MARGIN, wanted=POWER), spread, MARGIN, wanted=POWER)
        pairs = planned.clusters or 0
        name = f"non-inferior, {pairs} pairs planned for a true gap of {gap:g}, ICC {icc}"
        yield share(name, list(succeeded(rng, pairs, studies, gap, icc)), POWER - SLACK, POWER + 0.04)
    spread = assumed(AGREEMENT, AGREEMENT - 0.05, 0.1)
    pairs = needed_to_tell_apart(spread, 0.05).clusters or 0
    found = [one.p < 0.05 and one.value > 0 for one in differences(rng, pairs, studies, 0.05, 0.1)]
    yield share(f"two judges .05 apart told apart, {pairs} pairs planned", found, POWER - 0.015, POWER + 0.02)


def succeeded(rng: np.random.Generator, pairs: int, studies: int, gap: float, icc: float) -> Iterator[bool]:
    """One outcome per study."""
    people, judge = (made_counts(rng, p, (studies, pairs), icc) / LABELS for p in (AGREEMENT, AGREEMENT - gap))
    code = np.arange(pairs)
    for one, other in zip(judge, people, strict=True):
        yield non_inferiority(one, other, code, MARGIN, resamples=999).outcome == "non_inferior"


def differences(rng: np.random.Generator, pairs: int, studies: int, gap: float, icc: float) -> Iterator[Difference]:
    """The test of two judges, one per study."""
    one, other = (made_counts(rng, p, (studies, pairs), icc) / LABELS for p in (AGREEMENT, AGREEMENT - gap))
    code = np.arange(pairs)
    return (paired_difference(x, y, code) for x, y in zip(one, other, strict=True))


def assumed(agreement: float, other: float, icc: float) -> Spread:
    """Of the difference of two raters who err independently."""
    sd = sd_of_pair_differences(agreement, other, LABELS, icc)
    return Spread(agreement - other, sd, np.empty(0))


def with_topics(spread: Spread, icc: float, seed: int = 45) -> Spread:
    """The same, with differences of topics to draw studies from, of exactly its mean and sd."""
    rng = np.random.default_rng(seed)
    people, judge = (made_counts(rng, p, (1, 4_000), icc)[0] / LABELS for p in (AGREEMENT, AGREEMENT - spread.mean))
    raw = people - judge
    return Spread(spread.mean, spread.sd, spread.mean + (raw - raw.mean()) / raw.std() * spread.sd)


def pilots(studies: int, seed: int = 43) -> Iterator[Promise]:
    """What pilots say of the ICC and the spread, beside the truth."""
    rng = np.random.default_rng(seed)
    for pairs in (10, 30):
        counts = made_counts(rng, AGREEMENT, (studies, pairs))
        code, sizes = np.repeat(np.arange(pairs), LABELS), np.full(pairs, float(LABELS))
        iccs = [icc_interval(effective_sample(labels_of(one), code).icc, sizes) for one in counts]
        covered = [low <= 0.1 <= high for low, high in iccs]
        yield share(f"interval of the ICC, pilot of {pairs}", covered, 0.92, 0.97)
        truth = sd_of_pair_means(AGREEMENT, LABELS, 0.1)
        safe = [spread_of(one / LABELS, np.arange(pairs)).cautious_sd >= truth for one in counts]
        yield share(f"the cautious spread is at least the true one, pilot of {pairs}", safe, 0.76, 0.84)


def planned_from_pilots(studies: int, count: int, seed: int = 44) -> Iterator[Promise]:
    """Studies as large as a pilot says, with the pilot's own gap and spread: how often they decide."""
    rng = np.random.default_rng(seed)
    for pairs in (10, 30):
        found: list[float] = []
        while len(found) < count:
            people, judge = (made_counts(rng, AGREEMENT, (1, pairs))[0] / LABELS for _ in range(2))
            spread = spread_of(people - judge, np.arange(pairs))
            needed, _ = confirmed(needed_for_claim(spread, MARGIN), spread, MARGIN)
            if needed.clusters is None or needed.clusters > 2_000:
                continue  # the pilot's gap reaches the margin, or nearly
            values = rng.normal(needed.gap, spread.sd, (studies, needed.clusters))
            none = np.zeros(needed.clusters)
            tests = [non_inferiority(none, one, np.arange(len(one)), MARGIN, resamples=999).outcome for one in values]
            found.append(float(np.mean([one == "non_inferior" for one in tests])))
        error = float(np.std(found, ddof=1)) / math.sqrt(count)
        name = f"the number planned from a pilot of {pairs} decides"
        yield Promise(name, float(np.mean(found)), error, 0.75, 0.85)


def labels_of(counts: Array) -> Array:
    """The labels behind the counts of agreement, pair by pair, shape (pairs * LABELS,)."""
    return (np.arange(LABELS) < counts[:, None]).astype(float).ravel()


def main() -> int:
    """One line per promise."""
    found = chain(widths(4_000), claims(4_000), pilots(4_000), planned_from_pilots(200, 40))
    return tell("Planned studies: percent of simulated studies, with Monte-Carlo standard error", found)


if __name__ == "__main__":
    sys.exit(main())
