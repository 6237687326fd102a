"""Judge runs: what they would cost, whether the judges answer, and the runs themselves with live progress."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from annotation.errors import AnnotationError
from app.commands import opening
from app.commands.judges import batches, records
from app.commands.judges.batches import BATCH, POLL_S
from app.commands.judges.workers import chosen_judges, live, result, stop_with_parent, with_keys, without_keys
from app.commands.printing import JSON, ONE, print_json, print_table
from plain.counting import counted

if TYPE_CHECKING:
    from annotation.judges.defining.judge_file import JudgeDefinition

JUDGES = typer.Option(Path("judges.toml"), "--judges", help="Which models judge, and how.")
ONLY = typer.Option([], "--judge", help="Only this judge of the file; may be given more than once.")
LIMIT = typer.Option(None, help="At most this many calls a judge.", min=1)
CONCURRENCY = typer.Option(None, help="Calls in flight at once, in place of the file's.", min=1, max=128)
MAX_COST = typer.Option(None, help="USD that each judge may cost in this study, in place of the file's.", min=0.000001)
WORKERS = typer.Option(
    None, help="Processes that share the work; else one, and as many as processors where one is held up.", min=1, max=64
)
EACH = typer.Argument(None, help="Which study; none, with --from-app: all of them.", autocompletion=ONE.autocompletion)
WAIT_S = 2.0  # between two looks for a request


def estimate(study: str = ONE, judges: Path = JUDGES, judge: list[str] = ONLY, as_json: bool = JSON) -> None:
    """What a run would plan and cost; writes nothing.

    Example: calipers judge estimate mystudy --judges judges.toml
    """
    from annotation.judges.planning.plan import plan_judges

    engine, study_id, definitions = chosen_judges(study, judges, judge)
    records.show_plans(plan_judges(engine, study_id, definitions, write=False), as_json)


def preview(
    study: str = ONE,
    judges: Path = JUDGES,
    judge: str = typer.Option(None, "--judge", help="A judge of the file; else its first."),
    item: str = typer.Option(None, "--item", help="An item, such as item-00003; else the first."),
    as_json: bool = JSON,
) -> None:
    """Print what a judge would be asked about one item.

    Its prompt is checked; nothing is planned, sent or paid.

    Example: calipers judge preview mystudy --judges judges.toml --judge mini --item item-00001
    """
    from annotation.judges.planning.previewing import preview as previewed
    from db import connect, tables

    engine, study_id, definitions = chosen_judges(study, judges, [judge] if judge else [])
    with connect.reading(engine) as session:
        made = previewed(session, session.get_one(tables.Study, study_id), definitions[0], item)
    if as_json:
        print_json(asdict(made))
        return
    for message in made.messages:
        typer.echo(f"──── {message['role']}\n{message['content']}\n")
    shown = f"; people's labels of {', '.join(made.examples)} are its examples" if made.examples else ""
    typer.echo(
        f"──── {made.judge} ({made.model}), {made.item}: about {made.characters // 4:,} tokens, "
        f"{counted(made.calls, 'call')} in each order and repeat, prompt {made.template_sha256[:12]}{shown}",
        err=True,
    )


def run(
    study: str = ONE,
    judges: Path = JUDGES,
    judge: list[str] = ONLY,
    limit: int = LIMIT,
    concurrency: int = CONCURRENCY,
    max_cost: float = MAX_COST,
    workers: int = WORKERS,
    batch: bool = BATCH,
    as_json: bool = JSON,
) -> None:
    """Plan what is missing, then make the calls.

    Running it again goes on where the rows end. Exit 1 if calls are left, a judge has no key or gave no answer that can
    be used, 130 if interrupted.

    Example: calipers judge run mystudy --judges judges.toml
    """
    from annotation.judges.planning.plan import plan_judges

    engine, study_id, definitions = chosen_judges(study, judges, judge, concurrency, max_cost, batch)
    able = with_keys(definitions)  # before calls are planned that nobody could make
    plans = plan_judges(engine, study_id, able)
    if not as_json:
        records.show_plans(plans, False)
    given = {"--judges": judges, "--concurrency": concurrency, "--max-cost": max_cost}
    options = [f"{name}={value}" for name, value in given.items() if value is not None]
    resumed = [study, "--keep-paused", *["--batch"] * batch, *(f"--judge={one.name}" for one in able), *options]
    _work(engine, study_id, able, limit, as_json, _resume(study, judges, batch), workers, resumed)
    if len(able) < len(definitions):
        raise typer.Exit(1)


def pause(
    study: str = ONE, judge: list[str] = typer.Option([], help="Only this judge; repeatable."), as_json: bool = JSON
) -> None:
    """Stop taking calls, in every process.

    What is in flight is finished, and its answers are kept.

    Example: calipers judge pause mystudy --judge mini
    """
    from annotation.judges.planning.requests import pause_judges
    from annotation.judges.reviewing.judge_standings import standings

    with opening.transaction(opening.opened()) as session:
        row = opening.find_study(session, study)
        names = judge or [one.judge for one in standings(session, row, repeats=False) if one.unfinished]
        pause_judges(session, opening.local_admin(row), names)
        again = f"calipers judge resume {row.name}"
    said = f"paused: {', '.join(names)}; go on with: {again}" if names else "no judge has calls to make"
    print_json({"paused": names}) if as_json else typer.echo(said)


def resume(
    study: str = EACH,
    judges: Path = JUDGES,
    judge: list[str] = ONLY,
    limit: int = LIMIT,
    concurrency: int = CONCURRENCY,
    max_cost: float = MAX_COST,
    batch: bool = BATCH,
    wait: bool = typer.Option(
        False, "--wait", help="Stay up; carry out what is asked for in the app, and fetch batches when they end."
    ),
    from_app: bool = typer.Option(
        False, "--from-app", help="With --wait: also ask the judges that admins describe in the app, with your keys."
    ),
    api_base: list[str] = typer.Option([], help="With --from-app: an address that these may ask; repeatable."),
    keep_paused: bool = typer.Option(False, "--keep-paused", hidden=True),  # of `run`'s own processes
    as_json: bool = JSON,
) -> None:
    """Go on without planning: after a crash, or on another machine.

    Also after a pause (but with --wait) or a budget stop; fetches batches that ended. With --from-app and no study it
    serves the app's judges of all studies. Exit 1 if calls are left or a judge has no key, 130 if interrupted.

    Example: calipers judge resume mystudy --judges judges.toml
    """
    from annotation.judges.planning.requests import described_judges, go_on
    from db import connect, tables

    if from_app and not wait:
        raise typer.BadParameter("is for a worker that waits; add --wait", param_hint="--from-app")
    if not study and not from_app:
        raise typer.BadParameter("name one; only a worker with --from-app serves all", param_hint="STUDY")
    definitions: tuple[JudgeDefinition, ...] = ()
    has_file = bool(study) and (judges.exists() or not from_app)
    if has_file:
        engine, study_id, definitions = chosen_judges(study, judges, judge, concurrency, max_cost, batch)
    else:
        engine = opening.opened()
        with connect.reading(engine) as session:
            study_id = opening.find_study(session, study).id if study else 0

    def described(of_study: int) -> dict[str, JudgeDefinition]:
        with connect.reading(engine) as session:
            return described_judges(session, session.get_one(tables.Study, of_study), True) if from_app else {}

    if wait:
        options = ["--wait", *["--from-app"] * from_app, *(f"--api-base={base}" for base in api_base)]
        anew = " ".join([_resume(study, judges if has_file else None, batch), *options])
        again = f"Judges in the app, while this worker is up; after that: {anew}"
        _carry_out_requests(engine, study_id, definitions, limit, as_json, again, described, api_base)
    able = with_keys(definitions)  # before a pause ends that this machine cannot use
    if keep_paused:
        stop_with_parent()
    else:
        with connect.transaction(engine) as session:
            row = session.get_one(tables.Study, study_id)
            go_on(session, opening.local_admin(row), [definition.name for definition in able])
    _work(engine, study_id, able, limit, as_json, _resume(study, judges, batch))
    if len(able) < len(definitions):
        raise typer.Exit(1)


def _carry_out_requests(
    engine: Any, only: int, definitions: Sequence[JudgeDefinition], limit: int | None,
    as_json: bool, again: str, described: Callable[[int], dict[str, JudgeDefinition]], bases: Sequence[str],
) -> None:  # fmt: skip
    """Plan each request, work on it, and mark it done however that ended; until interrupted or without a database.

    `only`: the study, where what was planned goes on and batches are fetched, too; 0 for requests in any. `described`:
    a study's judges of the app as they are at that moment, which ask no other address than `bases`; those of the file
    go before.
    """
    from sqlalchemy.exc import NoResultFound

    from annotation.judges.defining.described import without_address
    from annotation.judges.planning.plan import plan_judges
    from annotation.judges.planning.requests import asked_studies, end_request, next_request, planned_judges
    from app.logs import where
    from db.errors import DatabaseError
    from plain.wording import Sentence

    def work(study_id: int, chosen: Sequence[JudgeDefinition], request: int | None = None) -> dict[str, str]:
        of_app = (definition for definition in chosen if definition.name not in own)
        refused = without_keys(chosen) | without_address(of_app, bases)
        try:
            able = with_keys(chosen, refused)  # before calls are planned that nobody could make
            if request is not None:
                plan_judges(engine, study_id, able)
            _work(engine, study_id, able, limit, as_json, again)
        except AnnotationError as error:  # of these judges: the worker stays up for others
            typer.echo(error.text if request is None else f"request {request}: {error.text}", err=True)
            return {definition.name: error.kept for definition in chosen} | refused
        except typer.Exit as ended:
            if ended.exit_code == 130:
                raise
        except DatabaseError:  # away or full, for every study
            raise
        except Exception as error:  # noqa: BLE001  (one study's mistake must not hold up all others, nor for ever)
            why = Sentence("the worker met {error}; its log says where", error=type(error).__name__)
            typer.echo(f"study {study_id}, request {request}: {why}: {where(error)}", err=True)  # quotes no report
            return {definition.name: why for definition in chosen} | refused
        return refused

    own = {definition.name: definition for definition in definitions}
    if only and (planned := planned_judges(engine, only, tuple((described(only) | own).values()))):
        work(only, planned)
    typer.echo("waiting for requests from the app; end with Ctrl-C", err=True)
    look_at = time.monotonic() + POLL_S
    while True:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # a run takes it over, and leaves it unset
        request = None
        for study_id in [only] if only else asked_studies(engine):
            with suppress(NoResultFound):  # erased since
                known = described(study_id) | own
                if request := next_request(engine, study_id, known):
                    break
        if request is None:
            time.sleep(WAIT_S)
            if time.monotonic() > look_at:
                if only and batches.any_ended(engine, only, definitions):
                    work(only, planned_judges(engine, only, definitions))
                look_at = time.monotonic() + POLL_S
            continue
        for name in request.held:
            typer.echo(f"request {request.id}: {name} is paused, and waits", err=True)
        chosen = [known[name] for name in request.judges] or list(definitions)
        end_request(engine, request, work(study_id, chosen, request.id))


def check(study: str = ONE, judges: Path = JUDGES, judge: list[str] = ONLY, as_json: bool = JSON) -> None:
    """Make one tiny, paid call per judge, to see that its key works.

    Prints output format, effective parameters, price and latency. Exit 1 if a judge does not answer.

    Example: calipers judge check mystudy --judges judges.toml
    """
    from annotation.judges.asking.checking import check_judges
    from db import connect, tables

    engine, study_id, definitions = chosen_judges(study, judges, judge)
    with connect.reading(engine) as session:
        protocol = opening.protocol_of(session.get_one(tables.Study, study_id))
    checks = check_judges(definitions, protocol)
    if as_json:
        print_json([asdict(check) for check in checks])
    else:
        print_table(
            ("judge", "works", "format", "seconds", "USD", "price from", "key"),
            [
                (check.judge, "no" if check.problem else "yes", check.rung,
                 None if check.seconds is None else f"{check.seconds:.2f}",
                 None if check.cost_usd is None else f"{check.cost_usd:.6f}", check.price_source, check.key)
                for check in checks
            ],
            numbers=("seconds", "USD"),
        )  # fmt: skip
        for checked in checks:
            sent = ", ".join(f"{name} {value}" for name, value in checked.params.items()) or "no parameters"
            dropped = f"; not accepted, so provider default: {', '.join(checked.dropped)}" if checked.dropped else ""
            typer.echo(f"{checked.judge} ({checked.model_reported or checked.model}): {sent}{dropped}")
    for checked in checks:
        if checked.problem:
            typer.echo(f"{checked.judge}: {checked.problem}", err=True)
    if any(check.problem for check in checks):
        raise typer.Exit(1)


def retry(
    study: str = ONE,
    judges: Path = JUDGES,
    judge: list[str] = ONLY,
    statuses: str = typer.Option(
        "invalid,missing,truncated",
        "--status",
        help="Which failures, with commas: invalid, missing, truncated, refused.",
    ),
    limit: int = LIMIT,
    concurrency: int = CONCURRENCY,
    max_cost: float = MAX_COST,
    as_json: bool = JSON,
) -> None:
    """Ask again where an answer is not usable.

    Every attempt and label stays; a better reply is a later revision.

    Example: calipers judge retry mystudy --status invalid,truncated
    """
    from annotation.judges.running.retrying import FAILURES, plan_again

    wanted = [status.strip() for status in statuses.split(",") if status.strip()]
    if not wanted or not set(wanted) <= set(FAILURES):
        raise typer.BadParameter(f"choose from {', '.join(FAILURES)}", param_hint="--status")
    engine, study_id, definitions = chosen_judges(study, judges, judge, concurrency, max_cost)
    able = with_keys(definitions)  # before calls are planned that nobody could make
    for again in plan_again(engine, study_id, able, wanted):
        if not as_json:
            hopeless = f"; {again.hopeless:,} left alone: too long, or about texts that changed" * bool(again.hopeless)
            typer.echo(f"{again.name}: {again.calls:,} calls are asked again{hopeless}")
    _work(engine, study_id, able, limit, as_json, _resume(study, judges))
    if len(able) < len(definitions):
        raise typer.Exit(1)


def _resume(study: str | None, judges: Path | None, batch: bool = False) -> str:
    of_file = f" --judges {judges}" if judges else ""
    return f"calipers judge resume{f' {study}' if study else ''}{of_file}{' --batch' if batch else ''}"


def _work(
    engine: Any, study_id: int, definitions: Sequence[JudgeDefinition], limit: int | None, as_json: bool, again: str,
    workers: int | None = 1, resume: Sequence[str] = (),
) -> None:  # fmt: skip
    """Work in this process, or in several that are given the arguments `resume`; None: as many as it needs."""
    from annotation.judges.queue.journal import why_no_journal
    from annotation.judges.running.run import run_judges
    from app.commands.judges.workers import run_as_needed, run_together, shares

    if said := why_no_journal(engine.url):
        typer.echo(f"warning: {said}", err=True)
    with live(not as_json) as on_progress:
        if workers is None and limit is None:
            summary = run_as_needed(engine, study_id, definitions, resume, on_progress)
        elif workers is not None and workers > 1:
            each = [[*resume, *([] if most is None else [f"--limit={most}"])] for most in shares(limit, workers)]
            summary = run_together(engine, study_id, definitions, each, on_progress)
        else:
            summary = run_judges(engine, study_id, definitions, on_progress=on_progress, limit=limit)
    records.tell_unread(engine)
    if as_json:
        print_json(asdict(summary))
    else:
        for text in summary.batches:
            typer.echo(text)
        for judge in summary.judges:
            typer.echo(result(judge))
        if summary.abandoned:
            left = counted(summary.abandoned, "request")
            typer.echo(f"{left} of killed processes had left without an answer: paid twice if the provider answered")
    if summary.interrupted or not all(judge.complete for judge in summary.judges):
        goes_on = summary.interrupted or any(judge.left or judge.stopped for judge in summary.judges)
        how = f"go on with: {again}" if goes_on else "ask again what failed with: calipers judge retry"
        typer.echo(f"not complete; {how}", err=True)
        raise typer.Exit(130 if summary.interrupted else 1)
    if any(judge.useless for judge in summary.judges):
        raise typer.Exit(1)
