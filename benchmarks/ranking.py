"""Does correcting a judge with people's labels keep its promise? Simulated, so the truth is known.

`python benchmarks/ranking.py` simulates studies of 30 topics that people labelled and 300 that only a judge saw, 39
labels each (people choose the system in a topic with probability Beta(mean .5, ICC .3); the judge agrees with
Beta(mean .85, ICC .1), and takes the system whatever people say in one label of ten), and prints how often the
judge-corrected win rate's interval holds the truth, how wide it is beside that of labels alone, what the judge alone
and a correction of single labels would do, and the same for topics labelled in part and for Bradley-Terry strengths.
Exits with 1 when a promise is broken. About a minute.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.promises import Promise, beta, promise, tell
from calibration.arithmetic.closed_forms import Array
from calibration.inference.bootstrap import expanded_percentile, resample, wilson_effective
from calibration.systems.bradley_terry import corrected_strength, strengths, tuning
from calibration.systems.corrected import ClusterMeans, Halves, corrected_interval, corrected_mean

TRUTH, LEVEL = 0.5, 0.95


@dataclass(frozen=True)
class Design:
    """Topics that people labelled and topics that they did not, labels in each, and how good the judge is."""

    labelled: int = 30
    unlabelled: int = 300
    labels: int = 39
    win: float = TRUTH
    topics_alike: float = 0.3  # ICC of people's choices
    accuracy: float = 0.85
    judge_alike: float = 0.1  # ICC of the judge's agreement
    favour: float = 0.1


def mean_of(name: str, found: Sequence[float], low: float, high: float) -> Promise:
    """From one number per study."""
    return Promise(name, float(np.mean(found)), float(np.std(found) / math.sqrt(len(found))), low, high)


def made_labels(rng: np.random.Generator, design: Design) -> tuple[Array, Array]:
    """What people and judge say of every label, 1: the system wins; shape (topics, labels), labelled topics first."""
    topics = design.labelled + design.unlabelled, 1
    people = rng.random((topics[0], design.labels)) < beta(rng, design.win, design.topics_alike, topics)
    agrees = rng.random(people.shape) < beta(rng, design.accuracy, design.judge_alike, topics)
    judge = np.where(rng.random(people.shape) < design.favour, True, people == agrees)
    return people.astype(float), judge.astype(float)


def means_of(people: Array, judge: Array, design: Design) -> ClusterMeans:
    """The cluster means of a study whose first topics are labelled."""
    there = np.arange(len(people)) < design.labelled
    h, g = people.mean(axis=1), judge.mean(axis=1)
    sizes = np.full(len(people), float(design.labels))
    nan = math.nan
    return ClusterMeans(np.where(there, h, nan), np.where(there, g, nan), np.where(there, nan, g), sizes, 0)


def corrected_rates(studies: int, design: Design = Design(), seed: int = 41) -> Iterator[Promise]:
    """Whole topics labelled, the others not."""
    rng = np.random.default_rng(seed)
    ours, alone, judges, items, widths = [], [], [], [], []
    for _ in range(studies):
        people, judge = made_labels(rng, design)
        n = design.labelled
        low, high = corrected_interval(corrected_mean(means_of(people, judge, design)), n)
        sizes = np.full(n, float(design.labels))
        labels = wilson_effective(people[:n].sum(axis=1), sizes)
        whole = wilson_effective(judge.sum(axis=1), np.full(len(judge), float(design.labels)))
        single = replace(design, labelled=n * design.labels, labels=1)
        flat = means_of(people.reshape(-1, 1), judge.reshape(-1, 1), single)
        by_label = corrected_interval(corrected_mean(flat), single.labelled)
        ours.append(low <= design.win <= high)
        alone.append(labels[0] <= design.win <= labels[1])
        judges.append(whole[0] <= design.win <= whole[1])
        items.append(by_label[0] <= design.win <= by_label[1])
        widths.append((high - low) / (labels[1] - labels[0]))
    size = f"{design.labelled} + {design.unlabelled} topics, win rate {design.win:g}"
    size += "" if design.accuracy > 0.5 else ", a blind judge"
    yield promise(f"judge-corrected win rate holds the truth, {size}", ours, 0.93, 0.97)
    if design == Design():
        yield promise("  labels alone", alone, 0.93, 0.97)
        yield promise("  the judge alone", judges, 0, 0.05)
        yield promise("  corrected as if labels were independent", items, 0, 0.75)
        yield mean_of("  width beside labels alone", widths, 0.4, 0.6)


def labelled_in_part(studies: int, topics: int = 60, seed: int = 42) -> Iterator[Promise]:
    """Every topic labelled in part, a fifth of its labels: one influence per topic, and the two parts as if apart."""
    rng = np.random.default_rng(seed)
    jointly: list[bool] = []
    apart: list[bool] = []
    design = Design(topics, 0)
    there = np.arange(design.labels) < design.labels // 5
    for _ in range(studies):
        people, judge = made_labels(rng, design)
        h, g, whole = people[:, there].mean(axis=1), judge[:, there].mean(axis=1), judge.mean(axis=1)
        sizes = np.full(topics, float(design.labels))
        for found, straddling, reference in (
            (jointly, "joint", whole),
            (apart, "refuse", judge[:, ~there].mean(axis=1)),
        ):
            one = ClusterMeans(h, g, reference, sizes, topics if straddling == "joint" else 0)
            low, high = corrected_interval(corrected_mean(one, straddling), topics)  # type: ignore[arg-type]  # two words
            found.append(low <= design.win <= high)
    yield promise(f"{topics} topics labelled in part, jointly", jointly, 0.93, 0.97)
    print(f"  (as if the parts were independent: {100 * np.mean(apart):.1f})")


def corrected_strengths(studies: int, resamples: int = 999, seed: int = 43) -> Iterator[Promise]:
    """Four systems, topics that shift their strengths, a judge with a favourite: intervals of corrected strengths."""
    rng = np.random.default_rng(seed)
    held: dict[str, list[float]] = {"ours": [], "people": [], "judge": []}
    widths: list[float] = []
    base, spread, labels = np.array([0.6, 0.2, -0.2, -0.6]), 0.5, 8
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    gaps = base[:, None] - base[None, :]
    shifted = gaps[..., None] + spread * math.sqrt(2) * nodes
    chance = (stats.logistic.cdf(shifted) * weights).sum(axis=-1) / weights.sum()
    truth = strengths(chance * (1 - np.eye(4)))
    for _ in range(studies):
        halves = made_wins(rng, base, spread, labels, 40, 200)
        lam = tuning(halves)
        parts = np.stack([halves.people, halves.judged, halves.elsewhere], axis=1)
        corrected = partial(corrected_strength, lam=lam)
        found = {
            "ours": (resample(parts, corrected, resamples, 1), 240),
            "people": (resample(halves.people[:40], strengths, resamples, 1), 40),
            "judge": (resample(halves.judged + halves.elsewhere, strengths, resamples, 1), 240),
        }
        bounds = {
            name: np.array([expanded_percentile(one, clusters) for one in draws.T])
            for name, (draws, clusters) in found.items()
        }
        for name, own in bounds.items():
            # the four strengths of one study hang together: one share a study
            held[name].append(float(((own[:, 0] <= truth) & (truth <= own[:, 1])).mean()))
        widths.append(float(np.mean(np.diff(bounds["ours"]) / np.diff(bounds["people"]))))
    yield mean_of("judge-corrected Bradley-Terry strength, 40 + 200 topics", held["ours"], 0.92, 0.97)
    yield mean_of("  labels alone", held["people"], 0.92, 0.97)
    yield mean_of("  the judge alone", held["judge"], 0, 0.5)
    yield mean_of("  width beside labels alone", widths, 0, 0.8)


def made_wins(
    rng: np.random.Generator, base: Array, spread: float, labels: int, labelled: int, unlabelled: int
) -> Halves:
    """Wins of every pair of systems in every topic, `labels` of each pair."""
    topics, size = labelled + unlabelled, len(base)
    own = base + rng.normal(0, spread, (topics, size))
    people, judge = np.zeros((2, topics, size, size))
    for i in range(size):
        for j in range(i + 1, size):
            says = rng.random((topics, labels)) < stats.logistic.cdf(own[:, [i]] - own[:, [j]])
            right = rng.random((topics, labels)) < 0.85
            taken = np.where((rng.random((topics, labels)) < 0.15) & (j == size - 1), False, says == right)
            for wins, given in ((people, says), (judge, taken)):
                wins[:, i, j], wins[:, j, i] = given.sum(axis=1), (~given).sum(axis=1)
    there = (np.arange(topics) < labelled)[:, None, None]
    return Halves(people * there, judge * there, judge * ~there, "")


def main() -> int:
    """All promises, one line each."""
    studies = 4_000
    found = chain(
        corrected_rates(studies),
        corrected_rates(studies, Design(100, 1_000)),
        corrected_rates(studies, Design(30, 300, win=0.8)),
        corrected_rates(studies, Design(30, 300, labels=5, accuracy=0.5)),
        labelled_in_part(studies),
        corrected_strengths(500),
    )
    return tell("Correcting a judge: percent of simulated studies, with Monte-Carlo standard error", found)


if __name__ == "__main__":
    sys.exit(main())
