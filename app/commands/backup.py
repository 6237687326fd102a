"""Everything a database holds as one file, and that file back into an empty database of either kind."""

from dataclasses import asdict
from pathlib import Path

import typer

from app.commands.opening import opened, reading
from app.commands.printing import JSON, print_json, progress_bar


def backup(
    file: Path = typer.Argument(..., help="A new file; FILE.sha256 is written beside it.", metavar="FILE"),
    as_json: bool = JSON,
) -> None:
    """Write every study of the database into one checksummed file.

    It is the database as of one moment, while people and judges go on working.

    It holds reports, labels, judges' replies, people's names and the keys that sign packets, so keep it as you keep
    the database. It holds no API key, and of links and sign-ins only hashes; both work again after a restore.

    Example: calipers backup monday.calipers
    """
    from importlib.metadata import version

    from db.backup import write_backup

    engine = opened()
    with progress_bar("backup") as advance:
        made = write_backup(engine, file, version("calipers"), advance)
    if as_json:
        print_json(asdict(made.manifest) | {"file": str(file), "sha256": made.sha256, "rows": made.manifest.rows})
        return
    tables = sum(table.rows > 0 for table in made.manifest.tables)
    typer.echo(f"{file}: {made.manifest.rows:,} rows of {tables} tables, as of {made.manifest.made_at}")
    typer.echo(f"sha256 {made.sha256}")
    typer.echo("it holds reports, labels and people's names: keep it as you keep the database")


def restore(
    file: Path = typer.Argument(..., help="A file that `calipers backup` wrote.", metavar="FILE"),
    sha256: str = typer.Option("", help="What the whole file must have, as `backup` printed it."),
    as_json: bool = JSON,
) -> None:
    """Bring a backup into the empty database of CALIPERS_DATABASE_URL.

    SQLite or Postgres, whichever it came from. Exit 1 if the restored database breaks a rule.

    Every checksum is compared first, also with FILE.sha256 where it lies beside. All rows enter in one transaction;
    links, sign-ins, orders and open slots are as they were, and judges go on with what they had not done.
    At the end the database is examined as by `calipers doctor`.

    Example: calipers restore monday.calipers
    """
    from annotation.facts.soundness import find_faults
    from db.restore import check_backup, restore_backup

    with progress_bar("checking") as advance:
        manifest = check_backup(file, sha256, advance)
    engine = opened(begins=True)
    with progress_bar("restoring") as advance:
        rows = restore_backup(engine, file, manifest, advance)
    with reading(engine) as session:
        faults = find_faults(session)
    named = engine.url.render_as_string()
    if as_json:
        database = {"database": named, "sound": not faults, "faults": [asdict(fault) for fault in faults]}
        print_json(
            {"file": str(file), "rows": rows, "made_at": manifest.made_at, "software": manifest.software} | database
        )
    else:
        typer.echo(f"{file}: {rows:,} rows as of {manifest.made_at} are in {named}")
        typer.echo("every rule holds" if not faults else "calipers doctor finds:")
        for fault in faults:
            typer.echo(f"broken: {fault.rule}: {fault.places} places, first {'; '.join(fault.first)}")
    if faults:
        raise typer.Exit(1)
