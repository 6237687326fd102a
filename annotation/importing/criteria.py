"""The questions of each topic are checked and written: what is unchanged stays, changed words are asked anew."""

from __future__ import annotations

from collections import Counter

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.importing.records import CriterionRecord, Parsed
from annotation.studies import criteria_of, protocol_of, words_sha256
from annotation.work.asked import name_some, unasked_topics
from db.tables import Criterion, Study, Topic
from db.types import now


def criteria_problems(session: Session, study: Study, parsed: Parsed) -> list[str]:
    """What is wrong with the criteria read, where the study asks them."""
    if not _comes_with_topics(study):
        return []
    topics = {topic.key for topic in parsed.topics} | _topics(session, study).keys()
    unknown = {one.topic: one.where for one in reversed(parsed.criteria) if one.topic not in topics}
    locked = [f"study {study.name!r} is locked; its criteria can no longer change"] if study.status == "locked" else []
    return [
        *parsed.criteria_problems,
        *(
            f"{where}: no topic {topic!r} in this study; correct the id or remove it"
            for topic, where in unknown.items()
        ),
        *(locked if parsed.criteria else []),
    ]


def enter_criteria(session: Session, study: Study, parsed: Parsed) -> tuple[dict[str, int], tuple[str, ...]]:
    """Write the criteria of topics that are stored; how many were new, unchanged, moved, reworded, dropped, and notes.

    A criterion whose words changed is retired and asked anew; labels keep pointing at what they answered. `moved` is
    another place, category or weight.
    """
    if not _comes_with_topics(study):
        left = f"{parsed.criteria_file}: not read, because this study's protocol brings its own criteria"
        return {}, (left,) if parsed.criteria_file else ()
    topics = _topics(session, study)
    counts: Counter[str] = Counter()
    for key in dict.fromkeys(one.topic for one in parsed.criteria):
        standing = {row.code: row for row in criteria_of(session, study, topics[key])}
        for position, one in enumerate(record for record in parsed.criteria if record.topic == key):
            counts[_enter(session, study, topics[key], position, one, standing.pop(one.id, None))] += 1
        for row in standing.values():
            row.retired_at = now()
            counts["dropped"] += 1
    session.flush()
    unasked = unasked_topics(session, study)
    without = f"topics without criteria {name_some(unasked)}: the study cannot open before they have some"
    return dict(counts), (without,) if unasked else ()


def _comes_with_topics(study: Study) -> bool:
    return protocol_of(study).criteria_from == "topics"


def _topics(session: Session, study: Study) -> dict[str, int]:
    rows = session.execute(select(Topic.key, Topic.id).where(Topic.study_id == study.id))
    return {key: topic for key, topic in rows}


def _enter(
    session: Session, study: Study, topic: int, position: int, one: CriterionRecord, row: Criterion | None
) -> str:
    words = words_sha256(one.label, one.text)
    if row is not None and (row.text_sha256, row.scale) == (words, one.scale):
        place = position, one.category, one.subcategory, one.weight
        moved = (row.position, row.category, row.subcategory, row.weight) != place
        row.position, row.category, row.subcategory, row.weight = place
        return "moved" if moved else "unchanged"
    if row is not None:
        row.retired_at = now()
        session.flush()  # an id is asked once at a time
    session.add(
        Criterion(
            study_id=study.id, topic_id=topic, code=one.id, position=position, label=one.label, text=one.text,
            text_sha256=words, category=one.category, subcategory=one.subcategory, weight=one.weight, scale=one.scale,
        )
    )  # fmt: skip
    return "new" if row is None else "reworded"
