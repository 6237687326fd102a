"""The table `difficulty`: with what the difficulty of a topic goes along, such as how often it is read."""

from __future__ import annotations

import numpy as np
import pandas as pd

from calibration.engine.joining import study_of
from calibration.results import CalibrationReport, Estimate
from calibration.systems.category_effects import compared_systems, feature_correlation, topic_difficulty
from exports.cells import Cell
from exports.tables import Column, Table
from exports.words.notes import methods, origin, remarks

COLUMNS = (
    Column("feature", "Feature of the topic"),
    Column("pearson", "Pearson's r", "r"),
    Column("spearman", "Spearman's ρ", "ρ"),
    Column("n", "Topics", "n"),
)


def why_no_difficulty(verdicts: pd.DataFrame, report: CalibrationReport, features: pd.DataFrame) -> str:
    """What the table lacks; nothing where it can be made."""
    study = study_of(verdicts, report.settings)
    pairs = np.unique(study.unit_systems[study.unit_systems >= 0])
    standing = {study.systems[side] for pair in pairs for side in divmod(int(pair), len(study.systems))}
    if features.empty:
        return "no numbers about topics"
    if not features.index.astype(str).isin(list(map(str, study.clusters))).any():
        return f"none of the topics with numbers ({', '.join(map(repr, features.index[:3]))}) is one of the labels'"
    if not study.annotators:
        return "no person labelled"
    if not standing:
        return "no pair names its systems"
    if set(compared_systems(study)) == standing:
        return (
            "no one system stands in every pair as the reference (two systems alone do not say which it is), so that "
            "all of them together win half on every topic"
        )
    return ""


def difficulty_table(verdicts: pd.DataFrame, report: CalibrationReport, features: pd.DataFrame) -> Table | None:
    """One row for each feature, by people's verdicts on pairs. `features`: numbers, index the topic (`cluster_id`).

    None where `why_no_difficulty` gives a reason. A topic of which a feature is not known is left out of that
    feature's row.
    """
    if why_no_difficulty(verdicts, report, features):
        return None
    study = study_of(verdicts, report.settings)
    named = compared_systems(study)
    won = topic_difficulty(study, None, named, report.settings)
    aligned = features.reindex(won.index.astype(str))
    rows: list[tuple[Cell, ...]] = [
        (one.feature, one.pearson, one.spearman, one.pearson.n)
        for one in feature_correlation(won.to_numpy(), aligned, report.settings)
    ]
    used = [cell for row in rows for cell in row if isinstance(cell, Estimate)]
    notes = (
        "Difficulty: mean win rate on a topic, by people, of all systems but a reference that stands in every pair "
        f"({', '.join(named)}); a tie is half a win. A coefficient above 0: topics with more of it are easier.",
        "Each feature by itself, not adjusted for the others or for their number; topics are the units.",
        *methods(used, report),
        *remarks([column.title for column in COLUMNS], rows),
        origin(report),
    )
    return Table("difficulty", "With what a topic's difficulty goes along", COLUMNS, tuple(rows), notes)
