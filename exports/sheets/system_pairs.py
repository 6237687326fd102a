"""The table `system_pairs`: of every two systems that met, how often the first wins by people and by one judge."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace

from calibration.results import CalibrationReport, Estimate
from calibration.verdicts import SYSTEM_PAIR
from exports.cells import Cell
from exports.sheets.ranking import WIN_RATE, by_people, judge_shown, placing
from exports.tables import PEOPLE, Column, Table
from exports.words.notes import methods, origin, remarks

PAIR_WIN_RATE = "pair_win_rate"
Won = Mapping[tuple[str, str], Estimate]  # (system, other) -> share won by the system, both ways round


def system_pairs_table(report: CalibrationReport, judge: str = "") -> Table | None:
    """One row for every two systems, the one that people rank higher first; None where no two met.

    `judge`: as of `ranking_table`.
    """
    judge = judge or judge_shown(report)
    by = {"people": won_by(report, PEOPLE), "judge": won_by(report, judge)}
    pairs = [
        pair for pair in itertools.combinations(systems_in_order(report), 2) if any(pair in one for one in by.values())
    ]
    if not pairs:
        return None
    columns = [Column("system", "System"), Column("other", "Other system")]
    columns += [Column("people", "Wins by people", "people"), Column("n", "n"), Column("clusters", "Clusters", "C")]
    if by["judge"]:
        columns += [Column("judge", f"Wins by {judge}", "judge"), Column("judge_n", "n of the judge", "n judge")]
    rows: list[tuple[Cell, ...]] = []
    for pair in pairs:
        people, other = by["people"].get(pair), by["judge"].get(pair)
        row: list[Cell] = [*pair, people, people.n if people else 0, people.clusters if people else 0]
        rows.append((*row, other, other.n if other else 0) if by["judge"] else tuple(row))
    used = [cell for row in rows for cell in row if isinstance(cell, Estimate)]
    notes = (
        "Wins: share of all comparisons of the two that the first of them wins; a tie is half a win for each. n counts "
        "items by criteria, each once however many answered it.",
        "Pairs are not adjusted for their number: read single ones beside the ranking.",
        *methods(used, report),
        *remarks([column.title for column in columns], rows, names=2),
        origin(report),
    )
    return Table("system_pairs", "Systems two by two", tuple(columns), tuple(rows), notes)


def systems_in_order(report: CalibrationReport) -> list[str]:
    """Those that people ranked, their best first; [] where there is no ranking."""
    people = placing(report, WIN_RATE, PEOPLE)
    return by_people(people) if people else []


def won_by(report: CalibrationReport, rater: str) -> Won:
    """Shares won by each system over each other one, as `rater` says; a pair that never met is left out."""
    of_rater = (one for one in report.estimates if (one.statistic, one.rater) == (PAIR_WIN_RATE, rater))
    found = {one.category: one for one in of_rater}
    won = {}
    for pair in itertools.permutations(systems_in_order(report), 2):
        one = found.get(f"{SYSTEM_PAIR}{pair[0]}, {pair[1]}")
        if one is not None:
            won[pair], won[pair[1], pair[0]] = one, turned(one, pair)
    return won


def turned(one: Estimate, pair: tuple[str, str]) -> Estimate:
    """The same comparisons seen from the other system."""
    value = 1 - one.value
    return replace(
        one, value=value, low=1 - one.high, high=1 - one.low, category=f"{SYSTEM_PAIR}{pair[1]}, {pair[0]}",
        note=one.note.replace(f"of {pair[0]}; ", f"of {pair[1]}; ", 1),
    ) if not math.isnan(value) else one  # fmt: skip
