"""The evaluator's first page: which judge to use, in one sentence; what each costs and reaches; the card of one."""

from collections.abc import Sequence
from dataclasses import replace
from html import escape

import streamlit as st

from app.results.shown_file import Source
from app.screens.report_page import answer, open_report, section, warnings_and_making
from app.screens.results.plot_words import of_alone, of_frontier
from app.screens.results.tables_and_figures import in_columns, plot, sortable, table_html
from calibration.choosing.choice import Choice
from calibration.choosing.choice_words import short_sentence
from calibration.results import CalibrationReport
from exports.plots.frontier import frontier
from exports.plots.panels import alone_figure
from exports.sheets.alone import alone, alone_steps_table, alone_table
from exports.sheets.judges import card_table, comparisons_table, judges_table
from exports.words.grammar import percent
from exports.words.sentences import alone_words, headline, price_words

NONE_YET = (
    "No judge can be chosen yet: that takes a judge and an annotator who answered the same questions, on criteria that "
    "share a scale. How far each of them is stands under Progress and Judges."
)

FIRST = ("judge", "outcome")  # the answer is never what a narrow window cuts off
LAST = ("p_adjusted", "clusters_needed", "valid_share", "baseline", "on_frontier")


def show(source: Source) -> None:
    """Show the choice as it is now."""
    opened = open_report(source, "No judge to choose yet")
    if opened is None:
        return
    report = opened.report
    choice, table = report.choice, judges_table(report)
    if choice is None or table is None:
        answer(headline(report), NONE_YET)
        warnings_and_making(report)
        return
    answer(choice.headline)
    section(f"<p>{escape(choice.details)}</p>")
    if choice.look not in choice.sentence:
        section(f'<p class="c-soft">{escape(choice.look)}</p>')
    plot(frontier(report), "frontier", of_frontier(report))
    prices = [f"{row.judge}: {price_words(row)}." for row in alone(report) if row.decided]
    if prices:
        section(f"<p>Beside it, an error of {percent(report.settings.alone_error)} allowed:</p>{paragraphs(prices)}")
    notes = tuple(note for note in table.notes if note != short_sentence(choice))  # it stands above already
    sortable(replace(in_columns(table, FIRST, LAST), notes=notes), report, "judges")
    _card(report, choice)
    two_by_two = comparisons_table(report)
    if two_by_two is not None:
        sortable(two_by_two, report, "comparisons")
    _alone(report)
    warnings_and_making(report)


def _alone(report: CalibrationReport) -> None:
    """Show what each judge may decide without a person, where the protocol states the error it may make."""
    table = alone_table(report)
    if table is None:
        return
    said = [alone_words(row, report.labels.cluster, report.settings.level) for row in alone(report)]
    section(f"<h2>{escape(table.title)}</h2>{paragraphs(said)}")
    plot(alone_figure(report), "alone", of_alone(report))
    section(table_html(table, report))
    steps = alone_steps_table(report)
    if steps is not None:
        sortable(steps, report, "alone_steps")


def paragraphs(texts: Sequence[str]) -> str:
    """Each text as a paragraph of HTML."""
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


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
