"""What must hold of every judge's queue and ledger, whatever became of the processes that worked on them."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Integer, Select, case, cast, func, or_, orm, select, true

from annotation.judges.replies.outcomes import REPLIES
from db.judge_tables import Judge, JudgeAttempt, JudgeCall, JudgeCallAssignment
from db.tables import Assignment, Label

SHOWN = 5

CENT = 1e-6  # USD by which running totals may differ from a sum: floats are added in another order
UNHELD, ENDED = ("planned", "done", "failed"), ("done", "failed")


def queue_rules(session: orm.Session) -> dict[str, Select[*tuple[Any, ...]]]:
    """rule -> the rows that break it."""
    call = select(JudgeCall.id.label("call"))
    held = or_(JudgeCall.worker.is_not(None), JudgeCall.lease_until.is_not(None), JudgeCall.reserved > CENT)
    tries = select(JudgeAttempt.id).where(JudgeAttempt.call_id == JudgeCall.id)
    return {
        "a judge's call that waits or has ended is held by nobody": call.where(JudgeCall.state.in_(UNHELD), held),
        "a judge's call in work has a worker and a lease": call.where(
            JudgeCall.state == "leased", or_(JudgeCall.worker.is_(None), JudgeCall.lease_until.is_(None))
        ),
        "a judge's call in a batch names the batch": call.where(
            JudgeCall.state == "submitted", JudgeCall.batch_id.is_(None)
        ),
        "a judge's call that ended says how and when": call.where(
            JudgeCall.state.in_(ENDED), or_(JudgeCall.outcome.is_(None), JudgeCall.done_at.is_(None))
        ),
        "a judge's call that is done has a reply": call.where(
            JudgeCall.state == "done", ~tries.where(JudgeAttempt.outcome.in_(REPLIES)).exists()
        ),
        "the tries of a judge's call are numbered 1, 2, 3 without a gap": (
            select(JudgeAttempt.call_id.label("call"))
            .group_by(JudgeAttempt.call_id)
            .having(or_(func.min(JudgeAttempt.attempt_no) != 1, func.max(JudgeAttempt.attempt_no) != func.count()))
        ),
        "a judge's call that is done has an answer to each of its questions": _unanswered(session),
        "a judge's answer comes from one of its calls": (
            select(Label.id.label("label"))
            .join(Assignment, Assignment.id == Label.assignment_id)
            .where(
                Assignment.source == "judge",
                ~select(JudgeCallAssignment.call_id).where(JudgeCallAssignment.assignment_id == Assignment.id).exists(),
            )
        ),
        "what a judge has reserved is what its calls in work may cost": _reserved(),
        "what a judge has spent is what its tries cost, and more only where nobody knows what was billed": _spent(),
    }


def _unanswered(session: orm.Session) -> Select[*tuple[Any, ...]]:
    """Question by question; the calls of stress tests label nothing."""
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    elements = func.json_each if is_sqlite else func.json_array_elements_text
    asked = elements(JudgeCall.criteria).table_valued("value")
    criterion = cast(asked.c.value, Integer)
    answer = select(Label.id).where(
        Label.assignment_id == JudgeCallAssignment.assignment_id, Label.criterion_id == criterion
    )
    return (
        select(JudgeCall.id.label("call"), criterion.label("criterion"))
        .join(JudgeCallAssignment, JudgeCallAssignment.call_id == JudgeCall.id)
        .join(asked, true())
        .where(JudgeCall.state == "done", JudgeCall.stress.is_(None), ~answer.exists())
    )


def _reserved() -> Select[*tuple[Any, ...]]:
    total = func.coalesce(func.sum(JudgeCall.reserved), 0.0)
    return (
        select(Judge.name.label("judge"), Judge.reserved.label("reserved"), total.label("calls"))
        .outerjoin(JudgeCall, JudgeCall.judge_id == Judge.id)
        .group_by(Judge.id, Judge.name, Judge.reserved)
        .having(func.abs(Judge.reserved - total) > CENT)
    )


def _spent() -> Select[*tuple[Any, ...]]:
    # what came after the lease was lost is no part of the account: the whole reservation was spent on it before
    counted = (JudgeAttempt.kind != "surplus") & JudgeAttempt.cost.is_not(None)
    known = func.coalesce(func.sum(case((counted, JudgeAttempt.cost), else_=0.0)), 0.0)
    unknown = func.coalesce(func.sum(case((counted | JudgeAttempt.id.is_(None), 0), else_=1)), 0)
    return (
        select(Judge.name.label("judge"), Judge.spent.label("spent"), known.label("tries"))
        .outerjoin(JudgeCall, JudgeCall.judge_id == Judge.id)
        .outerjoin(JudgeAttempt, JudgeAttempt.call_id == JudgeCall.id)
        .group_by(Judge.id, Judge.name, Judge.spent)
        .having(or_(Judge.spent < known - CENT, (unknown == 0) & (Judge.spent > known + CENT)))
    )


@dataclass(frozen=True)
class Fault:
    """A rule that does not hold: how often, and the first few places (rows by their id in the database, or all ids that
    were asked about)."""

    rule: str
    places: int
    first: tuple[str, ...]
