"""The newest version of every report: what may enter an item, and which items show an older one."""

from __future__ import annotations

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from annotation.pairing import Candidate
from db.tables import Assignment, Item, Report, Study, System, Topic
from db.types import now


def candidates(session: Session, study: Study) -> list[Candidate]:
    """The newest version of every report that has text and is not excluded."""
    newest = (
        select(func.max(Report.version))
        .where(Report.study_id == study.id)
        .group_by(Report.topic_id, Report.system_id)
        .with_only_columns(Report.topic_id, Report.system_id, func.max(Report.version).label("version"))
        .subquery()
    )
    rows = session.execute(
        select(Report.id, Topic.key, System.key, System.is_reference, Topic.category)
        .join(
            newest,
            (newest.c.topic_id == Report.topic_id)
            & (newest.c.system_id == Report.system_id)
            & (newest.c.version == Report.version),
        )
        .join(Topic, Topic.id == Report.topic_id)
        .join(System, System.id == Report.system_id)
        .where(Report.status == "ready")
        .order_by(Topic.key, System.key)
    )
    return [Candidate(*row) for row in rows]


def retire_outdated(session: Session, study: Study) -> int:
    """Take out of work every item that shows a replaced report and that nobody has begun. Returns how many."""
    newest = (
        select(Report.topic_id, Report.system_id, func.max(Report.version).label("version"))
        .where(Report.study_id == study.id)
        .group_by(Report.topic_id, Report.system_id)
        .subquery()
    )
    outdated = (
        select(Report.id)
        .join(newest, (newest.c.topic_id == Report.topic_id) & (newest.c.system_id == Report.system_id))
        .where(Report.version < newest.c.version)
    )
    begun = select(Assignment.item_id).where(Assignment.status.not_in(("open", "void")))
    items = session.scalars(
        select(Item).where(
            Item.study_id == study.id,
            Item.excluded_at.is_(None),
            or_(*(report.in_(outdated) for report in (Item.report_a_id, Item.report_b_id, Item.reference_id))),
            Item.id.not_in(begun),
        )
    ).all()
    for item in items:
        item.excluded_at = now()
    return len(items)
