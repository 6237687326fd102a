"""The sources that reports cite, beside the day up to which they were to search."""

from dataclasses import dataclass
from datetime import date

from sqlalchemy import orm, select

from annotation.errors import AnnotationError
from annotation.leaks.source_dates import earliest_date
from annotation.source_lists.cited_works import addresses_in
from db.tables import Report, Study, System, Topic


@dataclass(frozen=True)
class CitedSource:
    """One address of one report, each once. `dated`: its earliest date; `cutoff`: of its topic. None: unknown."""

    topic: str
    system: str
    address: str
    dated: date | None
    cutoff: date | None


def cited_sources(session: orm.Session, study: Study, cutoff: str) -> list[CitedSource]:
    """Those of every report but references. `cutoff`: a date for all topics, or the column of the topics that has one.

    Raises AnnotationError `bad_option` where it is no date, and no topic has such a column.
    """
    same = _day(cutoff)
    rows = session.execute(
        select(Topic.key, System.key, Topic.features, Report.original_text)
        .join(Topic, Topic.id == Report.topic_id)
        .join(System, System.id == Report.system_id)
        .where(Report.study_id == study.id, Report.status == "ready", System.is_reference.is_(False))
        .order_by(Topic.key, System.key, Report.version)
    )
    newest = {(topic, system): (features or {}, text) for topic, system, features, text in rows}
    if same is None and not any(_day(features.get(cutoff)) for features, _ in newest.values()):
        columns = sorted({str(name) for features, _ in newest.values() for name in features})
        raise AnnotationError(
            "bad_option", f"--cutoff {cutoff!r} is no date such as 2025-04-22, and no column of the topics holds one "
            f"under that name (columns: {', '.join(columns) or 'none'})",
        )  # fmt: skip
    return [
        CitedSource(topic, system, address, earliest_date(address), same or _day(features.get(cutoff)))
        for (topic, system), (features, text) in newest.items()
        for address in dict.fromkeys(addresses_in(text))
    ]


def _day(text: object) -> date | None:
    try:
        return date.fromisoformat(str(text)[:10])
    except ValueError:
        return None
