"""What calls came to is written back, many in one transaction: attempts, labels, rows of the queue, one balance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import Update, bindparam, select, update
from sqlalchemy.orm import Session

from annotation.judges.answers import Answered
from annotation.judges.leases import ATTEMPTS, CALLS, RELEASED, Held, Worker, clock, last_attempts, locked, pay
from annotation.judges.reply import PARSER_VERSION
from annotation.judges.steps import Finish
from annotation.labelling import record_answers
from db.judge_tables import Judge
from db.types import now

ROUNDING = 1e-9  # USD; running totals are sums of floats


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
    """The call's labels, and its end."""

    call_id: int
    answered: tuple[Answered, ...]
    step: Finish


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


def write_back(session: Session, worker: Worker, changes: Sequence[Change]) -> list[bool]:
    """Whether each change was made: only where the lease is still ours, and a re-ask only where it can be paid."""
    books = _Books(locked(session, worker, sorted({change.call_id for change in changes})))
    mine = [books.held[change.call_id].mine for change in changes]
    _settle(session, books, [change for change in changes if isinstance(change, Settled)])
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


def _settle(session: Session, books: _Books, changes: Sequence[Settled]) -> None:
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
            session.execute(update(Judge).where(Judge.id == judge).values(**columns))


def _is_stored(session: Session, change: Settled, last: int) -> bool:
    """Whether this very try stands already: it was committed, and the connection broke before anybody heard of it."""
    if not change.number or last < change.number:
        return False
    same = ("outcome", "prompt_sha256", "seconds")  # measured to the microsecond
    stored = session.execute(
        select(*(ATTEMPTS.c[name] for name in same)).where(
            ATTEMPTS.c.call_id == change.call_id, ATTEMPTS.c.attempt_no == change.number
        )
    ).one()
    return all(change.attempt[name] == value for name, value in zip(same, stored, strict=True))


def _end(session: Session, books: _Books, changes: Sequence[Ended]) -> None:
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


def _reserve(session: Session, books: _Books, changes: Sequence[AskedAgain]) -> set[int]:
    """The calls whose re-ask fits the budget; its worst case is reserved."""
    paid: set[int] = set()
    for judge_id in sorted({books.held[change.call_id].judge_id for change in changes}):
        judge = session.execute(
            select(Judge.max_cost, Judge.spent, Judge.reserved).where(Judge.id == judge_id).with_for_update()
        ).one()
        room = float("inf") if judge.max_cost is None else judge.max_cost - judge.spent - judge.reserved
        reserved = 0.0
        for change in changes:
            more = change.worst - books.held[change.call_id].reserved  # all of it, unless it was reserved already
            if books.held[change.call_id].judge_id == judge_id and reserved + more <= room + ROUNDING:
                reserved += more
                paid.add(change.call_id)
                books.write(change.call_id, reserved=change.worst, outcome="reasking")
        pay(session, judge_id, spent=0.0, released=-reserved)
    return paid


def _write(session: Session, columns: Mapping[int, Mapping[str, Any]]) -> None:
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
