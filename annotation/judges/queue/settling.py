"""Who holds a call, until when, and what it came to, written back with labels and one balance, many at once."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Update, bindparam, func, orm, select, text, update

from annotation.judges.asking.steps import Finish
from annotation.judges.money.accounts import Account, stopped_by
from annotation.judges.money.prices import fits, room_of
from annotation.judges.replies.reply import PARSER_VERSION
from annotation.labelling import record_answers
from annotation.labels.answers import Answered
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


def clock(session: orm.Session) -> datetime:
    """The time all workers agree on: the database's on Postgres, this machine's where the database is a file."""
    if session.get_bind().dialect.name == "postgresql":
        return session.scalar(select(func.clock_timestamp())) or now()
    return now()


def heartbeat(session: orm.Session, worker: Worker, judge_ids: Sequence[int]) -> None:
    """Push back the end of every lease this worker holds, also on calls whose batch it is creating."""
    held = CALLS.c.judge_id.in_(judge_ids), CALLS.c.state.in_(HELD), STILL_OPEN, CALLS.c.worker == worker.id
    session.execute(CALLS.update().where(*held).values(lease_until=clock(session) + timedelta(seconds=worker.lease_s)))


def workers_of(session: orm.Session, judge_id: int) -> set[str]:
    """The processes that hold leases of this judge now, by id."""
    living = CALLS.c.judge_id == judge_id, CALLS.c.state == "leased", STILL_OPEN, CALLS.c.lease_until > clock(session)
    return {name for name in session.scalars(select(CALLS.c.worker).where(*living).distinct()) if name}


def take_over_expired(session: orm.Session, worker: Worker, account: Account) -> int:
    """Plan again what dead workers held. Returns how many requests were out, which may be paid twice.

    Each of those becomes an `abandoned` attempt that keeps its reservation as spent.
    """
    return _plan_again(session, account.judge_id, CALLS.c.worker != worker.id, CALLS.c.lease_until < clock(session))


def let_go(session: orm.Session, worker: Worker, judge_id: int, sent: frozenset[tuple[str, int]] | None = None) -> int:
    """Plan again what this worker still holds when it ends, as if it had died. `sent`: its requests as (key of the
    call, number of the attempt), where its journal is known; what was not sent costs nothing.
    """
    return _plan_again(session, judge_id, CALLS.c.worker == worker.id, sent=sent)


def locked(session: orm.Session, worker: Worker, call_ids: Sequence[int]) -> dict[int, Held]:
    """The rows of these calls by id, locked in one order, so that two workers never wait for each other."""
    rows = session.execute(LOCKED, {"calls": call_ids})
    return {
        key: Held(judge, by == worker.id and state == "leased", reserved) for key, judge, state, by, reserved in rows
    }


def last_attempts(session: orm.Session, call_ids: Sequence[int]) -> dict[int, int]:
    """The number of each call's last attempt; none where there is none."""
    return {call: number for call, number in session.execute(LAST_ATTEMPTS, {"calls": call_ids})}


def pay(session: orm.Session, judge_id: int, *, spent: float, released: float) -> None:
    """Move reservations to spent money, as far as they were spent. USD."""
    if spent or released:
        session.execute(
            update(Judge)
            .where(Judge.id == judge_id)
            .values(spent=Judge.spent + spent, reserved=Judge.reserved - released)
            .execution_options(synchronize_session=False)
        )


def _plan_again(
    session: orm.Session, judge_id: int, *whose: ColumnElement[bool], sent: frozenset[tuple[str, int]] | None = None
) -> int:
    leased = CALLS.c.judge_id == judge_id, CALLS.c.state == "leased", STILL_OPEN
    held = select(CALLS.c.id, CALLS.c.key, CALLS.c.outcome, CALLS.c.reserved).where(*leased, *whose)
    rows = session.execute(held.with_for_update(skip_locked=True)).all()
    waiting = [row for row in rows if row.outcome != "replied"]
    numbers = last_attempts(session, [row.id for row in waiting])
    out = [row.id for row in waiting if sent is None or (row.key, 1 + numbers.get(row.id, 0)) in sent]
    session.add_all(
        JudgeAttempt(
            call_id=call, attempt_no=1 + numbers.get(call, 0), kind="abandoned", outcome="abandoned", seconds=0.0,
            error="the process ended while the request was out; it may have been billed",
        )
        for call in out
    )  # fmt: skip
    spent = sum(row.reserved for row in rows if sent is None or row.id in out)
    pay(session, judge_id, spent=spent, released=sum(row.reserved for row in rows))
    session.execute(update(JudgeCall).where(JudgeCall.id.in_([row.id for row in rows])).values(**RELEASED))
    return len(out)


SAME = ("outcome", "prompt_sha256", "seconds")  # by which a try is known again: it is measured to the microsecond


@dataclass(frozen=True)
class Settled:
    """One attempt and its cost, stored before anybody reads the reply.

    `spent` None keeps the whole reservation as spent: nobody knows what was billed. `requeue` plans the call again, due
    in `wait_s` seconds. `judge`: what the reply means for the whole judge, as columns; `paused_s` is its pause.
    Without the lease the attempt is kept as `surplus`, for whoever takes the call next. `number`: which try of the call
    it is, so that one is stored once, also where the word of its commit was lost; 0 where that is not known.
    """

    call_id: int
    attempt: Mapping[str, Any]
    spent: float | None
    tries: int = 0
    requeue: bool = False
    wait_s: float = 0.0
    judge: Mapping[str, Any] = field(default_factory=dict)
    paused_s: float | None = None
    number: int = 0


@dataclass(frozen=True)
class AskedAgain:
    """A re-ask is about to go out and may cost `worst` USD. Refused where the budget has no room for it."""

    call_id: int
    worst: float


@dataclass(frozen=True)
class Ended:
    """The call's labels, and its end; `settled`: its last attempt, where that is not stored yet."""

    call_id: int
    answered: tuple[Answered, ...]
    step: Finish
    settled: Settled | None = None


@dataclass(frozen=True)
class GivenBack:
    """A claimed call for which no request is out."""

    call_id: int


Change = Settled | AskedAgain | Ended | GivenBack


@dataclass
class _Books:
    """What one transaction writes in the end: columns by call, and money by judge."""

    held: dict[int, Held]
    columns: dict[int, dict[str, Any]] = field(default_factory=dict)
    spent: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    released: dict[int, float] = field(default_factory=lambda: defaultdict(float))

    def write(self, call_id: int, **columns: Any) -> None:
        self.columns.setdefault(call_id, {}).update(columns)

    def pay(self, call_id: int, spent: float | None) -> None:
        """Release the call's reservation; `spent` None: all of it is spent."""
        row = self.held[call_id]
        self.spent[row.judge_id] += row.reserved if spent is None else spent
        self.released[row.judge_id] += row.reserved
        row.reserved = 0.0
        self.write(call_id, reserved=0.0)


def write_back(session: orm.Session, worker: Worker, changes: Sequence[Change]) -> list[bool]:
    """Whether each change was made: only where the lease is still ours, and a re-ask only where it can be paid."""
    books = _Books(locked(session, worker, sorted({change.call_id for change in changes})))
    mine = [books.held[change.call_id].mine for change in changes]
    settled = [change.settled if isinstance(change, Ended) else change for change in changes]
    _settle(session, books, [change for change in settled if isinstance(change, Settled)])
    held = [change for change, ours in zip(changes, mine, strict=True) if ours]
    _end(session, books, [change for change in held if isinstance(change, Ended)])
    for change in held:
        if isinstance(change, GivenBack):
            books.pay(change.call_id, 0.0)
            books.write(change.call_id, **RELEASED, outcome=None)
    for judge, spent in sorted(books.spent.items()):
        pay(session, judge, spent=spent, released=books.released[judge])
    paid = _reserve(session, books, [change for change in held if isinstance(change, AskedAgain)])
    _write(session, books.columns)
    return [
        ours and (not isinstance(change, AskedAgain) or change.call_id in paid)
        for change, ours in zip(changes, mine, strict=True)
    ]


def _settle(session: orm.Session, books: _Books, changes: Sequence[Settled]) -> None:
    if not changes:
        return
    at, stamp, rows = clock(session), now(), []
    numbers = last_attempts(session, [change.call_id for change in changes])
    changes = [change for change in changes if not _is_stored(session, change, numbers.get(change.call_id, 0))]
    if not changes:
        return
    for change in changes:
        row = books.held[change.call_id]
        number = numbers[change.call_id] = 1 + numbers.get(change.call_id, 0)
        kind = change.attempt["kind"] if row.mine else "surplus"
        numbered = {"call_id": change.call_id, "attempt_no": number, "kind": kind, "created_at": stamp}
        rows.append({**change.attempt, **numbered})
        if not row.mine:
            continue
        books.pay(change.call_id, change.spent)
        books.write(change.call_id, outcome="replied", tries=change.tries)
        if change.requeue:
            due = at + timedelta(seconds=change.wait_s) if change.wait_s else None
            books.write(change.call_id, **RELEASED, next_try_at=due)
    session.execute(ATTEMPTS.insert(), rows)
    for change in changes:
        until = {} if change.paused_s is None else {"paused_until": at + timedelta(seconds=change.paused_s)}
        if columns := {**change.judge, **until}:
            judge = books.held[change.call_id].judge_id
            if "stopped" in columns:
                columns["stopped"] = stopped_by(columns["stopped"])
            session.execute(update(Judge).where(Judge.id == judge).values(**columns))


def _is_stored(session: orm.Session, change: Settled, last: int) -> bool:
    """Whether this very try is stored already: it was committed, and the connection broke, or the process was killed,
    before anybody heard of it."""
    if not change.number or last < change.number:
        return False
    same = [ATTEMPTS.c[name] == change.attempt[name] for name in SAME]
    stored = select(ATTEMPTS.c.id).where(
        ATTEMPTS.c.call_id == change.call_id, ATTEMPTS.c.attempt_no >= change.number, *same
    )
    return session.scalar(stored.limit(1)) is not None


def _end(session: orm.Session, books: _Books, changes: Sequence[Ended]) -> None:
    """Label and end. An answer about a text or a question that changed while the call was out is never a label."""
    answered = [(change.call_id, reply) for change in changes for reply in change.answered if reply.answers]
    replies = [reply for _, reply in answered]
    recorded = record_answers(session, replies, parser_version=PARSER_VERSION) if replies else []
    stale = {call for (call, _), done in zip(answered, recorded, strict=True) if not done}
    stamp = now()
    for change in changes:
        ended = ("failed", "stale") if change.call_id in stale else (change.step.state, change.step.outcome)
        books.pay(change.call_id, 0.0)
        books.write(change.call_id, **{**RELEASED, "state": ended[0]}, outcome=ended[1], done_at=stamp)


def _reserve(session: orm.Session, books: _Books, changes: Sequence[AskedAgain]) -> set[int]:
    """The calls whose re-ask fits the budget; its worst case is reserved."""
    paid: set[int] = set()
    for judge_id in sorted({books.held[change.call_id].judge_id for change in changes}):
        judge = session.execute(
            select(Judge.max_cost, Judge.spent, Judge.reserved).where(Judge.id == judge_id).with_for_update()
        ).one()
        room = room_of(judge.max_cost, judge.spent, judge.reserved)
        reserved = 0.0
        for change in changes:
            more = change.worst - books.held[change.call_id].reserved  # all of it, unless it was reserved already
            if books.held[change.call_id].judge_id == judge_id and fits(reserved + more, room):
                reserved += more
                paid.add(change.call_id)
                books.write(change.call_id, reserved=change.worst, outcome="reasking")
        pay(session, judge_id, spent=0.0, released=-reserved)
    return paid


def _write(session: orm.Session, columns: Mapping[int, Mapping[str, Any]]) -> None:
    """One UPDATE for all calls that end up alike: most do."""
    alike: dict[tuple[tuple[str, Hashable], ...], list[int]] = {}
    for call_id, values in columns.items():
        alike.setdefault(tuple(sorted(values.items())), []).append(call_id)
    for same, call_ids in alike.items():
        values = dict(same)
        session.execute(
            _update_of(tuple(values)), {"calls": call_ids, **{f"new_{name}": values[name] for name in values}}
        )


@lru_cache(maxsize=32)
def _update_of(columns: tuple[str, ...]) -> Update:
    changed = CALLS.update().where(CALLS.c.id.in_(bindparam("calls", expanding=True)))
    return changed.values({name: bindparam(f"new_{name}") for name in columns})
