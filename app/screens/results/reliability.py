"""Where one judge can be trusted: criterion by category of topics, beside a left-out annotator on the same labels."""

import math
from collections.abc import Sequence

import streamlit as st

from app.results.shown_file import Source
from app.screens import report_page, waiting
from app.screens.results import plot_words, tables_and_figures
from calibration import errors, results
from calibration.agreement.reliability_map import Cell, ReliabilityMap
from calibration.study.distance import is_by_distance
from exports.cells import shown
from exports.plots.value_maps import reliability
from exports.tables import Column, Table
from plain.wording import worded

NOBODY = (
    "Nothing to compare yet: that takes a judge, two annotators who answered the same questions, and scores of 25 "
    "levels at most (finer ones are on Agreement)."
)
COLUMNS = (
    Column("criterion", "Criterion"), Column("category", "Category"), Column("agreement", "Judge"),
    Column("ceiling", "Left-out annotator"), Column("gap", "Gap"), Column("n", "n"), Column("clusters", "Clusters"),
)  # fmt: skip
READING = (
    "Judge and left-out annotator: agreement with the other annotators, on the same labels and references. Gap: the "
    "annotator's minus the judge's; above 0 the judge agrees less than a person does. Unusable answers are left out "
    "here; the gap on Choice counts them as disagreement.",
    "A cell below 20 clusters has no interval. Many cells are looked at together: the largest gap is large by chance "
    "as well.",
)


def show(source: Source) -> None:
    """The map of the judge that is chosen here."""
    opened = report_page.open_report(source, worded("No map to show yet"))
    if opened is None:
        return
    report = opened.report
    judges = candidates(report)
    if not judges:
        report_page.answer(worded(NOBODY))
        report_page.warnings_and_making(report, "Reliability")
        return
    foremost = report.choice.foremost if report.choice else None
    first = foremost.judge if foremost else judges[0]
    head = st.container()
    judge = st.selectbox(worded("Judge"), judges, index=judges.index(first), key="reliability_of", width=280)
    try:
        kept = waiting.computed("map", source, opened.version, judge, doing="Looking at each criterion and category")
        if kept is None:
            return
        cells: ReliabilityMap = kept.value
    except errors.CalibrationError as error:
        cells = ReliabilityMap(judge, (), (), ())
        head.caption(error.text)
    with head:
        report_page.answer(sentence(cells))
    tables_and_figures.plot(lambda: reliability(cells), "reliability", plot_words.of_reliability(cells))
    table = cells_table(cells)
    if table.rows:
        tables_and_figures.sortable(table, report, "cells")
    report_page.warnings_and_making(report, "Reliability")


def candidates(report: results.CalibrationReport) -> list[str]:
    """Every judge that can be looked at, those that were chosen among first."""
    tried = [candidate.judge for candidate in report.choice.candidates] if report.choice else []
    return list(dict.fromkeys([*tried, *report.labels.judges]))


def sentence(mapped: ReliabilityMap) -> str:
    """Say where the judge is furthest behind people."""
    cells = known(mapped)
    inner = [cell for cell in cells if cell.criterion != "all" and (cell.category != "all" or not mapped.categories)]
    sure = [cell for cell in inner if not math.isnan(cell.gap.low)] or inner
    if not sure:
        return worded(NOBODY)
    worst = max(sure, key=lambda cell: cell.gap.value)
    place = (
        worst.criterion
        if worst.category == "all"
        else worded("{criterion} in {category}", criterion=worst.criterion, category=worst.category)
    )
    judge, person = shown(worst.agreement)[0], shown(worst.ceiling)[0]
    judge += worded(" by distance") if is_by_distance(worst.agreement.statistic) else ""
    if worst.gap.value <= 0:
        return worded(
            "In none of {sure:,} cells with a value is {judge} behind a left-out annotator; closest "
            "on {place}, {judge2} against {person}.",
            sure=len(sure), judge=mapped.judge, place=place, judge2=judge, person=person,
        )  # fmt: skip
    gap = " ".join(filter(None, shown(worst.gap)))
    if len(sure) == 1 and not math.isnan(worst.gap.low):
        return worded(
            "{judge} is behind a left-out annotator on {place}: {judge2} against {person}, a gap of {gap}.",
            judge=mapped.judge, place=place, judge2=judge, person=person, gap=gap,
        )  # fmt: skip
    thin = worded("; no cell has the clusters that an interval takes") if math.isnan(worst.gap.low) else ""
    return worded(
        "{judge} is furthest behind a left-out annotator on {place}: {judge2} against {person}, "
        "a gap of {gap}, the largest of {sure:,}{thin}.",
        judge=mapped.judge, place=place, judge2=judge, person=person, gap=gap, sure=len(sure), thin=thin,
    )  # fmt: skip


def known(mapped: ReliabilityMap) -> Sequence[Cell]:
    """The cells that hold a value."""
    return [cell for cell in mapped.cells if not math.isnan(cell.gap.value)]


def cells_table(mapped: ReliabilityMap) -> Table:
    """One row a cell, margins included where they are of several criteria."""
    cells = [one for one in known(mapped) if one.criterion != "all" or len(mapped.criteria) > 1]
    rows = tuple(
        (_margin(cell.criterion), _margin(cell.category), cell.agreement, cell.ceiling, cell.gap, cell.gap.n,
         cell.gap.clusters)
        for cell in cells
    )  # fmt: skip
    return Table("cells", worded("{judge} by criterion and category", judge=mapped.judge), COLUMNS, rows, READING)


def _margin(name: str) -> str:
    return worded(name) if name == "all" else name  # which no criterion and no category may be called
