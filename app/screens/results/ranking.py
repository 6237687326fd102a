"""Which system is best: by people, by one judge alone, and by the judge corrected with people's labels."""

import math

import streamlit as st

from app.results.shown_file import Source
from app.screens.report_page import answer, open_report, section, warnings_and_making
from app.screens.results import plot_words, tables_and_figures
from calibration.results import CalibrationReport
from exports.cells import DASH, Cell, shown
from exports.plots.ranking_figure import ranking_figure
from exports.sheets import systems, topics
from exports.sheets.ranking import CORRECTED, STRENGTH, WIN_RATE, by_people, judge_shown, placing, ranking_table
from exports.tables import PEOPLE, Column, Table, called
from plain.wording import worded

NOTHING = "No system can be ranked: that takes pairs of reports whose systems are known, and people's verdicts on them."
MASKED = "Systems are numbered, not named, until the study is closed or revealed."
FIRM = (
    Column("by", "Order by"), Column("statistic", "Made of"), Column("first", "First"), Column("stays", "Stays first"),
    Column("note", "Remark"),
)  # fmt: skip
ALIKE = (
    Column("one", "One"), Column("other", "Other"), Column("tau", "Kendall's τ"), Column("n", "n"),
    Column("clusters", "Clusters"),
)  # fmt: skip


def show(source: Source) -> None:
    """Side by side, for the judge that is chosen here."""
    opened = open_report(source, worded("No ranking to show yet"))
    if opened is None:
        return
    report = opened.report
    if placing(report, WIN_RATE, PEOPLE) is None:
        answer(best_by_measure(report) or worded(NOTHING), "" if opened.names_systems else worded(MASKED))
        _by_measures(report)
        warnings_and_making(report, "Ranking")
        return
    answer(sentence(report), "" if opened.names_systems else worded(MASKED))
    judge = _judge(report)
    tables_and_figures.plot(
        lambda: ranking_figure(report, judge=judge), "ranking", plot_words.of_ranking(report, judge)
    )
    table = ranking_table(report, judge)
    if table is not None:
        tables_and_figures.sortable(table, report, "systems")
    section(
        f"<h2>{worded('How firm the first place is')}</h2>"
        f"{tables_and_figures.table_html(firmness(report, judge), report)}"
    )
    alike = orders(report)
    if alike.rows:
        tables_and_figures.sortable(alike, report, "orders")
    _by_measures(report)
    by_category = topics.categories_table(report)
    if by_category is not None:
        tables_and_figures.sortable(by_category, report, "categories")
    warnings_and_making(report, "Ranking")


def sentence(report: CalibrationReport) -> str:
    """Who is first by people, how far, and how firmly."""
    people = placing(report, WIN_RATE, PEOPLE)
    if people is None:
        return worded(NOTHING)
    first = by_people(people)[0]
    value, interval = shown(people.estimates[first])
    firm = "" if math.isnan(people.keeps_first) else (
        worded(", and stays first in {percent} of resamples of whole clusters", percent=_percent(people.keeps_first))
    )  # fmt: skip
    return worded(
        "By people {first} is first: it wins {value} of its comparisons{firm}.",
        first=first, value=f"{value} {interval}".strip(), firm=firm,
    )  # fmt: skip


def best_by_measure(report: CalibrationReport) -> str:
    """Who has the most of the study's first measure; "" where it has none."""
    table = systems.systems_table(report)
    if table is None:
        return ""
    first, measure = table.rows[0], table.columns[1].title
    value, interval = shown(first[1])
    return worded(
        "{first} has the highest {measure}: {value}.",
        first=first[0], measure=measure, value=f"{value} {interval}".strip(),
    )  # fmt: skip


def _by_measures(report: CalibrationReport) -> None:
    """Show what the study's aggregates say of every system, how far judges are off, and how alike their orders are."""
    for make in (systems.systems_table, systems.systems_apart_table, systems.system_orders_table):
        table = make(report)
        if table is not None:
            tables_and_figures.sortable(table, report, table.name)


def firmness(report: CalibrationReport, judge: str) -> Table:
    """The first system of each order, and how often it is first again when whole clusters are drawn anew."""
    wins, strengths = worded("win rates"), worded("Bradley–Terry strengths")
    alone = worded("{judge} alone", judge=judge)
    asked = (
        (worded("people"), wins, WIN_RATE, PEOPLE), (worded("people"), strengths, STRENGTH, PEOPLE),
        (alone, wins, WIN_RATE, judge), (alone, strengths, STRENGTH, judge),
        (worded("{judge}, corrected by people", judge=judge), wins, CORRECTED, judge),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for by, made_of, statistic, rater in asked:
        placed = placing(report, statistic, rater)
        if placed is not None:
            rows.append((by, made_of, by_people(placed)[0], _percent(placed.keeps_first), worded(placed.note)))
    remarked = any(row[-1] for row in rows)
    shown_rows = tuple(row if remarked else row[:-1] for row in rows)
    return Table("first", "How firm the first place is", FIRM if remarked else FIRM[:-1], shown_rows, ())


def orders(report: CalibrationReport) -> Table:
    """Kendall's tau-b of every two raters' orders of the systems."""
    taus = [estimate for estimate in report.estimates if estimate.statistic == "kendall_tau_b_systems"]
    rows: list[tuple[Cell, ...]] = [
        (called(tau.rater), called(tau.reference), tau, tau.n, tau.clusters) for tau in taus
    ]
    note = worded(
        "1: the same order; 0: none in common; −1: reversed. Few systems make it coarse, and a bias can leave it at 1."
    )
    return Table("orders", "Whether raters order the systems alike", ALIKE, tuple(rows), (note,) if rows else ())


def _judge(report: CalibrationReport) -> str:
    """The one that is looked at; "" where none ranked a system."""
    judges = list(dict.fromkeys(ranking.rater for ranking in report.rankings or () if ranking.rater != PEOPLE))
    if not judges:
        return ""
    first = judge_shown(report)
    index = judges.index(first) if first in judges else 0
    return str(st.selectbox(worded("Judge"), judges, index=index, key="ranking_by", width=280))


def _percent(share: float) -> str:
    return DASH if math.isnan(share) else f"{100 * share:.0f} %"
