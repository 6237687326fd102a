"""Which of the imported probes are drawn: evenly over topics, systems and tags, or so many of each stratum."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from sqlalchemy import orm

from annotation.designs import pairing
from annotation.errors import AnnotationError
from annotation.labels.current_labels import counted_labels
from db.tables import Study

BY = ("verdict", "domain", "system", "tag")
NO_MAJORITY, NOT_JUDGED = "no majority", "not judged"


@dataclass(frozen=True)
class Probe:
    """A probe that was imported: its item is there already and only lacks slots. `system` wrote its report, if any."""

    topic: str
    item: int
    system: str = ""
    tag: str = ""
    key: str = ""
    category: str = ""  # the topic's
    stratum: tuple[str, ...] = ()  # where probes are drawn by stratum
    among: int = 0  # how many probes that stratum has


def draw_probes(
    probes: Iterable[Probe], seed: int, amount: pairing.Amount, standing: Collection[int] = ()
) -> list[Probe]:
    """`per_topic` probes of each topic, or `total` in all, of `per_category` topics a category; all where none is said.

    Systems come equally often, give or take one, where every topic has enough probes of each; so do the tags within a
    system. The draw depends on seed, topics, systems and keys alone. Probes in `standing` have slots, stay and count.
    """
    if amount.per_topic and amount.total:
        raise AnnotationError("bad_design", "items a topic and items in all exclude each other; leave one out")
    by_topic: dict[str, list[Probe]] = defaultdict(list)
    for probe in sorted(probes, key=lambda drawn: (drawn.topic, drawn.system, drawn.key, drawn.item)):
        by_topic[probe.topic].append(probe)
    if amount == pairing.Amount():
        return sorted((probe for held in by_topic.values() for probe in held), key=lambda probe: probe.item)
    category_of = {topic: held[0].category for topic, held in by_topic.items()}
    drawn = [probe for held in by_topic.values() for probe in held if probe.item in standing]
    kept = Counter(probe.topic for probe in drawn)

    def draw(*names: object) -> Random:
        return pairing.seeded(seed, "probes", *names)

    topics = pairing.topics_drawn(category_of, draw, amount.per_category, kept)
    wanted = pairing.items_each(
        {topic: len(by_topic[topic]) for topic in topics}, category_of, draw,
        per_topic=amount.per_topic, total=amount.total, kept=kept,
    )  # fmt: skip
    uses: Counter[tuple[str, ...]] = Counter()
    for probe in drawn:
        uses.update(_counts(probe))
    draw("topics").shuffle(topics)
    for topic in topics:
        waiting = [probe for probe in by_topic[topic] if probe.item not in standing]
        draw("topic", topic).shuffle(waiting)
        for _ in range(wanted[topic] - kept[topic]):
            least = min(waiting, key=lambda probe: [uses[name] for name in _counts(probe)])
            waiting.remove(least)
            drawn.append(least)
            uses.update(_counts(least))
    return sorted(drawn, key=lambda probe: probe.item)


def _counts(probe: Probe) -> tuple[tuple[str, ...], ...]:
    """What is kept even, the first first: systems, a system's tags, tags."""
    return ("system", probe.system), ("of system", probe.system, probe.tag), ("tag", probe.tag)


@dataclass(frozen=True)
class Strata:
    """What probes are told apart by, in this order, and how many are drawn of each stratum. `judge`: whose verdicts,
    "" for the majority of all judges' answers."""

    by: tuple[str, ...]
    each: int
    judge: str = ""

    def __post_init__(self) -> None:
        """Raises AnnotationError `bad_design` for names that are none, and none at all."""
        if not self.by or {*self.by} - {*BY} or len({*self.by}) < len(self.by):
            raise AnnotationError(
                "bad_design",
                "strata {by!r}: name some of {known}, each once",
                by=", ".join(self.by),
                known=", ".join(BY),
            )


def verdicts_of(session: orm.Session, study: Study, judge: str = "") -> dict[int, str]:
    """Item -> the most frequent usable answer of the judge, or of all judges; `no majority` where two are as frequent.

    Raises AnnotationError `unknown_judge` where that judge has no answer, and `no_verdicts` where no judge has.
    """
    given: dict[int, Counter[str]] = defaultdict(Counter)
    judges: set[str] = set()
    for row in session.execute(counted_labels(study)).mappings():
        if row["judge_name"] and row["status"] == "ok" and row["choice"]:
            judges.add(row["judge_name"])
            if judge in ("", row["judge_name"]):
                given[row["item_id"]][row["choice"]] += 1
    if not given:
        known = ", ".join(sorted(judges))
        if known:
            raise AnnotationError(
                "unknown_judge", "no answers of a judge {judge!r} (judges: {known})", judge=judge, known=known
            )
        raise AnnotationError("no_verdicts", "no judge has answered yet; run one, or import its results, then draw")
    return {item: _majority(answers) for item, answers in given.items()}


def _majority(answers: Counter[str]) -> str:
    (first, most), *others = answers.most_common(2)
    return NO_MAJORITY if others and others[0][1] == most else first


def in_strata(probes: Iterable[Probe], by: Sequence[str], verdicts: Mapping[int, str]) -> list[Probe]:
    """The probes with their stratum, and how many probes there are in it."""
    found = [replace(probe, stratum=tuple(_value(probe, name, verdicts) for name in by)) for probe in probes]
    sizes = Counter(probe.stratum for probe in found)
    return [replace(probe, among=sizes[probe.stratum]) for probe in found]


def _value(probe: Probe, name: str, verdicts: Mapping[int, str]) -> str:
    if name == "verdict":
        return verdicts.get(probe.item, NOT_JUDGED)
    return {"domain": probe.category, "system": probe.system, "tag": probe.tag}[name]


def draw_strata(probes: Sequence[Probe], each: int, seed: int, standing: Collection[int] = ()) -> list[Probe]:
    """`each` probes of every stratum, all where it has fewer, by item; those in `standing` have slots, stay and count.

    A simple random draw within each stratum, which depends on seed, stratum and keys alone. Nothing is drawn of probes
    that no judge has answered, where strata are told apart by verdict.
    """
    strata: dict[tuple[str, ...], list[Probe]] = defaultdict(list)
    for probe in sorted(probes, key=lambda one: (one.topic, one.system, one.key, one.item)):
        strata[probe.stratum].append(probe)
    drawn: list[Probe] = []
    for stratum, held in strata.items():
        kept = [probe for probe in held if probe.item in standing]
        waiting = [] if NOT_JUDGED in stratum else [probe for probe in held if probe.item not in standing]
        pairing.seeded(seed, "strata", *stratum).shuffle(waiting)
        drawn += [*kept, *waiting[: max(0, each - len(kept))]]
    return sorted(drawn, key=lambda probe: probe.item)


def as_drawn(asked: Strata, probes: Sequence[Probe]) -> dict[str, Any]:
    """What the audit trail keeps of a draw: its strata, and how many of how many probes came of each."""
    sizes = {probe.stratum: probe.among for probe in probes}
    counts = Counter(probe.stratum for probe in probes)
    return {
        "by": list(asked.by), "each": asked.each, "judge": asked.judge,
        "drawn": [[list(stratum), counts[stratum], sizes[stratum]] for stratum in sorted(sizes)],
    }  # fmt: skip
