"""Planned calls become the lines of one batch: claimed, paid for in advance, and marked before a line is written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO

from sqlalchemy import Engine

from annotation.judges import batch_rows, queue
from annotation.judges.accounts import Account, as_sent
from annotation.judges.batch_api import body_of
from annotation.judges.batch_lines import line_of
from annotation.judges.leases import Worker
from annotation.judges.preparing import step_of, worst
from annotation.judges.queue import Claim, Work
from annotation.judges.steps import Ask
from annotation.judges.texts_kept import Texts
from db.connect import reading, transaction
from db.judge_tables import Judge
from db.tables import Study

LINES, BYTES = 50_000, 200_000_000  # of one batch, as OpenAI limits them
CHUNK = 100  # calls whose prompts are in memory at once


@dataclass(frozen=True)
class Filled:
    """How many calls a batch was filled with, and why no further one may follow; None where one may."""

    calls: int
    stopped: str | None


def fill(
    engine: Engine, study: Study, account: Account, worker: Worker, pending: str, file: IO[bytes], at_most: int
) -> Filled:
    """Write up to `at_most` lines into `file`. `account` has the price of batches."""
    judge = account.resolved.definition
    with reading(engine) as session:
        step = min(session.get_one(Judge, account.judge_id).rung, len(judge.structured) - 1)
    rung, texts = judge.structured[step], Texts()
    calls, at_most, unaffordable = 0, min(at_most, LINES), set[int]()
    while calls < at_most:
        with reading(engine) as session:
            due = queue.due_calls(session, study, account, min(CHUNK, at_most - calls), tuple(unaffordable), texts)
        works = [Work(rows, ask := step_of(rows, rung), worst(ask, account)) for rows in due]
        fitting = _fitting([(work, _line(account, work)) for work in works], file.tell())
        if not fitting:
            break
        with transaction(engine) as session:
            claim = batch_rows.hold(session, account, worker, [work for work, _ in fitting], pending)
        taken = {work.rows.call_id for work in claim.taken}
        lines = [line for work, line in fitting if line and work.rows.call_id in taken]
        file.writelines(lines)
        calls += len(lines)
        unaffordable.update(claim.unaffordable)
        if (stopped := _stopped(claim)) or len(unaffordable) > CHUNK or not (taken or claim.unaffordable):
            return Filled(calls, stopped or _budget(account, unaffordable))
    return Filled(calls, _budget(account, unaffordable))


def _line(account: Account, work: Work) -> bytes:
    """Nothing for a call that ends without a request."""
    if not isinstance(work.step, Ask):
        return b""
    prompt, judge = work.step.prompt, as_sent(account.resolved.definition, work.rows.repeat_no)
    return line_of(work.rows.key, body_of(judge, prompt.messages, prompt.schema, work.step.rung))


def _fitting(lines: Iterable[tuple[Work, bytes]], size: int) -> list[tuple[Work, bytes]]:
    """The first of these that fit into a file of `size` bytes; into an empty one at least one."""
    fitting: list[tuple[Work, bytes]] = []
    for work, line in lines:
        if size and size + len(line) > BYTES:
            break
        size += len(line)
        fitting.append((work, line))
    return fitting


def _stopped(claim: Claim) -> str | None:
    return claim.stopped or (f"paused for {claim.paused_s:.0f} s (429)" if claim.paused_s else None)


def _budget(account: Account, unaffordable: set[int]) -> str | None:
    if not unaffordable:
        return None
    most = account.resolved.definition.max_cost or 0.0
    return f"budget: the next call may cost more than what is left of {most:g} USD"
