"""A Postgres database of tests is emptied and filled by its rows: to make one from a template costs ten times as much.

Triggers and foreign keys rest meanwhile, for history may not be deleted and rows arrive in any order; that takes a
superuser.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import psycopg
from sqlalchemy import URL, Engine

import db.connect  # noqa: F401  (it makes every table known)
from db.types import Record

TABLES = [table.name for table in Record.metadata.sorted_tables]
REST = "SET LOCAL session_replication_role = replica"
EMPTY = "; ".join(f"DELETE FROM {name}" for name in TABLES)
FROM_ONE = "SELECT setval(seqrelid, seqstart, false) FROM pg_sequence"
FILLED = " UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT 1 FROM {name})" for name in TABLES)
NUMBERS = "SELECT quote_ident(sequencename), last_value FROM pg_sequences WHERE last_value IS NOT NULL"
# what a test may have changed of the tables themselves: when each row that describes one was written, and what
# ANALYZE wrote in place
DESCRIBED = {"pg_class": "oid", "pg_attribute": "attrelid", "pg_constraint": "oid", "pg_trigger": "oid",
             "pg_proc": "oid", "pg_type": "oid", "pg_attrdef": "oid"}  # fmt: skip
SHAPE = "SELECT (SELECT version_num FROM alembic_version), (SELECT count(*) FROM pg_db_role_setting)," + ", ".join(
    ["(SELECT sum(reltuples) FROM pg_class WHERE oid >= 16384)", "(SELECT count(*) FROM pg_namespace)"]
    + [
        f"(SELECT concat(count(*), ' ', max(xmin::text::bigint)) FROM {name} WHERE {key} >= 16384)"
        for name, key in DESCRIBED.items()
    ]
)


@dataclass(frozen=True)
class Rows:
    tables: Mapping[str, bytes]
    numbers: Mapping[str, int]  # sequence -> its last


def shape(url: URL) -> tuple[object, ...]:
    """What tells whether two databases have the same tables, rules and settings."""
    with psycopg.connect(_plain(url)) as connection:
        return connection.execute(SHAPE).fetchone() or ()


def emptied(url: URL, expected: tuple[object, ...]) -> bool:
    """Whether the database, with nobody in it, is as it was made again: not where its tables have another shape."""
    try:
        with psycopg.connect(_plain(url), autocommit=True) as connection:
            if connection.execute(SHAPE).fetchone() != expected:
                return False
            connection.execute(f"BEGIN; {REST}; {EMPTY}; {FROM_ONE}; COMMIT")
    except psycopg.Error:
        return False  # made away with by the test
    return True


def _plain(url: URL) -> str:
    return url.set(drivername="postgresql").render_as_string(hide_password=False)


def rows_of(engine: Engine) -> Rows:
    with engine.connect() as connection:
        cursor = connection.connection.cursor()
        tables = {}
        for (name,) in cursor.execute(FILLED).fetchall():
            with cursor.copy(f"COPY {name} TO STDOUT (FORMAT binary)") as copy:
                tables[name] = b"".join(bytes(block) for block in copy)
        return Rows(tables, dict(cursor.execute(NUMBERS).fetchall()))


def fill(engine: Engine, rows: Rows) -> None:
    """Have these rows and no others."""
    with engine.begin() as connection:
        connection.exec_driver_sql(f"{REST}; {EMPTY}; {FROM_ONE}")
        cursor = connection.connection.cursor()
        for name, content in rows.tables.items():
            with cursor.copy(f"COPY {name} FROM STDIN (FORMAT binary)") as copy:
                copy.write(content)
        for name, last in rows.numbers.items():
            cursor.execute("SELECT setval(%s, %s)", (name, last))
