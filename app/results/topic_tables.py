"""What a study's topics do to its scores: by category, by ANOVA, and with which of their features difficulty goes."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from annotation.errors import AnnotationError
from annotation.leaks.reference_leakage import RUN
from app.results.cited_sources import leaks_in
from app.results.reporting import Calibrated
from calibration.calibrate import calibrate
from calibration.settings import Aggregate
from calibration.study.joining import study_of
from calibration.systems.topic_scores import measures_of, topic_scores
from exports.sheets.leakage import leakage_table, leaked_topics
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
