"""What topics drawn where they say most are worth beside topics drawn at random, as a pilot shows it before a study.

What a topic was to move the answer by is learnt from the other half of the pilot, as a study knows it halfway, and
batches are drawn by that from topics like the pilot's; the variance is that of what topics truly moved the answer by.
"""

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from calibration.arithmetic.closed_forms import Array
from calibration.arithmetic.columns import Codes
from calibration.sampling.allocation import anticipated_deviation
from calibration.sampling.inclusion import Batch, draw_batch, draw_weights
from calibration.sizing.next_batch import signs_of
from calibration.sizing.planning import Spread
from calibration.study.joining import Study

FEWEST = 20  # topics of a pilot; of fewer nothing is learnt that the others could be held against
BATCH = 20  # topics; of the first nothing is known, and it is drawn as at random
STUDIES = 200  # simulated
MOST, BATCHES = 1_000, 25  # topics and batches of one; of more the same shares are labelled


def expected_deviation(study: Study, clusters: Codes, moved: Array) -> Array:
    """How far each topic was to move the answer, up to a factor, learnt from the other half of the topics.

    `clusters`: of the study, shape (topics,); `moved`: how far each moved it. Undefined, shape (0,): below 20 topics.
    """
    if len(moved) < FEWEST:
        return np.empty(0)
    signs, sizes = (each[clusters] for each in signs_of(study))
    fold = np.random.default_rng(0).permutation(len(moved)) % 2
    found = np.zeros(len(moved))
    for own in (0, 1):
        others = np.flatnonzero(fold != own)
        found[fold == own] = anticipated_deviation(signs, sizes, others, moved[others])[fold == own]
    return found


@dataclass(frozen=True)
class DrawGain:
    """Variance of a mean over topics drawn where they say most, of all `of` topics, over that of as many at random.

    `topics`: labelled so far, shape (batches,); `ratio`, and its standard error over the pilot's topics and simulated
    studies at these chances, likewise. 1 minus the ratio is what is saved.
    """

    topics: Array
    ratio: Array
    se: Array

    def at(self, topics: int) -> tuple[float, float]:
        """Ratio and standard error; what lies between two batches is interpolated."""
        return float(np.interp(topics, self.topics, self.ratio)), float(np.interp(topics, self.topics, self.se))

    def needed(self, random: int, of: int) -> int:
        """The fewest topics drawn, of `of`, that are worth `random` drawn at random; more where the draw misleads."""
        return 2 + bisect_left(range(2, of), True, key=lambda topics: topics / self.at(topics)[0] >= random)


def draw_gain(spread: Spread, of: int) -> DrawGain | None:
    """Batch by batch as a study draws them, from `of` topics that are like the pilot's. The same input, the same gain.

    None: the spread knows no expected deviations, nothing varies, or all topics are of one batch.
    """
    moved = spread.topics - spread.mean
    if not len(spread.expected) or of <= BATCH or not np.any(moved):
        return None
    return _gain(tuple(moved), tuple(spread.expected), of)


@lru_cache(32)  # a planner asks for it whenever a slider moves
def _gain(moved: tuple[float, ...], expected: tuple[float, ...], of: int) -> DrawGain:
    squares, deviations, pilot = np.square(moved), np.array(expected), len(moved)
    size = min(of, MOST)
    step = max(BATCH, size // BATCHES)
    ends = np.minimum(step * np.arange(1, -(-size // step) + 1), size)
    # of each study and batch: what the topics of the pilot then count, squared, by how often they are in it
    counts, seen = np.zeros((STUDIES, len(ends), pilot)), np.zeros((STUDIES, 1, pilot))
    for study, rng in enumerate(np.random.default_rng(0).spawn(STUDIES)):
        place = rng.permutation(pilot)[np.arange(size) % pilot]
        seen[study, 0] = np.bincount(place, minlength=pilot)
        batches: list[Batch] = []
        waiting = np.arange(size)
        while len(waiting):
            deviation = deviations[place[waiting]] if batches else np.ones(size)
            chance, drawn = draw_batch(deviation, step, [(len(one.topics), one.waiting) for one in batches], rng)
            batches.append(Batch(waiting[drawn], chance[drawn], len(waiting), np.ones(len(drawn), bool)))
            waiting = np.delete(waiting, drawn)
            weight, held = draw_weights(batches), place[np.concatenate([one.topics for one in batches])]
            counted = weight**2 * len(held) * size / weight.sum() ** 2
            counts[study, len(batches) - 1] = np.bincount(held, counted, pilot)
    factor = counts.sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    ratio = factor @ squares / squares.sum()
    drawn_alike = counts @ squares / (seen @ squares)
    se = np.sqrt(((squares * (factor - ratio[:, None])) ** 2).sum(axis=1)) / squares.sum()
    return DrawGain(ends * of / size, ratio, np.hypot(se, drawn_alike.std(axis=0) / np.sqrt(STUDIES)))
