"""Who labels what, decided beforehand: equal loads, nobody an item twice, topics and systems spread evenly. Pure."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from annotation.designs.pairing import seeded
from annotation.errors import AnnotationError

ROUNDS = 30  # sweeps over all two people; four or five suffice


@dataclass(frozen=True)
class Work:
    """An item to be labelled: its topic, and the systems whose reports it shows."""

    topic: str
    systems: tuple[str, ...] = ()


class Place(NamedTuple):
    """One label of one item: item number, slot number."""

    item: int
    slot_no: int


class Score(NamedTuple):
    """What is uneven, the worst first; an exchange is made only where it lowers the score."""

    twice: int  # an item, or with topic_once a topic, more than once for one person
    load: int  # sum of squares over people
    strict: int  # the same of their topic counts, and of system counts where an item shows one
    soft: int  # the same of system counts where an item shows several


def roster(
    items: Sequence[Work],
    places: Iterable[Place],
    people: Sequence[int],
    seed: int,
    *,
    topic_once: bool = True,
    given: Mapping[Place, int] | None = None,
) -> dict[Place, int]:
    """place -> person for every one of `places`; those `given` before stay as they are and count.

    Loads are equal, give or take one, and nobody gets an item twice. Where nothing was given before, each person also
    has of each topic the mean over people, rounded down or up (so no topic twice, wherever that is possible), and of
    each system likewise as long as an item shows one system beside what every item shows: a reference, or nothing.
    Where items show two of many systems, systems are as even as exchanges between two people make them; no bound holds.

    The bound: two people's labels are coupled twice, by item, topic and at all on the one side, by system on the other.
    The couples form paths and even cycles, so they can be told apart by turns (Euler splitting; de Werra 1971), which
    evens the two out in every set at once; each exchange lowers a sum of squares, so the exchanges end, and where they
    end no two people differ by more than one in any set.
    Raises AnnotationError `too_few_people` (see `uncovered`).
    """
    given = dict(given or {})
    free = [place for place in places if place not in given]
    concerned = {items[place.item].topic for place in free}
    demand = Counter(place.item for place in (*free, *given) if items[place.item].topic in concerned)
    if lacking := uncovered(items, demand, len(set(people) | set(given.values())), topic_once):
        raise AnnotationError("too_few_people", lacking)
    table = _Table(items, topic_once, set(given))
    for place, person in given.items():
        table.hold(place, person)
    _deal(table, free, people, seed)
    for _ in range(ROUNDS):
        turns = [table.exchange(*two) for two in combinations(sorted(people), 2)]
        if not any(turns):
            break
    while table.level(sorted(people)):
        continue
    _refuse_repeats(table, free)
    return table.owner


def uncovered(items: Sequence[Work], demand: Mapping[int, int], people: int, topic_once: bool) -> str:
    """Why so many people cannot label each item as often as `demand` says, with the numbers; empty where they can."""
    most = max(demand.values(), default=0)
    if most > people:
        return (
            f"one item takes {most} different annotators and {people} {_are(people)}; invite {most - people} more, or "
            "lower --overlap"
        )
    if not topic_once:
        return ""
    labels: Counter[str] = Counter()
    for item, times in demand.items():
        labels[items[item].topic] += times
    topic, needed = max(labels.items(), key=lambda entry: (entry[1], entry[0]), default=("", 0))
    if needed <= people:
        return ""
    count = sum(items[item].topic == topic for item in demand)
    return (
        f"topic {topic!r} has {count} items with {needed} labels in all, nobody is to see a topic twice, and {people} "
        f"{_are(people)}; invite {needed - people} more, plan fewer items a topic, lower --overlap, or set "
        "topic_once = false in the protocol"
    )


class _Table:
    """Who holds which place, and the exchanges that even it out."""

    def __init__(self, items: Sequence[Work], topic_once: bool, fixed: set[Place]) -> None:
        self.items, self.topic_once, self.fixed = items, topic_once, fixed
        shown = [set(item.systems) for item in items]
        everywhere = set.intersection(*shown) if shown else set()
        self.systems = [sorted(systems - everywhere) for systems in shown]
        self.is_single = all(len(systems) <= 1 for systems in self.systems)
        self.owner: dict[Place, int] = {}
        self.of: dict[int, list[Place]] = defaultdict(list)

    def hold(self, place: Place, person: int) -> None:
        self.owner[place] = person
        self.of[person].append(place)

    def topic(self, place: Place) -> str:
        return self.items[place.item].topic

    def score(self, *hands: Sequence[Place]) -> Score:
        twice = load = strict = soft = 0
        for hand in hands:
            items, topics = Counter(place.item for place in hand), Counter(map(self.topic, hand))
            systems = Counter(system for place in hand for system in self.systems[place.item])
            twice += len(hand) - len(items) + (len(hand) - len(topics) if self.topic_once else 0)
            even = sum(count * count for count in systems.values())
            load += len(hand) ** 2
            strict += sum(count * count for count in topics.values()) + even * self.is_single
            soft += even * (not self.is_single)
        return Score(twice, load, strict, soft)

    def exchange(self, one: int, other: int) -> bool:
        """Share out anew what these two hold; True where that is more even than before."""
        both = sorted([*self.of[one], *self.of[other]])
        links: dict[Place, list[Place]] = defaultdict(list)
        self._couple(links, both, lambda place: place.item, self.topic, lambda place: 0)
        if self.is_single:
            self._couple(links, both, lambda place: tuple(self.systems[place.item]))
        hands: tuple[list[Place], list[Place]] = ([], [])
        lean: Counter[str] = Counter()  # how much more often the first has met a system
        for chain in _chains(both, links, {place: self.owner[place] == other for place in self.fixed & set(both)}):
            step = Counter[str]()
            for place, is_other in chain.items():
                for system in self.systems[place.item]:
                    step[system] += -1 if is_other else 1
            is_fixed = any(place in self.fixed for place in chain)
            flip = not is_fixed and sum(lean[system] * by for system, by in step.items()) > 0
            for place, is_other in chain.items():
                hands[is_other != flip].append(place)
            for system, by in step.items():
                lean[system] += -by if flip else by
        if self.score(*hands) >= self.score(self.of[one], self.of[other]):
            return False
        for person, hand in ((one, hands[0]), (other, hands[1])):
            self.of[person] = hand
            self.owner.update(dict.fromkeys(hand, person))
        return True

    def level(self, people: Sequence[int]) -> bool:
        """Pass places on along a chain of people from a busy one to an idle one; needed where much is fixed."""
        if max(loads := [len(self.of[person]) for person in people]) - min(loads) < 2:
            return False
        items = {person: {place.item for place in self.of[person]} for person in people}
        topics = {person: set(map(self.topic, self.of[person])) if self.topic_once else set() for person in people}
        for busy in sorted(people, key=lambda person: -len(self.of[person])):
            came: dict[int, tuple[int, Place]] = {}
            reached = [busy]
            for giver in reached:
                for place in [given for given in self.of[giver] if given not in self.fixed]:
                    may = [
                        person
                        for person in people
                        if place.item not in items[person] and self.topic(place) not in topics[person]
                    ]
                    takers = [person for person in may if person not in reached]
                    came |= dict.fromkeys(takers, (giver, place))
                    reached += takers
            idle = min(reached, key=lambda person: len(self.of[person]))
            if len(self.of[busy]) - len(self.of[idle]) >= 2:
                while idle != busy:
                    giver, place = came[idle]
                    self.of[giver].remove(place)
                    self.hold(place, idle)
                    idle = giver
                return True
        return False

    def _couple(self, links: dict[Place, list[Place]], places: list[Place], *keys: Callable[[Place], Hashable]) -> None:
        """Join the places two by two, those first that are alike in the first key, the rest by the next ones."""
        for key in keys:
            waiting: dict[Hashable, Place] = {}
            for place in places:
                mate = waiting.pop(key(place), None)
                if mate is None:
                    waiting[key(place)] = place
                else:
                    links[place].append(mate)
                    links[mate].append(place)
            places = sorted(waiting.values())


def _deal(table: _Table, free: Sequence[Place], people: Sequence[int], seed: int) -> None:
    """A first allotment without repeats: topic by topic, to whoever may and has least."""
    draw = seeded(seed, "roster", len(free), len(table.owner))
    order = sorted(set(people))
    draw.shuffle(order)
    topics = sorted({table.topic(place) for place in free})
    draw.shuffle(topics)
    rank = {topic: at for at, topic in enumerate(topics)}
    met: dict[int, Counter[object]] = defaultdict(Counter)

    def note(person: int, place: Place) -> None:
        met[person].update([place.item, table.topic(place), *((s,) for s in table.systems[place.item])])

    for place, person in table.owner.items():
        note(person, place)

    def burden(person: int, place: Place) -> tuple[bool, int, int, int]:
        seen = met[person]
        systems = sum(seen[(system,)] for system in table.systems[place.item])
        return seen[place.item] > 0, seen[table.topic(place)], len(table.of[person]), systems

    for place in sorted(free, key=lambda place: (rank[table.topic(place)], place)):
        person = min(order, key=lambda person: burden(person, place))
        table.hold(place, person)
        note(person, place)


def _refuse_repeats(table: _Table, free: Sequence[Place]) -> None:
    """Where labels were given before, those who are left may all have seen an item."""
    for place in free:
        hand = [held for held in table.of[table.owner[place]] if held != place]
        topic = table.topic(place)
        is_seen = table.topic_once and topic in map(table.topic, hand)
        if is_seen or place.item in {held.item for held in hand}:
            raise AnnotationError(
                "too_few_people",
                "everybody active has work on topic {topic!r} already, and one more label is to be given; invite one "
                "more person, or lower --overlap", topic=topic,
            )  # fmt: skip


def _chains(
    places: Sequence[Place], links: Mapping[Place, Sequence[Place]], fixed: Mapping[Place, bool]
) -> Iterable[dict[Place, bool]]:
    """Linked places, told apart by turns; a walk starts at what is fixed and leaves that as it is."""
    seen: set[Place] = set()
    for start in sorted(places, key=lambda place: place not in fixed):
        if start in seen:
            continue
        chain = {start: fixed.get(start, False)}
        waiting = [start]
        while waiting:
            place = waiting.pop()
            for mate in links.get(place, ()):
                if mate not in chain and mate not in seen:
                    chain[mate] = fixed.get(mate, not chain[place])
                    waiting.append(mate)
        seen |= set(chain)
        yield chain


def _are(people: int) -> str:
    return "is active" if people == 1 else "are active"
