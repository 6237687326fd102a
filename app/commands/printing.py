"""What commands print, tables for people and JSON for programs, and how they end: told, undone, or with a next step."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from shlex import quote
from threading import Timer
from typing import TYPE_CHECKING, Any, Protocol

import typer

from annotation.errors import ImportingError
from app.commands.completing import protocols, studies, studies_or_labels
from app.commands.opening import find_study, local_admin, reading
from plain.wording import ENGLISH, LANGUAGES

if TYPE_CHECKING:
    from sqlalchemy import Engine
    from sqlalchemy.orm import Session

JSON = typer.Option(False, "--json", help="Print JSON instead of a table.")
ONE = typer.Argument(..., help="Which study.", autocompletion=studies)
WHICH = typer.Argument(None, help="Which study; may be left out while there is one.", autocompletion=studies)
WHAT = typer.Argument(..., help="A study's name, or a file of labels in any form.", autocompletion=studies_or_labels)
PROTOCOL = typer.Option(
    "", help="For a bare labels file: a shipped protocol's name, or a .toml file.", autocompletion=protocols
)


def _known_presets(names: list[str]) -> list[str]:
    if names:
        from exports.presets import PRESETS

        wrong = next((name for name in names if name not in PRESETS), None)
        if wrong is not None:
            raise typer.BadParameter(f"no preset {wrong!r}; choose one of {', '.join(PRESETS)}")
    return names


PRESET = typer.Option(
    [],
    help="Also a published study's own table: wlc, deepresearchgym, dr3_eval or race; repeatable.",
    callback=_known_presets,
)
CALIBRATION = typer.Option(
    None, "--calibration", help="A calibration.toml: margin, ties and whatever else decides, without a protocol."
)
CASCADE = typer.Option(
    [], help="'CHEAP then DEAR' or 'CHEAP then a person', repeatable: CHEAP decides where its two orders agree."
)
ALONE_ERROR = typer.Option(
    None, help="Which share of items each judge may decide without a person, at this error, such as .1.",
    min=0.001, max=0.999,
)  # fmt: skip
FAMILY = typer.Option([], help="NAME=FAMILY of a judge or system, repeatable: shows whether a judge favours its own.")
WITH = typer.Option(
    [], "--with", help="Another study (or FILE=PROTOCOL) of the same reports, repeatable: its claims become scores.",
    autocompletion=studies_or_labels,
)  # fmt: skip
JUDGES = typer.Option(None, "--judges", help="A judges.toml: its panels take part as raters of their own.")
STUDY = typer.Option(None, "--study", help="Which study; may be left out while there is one.", autocompletion=studies)
PIPE_WIDTH = 1_000  # a pipe has no width of its own: never cut what a program or a log will read
LINE_MAX = 1_200  # characters
# what a terminal obeys instead of showing it: escape codes, what turns the direction of the letters; half characters
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """A text from somebody's file, fit for a terminal: what it would obey is shown as an escape."""
    return OBEYED.sub(lambda sign: repr(sign[0])[1:-1], text)


def echo(text: str) -> None:
    """A line on standard output that may hold a file's own words."""
    typer.echo(visible(text))


def refusal(text: str) -> str:
    """An error as it is told: visible, and no line of it longer than a screen, whatever a file held."""
    return "\n".join(
        line if len(line) <= LINE_MAX else f"{line[: LINE_MAX - 1]}…" for line in visible(text).split("\n")
    )


def print_json(value: Any) -> None:
    """Machine-readable output on standard output, nothing else beside it; nan is null, a moment is its ISO 8601."""
    told = json.dumps(_known(value), ensure_ascii=False, allow_nan=False, indent=2, default=datetime.isoformat)
    echo_json(told)


def echo_json(text: str) -> None:
    """Print JSON as it is, but what a terminal would obey is escaped as JSON escapes it: the same value is read."""
    typer.echo(OBEYED.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text.removesuffix("\n")))


def _known(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _known(inner) for key, inner in value.items()}
    return [_known(inner) for inner in value] if isinstance(value, list | tuple) else value


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]], numbers: Sequence[str] = ()) -> None:
    """A table without boxes; the columns named in `numbers` are set right."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if column in numbers else "left", no_wrap=number == 0)
    for row in rows:
        table.add_row(*(Text("–" if cell is None else visible(str(cell))) for cell in row))
    console = Console()
    if not console.is_terminal:
        console = Console(width=PIPE_WIDTH)
    console.print(table)


@contextmanager
def progress_bar(what: str) -> Iterator[Any]:
    """A bar on standard error that only shows where a person watches; yields `advance(done, of)`."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    with Progress(
        TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    ) as bar:  # fmt: skip
        task = bar.add_task(what, total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


class AtWork:
    """A moving bar and the time on standard error, once work of unknown length takes two seconds.

    It shows only where a person watches; what is shown above it is in a pipe once, as text.
    """

    def __init__(self, what: str) -> None:
        from rich.console import Console, Group
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self.console, self.above = Console(stderr=True, highlight=False), Group()
        at_work = self

        class WithAbove(Progress):
            def get_renderables(self) -> Iterator[Any]:
                yield at_work.above
                yield from super().get_renderables()

        self.bar = WithAbove(
            TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(),
            console=self.console, transient=True, disable=not self.console.is_terminal,
        )  # fmt: skip
        self.task = self.bar.add_task(what, total=None)
        self.later = Timer(2.0, self.bar.start)
        self.later.daemon = True

    def __call__(self, done: int, of: int, now: str) -> None:
        self.bar.update(self.task, completed=done, total=of, description=now)

    def say_reading(self, told: Sequence[str]) -> None:
        """How a file was read, a line each, before any number."""
        for sentence in told:
            self.console.print(f"read: {sentence}", markup=False, soft_wrap=True)

    def show(self, *parts: Any) -> None:
        """Put these above the bar for as long as it is there, from now on."""
        from rich.console import Console, Group

        if self.console.is_terminal:
            self.above = Group(*parts)
            self.bar.start()
        else:
            Console(stderr=True, highlight=False, width=PIPE_WIDTH).print(*parts, sep="\n")


@contextmanager
def working(what: str) -> Iterator[AtWork]:
    """Yields what is told how far the work is: `at_work(done, of, now)`."""
    at_work = AtWork(what)
    at_work.later.start()
    try:
        yield at_work
    finally:
        at_work.later.cancel()
        at_work.later.join()
        at_work.bar.stop()


def listed(written: Sequence[Path]) -> str:
    """Return how many files there are and what a reader looks for: a line for each kind, each name once."""
    names = {path.name for path in written}
    figures = sorted(name for name in names if name.endswith(".svg") and not name.endswith("_column.svg"))
    tables = sorted(name for name in names if name.endswith(".csv"))
    stems = {name.removesuffix("_column") for name in (*map(_stem, figures), *map(_stem, tables))}
    others = sorted(name for name in names if _stem(name).removesuffix("_column") not in stems)
    first = " (answer.pdf first)" * ("answer.pdf" in names) if "index.md" not in names else (
        " (answer.pdf first; index.md has a line for each)"
    )  # fmt: skip
    lines = [f"{len(names)} files{first}"]
    for kind, files, forms in (
        ("tables", tables, ".tex .md .csv .json"),
        ("figures", figures, ".pdf .svg .png, and narrow as _column"),
    ):
        if files:
            lines.append(f"{len(files)} {kind} ({forms}): {' '.join(map(_stem, files))}")
    return "\n  ".join([*lines, f"besides: {' '.join(others)}"])


def _stem(name: str) -> str:
    return Path(name).stem


BRIEF = typer.Option(
    False,
    "--brief",
    help="Of the files only the answer on one page, agreement.tex, methods.tex with its sources, and the JSON.",
)


def _language(tag: str | None) -> str | None:
    """One of `LANGUAGES` but English. Raises BadParameter for a language that the methods section does not speak."""
    others = {one.replace("_", "-"): one for one in LANGUAGES if one != ENGLISH}
    if tag is not None and tag not in {*others, *others.values()}:
        raise typer.BadParameter(f"{tag!r} is none of {', '.join(others)}")
    return others.get(tag, tag) if tag else None


LANGUAGE = typer.Option(
    None, callback=_language, help="The methods section in this language too, as methods.zh-CN.md: zh-CN."
)


class DryRun(Exception):
    """Rolls the transaction back after everything was checked."""


class Outcome(Protocol):
    """The outcome of an import, in words and as plain values."""

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
    """Wrap an import and its transaction: tell of a raised `DryRun`, print an ImportingError as JSON if asked."""
    try:
        yield
    except DryRun:
        typer.echo("dry run: nothing was written", err=True)
    except ImportingError as error:
        if not as_json:
            raise
        print_json({"problems": error.problems})
        raise typer.Exit(1) from None


def say_next(engine: Engine, study: str | None) -> None:
    """Print what comes next on standard error, out of the way of whoever keeps the output."""
    with reading(engine) as session:
        typer.echo(f"next: {next_command(session, study)}", err=True)


def next_command(session: Session, study: str | None) -> str:
    """Return the next command: a draft's first open step, then the server, and once people handed in, calibration."""
    from annotation.studies import has_work
    from app.setting_up import is_setting_up, set_up_of, steps

    row = find_study(session, study)
    if is_setting_up(session, row):
        return next(step.command for step in steps(set_up_of(session, local_admin(row))) if step.state == "next")
    return f"calipers calibrate {quote(row.name)} --out report" if has_work(session, row) else "calipers serve"
