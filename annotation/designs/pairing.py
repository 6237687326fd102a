"""Which reports form items, how many a topic gives, who meets whom, and which of a pair is A: seeded and pure."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from annotation.errors import AnnotationError
from plain.hashes import identity_digest

DESIGNS = ("reference", "all", "balanced")
EVIDENCE = "calipers-evidence"  # the system whose texts are what tasks brought, beside reports and judged by nobody
Group = TypeVar("Group", bound=tuple["Candidate", ...])
Reports = frozenset[int]  # the reports an item rates


@dataclass(frozen=True)
class Candidate:
    """A report that may enter an item. `report`, `topic`, `system`, `category` are any stable names."""

    report: int
    topic: str
    system: str
    is_reference: bool = False
    category: str = ""


@dataclass(frozen=True)
class Pair:
    """Two reports on one topic; `a` and `b` were named by a coin. `evidence`: what the task brought, beside both."""

    topic: str
    a: Candidate
    b: Candidate
    evidence: Candidate | None = None


@dataclass(frozen=True)
class Twins(Pair):
    """Two reports rated in one view: an item each, that shows the other one beside."""


@dataclass(frozen=True)
class Single:
    """One report to be rated by itself; `reference` is shown beside it and not rated."""

    topic: str
    report: Candidate
    reference: Candidate | None = None


@dataclass(frozen=True)
class Amount:
    """How many of the possible items are drawn: so many a topic, on so many topics a category, so many in all."""

    per_topic: int | None = None
    per_category: int | None = None
    total: int | None = None


ALL = Amount()


def seeded(*identity: object) -> random.Random:
    """Randomness by identity, not by luck: the same names give the same draw on every machine and every day."""
    return random.Random(int.from_bytes(identity_digest(*identity)[:8], "big"))


def plan_pairs(
    candidates: Iterable[Candidate],
    seed: int,
    *,
    design: str = "reference",
    per_topic: int | None = None,
    per_category: int | None = None,
    total: int | None = None,
    standing: Collection[Reports] = (),
    barred: Collection[Reports] = (),
) -> list[Pair]:
    """Pairs on each topic: every system against the reference, all systems, or a balanced incomplete block design.

    `per_topic` draws that many of a topic's pairs, `total` that many in all, `per_category` that many topics of each
    category: balanced over systems as far as the numbers allow. In the `balanced` design every two systems meet equally
    often and each system appears equally often, give or take one, where every system has a report on every topic;
    elsewhere whoever met least comes first. Pairs of reports that are items already (`standing`) stay in the plan and
    count; those in `barred` serve another purpose and never enter it.
    Raises AnnotationError where a topic has no reference, or nothing can be paired.
    """
    amount = _amount(per_topic, per_category, total)
    by_topic = _by_topic(candidates)
    possible = {topic: _open(_possible(reports, topic, design), barred) for topic, reports in by_topic.items()}
    if design == "balanced":
        drawn = _balanced(possible, seed, amount, standing)
    else:
        drawn = _drawn(possible, seed, "pairs", amount, standing)
    pairs = [name_pair(seed, first, second) for first, second in drawn]
    if not pairs:
        raise AnnotationError("nothing_to_pair", "no topic has two reports to compare; import more, or change --design")
    return sorted(pairs, key=lambda pair: (pair.topic, sorted((pair.a.system, pair.b.system))))


def plan_singles(
    candidates: Iterable[Candidate],
    seed: int,
    *,
    per_topic: int | None = None,
    per_category: int | None = None,
    total: int | None = None,
    beside: str = "none",
    standing: Collection[Reports] = (),
    barred: Collection[Reports] = (),
) -> list[Single]:
    """Every report by itself. `beside`: `reference` puts every other one beside its topic's reference, `evidence`
    every one, a reference too, beside what its task brought, if anything.

    Draws, `standing` and `barred` as for pairs.
    Raises AnnotationError where a topic has not exactly one reference to show, or nothing can be rated.
    """
    by_topic = _by_topic(candidates)
    references: dict[str, Candidate] = {}
    if beside == "reference":
        references = {topic: _only_reference(reports, topic) for topic, reports in by_topic.items()}
    elif beside == "evidence":
        references = {report.topic: report for report in candidates if report.system == EVIDENCE}
    possible = {
        topic: _open([(report,) for report in reports if report != references.get(topic)], barred)
        for topic, reports in by_topic.items()
    }
    amount = _amount(per_topic, per_category, total)
    singles = [
        Single(report.topic, report, references.get(report.topic))
        for (report,) in _drawn(possible, seed, "singles", amount, standing)
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


def _amount(per_topic: int | None, per_category: int | None, total: int | None) -> Amount:
    if per_topic and total:
        raise AnnotationError("bad_design", "items a topic and items in all exclude each other; leave one out")
    return Amount(per_topic, per_category, total)


def _by_topic(candidates: Iterable[Candidate]) -> dict[str, list[Candidate]]:
    by_topic: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in sorted(candidates, key=lambda c: (c.topic, c.system)):
        by_topic[candidate.topic].append(candidate)
    return by_topic


def _reports(group: Sequence[Candidate]) -> Reports:
    return frozenset(candidate.report for candidate in group)


def _open(groups: Sequence[Group], barred: Collection[Reports]) -> list[Group]:
    return [group for group in groups if _reports(group) not in barred]


def _wanted(
    possible: Mapping[str, Sequence[Group]], seed: int, amount: Amount, standing: Collection[Reports]
) -> tuple[dict[str, int], dict[str, list[Group]]]:
    """topic -> how many of its groups, and which of them are items already."""
    filled = {topic: groups for topic, groups in possible.items() if groups}
    stand = {topic: [g for g in groups if _reports(g) in standing] for topic, groups in filled.items()}
    kept = {topic: len(groups) for topic, groups in stand.items()}
    category_of = {topic: groups[0][0].category for topic, groups in filled.items()}
    draw = partial(seeded, seed)
    room = {topic: len(filled[topic]) for topic in topics_drawn(category_of, draw, amount.per_category, kept)}
    return items_each(room, category_of, draw, per_topic=amount.per_topic, total=amount.total, kept=kept), stand


def _drawn(
    possible: Mapping[str, Sequence[Group]], seed: int, what: str, amount: Amount, standing: Collection[Reports]
) -> Iterator[Group]:
    """The topics' groups: those that are there, then those of the systems used least so far."""
    wanted, stand = _wanted(possible, seed, amount, standing)
    used = Counter(report.system for topic in wanted for group in stand[topic] for report in group)
    topics = sorted(wanted)
    seeded(seed, "topics").shuffle(topics)
    for topic in topics:
        groups = list(possible[topic])
        # shuffled, then fewest-used systems first: min takes the first among equals, so the coin decides
        seeded(seed, what, topic).shuffle(groups)
        yield from stand[topic]
        groups = [group for group in groups if group not in stand[topic]]
        for _ in range(wanted[topic] - len(stand[topic])):
            group = min(groups, key=lambda group: sum(used[report.system] for report in group))
            groups.remove(group)
            used.update(report.system for report in group)
            yield group


def _balanced(
    possible: Mapping[str, Sequence[tuple[Candidate, Candidate]]],
    seed: int,
    amount: Amount,
    standing: Collection[Reports],
) -> Iterator[tuple[Candidate, Candidate]]:
    if amount.per_topic is None and amount.total is None:
        raise AnnotationError(
            "bad_design", "a balanced design is a draw; say how many: --per-topic N, or --total N in all"
        )
    wanted, stand = _wanted(possible, seed, amount, standing)
    named = {topic: {(one.system, other.system): (one, other) for one, other in possible[topic]} for topic in wanted}
    topics = sorted(wanted)
    seeded(seed, "topics").shuffle(topics)
    systems = sorted({system for pairs in named.values() for two in pairs for system in two})
    is_complete = all(len(pairs) == len(systems) * (len(systems) - 1) // 2 for pairs in named.values())
    in_order = {topic: wanted[topic] for topic in topics}
    if is_complete and not any(stand[topic] for topic in topics):
        seeded(seed, "systems").shuffle(systems)
        met = round_robin(systems, in_order)
    else:
        for topic in topics:
            seeded(seed, "pairs", topic).shuffle(shuffled := list(named[topic]))
            named[topic] = {two: named[topic][two] for two in shuffled}
        already = {topic: [(one.system, other.system) for one, other in stand[topic]] for topic in topics}
        met = least_met({topic: list(named[topic]) for topic in topics}, in_order, already)
    for topic, pairs in met.items():
        yield from (named[topic][min(two), max(two)] for two in pairs)


def _only_reference(reports: Sequence[Candidate], topic: str) -> Candidate:
    references = [report for report in reports if report.is_reference]
    if len(references) != 1:
        raise AnnotationError(
            "no_reference",
            "topic {topic!r} has {references} reference reports, and one is to be shown beside each report; give one "
            "system is_reference = yes in systems.csv and import again, or set paired_view = 'none'", topic=topic,
            references=len(references),
        )  # fmt: skip
    return references[0]


def _possible(reports: list[Candidate], topic: str, design: str) -> list[tuple[Candidate, Candidate]]:
    if design in ("all", "balanced"):
        return [(one, other) for k, one in enumerate(reports) for other in reports[k + 1 :]]
    if design == "reference":
        references = [report for report in reports if report.is_reference]
        if not references:
            raise AnnotationError(
                "no_reference",
                "topic {topic!r} has no reference report; give one system is_reference = yes in systems.csv and "
                "import again, or use --design all", topic=topic,
            )  # fmt: skip
        return [(reference, other) for reference in references for other in reports if not other.is_reference]
    raise AnnotationError(
        "bad_design", "no design called {design!r}; use {designs}, or the path of a list of pairs", design=design,
        designs=', '.join(DESIGNS),
    )  # fmt: skip


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
    """The same where reports are missing or pairs are there: by topic, whoever met least, then whoever appeared least.

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


Draw = Callable[..., random.Random]  # names -> the randomness that belongs to them


def topics_drawn(
    category_of: Mapping[str, str], draw: Draw, per_category: int | None, kept: Mapping[str, int]
) -> list[str]:
    """`per_category` topics of each category (all where None), sorted; those that have items (`kept`) come first.

    A category with fewer gives all it has. What is there stays, so a lower number than before drops no topic.
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
