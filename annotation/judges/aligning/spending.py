"""What an alignment may spend and has spent: the calls marked `align`, whatever else its judge was asked. USD."""

import math
from collections.abc import Sequence

from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from annotation.judges.aligning.align_plan import ALIGN, Alignment, tried_for
from annotation.judges.asking.examples import whole_clusters
from annotation.judges.asking.material import CHUNK, load_calls, worst
from annotation.judges.asking.prompt import build_prompt
from annotation.judges.asking.steps import Ask
from annotation.judges.money.accounts import Account
from db.connect import reading
from db.judge_tables import Judge, JudgeAttempt, JudgeCall, JudgeCallAssignment
from db.tables import Assignment, Item, Study

SPARE = 1.5  # of what measuring is expected to cost, set aside before anything is tried


def spent_on_trying(session: Session, judge: Judge, plan: Alignment) -> float:
    """What trying variants of this judge has come to since the plan, with the most that requests now out may cost."""
    in_flight = select(func.sum(JudgeCall.reserved)).where(JudgeCall.judge_id == judge.id, JudgeCall.stress == ALIGN)
    return tried_for(session, judge) + (session.scalar(in_flight) or 0.0) - plan.tried_before


def spent_on(engine: Engine, study_id: int, plan: Alignment) -> float:
    """What trying and measuring have come to."""
    with reading(engine) as session:
        judge, made = (_judge(session, study_id, name) for name in (plan.judge, plan.name))
        measuring = made.spent + made.reserved if made else 0.0
        return measuring + (spent_on_trying(session, judge, plan) if judge else 0.0)


def left_of(engine: Engine, study_id: int, plan: Alignment) -> float:
    """What measuring may cost in all: the budget without what trying cost."""
    with reading(engine) as session:
        judge = _judge(session, study_id, plan.judge)
        return plan.budget - (spent_on_trying(session, judge, plan) if judge else 0.0)


def _judge(session: Session, study_id: int, name: str) -> Judge | None:
    return session.scalar(select(Judge).where(Judge.study_id == study_id, Judge.name == name))


def usd_a_call(session: Session, study: Study, account: Account) -> float:
    """Mean cost of a call of this account that was sent; nan where none was, or it has no price.

    A try whose cost is not known (a timeout) counts with the most that it may have cost, as its judge's budget has it.
    """
    tries = select(JudgeAttempt.call_id).join(JudgeCall, JudgeCall.id == JudgeAttempt.call_id).where(account.calls)
    sent, known = session.execute(
        tries.with_only_columns(func.count(JudgeAttempt.call_id.distinct()), func.sum(JudgeAttempt.cost))
    ).one()
    unknown = session.scalars(tries.where(JudgeAttempt.cost.is_(None))).all()
    if not sent or account.resolved.priced.price is None:
        return math.nan
    most = _most_of(session, study, account, sorted({*unknown}))
    return float(((known or 0.0) + sum(most[call] for call in unknown)) / sent)


def _most_of(session: Session, study: Study, account: Account, calls: Sequence[int]) -> dict[int, float]:
    """The most that a first request of each of these calls may cost."""
    found: dict[int, float] = {}
    for start in range(0, len(calls), CHUNK):
        for call, rows in load_calls(session, study, calls[start:][:CHUNK]).items():
            rung = account.resolved.definition.structured[0]
            found[call] = worst(Ask(build_prompt(rows.material, rung), rung, "first"), account)
    return found


def kept_for_measuring(session: Session, study: Study, own: Account, seen: Sequence[str]) -> float:
    """What the judge's own calls on all other topics cost at their mean, and half of it to spare; see `usd_a_call`."""
    others = select(func.count(JudgeCall.id.distinct())).where(
        own.calls,
        JudgeCall.id == JudgeCallAssignment.call_id,
        JudgeCallAssignment.assignment_id == Assignment.id,
        Assignment.item_id == Item.id,
        Item.topic_id.not_in(whole_clusters(session, study, seen)),
    )
    return SPARE * (session.scalar(others) or 0) * usd_a_call(session, study, own)
