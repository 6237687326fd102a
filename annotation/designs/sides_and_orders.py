"""In what order reports and questions are shown: which report is on the left, balanced, and each rater's criteria."""

import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from sqlalchemy.orm import Session

from annotation.designs.pairing import Pair, seeded
from annotation.studies import criteria_of, protocol_of
from db.tables import Study

OTHER = {"A": "B", "B": "A"}  # who stands right of the one that stands left
Vertex = TypeVar("Vertex", str, tuple[int, str])  # a system, or a system as one person meets it


@dataclass(frozen=True)
class Slot:
    """A place for one annotator: item number (in the plan's order), slot number from 1, and who stands left."""

    item: int
    slot_no: int
    left: str | None  # "A" or "B"; None where the item is no pair
    reserved_for: int | None = None  # the one person who may take it; None: whoever comes


def plan_sides(pairs: Sequence[Pair], overlap: int, seed: int, standing: Sequence[Collection[int]] = ()) -> list[Slot]:
    """Who stands left in each of `overlap` slots a pair: every system is left as often as right, give or take one.

    `standing` names the slot numbers each pair has already: only the others are planned; what is there never changes.
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


def orient(edges: Sequence[tuple[Vertex, Vertex]]) -> list[bool]:
    """For each edge whether its first end is the tail, with |out - in| <= 1 at every vertex (Euler 1736)."""
    ends: list[tuple[Vertex | None, Vertex | None]] = list(edges)
    ends += [(vertex, None) for vertex in _odd(edges)]  # None is the dummy vertex
    at: dict[Vertex | None, list[int]] = defaultdict(list)
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


def orient_for(edges: Sequence[tuple[int, str, str]]) -> list[bool]:
    """The same for edges (person, one, other): |left - right| <= 1 for a system of one person, and of all together.

    A vertex is a system as one person meets it. Two people who meet a system oddly often are linked at it: what leans
    left for the one leans right for the other, so at most one of a system's vertices is left for the dummy.
    """
    met = [((person, one), (person, other)) for person, one, other in edges]
    odd: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for vertex in _odd(met):
        odd[vertex[1]].append(vertex)
    links = [two for alike in odd.values() for two in zip(alike[::2], alike[1::2], strict=False)]
    return orient([*met, *links])[: len(met)]


def side_counts(pairs: Sequence[Pair], slots: Iterable[Slot]) -> Mapping[str, tuple[int, int]]:
    """(left, right) of every system over all slots, for the printed plan."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for slot in slots:
        pair = pairs[slot.item]
        left, right = (pair.a, pair.b) if slot.left == "A" else (pair.b, pair.a)
        counts[left.system][0] += 1
        counts[right.system][1] += 1
    return {system: (left, right) for system, (left, right) in sorted(counts.items())}


def _odd(edges: Iterable[tuple[Vertex, Vertex]]) -> list[Vertex]:
    """The vertices that an odd number of edges end at, in order."""
    degree: dict[Vertex, int] = defaultdict(int)
    for edge in edges:
        for end in edge:
            degree[end] += 1
    return sorted(vertex for vertex in degree if degree[vertex] % 2)


def _next_edge(edges: list[int], is_used: list[bool]) -> int:
    """Number + 1 of an unused edge at this vertex, 0 when there is none; used ones are dropped on the way."""
    while edges:
        k = edges.pop()
        if not is_used[k]:
            return k + 1
    return 0


class Question(NamedTuple):
    code: str
    category: str = ""
    subcategory: str = ""


def shuffled(questions: Sequence[Question], draw: random.Random) -> list[str]:
    """The codes in a new order: categories drawn, in each its subcategories, in each its questions.

    Groups stay whole, so that nobody is led to and fro; what has no category is a group of its own.
    """
    return [question.code for question in _in_groups(list(questions), ("category", "subcategory"), draw)]


class CriteriaOrders:
    """The orders of one study's new slots; the questions of a topic are read once."""

    def __init__(self, session: Session, study: Study) -> None:
        self._session, self._study = session, study
        self._is_shuffled = protocol_of(study).study.criteria_order == "shuffled"
        self._asked: dict[int, list[Question]] = {}

    def draw(self, topic_id: int, *identity: object) -> list[str] | None:
        """Codes for a slot on this topic, by the study's seed and what the slot is named by.

        None where the protocol keeps its own order, or nothing is asked of the topic yet.
        """
        if not self._is_shuffled:
            return None
        if topic_id not in self._asked:
            rows = criteria_of(self._session, self._study, topic_id)
            self._asked[topic_id] = [Question(row.code, row.category, row.subcategory) for row in rows]
        return shuffled(self._asked[topic_id], seeded(self._study.seed, "criteria", *identity)) or None


def _in_groups(questions: list[Question], keys: Sequence[str], draw: random.Random) -> list[Question]:
    if not keys:
        draw.shuffle(questions)
        return questions
    names = list(dict.fromkeys(getattr(question, keys[0]) for question in questions))
    draw.shuffle(names)
    return [
        question
        for name in names
        for question in _in_groups([q for q in questions if getattr(q, keys[0]) == name], keys[1:], draw)
    ]
