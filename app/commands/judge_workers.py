"""`calipers judge run --workers N`: processes of `judge resume` on one queue, watched through their rows."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from annotation.judges.accounts import Account
    from annotation.judges.judge_file import JudgeDefinition
    from annotation.judges.progress import OnProgress, RunSummary

TICK_S = 1.0
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class _Worker:
    """A process of `judge resume`, and the files that it writes its end and its complaints into."""

    process: subprocess.Popen[bytes]
    said: IO[str]
    complaints: IO[str]


def run_together(
    engine: Any, study_id: int, definitions: Sequence[JudgeDefinition], resumes: Sequence[Sequence[str]],
    on_progress: OnProgress | None,
) -> RunSummary:  # fmt: skip
    """One process for each of `resumes` (arguments after `judge resume`), until all have ended.

    Ctrl-C reaches every worker: the first finishes what is in flight, the second gives it up. A worker that died is
    told of; the others take over what it held.
    """
    accounts = _accounts(engine, study_id, definitions)
    before = _counts(engine, accounts)
    started = time.monotonic()
    with ExitStack() as stack:
        workers = [stack.enter_context(_started(arguments)) for arguments in resumes]
        with _passed_on([worker.process for worker in workers]):
            while any(worker.process.poll() is None for worker in workers):
                time.sleep(TICK_S)
                if on_progress is not None:
                    _show(engine, accounts, before, time.monotonic() - started, on_progress)
        ends = [_end(worker) for worker in workers]
    return _summary(engine, accounts, ends, time.monotonic() - started)


def _accounts(engine: Any, study_id: int, definitions: Sequence[JudgeDefinition]) -> list[Account]:
    from annotation.judges.accounts import find_account
    from annotation.judges.prompt import template_of
    from annotation.studies import protocol_of
    from db.connect import reading
    from db.tables import Study

    with reading(engine) as session:
        study = session.get_one(Study, study_id)
        protocol = protocol_of(study)
        return [find_account(session, study, one, template_of(protocol, one.prompt)) for one in definitions]


def _counts(engine: Any, accounts: Sequence[Account]) -> list[tuple[dict[str, int], dict[str, int]]]:
    """Calls by state and labels by status, of each judge."""
    from annotation.judges.progress import call_counts, label_counts
    from db.connect import reading

    with reading(engine) as session:
        return [(call_counts(session, account), label_counts(session, account)) for account in accounts]


@contextmanager
def _started(arguments: Sequence[str]) -> Iterator[_Worker]:
    command = [sys.executable, "-P", "-m", "app.command_line", "judge", "resume", *arguments, "--json"]
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as complaints:
        # in a session of its own, so that a Ctrl-C of the terminal reaches each of them once: through us
        process = subprocess.Popen(command, stdout=said, stderr=complaints, start_new_session=True)
        yield _Worker(process, said, complaints)


def _show(
    engine: Any, accounts: Sequence[Account], before: Sequence[tuple[dict[str, int], dict[str, int]]], seconds: float,
    on_progress: OnProgress,
) -> None:  # fmt: skip
    from annotation.judges.progress import seen_in_rows
    from db.connect import reading
    from db.errors import DatabaseAway

    # the workers wait for a database that is away; so does the display
    with suppress(DatabaseAway), reading(engine) as session:
        on_progress(
            tuple(
                seen_in_rows(session, account, calls=calls, labels=labels, seconds=seconds)
                for account, (calls, labels) in zip(accounts, before, strict=True)
            )
        )


def _summary(engine: Any, accounts: Sequence[Account], ends: Sequence[dict[str, Any]], seconds: float) -> RunSummary:
    """What the rows say now, and what the workers said of themselves."""
    from annotation.judges.progress import RunSummary, summarise
    from db.connect import reading

    stopped = {one["name"]: one["stopped"] for end in ends for one in end.get("judges", ()) if one["stopped"]}
    with reading(engine) as session:
        judges = tuple(
            summarise(session, account, seconds=seconds, stopped=stopped.get(account.resolved.definition.name))
            for account in accounts
        )
    interrupted = any(end.get("interrupted", False) for end in ends)
    batches = tuple(text for end in ends for text in end.get("batches", ()))
    return RunSummary(judges, seconds, interrupted, sum(end.get("abandoned", 0) for end in ends), batches)


def shares(limit: int | None, workers: int) -> list[int | None]:
    """`limit` calls shared out to at most `workers` workers, each with at least one."""
    if limit is None:
        return [None] * workers
    return [limit // workers + (number < limit % workers) for number in range(min(workers, limit))]


@contextmanager
def _passed_on(workers: Sequence[subprocess.Popen[bytes]]) -> Iterator[None]:
    def pass_on(number: int, _: object) -> None:
        for worker in workers:
            if worker.poll() is None:
                worker.send_signal(number)

    usual = {name: signal.signal(name, pass_on) for name in SIGNALS}
    try:
        yield
    finally:
        for name, handler in usual.items():
            signal.signal(name, handler)


def _end(worker: _Worker) -> dict[str, Any]:
    """What a worker said at its end; nothing, with a word to the user, where it could not."""
    worker.said.seek(0)
    if text := worker.said.read().strip():
        end: dict[str, Any] = json.loads(text)
        return end
    worker.complaints.seek(0)
    signalled = f"ended by signal {-(worker.process.returncode or 0)}"
    last = (worker.complaints.read().strip().splitlines() or [signalled])[-1]
    typer.echo(f"worker {worker.process.pid}: {last}", err=True)
    return {}
