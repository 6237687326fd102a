"""For how many topics a topic counts that was drawn in a batch with a known probability."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Draw:
    """A batch of topics. `chances`: of each, given the batches before it; `waiting`: of how many it was drawn.

    `labelled`: which of them people have labelled by now. Of a batch labelled in part those that are count as a random
    part of it, for its work is given out in random order.
    """

    chances: Sequence[float]
    labelled: Sequence[bool]
    waiting: int


def precisions(sizes: Sequence[int], waiting: Sequence[int]) -> list[float]:
    """1 / variance of each batch's total, up to a factor, if it were drawn at random: what batches are weighed by.

    n / (N (N - n)) of n topics drawn from N, infinite where all are drawn: known before the batch is. With chances that
    are all alike every topic so gets one weight.
    """
    return [
        0.0 if not n else math.inf if n >= of else n / (of * (of - n)) for n, of in zip(sizes, waiting, strict=True)
    ]


def draw_weights(draws: Sequence[Draw]) -> list[list[float]]:
    """Weight of each labelled topic, draw by draw: for how many topics it counts; at least 1.

    Given all before it, the topics labelled earlier and each new one times 1 / chance are an unbiased total of all; the
    batches' totals are averaged by `precisions`. So a topic counts its batch's share / chance, and 1 for each later
    one's share, both enlarged where only a part of its batch is labelled. Des Raj 1956; for batches that learn from
    labels Zrnic & Candès 2024.
    """
    sizes = [sum(draw.labelled) for draw in draws]
    shares = precisions(sizes, [draw.waiting for draw in draws])
    if math.inf in shares:  # nobody is left
        return [[len(draw.chances) / size] * size for draw, size in zip(draws, sizes, strict=True)]
    whole, found, later = math.fsum(shares), [], 0.0
    for draw, share in zip(reversed(draws), reversed(shares), strict=True):
        inverse = [1 / chance for chance in draw.chances]
        kept = [one for one, is_labelled in zip(inverse, draw.labelled, strict=True) if is_labelled]
        part = len(inverse) / len(kept) if kept else 0.0  # the batch by its labelled topics, also in later totals
        found.append([max(1.0, part * (share * one + later) / whole) for one in kept])
        later += share
    return found[::-1]
