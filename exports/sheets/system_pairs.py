"""The tables of two systems each: `system_pairs` by wins, and `system_differences` by scores, topic by topic."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from calibration.errors import CalibrationError
from calibration.remarks import Reason, told
from calibration.results import CalibrationReport, Estimate
from calibration.table.verdicts import SYSTEM_PAIR
from calibration.totals.system_differences import SystemDifference, system_differences
from exports.cells import Cell, Probability
from exports.sheets.ranking import WIN_RATE, by_people, judge_shown, placing
from exports.tables import COUNTS, PEOPLE, Column, Table, called, noted_table
from plain.wording import worded

PAIR_WIN_RATE = "pair_win_rate"
Won = Mapping[tuple[str, str], Estimate]  # (system, other) -> share won by the system, both ways round


def system_pairs_table(report: CalibrationReport, judge: str = "") -> Table | None:
    """One row for every two systems, the one that people rank higher first; None where no two met.

    `judge`: as of `ranking_table`.
    """
    judge = judge or judge_shown(report)
    by = {"people": won_by(report, PEOPLE), "judge": won_by(report, judge)}
    pairs = [
        pair
        for pair in itertools.combinations(systems_in_order(report), 2)
        if any(pair in estimates for estimates in by.values())
    ]
    if not pairs:
        return None
    columns = [Column("system", "System"), Column("other", "Other system")]
    columns += [Column("people", "Wins by people", "people"), *COUNTS]
    if by["judge"]:
        columns += [
            Column("judge", worded("Wins by {judge}", judge=judge), "judge"),
            Column("judge_n", "n of the judge", "n judge"),
        ]
    rows: list[tuple[Cell, ...]] = []
    for pair in pairs:
        people, other = by["people"].get(pair), by["judge"].get(pair)
        row: list[Cell] = [*pair, people, people.n if people else 0, people.clusters if people else 0]
        rows.append((*row, other, other.n if other else 0) if by["judge"] else tuple(row))
    reading = (
        "Wins: share of all comparisons of the two that the first of them wins; a tie is half a win for each. n counts "
        "items by criteria, each once however many answered it.",
        "Pairs are not adjusted for their number: read single ones beside the ranking.",
    )
    return noted_table("system_pairs", "Systems two by two", columns, rows, reading, report, names=2)


def systems_in_order(report: CalibrationReport) -> list[str]:
    """Those that people ranked, their best first; [] where there is no ranking."""
    people = placing(report, WIN_RATE, PEOPLE)
    return by_people(people) if people else []


def won_by(report: CalibrationReport, rater: str) -> Won:
    """Shares won by each system over each other one, as `rater` says; a pair that never met is left out."""
    of_rater = (
        estimate for estimate in report.estimates if (estimate.statistic, estimate.rater) == (PAIR_WIN_RATE, rater)
    )
    estimates = {estimate.category: estimate for estimate in of_rater}
    won = {}
    for pair in itertools.permutations(systems_in_order(report), 2):
        estimate = estimates.get(f"{SYSTEM_PAIR}{pair[0]}, {pair[1]}")
        if estimate is not None:
            won[pair], won[pair[1], pair[0]] = estimate, turned(estimate, pair)
    return won


def turned(estimate: Estimate, pair: tuple[str, str]) -> Estimate:
    """The same comparisons seen from the other system."""
    value = 1 - estimate.value
    return replace(
        estimate, value=value, low=1 - estimate.high, high=1 - estimate.low,
        category=f"{SYSTEM_PAIR}{pair[1]}, {pair[0]}",
        remarks=(told(Reason.WON_BY, system=pair[1]), *estimate.remarks[1:]),
    ) if not math.isnan(value) else estimate  # fmt: skip


MOST_SYSTEMS = 6  # fifteen pairs for each rater; of more, those asked for by name
DIFFERENCE_COLUMNS = (
    Column("rater", "By"),
    Column("criterion", "Criterion"),
    Column("system", "System"),
    Column("other", "Other system", "other"),
    Column("difference", "Scores higher by", "diff"),
    Column("p_wilcoxon", "p (Wilcoxon, Holm)", "p"),
    Column("spearman", "ρ over topics", "ρ"),
    Column("n", "Topics", "n"),
)


def system_differences_table(verdicts: pd.DataFrame, report: CalibrationReport) -> Table | None:
    """Every two systems by everybody; None unless reports are rated, on topics not drawn, of two to six systems."""
    rated = set(report.labels.criteria.values()) == {"rating"}
    systems = [name for name in (report.labels.systems or ()) if name]
    if not rated or report.labels.drawn or not 1 < len(systems) <= MOST_SYSTEMS:
        return None
    try:
        return differences_table(system_differences(verdicts, report.settings), report)
    except CalibrationError as error:
        if error.code == "mixed_label_types":  # criteria on several scales have no total
            return None
        raise


def differences_table(differences: Sequence[SystemDifference], report: CalibrationReport) -> Table | None:
    """One row for each; None for none. The column of criteria is there only where there are several."""
    if not differences:
        return None
    rows: list[tuple[Cell, ...]] = [
        (
            called(pair.rater, "annotators"), pair.criterion, pair.system, pair.other,
            pair.difference, Probability(pair.p_holm), pair.spearman, pair.difference.n,
        )
        for pair in differences
    ]  # fmt: skip
    columns = DIFFERENCE_COLUMNS
    if len({difference.criterion for difference in differences}) == 1:
        columns, rows = _without(columns, 1), [_without(row, 1) for row in rows]
    zeros = sum(difference.zeros for difference in differences)
    reading = (
        "Scores higher by: mean over topics of the first system's score minus the other's, on the topics both have. "
        "The annotators' score of a report is the mean of theirs, and a score the mean of all criteria asked.",
        "p: two-sided signed-rank test over topics (Wilcoxon 1945), adjusted by Holm over the pairs of one rater and "
        f"criterion; topics without a difference are dropped ({zeros:,} in all rows). Intervals of two single systems "
        "that overlap, or do not, are no test of their difference.",
        "ρ: Spearman over topics of the two systems' scores, whether topics that are hard for one are hard for both.",
    )
    return noted_table(
        "system_differences",
        "Systems two by two, topic by topic",
        columns,
        rows,
        reading,
        report,
        names=len(columns) - 5,
    )


def _without(row: tuple[Any, ...], place: int) -> tuple[Any, ...]:
    return (*row[:place], *row[place + 1 :])
