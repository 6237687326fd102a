"""Who labels what: equal loads, nobody an item twice, topics and systems as even as the numbers allow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.designs.pairing import plan_pairs
from annotation.designs.rosters import Place, Work, roster
from annotation.errors import AnnotationError
from tests.annotation.test_pairing import candidates


def places(items: Sequence[Work], overlap: int, first: int = 1) -> list[Place]:
    return [Place(item, slot) for item in range(len(items)) for slot in range(first, overlap + 1)]


def works(design: str, topics: int, systems: int, **amount: int) -> list[Work]:
    pairs = plan_pairs(candidates(topics, systems, reference=design == "reference"), 1, design=design, **amount)
    return [Work(pair.topic, (pair.a.system, pair.b.system)) for pair in pairs]


def singles(topics: int, systems: int) -> list[Work]:
    return [Work(one.topic, (one.system,)) for one in candidates(topics, systems, reference=False)]


def spreads(counts: Counter[Any], people: Iterable[int], names: Iterable[Any]) -> set[int]:
    """For each name by how much the people differ."""
    people = list(people)
    return {max(of) - min(of) for name in set(names) if (of := [counts[person, name] for person in people]) is not None}


KINDS = st.sampled_from(["reference", "singles", "all"])


def made(kind: str, topics: int, systems: int) -> list[Work]:
    return singles(topics, systems) if kind == "singles" else works(kind, topics, systems)


@given(KINDS, st.integers(1, 8), st.integers(2, 5), st.integers(1, 4), st.integers(0, 5), st.integers(0, 99))
def test_loads_topics_and_systems_differ_by_at_most_one_and_nobody_has_an_item_twice(
    kind: str, topics: int, systems: int, overlap: int, spare: int, seed: int
) -> None:
    items, people = made(kind, topics, systems), range(10, 10 + overlap + spare)
    who = roster(items, places(items, overlap), list(people), seed, topic_once=False)
    assert Counter(place.item for place in who) == dict.fromkeys(range(len(items)), overlap)
    assert max(Counter((person, place.item) for place, person in who.items()).values()) == 1
    loads = Counter(who.values())
    assert max(loads[person] for person in people) - min(loads[person] for person in people) <= 1
    topic = Counter((person, items[place.item].topic) for place, person in who.items())
    assert spreads(topic, people, [item.topic for item in items]) <= {0, 1}
    shown = Counter((person, system) for place, person in who.items() for system in items[place.item].systems)
    uneven = spreads(shown, people, [system for item in items for system in item.systems])
    # exact where an item shows one system beside what every item shows; with two, within what exchanges reach
    assert uneven <= ({0, 1} if kind != "all" or systems == 2 else {0, 1, 2, 3})
    assert who == roster(items, places(items, overlap), list(people)[::-1], seed, topic_once=False)


@given(KINDS, st.integers(1, 10), st.integers(1, 3), st.integers(0, 3), st.integers(0, 99))
def test_with_as_many_people_as_a_topic_has_labels_nobody_sees_a_topic_twice(
    kind: str, topics: int, overlap: int, spare: int, seed: int
) -> None:
    items = made(kind, topics, 3)
    most = max(Counter(item.topic for item in items).values()) * overlap
    who = roster(items, places(items, overlap), range(most + spare), seed)
    assert max(Counter((person, items[place.item].topic) for place, person in who.items()).values()) == 1
    with pytest.raises(AnnotationError, match=rf"{most} labels in all.* invite 1 more") as caught:
        roster(items, places(items, overlap), range(most - 1), seed)
    assert caught.value.code == "too_few_people"


@given(st.integers(1, 6), st.integers(1, 2), st.integers(3, 5), st.data())
def test_what_was_given_stays_given_and_the_rest_is_shared_out_around_it(
    topics: int, overlap: int, people: int, data: st.DataObject
) -> None:
    items = works("all", topics, 3)
    first = roster(items, places(items, overlap), range(people), 1, topic_once=False)
    kept = data.draw(st.sets(st.sampled_from(sorted(first))))
    given_before = {place: first[place] for place in kept}
    wanted = places(items, overlap + 1)
    who = roster(items, wanted, range(people), 2, topic_once=False, given=given_before)
    assert {place: who[place] for place in kept} == given_before
    assert set(who) == set(wanted)
    assert max(Counter((person, place.item) for place, person in who.items()).values()) == 1


@given(st.integers(2, 6), st.integers(1, 2), st.integers(0, 50))
def test_raising_the_overlap_keeps_loads_equal(topics: int, overlap: int, seed: int) -> None:
    items, people = works("reference", topics, 4), range(overlap + 3)
    first = roster(items, places(items, overlap), people, seed, topic_once=False)
    who = roster(items, places(items, overlap + 1), people, seed, topic_once=False, given=first)
    loads = Counter(who.values())
    assert max(loads.values()) - min(loads.values()) <= 1


def test_two_hundred_and_ten_topics_of_three_labels_by_seven_people() -> None:
    items = works("balanced", 210, 5, per_topic=1)
    who = roster(items, places(items, 3), range(7), 42)
    assert Counter(who.values()) == dict.fromkeys(range(7), 90)
    shown = Counter((person, system) for place, person in who.items() for system in items[place.item].systems)
    assert spreads(shown, range(7), [f"s{k:02d}" for k in range(5)]) <= {0, 1, 2}
    together = Counter(
        frozenset((who[Place(item, one)], who[Place(item, other)]))
        for item in range(210)
        for one, other in ((1, 2), (1, 3), (2, 3))
    )
    assert len(together) == 21, "every two people share items, so that their agreement can be told"


def test_ten_pairs_of_five_people_each_seen_by_one_or_by_all() -> None:
    items = works("reference", 10, 11, total=10)
    alone = roster(items, places(items, 1), range(5), 7)
    assert Counter(alone.values()) == dict.fromkeys(range(5), 2)
    shared = roster(items, places(items, 5), range(5), 7)
    assert Counter((person, place.item) for place, person in shared.items()) == {
        (person, item): 1 for person in range(5) for item in range(10)
    }


@pytest.mark.parametrize(
    ("overlap", "people", "said"),
    [
        (3, 2, "one item takes 3 different annotators and 2 are active; invite 1 more, or lower --overlap"),
        (1, 1, "topic 't00' has 2 items with 2 labels in all, nobody is to see a topic twice, and 1 is active"),
    ],
)
def test_what_the_people_cannot_cover_is_refused_with_the_numbers(overlap: int, people: int, said: str) -> None:
    items = singles(1, 2)
    with pytest.raises(AnnotationError, match=said):
        roster(items, places(items, overlap), range(people), 1)


def test_people_who_all_hold_an_item_already_are_not_given_it_again() -> None:
    items = [Work("t", ("a",)), Work("t", ("b",))]
    held = {Place(0, 1): 1, Place(0, 2): 2, Place(1, 1): 9}  # the last is no longer active
    with pytest.raises(AnnotationError, match="invite one more person"):
        roster(items, [Place(0, 3)], [1, 2], 1, given=held, topic_once=False)


def test_the_draw_depends_on_the_seed() -> None:
    items = works("reference", 12, 4)
    one, other = (roster(items, places(items, 2), range(5), seed, topic_once=False) for seed in (1, 2))
    assert one != other
