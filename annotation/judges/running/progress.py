"""How far judges are: what a command line draws while they run, and the summary at the end."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy import func, orm, select

from annotation.judges.money.accounts import Account
from annotation.judges.replies.reply import what_is_wrong
from annotation.labels.answers import Answer
from annotation.labels.current_labels import CURRENT_LABELS
from annotation.studies import protocol_of
from db import judge_tables, tables, types


@dataclass(frozen=True)
class JudgeProgress:
    """One judge while it runs. Calls, seconds, USD; `labels` counts answers by status since the run began."""

    name: str
    planned: int
    done: int
    failed: int
    in_flight: int
    calls_per_s: float
    labels: Mapping[str, int]
    paused_s: float
    spent: float | None  # None without a price, until a reply says what it cost
    max_cost: float | None
    seconds_left: float | None  # None until something is done
    stopped: str | None
    why: str = ""  # nothing has succeeded since its last failure, in words; 429 is a provider's pause


Snapshot = tuple[JudgeProgress, ...]
OnProgress = Callable[[Snapshot], None]


@dataclass(frozen=True)
class JudgeSummary:
    """One judge after a run, over all its calls with these settings. USD. `submitted` calls are in a provider's batch.

    `cost` is the sum of the known costs of its attempts, None where none is known; `unknown_costs` counts the others;
    `spent` is what counts against the budget, those included.
    """

    name: str
    planned: int
    done: int
    failed: int
    labels: Mapping[str, int]
    attempts: int
    cost: float | None
    unknown_costs: int
    spent: float
    seconds: float
    stopped: str | None
    submitted: int = 0
    odd_costs: int = 0  # replies of own code with a cost that is no amount
    useless: str = ""  # calls ended and no answer can be used: what the first of them came to

    @property
    def left(self) -> int:
        """Calls that have not ended."""
        return self.planned - self.done - self.failed

    @property
    def complete(self) -> bool:
        """Whether every planned call was made and got a reply."""
        return self.done == self.planned


@dataclass(frozen=True)
class RunSummary:
    """A whole run. `abandoned`: requests of processes that died, which may have been paid twice. `batches`: what became
    of providers' batches, a sentence each."""

    judges: tuple[JudgeSummary, ...]
    seconds: float
    interrupted: bool
    abandoned: int
    batches: tuple[str, ...] = ()


def call_counts(session: orm.Session, account: Account) -> dict[str, int]:
    """Calls with these settings by state."""
    counted = select(judge_tables.JudgeCall.state, func.count()).where(account.calls)
    return dict(session.execute(counted.group_by(judge_tables.JudgeCall.state)).all())


def label_counts(session: orm.Session, account: Account) -> dict[str, int]:
    """The judge's current labels by status."""
    counted = (
        select(CURRENT_LABELS.c.status, func.count())
        .join(tables.Assignment, tables.Assignment.id == CURRENT_LABELS.c.assignment_id)
        .where(tables.Assignment.rater_id == account.rater_id)
        .group_by(CURRENT_LABELS.c.status)
    )
    return dict(session.execute(counted).all())


def seen_in_rows(
    session: orm.Session, account: Account, *, calls: Mapping[str, int], labels: Mapping[str, int], seconds: float
) -> JudgeProgress:
    """A judge that other processes work on. `calls` and `labels` are the counts from before they began."""
    judge, definition = session.get_one(judge_tables.Judge, account.judge_id), account.resolved.definition
    counts = call_counts(session, account)
    done, failed, planned = counts.get("done", 0), counts.get("failed", 0), sum(counts.values())
    ended = done + failed - calls.get("done", 0) - calls.get("failed", 0)
    rate = ended / max(1e-9, seconds)
    since = {status: count - labels.get(status, 0) for status, count in label_counts(session, account).items()}
    paused = (judge.paused_until - types.now()).total_seconds() if judge.paused_until else 0.0
    return JudgeProgress(
        name=definition.name, planned=planned, done=done, failed=failed, in_flight=counts.get("leased", 0),
        calls_per_s=rate, labels={status: count for status, count in since.items() if count > 0},
        paused_s=max(0.0, paused), why="429", max_cost=definition.max_cost,
        spent=judge.spent or (None if account.resolved.priced.price is None else 0.0),
        seconds_left=(planned - done - failed) / rate if ended > 0 else None,
        stopped=judge.stopped,
    )  # fmt: skip


def summarise(session: orm.Session, account: Account, *, seconds: float, stopped: str | None) -> JudgeSummary:
    """Everything the rows say about one judge."""
    counts = call_counts(session, account)
    attempts, cost, priced, unbilled, odd_costs = session.execute(
        select(
            func.count(judge_tables.JudgeAttempt.id),
            func.sum(judge_tables.JudgeAttempt.cost),
            func.count(judge_tables.JudgeAttempt.cost),
            func.count(judge_tables.JudgeAttempt.id).filter(judge_tables.JudgeAttempt.cost.is_(None)),
            func.count(judge_tables.JudgeAttempt.error).filter(judge_tables.JudgeAttempt.outcome == "ok"),
        )
        .join(judge_tables.JudgeCall, judge_tables.JudgeCall.id == judge_tables.JudgeAttempt.call_id)
        .where(judge_tables.JudgeCall.judge_id == account.judge_id)
    ).one()
    has_price, labels = account.resolved.priced.price is not None, label_counts(session, account)
    return JudgeSummary(
        name=account.resolved.definition.name,
        planned=sum(counts.values()),
        done=counts.get("done", 0),
        failed=counts.get("failed", 0),
        labels=labels,
        attempts=attempts,
        cost=(cost or 0.0) if priced or has_price else None,
        unknown_costs=unbilled if has_price or priced else 0,
        spent=session.get_one(judge_tables.Judge, account.judge_id).spent,
        seconds=seconds,
        stopped=stopped,
        submitted=counts.get("submitted", 0),
        odd_costs=odd_costs,
        useless=_first_failure(session, account) if sum(labels.values()) > labels.get("ok", 0) == 0 else "",
    )


def _first_failure(session: orm.Session, account: Account) -> str:
    """Of the first call that ended what was wrong with it, in words; "" where none has ended."""
    calls, attempts = judge_tables.JudgeCall, judge_tables.JudgeAttempt
    ended = select(calls).where(account.calls, calls.state.in_(("done", "failed"))).order_by(calls.id).limit(1)
    if (call := session.scalar(ended)) is None:
        return ""
    tries = select(attempts).where(attempts.call_id == call.id).order_by(attempts.attempt_no.desc()).limit(1)
    last = session.scalar(tries)
    if call.state == "failed" or last is None:
        return f"Call {call.id}: {(last and last.error) or call.outcome}"
    served = judge_tables.JudgeCallAssignment
    labels = session.execute(
        select(tables.Criterion.code, tables.Label.status, tables.Label.flags)
        .join(tables.Criterion, tables.Criterion.id == tables.Label.criterion_id)
        .join(served, served.assignment_id == tables.Label.assignment_id)
        .where(served.call_id == call.id, tables.Criterion.id.in_(call.criteria))
        .order_by(tables.Label.revision)
    )
    newest = {code: Answer(code, status, flags=tuple(flags)) for code, status, flags in labels}
    study = session.get_one(tables.Study, session.get_one(judge_tables.Judge, call.judge_id).study_id)
    return f"Call {call.id}: {what_is_wrong(last.raw_reply or '', [*newest.values()], protocol_of(study).task_type)}"
