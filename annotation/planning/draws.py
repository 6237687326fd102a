"""Topics drawn for people in batches with known probabilities: kept for good, and part of the plan."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import func, orm, select

from annotation.errors import AnnotationError
from annotation.files.decoding import some_of
from annotation.studies import DRAW, audit, audit_data, cluster_of, protocol_of
from db.tables import HANDED_IN, LIVE, Assignment, Item, Study, Topic
from plain import draws
from plain.counting import counted
from plain.wording import several, worded


@dataclass(frozen=True)
class TopicDraw:
    """A batch: `chances` of its `topics`, of which each is above 0, given the batches before; drawn of `waiting`.

    `chances_sha256`: of the chances of all waiting topics, by topic, as canonical JSON. `random_share`: of the draw, in
    which all topics were alike. `question`: what chances were made for. `design`, `amount`: which items topics have.
    """

    topics: tuple[str, ...]
    chances: tuple[float, ...]
    waiting: int
    random_share: float
    question: str
    design: str
    amount: Mapping[str, int | None]
    chances_sha256: str


def kept_draws(session: orm.Session, study: Study) -> list[TopicDraw]:
    """Every batch of the study, the first one first."""
    return [
        TopicDraw(**data | {"topics": tuple(data["topics"]), "chances": tuple(data["chances"])})
        for data in audit_data(session, study.id, DRAW)
    ]


def keep_draw(session: orm.Session, study: Study, rater: int | None, draw: TopicDraw) -> None:
    """Append a batch to the audit trail. Nothing kept is ever changed."""
    audit(session, study.id, rater, DRAW, **asdict(draw))


def refuse_other_slots(session: orm.Session, study: Study, drawn: Collection[str]) -> None:
    """Raises AnnotationError where topics have work for people that no draw gave them, or clusters are no topics."""
    if protocol_of(study).calibration.get("cluster", "topic") != "topic":
        raise AnnotationError(
            "bad_design", "whole topics are drawn, and this protocol's cluster is the item; set cluster = 'topic'"
        )
    cluster = cluster_of(study)
    own = select(cluster).where(Topic.study_id == study.id).group_by(cluster).having(func.count() > 1).limit(1)
    if (shared := session.scalar(own)) is not None:
        raise AnnotationError(
            "bad_design", "topics are drawn one by one, and several have the cluster_id {shared!r}; use another design",
            shared=shared,
        )  # fmt: skip
    found = {*session.scalars(_topics(study).where(Assignment.status.in_(LIVE)).distinct())} - {*drawn}
    if found:
        raise AnnotationError(
            "bad_design",
            "{found} topics, such as {one!r}, have work for people that no draw gave them, so their chances are "
            "unknown; begin a study with --design active, or go on with its design", found=len(found),
            one=min(found),
        )  # fmt: skip


def late_topics(session: orm.Session, study: Study, keys: Collection[str]) -> list[str]:
    """What is wrong with topics of these keys that would come in after a batch was drawn without them."""
    if not kept_draws(session, study):
        return []
    late = {*keys} - {*session.scalars(select(Topic.key).where(Topic.study_id == study.id))}
    return [worded(
        "{topics} ({some}): topics of study {study!r} are drawn with chances that count those it had at the first "
        "draw; leave new ones out, or make a new study of all", topics=several(len(late), "new topic"),
        some=some_of(sorted(late), 3), study=study.name,
    )] * bool(late)  # fmt: skip


def undrawn_topics(session: orm.Session, study: Study, topics: Collection[int]) -> list[str]:
    """What is wrong with labels by people on the topics of these ids, some of which no draw gave."""
    batches = kept_draws(session, study)
    if not batches:
        return []
    keys = session.execute(select(Topic.id, Topic.key).where(Topic.study_id == study.id))
    given = {topic for batch in batches for topic in batch.topics}
    undrawn = sorted(key for topic, key in keys if topic in topics and key not in given)
    return [
        f"people's labels on {counted(len(undrawn), 'topic')} that no draw gave ({some_of(undrawn, 3)}), so their "
        "chances are unknown; leave these rows out, or import them into a study whose topics are not drawn"
    ] * bool(undrawn)


def draw_probabilities(session: orm.Session, study: Study) -> dict[str, float]:
    """Topic -> the probability with which its labels stand in the study: 1 / its weight, over all batches so far.

    Of the drawn topics with work handed in by people; empty where nothing was drawn.
    """
    batches = kept_draws(session, study)
    if not batches:
        return {}
    labelled = {*session.scalars(_topics(study).where(Assignment.status.in_(HANDED_IN)).distinct())}
    marks = [[topic in labelled for topic in batch.topics] for batch in batches]
    weights = draws.draw_weights(
        [draws.Draw(batch.chances, own, batch.waiting) for batch, own in zip(batches, marks, strict=True)]
    )
    names = (
        [topic for topic, is_labelled in zip(batch.topics, own, strict=True) if is_labelled]
        for batch, own in zip(batches, marks, strict=True)
    )
    return {
        topic: 1 / weight
        for own, each in zip(names, weights, strict=True)
        for topic, weight in zip(own, each, strict=True)
    }


def _topics(study: Study) -> Any:
    """Topics of people's work that counts."""
    return (
        select(Topic.key)
        .join(Item, Item.topic_id == Topic.id)
        .join(Assignment, Assignment.item_id == Item.id)
        .where(Assignment.study_id == study.id, Assignment.purpose == "label", Assignment.source != "judge")
    )
