"""The rows of `judge_calls` as a durable queue: what is due, and claiming it.

`settling.py` writes back what came of it. Both keep the judge's `spent` and `reserved` in step with the rows.

While a call is leased, its `outcome` says how far it is: empty or `reasking` while a request is out, `replied` once
the reply is stored. While it is submitted in a provider's batch, `outcome` says what was sent: the step of the ladder
and the sha256 of the prompt.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Select, and_, bindparam, func, or_, orm, select, update

from annotation.judges.asking import material, steps
from annotation.judges.money.accounts import Account, stopped_by
from annotation.judges.money.prices import fits, room_of
from annotation.judges.queue.settling import CALLS, STILL_OPEN, Worker, clock, last_attempts, pay, workers_of
from db.judge_tables import Judge, JudgeCall
from db.tables import Study

# a call that this worker holds already was claimed by a commit that it never heard of
FREE = (
    select(CALLS.c.id, CALLS.c.reserved)
    .where(
        CALLS.c.id.in_(bindparam("calls", expanding=True)),
        or_(CALLS.c.state == "planned", and_(CALLS.c.state == "leased", CALLS.c.worker == bindparam("by"))),
    )
    .order_by(CALLS.c.id)
    .with_for_update(skip_locked=True)
)
LEASE = (
    CALLS.update()
    .where(CALLS.c.id == bindparam("call"))
    .values(
        state="leased", worker=bindparam("by"), lease_until=bindparam("until"), reserved=bindparam("worst"),
        outcome=bindparam("progress"),
    )
)  # fmt: skip


@dataclass(frozen=True)
class Work:
    """A call with its next step and the most that step may cost, in USD."""

    rows: material.CallRows
    step: steps.Ask | steps.Finish
    worst: float


@dataclass(frozen=True)
class Share:
    """Which of the processes that work on a judge one is, from 0; they share its limits."""

    place: int = 0
    workers: int = 1


ALONE = Share()


@dataclass(frozen=True)
class Claim:
    """What a claim came to, and what the judge's row said: other workers pause, stop and step down through it."""

    taken: tuple[Work, ...]
    unaffordable: tuple[int, ...]  # calls whose worst case does not fit the budget
    paused_s: float
    stopped: str | None
    rung: int
    share: Share = ALONE


@dataclass(frozen=True)
class Unfinished:
    """What is left of a judge's calls; `wait_s` until the first planned one is due."""

    planned: int
    leased: int
    wait_s: float


def due(account: Account, at: datetime) -> Select[int]:
    """The planned calls whose time has come, in order."""
    waits = JudgeCall.next_try_at.is_not(None) & (JudgeCall.next_try_at > at)
    return (
        select(JudgeCall.id)
        .where(account.calls, account.part_of_calls, JudgeCall.state == "planned", STILL_OPEN, ~waits)
        .order_by(JudgeCall.id)
    )


def due_calls(
    session: orm.Session,
    study: Study,
    account: Account,
    limit: int,
    without: Sequence[int] = (),
    texts: material.Texts | None = None,
    share: Share = ALONE,
) -> list[material.CallRows]:
    """Planned calls whose time has come, in order, with their material and attempts.

    Of several processes each reads other calls as long as there are any: whoever reads what another one claims
    meanwhile has read it in vain, and stands still.
    """
    waiting = due(account, clock(session)).where(JudgeCall.id.not_in(without))
    own = JudgeCall.id % share.workers == share.place
    ids = list(session.scalars((waiting.where(own) if share.workers > 1 else waiting).limit(limit)))
    if share.workers > 1 and len(ids) < limit:
        ids += session.scalars(waiting.where(~own).limit(limit - len(ids)))
    loaded = material.load_calls(session, study, ids, texts)
    return [loaded[call] for call in ids]


def claim(session: orm.Session, account: Account, worker: Worker, work: Sequence[Work]) -> Claim:
    """Lease what is still planned and fits the budget, reserving the worst case of each; nothing where a step of these
    stops the judge."""
    judge = session.execute(
        select(Judge.spent, Judge.reserved, Judge.max_cost, Judge.paused_until, Judge.stopped, Judge.rung)
        .where(Judge.id == account.judge_id)
        .with_for_update()
    ).one()
    at = clock(session)
    paused = max(0.0, (judge.paused_until - at).total_seconds()) if judge.paused_until else 0.0
    if judge.stopped or paused:
        return Claim((), (), paused, judge.stopped, judge.rung)
    if why := next((one.step.stops for one in work if isinstance(one.step, steps.Finish) and one.step.stops), None):
        session.execute(update(Judge).where(Judge.id == account.judge_id).values(stopped=stopped_by(why)))
        return Claim((), (), 0.0, why, judge.rung)
    wanted = {one.rows.call_id: one for one in work}
    room = room_of(judge.max_cost, judge.spent, judge.reserved)
    taken, unaffordable, reserved = [], [], 0.0
    free = dict(session.execute(FREE, {"calls": list(wanted), "by": worker.id}).all())
    known = last_attempts(session, list(free))
    for call in free:
        one = wanted[call]
        if known.get(call, 0) != len(one.rows.tried):
            continue  # somebody else tried it since it was read
        if not fits(one.worst - free[call], room):
            unaffordable.append(call)
            continue
        room -= one.worst - free[call]
        reserved += one.worst - free[call]
        taken.append(one)
    if taken:
        session.execute(
            LEASE,
            [
                {
                    "call": one.rows.call_id,
                    "by": worker.id,
                    "until": at + timedelta(seconds=worker.lease_s),
                    "worst": one.worst,
                    "progress": _progress(one.step),
                }
                for one in taken
            ],
        )
        pay(session, account.judge_id, spent=0.0, released=-reserved)
    working = sorted({*workers_of(session, account.judge_id), worker.id})
    share = Share(working.index(worker.id), len(working))
    return Claim(tuple(taken), tuple(unaffordable), 0.0, None, judge.rung, share)


def unfinished(session: orm.Session, account: Account) -> Unfinished:
    """What is left of this configuration's calls, as far as they are worked on."""
    at = clock(session)
    mine = account.calls, account.part_of_calls, STILL_OPEN
    counts = dict(
        session.execute(
            select(JudgeCall.state, func.count()).where(*mine, JudgeCall.state.in_(("planned", "leased")))
            .group_by(JudgeCall.state)
        ).all()
    )  # fmt: skip
    due = session.scalar(
        select(func.min(func.coalesce(JudgeCall.next_try_at, JudgeCall.created_at))).where(
            *mine, JudgeCall.state == "planned"
        )
    )
    wait = max(0.0, (_aware(due) - at).total_seconds()) if due is not None else 0.0
    return Unfinished(counts.get("planned", 0), counts.get("leased", 0), wait)


def _progress(step: steps.Ask | steps.Finish) -> str | None:
    if isinstance(step, steps.Finish):
        return "replied"
    return "reasking" if step.kind == "reask" else None


def _aware(value: datetime | str) -> datetime:
    return value if isinstance(value, datetime) else datetime.fromisoformat(value)
