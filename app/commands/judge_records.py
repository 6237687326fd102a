"""What judges left behind: how they stand, single calls, the ledger, stored replies read again. Nothing is asked."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from app.commands.judge_batches import remark
from app.commands.printing import JSON, ONE, print_json, print_table, progress_bar

if TYPE_CHECKING:
    from annotation.judges.inspecting import ShownCall
    from annotation.judges.standing import JudgeStanding

STATUSES = ("ok", "invalid", "missing", "refused", "truncated")
WATCH_S, PLAIN_S = 1.0, 10.0


def add_to(judge: typer.Typer) -> None:
    """Register this file's verbs of `calipers judge`."""
    judge.command("status")(status)
    judge.command("parse")(parse)
    judge.command("show")(show)
    judge.command("ledger")(ledger)


def status(
    study: str = ONE,
    watch: bool = typer.Option(False, "--watch", help="Draw it again until every planned call is made."),
    as_json: bool = JSON,
) -> None:
    """Calls, labels, coverage and money, judge by judge.

    The same numbers on every machine.

    Example: calipers judge status mystudy --watch
    """
    import time

    from rich.console import Console

    from app.commands.database import opened

    engine = opened()
    standings = _standings(engine, study)
    if as_json:
        print_json([_as_json(one) for one in standings])
        return
    # in a terminal in place; into a pipe one table after another
    console = Console()
    while watch and any(one.unfinished for one in standings):
        if console.is_terminal:
            console.clear()
        _print_standings(standings)
        time.sleep(WATCH_S if console.is_terminal else PLAIN_S)
        standings = _standings(engine, study)
    if watch and console.is_terminal:
        console.clear()
    _print_standings(standings)


def parse(study: str = ONE, as_json: bool = JSON) -> None:
    """Read the stored replies again with this version's parser.

    No calls are made; what changes is a later revision.

    Example: calipers judge parse mystudy
    """
    from annotation.judges.parsing import parse_again
    from annotation.studies import find_study
    from app.commands.database import opened
    from db.connect import reading

    engine = opened()
    with reading(engine) as session:
        study_id = find_study(session, study).id
    with progress_bar("reading replies") as advance:
        found = parse_again(engine, study_id, on_progress=advance)
    if as_json:
        print_json([asdict(one) for one in found])
        return
    rows = [
        (one.judge, status, one.before.get(status, 0), one.after.get(status, 0))
        for one in found
        for status in STATUSES
        if one.before.get(status) or one.after.get(status)
    ]
    print_table(("judge", "labels", "before", "after"), rows, numbers=("before", "after"))


def show(
    study: str = ONE,
    call: int = typer.Argument(..., help="The call's number, from the ledger."),
    as_json: bool = JSON,
) -> None:
    """Show one call: its prompt, every try, and the labels.

    The prompt is built again and proved by its sha256; every try stands with its raw reply.

    Example: calipers judge show mystudy 17
    """
    from annotation.judges.inspecting import show_call
    from annotation.studies import find_study
    from app.commands.database import opened
    from db.connect import reading

    with reading(opened()) as session:
        found = show_call(session, find_study(session, study), call)
    if as_json:
        labels = [{**asdict(label), "at": label.at.isoformat()} for label in found.labels]
        print_json({**asdict(found), "labels": labels})
    else:
        _print_call(found)


def ledger(
    study: str = ONE,
    out: Path = typer.Option(None, help="The file to write; else the lines go to standard output."),
    as_json: bool = JSON,
) -> None:
    """Write every HTTP try as a line of CSV.

    With --out the sums are printed: cost per call, item and usable answer.

    --json prints the sums alone.

    Example: calipers judge ledger mystudy --out attempts.csv
    """
    import sys

    from annotation.judges.ledger import write_ledger
    from annotation.studies import find_study
    from app.commands.database import opened
    from app.whole_file import whole_file
    from db.connect import reading

    engine = opened()
    with reading(engine) as session:
        found = find_study(session, study)
        if out is not None:
            with whole_file(out) as file:
                count = write_ledger(session, found, file)
        elif not as_json:
            with suppress(BrokenPipeError):
                write_ledger(session, found, sys.stdout)
            return
    standings = _standings(engine, study)
    if as_json:
        print_json([{"judge": one.judge, **asdict(one.money)} for one in standings])
        return
    typer.echo(f"{count:,} tries written to {out}")
    _print_money(standings)


def _standings(engine: Any, study: str) -> Sequence[JudgeStanding]:
    from annotation.judges.standing import standings
    from annotation.studies import find_study
    from db.connect import reading

    with reading(engine) as session:
        return standings(session, find_study(session, study))


def _as_json(one: JudgeStanding) -> dict[str, Any]:
    share, things = _repeated(one)
    told = {name: value for name, value in asdict(one).items() if name != "repeats"}
    known = {"repeat_agreement": None if share != share else share, "repeated": things}
    return {**told, **known, "labels": {status: one.labels.get(status, 0) for status in STATUSES}}


def _repeated(one: JudgeStanding) -> tuple[float, int]:
    """How often the judge says the same again, nan where nothing was asked twice, and of how many answers."""
    from calibration.people.repeat_agreement import agreement_of_splits

    return agreement_of_splits(one.repeats), sum(one.repeats.values())


def _print_standings(found: Sequence[JudgeStanding]) -> None:
    columns = ("judge", "calls", "failed", "ok", "not usable", "usable", "USD", "wasted")
    rows = [
        (
            one.judge, f"{one.done + one.failed}/{one.planned}", one.failed, one.labels.get("ok", 0),
            sum(one.labels.get(status, 0) for status in STATUSES[1:]), percent(one.coverage), usd(one.money.cost),
            percent(one.money.waste_share),
        )
        for one in found
    ]  # fmt: skip
    print_table(columns, rows, numbers=columns[1:])
    for one in found:
        for line in _remarks(one):
            typer.echo(f"{one.judge}: {line}")


def _remarks(one: JudgeStanding) -> list[str]:
    said = [f"{one.in_flight:,} calls in flight"] if one.in_flight else []
    said += [remark(batch) for batch in one.batches]
    if failures := [f"{one.labels[status]:,} {status}" for status in STATUSES[1:] if one.labels.get(status)]:
        said.append(f"not usable: {', '.join(failures)}; ask again with: calipers judge retry")
    if one.stopped:
        said.append(f"stopped: {one.stopped}")
    if one.paused_s:
        said.append(f"paused for {one.paused_s:.0f} s (429)")
    if one.max_cost is not None:
        said.append(f"may cost {one.max_cost:g} USD")
    if one.money.unknown_costs:
        said.append(f"{one.money.unknown_costs} tries broke off; nobody knows whether they were billed")
    if one.repeats:
        share, things = _repeated(one)
        said.append(f"asked the same again, it says the same in {percent(share)} ({things:,} answers)")
    return said


def _print_money(found: Sequence[JudgeStanding]) -> None:
    spent = ("judge", "USD", "per call", "per item", "per label", "1,000 items", "wasted")
    sums = [
        (one.judge, usd(m.cost), _fine(m.cost_per_call), _fine(m.cost_per_item), _fine(m.cost_per_valid_label),
         usd(m.cost_per_1000_items), percent(m.waste_share))
        for one in found for m in [one.money]
    ]  # fmt: skip
    print_table(spent, sums, numbers=spent[1:])
    used = ("judge", "tries", "p50 s", "p95 s", "tokens in", "cached", "out", "reasoning")
    tokens = [
        (one.judge, m.attempts, _short(m.p50_s), _short(m.p95_s), m.tokens_in, m.tokens_cached, m.tokens_out,
         m.tokens_reasoning)
        for one in found for m in [one.money]
    ]  # fmt: skip
    print_table(used, tokens, numbers=used[1:])


def _print_call(call: ShownCall) -> None:
    from rich.console import Console

    console = Console(highlight=False)

    def head(text: str) -> None:
        console.print(f"\n{text}", style="bold", markup=False)

    items = ", ".join(f"{item} on {topic}, pass {pass_no}, repeat {run}" for item, topic, pass_no, run in call.items)
    typer.echo(f"call {call.call_id} of {call.judge} ({call.model}): {call.state}, {call.outcome or 'no outcome yet'}")
    typer.echo(f"{items}; criteria {', '.join(call.criteria)}; parameters {dict(call.params)}")
    for one in call.attempts:
        cost = "cost unknown" if one.cost_usd is None else f"{one.cost_usd:.6f} USD"
        when = f"in batch {one.batch_id}" if one.batch_id else f"{one.seconds:.2f} s"
        head(f"attempt {one.attempt_no}: {one.kind}, {one.outcome}, {one.rung or '–'}, {when}, {cost}")
        typer.echo(f"prompt not shown: {one.unproved}" if one.unproved else f"prompt proved by {one.prompt_sha256}")
        for message in one.messages:
            head(f"[{message['role']}]")
            typer.echo(message["content"])
        head("[reply]")
        typer.echo(one.raw_reply if one.raw_reply is not None else one.error or "none")
    for message in call.to_send:
        head(f"[{message['role']}, not sent yet]")
        typer.echo(message["content"])
    head("labels")
    rows = [
        (one.item, one.criterion, one.revision, one.status, one.choice, ", ".join(one.flags)) for one in call.labels
    ]
    print_table(("item", "criterion", "revision", "status", "choice", "flags"), rows, numbers=("revision",))


def usd(value: float | None) -> str | None:
    return None if value is None else f"{value:.4f}"


def _fine(value: float | None) -> str | None:
    return None if value is None else f"{value:.6f}"


def percent(share: float | None) -> str | None:
    return None if share is None else f"{100 * share:.0f} %"


def _short(seconds: float | None) -> str | None:
    return None if seconds is None else f"{seconds:.2f}"
