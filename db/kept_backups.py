"""Backups made by themselves: in one folder, each called by its hour, the oldest deleted; and which one was tried."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Engine

from db import backup, types
from db.errors import DatabaseError

NAME = "calipers-%Y-%m-%dT%H.calipers"  # in UTC


@dataclass(frozen=True)
class KeptBackup:
    """One of them. `size`: bytes; `tried_at`: when it was last restored to see whether it can be, None: never."""

    file: Path
    made_at: datetime
    size: int
    tried_at: datetime | None


def kept_backups(folder: Path) -> list[KeptBackup]:
    """The newest first. A file that is called otherwise is none of them. Raises OSError."""
    found = []
    for file in folder.glob("calipers-*.calipers"):
        try:
            made_at = datetime.strptime(file.name, NAME).replace(tzinfo=UTC)
            mark, size = tried_file(file), file.stat().st_size
            tried_at = datetime.fromtimestamp(mark.stat().st_mtime, UTC) if mark.exists() else None
        except (ValueError, FileNotFoundError):  # deleted by another process since it was listed
            continue
        found.append(KeptBackup(file, made_at, size, tried_at))
    return sorted(found, key=lambda one: one.made_at, reverse=True)


def tried_file(file: Path) -> Path:
    """What lies beside a backup from when it was restored to see whether it can be."""
    return file.with_name(f"{file.name}.tried")


def is_due(kept: list[KeptBackup], every: timedelta, now: datetime) -> bool:
    """Whether the newest is as old as it may be, or there is none."""
    return not kept or now - kept[0].made_at >= every


def write_due(
    engine: Engine, folder: Path, every: timedelta, keep: int, software: str, advance: backup.Advance
) -> backup.Backup | None:
    """Make a backup where one is due, and delete all but the newest `keep`; None where none was.

    Of processes that do so at once, one writes. Raises what `write_backup` raises.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    now = types.now()
    if not is_due(kept_backups(folder), every, now):
        return None
    file = folder / now.astimezone(UTC).strftime(NAME)
    try:
        made = backup.write_backup(engine, file, software, advance)
    except DatabaseError:
        if is_due(kept_backups(folder), every, now):
            raise
        return None  # another process was first
    for old in kept_backups(folder)[keep:]:
        for path in (old.file, backup.sum_file(old.file), tried_file(old.file)):
            path.unlink(missing_ok=True)
    return made
