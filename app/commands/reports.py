"""Reports come in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from annotation.importing.layouts import AUTO, LAYOUTS, layout_lines, propose
from app.commands import gold, packets, probes, results_import
from app.commands.completing import among
from app.commands.dry_run import DryRun, ending, say
from app.commands.printing import JSON, STUDY, progress_bar

ALLOW_EMPTY = typer.Option(False, help="Import empty reports as empty; they never enter an item.")
ALLOW_MISSING = typer.Option(False, help="Accept systems without a report on some topics.")
GAPS = ("--allow-empty", "--allow-missing")  # as refusals name them


def add_to(app: typer.Typer) -> None:
    """Register this file's commands."""
    imports = typer.Typer(help="Bring in reports, probes, labels and judge results.", no_args_is_help=True)
    imports.command("reports")(import_reports)
    probes.add_to(imports)
    results_import.add_to(imports)
    gold.add_to(imports)
    packets.add_import(imports)
    app.add_typer(imports, name="import")


def import_reports(
    path: Path = typer.Argument(..., help="The folder, or for --layout table the file, to read."),
    layout: str = typer.Option(
        ...,
        help=f"One of {', '.join(LAYOUTS)}; {AUTO} says which it takes, and why.",
        autocompletion=among(*LAYOUTS, AUTO),
    ),
    study: str = STUDY,
    columns: str = typer.Option("", "--map", help="table: FIELD=COLUMN,... such as topic=id,text=response."),
    system: str | None = typer.Option(None, help="table: the system that wrote every row."),
    keep_columns: bool = typer.Option(False, help="table: keep the other columns as features of the topic."),
    encoding: str = typer.Option("utf-8", help="Your decision, stored; never guessed."),
    allow_empty: bool = ALLOW_EMPTY,
    allow_missing: bool = ALLOW_MISSING,
    new_version: bool = typer.Option(False, help="Accept changed reports as new versions."),
    dry_run: bool = typer.Option(False, help="Check and report; write nothing."),
    as_json: bool = JSON,
) -> None:
    """Read reports and strip their citations, all or nothing.

    folder: SYSTEM/TOPIC.md, and beside these folders, where wanted, topics.csv (topic, title, prompt, category,
    language), systems.csv (system, public_name, is_reference, family) and criteria.csv (topic, id, label, text,
    category, subcategory, weight).

    Example: calipers import reports my_reports --layout folder --study mystudy
    Example: calipers import reports answers.jsonl --layout table --map topic=id,system=model,text=response
    """
    from annotation.errors import ImportingError
    from annotation.importing.links import refuse_ways_out
    from annotation.importing.table import TableOptions, parse_map, read_table
    from annotation.importing.write import import_reports as write
    from annotation.importing.write import prepare_all
    from annotation.people.principals import local_admin
    from annotation.studies import find_study
    from app.commands.database import opened
    from db.connect import reading, transaction

    with ending(as_json):
        refuse_source(path, layout)
        refuse_ways_out(path)
        if layout == AUTO:
            layout, sign = propose(path)
            typer.echo(f"--layout {layout}, because of {sign}", err=True)
        if layout != "table" and (columns or system or keep_columns):
            raise typer.BadParameter(f"--map, --system and --keep-columns are for --layout table, not {layout}")
        if layout != "table" and not path.is_dir():
            raise ImportingError(f"{path}: not a folder; give the folder that holds the reports, or use --layout table")
        table = TableOptions(parse_map(columns), system, keep_columns)
        parsed = read_table(path, encoding, table) if layout == "table" else LAYOUTS[layout].read(path, encoding)
        options = {"encoding": encoding, "map": dict(table.columns), "system": system, "keep_columns": keep_columns}
        engine = opened()
        with reading(engine) as session, progress_bar("preparing reports") as advance:
            admin = local_admin(find_study(session, study))
            ready = None if parsed.problems else prepare_all(session, admin, parsed, advance)
        with transaction(engine) as session:
            outcome = write(
                session, local_admin(find_study(session, study)), parsed, layout=layout, source=str(path),
                allow_empty=allow_empty, allow_missing=allow_missing, new_version=new_version, options=options,
                prepared_texts=ready,
            )  # fmt: skip
            if dry_run:
                raise DryRun
    say(outcome, as_json, None if dry_run else engine, study)


def refuse_source(path: Path, layout: str) -> None:
    """What cannot be read at all is refused before anything is made for it."""
    from annotation.errors import ImportingError

    if layout not in (*LAYOUTS, AUTO):
        raise typer.BadParameter(f"no layout {layout!r}; choose one of {', '.join(LAYOUTS)}, {AUTO}\n{layout_lines()}")
    if not path.exists():
        raise ImportingError(f"{path}: no such folder; give the folder that holds the reports")


def bring_in(folder: Path, layout: str, study: str, **allowed: bool) -> None:
    """The reports of the study that was just made; where they are refused, that it stands, and what to run then."""
    from shlex import quote

    from annotation.errors import ImportingError

    try:
        import_reports(
            folder, layout, study, columns="", system=None, keep_columns=False, encoding="utf-8", new_version=False,
            dry_run=False, as_json=False, **allowed,
        )  # fmt: skip
    except ImportingError as error:
        given = "".join(f" --{name.replace('_', '-')}" for name, is_given in allowed.items() if is_given)
        again = f"calipers import reports {quote(str(folder))} --layout {layout} --study {quote(study)}{given}"
        raise ImportingError(
            f"{error}\nthe study {study!r} stands, without these reports; once that is mended:\n  {again}"
            f"{_with_gaps(again, error.problems)}"
        ) from None


def _with_gaps(again: str, problems: Sequence[str]) -> str:
    """The command that takes the reports as they are; empty where something else than a gap is in its way."""
    named = [next((one for one in GAPS if f"pass {one}" in problem), "") for problem in problems]
    if not all(named):
        return ""
    return f"\nor, with these gaps:\n  {' '.join([again, *(one for one in GAPS if one in named)])}"
