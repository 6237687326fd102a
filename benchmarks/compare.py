"""Does comparing judges keep its promises? Simulated, so the truth is known.

`python benchmarks/compare.py` simulates studies of STATISTICS section 8 (30 pairs of 39 labels; a judge agrees on a
pair with probability Beta(mean .8, ICC .1)) and prints, with its Monte-Carlo error: how often two equal judges are told
apart, level and power of the non-inferiority test, how often the max-t band holds the truth for the best of ten equal
judges, and how often the recommended number of clusters decides. Exits with 1 when a promise is broken. Five minutes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.promises import Promise, promise, tell
from calibration.arithmetic.closed_forms import Array
from calibration.choosing.noninferiority import ComparisonPlan, against_ceiling, non_inferiority
from calibration.inference.bootstrap import wilson_effective
from calibration.inference.compare import exact_mcnemar, holm, max_t_band, paired_difference
from calibration.inference.deciding import power
from calibration.study.left_out import LeftOutScores

AGREEMENT, MARGIN, SD = 0.8, 0.05, 0.1529
TABULATED = {30: 0.542, 100: 0.946, 210: 0.999}  # STATISTICS section 2.9
RECKONED = {30: 0.1, 100: 0.03, 210: 0.01}  # power that reckoning with faults not seen may cost


@dataclass(frozen=True)
class Design:
    """Pairs, labels in each, and how alike one judge's labels on one pair are."""

    clusters: int = 30
    labels: int = 39
    rho: float = 0.1

    @property
    def code(self) -> Array:
        """The cluster of each label."""
        return np.repeat(np.arange(self.clusters), self.labels)


def made_judge(rng: np.random.Generator, agreement: float, design: Design = Design()) -> Array:
    """One judge's labels, right or wrong, shape (labels,)."""
    k = 1 / design.rho - 1
    p = rng.beta(agreement * k, (1 - agreement) * k, (design.clusters, 1))
    return rng.binomial(1, p, (design.clusters, design.labels)).ravel().astype(float)


def told_apart(studies: int, seed: int = 31, design: Design = Design()) -> Iterator[Promise]:
    """Two equal judges: the cluster t test, and McNemar's test as if every label were a cluster."""
    rng, ours, items = np.random.default_rng(seed), [], []
    for _ in range(studies):
        x, y = made_judge(rng, AGREEMENT, design), made_judge(rng, AGREEMENT, design)
        ours.append(paired_difference(x, y, design.code).p < 0.05)
        items.append(exact_mcnemar(x, y, np.arange(len(x))).p < 0.05)
    yield promise("two equal judges told apart, cluster t", ours, 0.03, 0.06)
    yield promise("two equal judges told apart, item-level McNemar", items, 0.3, 1)


def levels(studies: int, seed: int = 32, design: Design = Design()) -> Iterator[Promise]:
    """How often a judge that is worse by exactly the margin is declared non-inferior, alone and among others."""
    rng, alone, any_of_five = np.random.default_rng(seed), [], []
    five = ComparisonPlan(tuple("abcde"), ("all",), MARGIN)
    for _ in range(studies):
        people = made_judge(rng, AGREEMENT, design)
        worse = {name: made_judge(rng, AGREEMENT - MARGIN, design) for name in five.judges}
        tests = [non_inferiority(one, people, design.code, MARGIN, resamples=999) for one in worse.values()]
        alone.append(tests[0].outcome == "non_inferior")
        any_of_five.append(bool((holm([one.p for one in tests]) < 0.05).any()))
    yield promise("non-inferior at a true gap equal to the margin", alone, 0.0, 0.06)
    yield promise("any of five such judges, Holm", any_of_five, 0, 0.06)


def powers(studies: int, seed: int = 33) -> Iterator[Promise]:
    """How often no true difference is declared non-inferior, beside the tabulated power."""
    rng = np.random.default_rng(seed)
    for clusters, tabulated in TABULATED.items():
        differences, none = rng.normal(0, SD, (studies, clusters)), np.zeros(clusters)
        found = [
            non_inferiority(none, one, np.arange(clusters), MARGIN, resamples=999).outcome == "non_inferior"
            for one in differences
        ]
        slack = 3.5 * math.sqrt(tabulated * (1 - tabulated) / studies)
        name = f"non-inferior without a difference, {clusters} pairs"
        yield promise(name, found, tabulated - RECKONED[clusters] - slack, tabulated + slack)
        yield Promise("  power by the noncentral t", power(clusters, SD, MARGIN), 0, tabulated - 5e-4, tabulated + 5e-4)


def best_of_ten(studies: int, resamples: int = 999, seed: int = 34, design: Design = Design()) -> Iterator[Promise]:
    """Of ten equal judges the one that did best: its max-t interval, and its own."""
    rng, of_band, of_own = np.random.default_rng(seed), [], []
    for _ in range(studies):
        scores = {f"judge {n}": made_judge(rng, AGREEMENT, design) for n in range(10)}
        band = max_t_band(scores, design.code, resamples=resamples, seed=seed)
        best = max(band, key=lambda one: one.value)
        agree = scores[best.rater].reshape(design.clusters, design.labels).sum(axis=1)
        low, high = wilson_effective(agree, np.full(design.clusters, design.labels))
        of_band.append(best.low <= AGREEMENT <= best.high)
        of_own.append(low <= AGREEMENT <= high)
    yield promise("truth inside the max-t interval of the best of 10", of_band, 0.93, 1)
    yield promise("truth inside that judge's own interval", of_own, 0, 0.8)


def more_of_the_same(rng: np.random.Generator, pilot: Array, clusters: int, means: Array) -> Array:
    """Cluster means of a study with the pilot's own variance and these true means; shape (clusters, judges).

    `pilot`: its cluster means, shape (pilot's clusters, judges).
    """
    count = len(pilot)
    left = (pilot - pilot.mean(axis=0)) * math.sqrt(count / (count - 1))
    return means + left[rng.integers(0, count, clusters)]


def decided_beside_ceiling(rng: np.random.Generator, studies: int, judges: int, design: Design) -> float:
    """Share of studies of the size recommended by one open pilot that decide the first open judge; Holm over all."""
    names = [f"judge {n}" for n in range(judges)]
    plan = ComparisonPlan(tuple(names), ("all",), MARGIN)
    while True:
        table = [made_judge(rng, AGREEMENT, design) for _ in (*names, "people")]
        rows = {name: LeftOutScores(table[-1], own, design.code, 0) for name, own in zip(names, table, strict=False)}
        claims = against_ceiling(rows, plan)
        at = next((n for n, one in enumerate(claims) if one.needed and one.needed.more), -1)
        if at >= 0:
            break
    needed, pilot = claims[at].needed, cluster_means(table, design)
    means = pilot.mean(axis=0) - pilot[:, -1].mean()
    means[at] = -needed.gap
    decided = 0
    for _ in range(studies):
        scores = more_of_the_same(rng, pilot, needed.clusters, means)
        tests = [
            non_inferiority(own, scores[:, -1], np.arange(len(scores)), MARGIN, resamples=999) for own in scores.T[:-1]
        ]
        decided += holm([one.p for one in tests])[at] < 0.05 or tests[at].outcome == "inferior"
    return decided / studies


def cluster_means(table: Sequence[Array], design: Design) -> Array:
    """Shape (clusters, judges)."""
    return np.stack(table, axis=-1).reshape(design.clusters, design.labels, -1).mean(axis=1)


def decisions(studies: int, pilots: int, seed: int = 35) -> Iterator[Promise]:
    """Whether the recommended number decides as often as it says, in studies with each pilot's own variance."""
    for name, share in (
        ("1 judge, pilot of 10", partial(decided_beside_ceiling, judges=1, design=Design(10))),
        ("1 judge, pilot of 30", partial(decided_beside_ceiling, judges=1, design=Design(30))),
        ("5 judges with Holm, pilot of 10", partial(decided_beside_ceiling, judges=5, design=Design(10))),
    ):
        rng = np.random.default_rng(seed)
        found = [share(rng, studies) for _ in range(pilots)]
        error = float(np.std(found, ddof=1)) / math.sqrt(pilots)
        yield Promise(f"the recommended number decides: {name}", float(np.mean(found)), error, 0.75, 0.85)


def main() -> int:
    """One line per promise."""
    found = chain(told_apart(4_000), levels(4_000), powers(4_000), best_of_ten(2_000), decisions(200, 40))
    return tell("Comparing judges: percent of simulated studies, with Monte-Carlo standard error", found)


if __name__ == "__main__":
    sys.exit(main())
