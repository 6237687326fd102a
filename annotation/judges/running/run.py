"""Work through planned calls: claim, send, store, read, label, until nothing is left or nothing more may be spent.

All state is in the rows, so a run that was interrupted goes on when it is started again.
"""

import asyncio
import contextlib
import secrets
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

from sqlalchemy import Engine, orm, select, update

from annotation.judges.asking import client, examples
from annotation.judges.batches.batch_api import BatchApi
from annotation.judges.batches.batches import BatchRun, go_through_batches
from annotation.judges.defining.judge_file import JudgeDefinition
from annotation.judges.money.accounts import Account, find_account, stopped_by
from annotation.judges.queue.journal import Journal, journals_of
from annotation.judges.queue.settling import STILL_OPEN, Worker, heartbeat
from annotation.judges.running import progress, work
from db import connect, errors, tables
from db.judge_tables import Judge, JudgeCall

LEASE_S, TICK_S = 60.0, 1.0


def run_judges(
    engine: Engine,
    study_id: int,
    definitions: Sequence[JudgeDefinition],
    *,
    transport: client.Transport = client.ask,
    on_progress: progress.OnProgress | None = None,
    limit: int | None = None,
    stress: str | None = None,
    lease_s: float = LEASE_S,
    tick_s: float = TICK_S,
    batch_api: BatchApi | None = None,
) -> progress.RunSummary:
    """Make the planned calls of these judges, at most `limit` each, and label what they say. Blocks until done.

    With `stress` these are that stress test's calls alone, and nothing is labelled. What waits in a provider's batch is
    looked for first. A judge that goes through batches has its first requests submitted then, and is not waited for;
    only what must be asked again is asked here.

    `on_progress` is called every `tick_s` seconds and once at the end. The first Ctrl-C or SIGTERM finishes what is in
    flight, the second gives it up. Raises AnnotationError when a judge was not planned or has no key.
    """
    with connect.reading(engine) as session:
        study = session.get_one(tables.Study, study_id)
        accounts = _accounts(session, study, definitions, stress)
    if transport is client.ask:
        for definition in definitions:
            client.refuse_without_key(definition)
    _start_again(engine, accounts)
    worker = Worker(f"worker-{secrets.token_hex(8)}", lease_s)
    journal = Journal(journals_of(engine.url), worker.id)
    run = _Run(engine, study, worker, journal, transport, limit, time.monotonic())
    beating = _heart(engine, run.worker, [account.judge_id for account in accounts])
    with contextlib.closing(journal), ThreadPoolExecutor(1, thread_name_prefix="calipers-writer") as thread, beating:
        interrupted = asyncio.run(_work(run, accounts, thread, batch_api, on_progress, tick_s))
    if on_progress is not None:
        on_progress(tuple(judge.progress() for judge in run.judges))
    return _summary(run, interrupted)


@dataclass
class _Run:
    """One run in this process: what its judges share, and each of them at work. `batches`: by judge."""

    engine: Engine
    study: tables.Study
    worker: Worker
    journal: Journal
    transport: client.Transport
    limit: int | None
    started: float
    judges: list[work.JudgeWork] = field(default_factory=list)
    batches: dict[int, BatchRun] = field(default_factory=dict)


def _accounts(
    session: orm.Session, study: tables.Study, definitions: Sequence[JudgeDefinition], stress: str | None
) -> list[Account]:
    reworded = stress == "paraphrase"
    templates = [examples.prompt_for(session, study, definition, reworded=reworded) for definition in definitions]
    return [
        replace(find_account(session, study, definition, template), stress=stress)
        for definition, template in zip(definitions, templates, strict=True)
    ]


def _start_again(engine: Engine, accounts: Sequence[Account]) -> None:
    """What stopped a judge before stops it no more, but for a pause; and its budget is what its file says now."""
    with connect.transaction(engine) as session:
        for account in accounts:
            changed = {"stopped": stopped_by(None), "max_cost": account.resolved.definition.max_cost}
            session.execute(update(Judge).where(Judge.id == account.judge_id).values(**changed))


async def _work(
    run: _Run, accounts: Sequence[Account], thread: Executor, batch_api: BatchApi | None,
    on_progress: progress.OnProgress | None, tick_s: float,
) -> bool:  # fmt: skip
    """Batches first, then every judge until it has ended; whether a signal was heard meanwhile."""
    interrupted = _on_signal(run.judges)
    api = batch_api or BatchApi()
    try:
        if through := _through_batches(run.engine, accounts):
            stop, limit = interrupted.is_set, run.limit
            run.batches.update(await go_through_batches(run.engine, run.study, through, run.worker, api, stop, limit))
        run.judges.extend(_judge_work(run, account, thread) for account in accounts)
        if interrupted.is_set():
            for judge in run.judges:
                judge.stop("interrupted")
        await _all(run.judges, on_progress, tick_s)
    finally:
        if run.transport is client.ask or run.batches:
            await client.close()
    return interrupted.is_set()


def _through_batches(engine: Engine, accounts: Sequence[Account]) -> list[Account]:
    """Those of judges that go through batches, or that went and have calls at their providers."""
    judges = [account.judge_id for account in accounts]
    sent = select(JudgeCall.judge_id).where(JudgeCall.judge_id.in_(judges), JudgeCall.state == "submitted", STILL_OPEN)
    with connect.reading(engine) as session:
        waiting = {*session.scalars(sent.distinct())}
    return [
        account
        for account in accounts
        if (account.resolved.definition.batch_api and account.stress is None) or account.judge_id in waiting
    ]


def _judge_work(run: _Run, account: Account, thread: Executor) -> work.JudgeWork:
    """The ordinary requests of one judge: all, or where it goes through batches those that ask again."""
    if account.resolved.definition.batch_api and account.stress is None:
        account = replace(account, part="answered")
    with connect.reading(run.engine) as session:
        states, spent = progress.call_counts(session, account), session.get_one(Judge, account.judge_id).spent
    batches = run.batches.get(account.judge_id)
    left = run.limit if run.limit is None or batches is None else run.limit - batches.submitted
    return work.JudgeWork(
        run.engine, run.study, account, run.worker, thread, run.transport, journal=run.journal, states=states,
        spent=spent, limit=left,
    )  # fmt: skip


def _summary(run: _Run, interrupted: bool) -> progress.RunSummary:
    summaries, seconds = _summaries(run), time.monotonic() - run.started
    said = tuple(text for batches in run.batches.values() for text in batches.said)
    return progress.RunSummary(summaries, seconds, interrupted, sum(judge.abandoned for judge in run.judges), said)


@connect.patient
def _summaries(run: _Run) -> tuple[progress.JudgeSummary, ...]:
    with connect.reading(run.engine) as session:
        return tuple(
            progress.summarise(
                session, judge.account, seconds=judge.seconds,
                stopped=judge.stopped or run.batches.get(judge.account.judge_id, BatchRun()).stopped,
            )
            for judge in run.judges
        )  # fmt: skip


async def _all(judges: Sequence[work.JudgeWork], on_progress: progress.OnProgress | None, tick_s: float) -> None:
    """Every judge at once, until each has ended. Raises what one of them, or the display, raised."""
    drawing = asyncio.create_task(_draw(judges, on_progress, tick_s))
    drawing.add_done_callback(partial(_stop_if_failed, judges))
    try:
        ends = await asyncio.gather(*(judge.run() for judge in judges), return_exceptions=True)
        for failed in (end for end in ends if end is not None):
            raise failed
        if drawing.done():
            drawing.result()
    finally:
        drawing.cancel()


async def _draw(judges: Sequence[work.JudgeWork], on_progress: progress.OnProgress | None, tick_s: float) -> None:
    while on_progress is not None:
        await asyncio.sleep(tick_s)
        on_progress(tuple(judge.progress() for judge in judges))


def _stop_if_failed(judges: Sequence[work.JudgeWork], drawing: asyncio.Task[None]) -> None:
    if not drawing.cancelled() and drawing.exception() is not None:
        for judge in judges:
            judge.stop("the display of its progress failed")


def _on_signal(judges: Sequence[work.JudgeWork]) -> threading.Event:
    """First signal: claim nothing more. Second: cancel what is in flight. Only the main thread can hear them."""
    heard = threading.Event()

    def stop() -> None:
        for judge in judges:
            if heard.is_set():
                judge.cancel()
            judge.stop("interrupted")
        heard.set()

    if threading.current_thread() is threading.main_thread():
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, stop)
    return heard


@contextlib.contextmanager
def _heart(engine: Engine, worker: Worker, judge_ids: Sequence[int]) -> Iterator[None]:
    """Keep the worker's leases alive from a thread of its own, so that a busy event loop cannot lose them."""
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(worker.lease_s / 3):
            # a database that is away for a moment costs a beat, not the run
            with contextlib.suppress(errors.DatabaseError), connect.transaction(engine) as session:
                heartbeat(session, worker, judge_ids)

    thread = threading.Thread(target=beat, name="calipers-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
