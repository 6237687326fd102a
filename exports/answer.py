"""What is on one page: the sentence, what it rests on, three cautions at most; and which figure carries it.

`answer.pdf` has it on one sheet of A4, as an author lays it beside the paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from calibration.choosing.card import LACKING, CardRow, card_of
from calibration.choosing.choice_words import without_advice
from calibration.results import CalibrationReport
from calibration.warning_words import told
from exports.cells import shown
from exports.figures import Figure, Onto, own_canvas
from exports.plots.forest import forest
from exports.plots.frontier import frontier
from exports.plots.names import ELLIPSIS, fitted, width_of, wrapped
from exports.plots.theme import FULL_PAGE, INK, INK_SOFT, LINE, TEXT, themed
from exports.sheets.asked import asked_table, judge_asked_about
from exports.sheets.judges import asked_of
from exports.tables import Column, Table
from exports.words.notes import origin
from exports.words.sentences import Caution, folded, opening, told_headline
from plain.wording import worded

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


WIDE, TALL, MARGIN = 8.27, 11.69, 0.6  # inches of A4
SIDE = (WIDE - FULL_PAGE) / 2
SMALL, LARGE = 7.0, 12.0  # points
LEAD = 1.42  # of a line, in sizes of its letters
BEFORE = 0.17  # inches between parts
ROW, HAIR = 0.165, 0.4  # inches of a table's row, points of its lines
COLUMN = 0.14  # inches between columns
MOST_LINES = 12  # of what the sentence rests on
AMBER = "#8a5a00"
CAUTIONS = 3
DRAWN = 12  # candidates that one figure of the page shows
CARD = (
    Column("question", "Question"),
    Column("outcome", "Outcome"),
    Column("value", "Value"),
    Column("limit", "Limit"),
)


@dataclass(frozen=True)
class Answer:
    """`rests_on`: what was found, without what to do next. `card` and `asked` None: nothing was compared."""

    sentence: str
    rests_on: str
    card: Table | None
    asked: Table | None
    cautions: tuple[Caution, ...]


def answer_of(report: CalibrationReport) -> Answer:
    """The page in words and numbers."""
    sentence, judge = told_headline(report), judge_asked_about(report)
    rests_on = without_advice(opening(report).removeprefix(sentence)).strip()
    return Answer(sentence, rests_on, short_card(report, judge), asked_table(report), cautions_about(report, judge))


def short_card(report: CalibrationReport, judge: str) -> Table | None:
    """Each question asked of the judge with its outcome, value and limit; None without a card."""
    rows = tuple((asked_of(one), one.outcome, one.estimate, _limit(one)) for one in card_of(report.card, judge))
    return Table("card", f"The card of {judge}", CARD, rows, ()) if rows else None


def _limit(row: CardRow) -> str:
    """With what would give it a value, where it has none."""
    lacks = told(LACKING, row.facts) if math.isnan(row.estimate.value) else ""
    return worded("{limit}; to know: {lacks}", limit=row.limit, lacks=lacks) if lacks else row.limit


def cautions_about(report: CalibrationReport, judge: str) -> tuple[Caution, ...]:
    """The first three of what to know before using a number: of all raters, or of this judge and of people."""
    tried = report.choice.candidates if report.choice else ()
    others = {*report.labels.judges, *(one.judge for one in tried)} - {judge, judge.partition(" [")[0]}
    about = tuple(one for one in report.warnings if one.rater not in others)
    return folded(replace(report, warnings=about))[:CAUTIONS]


def carrying(report: CalibrationReport, width: float = FULL_PAGE, onto: Onto = own_canvas) -> Figure | None:
    """The frontier of cost and agreement, or where no cost is known agreement alone; None where neither can be drawn.

    Of many candidates the twelve that say most: the chosen one, those on the frontier, those that agree most.
    """
    few = _few(report)
    return frontier(few, width, onto) or forest(few, width, onto)


def _few(report: CalibrationReport) -> CalibrationReport:
    choice = report.choice
    if choice is None or len(choice.candidates) <= DRAWN:
        return report
    first = sorted(
        choice.candidates,
        key=lambda one: (one.judge != choice.judge, not one.on_frontier, -one.agreement.value, one.judge),
    )[:DRAWN]
    kept = {one.judge for one in first}
    left_out = {one.judge for one in choice.candidates} - kept
    return replace(
        report,
        choice=replace(choice, candidates=tuple(one for one in choice.candidates if one.judge in kept)),
        estimates=tuple(one for one in report.estimates if one.rater not in left_out),
    )


@dataclass(frozen=True)
class Block:
    """A part of the page. `draw(canvas, top)`: at `top` inches from the upper edge."""

    tall: float
    draw: Callable[[Canvas, float], None]


def answer_pdf(report: CalibrationReport, title: str = "") -> Figure:
    """The page as a figure; equal reports give equal bytes. It is one page whatever the report holds."""
    answer, figure = answer_of(report), carrying(report)
    with themed():
        blocks, lines = _blocks(report, answer, figure, title, MOST_LINES), MOST_LINES
        while sum(block.tall for block in blocks) > TALL - 2 * MARGIN and lines > 1:
            lines -= 1  # what the sentence rests on stands in the report as well
            blocks = _blocks(report, answer, figure, title, lines)
        canvas, top = own_canvas(WIDE, TALL), MARGIN
        for block in blocks:
            block.draw(canvas, top)
            top += block.tall
    drawn = figure.drawn if figure else ()
    return Figure("answer", answer.sentence, drawn, canvas)


def _blocks(report: CalibrationReport, answer: Answer, figure: Figure | None, title: str, lines: int) -> list[Block]:
    """From the title down to where the labels come from. `lines`: at most, of every paragraph."""
    blocks = [_words(title, SMALL, INK_SOFT, 1)] if title else []
    if report.is_simulated:
        blocks.append(
            _words(
                "Simulated answers, but for those of whoever labels here",
                SMALL,
                AMBER,
                1,
            )
        )
    blocks += [_space(0.04), _words(answer.sentence, LARGE, INK, 4, "bold"), _space(0.05)]
    blocks += [_words(answer.rests_on, TEXT, INK, lines)] if answer.rests_on else []
    if figure is not None:
        blocks += [_space(BEFORE), _words(figure.caption, SMALL, INK_SOFT, 4), _space(0.08), _figure(report, figure)]
    for table in filter(None, (answer.card, answer.asked)):
        blocks += [_space(BEFORE), _words(table.title, TEXT, INK, 1, "bold"), _space(0.03), _table(table)]
    if answer.cautions:
        blocks += [_space(BEFORE), _words("Before you use a number", TEXT, INK, 1, "bold"), _space(0.03)]
        blocks += [_words(one.text, SMALL, INK, min(3, lines), indent=0.12) for one in answer.cautions]
    level = f"Brackets hold {100 * report.settings.level:g} % intervals over whole {report.labels.cluster}s."
    return [*blocks, _space(BEFORE), _words(f"{level} {origin(report)}", SMALL, INK_SOFT, 2)]


def _space(tall: float) -> Block:
    return Block(tall, lambda canvas, top: None)


def _words(text: str, size: float, colour: str, most: int, weight: str = "normal", indent: float = 0.0) -> Block:
    """A paragraph of `most` lines at most; `indent`: inches, with a mark before the first line."""
    lines = wrapped(" ".join(text.split()), FULL_PAGE - indent, size, weight)
    if len(lines) > most:
        lines = [*lines[: most - 1], fitted_start(lines[most - 1], FULL_PAGE - indent, size, weight)]
    step = LEAD * size / 72

    def draw(canvas: Canvas, top: float) -> None:
        for place, line in enumerate(lines):
            _text(canvas, SIDE + indent, top + step * place + size / 72, line, size=size, color=colour, weight=weight)
        if indent:
            _text(canvas, SIDE, top + size / 72, "·", size=size, color=colour)

    return Block(step * len(lines) + 0.02, draw)


def fitted_start(line: str, room: float, size: float, weight: str) -> str:
    """As much of a line's beginning as is before an ellipsis in `room` inches."""
    words = line.split(" ")
    while len(words) > 1 and width_of(f"{' '.join(words)} {ELLIPSIS}", size, weight) > room:
        words = words[:-1]
    return f"{' '.join(words)} {ELLIPSIS}"


def _figure(report: CalibrationReport, figure: Figure) -> Block:
    tall = float(figure.canvas.get_size_inches()[1])

    def draw(canvas: Canvas, top: float) -> None:
        grid = canvas.add_gridspec(
            3, 3, left=0, right=1, top=1, bottom=0, wspace=0, hspace=0,
            width_ratios=(SIDE, FULL_PAGE, SIDE), height_ratios=(top, tall, TALL - top - tall),
        )  # fmt: skip
        part = cast("Canvas", canvas.add_subfigure(grid[1, 1]))
        carrying(report, FULL_PAGE, lambda wide, high: part if high == tall else own_canvas(wide, high))

    return Block(tall, draw)


def _table(table: Table) -> Block:
    """Words at the left of their column, numbers at its right with their intervals after them, in lighter ink."""
    rows = [[shown(cell) for cell in row] for row in table.rows]
    columns = list(_columns(table, rows))

    def draw(canvas: Canvas, top: float) -> None:
        _rule(canvas, top + ROW)
        for row, cells in enumerate([[(column.title, "") for column in table.columns], *rows]):
            line = top + ROW * (row + 1) - 0.05
            for (left, right, room), (value, interval) in zip(columns, cells, strict=True):
                ink = INK if row else INK_SOFT
                if right is None:
                    _text(canvas, left, line, fitted(value, room, SMALL, 1), size=SMALL, color=ink)
                else:
                    _text(canvas, right, line, value, size=SMALL, color=ink, ha="right")
                    _text(canvas, right + 0.06, line, interval, size=SMALL, color=INK_SOFT)
            if row:
                _rule(canvas, top + ROW * (row + 1))

    return Block(ROW * (len(rows) + 1) + 0.02, draw)


def _columns(table: Table, rows: Sequence[Sequence[tuple[str, str]]]) -> Iterator[tuple[float, float | None, float]]:
    """Left end, right end of its numbers or None for words, and room; the last column of words takes what is left."""
    left = SIDE
    for place, column in enumerate(table.columns):
        cells = [row[place] for row in rows]
        wide = max(width_of(value, SMALL) for value, _ in [(column.title, ""), *cells])
        if place and not any(isinstance(row[place], str) for row in table.rows):
            after = max((width_of(interval, SMALL) + 0.06 for _, interval in cells if interval), default=0.0)
            yield left, left + wide, wide
            left += wide + after + COLUMN
        else:
            room = min(wide, SIDE + FULL_PAGE - left)
            yield left, None, room
            left += room + COLUMN


def _rule(canvas: Canvas, top: float) -> None:
    from matplotlib.lines import Line2D

    ends, height = (SIDE / WIDE, 1 - SIDE / WIDE), 1 - top / TALL
    canvas.add_artist(Line2D(ends, (height, height), color=LINE, lw=HAIR, transform=canvas.transFigure))


def _text(canvas: Canvas, left: float, base: float, text: str, **given: Any) -> None:
    if text:
        canvas.text(left / WIDE, 1 - base / TALL, text, va="baseline", **given)
