"""Biases of judges: what was found, what was not, and what these labels could not have shown; then their confidence."""

from collections.abc import Sequence

from app.results.shown_file import Source
from app.screens.report_page import answer, open_report, warnings_and_making
from app.screens.results import plot_words, tables_and_figures
from exports.plots.bias_figure import bias_figure
from exports.plots.panels import confidence_figure
from exports.sheets import bias, confidence
from exports.tables import PEOPLE
from plain.wording import worded

NOTHING = (
    "No bias of a judge can be looked for yet: that takes its answers beside people's, and pairs of reports (order, "
    "length), scores (leniency) or repeats (its own consistency)."
)
NAMED = 3  # findings of each judge named in the sentence


def show(source: Source) -> None:
    """Every question that was asked of every judge."""
    opened = open_report(source, worded("No bias to show yet"))
    if opened is None:
        return
    report = opened.report
    answer(sentence([question for question in bias.headlines(report) if question.bias.estimate.rater != PEOPLE]))
    tables_and_figures.plot(lambda: bias_figure(report), "bias", plot_words.of_bias(report))
    table = bias.bias_table(report)
    if table is not None:
        tables_and_figures.sortable(table, report, "biases")
    believed = confidence.confidence_table(report)
    if believed is not None:
        tables_and_figures.plot(lambda: confidence_figure(report), "confidence", plot_words.of_confidence(report))
        tables_and_figures.sortable(believed, report, "confidence")
    warnings_and_making(report, "Bias")


def sentence(asked: Sequence[bias.Asked]) -> str:
    """Say how many biases were looked for in judges, which were found, and how many could not be told."""
    if not asked:
        return worded(NOTHING)
    biased = [question for question in asked if question.bias.outcome == "found"]
    open_ones = sum(question.bias.outcome == "cannot_tell" for question in asked)
    absent = len(asked) - len(biased) - open_ones
    said = (
        worded("{biased:,} found ({by_judge})", biased=len(biased), by_judge=_by_judge(biased))
        if biased
        else worded("none found")
    )
    return worded(
        "Of {asked:,} biases looked for in judges: {said}, {absent:,} shown to be too small to "
        "matter, {open_ones:,} that these labels cannot tell.",
        asked=len(asked), said=said, absent=absent, open_ones=open_ones,
    )  # fmt: skip


def _by_judge(biased: Sequence[bias.Asked]) -> str:
    """Every judge with the first of its biases, and how many more it has."""
    titles: dict[str, list[str]] = {}
    for question in biased:
        titles.setdefault(question.rater, []).append(question.said)
    return worded("; ").join(
        f"{judge}: {worded('; ').join(own[:NAMED])}"
        + (worded("; and {named:,} more", named=len(own) - NAMED) if len(own) > NAMED else "")
        for judge, own in titles.items()
    )
