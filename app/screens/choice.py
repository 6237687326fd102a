"""The evaluator's first page: which judge to use, in one sentence; what each costs and reaches; the card of one."""

from __future__ import annotations

from dataclasses import replace
from html import escape

import streamlit as st

from annotation.people.principals import Principal
from app.plot_words import of_frontier
from app.screens.plots import plot
from app.screens.report_page import answer, open_report, section, warnings_and_making
from app.screens.report_tables import in_columns, sortable, table_html
from calibration.choosing.choice import Choice
from calibration.choosing.choice_words import in_two, short_sentence
from calibration.results import CalibrationReport
from exports.plots.frontier import frontier
from exports.sheets.card import card_table
from exports.sheets.comparisons import comparisons_table
from exports.sheets.judges import judges_table
from exports.words.sentences import headline

NONE_YET = (
    "No judge can be chosen yet: that takes a judge and an annotator who answered the same questions, on criteria that "
    "share a scale. How far each of them is stands under Progress and Judges."
)

FIRST = ("judge", "outcome")  # the answer is never what a narrow window cuts off
LAST = ("p_holm", "clusters_needed", "valid_share", "baseline", "on_frontier")


def show(principal: Principal) -> None:
    """The choice as it stands now."""
    opened = open_report(principal, "No judge to choose yet")
    if opened is None:
        return
    report = opened.report
    choice, table = report.choice, judges_table(report)
    if choice is None or table is None:
        answer(headline(report), NONE_YET)
        warnings_and_making(report)
        return
    found, rest = in_two(choice)
    answer(found)
    section(f"<p>{escape(rest)}</p>")
    plot(frontier(report), "frontier", of_frontier(report))
    notes = tuple(note for note in table.notes if note != short_sentence(choice))  # it stands above already
    sortable(replace(in_columns(table, FIRST, LAST), notes=notes), report, "judges")
    _card(report, choice)
    two_by_two = comparisons_table(report)
    if two_by_two is not None:
        sortable(two_by_two, report, "comparisons")
    warnings_and_making(report)


def _card(report: CalibrationReport, choice: Choice) -> None:
    judges = list(dict.fromkeys(row.judge for row in report.card))
    if not judges:
        return
    first = choice.foremost.judge if choice.foremost else ""
    section("<h2>The card of one judge</h2>")
    judge = st.selectbox("Judge", judges, index=judges.index(first) if first in judges else 0, key="card_of", width=280)
    table = card_table(report, judge)
    if table is not None:
        section(table_html(table, report))
