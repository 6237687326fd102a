"""Bring a backup into an empty database of either kind: checked first, then in one transaction."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import sqlalchemy as sa
from alembic.script import ScriptDirectory
from sqlalchemy import Column, ColumnElement, Connection, Engine
from sqlalchemy.exc import DataError, IntegrityError

from db import backup, connect, errors, judge_tables, migrations, tables, types
from plain.hashes import file_sha256, text_sha256


def check_backup(file: Path, sha256: str, advance: backup.Advance) -> backup.Manifest:
    """What the file holds, once every sum agrees. `sha256`: what the whole file must have, empty if that is unknown.

    A `file`.sha256 beside it must agree too. `advance(tables done, tables)`. Raises DatabaseError with what is wrong,
    OSError where there is no such file.
    """
    _agree_on_the_whole(file, sha256)
    with backup.readable(file) as connection:
        manifest = backup.read_manifest(connection, file)
        if manifest.revision not in _known():
            raise errors.DatabaseError(f"{file}: made by a newer calipers ({manifest.software}); install that version")
        if migrations.current_version(connection) != manifest.revision:
            raise errors.DatabaseError(f"{file}: its schema is not the one it was written with; {backup.DAMAGED}")
        found = backup.table_sums(connection, advance)
    changed = [table.name for table in (*found, *manifest.tables) if table not in found or table not in manifest.tables]
    if changed:
        raise errors.DatabaseError(
            f"{file}: what stands in {', '.join(sorted(set(changed)))} is not what was written; nothing was restored: "
            "take another copy"
        )
    return manifest


def restore_backup(engine: Engine, file: Path, manifest: backup.Manifest, advance: backup.Advance) -> int:
    """Every row of the checked `file` into a database that has the newest schema and nothing else; how many rows.

    Leases of judge calls end with the backup's moment: whoever held them works on another database. Raises
    DatabaseError where the database is not empty or cannot keep a value; then it is as it was.
    """
    with _newest(file, manifest) as source:
        try:
            with connect.transaction(engine) as session:
                return _load(source, session.connection(), datetime.fromisoformat(manifest.made_at), advance)
        except (DataError, IntegrityError, ValueError, TypeError) as error:  # the last two: a time that is none
            reason = str(getattr(error, "orig", error)).strip().splitlines()[0]
            named = engine.url.render_as_string()
            raise errors.DatabaseError(
                f"{named}: cannot keep a value of {file}: {reason}; nothing was restored"
            ) from error


def _unused() -> str:
    """The name of a file that is not there yet."""
    names = ("restored.db", *(f"restored-{number}.db" for number in range(2, 1000)))
    return next((name for name in names if not Path(name).exists()), "another.db")


def _load(source: Connection, target: Connection, made_at: datetime, advance: backup.Advance) -> int:
    _hold(target)
    if filled := backup.first_filled(target):
        raise errors.DatabaseError(
            f"{target.engine.url.render_as_string()}: holds {filled} already, and a backup goes into an empty database "
            f"only; set CALIPERS_DATABASE_URL to a new one, such as sqlite:///{_unused()}"
        )
    if where := first_misfit(source):  # a backup is SQLite, which keeps any value in any column
        raise errors.DatabaseError(f"the backup holds a value in {where} that does not fit there; nothing was restored")
    rows = backup.copy_rows(source, target, advance, partial(_share_source, target))
    target.execute(
        sa.update(judge_tables.JudgeCall)
        .where(judge_tables.JudgeCall.lease_until > made_at)
        .values(lease_until=made_at)
    )
    set_sequences(target)
    target.exec_driver_sql("ANALYZE")  # or the planner takes a full table for an empty one until it is told
    return rows


def _agree_on_the_whole(file: Path, sha256: str) -> None:
    found = file_sha256(file)
    expected = {"--sha256": sha256.strip().lower()} if sha256 else {}
    if backup.sum_file(file).is_file():
        expected[str(backup.sum_file(file))] = backup.sum_file(file).read_text(encoding="utf-8", errors="replace")[:64]
    for source, value in expected.items():
        if value != found:
            raise errors.DatabaseError(
                f"{file}: its sha256 is {found}, and {source} says {value}: damaged, cut, or another file; "
                "take another copy"
            )


def _known() -> set[str]:
    """Every revision that this calipers knows."""
    folder = Path(migrations.__file__).parent
    return {script.revision for script in ScriptDirectory(str(folder)).walk_revisions()}


@contextmanager
def _newest(file: Path, manifest: backup.Manifest) -> Iterator[Connection]:
    """The file at the newest schema: itself, or a migrated copy of one that an older calipers wrote."""
    if manifest.revision == ScriptDirectory(str(Path(migrations.__file__).parent)).get_current_head():
        with backup.readable(file) as connection:
            yield connection
        return
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        shutil.copyfile(file, f"{folder}/older.db")
        migrations.upgrade(f"sqlite:///{folder}/older.db")
        with backup.readable(Path(folder) / "older.db") as connection:
            yield connection


def _hold(target: Connection) -> None:
    """Nobody else writes until the rows are in; SQLite's transaction says so by itself."""
    if target.dialect.name == "postgresql":
        names = ", ".join(table.name for table in backup.plain_tables("postgresql"))
        target.exec_driver_sql(f"LOCK TABLE {names} IN EXCLUSIVE MODE")


def set_sequences(target: Connection) -> None:
    """Postgres counts beside the rows, and would give out their ids again."""
    if target.dialect.name != "postgresql":
        return
    for table in backup.plain_tables("postgresql"):
        if "id" in table.c and (last := target.scalar(sa.select(sa.func.max(table.c.id)))):
            target.execute(sa.select(sa.func.setval(sa.func.pg_get_serial_sequence(table.name, "id"), last)))


def _share_source(target: Connection, table: str, row: backup.Row) -> backup.Row:
    """Passages that an older calipers kept with each probe go to `sources`, where their study has each once.

    Only here, in a new database: a process of an older calipers would show such a probe without.
    """
    if table != "items" or not (text := row.get("context")):
        return row
    source, named = tables.Source, {"study_id": row["study_id"], "sha256": text_sha256(text)}
    known = target.scalar(sa.select(source.id).filter_by(**named))
    if known is None:
        # not of Postgres' sequence, which begins anew
        key = sa.select(sa.func.coalesce(sa.func.max(source.id), 0) + 1).scalar_subquery()
        known = target.scalar(sa.insert(source).values(id=key, text=text, **named).returning(source.id))
    return row | {"context": None, "source_id": known}


WHOLE_MAX = 2**31  # what a column holds on Postgres that is not a BigInteger


def first_misfit(connection: Connection) -> str | None:
    """`table.column` of a value of another kind than the column's, text that is no JSON, a number too large; or None.

    Reads every row once; for a database of SQLite.
    """
    for table in types.Record.metadata.sorted_tables:
        wrong = (sa.func.max(_misfits(column)).label(column.name) for column in table.c)
        found = connection.execute(sa.select(*wrong).select_from(table))
        if bad := [name for name, is_wrong in found.one()._mapping.items() if is_wrong]:
            return f"{table.name}.{bad[0]}"
    return None


def _misfits(column: Column[object]) -> ColumnElement[int]:
    """1 where the value does not fit."""
    # by name, so that no type of SQLAlchemy's comes between
    plain: ColumnElement[object] = sa.literal_column(f'"{column.table.name}"."{column.name}"')
    kind = sa.func.typeof(plain)
    fits: ColumnElement[bool]
    kept = column.type.impl_instance if isinstance(column.type, sa.TypeDecorator) else column.type
    if isinstance(kept, sa.Integer | sa.Boolean):
        is_wide = isinstance(kept, sa.BigInteger)
        fits = (kind == "integer") & (sa.true() if is_wide else plain.between(-WHOLE_MAX, WHOLE_MAX - 1))
    elif isinstance(kept, sa.Float):
        fits = kind.in_(("real", "integer")) & plain.between(-1.7e308, 1.7e308)
    elif isinstance(kept, sa.LargeBinary):
        fits = kind == "blob"
    elif isinstance(kept, sa.JSON):
        fits = (kind == "text") & (sa.func.json_valid(plain) == 1)
    else:
        fits = (kind == "text") & (sa.func.instr(plain, sa.func.char(0)) == 0)
    return sa.case((plain.is_(None) | fits, 0), else_=1)
