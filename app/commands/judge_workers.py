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
from typing import IO, TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from annotation.judges.judge_file import JudgeDefinition
    from annotation.judges.progress import OnProgress, RunSummary

TICK_S = 1.0
SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_together(
    engine: Any, study_id: int, definitions: Sequence[JudgeDefinition], resumes: Sequence[Sequence[str]],
    on_progress: OnProgress | None,
) -> RunSummary:  # fmt: skip
    """One process for each of `resumes` (arguments after `judge resume`), until all have ended.

    Ctrl-C reaches every worker: the first finishes what is in flight, the second gives it up. A worker that died is
    told of; the others take over what it held.
    """
    from annotation.judges.accounts import find_account
    from annotation.judges.progress import RunSummary, call_counts, label_counts, seen_in_rows, summarise
    from annotation.judges.prompt import template_of
    from annotation.studies import protocol_of
    from db.connect import reading
    from db.errors import DatabaseAway
    from db.tables import Study

    with reading(engine) as session:
        study = session.get_one(Study, study_id)
        protocol = protocol_of(study)
        accounts = [find_account(session, study, one, template_of(protocol, one.prompt)) for one in definitions]
        before = [(call_counts(session, account), label_counts(session, account)) for account in accounts]
    started = time.monotonic()
    with ExitStack() as stack:
        said = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in resumes]
        complaints = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in resumes]
        # in sessions of their own, so that a Ctrl-C of the terminal reaches each of them once: through us
        command = [sys.executable, "-P", "-m", "app.command_line", "judge", "resume"]
        workers = [
            subprocess.Popen([*command, *arguments, "--json"], stdout=out, stderr=err, start_new_session=True)
            for arguments, out, err in zip(resumes, said, complaints, strict=True)
        ]
        with _passed_on(workers):
            while any(worker.poll() is None for worker in workers):
                time.sleep(TICK_S)
                if on_progress is not None:
                    seconds = time.monotonic() - started
                    # the workers wait for a database that is away; so does the display
                    with suppress(DatabaseAway), reading(engine) as session:
                        on_progress(
                            tuple(
                                seen_in_rows(session, account, calls=calls, labels=labels, seconds=seconds)
                                for account, (calls, labels) in zip(accounts, before, strict=True)
                            )
                        )
        ends = [_end(worker, out, err) for worker, out, err in zip(workers, said, complaints, strict=True)]
    seconds = time.monotonic() - started
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


def _end(worker: subprocess.Popen[bytes], said: IO[str], complaints: IO[str]) -> dict[str, Any]:
    """What a worker said at its end; nothing, with a word to the user, where it could not."""
    said.seek(0)
    if text := said.read().strip():
        end: dict[str, Any] = json.loads(text)
        return end
    complaints.seek(0)
    last = (complaints.read().strip().splitlines() or [f"ended by signal {-(worker.returncode or 0)}"])[-1]
    typer.echo(f"worker {worker.pid}: {last}", err=True)
    return {}
