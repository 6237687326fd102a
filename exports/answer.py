"""What is on one page: the sentence, what it rests on, three cautions at most; and which figure carries it."""

import math
from dataclasses import dataclass, replace

from calibration.choosing.card import CardRow, card_of
from calibration.choosing.choice_words import without_advice
from calibration.results import CalibrationReport
from exports.figures import Figure, Onto, own_canvas
from exports.plots.forest import forest
from exports.plots.frontier import frontier
from exports.plots.theme import FULL_PAGE
from exports.sheets.asked import asked_table, judge_asked_about
from exports.tables import Column, Table
from exports.words.sentences import Caution, folded, opening, told_headline

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
    rows = tuple((one.question, one.outcome, one.estimate, _limit(one)) for one in card_of(report.card, judge))
    return Table("card", f"The card of {judge}", CARD, rows, ()) if rows else None


def _limit(row: CardRow) -> str:
    """With what would give it a value, where it has none."""
    lacks = row.sentence.removeprefix("Cannot tell: ").rstrip(".") if math.isnan(row.estimate.value) else ""
    return f"{row.limit}; to know: {lacks}" if lacks else row.limit


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
