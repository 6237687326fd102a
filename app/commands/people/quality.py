"""How people work while a study runs: status that redraws itself, quality by annotator, and replies to remarks."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from app.commands.opening import find_study, local_admin, opened, reading, transaction
from app.commands.printing import JSON, ONE, WHICH, print_json, print_table, working
from plain.counting import counted

if TYPE_CHECKING:
    from rich.console import Group
    from sqlalchemy import Engine

    from app.progress import StudyProgress

EVERY = 5  # seconds between two looks of --watch
HEADS = ("rater", "items", "min/item", "agreement", "share left", "ties", "same answer", "self-agreement", "attention")


def status(
    study: str = WHICH,
    watch: bool = typer.Option(False, "--watch", help=f"Draw it anew every {EVERY} seconds, until Ctrl-C."),
    as_json: bool = JSON,
) -> None:
    """How far a study is, rater by rater; --watch redraws it.

    Prints reports, items and slots, every rater, work that is stale, and what annotators remarked.

    Example: calipers status mystudy --watch
    """
    engine = opened()
    if watch:
        _watch(engine, study)
        return
    if as_json:
        from app.progress import study_parts, study_progress

        with reading(engine) as session:
            admin = local_admin(find_study(session, study))
            print_json(asdict(study_progress(session, admin)) | asdict(study_parts(session, admin)))
        return
    print_status(_progress(engine, study))


def print_status(progress: StudyProgress) -> None:
    """The counts, one line a rater, stale claims and remarks."""
    from app.progress import far

    there = f"{counted(progress.reports, 'report')}, {counted(progress.items, 'item')}"
    typer.echo(f"{progress.study}: {progress.status}, {there}. {far(progress)}")
    if progress.short:
        typer.echo(progress.short)
    rows = [
        (r.rater, r.kind, r.submitted, r.in_work, r.quota, None if r.cost_usd is None else f"{r.cost_usd:.4f}")
        for r in progress.raters
    ]
    numbers = ("handed in", "in work", "quota", "USD")
    print_table(("rater", "kind", *numbers), rows, numbers=numbers)
    for claim in progress.stale:
        typer.echo(
            f"stale: {claim.rater} has had {claim.item} in work without a sign since {claim.since:%Y-%m-%d %H:%M}"
        )
    for remark in progress.remarks:
        kind = f"{remark.kind} ({remark.what.replace('_', ' ')})" if remark.what else remark.kind
        state = " [dealt with]" if remark.dealt_with else ""
        typer.echo(
            f"#{remark.remark} {remark.at:%Y-%m-%d %H:%M} {remark.rater} on {remark.item}: {kind}: {remark.text}{state}"
        )
        for said in remark.replies:
            typer.echo(f"    reply, {said.at:%Y-%m-%d %H:%M}: {said.text}")
    if waiting := [remark for remark in progress.remarks if not remark.dealt_with]:
        typer.echo(f'answer with: calipers reply {progress.study} {waiting[0].remark} "…" --dealt-with')


def quality(
    study: str = WHICH,
    half_width: float = typer.Option(0.05, help="Half-width of agreement's interval to plan more pairs for."),
    as_json: bool = JSON,
) -> None:
    """How each annotator works, and who needs a second look.

    Prints agreement so far with its interval, one line an annotator beside the others, and each flag with its reason.

    Example: calipers quality mystudy --json
    """
    from app.results.quality import TITLES, in_words, listed, more_pairs, reason, study_quality, trust
    from app.results.quality import as_json as quality_json

    if not 0 < half_width < 1:
        raise typer.BadParameter("--half-width is a share above 0 and below 1, such as .05")
    engine = opened()
    with working("computing intervals"), reading(engine) as session:
        measured = study_quality(session, local_admin(find_study(session, study)))
    if as_json:
        print_json(quality_json(measured, half_width))
        return
    typer.echo(f"{trust(measured)} {more_pairs(measured, half_width)}")
    rows = [
        (
            annotator.rater, annotator.items, in_words(annotator.minutes), in_words(annotator.agreement),
            in_words(annotator.left), in_words(annotator.tie), in_words(annotator.same_answer),
            in_words(annotator.self_agreement),
            f"{annotator.attention_passed}/{annotator.attention_passed + annotator.attention_failed}",
        )
        for annotator in measured.annotators
    ]  # fmt: skip
    print_table(HEADS, rows, numbers=HEADS[1:])
    for annotator in measured.annotators:
        for flag in annotator.flags:
            typer.echo(f"{annotator.rater}: {TITLES[flag.name]}: {reason(flag)}")
        for fact in listed(annotator):
            typer.echo(f"{annotator.rater}: listed: {fact}")


def reply(
    study: str = ONE,
    remark: int = typer.Argument(..., help="Number of the flag, comment or skip, as `calipers status` prints it."),
    text: str = typer.Argument("", help="What its annotator reads in My work."),
    dealt_with: bool = typer.Option(False, "--dealt-with", help="Mark it as dealt with."),
    as_json: bool = JSON,
) -> None:
    """Answer what an annotator remarked, or mark it as dealt with.

    Example: calipers reply mystudy 412 "Thank you, the table is repaired." --dealt-with
    """
    from annotation.work.remarks import deal_with
    from annotation.work.remarks import reply as send

    with transaction(opened()) as session:
        admin = local_admin(find_study(session, study))
        if text or not dealt_with:
            send(session, admin, remark, text)
        if dealt_with:
            deal_with(session, admin, remark)
    if as_json:
        print_json({"remark": remark, "answered": bool(text), "dealt_with": dealt_with})
        return
    typer.echo(f"remark {remark}: {'answered' if text else 'marked as dealt with'}")


def _progress(engine: Engine, study: str | None) -> StudyProgress:
    from app.progress import study_progress

    with reading(engine) as session:
        return study_progress(session, local_admin(find_study(session, study)))


def _watch(engine: Engine, study: str | None) -> None:
    """Until Ctrl-C, which ends the command with 130, as everywhere."""
    from rich.live import Live

    with Live(auto_refresh=False, screen=False) as live:
        while True:
            live.update(status_view(_progress(engine, study)), refresh=True)
            time.sleep(EVERY)


def status_view(progress: StudyProgress) -> Group:
    """Return what --watch draws: a line and a bar for each rater, and the latest remarks."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    from app.progress import far
    from db.types import now

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for head in ("rater", "handed in", "in work", ""):
        table.add_column(head, justify="right" if head.endswith(("in", "work")) else "left")
    most = max([1, *(rater.quota or rater.submitted + rater.in_work for rater in progress.raters)])
    for rater in progress.raters:
        bar = ProgressBar(total=rater.quota or most, completed=rater.submitted, width=24)
        table.add_row(Text(rater.rater), f"{rater.submitted:,}", f"{rater.in_work:,}", bar)
    opening = f"{progress.study}: {progress.status}. {far(progress)}"
    waiting = sum(not remark.dealt_with and not remark.replies for remark in progress.remarks)
    below = f"{waiting} remarks wait for an answer, {len(progress.stale)} pieces of work are stale"
    return Group(Text(opening, style="bold"), table, Text(f"{below}  ·  {now():%H:%M:%S} UTC", style="dim"))
