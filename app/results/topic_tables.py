"""What a study's topics do to its scores: by category, by ANOVA, and with which of their features difficulty goes.

And what reports on them cite and quote: works they should cite, their topic's reference and its page, and sources from
after the day up to which they were to search.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
from sqlalchemy import orm, select

from annotation.designs.pairing import EVIDENCE
from annotation.errors import AnnotationError
from annotation.files.folders import as_file_name, match
from annotation.leaks.reference_leakage import earliest_date, is_page, quoted_share
from annotation.source_lists import cited_works as works
from annotation.studies import cluster_of, find_study
from app.results.reporting import Calibrated
from app.settings import database
from calibration.calibrate import calibrate
from calibration.settings import Aggregate
from calibration.study.joining import study_of
from calibration.systems.claim_scores import has_claims, scores_from_claims
from calibration.systems.topic_scores import measures_of, topic_scores
from calibration.totals.system_differences import system_differences
from db.connect import reading
from db.tables import NO_TEXT, Report, Study, System, Topic
from exports.sheets.leakage import LISTED, ReportLeak, SourceAge, later_sources_table, leaked_topics
from exports.sheets.references import CitedReferences, references_table
from exports.sheets.system_pairs import differences_table
from exports.sheets.topics import categories_table, category_scores_table, difficulty_table, why_no_difficulty
from exports.tables import Table

PAGE = "url"  # the column of the topics that holds the reference's address


def topic_tables(made: Calibrated, by: str, measure: str, known: pd.DataFrame, what: str) -> tuple[list[Table], str]:
    """Those tables that the labels of `by`, a judge or "" for people, have numbers for; and why one is not there.

    `measure`: the name of an aggregate or a score, "" for the first that these labels have. `known`: numbers about
    topics, by topic. Raises AnnotationError naming `what` where nothing scores a topic, and for a measure that is not
    there.
    """
    report, settings = made.report, made.report.settings
    study = study_of(made.verdicts, settings)
    each = [
        topic_scores(study, by or None, one, settings) for one in _chosen(measures_of(study, settings), measure, what)
    ]
    scores = next((one for one in each if one.sizes.any()), each[0])
    tables = [
        category_scores_table(scores, report),
        categories_table(report, scores),
        difficulty_table(scores, report, known),
    ]
    return [table for table in tables if table is not None], why_no_difficulty(scores, known)


def systems_compared(
    made: Calibrated, pairs: Sequence[tuple[str, str]], criteria: Sequence[str] = (), *, each: bool
) -> Table | None:
    """Every two systems, or those pairs, by ratings or aggregates of claims; None for fewer than two systems.

    `criteria`: names, none for every aggregate, and of ratings for their mean, or for each where `each`.
    """
    scores, settings, names = made.verdicts, made.report.settings, ["all"]
    if has_claims(study := study_of(scores, settings)):
        scores = scores_from_claims(study, settings)
        names = [*scores["criterion"].unique()]
    elif each:
        names = [name for name, kind in study.kinds.items() if kind == "rating"]
    compared = [system_differences(scores, settings, pairs, name) for name in dict.fromkeys(criteria or names)]
    return differences_table([one for of in compared for one in of], made.report)


def without_leaks(made: Calibrated, leaks: Sequence[ReportLeak], most: float) -> Calibrated:
    """The same without the topics of which a report quotes its reference in more than `most` of its words.

    Raises AnnotationError where no topic is left.
    """
    with reading(database()) as session:
        study = find_study(session, made.study)
        own = Topic.study_id == study.id, Topic.key.in_(leaked_topics(leaks, most))
        leaked = session.scalars(select(cluster_of(study)).where(*own)).all()
    kept = made.verdicts[~made.verdicts["cluster_id"].isin(leaked)]
    if kept.empty:
        raise AnnotationError("no_topics", f"every topic has a report that quotes more than {most:g}; raise --leakage")
    return replace(made, verdicts=kept, report=calibrate(kept, made.report.settings, ()))


def _chosen(measures: Sequence[Aggregate], name: str, what: str) -> Sequence[Aggregate]:
    if not measures:
        raise AnnotationError(
            "no_features", f"{what} holds nothing that scores a topic: give pairs with their systems, ratings, or "
            "claims with the --protocol whose aggregates they make",
        )  # fmt: skip
    found = [one for one in measures if name in ("", one.name)]
    if not found:
        known = ", ".join(one.name for one in measures)
        raise AnnotationError("unknown_measure", f"no measure {name!r}; choose one of {known}")
    return found


def later_sources(study: str, cutoff: str, dates: pd.DataFrame, *, every: bool = False) -> Table | None:
    """Which sources of a study's reports are from after the cut-off; `every`: all of them are named.

    `cutoff`: a date for all topics, or the column of the topics that has one. `dates`: columns `url` and `date`, of
    sources whose address says none, or another. None where no report cites an address. Raises AnnotationError
    `bad_option` where the cut-off is no date, and no topic has such a column, and `bad_file` for a date that is none.
    """
    same = _day(cutoff)
    known = {str(url).rstrip("/"): _day(day) for url, day in zip(dates["url"], dates["date"], strict=True)}
    if wrong := next((url for url, day in known.items() if day is None), None):
        raise AnnotationError("bad_file", f"--dates: the date of {wrong} is none such as 2025-04-22; correct it")
    with reading(database()) as session:
        read = newest_reports(
            session, find_study(session, study), Topic.features, Report.original_text, System.is_reference
        )
    newest = {at: (features or {}, text) for at, (features, text, is_reference) in read.items() if not is_reference}
    if same is None and not any(_day(features.get(cutoff)) for features, _ in newest.values()):
        columns = sorted({str(name) for features, _ in newest.values() for name in features})
        raise AnnotationError(
            "bad_option", f"--cutoff {cutoff!r} is no date such as 2025-04-22, and no column of the topics holds one "
            f"under that name (columns: {', '.join(columns) or 'none'})",
        )  # fmt: skip
    ages = [
        SourceAge(topic, system, address, _is_later(address, known, same or _day(features.get(cutoff))))
        for (topic, system), (features, text) in newest.items()
        for address in dict.fromkeys(works.addresses_in(text))
    ]
    return later_sources_table(ages, cutoff, len(ages) if every else LISTED)


def reference_lists(study: str, wanted: Path) -> Table | None:
    """Precision and recall of what the study's reports cite, against lists of works in a file or folder.

    Every report but references, on topics that have a list. Raises ImportingError for a file that is no such list, and
    AnnotationError where no topic has one.
    """
    lists = works.read_wanted(wanted)
    with reading(database()) as session:
        row = find_study(session, study)
        read = newest_reports(session, row, Report.original_text, System.is_reference)
    newest = {at: text for at, (text, is_reference) in read.items() if not is_reference}
    named = {topic: match(topic, lists) for topic, _ in newest}
    if not any(named.values()):
        raise AnnotationError(
            "no_references", f"no list is about a topic of {row.name} (lists: {_some(lists)}; topics: "
            f"{_some(named)}); call each file like its topic, or name the topic in a column",
        )  # fmt: skip
    return references_table([
        _counted(topic, system, works.cited_works(text), lists[name])
        for (topic, system), text in newest.items()
        if (name := named[topic]) is not None
    ])  # fmt: skip


def leaks_in(study: str, said: Mapping[tuple[str, str], Sequence[Sequence[str]]] | None = None) -> list[ReportLeak]:
    """Every report beside a reference that is none itself: its words as shown, its addresses as written.

    `said`: by topic, as files name it, and system, what each statement of the report cites, instead of its addresses.
    """
    with reading(database()) as session:
        newest = newest_reports(
            session, find_study(session, study), Report.shown_text, Report.original_text, System.is_reference,
            Topic.features,
        )  # fmt: skip
    references = {topic: shown for (topic, _), (shown, _, is_reference, _) in newest.items() if is_reference}
    return [
        _leak(
            topic,
            system,
            shown,
            references[topic],
            str((features or {}).get(PAGE) or ""),
            [[one] for one in works.addresses_in(original)]
            if said is None
            else said.get((as_file_name(topic), system), []),
        )
        for (topic, system), (shown, original, is_reference, features) in newest.items()
        if topic in references and not is_reference
    ]


def newest_reports(session: orm.Session, study: Study, *columns: Any) -> dict[tuple[str, str], list[Any]]:
    """By topic and system, in that order, what the columns say of the last version of each report that is ready.

    The evidence of tasks is no report, and one whose text was never published has none that is asked about here.
    """
    rows = session.execute(
        select(Topic.key, System.key, *columns)
        .join(Topic, Topic.id == Report.topic_id)
        .join(System, System.id == Report.system_id)
        .where(Report.study_id == study.id, Report.status == "ready", System.key != EVIDENCE)
        .where(Report.encoding != NO_TEXT)
        .order_by(Topic.key, System.key, Report.version)
    )
    return {(topic, system): told for topic, system, *told in rows}


def _counted(topic: str, system: str, cited: Sequence[works.Work], wanted: Sequence[works.Work]) -> CitedReferences:
    places = works.matched(cited, wanted)
    bare = sum(not at and works.is_known_by_address(work) for work, at in zip(cited, places, strict=True))
    return CitedReferences(
        topic, system, len(cited), sum(map(bool, places)), len(frozenset().union(*places)), len(wanted), bare
    )


def _leak(topic: str, system: str, shown: str, reference: str, page: str, cited: Sequence[Sequence[str]]) -> ReportLeak:
    own = sum(any(is_page(address, page) for address in of) for of in cited) if page else None
    return ReportLeak(topic, system, quoted_share(shown, reference), own, len(cited))


def _is_later(address: str, known: Mapping[str, date | None], cutoff: date | None) -> bool | None:
    dated = known.get(address.rstrip("/")) or earliest_date(address)
    return dated > cutoff if dated and cutoff else None


def _some(names: Mapping[str, object]) -> str:
    return ", ".join(list(names)[:3]) or "none"


def _day(text: object) -> date | None:
    try:
        return date.fromisoformat(str(text)[:10])
    except ValueError:
        return None
