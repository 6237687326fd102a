"""Biases of judges: what was found, what was not, and what these labels could not have shown; then their confidence."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.people.principals import Principal
from app.plot_words import of_bias, of_confidence
from app.screens.plots import plot
from app.screens.report_page import answer, open_report, warnings_and_making
from app.screens.report_tables import sortable
from exports.plots.bias_figure import bias_figure
from exports.plots.confidence_figure import confidence_figure
from exports.sheets.bias import Asked, bias_table, headlines
from exports.sheets.confidence import confidence_table
from exports.tables import PEOPLE

NOTHING = "No bias of a judge can be looked for yet: that takes a judge's answers, and people's beside them."
NAMED = 3  # findings of each judge named in the sentence


def show(principal: Principal) -> None:
    """Every question that was asked of every judge."""
    opened = open_report(principal, "No bias to show yet")
    if opened is None:
        return
    report = opened.report
    answer(sentence([one for one in headlines(report) if one.bias.estimate.rater != PEOPLE]))
    plot(bias_figure(report), "bias", of_bias(report))
    table = bias_table(report)
    if table is not None:
        sortable(table, report, "biases")
    believed = confidence_table(report)
    if believed is not None:
        plot(confidence_figure(report), "confidence", of_confidence(report))
        sortable(believed, report, "confidence")
    warnings_and_making(report)


def sentence(asked: Sequence[Asked]) -> str:
    """How many biases were looked for in judges, which were found, and how many could not be told."""
    if not asked:
        return NOTHING
    found = [one for one in asked if one.bias.outcome == "found"]
    open_ones = sum(one.bias.outcome == "cannot_tell" for one in asked)
    absent = len(asked) - len(found) - open_ones
    said = f"{len(found):,} found ({_by_judge(found)})" if found else "none found"
    return (
        f"Of {len(asked):,} biases looked for in judges: {said}, {absent:,} shown to be too small to matter, "
        f"{open_ones:,} that these labels cannot tell."
    )


def _by_judge(found: Sequence[Asked]) -> str:
    """Every judge with the first of its biases, and how many more it has."""
    titles: dict[str, list[str]] = {}
    for one in found:
        titles.setdefault(one.rater, []).append(one.title)
    return "; ".join(
        f"{judge}: {'; '.join(own[:NAMED])}" + (f"; and {len(own) - NAMED:,} more" if len(own) > NAMED else "")
        for judge, own in titles.items()
    )
