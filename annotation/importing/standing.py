"""What stands in a study already and an import tells otherwise: kept with a note, or refused once items rest on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.importing.records import Parsed, ReportRecord, TopicRecord
from annotation.studies import has_labels
from db.tables import Item, Report, Study, System, Topic

LISTED = 20
Stored = Mapping[tuple[str, str], Report]  # the newest version of each report, by the keys of topic and system


def stored_reports(session: Session, study: Study) -> Stored:
    """Every report already there, in its newest version."""
    rows = session.execute(
        select(Topic.key, System.key, Report)
        .join(Topic, Topic.id == Report.topic_id)
        .join(System, System.id == Report.system_id)
        .where(Report.study_id == study.id)
        .order_by(Report.version)
    )
    return {(topic, system): report for topic, system, report in rows}


def news_of(report: ReportRecord, stored: Stored) -> Literal["new", "unchanged", "changed"]:
    """What a report read is beside what is stored, by its bytes."""
    older = stored.get((report.topic, report.system))
    if older is None:
        return "new"
    return "unchanged" if older.original_sha256 == report.sha256 else "changed"


def topics_kept(session: Session, study: Study, parsed: Parsed) -> tuple[str, ...]:
    """A note on topics that are told otherwise than before: they stay as they came first."""
    standing = {row.key: row for row in session.scalars(select(Topic).where(Topic.study_id == study.id))}
    gains = may_gain_prompt(session, study)
    other = [one.key for one in parsed.topics if one.key in standing and _differs(one, standing[one.key], gains)]
    if not other:
        return ()
    more = f", and {len(other) - LISTED} more" if len(other) > LISTED else ""
    named = ", ".join(other[:LISTED])
    return (f"topics told otherwise than before {len(other)} ({named}{more}): they stay as they came first",)


def may_gain_prompt(session: Session, study: Study) -> bool:
    """Whether a topic that came without a prompt may be given one: until somebody has answered without it."""
    return study.status == "draft" and not has_labels(session, study)


def _differs(told: TopicRecord, standing: Topic, gains: bool) -> bool:
    """What this import leaves out, gives for the first time, or only made up from the topic's key, is no other word."""
    by_key = told.title in (told.key, told.key.replace("_", " "))
    said = {name: getattr(told, name) for name in ("prompt", "category", "language", "features")}
    said |= {} if by_key else {"title": told.title}
    said |= {"prompt": ""} if gains and not standing.prompt else {}
    return any(value and value != getattr(standing, name) for name, value in said.items())


def late_references(session: Session, study: Study, parsed: Parsed) -> list[str]:
    """Systems that this import first calls a reference, once items were made without knowing."""
    known = select(System.key).where(System.study_id == study.id, ~System.is_reference)
    late = set(session.scalars(known)) & {system.key for system in parsed.systems if system.is_reference}
    if not late or session.scalar(select(Item.id).where(Item.study_id == study.id).limit(1)) is None:
        return []
    return [f"{key}: marked as the reference after items were made; make a new study of it" for key in sorted(late)]
