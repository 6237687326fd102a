"""A balanced incomplete block design: who meets whom on which topic, everybody equally often, give or take one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

Two = tuple[int, int]


def meetings(players: int) -> Iterator[Two]:
    """Every two of 0 .. players - 1 once, in an order any prefix of which is balanced: appearances differ by <= 1.

    Even: the rounds of a tournament by the circle method (Kirkman 1847). Odd: the Hamiltonian cycles of Walecki
    (Lucas 1883), each walked by every other edge, which is twice around: once past each player, then once more.
    """
    last = players - 1
    if players % 2 == 0:
        for turn in range(last):
            yield turn, last
            yield from (((turn + k) % last, (turn - k) % last) for k in range(1, players // 2))
        return
    for turn in range(last // 2):
        zigzag = [(turn + (k + 1) // 2 * (-1) ** (k + 1)) % last for k in range(last)]  # +0, +1, -1, +2, -2 ...
        cycle = [last, *zigzag]
        yield from ((cycle[2 * k % players], cycle[(2 * k + 1) % players]) for k in range(players))


def round_robin(names: Sequence[str], wanted: Mapping[str, int]) -> dict[str, list[tuple[str, str]]]:
    """`wanted[topic]` meetings on each topic, in the order of both, none twice on one topic.

    Over all topics any two meet equally often and each appears equally often, give or take one: the topics cut one
    endless repetition of `meetings` into pieces.
    """
    order = [(names[one], names[other]) for one, other in meetings(len(names))]
    found, at = {}, 0
    for topic, count in wanted.items():
        found[topic] = [order[k % len(order)] for k in range(at, at + min(count, len(order)))]
        at += len(found[topic])
    return found


def least_met(
    possible: Mapping[str, Sequence[tuple[str, str]]],
    wanted: Mapping[str, int],
    standing: Mapping[str, Sequence[tuple[str, str]]],
) -> dict[str, list[tuple[str, str]]]:
    """The same where reports are missing or pairs stand: topic by topic whoever met least, then whoever appeared least.

    `standing` counts towards `wanted` and comes first. Two names are in the same order wherever they stand.
    """
    met, seen = Counter(two for pairs in standing.values() for two in pairs), Counter[str]()
    for two, times in met.items():
        seen.update(dict.fromkeys(two, times))
    found = {}
    for topic, count in wanted.items():
        found[topic] = list(standing.get(topic, ()))
        open_ = [two for two in possible[topic] if two not in found[topic]]
        while open_ and len(found[topic]) < count:
            best = min(open_, key=lambda two: (met[two], seen[two[0]] + seen[two[1]]))
            open_.remove(best)
            found[topic].append(best)
            met[best] += 1
            seen.update(best)
    return found
