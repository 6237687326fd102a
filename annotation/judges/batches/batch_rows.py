"""Calls that are lines of a provider's batch, as rows: held, written to its file, named, settled, or planned again.

A call is `submitted` from the moment its batch may exist. `batch_id` is `pending:<uuid>` until the provider's name for
the batch is known; until then the row also has a lease, and whoever creates the batch keeps it alive.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import IO, Any, cast

from sqlalchemy import ColumnElement, CursorResult, Engine, bindparam, func, or_, select, update
from sqlalchemy.orm import Session

from annotation.figures.kept import with_pictures
from annotation.judges.asking.material import CallRows, Texts, load_calls, step_of, worst
from annotation.judges.asking.prompt import Prompt
from annotation.judges.asking.steps import Ask, Finish, Tried, as_row, counted_tries, spent_by
from annotation.judges.batches.batch_api import body_of, line_of
from annotation.judges.defining.judge_file import Rung
from annotation.judges.money.accounts import Account, as_sent
from annotation.judges.money.prices import used_up
from annotation.judges.queue import queue, settling
from annotation.judges.queue.queue import Claim, Work, claim
from annotation.judges.replies.outcomes import Reply
from db.connect import reading, transaction
from db.judge_tables import Judge, JudgeCall
from db.tables import Study

PENDING, AT_ONCE = "pending:", 200  # calls settled or planned again in one transaction
LOST = Reply("dropped", 0.0, error="the batch ended without a line for this call; it may have been billed")
HOLD = (
    settling.CALLS.update()
    .where(settling.CALLS.c.id == bindparam("call"))
    .values(state="submitted", batch_id=bindparam("batch"), outcome=bindparam("sent"))
)


@dataclass(frozen=True)
class OpenBatch:
    """A batch that calls wait for. `reserved`: the most that they may cost, in USD. `held`: it is being created now."""

    judge: str
    batch_id: str
    calls: int
    reserved: float
    held: bool

    @property
    def is_pending(self) -> bool:
        """Whether nobody knows yet that the provider has it."""
        return self.batch_id.startswith(PENDING)


def open_batches(session: Session, judge_ids: Sequence[int]) -> tuple[OpenBatch, ...]:
    """What these judges have at their providers, oldest first."""
    rows = session.execute(
        select(
            Judge.name, JudgeCall.batch_id, func.count(), func.sum(JudgeCall.reserved), func.max(JudgeCall.lease_until)
        )
        .join(Judge, Judge.id == JudgeCall.judge_id)
        .where(JudgeCall.judge_id.in_(judge_ids), JudgeCall.state == "submitted", settling.STILL_OPEN)
        .group_by(Judge.name, JudgeCall.batch_id)
        .order_by(func.min(JudgeCall.id))
    )
    at = settling.clock(session)
    return tuple(
        OpenBatch(name, batch or "", calls, float(reserved), until is not None and until > at)
        for name, batch, calls, reserved, until in rows
    )


def hold(session: Session, account: Account, worker: settling.Worker, work: Sequence[Work], batch_id: str) -> Claim:
    """Claim calls, reserve what they may cost, and write what of each will be in the batch. Calls that need no
    request are ended."""
    taken = claim(session, account, worker, work)
    settling.write_back(
        session, worker, [_ended(one.rows, one.step) for one in taken.taken if isinstance(one.step, Finish)]
    )
    asked = [(one.rows.call_id, one.step) for one in taken.taken if isinstance(one.step, Ask)]
    if asked:
        sent = [{"call": call, "batch": batch_id, "sent": f"{ask.rung} {ask.prompt.sha256}"} for call, ask in asked]
        session.execute(HOLD, sent)
    return taken


def still_held(session: Session, worker: settling.Worker, batch_id: str) -> int:
    """How many calls still wait for a batch that is about to be created. Renews their lease."""
    mine = (
        settling.CALLS.c.batch_id == batch_id,
        settling.CALLS.c.state == "submitted",
        settling.STILL_OPEN,
        settling.CALLS.c.worker == worker.id,
    )
    until = settling.clock(session) + timedelta(seconds=worker.lease_s)
    return _count(session, settling.CALLS.update().where(*mine).values(lease_until=until))


def named(session: Session, judge_id: int, pending: str, batch_id: str) -> int:
    """Write the provider's name of a batch on its calls; returns how many wait for it."""
    return _count(session, _waiting(judge_id, pending).values(batch_id=batch_id, worker=None, lease_until=None))


def let_go_of(session: Session, worker: settling.Worker, judge_id: int, pending: str) -> None:
    """Nobody creates this batch any more, and nobody knows whether it exists: others may look for it."""
    until = settling.clock(session) + timedelta(seconds=worker.lease_s)  # the provider may still be about to list it
    session.execute(_waiting(judge_id, pending).values(worker=None, lease_until=until))


def plan_again(session: Session, judge_id: int, worker: settling.Worker, batch_id: str, *, held: bool = False) -> int:
    """Plan some calls of a batch again that nobody was billed for, and return their money; 0 when none is left.

    Calls that are held for a batch which is being created are left alone, but for this worker's own with `held`.
    """
    free = (
        JudgeCall.worker == worker.id
        if held
        else or_(JudgeCall.lease_until.is_(None), JudgeCall.lease_until < settling.clock(session))
    )
    taken = _taken(session, judge_id, worker, JudgeCall.batch_id == batch_id, free)
    settling.write_back(session, worker, [settling.GivenBack(row.id) for row in taken])
    session.execute(update(JudgeCall).where(JudgeCall.id.in_([row.id for row in taken])).values(batch_id=None))
    return len(taken)


def give_up(session: Session, judge_id: int, worker: settling.Worker, batch_id: str) -> int:
    """Plan some calls of a batch again that may have been billed: what was reserved for them counts as spent."""
    taken = _taken(session, judge_id, worker, JudgeCall.batch_id == batch_id)
    settling.let_go(session, worker, judge_id)
    return len(taken)


def waiting_keys(session: Session, judge_id: int, batch_id: str, limit: int) -> list[str]:
    """Keys of calls that still wait for this batch."""
    mine = (
        JudgeCall.judge_id == judge_id,
        JudgeCall.batch_id == batch_id,
        JudgeCall.state == "submitted",
        settling.STILL_OPEN,
    )
    return list(session.scalars(select(JudgeCall.key).where(*mine).order_by(JudgeCall.id).limit(limit)))


def has_calls(session: Session, judge_id: int, keys: Sequence[str]) -> bool:
    """Whether one of these keys is a call of the judge."""
    mine = JudgeCall.judge_id == judge_id, JudgeCall.key.in_(keys)
    return session.scalar(select(JudgeCall.id).where(*mine).limit(1)) is not None


def settle(
    session: Session,
    study: Study,
    account: Account,
    worker: settling.Worker,
    batch_id: str,
    replies: Mapping[str, Reply | None],
) -> int:
    """Store what came back for calls by key, label them or plan them again; those settled before are left alone.

    None for a line that was never tried. `account` has the price of batches. Returns how many calls were waiting.
    """
    rows = _taken(session, account.judge_id, worker, JudgeCall.batch_id == batch_id, JudgeCall.key.in_(replies))
    loaded = load_calls(session, study, [row.id for row in rows])
    changes: list[settling.Change] = []
    for row in rows:
        reply = replies[row.key]
        if reply is None:
            changes.append(settling.GivenBack(row.id))
        else:
            changes += _settled(loaded[row.id], reply, row.outcome, account, batch_id)
    settling.write_back(session, worker, changes)
    return len(rows)


def _settled(rows: CallRows, reply: Reply, sent: str, account: Account, batch_id: str) -> list[settling.Change]:
    """As an ordinary reply is settled, but that a re-ask goes back into the queue: it is an ordinary request."""
    rung, prompt_sha256 = cast(tuple[Rung, str], tuple(sent.split()))
    price, ladder = account.resolved.priced.price, account.resolved.definition.structured
    again = counted_tries(rows.tried) > 0 or any(one.earlier for one in rows.tried)
    ask = Ask(Prompt((), prompt_sha256, "", {}), rung, "retry" if again else "first")
    tried = (*rows.tried, Tried(reply.outcome, rung, reply.text, reply.finish_reason))
    step = step_of(replace(rows, tried=tried), rung)
    settled = settling.Settled(
        rows.call_id, {**as_row(reply, ask, price), "batch_id": batch_id}, spent_by(reply, price),
        counted_tries(tried), requeue=isinstance(step, Ask), judge=_of_judge(reply, rung, ladder),
    )  # fmt: skip
    return [settled] if isinstance(step, Ask) else [settled, _ended(rows, step)]


def _of_judge(reply: Reply, rung: Rung, ladder: Sequence[Rung]) -> dict[str, Any]:
    """What a line says about the judge itself, as columns of its row."""
    lower = ladder[ladder.index(rung) + 1 :] if rung in ladder else ()
    if reply.outcome == "format_rejected" and lower:
        return {"rung": ladder.index(lower[0])}
    return {"stopped": reply.error or reply.outcome} if reply.outcome in ("format_rejected", "fatal") else {}


def _ended(rows: CallRows, step: Finish) -> settling.Ended:
    return settling.Ended(rows.call_id, rows.answered(step.answers), step)


def _waiting(judge_id: int, batch_id: str) -> Any:
    return settling.CALLS.update().where(
        settling.CALLS.c.judge_id == judge_id,
        settling.CALLS.c.batch_id == batch_id,
        settling.CALLS.c.state == "submitted",
        settling.STILL_OPEN,
    )


def _taken(session: Session, judge_id: int, worker: settling.Worker, *which: ColumnElement[bool]) -> Sequence[Any]:
    """Submitted calls, leased so that what they came to can be written back; no other worker takes the same."""
    submitted = JudgeCall.judge_id == judge_id, JudgeCall.state == "submitted", settling.STILL_OPEN
    some = select(JudgeCall.id).where(*submitted, *which).order_by(JudgeCall.id).limit(AT_ONCE)
    until = settling.clock(session) + timedelta(seconds=worker.lease_s)
    return session.execute(
        update(JudgeCall)
        .where(JudgeCall.id.in_(some), *submitted)
        .values(state="leased", worker=worker.id, lease_until=until)
        .returning(JudgeCall.id, JudgeCall.key, JudgeCall.outcome)
        .execution_options(synchronize_session=False)
    ).all()


def _count(session: Session, statement: Any) -> int:
    return cast(CursorResult[Any], session.execute(statement)).rowcount


LINES, BYTES = 50_000, 200_000_000  # of one batch, as OpenAI limits them
CHUNK = 100  # calls whose prompts are in memory at once


@dataclass(frozen=True)
class Filled:
    """How many calls a batch was filled with, and why no further one may follow; None where one may."""

    calls: int
    stopped: str | None


def fill(
    engine: Engine, study: Study, account: Account, worker: settling.Worker, pending: str, file: IO[bytes], at_most: int
) -> Filled:
    """Write up to `at_most` lines into `file`. `account` has the price of batches."""
    judge = account.resolved.definition
    with reading(engine) as session:
        step = min(session.get_one(Judge, account.judge_id).rung, len(judge.structured) - 1)
    rung, texts = judge.structured[step], Texts()
    calls, at_most, unaffordable, stopped = 0, min(at_most, LINES), set[int](), None
    while calls < at_most:
        with reading(engine) as session:
            due = queue.due_calls(session, study, account, min(CHUNK, at_most - calls), tuple(unaffordable), texts)
            works = [Work(rows, ask := step_of(rows, rung), worst(ask, account)) for rows in due]
            fitting = _fitting(((work, _line(session, study, account, work)) for work in works), file.tell())
        if not fitting:
            break
        with transaction(engine) as session:
            claim = hold(session, account, worker, [work for work, _ in fitting], pending)
        taken = {work.rows.call_id for work in claim.taken}
        lines = [line for work, line in fitting if line and work.rows.call_id in taken]
        file.writelines(lines)
        calls += len(lines)
        unaffordable.update(claim.unaffordable)
        stopped = claim.stopped or (f"paused for {claim.paused_s:.0f} s (429)" if claim.paused_s else None)
        if stopped or len(unaffordable) > CHUNK or not (taken or claim.unaffordable):
            break
    return Filled(calls, stopped or (used_up(account.resolved.definition.max_cost) if unaffordable else None))


def _line(session: Session, study: Study, account: Account, work: Work) -> bytes:
    """Nothing for a call that ends without a request."""
    if not isinstance(work.step, Ask):
        return b""
    prompt, judge = work.step.prompt, as_sent(account.resolved.definition, work.rows.repeat_no)
    sent = with_pictures(session, study.id, prompt.messages) if judge.images else prompt.messages
    return line_of(work.rows.key, body_of(judge, sent, prompt.schema, work.step.rung))


def _fitting(lines: Iterable[tuple[Work, bytes]], size: int) -> list[tuple[Work, bytes]]:
    """The first of these that fit into a file of `size` bytes; into an empty one at least one."""
    fitting: list[tuple[Work, bytes]] = []
    for work, line in lines:
        if size and size + len(line) > BYTES:
            break
        size += len(line)
        fitting.append((work, line))
    return fitting
