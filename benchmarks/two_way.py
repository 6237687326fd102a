"""Do intervals hold for other annotators than these? Simulated with annotators drawn at random: the truth is known.

`python benchmarks/two_way.py` simulates studies in which C pairs and A annotators are both drawn. The chance that the
judge agrees with one annotator on one pair is a probit of both, with 39 labels a pair: the truth is .8 exactly. For the
gap to the ceiling annotators and the judge say what is true with such chances; it is then known by quadrature. Over
pairs alone an interval speaks of these annotators only. Prints the coverage of both with its Monte-Carlo error, and
exits with 1 when a promise is broken. About half a minute.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.promises import Promise, promise, tell
from calibration.agreement.ceiling import TwoWay, two_way
from calibration.arithmetic.closed_forms import Array
from calibration.inference.bootstrap import cluster_t
from calibration.study.joining import Mask

AGREEMENT, PERSON, JUDGE = 0.8, 0.85, 0.8  # mean agreement with one annotator; mean accuracies, for the gap
STUDIES, LABELS = 4_000, 39
COVERS, ALONE = (0.925, 0.975), (0.0, 0.6)
UNLIKE, COVERS_UNLIKE = 0.5, (0.89, 0.975)  # agreement from .4 to 1: few of a skewed lot, and t is too sure


@dataclass(frozen=True)
class Design:
    """How many pairs and annotators are drawn, and how they differ: standard deviations on the probit scale."""

    pairs: int
    annotators: int
    of_pairs: float = 0.35
    of_annotators: float = 0.35
    labels: int = LABELS


def agreements(design: Design, studies: int, seed: int) -> Array:
    """Labels of each annotator that the judge agrees with, shape (studies, pairs, annotators), of `labels` each."""
    rng = np.random.default_rng(seed)
    pair = rng.normal(0, design.of_pairs, (studies, design.pairs, 1))
    person = rng.normal(0, design.of_annotators, (studies, 1, design.annotators))
    spread = 1 + design.of_pairs**2 + design.of_annotators**2
    chance = stats.norm.cdf(stats.norm.ppf(AGREEMENT) * spread**0.5 + pair + person)
    return np.asarray(rng.binomial(design.labels, chance), float)


def answers(design: Design, studies: int, seed: int) -> Iterator[tuple[Mask, Mask]]:
    """Of each study which labels are true: the annotators' (pairs, labels, annotators), the judge's (pairs, labels)."""
    rng = np.random.default_rng(seed)
    level, of_judge = _levels(design)
    for _ in range(studies):
        pair = rng.normal(0, design.of_pairs, (design.pairs, 1))
        person = rng.normal(0, design.of_annotators, design.annotators)
        people = rng.normal(size=(design.pairs, design.labels, design.annotators))
        own = rng.normal(size=(design.pairs, design.labels))
        yield people < level + pair[..., None] + person, own < of_judge + pair


def true_gap(design: Design) -> float:
    """Agreement of two annotators drawn at random minus that of an annotator and the judge; binary labels."""
    points, weights = np.polynomial.hermite_e.hermegauss(80)
    level, of_judge = _levels(design)
    pair = design.of_pairs * points
    person = stats.norm.cdf((level + pair) / (1 + design.of_annotators**2) ** 0.5)
    judge = stats.norm.cdf(of_judge + pair)
    gap = person**2 + (1 - person) ** 2 - person * judge - (1 - person) * (1 - judge)
    return float(gap @ weights / weights.sum())


def agreement_of(agree: Array, design: Design) -> TwoWay:
    """The two-way interval of one study of `agreements`, shape (pairs, annotators)."""
    sizes = np.full(agree.shape, float(design.labels))
    return two_way(agree.sum(axis=1), sizes.sum(axis=1), agree, sizes)


def gap_of(people: Mask, judge: Mask) -> TwoWay:
    """The two-way interval of the gap in one study of `answers`."""
    sums, size = _gaps(people, judge), float(judge.shape[1] * people.shape[2])
    kept = [np.delete(people, place, axis=2) for place in range(people.shape[2])]
    lost = np.stack([sums - _gaps(rest, judge) for rest in kept], axis=1)
    return two_way(sums, np.full(len(sums), size), lost, np.full(lost.shape, float(judge.shape[1])))


def coverage(design: Design, studies: int, seed: int = 1) -> dict[str, list[bool]]:
    """Whether each interval of each study held the truth; a quarter of the studies for the gap."""
    found: dict[str, list[bool]] = {}
    gap = true_gap(design)
    for agree in agreements(design, studies, seed):
        _note(found, "agreement", agreement_of(agree, design), AGREEMENT)
    for people, judge in answers(design, studies // 4, seed):
        _note(found, "gap", gap_of(people, judge), gap)
    return found


def promises(design: Design, studies: int) -> list[Promise]:
    """What `coverage` found beside what is promised of it."""
    where = f"{design.pairs} pairs, {design.annotators} annotators of sd {design.of_annotators:g}"
    covers = COVERS_UNLIKE if design.of_annotators > UNLIKE else COVERS
    return [
        promise(f"{name} covers, {where}", held, *(ALONE if name.endswith("alone") else covers))
        for name, held in coverage(design, studies).items()
    ]


def main() -> int:
    """All promises, one line each."""
    designs = (
        Design(30, 5),
        Design(100, 3),
        Design(100, 5),
        Design(210, 3, of_annotators=0.2),
        Design(210, 5, of_annotators=0.2),
        Design(210, 10),
        Design(100, 5, of_annotators=0.6),
    )
    found = chain.from_iterable(promises(design, STUDIES) for design in designs)
    return tell("Topics and annotators drawn: percent of simulated studies, with Monte-Carlo standard error", found)


def _note(found: dict[str, list[bool]], name: str, one: TwoWay, truth: float) -> None:
    alone = cluster_t(one.value, one.over_pairs**0.5, one.clusters)
    found.setdefault(f"{name} over pairs and annotators", []).append(one.low <= truth <= one.high)
    found.setdefault(f"{name} over pairs alone", []).append(alone[0] <= truth <= alone[1])


def _levels(design: Design) -> tuple[float, float]:
    """Where on the probit scale the mean accuracies of people and judge lie."""
    people = 1 + design.of_pairs**2 + design.of_annotators**2
    return float(stats.norm.ppf(PERSON) * people**0.5), float(stats.norm.ppf(JUDGE) * (1 + design.of_pairs**2) ** 0.5)


def _gaps(people: Mask, judge: Mask) -> Array:
    """Sum over annotators and labels of each pair: agreement with the others, of the annotator minus of the judge."""
    many = people.shape[2]
    right = people.sum(axis=2)
    human = (right * (right - 1) + (many - right) * (many - right - 1)) / (many - 1)
    return np.asarray((human - np.where(judge, right, many - right)).sum(axis=1), float)


if __name__ == "__main__":
    sys.exit(main())
