"""Everything a database holds as one file, and that file back into an empty database of either kind."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import typer

from app.commands.opening import opened, reading
from app.commands.printing import JSON, print_json, progress_bar

if TYPE_CHECKING:
    from annotation.judges.money.queue_rules import Fault


def backup(
    file: Path = typer.Argument(None, help="A new file; FILE.sha256 is written beside it.", metavar="FILE"),
    due: bool = typer.Option(False, "--due", help="In place of FILE: as CALIPERS_BACKUP_FOLDER asks, if one is due."),
    as_json: bool = JSON,
) -> None:
    """Write every study of the database into one checksummed file.

    It is the database as of one moment, while people and judges go on working.

    It holds reports, labels, judges' replies, people's names and the keys that sign packets, so keep it as you keep
    the database. It holds no API key, and of links and sign-ins only hashes; both work again after a restore.

    With --due it makes one in the folder of CALIPERS_BACKUP_FOLDER where the last is CALIPERS_BACKUP_HOURS old, as the
    server does by itself, and keeps the newest CALIPERS_BACKUP_KEEP.

    Example: calipers backup monday.calipers
    """
    from importlib.metadata import version

    from app.settings import settings
    from db import backup, kept_backups

    asked = settings()
    if (file is None) != due or (due and asked.backup_folder is None):
        raise typer.BadParameter("name a new file, or --due, for which CALIPERS_BACKUP_FOLDER names a folder")
    engine = opened()
    with progress_bar("backup") as advance:
        if asked.backup_folder is not None and due:
            signal.signal(signal.SIGTERM, signal.default_int_handler)  # what ends in the middle leaves nothing behind
            os.nice(10)  # whoever labels goes first
            every, keep = timedelta(hours=asked.backup_hours), asked.backup_keep
            made = kept_backups.write_due(engine, asked.backup_folder, every, keep, version("calipers"), advance)
            file = kept_backups.kept_backups(asked.backup_folder)[0].file
        else:
            made = backup.write_backup(engine, file, version("calipers"), advance)
    if made is None:
        print_json({"file": str(file), "due": False}) if as_json else typer.echo(f"{file}: no other is due yet")
        return
    if as_json:
        print_json(asdict(made.manifest) | {"file": str(file), "sha256": made.sha256, "rows": made.manifest.rows})
        return
    tables = sum(table.rows > 0 for table in made.manifest.tables)
    typer.echo(f"{file}: {made.manifest.rows:,} rows of {tables} tables, as of {made.manifest.made_at}")
    typer.echo(f"sha256 {made.sha256}")
    typer.echo("it holds reports, labels and people's names: keep it as you keep the database")


def upgrade(
    file: Path = typer.Argument(None, help="A new file for the backup, where the schema is to change.", metavar="FILE"),
    as_json: bool = JSON,
) -> None:
    """Back up, bring the schema to this version, examine.

    Run it once a new version is installed, while the former one goes on serving. Where the backup cannot be written
    nothing is changed; to go back, restore it into an empty database. Exit 1 if a rule does not hold.

    Example: calipers upgrade before.calipers
    """
    from importlib.metadata import version

    from annotation.facts.soundness import find_faults
    from app import settings
    from db import backup, migrations

    engine = settings.existing()
    with reading(engine) as session:
        stands, before = (one(session.connection()) for one in (migrations.standing, migrations.current_version))
    is_filled = stands == "older" and before is not None
    if is_filled:
        if file is None:
            raise typer.BadParameter("the schema is to change: name a new file, into which all is backed up before")
        with progress_bar("backup") as advance:
            backup.write_backup(engine, file, version("calipers"), advance)
    migrations.upgrade(settings.settings().database_url)  # refuses what a newer version made
    with reading(engine) as session:
        faults, after = find_faults(session), migrations.current_version(session.connection())
    if as_json:
        kept = str(file) if is_filled else None
        print_json({"before": before, "after": after, "backup": kept, "faults": [asdict(fault) for fault in faults]})
    elif stands == "current":
        typer.echo(f"the schema is {after} already, as this version has it; nothing was changed")
    elif not is_filled:
        typer.echo(f"the database was empty; its schema is {after} now")
    else:
        typer.echo(f"{file}: all of it as it was before; the schema went from {before} to {after}")
    _end_on(faults, as_json)


def _end_on(faults: Sequence[Fault], as_json: bool) -> None:
    """Say whether every rule holds, and end with exit 1 where one does not."""
    if not as_json:
        typer.echo("every rule holds" if not faults else "calipers doctor finds:")
        for fault in faults:
            typer.echo(f"broken: {fault.rule}: {fault.places} places, first {'; '.join(fault.first)}")
    if faults:
        raise typer.Exit(1)


def restore(
    file: Path = typer.Argument(..., help="A file that `calipers backup` wrote.", metavar="FILE"),
    sha256: str = typer.Option("", help="What the whole file must have, as `backup` printed it."),
    tried: bool = typer.Option(False, "--try", help="Into a database that is deleted again, to see that it can be."),
    as_json: bool = JSON,
) -> None:
    """Bring a backup into the empty database of CALIPERS_DATABASE_URL.

    SQLite or Postgres, whichever it came from. Exit 1 if the restored database breaks a rule. With --try nothing of
    yours is touched, and the day is noted beside the file.

    Every checksum is compared first, also with FILE.sha256 where it lies beside. All rows enter in one transaction;
    links, sign-ins, orders and open slots are as they were, and judges go on with what they had not done.
    At the end the database is examined as by `calipers doctor`.

    Example: calipers restore monday.calipers
    """
    from annotation.facts.soundness import find_faults
    from db import connect, kept_backups, migrations, restore

    with progress_bar("checking") as advance:
        manifest = restore.check_backup(file, sha256, advance)
    with TemporaryDirectory() as scratch:
        if tried:
            migrations.upgrade(f"sqlite:///{scratch}/tried.db")
        engine = connect.open_database(f"sqlite:///{scratch}/tried.db") if tried else opened(begins=True)
        with progress_bar("restoring") as advance:
            rows = restore.restore_backup(engine, file, manifest, advance)
        with reading(engine) as session:
            faults = find_faults(session)
        engine.dispose()
    named = "a database that is deleted again" if tried else engine.url.render_as_string()
    if tried and not faults:
        kept_backups.tried_file(file).touch(mode=0o600)
    if as_json:
        database = {"database": named, "sound": not faults, "faults": [asdict(fault) for fault in faults]}
        print_json(
            {"file": str(file), "rows": rows, "made_at": manifest.made_at, "software": manifest.software} | database
        )
    else:
        typer.echo(f"{file}: {rows:,} rows as of {manifest.made_at} are in {named}")
    _end_on(faults, as_json)
