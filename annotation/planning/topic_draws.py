"""How many items each topic gives: some of each, some topics of a category, or so many in all."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping

Draw = Callable[..., random.Random]  # names -> the randomness that belongs to them


def topics_drawn(
    category_of: Mapping[str, str], draw: Draw, per_category: int | None, kept: Mapping[str, int]
) -> list[str]:
    """`per_category` topics of each category (all where None), sorted; those that have items (`kept`) come first.

    A category with fewer gives all it has. What stands stays, so a lower number than before drops no topic.
    """
    if per_category is None:
        return sorted(category_of)
    members: dict[str, list[str]] = defaultdict(list)
    for topic in sorted(category_of):
        members[category_of[topic]].append(topic)
    drawn = []
    for category, topics in members.items():
        draw("category", category).shuffle(topics)
        topics.sort(key=lambda topic: not kept.get(topic))
        drawn += topics[: max(per_category, sum(bool(kept.get(topic)) for topic in topics))]
    return sorted(drawn)


def items_each(
    room: Mapping[str, int],
    category_of: Mapping[str, str],
    draw: Draw,
    *,
    per_topic: int | None,
    total: int | None,
    kept: Mapping[str, int],
) -> dict[str, int]:
    """topic -> items: `per_topic` each, `total` in all, or as many as there is `room` for; never fewer than `kept`.

    With `total` topics differ by at most one where there is room, and the last round goes to the categories that have
    least so far.
    """
    if total is None:
        return {topic: max(min(per_topic or room[topic], room[topic]), kept.get(topic, 0)) for topic in room}
    order = sorted(room)
    draw("total").shuffle(order)
    rank = {topic: place for place, topic in enumerate(order)}
    count = {topic: kept.get(topic, 0) for topic in room}
    in_category = Counter({category_of[topic]: 0 for topic in room})
    for topic, have in count.items():
        in_category[category_of[topic]] += have
    for _ in range(total - sum(count.values())):
        free = [topic for topic in room if count[topic] < room[topic]]
        if not free:
            break
        best = min(free, key=lambda topic: (count[topic], in_category[category_of[topic]], rank[topic]))
        count[best] += 1
        in_category[category_of[best]] += 1
    return count
