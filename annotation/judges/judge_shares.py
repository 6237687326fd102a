"""What one label of a judge took and cost: its share of the calls that asked for it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session

from db.judge_tables import Judge, JudgeAttempt, JudgeCall, JudgeCallAssignment
from db.tables import Study

CHUNK = 1_000
UNKNOWN = (None, None)
NEVER = 2**63  # no assignment has this number: there are no more calls
Share = tuple[float | None, float | None]  # seconds, USD


class JudgeShares:
    """Shares of a label in its calls' seconds and USD; None where one is unknown.

    Read beside the labels, in the same order: ask for assignments by rising number. So none is kept in memory.
    """

    def __init__(self, session: Session, study: Study) -> None:
        self._calls = groupby(_calls(session, study), key=lambda row: int(row.assignment_id))
        self._assignment = -1
        self._served_by: list[Row[Any]] = []

    def of(self, assignment: int, criterion: int) -> Share:
        """(seconds, USD) of the label on `criterion`, a row's id."""
        while self._assignment < assignment:
            self._assignment, calls = next(self._calls, (NEVER, iter(())))
            self._served_by = list(calls)
        if self._assignment > assignment:
            return UNKNOWN
        # more than one call serves a label where the judge was run again with other settings: all of them were billed
        parts = [_part(call) for call in self._served_by if criterion in call.criteria]
        return _sum_known([seconds for seconds, _ in parts]), _sum_known([cost for _, cost in parts])


def _calls(session: Session, study: Study) -> Iterator[Row[Any]]:
    """One row per assignment and call, by assignment: the call's sums and how many assignments it served."""
    mine = (
        select(JudgeCall.id)
        .join(Judge, Judge.id == JudgeCall.judge_id)
        .where(Judge.study_id == study.id, JudgeCall.probe_kind.is_(None))
    )
    tried = (
        select(
            JudgeAttempt.call_id,
            func.sum(JudgeAttempt.seconds).label("seconds"),
            func.sum(JudgeAttempt.cost).label("cost"),
            func.count(JudgeAttempt.id).label("attempts"),
            func.count(JudgeAttempt.cost).label("priced"),
        )
        .where(JudgeAttempt.call_id.in_(mine))
        .group_by(JudgeAttempt.call_id)
        .subquery()
    )
    served = (
        select(JudgeCallAssignment.call_id, func.count().label("assignments"))
        .where(JudgeCallAssignment.call_id.in_(mine))
        .group_by(JudgeCallAssignment.call_id)
        .subquery()
    )
    rows = (
        select(JudgeCallAssignment.assignment_id, JudgeCall.criteria, tried, served.c.assignments)
        .join(JudgeCall, JudgeCall.id == JudgeCallAssignment.call_id)
        .join(tried, tried.c.call_id == JudgeCall.id)
        .join(served, served.c.call_id == JudgeCall.id)
        .order_by(JudgeCallAssignment.assignment_id, JudgeCall.id)
    )
    return iter(session.execute(rows.execution_options(yield_per=CHUNK)))


def _part(call: Row[Any]) -> Share:
    labels = max(1, call.assignments * len(call.criteria))
    return call.seconds / labels, call.cost / labels if call.priced == call.attempts else None


def _sum_known(costs: list[float | None]) -> float | None:
    """The sum, or None where one part is unknown or there is none: half a cost is not a cost."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None
