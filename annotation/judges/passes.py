"""In which order a judge sees each pair, and which criteria go into one call. Pure; seeded by identity."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from annotation.planning.sides import OTHER
from annotation.protocol_parts import Batching, Order

T = TypeVar("T")


@dataclass(frozen=True)
class Pass:
    """One pass of a judge over an item; `left` is the report shown first, None where nothing is paired."""

    pass_no: int
    repeat_no: int
    left: str | None


def plan_passes(order: Order, repeats: int, first: str) -> tuple[Pass, ...]:
    """The passes over one pair whose first pass shows `first`. `both` swaps the sides within every repeat."""
    if order == "both":
        return tuple(
            Pass(2 * repeat - 1 + swapped, repeat, OTHER[first] if swapped else first)
            for repeat in range(1, repeats + 1)
            for swapped in (0, 1)
        )
    return tuple(Pass(repeat, repeat, first) for repeat in range(1, repeats + 1))


def draw_first(items: Iterable[int], *, seed: int, judge: str, standing: Mapping[int, str]) -> dict[int, str]:
    """A coin per item that says which report comes first, A and B equally often (within one).

    The coin depends on seed, judge and item. What stands is kept and counted, so items added later restore the balance.
    """
    drawn = dict(standing)
    count = {side: sum(first == side for first in standing.values()) for side in ("A", "B")}
    coins = {item: hashlib.sha256(f"{seed}|{judge}|{item}".encode()).digest() for item in items if item not in standing}
    for item in sorted(coins, key=lambda item: coins[item]):
        if count["A"] == count["B"]:
            side = "A" if coins[item][-1] % 2 else "B"
        else:
            side = min(count, key=lambda side: count[side])
        drawn[item] = side
        count[side] += 1
    return drawn


def batches(criteria: Sequence[T], categories: Sequence[str], batching: Batching) -> list[tuple[T, ...]]:
    """The criteria of each call, in page order: all, one category at a time, or one at a time."""
    if batching == "all":
        return [tuple(criteria)] if criteria else []
    if batching == "one_criterion":
        return [(criterion,) for criterion in criteria]
    grouped: dict[str, list[T]] = {}
    for criterion, category in zip(criteria, categories, strict=True):
        grouped.setdefault(category, []).append(criterion)
    return [tuple(group) for group in grouped.values()]
