"""Which of the imported probes are planned for people: all, or a seeded draw that is balanced over systems and tags."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from random import Random

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.pairing import Amount, seeded
from annotation.planning.topic_draws import items_each, topics_drawn
from db.tables import LIVE, SLOT_SOURCES, Assignment, Item, Report, Study, System, Topic


@dataclass(frozen=True)
class Probe:
    """A probe that was imported: its item stands already and only lacks slots. `system` wrote its report, if any."""

    topic: str
    item: int
    system: str = ""
    tag: str = ""
    key: str = ""
    category: str = ""  # the topic's


def plan_probes(session: Session, study: Study, amount: Amount) -> list[Probe]:
    """The probes to plan, by item. Raises AnnotationError where there are none."""
    mine = Item.study_id == study.id, Item.kind == "probe", Item.excluded_at.is_(None), Item.purpose == "label"
    rows = session.execute(
        select(Topic.key, Item.id, System.key, Item.tag, Item.probe_key, Topic.category)
        .join(Topic, Topic.id == Item.topic_id)
        .outerjoin(Report, Report.id == Item.report_a_id)
        .outerjoin(System, System.id == Report.system_id)
        .where(*mine)
        .order_by(Item.id)
    )
    probes = [
        Probe(topic, item, system or "", tag, key or "", category) for topic, item, system, tag, key, category in rows
    ]
    if not probes:
        raise AnnotationError(
            "no_probes",
            f"study {study.name!r} has no probes; bring some in: calipers import probes PATH --layout …",
        )
    slots = Assignment.status.in_(LIVE), Assignment.source.in_(SLOT_SOURCES), Assignment.purpose == "label"
    planned = select(Assignment.item_id).where(Assignment.study_id == study.id, *slots)
    return draw_probes(probes, study.seed, amount, set(session.scalars(planned)))


def draw_probes(probes: Iterable[Probe], seed: int, amount: Amount, standing: Collection[int] = ()) -> list[Probe]:
    """`per_topic` probes of each topic, or `total` in all, of `per_category` topics a category; all where none is said.

    Systems come equally often, give or take one, where every topic has enough probes of each; so do the tags within a
    system. The draw depends on seed, topics, systems and keys alone. Probes in `standing` have slots, stay and count.
    """
    if amount.per_topic and amount.total:
        raise AnnotationError("bad_design", "items a topic and items in all exclude each other; leave one out")
    by_topic: dict[str, list[Probe]] = defaultdict(list)
    for probe in sorted(probes, key=lambda one: (one.topic, one.system, one.key, one.item)):
        by_topic[probe.topic].append(probe)
    if amount == Amount():
        return sorted((probe for held in by_topic.values() for probe in held), key=lambda probe: probe.item)
    category_of = {topic: held[0].category for topic, held in by_topic.items()}
    drawn = [probe for held in by_topic.values() for probe in held if probe.item in standing]
    kept = Counter(probe.topic for probe in drawn)

    def draw(*names: object) -> Random:
        return seeded(seed, "probes", *names)

    topics = topics_drawn(category_of, draw, amount.per_category, kept)
    wanted = items_each(
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
