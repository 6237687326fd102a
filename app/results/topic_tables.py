"""What a study's topics do to its scores: by category, by ANOVA, and with which of their features difficulty goes."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from annotation.errors import AnnotationError
from annotation.facts.leakage_facts import cited_sources, leaks_of
from annotation.facts.reference_facts import references_of
from annotation.leaks.reference_leakage import RUN
from annotation.source_lists.wanted_references import read_wanted
from annotation.studies import find_study
from app.results.reporting import Calibrated
from app.settings import database
from calibration.calibrate import calibrate
from calibration.settings import Aggregate
from calibration.study.joining import study_of
from calibration.systems.topic_scores import measures_of, topic_scores
from db.connect import reading
from exports.sheets.leakage import LISTED, ReportLeak, SourceAge, later_sources_table, leakage_table, leaked_topics
from exports.sheets.references import CitedReferences, references_table
from exports.sheets.topics import categories_table, category_scores_table, difficulty_table, why_no_difficulty
from exports.tables import Table


def topic_tables(made: Calibrated, by: str, measure: str, known: pd.DataFrame, what: str) -> tuple[list[Table], str]:
    """Those tables that the labels of `by`, a judge or "" for people, have numbers for; and why one is not there.

    `measure`: an aggregate's name, "" for the first. `known`: numbers about topics, by topic. Raises AnnotationError
    naming `what` where nothing scores a topic, and for a measure that is not there.
    """
    report, settings = made.report, made.report.settings
    study = study_of(made.verdicts, settings)
    scores = topic_scores(study, by or None, _chosen(measures_of(study, settings), measure, what), settings)
    tables = [
        category_scores_table(scores, report),
        categories_table(report, scores),
        difficulty_table(scores, report, known),
    ]
    return [table for table in tables if table is not None], why_no_difficulty(scores, known)


def without_leaks(made: Calibrated, most: float) -> tuple[Calibrated, Table | None]:
    """The same without the topics of which a report quotes its reference in more than `most` of its words.

    The table says which they are; None where no topic has a report beside a reference. Raises AnnotationError for a
    labels file, which holds no text, and where no topic is left.
    """
    if not made.study:
        raise AnnotationError("bad_option", "--leakage is for a study: a labels file holds no text of a report")
    leaks = leaks_in(made.study)
    left_out = leaked_topics(leaks, most)
    kept = made.verdicts[~made.verdicts["cluster_id"].isin(left_out)]
    if kept.empty:
        raise AnnotationError("no_topics", f"every topic has a report that quotes more than {most:g}; raise --leakage")
    report = calibrate(kept, made.report.settings, ())
    return replace(made, verdicts=kept, report=report), leakage_table(leaks, most, RUN)


def later_sources(study: str, cutoff: str, *, every: bool = False) -> Table | None:
    """Which sources of a study's reports are from after the cut-off; `every`: all of them are named.

    None where no report cites an address. Raises AnnotationError where the cut-off is neither a date nor a column.
    """
    with reading(database()) as session:
        found = cited_sources(session, find_study(session, study), cutoff)
    ages = [
        SourceAge(one.topic, one.system, one.address, one.dated > one.cutoff if one.dated and one.cutoff else None)
        for one in found
    ]
    return later_sources_table(ages, cutoff, len(ages) if every else LISTED)


def reference_lists(study: str, wanted: Path) -> Table | None:
    """Precision and recall of what the study's reports cite, against lists of works in a file or folder.

    None where no report is on a topic with a list. Raises ImportingError for a file that is no such list.
    """
    lists = read_wanted(wanted)
    with reading(database()) as session:
        found = references_of(session, find_study(session, study), lists)
    return references_table([CitedReferences(**vars(one)) for one in found])


def leaks_in(study: str) -> list[ReportLeak]:
    """Every report of the study that is beside a reference."""
    with reading(database()) as session:
        found = leaks_of(session, find_study(session, study))
    return [
        ReportLeak(one.topic, one.system, one.quoted, one.own if one.has_page else None, one.cited) for one in found
    ]


def _chosen(measures: Sequence[Aggregate], name: str, what: str) -> Aggregate:
    if not measures:
        raise AnnotationError(
            "no_features", f"{what} holds nothing that scores a topic: give pairs with their systems, ratings, or "
            "claims with the --protocol whose aggregates they make",
        )  # fmt: skip
    found = next((one for one in measures if name in ("", one.name)), None)
    if found is None:
        known = ", ".join(one.name for one in measures)
        raise AnnotationError("unknown_measure", f"no measure {name!r}; choose one of {known}")
    return found
