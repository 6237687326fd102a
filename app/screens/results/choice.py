"""The evaluator's first page: on one screen who, how far from people, at what price, what not to trust; then why."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from html import escape

import streamlit as st

from app.results.shown_file import Source
from app.screens.report_page import answer, open_report, section, warnings_and_making
from app.screens.results.plot_words import of_alone, of_frontier
from app.screens.results.tables_and_figures import (
    by_merit,
    in_columns,
    plot,
    plot_files,
    plot_html,
    sortable,
    table_html,
)
from calibration.choosing.choice import Choice
from calibration.choosing.choice_words import short_sentence
from calibration.results import CalibrationReport
from exports.answer import Answer, answer_of, carrying
from exports.cells import shown
from exports.plots.panels import alone_figure
from exports.sheets.alone import alone, alone_steps_table, alone_table
from exports.sheets.asked import names_on_top
from exports.sheets.judges import card_table, comparisons_table, judges_table, question_named
from exports.words.grammar import percent
from exports.words.sentences import alone_words, headline, price_words
from plain.wording import worded

NONE_YET = (
    "No judge can be chosen yet: that takes a judge and an annotator who answered the same questions, on criteria that "
    "share a scale. How far each of them is stands under Progress and Judges."
)

BESIDE = 6.0  # inches of the figure, which shares the screen with the sentence
OUTCOMES = {"beyond": "Beyond its limits", "cannot tell": "Cannot tell", "within": "Within its limits"}
FIRST = ("judge", "outcome")  # the answer is never what a narrow window cuts off
LAST = ("p_adjusted", "clusters_needed", "valid_share", "baseline", "baseline_by_distance", "on_frontier")


def show(source: Source) -> None:
    """Show the choice as it is now."""
    opened = open_report(source, worded("No judge to choose yet"))
    if opened is None:
        return
    report = opened.report
    choice, table = report.choice, judges_table(report)
    if choice is None or table is None:
        answer(headline(report), worded(NONE_YET))
        warnings_and_making(report, "Choice")
        return
    told = _answer(report)
    notes = tuple(note for note in table.notes if note != short_sentence(choice))  # the page has said it
    ranked = by_merit(replace(in_columns(table, FIRST, LAST), notes=notes), choice)
    sortable(ranked, report, "judges", choice.judge or "")
    _card(report, choice)
    two_by_two = comparisons_table(report)
    if two_by_two is not None:
        sortable(two_by_two, report, "comparisons")
    _alone(report)
    warnings_and_making(report, "Choice", told)


def _answer(report: CalibrationReport) -> list[str]:
    """Show what can be known on one screen: the sentence with its numbers and cautions, and the figure beside it.

    Return the texts of the warnings among them.
    """
    said, figure = answer_of(report), carrying(report, BESIDE)
    cautions = "".join(f"<li>{escape(one.text)}</li>" for one in said.cautions)
    trust = f'<h2>{worded("What not to trust")}</h2><ul class="c-warnings">{cautions}</ul>' if cautions else ""
    facts = f'<div><p class="c-answer">{escape(said.sentence)}</p>{facts_html(said, names_on_top(report))}{trust}</div>'
    drawn = plot_html(figure, of_frontier(report))
    st.html(f'<div class="c-page c-room"><div class="c-first">{facts}{drawn}</div></div>')
    if figure is not None:
        plot_files(figure, lambda: carrying(report, BESIDE), "frontier")
    prices = [
        worded("{judge}: {price}.", judge=row.judge, price=price_words(row, report.labels.money))
        for row in alone(report)
        if row.decided
    ]
    alone_at = worded("An error of {alone_error} allowed:", alone_error=percent(report.settings.alone_error))
    why = paragraphs(filter(None, [said.rests_on, alone_at if prices else "", *prices]))
    section(f'<details class="c-fold"><summary>{worded("What this rests on")}</summary>{why}</details>')
    return [caution.text for caution in said.cautions]


def facts_html(said: Answer, shown_first: Collection[str] = ()) -> str:
    """How far the judge is from people, and its price; then what its card has outside of its limits, or cannot tell."""
    asked = [row for row in (said.asked.rows if said.asked else ()) if row[0] in shown_first]
    told = [(worded(str(name)), " ".join(filter(None, shown(value)))) for name, value, *_ in asked]
    outcomes: dict[str, list[str]] = {}
    for question, outcome, *_ in said.card.rows if said.card else ():
        outcomes.setdefault(str(outcome), []).append(question_named(str(question)))
    told += [(worded(head), worded(", ").join(outcomes[one])) for one, head in OUTCOMES.items() if one in outcomes]
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in told)
    return f'<dl class="c-facts">{rows}</dl>'


def _alone(report: CalibrationReport) -> None:
    """Show what each judge may decide without a person, where the protocol states the error it may make."""
    table = alone_table(report)
    if table is None:
        return
    said = [
        alone_words(row, report.labels.cluster, report.settings.level, report.labels.money) for row in alone(report)
    ]
    section(f"<h2>{escape(worded(table.title))}</h2>{paragraphs(said)}")
    plot(lambda: alone_figure(report), "alone", of_alone(report))
    section(table_html(table, report))
    steps = alone_steps_table(report)
    if steps is not None:
        sortable(steps, report, "alone_steps")


def paragraphs(texts: Iterable[str]) -> str:
    """Each text as a paragraph of HTML."""
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


def _card(report: CalibrationReport, choice: Choice) -> None:
    judges = list(dict.fromkeys(row.judge for row in report.card))
    if not judges:
        return
    first = choice.foremost.judge if choice.foremost else ""
    section(f"<h2>{worded('The card of one judge')}</h2>")
    judge = st.selectbox(
        worded("Judge"), judges, index=judges.index(first) if first in judges else 0, key="card_of", width=280
    )
    table = card_table(report, judge)
    if table is not None:
        section(table_html(table, report))
