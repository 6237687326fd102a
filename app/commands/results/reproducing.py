"""A published study from its own public files to its tables, in one command."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from annotation.errors import AnnotationError
from app.commands import opening, printing

DATABASE = "studies.db"


def reproduce(
    name: str = typer.Argument(..., help="wlc, deepresearchgym, dr3_eval, reportbench or race."),
    folder: Path = typer.Argument(..., help="A clone or download of the study's public files."),
    out: Path = typer.Option(..., help="A new folder for the tables, a report of each part, and its database."),
    simulate: bool = typer.Option(
        False, "--simulate", help="Invent answers of people where theirs were never published; marked everywhere."
    ),
    as_json: bool = printing.JSON,
) -> None:
    """A published study again, from its public files to its tables.

    Each number of the paper stands beside ours: equal, differs by, or cannot be made and why; with our intervals.

    What the files lack is told and stops nothing. The studies stay in OUT/studies.db: a judge of your own, or people,
    can go on from there with CALIPERS_DATABASE_URL=sqlite:///OUT/studies.db.

    Example: calipers reproduce wlc WikiLiveChallenge --out tables
    Example: calipers reproduce dr3_eval DR3-Eval --out tables --simulate
    """
    from app.commands.results.terminal import print_one
    from app.reproducing import bringing_in, public_files, recipes, reporting_parts, standing
    from app.reproducing.own_sums import own_sums
    from exports.as_json import as_json as json_of
    from exports.pack import FORMATS

    recipe = recipes.read_recipe(name)
    if (out / DATABASE).exists():
        raise AnnotationError("not_new", f"{out / DATABASE} is there, of an earlier run; name a new folder with --out")
    public = public_files.read_public(recipe, folder)
    out.mkdir(parents=True, exist_ok=True)
    with own_database(out / DATABASE), printing.working(f"reproducing {recipe.title}") as advance:
        engine = opening.opened(begins=True)
        made = bringing_in.bring_in(engine, public, advance, simulate=simulate)
        parts = reporting_parts.reported(engine, public, made, out, advance)
    notes = [*(f"Came in: {line}." for line in public.came), *(f"Not there: {line}." for line in public.lacks)]
    title = f"{recipe.title} ({recipe.source})"
    table = standing.reproduced_table(title, recipe.number, parts, own_sums(name, folder), notes)
    for suffix, form in FORMATS.items():
        (out / f"{table.name}.{suffix}").write_text(form(table), encoding="utf-8")
    if as_json:
        printing.echo_json(json_of(table))
        return
    print_one(table)
    written = ", ".join(name for name in parts if (out / name).is_dir())  # a part that nobody answered has no folder
    typer.echo(f"Written to {out}: reproduced.md, .tex, .csv, .json and a folder each of {written or 'none'}")


@contextmanager
def own_database(file: Path) -> Iterator[None]:
    """Everything within reads and writes this file, whatever database the environment names."""
    from app.settings import database, settings

    name = "CALIPERS_DATABASE_URL"
    before = os.environ.get(name)
    os.environ[name] = f"sqlite:///{file.resolve()}"
    settings.cache_clear()
    database.cache_clear()
    is_whole = False
    try:
        yield
        is_whole = True
    finally:
        database().dispose()
        if not is_whole:
            file.unlink(missing_ok=True)  # from half of a study nobody goes on
        os.environ.pop(name)
        os.environ |= {} if before is None else {name: before}
        settings.cache_clear()
        database.cache_clear()
