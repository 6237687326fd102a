"""Work through planned calls: claim, send, store, read, label, until nothing is left or nothing more may be spent.

All state is in the rows, so a run that was interrupted goes on when it is started again.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from sqlalchemy import Engine, update

from annotation.judges import client
from annotation.judges.accounts import Account, find_account
from annotation.judges.batch_api import BatchApi
from annotation.judges.batches import BatchRun, go_through_batches
from annotation.judges.client import Transport
from annotation.judges.judge_file import JudgeDefinition
from annotation.judges.leases import Worker, heartbeat
from annotation.judges.progress import JudgeSummary, OnProgress, RunSummary, call_counts, summarise
from annotation.judges.prompt import template_of
from annotation.judges.work import JudgeWork
from annotation.studies import protocol_of
from db.away import patient
from db.connect import reading, transaction
from db.errors import DatabaseError
from db.judge_tables import Judge
from db.tables import Study

LEASE_S, TICK_S = 60.0, 1.0


def run_judges(
    engine: Engine,
    study_id: int,
    definitions: Sequence[JudgeDefinition],
    *,
    transport: Transport = client.ask,
    on_progress: OnProgress | None = None,
    limit: int | None = None,
    probe_kind: str | None = None,
    lease_s: float = LEASE_S,
    tick_s: float = TICK_S,
    batch_api: BatchApi | None = None,
) -> RunSummary:
    """Make the planned calls of these judges, at most `limit` each, and label what they say. Blocks until done.

    With `probe_kind` these are the calls of that probe alone, and nothing is labelled. What waits in a provider's batch
    is looked for first. A judge that goes through batches has its first requests submitted then, and is not waited for;
    only what must be asked again is asked here.

    `on_progress` is called every `tick_s` seconds and once at the end. The first Ctrl-C or SIGTERM finishes what is in
    flight, the second gives it up. Raises AnnotationError when a judge was not planned or has no key.
    """
    with reading(engine) as session:
        study = session.get_one(Study, study_id)
        protocol, reworded = protocol_of(study), probe_kind == "paraphrase"
        templates = [template_of(protocol, one.prompt, reworded=reworded) for one in definitions]
        accounts = [
            replace(find_account(session, study, definition, template), probe_kind=probe_kind)
            for definition, template in zip(definitions, templates, strict=True)
        ]
    if transport is client.ask:
        for definition in definitions:
            client.api_key(definition)
    with transaction(engine) as session:
        for account in accounts:
            changed = {"stopped": None, "max_cost": account.resolved.definition.max_cost}
            session.execute(update(Judge).where(Judge.id == account.judge_id).values(**changed))
    worker = Worker(f"worker-{secrets.token_hex(8)}", lease_s)
    started = time.monotonic()

    judges: list[JudgeWork] = []
    batches: dict[int, BatchRun] = {}

    async def work() -> bool:
        interrupted = _on_signal(judges)
        api = batch_api or BatchApi()
        try:
            batches.update(await go_through_batches(engine, study, accounts, worker, api, interrupted.is_set, limit))
            judges.extend(
                _judge_work(engine, study, account, worker, thread, transport, batches.get(account.judge_id), limit)
                for account in accounts
            )
            if interrupted.is_set():
                for judge in judges:
                    judge.stop("interrupted")
            await _all(judges, on_progress, tick_s)
        finally:
            if transport is client.ask or batches:
                await client.close()
        return interrupted.is_set()

    beating = _heart(engine, worker, [account.judge_id for account in accounts])
    with ThreadPoolExecutor(1, thread_name_prefix="calipers-writer") as thread, beating:
        interrupted = asyncio.run(work())
    if on_progress is not None:
        on_progress(tuple(judge.progress() for judge in judges))
    summaries = _summaries(engine, judges, batches)
    said = tuple(text for run in batches.values() for text in run.said)
    abandoned = sum(judge.abandoned for judge in judges)
    return RunSummary(summaries, time.monotonic() - started, interrupted, abandoned, said)


@patient
def _summaries(
    engine: Engine, judges: Sequence[JudgeWork], batches: Mapping[int, BatchRun]
) -> tuple[JudgeSummary, ...]:
    with reading(engine) as session:
        return tuple(
            summarise(
                session, judge.account, seconds=judge.seconds,
                stopped=judge.stopped or batches.get(judge.account.judge_id, BatchRun()).stopped,
            )
            for judge in judges
        )  # fmt: skip


def _judge_work(
    engine: Engine, study: Study, account: Account, worker: Worker, thread: Executor, transport: Transport,
    batches: BatchRun | None, limit: int | None,
) -> JudgeWork:  # fmt: skip
    """The ordinary requests of one judge: all, or where it goes through batches those that ask again."""
    if account.resolved.definition.batch_api and account.probe_kind is None:
        account = replace(account, part="answered")
    with reading(engine) as session:
        states, spent = call_counts(session, account), session.get_one(Judge, account.judge_id).spent
    left = limit if limit is None or batches is None else limit - batches.submitted
    return JudgeWork(engine, study, account, worker, thread, transport, states=states, spent=spent, limit=left)


async def _all(judges: Sequence[JudgeWork], on_progress: OnProgress | None, tick_s: float) -> None:
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


async def _draw(judges: Sequence[JudgeWork], on_progress: OnProgress | None, tick_s: float) -> None:
    while on_progress is not None:
        await asyncio.sleep(tick_s)
        on_progress(tuple(judge.progress() for judge in judges))


def _stop_if_failed(judges: Sequence[JudgeWork], drawing: asyncio.Task[None]) -> None:
    if not drawing.cancelled() and drawing.exception() is not None:
        for judge in judges:
            judge.stop("the display of its progress failed")


def _on_signal(judges: Sequence[JudgeWork]) -> threading.Event:
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
            with contextlib.suppress(DatabaseError), transaction(engine) as session:
                heartbeat(session, worker, judge_ids)

    thread = threading.Thread(target=beat, name="calipers-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
