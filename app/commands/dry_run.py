"""How every import ends: a dry run writes nothing; problems and outcome are told to people or to programs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import typer

from app.commands.next_step import say_next
from app.commands.printing import print_json, visible

if TYPE_CHECKING:
    from sqlalchemy import Engine


class DryRun(Exception):
    """Rolls the transaction back after everything was checked."""


class Outcome(Protocol):
    """What an import did, in words and as plain values."""

    def lines(self) -> list[str]: ...
    def as_json(self) -> dict[str, Any]: ...


def say(outcome: Outcome, as_json: bool, engine: Engine | None, study: str | None) -> None:
    """The outcome in lines, and what comes next in the study; or as JSON. `engine`: None after a dry run."""
    if as_json:
        print_json(outcome.as_json())
    else:
        typer.echo(visible("\n".join(outcome.lines())))
        if engine is not None:
            say_next(engine, study)


@contextmanager
def ending(as_json: bool) -> Iterator[None]:
    """Around an import and its transaction: a raised `DryRun` is said, an ImportingError printed as JSON if asked."""
    from annotation.errors import ImportingError

    try:
        yield
    except DryRun:
        typer.echo("dry run: nothing was written", err=True)
    except ImportingError as error:
        if not as_json:
            raise
        print_json({"problems": error.problems})
        raise typer.Exit(1) from None
