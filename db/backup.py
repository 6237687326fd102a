"""Write everything a database holds into one file, while others go on writing: one moment, whole or not at all.

The file is a SQLite database with every row, byte for byte, and a manifest by which each table can be checked.
"""

import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter
from sqlalchemy import BindParameter, ColumnElement, Connection, Engine, TableClause, Text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool
from sqlalchemy.types import TypeDecorator, TypeEngine

from db import connect, types
from db.errors import DatabaseError, DiskFull
from db.migrations import current_version, standing, upgrade
from plain.hashes import file_sha256

CHUNK = 200  # rows in memory at once: a report may be a megabyte
Advance = Callable[[int, int], object]
Row = dict[str, Any]


class JsonText(TypeDecorator[str]):
    """Postgres' JSON as the text it is: read and written again it would lose its spaces and its order."""

    impl = Text
    cache_ok = True

    def bind_expression(self, bindvalue: BindParameter[str]) -> ColumnElement[str] | None:
        return sa.cast(bindvalue, sa.JSON)

    def column_expression(self, column: ColumnElement[Any]) -> ColumnElement[Any] | None:
        return sa.cast(column, Text)


def plain_tables(dialect: str, there: Mapping[str, Collection[str]] | None = None) -> list[TableClause]:
    """Every table of the newest schema, those that others point to first; `there`: only these, table -> its columns."""
    known = types.Record.metadata.sorted_tables
    of_each = {table.name: [one for one in table.columns if there is None or one.name in there[table.name]]
               for table in known if there is None or table.name in there}  # fmt: skip
    return [
        sa.table(name, *(sa.column(column.name, _plain(column.type, dialect)) for column in columns))
        for name, columns in of_each.items()
    ]


def columns_there(connection: Connection) -> dict[str, set[str]]:
    """Table -> its columns as they stand there, which an older calipers may have made.

    Raises DatabaseError where this calipers does not know one of them, as it would leave that out. Tables that no
    calipers made, as PostGIS' own, are passed over.
    """
    inspector, known = sa.inspect(connection), types.Record.metadata.tables
    names = set(inspector.get_table_names()) - {VERSION, OURS}
    if standing(connection) != "newer":  # of which any may be its own
        names &= known.keys()
    found = {name: {column["name"] for column in inspector.get_columns(name)} for name in names}
    for name, columns in found.items():
        if unknown := columns - set(known[name].columns.keys() if name in known else ()):
            named = connection.engine.url.render_as_string()
            raise DatabaseError(f"{named}: {name}.{min(unknown)} is of another calipers; back up with that version")
    return found


def first_filled(connection: Connection) -> str | None:
    """The name of a table that holds a row; None in an empty database."""
    for table in plain_tables(connection.dialect.name, columns_there(connection)):
        if connection.scalar(sa.select(sa.literal(1)).select_from(table).limit(1)):
            return table.name
    return None


def copy_rows(
    source: Connection,
    target: Connection,
    advance: Advance,
    changed: Callable[[str, Row], Row] = lambda _table, row: row,
) -> int:
    """Insert every row of `source` into `target`, whose tables are empty; how many.

    `advance(rows done, rows)` is called after each chunk; `changed(table, row)` is the row to insert.
    Both are at one schema, and each is in one transaction of the caller's.
    """
    there = columns_there(source)
    tables = [*zip(plain_tables(source.dialect.name, there), plain_tables(target.dialect.name, there), strict=True)]
    of = sum(source.scalar(sa.select(sa.func.count()).select_from(table)) or 0 for table, _ in tables)
    done = 0
    advance(done, of)
    for table, into in tables:
        order = [table.c[column.name] for column in types.Record.metadata.tables[table.name].primary_key]
        asked = sa.select(table).order_by(*order).execution_options(yield_per=CHUNK)
        for chunk in source.execute(asked).mappings().partitions():
            with connect.naming_the_database(target.engine):
                target.execute(sa.insert(into), [changed(table.name, dict(row)) for row in chunk])
            done += len(chunk)
            advance(done, of)
    return done


def _plain(stored: TypeEngine[Any], dialect: str) -> TypeEngine[Any]:
    if not isinstance(stored, sa.JSON):
        return stored
    return JsonText() if dialect == "postgresql" else Text()


FORMAT = "calipers-backup/1"
OURS = "calipers_backup"
MANIFEST = sa.Table(OURS, sa.MetaData(), sa.Column("manifest", sa.Text, nullable=False))
HEADER = b"SQLite format 3\0"
VERSION = "alembic_version"  # the manifest says it too
DAMAGED = "the file is damaged, so nothing was read from it; take another copy"


@dataclass(frozen=True)
class TableSum:
    """A table of the file: its rows, and the SHA-256 of their canonical text."""

    name: str
    rows: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What a backup says of itself. `made_at`: ISO 8601 in UTC; `revision`: of the schema."""

    software: str
    revision: str
    made_at: str
    tables: tuple[TableSum, ...]
    format: str = FORMAT

    @property
    def rows(self) -> int:
        """Of all tables."""
        return sum(table.rows for table in self.tables)


def seal(connection: Connection, software: str, revision: str, made_at: str, advance: Advance) -> Manifest:
    """Write the manifest of the rows that are in the file."""
    manifest = Manifest(software, revision, made_at, table_sums(connection, advance))
    MANIFEST.create(connection)
    connection.execute(sa.insert(MANIFEST), {"manifest": json.dumps(asdict(manifest))})
    return manifest


def read_manifest(connection: Connection, file: Path) -> Manifest:
    """What the file says of itself. Raises DatabaseError where it says nothing, or another calipers wrote it."""
    if not sa.inspect(connection).has_table(OURS):
        raise DatabaseError(f"{file}: a database, but no backup; name a file that `calipers backup` wrote")
    try:
        said = json.loads(connection.scalar(sa.select(MANIFEST.c.manifest)) or "")
        if said["format"] != FORMAT:
            raise DatabaseError(f"{file}: format {said['format']!r} is of another calipers; install a newer version")
        return TypeAdapter(Manifest).validate_python(said)
    except (ValueError, KeyError, TypeError):
        raise DatabaseError(f"{file}: its manifest cannot be read; {DAMAGED}") from None


def table_sums(connection: Connection, advance: Advance) -> tuple[TableSum, ...]:
    """Of every table of records in the file, by name. `advance(tables done, tables)`."""
    inspector = sa.inspect(connection)
    names = [name for name in sorted(inspector.get_table_names()) if name not in (OURS, VERSION)]
    sums = []
    for name in names:
        columns: list[sa.ColumnClause[object]] = [sa.column(column["name"]) for column in inspector.get_columns(name)]
        keys: list[sa.ColumnClause[object]] = [
            sa.column(key) for key in inspector.get_pk_constraint(name)["constrained_columns"]
        ]
        sums.append(_sum(connection, sa.table(name, *sorted(columns, key=lambda column: column.name)), keys))
        advance(len(sums), len(names))
    return tuple(sums)


def _sum(connection: Connection, table: sa.TableClause, keys: list[sa.ColumnClause[object]]) -> TableSum:
    digest, rows = hashlib.sha256(), 0
    digest.update(json.dumps([column.name for column in table.columns]).encode())
    for row in connection.execute(sa.select(table).order_by(*keys).execution_options(yield_per=CHUNK)):
        digest.update(b"\n" + json.dumps(list(row), default=lambda value: {"bytes": value.hex()}).encode())
        rows += 1
    return TableSum(table.name, rows, digest.hexdigest())


def sum_file(file: Path) -> Path:
    """Where the SHA-256 of the whole file is."""
    return file.with_name(f"{file.name}.sha256")


def writable(file: Path) -> Engine:
    """An engine for a file that nobody else knows yet."""
    return sa.create_engine(sa.URL.create("sqlite", database=str(file)), poolclass=NullPool, hide_parameters=True)


@contextmanager
def readable(file: Path) -> Iterator[Connection]:
    """The file, opened so that not even a lock is written. Raises DatabaseError on one that is damaged or no backup."""
    with file.open("rb") as opened:
        if opened.read(len(HEADER)) != HEADER:
            raise DatabaseError(f"{file}: no backup; name a file that `calipers backup` wrote")
    address = f"{Path(os.path.abspath(file)).as_uri()}?mode=ro&immutable=1"
    engine = sa.create_engine(
        "sqlite://", creator=lambda: sqlite3.connect(address, uri=True), poolclass=NullPool, hide_parameters=True
    )
    try:
        with engine.connect() as connection:
            yield connection
    except DBAPIError as error:
        if not isinstance(error.orig, sqlite3.Error):
            raise
        raise DatabaseError(f"{file}: {error.orig}; {DAMAGED}") from error
    finally:
        engine.dispose()


@dataclass(frozen=True)
class Backup:
    """What was written: the manifest that is in the file, and the SHA-256 of the whole file."""

    manifest: Manifest
    sha256: str


def write_backup(engine: Engine, out: Path, software: str, advance: Advance) -> Backup:
    """Every row as of one moment into `out`, and the sum of it into `out`.sha256; only the owner may read them.

    The database is at any schema that this calipers knows, and the file at the same. `advance(rows done, rows)` is
    called along the way. Raises DatabaseError where a file of either name exists or the database is empty, DiskFull,
    OSError that names `out`; then nothing is left behind.
    """
    for path in (out, sum_file(out)):
        if os.path.lexists(path):
            raise DatabaseError(f"{path}: exists, and a backup never replaces a file; choose another name")
    with _beside(out) as folder:
        made, sums = folder / "made.db", folder / "made.sha256"
        manifest = _filled(engine, made, software, advance)
        sha256 = file_sha256(made)
        sums.write_text(f"{sha256}  {out.name}\n", encoding="utf-8")
        for path, name in ((made, out), (sums, sum_file(out))):
            path.chmod(0o600)
            _put(path, name)
    return Backup(manifest, sha256)


def _filled(engine: Engine, made: Path, software: str, advance: Advance) -> Manifest:
    """The database's schema and rows in the file `made`."""
    with connect.reading(engine) as session:
        revision = current_version(session.connection())
    with TemporaryDirectory() as folder:
        upgrade(f"sqlite:///{folder}/empty.db", revision or "head")
        shutil.copyfile(f"{folder}/empty.db", made)
    made.chmod(0o600)
    file = writable(made)
    with connect.naming_the_database(file), file.connect() as single:
        single.exec_driver_sql("PRAGMA journal_mode=DELETE")  # a file that is copied has no log beside it
    with connect.reading(engine) as session, file.begin() as target:
        source, made_at = session.connection(), types.now().isoformat()
        if first_filled(source) is None:
            named = engine.url.render_as_string()
            raise DatabaseError(f"{named}: holds nothing to keep; set CALIPERS_DATABASE_URL to the one you mean")
        copy_rows(source, target, advance)
    with connect.naming_the_database(file), file.begin() as target:
        return seal(target, software, current_version(target) or "", made_at, lambda _done, _of: None)


@contextmanager
def _beside(out: Path) -> Iterator[Path]:
    """A folder on the disk of `out`, for as long as it is made."""
    try:
        with TemporaryDirectory(prefix=f".{out.name[:50]}-", dir=out.parent, ignore_cleanup_errors=True) as folder:
            yield Path(folder)
    except DiskFull as error:
        raise DiskFull(f"{out}: no room for the backup; nothing was written: free some disk space") from error
    except OSError as error:
        error.filename = str(out)
        raise


def _put(made: Path, name: Path) -> None:
    """Give the file its name, unless somebody else has taken it by now."""
    with made.open("rb+") as file:
        os.fsync(file.fileno())
    with name.open("xb"):  # holds the name on disks that have no links either
        try:
            made.replace(name)
        except OSError:
            name.unlink()
            raise
