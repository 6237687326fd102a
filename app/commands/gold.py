"""Agreed answers come in: items for training and attention."""

from __future__ import annotations

from pathlib import Path

import typer

from app.commands.dry_run import DryRun, ending
from app.commands.next_step import say_next
from app.commands.printing import JSON, STUDY, print_json


def add_to(imports: typer.Typer) -> None:
    """Register this file's command below `import`."""
    imports.command("gold")(import_gold)


def import_gold(
    path: Path = typer.Argument(
        ..., help="CSV, TSV or JSON Lines: topic, system_a, system_b, criterion, answer, reason; probe for probes."
    ),
    study: str = STUDY,
    use: str = typer.Option(
        ..., help="training (with feedback, before the first item) or attention (among the others)."
    ),
    dry_run: bool = typer.Option(False, help="Check and report; write nothing."),
    as_json: bool = JSON,
) -> None:
    """Make items with agreed answers, for training or attention.

    A system's name as answer means that it wins.

    Example: calipers import gold agreed.csv --study mystudy --use training
    """
    from dataclasses import asdict

    from annotation.importing.gold import import_gold as write
    from annotation.people.principals import local_admin
    from annotation.studies import find_study
    from app.commands.database import opened
    from db.connect import transaction
    from exports.words.grammar import counted

    engine = opened()
    with ending(as_json), transaction(engine) as session:
        outcome = write(session, local_admin(find_study(session, study)), path, use)
        if dry_run:
            raise DryRun
    if as_json:
        print_json(asdict(outcome))
        return
    typer.echo(f"{use}: {counted(outcome.made, 'item')} made, {outcome.changed} changed, {outcome.unchanged} unchanged")
    say_next(engine, study)
