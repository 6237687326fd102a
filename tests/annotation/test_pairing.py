"""Which pairs are drawn, and which report is called A: seeded, reproducible, balanced, and never taken back."""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.designs.pairing import DESIGNS, Candidate, Pair, meetings, name_pair, plan_pairs, plan_singles
from annotation.designs.sides_and_orders import plan_sides
from annotation.errors import AnnotationError


def candidates(topics: int = 12, systems: int = 11, reference: bool = True) -> list[Candidate]:
    names = [f"s{k:02d}" for k in range(systems)] + (["wiki"] if reference else [])
    return [
        Candidate(100 * t + k, f"t{t:02d}", name, is_reference=name == "wiki", category=f"c{t % 3}")
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
        (candidates(2, 2), "balanced", "bad_design"),
    ],
)
def test_what_cannot_be_paired_is_refused_with_the_remedy(reports: list, design: str, code: str) -> None:
    with pytest.raises(AnnotationError) as caught:
        plan_pairs(reports, seed=1, design=design)
    assert caught.value.code == code


def used(pairs: list[Pair]) -> Counter[str]:
    return Counter(report.system for pair in pairs for report in (pair.a, pair.b))


def met(pairs: list[Pair]) -> Counter[frozenset[str]]:
    return Counter(frozenset((pair.a.system, pair.b.system)) for pair in pairs)


def reports(pairs: list[Pair]) -> set[frozenset[int]]:
    return {frozenset((pair.a.report, pair.b.report)) for pair in pairs}


def spread(counts: Any) -> int:
    return max(counts) - min(counts)


@pytest.mark.parametrize(
    ("design", "per_topic", "digest"),
    [
        ("reference", None, "b4cff7755e31"),
        ("reference", 1, "20df18bdf591"),
        ("reference", 3, "c9167ed9bac1"),
        ("all", None, "9fcecc20e6ce"),
        ("all", 1, "78e6bb32dd51"),
        ("all", 3, "bde655676458"),
    ],
)
def test_what_a_seed_drew_in_the_first_version_it_draws_for_ever(
    design: str, per_topic: int | None, digest: str
) -> None:
    pairs = plan_pairs(candidates(), seed=3, design=design, per_topic=per_topic)
    drawn = [f"{pair.topic} {pair.a.system} {pair.b.system}" for pair in pairs]
    drawn += [f"{slot.item} {slot.slot_no} {slot.left}" for slot in plan_sides(pairs, 2, 3)]
    names, sides = "\n".join(drawn[: len(pairs)]), "\n".join(drawn[len(pairs) :])
    assert hashlib.sha256((names + sides).encode()).hexdigest()[:12] == digest


@pytest.mark.parametrize("players", range(2, 15))
def test_after_any_number_of_meetings_all_appeared_equally_often(players: int) -> None:
    order = list(meetings(players))
    assert sorted(tuple(sorted(two)) for two in order) == list(combinations(range(players), 2))
    seen = Counter(dict.fromkeys(range(players), 0))
    for two in order:
        seen.update(two)
        assert spread(seen.values()) <= 1


@given(st.integers(1, 40), st.integers(2, 9), st.integers(1, 3), st.booleans(), st.integers(0, 1000))
def test_in_a_balanced_design_any_two_systems_meet_equally_often_and_each_appears_equally_often(
    topics: int, systems: int, per_topic: int, in_all: bool, seed: int
) -> None:
    possible = systems * (systems - 1) // 2
    each = min(per_topic, possible)
    # in all: some topics give one pair more than others
    wanted = min(topics * each + topics // 2, topics * possible) if in_all else topics * each
    amount: dict[str, int] = {"total": wanted} if in_all else {"per_topic": per_topic}
    there = candidates(topics, systems, reference=False)
    pairs = plan_pairs(there, seed, design="balanced", **amount)
    names = [f"s{k:02d}" for k in range(systems)]
    meetings_of, uses = met(pairs), used(pairs)
    assert len(reports(pairs)) == len(pairs) == wanted
    assert spread([meetings_of[frozenset(two)] for two in combinations(names, 2)]) <= 1
    assert spread([uses[name] for name in names]) <= 1
    assert spread(Counter(pair.topic for pair in pairs).values()) <= 1
    assert pairs == plan_pairs(there[::-1], seed, design="balanced", **amount)


@given(st.integers(2, 12), st.integers(3, 6), st.sets(st.integers(0, 71)), st.integers(0, 1000))
def test_where_reports_are_missing_the_least_met_pair_that_exists_comes_first(
    topics: int, systems: int, missing: set[int], seed: int
) -> None:
    there = [one for n, one in enumerate(candidates(topics, systems, reference=False)) if n not in missing]
    room = {topic: n * (n - 1) // 2 for topic, n in Counter(one.topic for one in there).items()}
    if not any(room.values()):
        return
    pairs = plan_pairs(there, seed, design="balanced", per_topic=2)
    counts = Counter(pair.topic for pair in pairs)
    assert {topic: counts[topic] for topic in room} == {topic: min(2, n) for topic, n in room.items()}
    assert {pair.a.report for pair in pairs} | {pair.b.report for pair in pairs} <= {one.report for one in there}
    assert pairs == plan_pairs(there[::-1], seed, design="balanced", per_topic=2)


@given(st.sampled_from(DESIGNS), st.integers(1, 4), st.integers(1, 60), st.integers(0, 1000))
def test_so_many_in_all_are_spread_over_topics_categories_and_systems(
    design: str, per_category: int, total: int, seed: int
) -> None:
    there = candidates(topics=12, systems=5)  # three categories of four topics, five systems and the reference
    pairs = plan_pairs(there, seed, design=design, total=total, per_category=per_category)
    chosen = {topic for topic, n in Counter(pair.topic for pair in pairs).items() if n}
    per_topic = Counter(pair.topic for pair in pairs)
    room = 3 * per_category * (5 if design == "reference" else 15)
    assert len(reports(pairs)) == len(pairs) == min(total, room)
    assert len(chosen) == min(total, 3 * per_category)
    assert spread(per_topic.values()) <= 1
    categories = Counter(pair.a.category for pair in pairs)
    assert spread([categories[f"c{n}"] for n in range(3)]) <= 1
    if design == "reference":
        uses = used(pairs)
        assert spread([uses[f"s{k:02d}"] for k in range(5)]) <= 1


@given(st.sampled_from(DESIGNS), st.integers(1, 3), st.integers(0, 3), st.booleans(), st.integers(0, 1000))
def test_asking_for_more_only_adds_and_asking_again_changes_nothing(
    design: str, few: int, more: int, in_all: bool, seed: int
) -> None:
    def plan(amount: int, standing: set[frozenset[int]], topics: int = 6) -> set[frozenset[int]]:
        asked: dict[str, int] = {"total": 6 * amount} if in_all else {"per_topic": amount}
        return reports(plan_pairs(candidates(topics, 4), seed, design=design, standing=standing, **asked))

    first = plan(few, set())
    assert plan(few, first) == first
    assert plan(few + more, first) >= first
    assert len(plan(few + more, first)) == 6 * min(few + more, 4 if design == "reference" else 10)
    assert plan(few, first, topics=9) >= first


def test_reports_that_serve_another_purpose_never_enter_a_plan() -> None:
    everything = plan_pairs(candidates(2, 3), 1, design="all")
    barred = reports(everything[:5])
    assert reports(plan_pairs(candidates(2, 3), 1, design="all", barred=barred)) == reports(everything) - barred
    singles = plan_singles(candidates(2, 3), 1, barred=[frozenset({0})])
    assert {single.report.report for single in singles} == {1, 2, 3, 100, 101, 102, 103}


def test_so_many_a_topic_and_so_many_in_all_exclude_each_other() -> None:
    with pytest.raises(AnnotationError, match="exclude each other"):
        plan_pairs(candidates(), 1, per_topic=1, total=10)
