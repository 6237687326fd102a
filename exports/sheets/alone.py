"""The tables `alone` and `alone_steps`: what each judge may decide without a person, and every threshold tried."""

import math
from collections.abc import Iterator, Sequence

from calibration.confidence.sureness import ANSWERS, CONFIDENCE, FIRST, OTHERS
from calibration.delegating.alone import Alone
from calibration.results import CalibrationReport, Estimate
from exports.cells import Cell, number
from exports.tables import COUNTS, Column, Table, noted_table
from exports.words.grammar import listed, percent
from exports.words.notes import per_1000_items
from plain.wording import worded

SURE_BY = {
    ANSWERS: "its own answers agree", CONFIDENCE: "its confidence", OTHERS: "other judges agree",
    FIRST: "its first judge's orders agree",
}  # fmt: skip
ALIKE = "nothing: all items or none"
OUTCOMES = {"passed": "shown", "failed": "not shown", "not_tested": "not tested"}


def alone(report: CalibrationReport) -> list[Alone]:
    """Every judge's record; empty where nobody stated an error that is allowed."""
    return list(report.alone or ())


def alone_table(report: CalibrationReport) -> Table | None:
    """One row for each judge; None where nobody stated an error that is allowed."""
    rows = alone(report)
    if not rows:
        return None
    columns = (
        Column("judge", "Judge"),
        Column("sure_by", "Sure where"),
        Column("share", "Decides alone", "alone"),
        Column("error", "Error there", "err."),
        Column("person", "Error of an annotator", "person"),
        Column("usd_per_1000_items", per_1000_items(report), report.labels.money),
        Column("hours_per_1000_items", "Hours of people per 1,000 items", "hours"),
        Column("topics_needed", "Clusters needed", "need"),
    )
    cells = tuple(_row(delegation) for delegation in rows)
    reading = (
        *_reading(report, rows),
        *_nothing(rows),
    )
    return noted_table("alone", "What a judge may decide without a person", columns, cells, reading, report)


def sure_by(delegation: Alone) -> str:
    """`its own answers agree, its confidence`."""
    return worded(", ").join(worded(SURE_BY[name]) for name in delegation.by) or worded(ALIKE)


def _row(delegation: Alone) -> tuple[Cell, ...]:
    decided = delegation.decided
    return (
        delegation.judge,
        sure_by(delegation),
        decided.share if decided else 0.0,
        decided.error if decided else None,
        delegation.person,
        delegation.usd_per_1000_items,
        delegation.hours_per_1000_items,
        delegation.topics_needed,
    )


def alone_steps_table(report: CalibrationReport) -> Table | None:
    """One row for each judge and threshold, from the strictest; None where there is none."""
    rows = [(delegation, step) for delegation in alone(report) for step in delegation.steps]
    if not rows:
        return None
    columns = (
        Column("judge", "Judge"),
        Column("agreement", "Answers agree", "agree"),
        Column("confidence", "Confidence", "conf."),
        Column("share", "Share decided", "share"),
        Column("error", "Error", "err."),
        *COUNTS,
        Column("outcome", "Outcome"),
    )
    cells: tuple[tuple[Cell, ...], ...] = tuple(
        (delegation.judge, step.agreement, step.confidence if CONFIDENCE in delegation.by else None, step.share,
         step.error, step.error.n, step.error.clusters, worded(OUTCOMES[step.outcome]))
        for delegation, step in rows
    )  # fmt: skip
    allowed = percent(report.settings.alone_error)
    reading = (
        "Answers agree, confidence: of the least sure item that is decided, means over its labels. Share: of the items "
        "the judge was asked. n counts labels with a majority of annotators.",
        worded(
            "Shown: the error is {allowed} at most. From the strictest threshold on which a judge that errs half as "
            "often would pass (where there is none, a quarter as often, or never), one after the other is tested, "
            "until one fails; the others are not tested.",
            allowed=allowed,
        ),
    )
    return noted_table("alone_steps", "Error at each threshold of sureness", columns, cells, reading, report, names=2)


def _reading(report: CalibrationReport, rows: Sequence[Alone]) -> Iterator[str]:
    allowed, level = percent(report.settings.alone_error), percent(report.settings.level)
    several = worded(", for all {n} judges at once", n=len(rows)) if len(rows) > 1 else ""
    yield worded(
        "Decides alone: the largest share of items, the surest first, on which an error of {allowed} at most is shown "
        "(one-sided, {level}{several}); the other items go to people. Error: a label differs from the annotators' "
        "majority; its bracket ends at that one-sided bound.", allowed=allowed, level=level, several=several,
    )  # fmt: skip
    yield (
        "The bound holds however faults gather in topics: one more topic, where every label is wrong, stands among "
        "those seen. Thresholds come from the judge's answers alone, so none is chosen by the labels it is checked on."
    )
    yield from _people(rows)
    yield (
        "Price: of every answer used, on all items. Hours: one person reads each item left, in the median seconds that "
        "people took for one; a dash is unknown, which is not 0."
    )


def _people(rows: Sequence[Alone]) -> Iterator[str]:
    told = [delegation for delegation in rows if delegation.person and delegation.judge_beside]
    if told:
        yield worded(
            "Error of an annotator: each, left out, against the majority of the others on the labels decided; on the "
            "same references: {beside}.", beside=listed([f"{one.judge} {_share(one.judge_beside)}" for one in told]),
        )  # fmt: skip
    without = [delegation for delegation in rows if delegation.without_majority > 0]
    if without:
        yield worded(
            "Annotated labels decided on which annotators have no majority, neither right nor wrong: {said}.",
            said=listed([f"{one.judge} {percent(one.without_majority)}" for one in without]),
        )


def _nothing(rows: Sequence[Alone]) -> Iterator[str]:
    for delegation in rows:
        if delegation.decided is None:
            yield worded("{judge} decides nothing: {reason}.", judge=delegation.judge, reason=delegation.reason)
    if any(delegation.topics_needed for delegation in rows):
        yield "Clusters needed: in all, to decide anything, if errors stay as seen."


def _share(estimate: Estimate | None) -> str:
    return "–" if estimate is None or math.isnan(estimate.value) else number(estimate.value, 2)
