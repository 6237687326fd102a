"""Agreement of every judge with the annotators: in one sentence, as a plot, as a table, then what to know."""

from __future__ import annotations

from annotation.people.principals import Principal
from app.plot_words import of_forest
from app.screens.plots import plot
from app.screens.report_page import answer, open_report, warnings_and_making
from app.screens.report_tables import sortable
from exports.plots.forest import forest
from exports.tables import agreement_table
from exports.words.sentences import headline


def show(principal: Principal) -> None:
    """As it stands now."""
    opened = open_report(principal, "No agreement to show yet")
    if opened is None:
        return
    report = opened.report
    answer(headline(report))
    figure = forest(report)
    plot(figure, "agreement", of_forest(figure))
    sortable(agreement_table(report), report, "agreement_table")
    warnings_and_making(report)
