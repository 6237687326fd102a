"""Answers of people who do not exist, where a study's own people's labels were never published: seeded, and marked.

They are close to the judge's own answers where there are some, else to a truth that is drawn; nothing they show says
anything about a real judge.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import orm, select

from annotation.designs.pairing import seeded
from annotation.importing.labels.results import ResultRow
from annotation.items.shown import item_code
from annotation.labels.entries import scale_of, score_text
from annotation.protocol import Protocol, Scale
from annotation.studies import criteria_of, protocol_of
from annotation.verdicts import load_verdicts
from app.reproducing.recipes import People
from db.tables import Criterion, Item, Report, Study, System, Topic

T = TypeVar("T")
MARK = "simulated-"  # before the name of everybody who is
FOR_REFERENCE, RIGHT, JUDGE_RIGHT = 0.8, 0.9, 0.85  # chances: the reference is better; a person, the judge says so
NOISE, JUDGE_NOISE, FROM_ITEM_TO_ITEM = 0.08, 0.10, 0.18  # of ratings, in widths of the scale


@dataclass(frozen=True)
class Asked:
    """An item as a row of results names it. `systems`: of A and B, of the one report, or none."""

    item: str
    topic: str
    topic_id: int
    systems: tuple[str, ...]
    probe: str
    reference: str


def simulated_rows(session: orm.Session, study: Study, people: People, judge: str) -> list[ResultRow]:
    """Answers of so many people on so many items of the study, and of the judge where it has none there."""
    protocol = protocol_of(study)
    judged = _judged(session, study)
    asked = [one for one in _asked(session, study) if not judged or any(key[0] == one.item for key in judged)]
    chosen = spread(asked, people.items, study.seed, lambda one: (one.topic, one.item))
    rows = [
        _row(session, study, protocol, one, criterion, f"{MARK}{1 + (number + reader) % people.annotators}", judged)
        for number, one in enumerate(chosen)
        for criterion in criteria_of(session, study, one.topic_id)
        for reader in range(people.readers)
    ]
    if judged:
        return rows
    every = [(one, criterion) for one in chosen for criterion in criteria_of(session, study, one.topic_id)]
    return rows + [_row(session, study, protocol, *one, MARK + judge, judged, kind="judge") for one in every]


def spread(asked: Sequence[T], most: int, seed: int, place: Callable[[T], tuple[str, str]]) -> list[T]:
    """At most so many, drawn topic by topic in turns, so that every topic has its share. `place`: topic and name."""
    by_topic: dict[str, list[T]] = {}
    for one in sorted(asked, key=lambda one: seeded(seed, "asked", place(one)[1]).random()):
        by_topic.setdefault(place(one)[0], []).append(one)
    turns = [(turn, place, one) for place, own in enumerate(by_topic.values()) for turn, one in enumerate(own)]
    return [one for _, _, one in sorted(turns, key=lambda turn: turn[:2])][:most]


def _judged(session: orm.Session, study: Study) -> Mapping[tuple[str, str], str]:
    """(item, criterion) -> what the first judge that answered it said, unblinded."""
    verdicts = load_verdicts(session, study)
    usable = verdicts[(verdicts["rater_kind"] == "judge") & (verdicts["status"] == "ok")]
    first = usable.drop_duplicates(["item_id", "criterion"])
    return dict(zip(zip(first["item_id"], first["criterion"], strict=True), first["label"].astype(str), strict=True))


def _asked(session: orm.Session, study: Study) -> Iterator[Asked]:
    """Every item that counts, in the order it was made."""
    a, b, one, other = orm.aliased(Report), orm.aliased(Report), orm.aliased(System), orm.aliased(System)
    rows = session.execute(
        select(Item.id, Topic.key, Topic.id, one.key, other.key, Item.probe_key, one.is_reference, other.is_reference)
        .join(Topic, Topic.id == Item.topic_id)
        .outerjoin(a, a.id == Item.report_a_id)
        .outerjoin(one, one.id == a.system_id)
        .outerjoin(b, b.id == Item.report_b_id)
        .outerjoin(other, other.id == b.system_id)
        .where(Item.study_id == study.id, Item.purpose == "label", Item.excluded_at.is_(None))
        .order_by(Item.id)
    )
    for item, topic, topic_id, first, second, probe, first_is, second_is in rows:
        systems = tuple(key for key in (first, second) if key)
        reference = first if first_is else second if second_is else ""
        yield Asked(item_code(item), topic, topic_id, systems, probe or "", reference or "")


def _row(
    session: orm.Session, study: Study, protocol: Protocol, asked: Asked, criterion: Criterion, who: str,
    judged: Mapping[tuple[str, str], str], kind: str = "human",
) -> ResultRow:  # fmt: skip
    truth = seeded(study.seed, "truth", asked.topic, asked.systems, asked.probe, criterion.code)
    own = seeded(study.seed, who, asked.item, criterion.code)
    known, is_judge = judged.get((asked.item, criterion.code), ""), kind == "judge"
    scale = scale_of(protocol, criterion.scale)
    if scale is not None:
        about = float(known) if known else _drawn(truth, scale)
        answer = _score(own.gauss(about, (JUDGE_NOISE if is_judge else NOISE) * (scale.max - scale.min)), scale)
    else:
        answers = asked.systems if len(asked.systems) == 2 else tuple(label.id for label in protocol.answers.labels)
        true = _true(truth, asked, answers, known)
        others = [one for one in answers if one != true]
        answer = true if own.random() < (JUDGE_RIGHT if is_judge else RIGHT) else own.choice(others)
    return ResultRow(
        where="simulated", rater=who, topic=asked.topic, systems=asked.systems, criterion=criterion.code, answer=answer,
        kind=kind, item=asked.item, probe=asked.probe, rationale="a simulated reason",
    )  # fmt: skip


def _true(draw: random.Random, asked: Asked, answers: Sequence[str], known: str) -> str:
    """The answer that is right: the judge's, else one that is drawn, the reference's more often."""
    if known in ("A", "B"):
        return asked.systems["AB".index(known)]
    if known in answers:
        return known
    if asked.reference:
        others = [one for one in answers if one != asked.reference]
        return asked.reference if draw.random() < FOR_REFERENCE else draw.choice(others)
    return draw.choice(answers)


def _drawn(draw: random.Random, scale: Scale) -> float:
    return draw.gauss((scale.min + scale.max) / 2, FROM_ITEM_TO_ITEM * (scale.max - scale.min))


def _score(value: float, scale: Scale) -> str:
    """The nearest score of the scale; two decimals where any number goes."""
    step = scale.step or 0.01
    steps = round((min(max(value, scale.min), scale.max) - scale.min) / step)
    return score_text(round(min(scale.min + steps * step, scale.max), 6))
