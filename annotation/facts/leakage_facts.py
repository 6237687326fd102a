"""How much of each report is in its topic's reference, and how often it cites the reference's own page."""

from dataclasses import dataclass

from sqlalchemy import orm, select

from annotation.leaks.reference_leakage import is_page, quoted_share
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
    columns = Report.shown_text, Report.original_text, System.is_reference, Topic.features
    rows = session.execute(
        select(Topic.key, System.key, *columns)
        .join(Topic, Topic.id == Report.topic_id)
        .join(System, System.id == Report.system_id)
        .where(Report.study_id == study.id, Report.status == "ready")
        .order_by(Topic.key, System.key, Report.version)
    )
    newest = {(topic, system): found for topic, system, *found in rows}
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
