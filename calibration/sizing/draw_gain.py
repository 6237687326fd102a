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

    `topics`: labelled so far, shape (batches,); `ratio` and its standard error likewise. 1 minus it is what is saved.
    """

    topics: Array
    ratio: Array
    se: Array

    def at(self, topics: int) -> tuple[float, float]:
        """Ratio and standard error; what lies between two batches is interpolated."""
        return float(np.interp(topics, self.topics, self.ratio)), float(np.interp(topics, self.topics, self.se))

    def needed(self, random: int) -> int:
        """The fewest topics drawn that are worth `random` drawn at random; as many if there are no fewer."""
        enough = bisect_left(range(2, random), True, key=lambda topics: topics / self.at(topics)[0] >= random)
        return min(random, 2 + enough)


def draw_gain(spread: Spread, of: int) -> DrawGain | None:
    """Batch by batch as a study draws them, from `of` topics that are like the pilot's. The same input, the same gain.

    None: the spread knows no expected deviations, or all topics are of one batch.
    """
    if not len(spread.expected) or of <= BATCH:
        return None
    return _gain(tuple(spread.topics - spread.mean), tuple(spread.expected), of)


@lru_cache(32)  # a planner asks for it whenever a slider moves
def _gain(moved: tuple[float, ...], expected: tuple[float, ...], of: int) -> DrawGain:
    squares, deviations = np.square(moved), np.array(expected)
    size = min(of, MOST)
    step = max(BATCH, size // BATCHES)
    place = np.arange(size) % len(moved)
    squares, deviations = squares[place], deviations[place]
    factor = np.zeros((-(-size // step), size))  # of each batch, what a topic then counts, squared
    for rng in np.random.default_rng(0).spawn(STUDIES):
        batches: list[Batch] = []
        waiting = np.arange(size)
        while len(waiting):
            deviation = deviations[waiting] if batches else np.ones(size)
            chance, drawn = draw_batch(deviation, step, [(len(one.topics), one.waiting) for one in batches], rng)
            batches.append(Batch(waiting[drawn], chance[drawn], len(waiting), np.ones(len(drawn), bool)))
            waiting = np.delete(waiting, drawn)
            weight, held = draw_weights(batches), np.concatenate([one.topics for one in batches])
            factor[len(batches) - 1, held] += weight**2 * len(held) * size / weight.sum() ** 2 / STUDIES
    ratio = factor @ squares / squares.sum()
    se = np.sqrt(((squares * (factor - ratio[:, None])) ** 2).sum(axis=1) * size / len(moved)) / squares.sum()
    topics = np.minimum(step * np.arange(1.0, len(ratio) + 1), size)
    return DrawGain(topics * of / size, ratio, se)
