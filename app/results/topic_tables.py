"""What a study's topics do to its scores: by category, by ANOVA, and with which of their features difficulty goes."""

from collections.abc import Sequence

import pandas as pd

from annotation.errors import AnnotationError
from app.results.reporting import Calibrated
from calibration.settings import Aggregate
from calibration.study.joining import study_of
from calibration.systems.topic_scores import measures_of, topic_scores
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
