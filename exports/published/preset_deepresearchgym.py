"""The preset `deepresearchgym`: its Table 3, Cohen's kappa of each score of a judge with people's preferences."""

from __future__ import annotations

import pandas as pd

from calibration.errors import CalibrationError
from calibration.people.inter_human import mean_kappa_of_people
from calibration.results import CalibrationReport
from calibration.scores.score_preferences import PreferenceAgreement, peoples_preferences, preference_agreement
from exports.cells import Cell
from exports.errors import ExportError
from exports.published.preset_parts import clusters_word, notes_below
from exports.tables import AMONG, Column, Table

COLUMNS = (
    Column("score", "Score"),
    Column("judge", "Judge"),
    Column("cohen_kappa", "Cohen's κ", "κ"),
    Column("cohen_kappa_symmetrised", "κ, symmetrised", "κ-s"),
    Column("kept", "Kept (k of n)", "k of n"),
    Column("kept_share", "Kept share", "kept"),
    Column("n", "n"),
    Column("clusters", "Clusters", "C"),
)


def deepresearchgym_table(verdicts: pd.DataFrame, report: CalibrationReport) -> Table:
    """One row per score and judge, then the annotators among themselves.

    Raises `wrong_task` unless people answer one pairwise criterion and some judge has scores or preferences.
    """
    try:
        people = peoples_preferences(verdicts, report.settings)
        found = preference_agreement(verdicts, report.settings)
    except CalibrationError as error:
        raise ExportError("wrong_task", f"preset deepresearchgym: {error.text}") from None
    if not found and report.data["judges"]:
        raise ExportError(
            "wrong_task",
            "preset deepresearchgym: no judge scored both reports of a pair that people compared; give judges' rows "
            "with system_a and the topic as cluster_id, as the people's rows name them",
        )
    among = mean_kappa_of_people(people, report.settings)
    rows: list[tuple[Cell, ...]] = [_row(one) for one in found]
    rows.append((str(people["criterion"].iloc[0]), AMONG, among, None, None, None, among.n, among.clusters))
    stated = [f"{one.judge} on {one.score}" for one in found if not one.derived]
    reading = (
        "Label agreement over pairs of systems inside one topic: a person's preference against the sign of the "
        "difference of two scores (no margin), by Cohen's κ. Ties on either side are dropped: kept k of n.",
        "Annotators' rows are pooled, so that a topic counts as often as people answered it, as in the paper, which "
        "prints no intervals; there all annotators of a topic saw one order.",
        *(
            [f"Preferences that stand in the data as such, not derived here from scores: {', '.join(stated)}."]
            if stated
            else []
        ),
        f"{AMONG.capitalize()}: unweighted mean of κ over pairs of annotators, as in the paper; a tie is a label there."
        " It is no ceiling of the rows above: their reference is every annotator, pooled.",
        "A and B are as named when a pair was made; κ, symmetrised, does not depend on that naming. n counts "
        f"preferences compared, clusters the {clusters_word(report)}; a preference is lost where the judge has no "
        "score of a report or either side ties.",
    )
    notes = notes_below(report, COLUMNS, rows, reading, names=2)
    title = "Judges in the form of DeepResearchGym, Table 3"
    return Table("preset_deepresearchgym", title, COLUMNS, tuple(rows), notes)


def _row(one: PreferenceAgreement) -> tuple[Cell, ...]:
    kept = f"{one.kappa.n:,} of {one.kept.n:,}"
    return (
        one.score, one.judge, one.kappa, one.symmetrised, kept, one.kept, one.kappa.n, one.kappa.clusters,
    )  # fmt: skip
