"""Who stands left: as often as right, for each system, and in a roster for each person and system."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from annotation.designs.pairing import plan_pairs
from annotation.designs.sides_and_orders import orient, orient_for, plan_sides, side_counts
from tests.annotation.test_pairing import candidates


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh")).filter(lambda e: e[0] != e[1]), max_size=80
    )
)
def test_every_vertex_goes_out_as_often_as_in_give_or_take_one(edges: list[tuple[str, str]]) -> None:
    lean: Counter[str] = Counter()
    for (one, other), one_is_tail in zip(edges, orient(edges), strict=True):
        lean[one] += 1 if one_is_tail else -1
        lean[other] -= 1 if one_is_tail else -1
    assert all(abs(value) <= 1 for value in lean.values())


@given(st.integers(1, 4), st.integers(0, 10_000), st.sampled_from(["reference", "all"]))
def test_every_system_stands_left_as_often_as_right(overlap: int, seed: int, design: str) -> None:
    pairs = plan_pairs(candidates(5, 4), seed=seed, design=design)
    slots = plan_sides(pairs, overlap, seed)
    assert Counter(slot.item for slot in slots) == dict.fromkeys(range(len(pairs)), overlap)
    assert all(abs(left - right) <= 1 for left, right in side_counts(pairs, slots).values())


def test_raising_the_overlap_adds_slots_and_leaves_the_old_ones_alone() -> None:
    pairs = plan_pairs(candidates(5, 4), seed=1)
    more = plan_sides(pairs, 3, seed=1, standing=[{1, 2}] * len(pairs))
    assert {slot.slot_no for slot in more} == {3}
    assert len(more) == len(pairs)


EDGES = st.tuples(st.integers(1, 4), st.sampled_from("abcdef"), st.sampled_from("abcdef")).filter(
    lambda edge: edge[1] != edge[2]
)


@given(st.lists(EDGES, max_size=60))
def test_no_system_leans_for_any_person_nor_for_all_together(edges: list[tuple[int, str, str]]) -> None:
    lean: Counter[tuple[int, str]] = Counter()
    for (person, one, other), one_is_left in zip(edges, orient_for(edges), strict=True):
        lean[person, one] += 1 if one_is_left else -1
        lean[person, other] -= 1 if one_is_left else -1
    assert all(abs(value) <= 1 for value in lean.values())
    assert all(abs(sum(n for (_, name), n in lean.items() if name == system)) <= 1 for system in "abcdef")
