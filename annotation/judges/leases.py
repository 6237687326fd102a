"""Leases on calls, and the money reserved for them: who holds a call, until when, and what its end releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, bindparam, func, select, text, update
from sqlalchemy.orm import Session

from annotation.judges.accounts import Account
from db.judge_tables import UNFINISHED, Judge, JudgeAttempt, JudgeCall
from db.types import Record, now

CALLS, ATTEMPTS = Record.metadata.tables["judge_calls"], Record.metadata.tables["judge_attempts"]
# said as the partial index says it, else SQLite reads every call that is done
STILL_OPEN = text(f"judge_calls.{UNFINISHED}")
HELD = ("leased", "submitted")
RELEASED: Mapping[str, Any] = {"state": "planned", "worker": None, "lease_until": None, "reserved": 0.0}

LOCKED = (
    select(CALLS.c.id, CALLS.c.judge_id, CALLS.c.state, CALLS.c.worker, CALLS.c.reserved)
    .where(CALLS.c.id.in_(bindparam("calls", expanding=True)))
    .order_by(CALLS.c.id)
    .with_for_update()
)
LAST_ATTEMPTS = (
    select(ATTEMPTS.c.call_id, func.max(ATTEMPTS.c.attempt_no))
    .where(ATTEMPTS.c.call_id.in_(bindparam("calls", expanding=True)))
    .group_by(ATTEMPTS.c.call_id)
)


@dataclass(frozen=True)
class Worker:
    """A process that works on calls. A lease ends `lease_s` seconds after its last heartbeat."""

    id: str
    lease_s: float


@dataclass
class Held:
    """A call's row, locked: whose it is, and what is reserved for it."""

    judge_id: int
    mine: bool
    reserved: float


def clock(session: Session) -> datetime:
    """The time all workers agree on: the database's on Postgres, this machine's where the database is a file."""
    if session.get_bind().dialect.name == "postgresql":
        return session.scalar(select(func.clock_timestamp())) or now()
    return now()


def heartbeat(session: Session, worker: Worker, judge_ids: Sequence[int]) -> None:
    """Push back the end of every lease this worker holds, also on calls whose batch it is creating."""
    held = CALLS.c.judge_id.in_(judge_ids), CALLS.c.state.in_(HELD), STILL_OPEN, CALLS.c.worker == worker.id
    session.execute(CALLS.update().where(*held).values(lease_until=clock(session) + timedelta(seconds=worker.lease_s)))


def workers_of(session: Session, judge_id: int) -> int:
    """How many processes hold leases of this judge now."""
    living = CALLS.c.judge_id == judge_id, CALLS.c.state == "leased", STILL_OPEN, CALLS.c.lease_until > clock(session)
    return session.scalar(select(func.count(CALLS.c.worker.distinct())).where(*living)) or 0


def take_over_expired(session: Session, worker: Worker, account: Account) -> int:
    """Plan again what dead workers held. Returns how many requests were out, which may be paid twice.

    Each of those becomes an `abandoned` attempt that keeps its reservation as spent.
    """
    return _plan_again(session, account.judge_id, CALLS.c.worker != worker.id, CALLS.c.lease_until < clock(session))


def let_go(session: Session, worker: Worker, judge_id: int) -> int:
    """Plan again what this worker still holds when it ends, as if it had died."""
    return _plan_again(session, judge_id, CALLS.c.worker == worker.id)


def locked(session: Session, worker: Worker, call_ids: Sequence[int]) -> dict[int, Held]:
    """The rows of these calls by id, locked in one order, so that two workers never wait for each other."""
    rows = session.execute(LOCKED, {"calls": call_ids})
    return {
        key: Held(judge, by == worker.id and state == "leased", reserved) for key, judge, state, by, reserved in rows
    }


def last_attempts(session: Session, call_ids: Sequence[int]) -> dict[int, int]:
    """The number of each call's last attempt; none where there is none."""
    return {call: number for call, number in session.execute(LAST_ATTEMPTS, {"calls": call_ids})}


def pay(session: Session, judge_id: int, *, spent: float, released: float) -> None:
    """Move reservations to spent money, as far as they were spent. USD."""
    if spent or released:
        session.execute(
            update(Judge)
            .where(Judge.id == judge_id)
            .values(spent=Judge.spent + spent, reserved=Judge.reserved - released)
            .execution_options(synchronize_session=False)
        )


def _plan_again(session: Session, judge_id: int, *whose: ColumnElement[bool]) -> int:
    leased = CALLS.c.judge_id == judge_id, CALLS.c.state == "leased", STILL_OPEN
    held = select(CALLS.c.id, CALLS.c.outcome, CALLS.c.reserved).where(*leased, *whose)
    rows = session.execute(held.with_for_update(skip_locked=True)).all()
    out = [row.id for row in rows if row.outcome != "replied"]
    numbers = last_attempts(session, out)
    session.add_all(
        JudgeAttempt(
            call_id=call, attempt_no=1 + numbers.get(call, 0), kind="abandoned", outcome="abandoned", seconds=0.0,
            error="the process ended while the request was out; it may have been billed",
        )
        for call in out
    )  # fmt: skip
    reserved = sum(row.reserved for row in rows)
    pay(session, judge_id, spent=reserved, released=reserved)
    session.execute(update(JudgeCall).where(JudgeCall.id.in_([row.id for row in rows])).values(**RELEASED))
    return len(out)
