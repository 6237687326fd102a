"""How many of the works that a report should cite it cites, and how many that it cites are among these."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import orm

from annotation.errors import AnnotationError
from annotation.facts.leakage_facts import newest_reports
from annotation.files.folders import match
from annotation.source_lists.cited_works import Work, cited_works, is_known_by_address, matched
from db.tables import Report, Study, System


@dataclass(frozen=True)
class ReportReferences:
    """One report. `cited`: works; `right`: of these those that are wanted; `found` of `wanted`: works of the list.

    `address_alone`: cited works of which nothing but an address is known that is on no list.
    """

    topic: str
    system: str
    cited: int
    right: int
    found: int
    wanted: int
    address_alone: int


def references_of(session: orm.Session, study: Study, wanted: Mapping[str, Sequence[Work]]) -> list[ReportReferences]:
    """Every report but references, on topics that have a list. Raises AnnotationError where no topic has one."""
    read = newest_reports(session, study, Report.original_text, System.is_reference)
    newest = {at: text for at, (text, is_reference) in read.items() if not is_reference}
    lists = {topic: match(topic, wanted) for topic, _ in newest}
    if not any(lists.values()):
        raise AnnotationError(
            "no_references", f"no list is about a topic of {study.name} (lists: {_some(wanted)}; topics: "
            f"{_some(lists)}); call each file like its topic, or name the topic in a column",
        )  # fmt: skip
    return [
        _counted(topic, system, cited_works(text), wanted[name])
        for (topic, system), text in newest.items()
        if (name := lists[topic]) is not None
    ]


def _some(names: Mapping[str, object]) -> str:
    return ", ".join(list(names)[:3]) or "none"


def _counted(topic: str, system: str, cited: Sequence[Work], wanted: Sequence[Work]) -> ReportReferences:
    places = matched(cited, wanted)
    bare = sum(not at and is_known_by_address(work) for work, at in zip(cited, places, strict=True))
    return ReportReferences(
        topic, system, len(cited), sum(map(bool, places)), len(frozenset().union(*places)), len(wanted), bare
    )
