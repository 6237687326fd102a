"""Studies of nested labels whose true gap between people and judge is exact by construction, as sums per topic.

Three annotators label every item with one of three labels, and so does each judge. A rater errs on an item of topic t
at a rate of its own for that topic: with probability `SHARED` the topic's common rate, which all raters share, else one
of its own, both from one beta distribution with mean `error` and intraclass correlation `icc`. A judge errs there like
one more annotator and, independently, at a rate of faults of its own, likewise beta and likewise shared with the other
judges with probability `SHARED`. A wrong label is one of the two others at random. Where faults are constant within a
topic, each rate is 0 or 1 (icc 1) and so is the wrong label the same throughout the topic.

Given a topic's rates e the agreement of two raters is (1 - e)(1 - e') + e e' / 2, whose mean over topics has a closed
form, linear in the mean rate x of the judge's own faults; x is solved for, and the gap is what was asked for. Sizes of
topics are drawn apart from the rates, so that the gap pooled over labels is the same gap; except in `size_bound`, where
large topics have a gap of their own and that of small ones makes up for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int8]
Ints = npt.NDArray[np.int64]
SHARED = 0.7
ITEMS = 20  # a topic, on average
ANNOTATORS = 3
LARGE, SMALL = 30, 10  # items of the two kinds of topic of `size_bound`
LARGE_GAP = 1.3  # of a large topic, as a multiple of the pooled gap; a small one has .1 of it


@dataclass(frozen=True)
class Setting:
    """One kind of study. `gap`: of agreement with the other annotators, person minus judge, in the population."""

    topics: int
    sizes: str = "even"  # a key of SIZES
    error: float = 0.2  # mean rate at which people err
    icc: float = 0.2  # of the rates at which raters err; 1: constant within a topic
    judges: int = 1
    gap: float = 0.05

    @property
    def name(self) -> str:
        """Such as `20 topics, lognormal sizes, people .97`."""
        people = f", people {1 - self.error:.2f}".replace("0.", ".")
        return f"{self.topics} topics, {self.sizes}{people}{', constant faults' * (self.icc == 1)}"


@dataclass(frozen=True)
class Sums:
    """Of each topic: rows (one per annotator and item), the sum of people's scores, and of each judge's."""

    rows: Array  # shape (studies, topics)
    human: Array  # likewise
    judge: Array  # shape (studies, topics, judges)
    items: Array  # shape (studies, topics)
    squares: Array  # of people's less the judge's sum over the rows of each item; shape (studies, topics, judges)
    sizes: Array  # of the same its absolute value


def even(rng: np.random.Generator, studies: int, topics: int) -> Ints:
    """Every topic has 20 items."""
    return np.full((studies, topics), ITEMS)


def uneven(rng: np.random.Generator, studies: int, topics: int) -> Ints:
    """5 to 35, all equally likely."""
    return rng.integers(5, 36, (studies, topics))


def lognormal(rng: np.random.Generator, studies: int, topics: int) -> Ints:
    """Median 12, sigma 1, at least 1: the largest of 20 topics has about a fifth of the labels."""
    return np.ceil(12 * np.exp(rng.normal(size=(studies, topics)))).astype(np.int64)


def dominating(rng: np.random.Generator, studies: int, topics: int) -> Ints:
    """One topic has 40 % of all items, the others 20 each."""
    sizes = even(rng, studies, topics)
    sizes[:, 0] = round(ITEMS * (topics - 1) * 0.4 / 0.6)
    return sizes


def size_bound(rng: np.random.Generator, studies: int, topics: int) -> Ints:
    """10 or 30, with a gap that depends on it."""
    return rng.choice([SMALL, LARGE], (studies, topics))


SIZES: dict[str, Callable[[np.random.Generator, int, int], Ints]] = {
    "even": even, "uneven": uneven, "lognormal": lognormal, "dominating": dominating, "size_bound": size_bound
}  # fmt: skip


def fault_rate(setting: Setting, gap: float | Array) -> float | Array:
    """Mean rate of the judge's own faults that makes the gap: x [(1 - e) - 3/2 (e - E ee')] = gap."""
    error, spread = setting.error, setting.icc * setting.error * (1 - setting.error)
    both = error * error + SHARED**2 * spread  # E ee', of two raters on one topic
    return gap / ((1 - error) - 1.5 * (error - both))


def simulated(setting: Setting, studies: int, seed: int = 0) -> Sums:
    """That many studies of the setting."""
    rng = np.random.default_rng(seed)
    sizes = SIZES[setting.sizes](rng, studies, setting.topics)
    people, judges = _rates(rng, setting, sizes)
    topic = np.repeat(np.arange(sizes.size), sizes.ravel())
    starts = np.concatenate([[0], np.cumsum(sizes.ravel())[:-1]])
    said = [_labels(rng, one.ravel(), topic, setting.icc == 1) for one in people]

    def summed(each: Labels) -> Array:
        return np.add.reduceat(each, starts, dtype=np.int64).reshape(sizes.shape).astype(float)

    together = _agreed([(said[0], said[1]), (said[0], said[2]), (said[1], said[2])])
    judged, squares, sizes_of_gaps = [], [], []
    for one in judges:
        own = _labels(rng, one.ravel(), topic, setting.icc == 1)
        agreed = _agreed([(own, other) for other in said])
        judged.append(summed(agreed))
        squares.append(summed((together - agreed) ** 2))
        sizes_of_gaps.append(summed(np.abs(together - agreed)))
    return Sums(
        ANNOTATORS * sizes.astype(float), summed(together), np.stack(judged, axis=-1), sizes.astype(float),
        np.stack(squares, axis=-1), np.stack(sizes_of_gaps, axis=-1),
    )  # fmt: skip


def _agreed(pairs: list[tuple[Labels, Labels]]) -> Labels:
    """How many of the pairs gave one label, of each item."""
    return np.sum([one == other for one, other in pairs], axis=0, dtype=np.int8)


def _rates(rng: np.random.Generator, setting: Setting, sizes: Ints) -> tuple[list[Array], list[Array]]:
    """At which each annotator and each judge errs on each topic; shape (studies, topics) each."""
    part = np.ones(sizes.shape)
    if setting.sizes == "size_bound":
        part = np.where(sizes == LARGE, LARGE_GAP, (LARGE + SMALL - LARGE_GAP * LARGE) / SMALL)
    common = _beta(rng, np.full(sizes.shape, setting.error), setting.icc)
    people = [_own_or(rng, common, setting.error * np.ones(sizes.shape), setting.icc) for _ in range(ANNOTATORS)]
    mean = np.asarray(fault_rate(setting, setting.gap * part))
    faults = _beta(rng, mean, setting.icc)
    judges = []
    for _ in range(setting.judges):
        like_people = _own_or(rng, common, setting.error * np.ones(sizes.shape), setting.icc)
        judges.append(1 - (1 - like_people) * (1 - _own_or(rng, faults, mean, setting.icc)))
    return people, judges


def _own_or(rng: np.random.Generator, common: Array, mean: Array, icc: float) -> Array:
    return np.where(rng.random(common.shape) < SHARED, common, _beta(rng, mean, icc))


def _beta(rng: np.random.Generator, mean: Array, icc: float) -> Array:
    if icc == 1:
        return (rng.random(mean.shape) < mean).astype(float)
    strength, safe = 1 / icc - 1, np.maximum(mean, 1e-9)
    return np.where(mean > 0, rng.beta(safe * strength, (1 - safe) * strength), 0.0)


def _labels(rng: np.random.Generator, rate: Array, topic: Ints, constant: bool) -> Labels:
    """0 right, 1 or 2 wrong, of each item."""
    wrong = rng.integers(1, 3, len(rate), dtype=np.int8)[topic] if constant else rng.integers(1, 3, len(topic), np.int8)
    erred = rng.random(len(topic), dtype=np.float32) < rate[topic]
    return np.where(erred, wrong, np.int8(0))
