"""Which topics people label next: drawn in batches, whole topics, each with a probability that is known and never 0.

A batch is drawn from the topics that no batch before it drew, with probabilities that may hang on everything seen so
far. Given that past, what people already labelled and what this batch adds, each by 1 / p, is an unbiased total of all
topics; a weighted mean of the batches' totals is one too, since its weights hang on their sizes alone. So a topic of
batch b counts share_b / p, for its own batch, and 1 for each later one: Des Raj 1956, for draws; for batches that learn
from labels Zrnic & Candès 2024 (active statistical inference), whose sums are martingales likewise.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibration.arithmetic.closed_forms import Array
from calibration.arithmetic.columns import Codes
from calibration.errors import CalibrationError
from plain import draws

RANDOM_SHARE = 0.2  # of every batch, at least, is drawn as if nothing were known


@dataclass(frozen=True)
class Batch:
    """Topics drawn together. `chance`: of each, given the batches before, in (0, 1]; `waiting`: they were drawn from.

    `labelled`: which of them people have labelled by now. Of a batch that is labelled in part those that are count as a
    random part of it: its slots are given out in random order.
    """

    topics: Codes
    chance: Array
    waiting: int
    labelled: np.typing.NDArray[np.bool_]

    def __post_init__(self) -> None:
        if not len(self.topics) == len(self.chance) == len(self.labelled) <= self.waiting:
            raise CalibrationError("misaligned", "a batch needs a chance and a mark for each topic, and enough waiting")
        if not ((self.chance > 0) & (self.chance <= 1)).all():
            raise CalibrationError("bad_number", "a topic's chance of being drawn lies above 0 and is at most 1")


def inclusion_probabilities(
    deviation: Array, size: int, random_share: float = RANDOM_SHARE, most: float = 1.0
) -> Array:
    """The chance of each topic, shape (topics,), of being among the `size` drawn; they sum to `size`.

    In proportion to what its labels are expected to deviate by (`deviation`, at least 0), which is optimal for a mean
    (Neyman 1934), mixed with `random_share` of a draw in which all are alike, so none is below random_share x size /
    topics. None is above `most`, at least size / topics: what is cut off goes to the others. Raises `bad_number`.
    """
    topics = len(deviation)
    if not 0 <= size <= topics or not 0 < random_share <= 1 or not (deviation >= 0).all():
        raise CalibrationError(
            "bad_number",
            f"{size} of {topics} topics, random share {random_share:g}; draw no more than there are, and mix in some "
            "share above 0",
        )
    if not size:
        return np.zeros(topics)
    most = min(1.0, max(most, size / topics))
    even = random_share * size / topics
    room, left = np.full(topics, most - even), (1 - random_share) * size
    part = deviation if deviation.any() else np.ones(topics)
    return np.minimum(most, even + _filled(part + 1e-9 * part.mean(), room, left))


def _filled(part: Array, room: Array, left: float) -> Array:
    """`left` in proportion to `part`, none above its `room`: those that are full are set aside, and once more."""
    full = np.zeros(len(part), bool)
    while True:
        rest = left - room[full].sum()
        given = np.where(full, room, part * (max(0.0, rest) / part[~full].sum() if (~full).any() else 0.0))
        over = ~full & (given > room)
        if not over.any():
            return given
        full |= over


def systematic_sample(chance: Array, rng: np.random.Generator) -> Codes:
    """Places of the topics drawn, ascending: as many as the chances sum to, each with exactly its own chance.

    One random start on the chances laid end to end in random order. Madow 1949; Hartley & Rao 1962.
    """
    order = rng.permutation(len(chance))
    ends = np.cumsum(chance[order])
    ends *= round(float(ends[-1])) / ends[-1] if len(ends) and ends[-1] > 0 else 1.0  # of rounding nothing is lost
    steps = np.floor(ends - rng.random() + 1e-12)
    return np.sort(order[np.diff(steps, prepend=-1.0) > 0.5])


def most_allowed(sizes: Sequence[int], waiting: Sequence[int]) -> float:
    """The largest chance in the last of these batches with which no topic ever counts less than once."""
    shares = draws.precisions(sizes, waiting)
    return 1.0 if math.isinf(shares[-1]) else shares[-1] / math.fsum(shares)


def draw_batch(
    deviation: Array, size: int, before: Sequence[tuple[int, int]], rng: np.random.Generator,
    random_share: float = RANDOM_SHARE,
) -> tuple[Array, Codes]:  # fmt: skip
    """The chance of each waiting topic, and the places of those drawn: `size` of them, or all that are left.

    `deviation`: as of `inclusion_probabilities`; `before`: size of each earlier batch, and of how many it was drawn.
    """
    size = min(size, len(deviation))
    sizes, waiting = [*(one for one, _ in before), size], [*(one for _, one in before), len(deviation)]
    chance = inclusion_probabilities(deviation, size, random_share, most_allowed(sizes, waiting) if size else 1.0)
    return chance, systematic_sample(chance, rng)


def draw_weights(batches: Sequence[Batch]) -> Array:
    """Weight of each labelled topic, batch after batch, in their order: `plain.draws.draw_weights`."""
    each = draws.draw_weights(
        [draws.Draw(batch.chance.tolist(), batch.labelled.tolist(), batch.waiting) for batch in batches]
    )
    return np.array([weight for batch in each for weight in batch])
