"""A calibration report in the terminal: the answer, one compact table, then what to know before using a number."""

from collections.abc import Sequence
from os import environ
from textwrap import wrap

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text

from app.commands.printing import PIPE_WIDTH, visible
from calibration.choosing.card import CardRow, card_of
from calibration.results import CalibrationReport, Estimate
from exports.cells import Cell, shown
from exports.sheets.agreement import points_table, summary_table
from exports.sheets.alone import alone
from exports.sheets.judges import judges_told
from exports.tables import Table
from exports.words.notes import other_constant, scale_words
from exports.words.sentences import alone_words, cascade_words, folded, opening

SOFT = "dim"
NAME = 16  # columns that a rater's name has at least
MARGIN = 14  # columns, of the titles before their values


def print_report(report: CalibrationReport, judge: str = "") -> None:
    """As wide as the terminal; into a pipe sentences of 80 columns and tables of one line a row, without colours.

    `judge`: whose card; left out: of the chosen judge, or of the one that comes closest.
    """

    console = Console(highlight=False)
    # not rich's own folding, which would part a value from its interval at their no-break space
    console.print("\n".join(wrap(visible(opening(report)), console.width)), style="bold", markup=False)
    table = summary_table(report)
    if table.rows:
        _print_fitting(table, console)
        console.print("\n".join(wrap(visible(_each_judge(report)), console.width)), markup=False)
        console.print(visible(_reading(report, table)), style=SOFT, markup=False)
    foremost = report.choice.foremost if report.choice else None
    rows = card_of(report.card, judge or (foremost.judge if foremost else ""))
    if rows:
        console.print(f"\n{visible(rows[0].judge)}, question by question", style="bold", markup=False)
        console.print(_card(rows))
    for cascade in report.cascades:
        console.print(
            "\n".join(wrap(visible(cascade_words(cascade, report.labels.money)), console.width)), markup=False
        )
    for judge_alone in alone(report):
        told = alone_words(judge_alone, report.labels.cluster, report.settings.level, report.labels.money)
        console.print("\n".join(wrap(visible(told), console.width)), markup=False)
    cautions = folded(report)
    if cautions:
        console.print("\nBefore you use a number", style="bold")
        console.print(
            _list([Text.assemble(visible(caution.text), (f"  {caution.code}", SOFT)) for caution in cautions])
        )


def points_of(report: CalibrationReport) -> tuple[str, Grid]:
    """What is told of agreement before its intervals are there: a sentence and a table; `report`: of points alone."""
    table = points_table(report)
    return f"{table.title}.", _grid(table, "  ")


def print_one(table: Table) -> None:
    """A table with its title above and its notes below, as wide as the terminal; into a pipe one line a row."""
    console = Console(highlight=False)
    console.print(visible(table.title), style="bold", markup=False)
    _print_fitting(table, console)
    for note in table.notes:
        console.print("\n".join(wrap(visible(note), console.width)), style=SOFT, markup=False)


def _print_fitting(table: Table, console: Console) -> None:

    if console.is_terminal or "COLUMNS" in environ:
        console.print(_fitting(table, console))
    else:
        Console(width=PIPE_WIDTH, highlight=False).print(_grid(table, "  "))


def _fitting(table: Table, console: Console) -> Grid | Text:
    """Show it in columns where they fit, its values over their intervals where that helps, else row by row."""
    roomy = console.options.update(max_width=500)
    one_line, two_lines = _grid(table, "  "), _grid(table, "\n")
    longest = max(len(str(row[0])) for row in table.rows)
    folded_name = longest - min(longest, NAME)  # what folding the names can save
    if Measurement.get(console, roomy, one_line).maximum <= console.width:
        return one_line
    if Measurement.get(console, roomy, two_lines).maximum - folded_name <= console.width:
        return two_lines
    return _blocks(table)


def _card(rows: Sequence[CardRow]) -> Grid:
    """Question, outcome, and the sentence with its limit."""
    grid = Grid.grid(padding=(0, 2))
    for _ in range(2):
        grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for row in rows:
        firm = "" if row.outcome == "within" else "bold"
        grid.add_row(
            row.question,
            Text(row.outcome, style=firm),
            Text.assemble(visible(row.sentence), (f" (limit: {row.limit})", SOFT)),
        )
    return grid


def _grid(table: Table, between: str) -> Grid:
    """`between` separates a value and its interval: two spaces, or a new line where the terminal is narrow."""
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1), header_style="bold")
    for number, column in enumerate(table.columns):
        name = number == 0
        grid.add_column(column.title, justify="left" if name else "right", no_wrap=not name, overflow="fold")
    for row in table.rows:
        cells = (
            _cell(cell, between, column.key == "baseline") for column, cell in zip(table.columns, row, strict=True)
        )
        grid.add_row(*cells)
    return grid


def _blocks(table: Table) -> Text:
    """Each row under its name, for terminals too narrow for columns."""
    out = Text()
    margin = max(MARGIN, *(len(column.title) + 2 for column in table.columns))
    for row in table.rows:
        out.append(f"\n{visible(str(row[0]))}\n", style="bold")
        for column, cell in zip(table.columns[1:], row[1:], strict=True):
            if cell is not None:
                out.append(f"  {column.title:<{margin}}").append_text(
                    _cell(cell, "  ", column.key == "baseline")
                ).append("\n")
    return out


def _cell(cell: Cell, between: str, alone: bool) -> Text:

    value, interval = map(visible, shown(cell))
    return Text(value) if alone or not interval else Text.assemble(value, between, (interval, SOFT))


def _each_judge(report: CalibrationReport) -> str:
    """What became of every judge; nothing where the answer above is about the only one."""
    told = judges_told(report)
    if report.choice is not None and len(told) < 2:
        return ""
    return "; ".join(f"{judge} {verdict.replace('_', ' ')} ({reason})" for judge, (verdict, reason) in told.items())


def _reading(report: CalibrationReport, table: Table) -> str:
    level = f"{100 * report.settings.level:g} %"
    said = (
        f"Brackets: {level} intervals over whole clusters, here {report.labels.cluster}s. "
        "Common: what always giving the commonest answer would reach; in a judge's row also that of each pair of "
        "systems. Read a judge's row against the annotators' own."
    )
    if report.is_simulated:
        said = f"Simulated answers, of made-up people and judges but for whoever labelled here. {said}"
    at = [column.key for column in table.columns].index("baseline")
    common = {str(row[0]): one.value for row in table.rows if isinstance(one := row[at], Estimate)}
    said = " ".join([said, *other_constant(report, common)])
    choice = report.choice
    if choice and choice.plan.missing_as_wrong and any(candidate.valid_share < 1 for candidate in choice.candidates):
        said += " Unusable answers are left out here; above and below the table they count as disagreement."
    if choice and any(candidate.is_by_distance for candidate in choice.candidates):
        said += " Agreement is that of equal scores here; above and below the table near scores agree in part"
        said += f", on the scale {scale}." if (scale := scale_words(report)) else "."
    return said


def _list(lines: list[Text]) -> Grid:

    grid = Grid.grid(padding=(0, 1))
    grid.add_column(width=1)
    grid.add_column(overflow="fold")
    for line in lines:
        grid.add_row("·", line)
    return grid
