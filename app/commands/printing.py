"""How commands print: tables for people, JSON for programs, one style for both doors."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from app.commands.completing import protocols, studies, studies_or_labels

JSON = typer.Option(False, "--json", help="Print JSON instead of a table.")
ONE = typer.Argument(..., help="Which study.", autocompletion=studies)
WHICH = typer.Argument(None, help="Which study; may be left out while there is one.", autocompletion=studies)
WHAT = typer.Argument(
    ..., help="A study's name, or a labels file (CSV, JSON Lines, Parquet).", autocompletion=studies_or_labels
)
PROTOCOL = typer.Option(
    "", help="For a bare labels file: a shipped protocol's name, or a .toml file.", autocompletion=protocols
)


def _known_presets(names: list[str]) -> list[str]:
    if names:
        from exports.published.presets import PRESETS

        wrong = next((name for name in names if name not in PRESETS), None)
        if wrong is not None:
            raise typer.BadParameter(f"no preset {wrong!r}; choose one of {', '.join(PRESETS)}")
    return names


PRESET = typer.Option(
    [],
    help="Also a published study's own table: wlc, deepresearchgym, dr3_eval or race; repeatable.",
    callback=_known_presets,
)
CASCADE = typer.Option(
    [], help="'CHEAP then DEAR' or 'CHEAP then a person', repeatable: CHEAP decides where its two orders agree."
)
FAMILY = typer.Option([], help="NAME=FAMILY of a judge or system, repeatable: shows whether a judge favours its own.")
JUDGES = typer.Option(None, "--judges", help="A judges.toml: its panels take part as raters of their own.")
STUDY = typer.Option(None, "--study", help="Which study; may be left out while there is one.", autocompletion=studies)
PIPE_WIDTH = 1_000  # a pipe has no width of its own: never cut what a program or a log will read
LINE_MAX = 1_200  # characters
# what a terminal obeys instead of showing it: escape codes, what turns the direction of the letters; half characters
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """A text from somebody's file, fit for a terminal: what it would obey stands there as an escape."""
    return OBEYED.sub(lambda one: repr(one[0])[1:-1], text)


def echo(text: str) -> None:
    """A line on standard output that may hold a file's own words."""
    typer.echo(visible(text))


def refusal(text: str) -> str:
    """An error as it is told: visible, and no line of it longer than a screen, whatever a file held."""
    return "\n".join(
        line if len(line) <= LINE_MAX else f"{line[: LINE_MAX - 1]}…" for line in visible(text).split("\n")
    )


def print_json(value: Any) -> None:
    """Machine-readable output on standard output, nothing else beside it; nan is null."""
    echo_json(json.dumps(_known(value), ensure_ascii=False, allow_nan=False, indent=2))


def echo_json(text: str) -> None:
    """JSON as it stands, but what a terminal would obey is escaped as JSON escapes it: the same value is read."""
    typer.echo(OBEYED.sub(lambda one: f"\\u{ord(one[0]):04x}", text.removesuffix("\n")))


def _known(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _known(one) for key, one in value.items()}
    return [_known(one) for one in value] if isinstance(value, list | tuple) else value


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


@contextmanager
def working(what: str) -> Iterator[Any]:
    """The same for work whose length is not known beforehand: a moving bar and the time, once it takes two seconds."""
    from threading import Timer

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    )  # fmt: skip
    task = bar.add_task(what, total=None)
    start = Timer(2.0, bar.start)
    start.daemon = True
    start.start()
    try:
        yield lambda done, of, now: bar.update(task, completed=done, total=of, description=now)
    finally:
        start.cancel()
        start.join()
        bar.stop()


def listed(written: Sequence[Path]) -> str:
    """How many files, and what a reader looks for among them: a line for each kind, each name once."""
    names = {path.name for path in written}
    figures = sorted(name for name in names if name.endswith(".svg") and not name.endswith("_column.svg"))
    tables = sorted(name for name in names if name.endswith(".csv"))
    stems = {name.removesuffix("_column") for name in (*map(_stem, figures), *map(_stem, tables))}
    others = sorted(name for name in names if _stem(name).removesuffix("_column") not in stems)
    lines = [f"{len(names)} files"]
    for kind, found, forms in (
        ("tables", tables, ".tex .md .csv .json"),
        ("figures", figures, ".pdf .svg .png, and narrow as _column"),
    ):
        if found:
            lines.append(f"{len(found)} {kind} ({forms}): {' '.join(map(_stem, found))}")
    return "\n  ".join([*lines, f"besides: {' '.join(others)}"])


def _stem(name: str) -> str:
    return Path(name).stem
