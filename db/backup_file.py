"""A backup's file: a SQLite database with every row, and a manifest by which each table can be checked.

The manifest stands in a table of its own: format, software, schema revision, time, and for each table its rows and
the SHA-256 of their canonical text (columns by name, rows by key), which no storage order changes.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import sqlalchemy as sa
from pydantic import TypeAdapter
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from db.errors import DatabaseError
from db.plain_rows import CHUNK, Advance

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
    """Write the manifest of the rows that stand in the file."""
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
        digest.update(b"\n" + json.dumps(list(row), default=_hexadecimal).encode())
        rows += 1
    return TableSum(table.name, rows, digest.hexdigest())


def _hexadecimal(value: bytes) -> dict[str, str]:
    return {"bytes": value.hex()}


def file_sha256(file: Path) -> str:
    """Of the whole file, in hexadecimal digits, as `sha256sum` prints it."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def sum_file(file: Path) -> Path:
    """Where the SHA-256 of the whole file stands."""
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
