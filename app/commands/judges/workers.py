"""Judge runs on the terminal: a line a judge while it works, in this process or in several on one queue."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import typer

from annotation.errors import AnnotationError
from app.commands.opening import find_study, opened, protocol_of, reading
from calipers.own_folders import command_of

if TYPE_CHECKING:
    from annotation.judges.defining.judge_file import JudgeDefinition
    from annotation.judges.money.accounts import Account
    from annotation.judges.running.progress import JudgeProgress, JudgeSummary, OnProgress, RunSummary

TICK_S = 1.0
WORTH, MEASURED = 100, 4  # calls for each in flight: of fewer no part is measured, and how large that part is
HELD_UP = 0.7  # of the seconds of such a part, by processor (.3 s of it pass until its first answers): more are faster
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


def run_as_needed(
    engine: Any, study_id: int, definitions: Sequence[JudgeDefinition], resume: Sequence[str],
    on_progress: OnProgress | None,
) -> RunSummary:  # fmt: skip
    """This process alone, or as many as there are processors where a part of the calls shows that one is held up.

    They share what may be in flight. The first calls are in no measure, since libraries are imported with them. Of few
    calls, calls through batches, and judges that may have unlike numbers in flight no part is measured.
    """
    from annotation.judges.running.run import run_judges

    accounts, processors = _accounts(engine, study_id, definitions), len(os.sched_getaffinity(0))
    left = min((states.get("planned", 0) for states, _ in _counts(engine, accounts)), default=0)
    in_flight, told, seconds = max((one.concurrency for one in definitions), default=1), 0, 0.0
    alike = all(one.concurrency == in_flight and not one.batch_api for one in definitions)
    for part in (1, MEASURED) if alike and processors > 1 and left >= WORTH * in_flight else ():
        cpu = time.process_time()
        summary = run_judges(engine, study_id, definitions, on_progress=on_progress, limit=part * in_flight)
        told, seconds, busy = told + summary.abandoned, seconds + summary.seconds, time.process_time() - cpu
        if summary.interrupted or all(judge.complete or judge.stopped for judge in summary.judges):
            return _with_earlier(summary, told - summary.abandoned, seconds - summary.seconds)
    if seconds and busy > HELD_UP * summary.seconds:
        each = [*resume, f"--concurrency={math.ceil(in_flight / processors)}"]
        rest = run_together(engine, study_id, definitions, [each] * processors, on_progress)
    else:
        rest = run_judges(engine, study_id, definitions, on_progress=on_progress)
    return _with_earlier(rest, told, seconds)


def _with_earlier(summary: RunSummary, abandoned: int, seconds: float) -> RunSummary:
    judges = tuple(replace(judge, seconds=judge.seconds + seconds) for judge in summary.judges)
    return replace(summary, judges=judges, seconds=summary.seconds + seconds, abandoned=summary.abandoned + abandoned)


def _accounts(engine: Any, study_id: int, definitions: Sequence[JudgeDefinition]) -> list[Account]:
    from annotation.judges.asking.examples import prompt_for
    from annotation.judges.money.accounts import find_account
    from db.tables import Study

    with reading(engine) as session:
        study = session.get_one(Study, study_id)
        return [
            find_account(session, study, definition, prompt_for(session, study, definition))
            for definition in definitions
        ]


def _counts(engine: Any, accounts: Sequence[Account]) -> list[tuple[dict[str, int], dict[str, int]]]:
    """Calls by state and labels by status, of each judge."""
    from annotation.judges.running.progress import call_counts, label_counts

    with reading(engine) as session:
        return [(call_counts(session, account), label_counts(session, account)) for account in accounts]


@contextmanager
def _started(arguments: Sequence[str]) -> Iterator[_Worker]:
    command = command_of("app.command_line", "judge", "resume", *arguments, "--json")
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as complaints:
        # in a session of its own, so that a Ctrl-C of the terminal reaches each of them once: through us
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=said, stderr=complaints, start_new_session=True
        )
        yield _Worker(process, said, complaints)


def stop_with_parent() -> None:
    """In a worker: as at Ctrl-C, once the process that started it is gone, however that ended. Its input ends then."""

    def wait() -> None:
        os.read(0, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


def _show(
    engine: Any, accounts: Sequence[Account], before: Sequence[tuple[dict[str, int], dict[str, int]]], seconds: float,
    on_progress: OnProgress,
) -> None:  # fmt: skip
    from annotation.judges.running.progress import seen_in_rows
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
    """Return what the rows say now and what the workers said of themselves."""
    from annotation.judges.running.progress import RunSummary, summarise

    stopped = {judge["name"]: judge["stopped"] for end in ends for judge in end.get("judges", ()) if judge["stopped"]}
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
    """Return what a worker said at its end; nothing, and a word to the user, where that cannot be read."""
    worker.said.seek(0)
    if text := worker.said.read().strip():
        end: dict[str, Any] = json.loads(text)
        return end
    worker.complaints.seek(0)
    signalled = f"ended by signal {-(worker.process.returncode or 0)}"
    last = (worker.complaints.read().strip().splitlines() or [signalled])[-1]
    typer.echo(f"worker {worker.process.pid}: {last}", err=True)
    return {}


FAILURES = ("invalid", "missing", "refused", "truncated")


@contextmanager
def live(shown: bool) -> Iterator[OnProgress | None]:
    """One line a judge on standard error, redrawn; plain lines every ten seconds where nobody watches."""
    if not shown:
        yield None
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    if console.is_terminal:
        with Live(console=console, transient=True, auto_refresh=False) as live:
            yield lambda snapshot: live.update("\n".join(map(line, snapshot)), refresh=True)
        return
    last = [time.monotonic()]

    def plain(snapshot: Sequence[JudgeProgress]) -> None:
        if time.monotonic() - last[0] >= 10:
            last[0] = time.monotonic()
            for judge in snapshot:
                console.print(line(judge), markup=False, highlight=False)

    yield plain


def result(judge: JudgeSummary) -> str:
    failures = ", ".join(f"{judge.labels[kind]:,} {kind}" for kind in FAILURES if judge.labels.get(kind))
    cost = "price unknown" if judge.cost is None else f"{judge.cost:.4f} USD"
    stopped = f"; stopped: {judge.stopped}" if judge.stopped else ""
    waiting = f", {judge.submitted:,} in batches" if judge.submitted else ""
    unknown = f" and {judge.unknown_costs} attempts of unknown cost" if judge.unknown_costs else ""
    unknown += f", {judge.odd_costs:,} said costs that are no amount in USD and are not noted" * bool(judge.odd_costs)
    why = (
        f"; no answer can be used. {judge.useless}. Correct that and run again, which asks a changed judge anew; "
        "`calipers judge show` has the call whole"
    )
    return (
        f"{judge.name}: {judge.done:,} of {judge.planned:,} calls done, {judge.failed:,} failed{waiting}; "
        f"{judge.labels.get('ok', 0):,} labels ok{', ' + failures if failures else ''}; {judge.attempts:,} attempts, "
        f"{cost}{unknown}, {judge.seconds:.0f} s{stopped}"
        f"{why if judge.useless else ''}"
    )


def line(judge: JudgeProgress) -> str:
    answered = sum(judge.labels.values())
    ok = f"{100 * judge.labels.get('ok', 0) / answered:.0f} % ok" if answered else "– ok"
    failures = sum(judge.labels.get(kind, 0) for kind in FAILURES)
    spent = "– USD" if judge.spent is None else f"{judge.spent:.4f} USD"
    cap = f" of {judge.max_cost:g}" if judge.max_cost is not None else ""
    left = "" if judge.seconds_left is None else f", {judge.seconds_left / 60:.0f} min left"
    why = f"{judge.why[:80]}…" if len(judge.why) > 80 else judge.why
    pause = (
        f", paused {judge.paused_s:.0f} s ({why})"
        if judge.paused_s > 0
        else f", last: {why}" * (why not in ("", "429"))
    )
    return (
        f"{judge.name}: {judge.done + judge.failed}/{judge.planned} calls, {judge.calls_per_s:.1f}/s, {ok}, "
        f"{failures} not usable, {judge.in_flight} in flight, {spent}{cap}{left}{pause}"
    )


def chosen_judges(
    study: str,
    path: Path,
    only: Sequence[str],
    concurrency: int | None = None,
    max_cost: float | None = None,
    batch: bool = False,
) -> tuple[Any, int, tuple[JudgeDefinition, ...]]:
    """The engine, the study's id, and the judges of the file that were asked for, with what was given in place."""
    from annotation.judges.defining.judge_file import read_judges

    engine = opened()
    with reading(engine) as session:
        row = find_study(session, study)
        definitions = read_judges(path, protocol_of(row))
        study_id = row.id
    known = [definition.name for definition in definitions]
    for name in only:
        if name not in known:
            raise AnnotationError("unknown_judge", f"{path}: no judge {name!r} (there are: {', '.join(known)})")
    given = {"concurrency": concurrency, "max_cost": max_cost, "batch_api": batch or None}
    changed = {name: value for name, value in given.items() if value is not None}
    chosen = (d for d in definitions if not only or d.name in only)
    return engine, study_id, tuple(d.model_copy(update=changed) for d in chosen)


def with_keys(definitions: Sequence[JudgeDefinition], barred: Mapping[str, str] | None = None) -> list[JudgeDefinition]:
    """The judges that can be asked from here; of others it is said why not. Raises AnnotationError where none can.

    `barred`: name -> why not, where that is known beforehand.
    """
    refused = without_keys(definitions) if barred is None else barred
    if refused and len(refused) == len(definitions):
        raise AnnotationError("no_key", next(iter(refused.values())))
    for why in refused.values():
        typer.echo(f"left out: {why}", err=True)
    return [definition for definition in definitions if definition.name not in refused]


def without_keys(definitions: Sequence[JudgeDefinition]) -> dict[str, str]:
    """Name -> which variable holds no key here, of the judges that need one."""
    from annotation.judges.asking.client import refuse_without_key

    refused: dict[str, str] = {}
    for definition in definitions:
        try:
            refuse_without_key(definition)
        except AnnotationError as error:
            refused[definition.name] = error.kept
    return refused
