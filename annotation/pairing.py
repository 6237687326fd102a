"""Which reports form items, which of a pair is called A, and who stands left: seeded, balanced, and pure."""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from annotation.errors import AnnotationError

Group = TypeVar("Group", bound=tuple["Candidate", ...])


@dataclass(frozen=True)
class Candidate:
    """A report that may enter an item. `report`, `topic`, `system` are any stable names."""

    report: int
    topic: str
    system: str
    is_reference: bool = False


@dataclass(frozen=True)
class Pair:
    """Two reports on one topic; `a` and `b` were named by a coin."""

    topic: str
    a: Candidate
    b: Candidate


@dataclass(frozen=True)
class Single:
    """One report to be rated by itself; `reference` is shown beside it and not rated."""

    topic: str
    report: Candidate
    reference: Candidate | None = None


@dataclass(frozen=True)
class Slot:
    """A place for one annotator: item number (in the plan's order), slot number from 1, and who stands left."""

    item: int
    slot_no: int
    left: str | None  # "A" or "B"; None where the item is no pair


def seeded(*identity: object) -> random.Random:
    """Randomness by identity, not by luck: the same names give the same draw on every machine and every day."""
    digest = hashlib.sha256("|".join(map(str, identity)).encode()).digest()
    return random.Random(int.from_bytes(digest[:8], "big"))


def plan_pairs(
    candidates: Iterable[Candidate], seed: int, *, design: str = "reference", per_topic: int | None = None
) -> list[Pair]:
    """Pairs on each topic: every system against the reference, or all systems against each other.

    `per_topic` draws that many of a topic's pairs, balanced over systems as far as the numbers allow.
    Raises AnnotationError where a topic has no reference, or nothing can be paired.
    """
    by_topic = _by_topic(candidates)
    possible = {topic: _possible(reports, topic, design) for topic, reports in by_topic.items()}
    pairs = [name_pair(seed, first, second) for first, second in _drawn(possible, seed, "pairs", per_topic)]
    if not pairs:
        raise AnnotationError("nothing_to_pair", "no topic has two reports to compare; import more, or change --design")
    return sorted(pairs, key=lambda pair: (pair.topic, sorted((pair.a.system, pair.b.system))))


def plan_singles(
    candidates: Iterable[Candidate], seed: int, *, per_topic: int | None = None, beside_reference: bool = False
) -> list[Single]:
    """Every report by itself; with `beside_reference` every other one beside its topic's reference.

    `per_topic` draws that many of a topic's reports, balanced over systems as far as the numbers allow.
    Raises AnnotationError where a topic has not exactly one reference to show, or nothing can be rated.
    """
    by_topic = _by_topic(candidates)
    references: dict[str, Candidate] = {}
    if beside_reference:
        references = {topic: _only_reference(reports, topic) for topic, reports in by_topic.items()}
    possible = {
        topic: [(report,) for report in reports if report != references.get(topic)]
        for topic, reports in by_topic.items()
    }
    singles = [
        Single(report.topic, report, references.get(report.topic))
        for (report,) in _drawn(possible, seed, "singles", per_topic)
    ]
    if not singles:
        raise AnnotationError("nothing_to_rate", "no topic has a report to rate; import some first")
    return sorted(singles, key=lambda single: (single.topic, single.report.system))


def name_pair(seed: int, first: Candidate, second: Candidate) -> Pair:
    """Call one report A and the other B by a coin that depends on the study's seed and the two names, nothing else.

    If A were always the strong system, kappa of the same raters at agreement .82 would be .39 instead of .64.
    """
    one, other = sorted((first, second), key=lambda c: c.system)
    heads = seeded(seed, "coin", one.topic, one.system, other.system).random() < 0.5
    return Pair(one.topic, one, other) if heads else Pair(one.topic, other, one)


def plan_sides(pairs: Sequence[Pair], overlap: int, seed: int, standing: Sequence[Collection[int]] = ()) -> list[Slot]:
    """Who stands left in each of `overlap` slots a pair: every system is left as often as right, give or take one.

    `standing` names the slot numbers each pair has already: only the others are planned, and what stands never changes.
    All slots are edges between systems, oriented along an Euler tour; odd vertices are joined to a dummy vertex.
    """
    have = list(standing) or [()] * len(pairs)
    wanted = [(n, k) for n in range(len(pairs)) for k in range(1, overlap + 1) if k not in have[n]]
    seeded(seed, "sides", sum(map(len, have))).shuffle(wanted)
    is_a_left = orient([(pairs[n].a.system, pairs[n].b.system) for n, _ in wanted])
    slots = [
        Slot(item=n, slot_no=slot_no, left="A" if a_left else "B")
        for (n, slot_no), a_left in zip(wanted, is_a_left, strict=True)
    ]
    return sorted(slots, key=lambda slot: (slot.item, slot.slot_no))


def plan_alone(overlap: int, standing: Sequence[Collection[int]]) -> list[Slot]:
    """The slots that items without sides still lack, `overlap` each; `standing` names those each one has."""
    return [Slot(n, k, None) for n, have in enumerate(standing) for k in range(1, overlap + 1) if k not in have]


def orient(edges: Sequence[tuple[str, str]]) -> list[bool]:
    """For each edge whether its first end is the tail, with |out - in| <= 1 at every vertex (Euler 1736)."""
    ends: list[tuple[str | None, str | None]] = list(edges)
    degree: dict[str, int] = defaultdict(int)
    for one, other in edges:
        degree[one] += 1
        degree[other] += 1
    ends += [(vertex, None) for vertex in sorted(degree) if degree[vertex] % 2]  # None is the dummy vertex
    at: dict[str | None, list[int]] = defaultdict(list)
    for k, (one_end, other_end) in enumerate(ends):
        at[one_end].append(k)
        at[other_end].append(k)
    is_used = [False] * len(ends)
    tail_first = [True] * len(ends)
    for start in list(at):
        # every vertex has even degree now, so each walk ends where it began and passes in and out equally often
        vertex = start
        while edge := _next_edge(at[vertex], is_used):
            k = edge - 1
            is_used[k] = True
            tail_first[k] = ends[k][0] == vertex
            vertex = ends[k][1] if tail_first[k] else ends[k][0]
    return tail_first[: len(edges)]


def side_counts(pairs: Sequence[Pair], slots: Iterable[Slot]) -> Mapping[str, tuple[int, int]]:
    """(left, right) of every system over all slots, for the printed plan."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for slot in slots:
        pair = pairs[slot.item]
        left, right = (pair.a, pair.b) if slot.left == "A" else (pair.b, pair.a)
        counts[left.system][0] += 1
        counts[right.system][1] += 1
    return {system: (left, right) for system, (left, right) in sorted(counts.items())}


def _by_topic(candidates: Iterable[Candidate]) -> dict[str, list[Candidate]]:
    by_topic: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in sorted(candidates, key=lambda c: (c.topic, c.system)):
        by_topic[candidate.topic].append(candidate)
    return by_topic


def _drawn(possible: Mapping[str, Sequence[Group]], seed: int, what: str, per_topic: int | None) -> Iterator[Group]:
    """`per_topic` of each topic's groups (all where None), those of the systems used least so far first."""
    used: dict[str, int] = defaultdict(int)
    topics = sorted(possible)
    seeded(seed, "topics").shuffle(topics)
    for topic in topics:
        groups = list(possible[topic])
        # shuffled, then fewest-used systems first: min takes the first among equals, so the coin decides
        seeded(seed, what, topic).shuffle(groups)
        wanted = len(groups) if per_topic is None else min(per_topic, len(groups))
        for _ in range(wanted):
            group = min(groups, key=lambda group: sum(used[report.system] for report in group))
            groups.remove(group)
            for report in group:
                used[report.system] += 1
            yield group


def _only_reference(reports: Sequence[Candidate], topic: str) -> Candidate:
    references = [report for report in reports if report.is_reference]
    if len(references) != 1:
        raise AnnotationError(
            "no_reference",
            f"topic {topic!r} has {len(references)} reference reports, and one is to be shown beside each report; "
            "mark one system in systems.csv, or set paired_view = 'none'",
        )
    return references[0]


def _possible(reports: list[Candidate], topic: str, design: str) -> list[tuple[Candidate, Candidate]]:
    if design == "all":
        return [(one, other) for k, one in enumerate(reports) for other in reports[k + 1 :]]
    if design == "reference":
        references = [report for report in reports if report.is_reference]
        if not references:
            raise AnnotationError(
                "no_reference",
                f"topic {topic!r} has no reference report; mark a system in systems.csv, or use --design all",
            )
        return [(reference, other) for reference in references for other in reports if not other.is_reference]
    raise AnnotationError("bad_design", f"no design called {design!r}; use reference or all")


def _next_edge(edges: list[int], is_used: list[bool]) -> int:
    """Number + 1 of an unused edge at this vertex, 0 when there is none; used ones are dropped on the way."""
    while edges:
        k = edges.pop()
        if not is_used[k]:
            return k + 1
    return 0
