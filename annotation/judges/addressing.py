"""Shown texts that speak to whoever judges them. They stay data between tags; their owner should know of them."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.item_codes import item_code
from annotation.leaks.self_identification import addressed_to_judges
from db.tables import Item, Report, Study, Topic


def warn_of_addressed(session: Session, study: Study) -> list[str]:
    """One warning with a count and the first such words, or none."""
    found = [*_in_reports(session, study), *_in_probes(session, study)]
    if not found:
        return []
    where, words = found[0]
    return [
        f"{len(found)} shown texts speak to their judge (first: {words!r} in {where}); they are sent as they stand, as "
        "data between tags, and replies are checked as ever; look at them with: calipers audit"
    ]


def _in_reports(session: Session, study: Study) -> Iterator[tuple[str, str]]:
    """By the flags of their import that nobody masked."""
    reports = select(Topic.key, Report.flags).join(Topic, Topic.id == Report.topic_id)
    for topic, flags in session.execute(reports.where(Report.study_id == study.id, Report.status == "ready")):
        said = [flag["text"] for flag in flags if flag["kind"] == "judge" and flag.get("resolution") != "mask"]
        if said:
            yield f"a report on {topic}", said[0]


def _in_probes(session: Session, study: Study) -> Iterator[tuple[str, str]]:
    """In probes and their source passages, which no import flags."""
    probes = select(Item.id, Item.probe, Item.context).where(
        Item.study_id == study.id, Item.kind == "probe", Item.purpose == "label", Item.excluded_at.is_(None)
    )
    for item, probe, context in session.execute(probes.execution_options(yield_per=500)):
        said = addressed_to_judges(f"{probe}\n{context or ''}")
        if said:
            yield item_code(item), said[0]
