"""Requests that wait at a provider in batches: which are open, and what can be done about one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from app.commands import opening, printing

if TYPE_CHECKING:
    from annotation.judges.batches.batch_rows import OpenBatch
    from annotation.judges.defining.judge_file import JudgeDefinition

BATCH = typer.Option(
    False, "--batch", help="First requests through the provider's batch API: about half the price, hours not minutes."
)
POLL_S = 60.0  # between two looks at what waits


def batches(
    study: str = printing.ONE,
    release: str = typer.Option(None, metavar="BATCH", help="Nothing will come of this one; plan its calls again."),
    attach: str = typer.Option(None, metavar="PENDING", help="A pending:… batch that you found at the provider."),
    to: str = typer.Option(None, metavar="NAME", help="With --attach: the provider's name for it."),
    as_json: bool = printing.JSON,
) -> None:
    """List open batches; `calipers judge resume` fetches them.

    Example: calipers judge batches mystudy
    """
    from annotation.judges.batches.batches import attach as attach_batch
    from annotation.judges.batches.batches import release as release_batch

    if (attach is None) != (to is None):
        raise typer.BadParameter("give both, or neither", param_hint="--attach and --to")
    engine = opening.opened()
    with opening.reading(engine) as session:
        study_id = opening.find_study(session, study).id
    if release is not None:
        typer.echo(f"{release_batch(engine, study_id, release):,} calls are planned again", err=as_json)
    if attach is not None:
        typer.echo(f"{attach_batch(engine, study_id, attach, to):,} calls wait for {to}", err=as_json)
    waiting = _open(engine, study_id)
    if as_json:
        printing.print_json([asdict(batch) for batch in waiting])
        return
    printing.print_table(
        ("judge", "batch", "calls", "USD at most"),
        [(batch.judge, batch.batch_id, batch.calls, f"{batch.reserved:.4f}") for batch in waiting],
        numbers=("calls", "USD at most"),
    )
    for batch in waiting:
        typer.echo(f"{batch.judge}: {remark(batch)}")


def remark(batch: OpenBatch) -> str:
    """Return what to do about an open batch."""
    if batch.held:
        return f"{batch.calls:,} calls are being sent as {batch.batch_id}"
    if batch.is_pending:
        return (
            f"nobody knows yet whether {batch.calls:,} calls of {batch.batch_id} were sent; "
            "look it up with: calipers judge resume"
        )
    return f"{batch.calls:,} calls wait for batch {batch.batch_id}; fetch it with: calipers judge resume"


def any_ended(engine: Any, study_id: int, definitions: Sequence[JudgeDefinition]) -> bool:
    """Return whether a batch of these judges can be fetched, as their providers say."""
    from annotation.judges.batches.batches import any_ended as ask_providers

    return bool(_open(engine, study_id)) and ask_providers(engine, study_id, definitions)


def _open(engine: Any, study_id: int) -> Sequence[OpenBatch]:
    from annotation.judges.reviewing.judge_standings import standings
    from db.tables import Study

    with opening.reading(engine) as session:
        return [
            batch for standing in standings(session, session.get_one(Study, study_id)) for batch in standing.batches
        ]
