"""What judges left behind: their standing, single calls, the ledger, replies read again; and what a run would cost."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from app.commands import opening, printing
from app.commands.judges.batches import remark

if TYPE_CHECKING:
    from annotation.judges.planning.plan import JudgePlan
    from annotation.judges.reviewing.inspecting import ShownCall
    from annotation.judges.reviewing.judge_standings import JudgeStanding

STATUSES = ("ok", "invalid", "missing", "refused", "truncated")
WATCH_S, PLAIN_S = 1.0, 10.0


def status(
    study: str = printing.ONE,
    watch: bool = typer.Option(False, "--watch", help="Draw it again until every planned call is made."),
    as_json: bool = printing.JSON,
) -> None:
    """Calls, labels, coverage and money, judge by judge.

    The same numbers on every machine.

    Example: calipers judge status mystudy --watch
    """
    from rich.console import Console

    engine = opening.opened()
    tell_unread(engine)
    standings = _standings(engine, study)
    if as_json:
        printing.print_json([_as_json(standing) for standing in standings])
        return
    # in a terminal in place; into a pipe one table after another
    console = Console()
    while watch and any(standing.unfinished for standing in standings):
        if console.is_terminal:
            console.clear()
        _print_standings(standings)
        time.sleep(WATCH_S if console.is_terminal else PLAIN_S)
        standings = _standings(engine, study)
    if watch and console.is_terminal:
        console.clear()
    _print_standings(standings)


def parse(study: str = printing.ONE, as_json: bool = printing.JSON) -> None:
    """Read the stored replies again with this version's parser.

    No calls are made; what changes is a later revision.

    Example: calipers judge parse mystudy
    """
    from annotation.judges.reviewing.replies_again import parse_again

    engine = opening.opened()
    with opening.reading(engine) as session:
        study_id = opening.find_study(session, study).id
    with printing.progress_bar("reading replies") as advance:
        parsed = parse_again(engine, study_id, on_progress=advance)
    if as_json:
        printing.print_json([asdict(judge) for judge in parsed])
        return
    rows = [
        (judge.judge, status, judge.before.get(status, 0), judge.after.get(status, 0))
        for judge in parsed
        for status in STATUSES
        if judge.before.get(status) or judge.after.get(status)
    ]
    printing.print_table(("judge", "labels", "before", "after"), rows, numbers=("before", "after"))


def show(
    study: str = printing.ONE,
    call: int = typer.Argument(..., help="The call's number, from the ledger."),
    as_json: bool = printing.JSON,
) -> None:
    """Show one call: its prompt, every try, and the labels.

    The prompt is built again and proved by its sha256; every try stands with its raw reply.

    Example: calipers judge show mystudy 17
    """
    from annotation.judges.reviewing.inspecting import show_call

    with opening.reading(opening.opened()) as session:
        shown = show_call(session, opening.find_study(session, study), call)
    if as_json:
        printing.print_json(asdict(shown))
    else:
        _print_call(shown)


def ledger(
    study: str = printing.ONE,
    out: Path = typer.Option(None, help="The file to write; else the lines go to standard output."),
    as_json: bool = printing.JSON,
) -> None:
    """Write every HTTP try as a line of CSV.

    With --out the sums are printed: cost per call, item and usable answer.

    --json prints the sums alone.

    Example: calipers judge ledger mystudy --out attempts.csv
    """
    from annotation.judges.money.ledger import write_ledger
    from app.files.whole_files import whole_file

    engine = opening.opened()
    tell_unread(engine)
    with opening.reading(engine) as session:
        row = opening.find_study(session, study)
        if out is not None:
            with whole_file(out) as file:
                count = write_ledger(session, row, file)
        elif not as_json:
            with suppress(BrokenPipeError):
                write_ledger(session, row, sys.stdout)
            return
    standings = _standings(engine, study)
    if as_json:
        printing.print_json([{"judge": standing.judge, **asdict(standing.money)} for standing in standings])
        return
    typer.echo(f"{count:,} tries written to {out}")
    _print_money(standings)


def tell_unread(engine: Any) -> None:
    """Name the replies that killed runs left on this machine and that no later one could read."""
    from annotation.judges.queue.journal import unread_replies

    for said in unread_replies(engine.url):
        typer.echo(f"warning: {said}", err=True)


def _standings(engine: Any, study: str) -> Sequence[JudgeStanding]:
    from annotation.judges.reviewing.judge_standings import standings

    with opening.reading(engine) as session:
        return standings(session, opening.find_study(session, study))


def _as_json(standing: JudgeStanding) -> dict[str, Any]:
    share, things = _repeated(standing)
    told = {name: value for name, value in asdict(standing).items() if name != "repeats"}
    labels = {status: standing.labels.get(status, 0) for status in STATUSES}
    return {**told, "repeat_agreement": share, "repeated": things, "labels": labels}


def _repeated(standing: JudgeStanding) -> tuple[float, int]:
    """Return how often the judge gives the same answer again, nan where nothing was asked twice, and of how many."""
    from calibration.biases.answer_habits import agreement_of_splits

    return agreement_of_splits(standing.repeats), sum(standing.repeats.values())


def _print_standings(standings: Sequence[JudgeStanding]) -> None:
    columns = ("judge", "calls", "failed", "ok", "not usable", "usable", "USD", "wasted")
    rows = [
        (
            standing.judge, f"{standing.done + standing.failed}/{standing.planned}", standing.failed,
            standing.labels.get("ok", 0), sum(standing.labels.get(status, 0) for status in STATUSES[1:]),
            percent(standing.coverage), usd(standing.money.cost), percent(standing.money.waste_share),
        )
        for standing in standings
    ]  # fmt: skip
    printing.print_table(columns, rows, numbers=columns[1:])
    for standing in standings:
        for line in remarks(standing):
            typer.echo(f"{standing.judge}: {line}")


def remarks(standing: JudgeStanding) -> list[str]:
    said = [f"{standing.in_flight:,} calls in flight or next"] if standing.in_flight else []
    said += [remark(batch) for batch in standing.batches]
    if failures := [f"{standing.labels[status]:,} {status}" for status in STATUSES[1:] if standing.labels.get(status)]:
        said.append(f"not usable: {', '.join(failures)}; ask again with: calipers judge retry")
    if standing.others:
        count, passes = standing.others
        said.append(f"{count:,} of its {passes:,} passes other settings answered last; go on with: calipers judge run")
    if standing.stopped:
        said.append(f"stopped: {standing.stopped}")
    if standing.paused_s:
        said.append(f"paused for {standing.paused_s:.0f} s (429)")
    if standing.max_cost is not None:
        cost = sum(filter(None, (standing.money.cost, *standing.money.beside.values())))
        over = f"; has cost {cost:g}, which is over it" if cost > standing.max_cost else ""
        said.append(f"may cost {standing.max_cost:g} USD{over}")
    said += beside(standing)
    if standing.money.unknown_costs:
        said.append(f"{standing.money.unknown_costs} tries without a reply: nobody knows whether they were billed")
    if standing.repeats:
        share, things = _repeated(standing)
        said.append(f"asked the same again, it says the same in {percent(share)} ({things:,} answers)")
    return said


def beside(standing: JudgeStanding) -> list[str]:
    """What the judge's budget paid that is in no column: a line for each stress test, and one for align."""
    return [
        f"{'align' if kind == 'align' else f'stress test {kind}'} has cost {usd(cost) or 'unknown'} USD more"
        for kind, cost in standing.money.beside.items()
    ]


def _print_money(standings: Sequence[JudgeStanding]) -> None:
    spent = ("judge", "USD", "per call", "per item", "per label", "1,000 items", "wasted")
    sums = [
        (standing.judge, usd(m.cost), _fine(m.cost_per_call), _fine(m.cost_per_item), _fine(m.cost_per_valid_label),
         usd(m.cost_per_1000_items), percent(m.waste_share))
        for standing in standings for m in [standing.money]
    ]  # fmt: skip
    printing.print_table(spent, sums, numbers=spent[1:])
    used = ("judge", "tries", "p50 s", "p95 s", "tokens in", "cached", "out", "reasoning")
    tokens = [
        (standing.judge, m.attempts, _short(m.p50_s), _short(m.p95_s), m.tokens_in, m.tokens_cached, m.tokens_out,
         m.tokens_reasoning)
        for standing in standings for m in [standing.money]
    ]  # fmt: skip
    printing.print_table(used, tokens, numbers=used[1:])
    for standing in standings:
        for line in beside(standing):
            typer.echo(f"{standing.judge}: {line}")


def _print_call(call: ShownCall) -> None:
    from rich.console import Console

    console = Console(highlight=False)

    def head(text: str) -> None:
        console.print(f"\n{text}", style="bold", markup=False)

    items = ", ".join(f"{item} on {topic}, pass {pass_no}, repeat {run}" for item, topic, pass_no, run in call.items)
    typer.echo(f"call {call.call_id} of {call.judge} ({call.model}): {call.state}, {call.outcome or 'no outcome yet'}")
    typer.echo(f"{items}; criteria {', '.join(call.criteria)}; parameters {dict(call.params)}")
    for attempt in call.attempts:
        cost = "cost unknown" if attempt.cost_usd is None else f"{attempt.cost_usd:.6f} USD"
        when = f"in batch {attempt.batch_id}" if attempt.batch_id else f"{attempt.seconds:.2f} s"
        head(f"attempt {attempt.attempt_no}: {attempt.kind}, {attempt.outcome}, {attempt.rung or '–'}, {when}, {cost}")
        typer.echo(
            f"prompt not shown: {attempt.unproved}" if attempt.unproved else f"prompt proved by {attempt.prompt_sha256}"
        )
        for message in attempt.messages:
            head(f"[{message['role']}]")
            typer.echo(message["content"])
        head("[reply]")
        typer.echo(attempt.raw_reply if attempt.raw_reply is not None else attempt.error or "none")
    for message in call.to_send:
        head(f"[{message['role']}, not sent yet]")
        typer.echo(message["content"])
    head("labels")
    rows = [
        (label.item, label.criterion, label.revision, label.status, label.choice, ", ".join(label.flags))
        for label in call.labels
    ]
    printing.print_table(("item", "criterion", "revision", "status", "choice", "flags"), rows, numbers=("revision",))


def usd(value: float | None) -> str | None:
    return None if value is None else f"{value:.4f}"


def _fine(value: float | None) -> str | None:
    return None if value is None else f"{value:.6f}"


def percent(share: float | None) -> str | None:
    return None if share is None else f"{100 * share:.0f} %"


def _short(seconds: float | None) -> str | None:
    return None if seconds is None else f"{seconds:.2f}"


MONEY = ("USD low", "likely", "worst")


def show_plans(plans: Sequence[JudgePlan], as_json: bool) -> None:
    """One line a judge, and below the table what the same costs in batches."""
    if as_json:
        printing.print_json([asdict(plan) for plan in plans])
        return
    printing.print_table(
        ("judge", "items", "calls", "new", "waiting", "too long", *MONEY, "price"),
        [
            (p.name, p.items, p.calls, p.added, p.waiting, p.too_long,
             *map(usd, (p.estimate.low, p.estimate.likely, p.estimate.worst)), p.price_source)
            for p in plans
        ],
        numbers=("items", "calls", "new", "waiting", "too long", *MONEY),
    )  # fmt: skip
    for plan in plans:
        likely, worst = usd(plan.estimate.batch), usd(plan.estimate.batch_worst)
        if likely is not None and plan.estimate.calls:
            typer.echo(
                f"{plan.name} in batches: {likely} USD likely, {worst} worst; "
                "what must be asked again is an ordinary request"
            )
    for warning in dict.fromkeys(warning for plan in plans for warning in plan.warnings):
        typer.echo(f"warning: {warning}", err=True)
