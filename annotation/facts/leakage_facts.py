"""How much of each report is in its topic's reference, how often it cites the reference's own page, and what it cites
from after the day up to which it was to search."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlalchemy import orm, select

from annotation.designs.pairing import EVIDENCE
from annotation.errors import AnnotationError
from annotation.leaks.reference_leakage import earliest_date, is_page, quoted_share
from annotation.source_lists.cited_works import addresses_in
from db.tables import Report, Study, System, Topic

PAGE = "url"  # the column of the topics that holds the reference's address


@dataclass(frozen=True)
class Leak:
    """One report. `quoted`: share of its words; `cited`: addresses it names, of which `own` are the reference's page.

    `has_page`: whether that address is known at all.
    """

    topic: str
    system: str
    quoted: float
    cited: int
    own: int
    has_page: bool


def leaks_of(session: orm.Session, study: Study) -> list[Leak]:
    """Every report that is not a reference, on topics that have one: its words as shown, its addresses as written."""
    newest = newest_reports(
        session, study, Report.shown_text, Report.original_text, System.is_reference, Topic.features
    )
    references = {topic: shown for (topic, _), (shown, _, is_reference, _) in newest.items() if is_reference}
    return [
        _leak(topic, system, shown, original, references[topic], str((features or {}).get(PAGE) or ""))
        for (topic, system), (shown, original, is_reference, features) in newest.items()
        if topic in references and not is_reference
    ]


def _leak(topic: str, system: str, shown: str, original: str, reference: str, page: str) -> Leak:
    cited = addresses_in(original)
    own = sum(is_page(address, page) for address in cited)
    return Leak(topic, system, quoted_share(shown, reference), len(cited), own, bool(page))


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
    read = newest_reports(session, study, Topic.features, Report.original_text, System.is_reference)
    newest = {at: (features or {}, text) for at, (features, text, is_reference) in read.items() if not is_reference}
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


def newest_reports(session: orm.Session, study: Study, *columns: Any) -> dict[tuple[str, str], list[Any]]:
    """By topic and system, in that order, what the columns say of the last version of each report that is ready.

    The evidence of tasks is no report.
    """
    rows = session.execute(
        select(Topic.key, System.key, *columns)
        .join(Topic, Topic.id == Report.topic_id)
        .join(System, System.id == Report.system_id)
        .where(Report.study_id == study.id, Report.status == "ready", System.key != EVIDENCE)
        .order_by(Topic.key, System.key, Report.version)
    )
    return {(topic, system): told for topic, system, *told in rows}
