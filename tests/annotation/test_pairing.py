"""Pairs, names and sides: seeded, reproducible, balanced."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.errors import AnnotationError
from annotation.pairing import Candidate, name_pair, orient, plan_pairs, plan_sides, side_counts


def candidates(topics: int = 12, systems: int = 11, reference: bool = True) -> list[Candidate]:
    names = [f"s{k:02d}" for k in range(systems)] + (["wiki"] if reference else [])
    return [
        Candidate(report=100 * t + k, topic=f"t{t:02d}", system=name, is_reference=name == "wiki")
        for t in range(topics)
        for k, name in enumerate(names)
    ]


def test_every_system_meets_the_reference_on_every_topic() -> None:
    pairs = plan_pairs(candidates(), seed=1)
    assert len(pairs) == 132
    assert all({pair.a.is_reference, pair.b.is_reference} == {True, False} for pair in pairs)


def test_all_pairs_of_a_topic() -> None:
    assert len(plan_pairs(candidates(3, 4, reference=False), seed=1, design="all")) == 3 * 6


@pytest.mark.parametrize("seed", range(5))
def test_one_pair_a_topic_uses_the_systems_evenly(seed: int) -> None:
    pairs = plan_pairs(candidates(), seed=seed, per_topic=1)
    uses = Counter(report.system for pair in pairs for report in (pair.a, pair.b) if not report.is_reference)
    assert len(pairs) == 12
    assert set(uses.values()) <= {1, 2}


def test_the_same_seed_gives_the_same_plan_whatever_the_order_of_the_input() -> None:
    there, back = candidates(), candidates()[::-1]
    assert plan_pairs(there, seed=3, per_topic=2) == plan_pairs(back, seed=3, per_topic=2)
    assert plan_pairs(there, seed=3, per_topic=2) != plan_pairs(there, seed=4, per_topic=2)


def test_who_is_called_a_is_a_fair_coin_that_knows_nothing_of_strength() -> None:
    pairs = plan_pairs(candidates(topics=40), seed=5)
    called_a = sum(pair.a.is_reference for pair in pairs)
    assert 0.42 < called_a / len(pairs) < 0.58


def test_the_coin_does_not_depend_on_who_comes_first() -> None:
    one, other = candidates()[:2]
    assert name_pair(9, one, other) == name_pair(9, other, one)


@pytest.mark.parametrize(
    ("reports", "design", "code"),
    [
        (candidates(2, 2, reference=False), "reference", "no_reference"),
        (candidates(1, 1, reference=False), "all", "nothing_to_pair"),
        (candidates(1, 2), "nonsense", "bad_design"),
    ],
)
def test_what_cannot_be_paired_is_refused_with_the_remedy(reports: list, design: str, code: str) -> None:
    with pytest.raises(AnnotationError) as caught:
        plan_pairs(reports, seed=1, design=design)
    assert caught.value.code == code


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
