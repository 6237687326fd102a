"""Agreement of every judge with the annotators: in one sentence, as a plot, as a table, then what to know."""

from app.results.shown_file import Source
from app.screens.report_page import answer, open_report, warnings_and_making
from app.screens.results import plot_words, tables_and_figures
from calibration.results import CalibrationReport
from exports.plots.forest import forest, pass_fail_figure, pass_rates_figure
from exports.sheets.passing import confusion_table, label_rates_table, pass_fail_table, pass_rates_table
from exports.tables import agreement_table
from exports.words.sentences import headline
from plain.wording import worded


def show(source: Source) -> None:
    """Show the page with the report as it is now."""
    opened = open_report(source, worded("No agreement to show yet"))
    if opened is None:
        return
    report = opened.report
    answer(headline(report))
    tables_and_figures.plot(lambda: forest(report), "agreement", plot_words.of_forest)
    chosen = report.choice.judge if report.choice else None
    by_rater = tables_and_figures.by_merit(agreement_table(report), report.choice)
    tables_and_figures.sortable(by_rater, report, "agreement_table", chosen or "")
    _passing(report)
    warnings_and_making(report, "Agreement")


def _passing(report: CalibrationReport) -> None:
    """Where answers are labels, show who says which, how often judges are right, and corrected pass rates."""
    tables_and_figures.plot(lambda: pass_fail_figure(report), "pass_fail", lambda _: plot_words.of_pass_fail(report))
    tables = {
        "rates": pass_fail_table(report),
        "confusion": confusion_table(report),
        "label_rates": label_rates_table(report),
    }
    for key, table in tables.items():
        if table is not None:
            tables_and_figures.sortable(table, report, key)
    rates = pass_rates_table(report)
    if rates is not None:
        tables_and_figures.plot(lambda: pass_rates_figure(report), "pass_rates", plot_words.of_pass_rates(report))
        tables_and_figures.sortable(rates, report, "pass_rates")
