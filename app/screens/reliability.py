"""Where one judge can be trusted: criterion by category of topics, beside a left-out annotator on the same labels."""

from __future__ import annotations

import math
from collections.abc import Sequence

import streamlit as st

from annotation.people.principals import Principal
from app.plot_words import of_reliability
from app.screens.plots import plot
from app.screens.report_page import answer, open_report, warnings_and_making
from app.screens.report_tables import sortable
from app.screens.waiting import computed
from calibration.biases.reliability_map import Cell, ReliabilityMap
from calibration.errors import CalibrationError
from calibration.results import CalibrationReport
from exports.cells import shown
from exports.plots.reliability import reliability
from exports.tables import Column, Table

NOBODY = "Nothing to compare yet: that takes a judge, and two annotators who answered the same questions."
COLUMNS = (
    Column("criterion", "Criterion"), Column("category", "Category"), Column("agreement", "Judge"),
    Column("ceiling", "Left-out annotator"), Column("gap", "Gap"), Column("n", "n"), Column("clusters", "Clusters"),
)  # fmt: skip
READING = (
    "Judge and left-out annotator: agreement with the other annotators, on the same labels and references. Gap: the "
    "annotator's minus the judge's; above 0 the judge agrees less than a person does.",
    "A cell below 20 clusters has no interval. Many cells are looked at together: the largest gap is large by chance "
    "as well.",
)


def show(principal: Principal) -> None:
    """The map of the judge that is chosen here."""
    opened = open_report(principal, "No map to show yet")
    if opened is None:
        return
    report = opened.report
    judges = candidates(report)
    if not judges:
        answer(NOBODY)
        warnings_and_making(report)
        return
    foremost = report.choice.foremost if report.choice else None
    first = foremost.judge if foremost else judges[0]
    head = st.container()
    judge = st.selectbox("Judge", judges, index=judges.index(first), key="reliability_of", width=280)
    try:
        kept = computed("map", principal, opened.version, judge, doing="Looking at each criterion and category")
        if kept is None:
            return
        found: ReliabilityMap = kept.value
    except CalibrationError as error:
        found = ReliabilityMap(judge, (), (), ())
        head.caption(error.text)
    with head:
        answer(sentence(found))
    plot(reliability(found), "reliability", of_reliability(found))
    table = cells_table(found)
    if table.rows:
        sortable(table, report, "cells")
    warnings_and_making(report)


def candidates(report: CalibrationReport) -> list[str]:
    """Every judge that can be looked at, those that were chosen among first."""
    tried = [one.judge for one in report.choice.candidates] if report.choice else []
    return list(dict.fromkeys([*tried, *report.data["judges"]]))


def sentence(found: ReliabilityMap) -> str:
    """Where the judge is furthest behind people."""
    cells = known(found)
    inner = [one for one in cells if one.criterion != "all" and (one.category != "all" or not found.categories)]
    sure = [one for one in inner if not math.isnan(one.gap.low)] or inner
    if not sure:
        return NOBODY
    worst = max(sure, key=lambda one: one.gap.value)
    place = worst.criterion if worst.category == "all" else f"{worst.criterion} in {worst.category}"
    judge, person = shown(worst.agreement)[0], shown(worst.ceiling)[0]
    if worst.gap.value <= 0:
        return (
            f"In none of {len(sure):,} cells with a value is {found.judge} behind a left-out annotator; closest on "
            f"{place}, {judge} against {person}."
        )
    gap = " ".join(filter(None, shown(worst.gap)))
    thin = "; no cell has the clusters that an interval takes" if math.isnan(worst.gap.low) else ""
    return (
        f"{found.judge} is furthest behind a left-out annotator on {place}: {judge} against {person}, a gap of {gap}, "
        f"the largest of {len(sure):,}{thin}."
    )


def known(found: ReliabilityMap) -> Sequence[Cell]:
    """The cells that hold a value."""
    return [one for one in found.cells if not math.isnan(one.gap.value)]


def cells_table(found: ReliabilityMap) -> Table:
    """One row a cell, margins included."""
    rows = tuple(
        (one.criterion, one.category, one.agreement, one.ceiling, one.gap, one.gap.n, one.gap.clusters)
        for one in known(found)
    )
    return Table("cells", f"{found.judge} by criterion and category", COLUMNS, rows, READING)
