"""The schema's history, run from code: `upgrade(url)` brings any database to the newest version.

Old processes may run meanwhile: a migration only adds what they do not need to know ("expand, deploy, contract", see
docs/deployment.md), and gives way to them where it cannot have a table at once.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Literal

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import OperationalError

from db.connect import naming_the_database, open_database
from db.errors import DatabaseError
from db.types import Record

SCRIPTS = Path(__file__).parent
ADVISORY_LOCK = 0x63616C69  # "cali": two processes that start at once migrate one after the other
# On Postgres whoever wants a table queues behind a migration that waits for it. Less than Postgres' deadlock_timeout
# (1 s), so that where both wait for each other it is never the others' work that is undone.
GIVE_WAY_MS = 500
TRIES = 60
GIVES_WAY = ("55P03", "40P01")  # lock_not_available, deadlock_detected
Standing = Literal["older", "current", "newer"]


def upgrade(url: str, revision: str = "head") -> None:
    """Create or migrate the schema in one transaction, by one process at a time.

    Raises DatabaseError if the database is newer than this calipers, or if something holds its tables for a minute.
    """
    engine = open_database(url)
    try:
        with naming_the_database(engine):
            for _ in range(TRIES):
                if _upgraded(engine, revision):
                    return
                time.sleep(GIVE_WAY_MS / 1e3)  # those who waited behind us come first
        raise DatabaseError(
            f"{engine.url.render_as_string()}: the schema cannot be changed while something else holds its tables; "
            "end what has run for minutes there (an export, a psql left open in a transaction) and start again"
        )
    finally:
        engine.dispose()


def standing(connection: Connection) -> Standing:
    """Where the database stands for this calipers: `older` (also empty), `current`, or made by a `newer` one."""
    found, scripts = current_version(connection), _scripts()
    if found == scripts.get_current_head():
        return "current"
    return "older" if found is None or found in {step.revision for step in scripts.walk_revisions()} else "newer"


def current_version(connection: Connection) -> str | None:
    """The migration the database is at, None for an empty one."""
    return MigrationContext.configure(connection).get_current_revision()


def _upgraded(engine: Engine, revision: str) -> bool:
    """Whether it is done now; False where a table was in use for longer than we let others wait for it."""
    try:
        with engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ADVISORY_LOCK})
            stands = standing(connection)
            if stands == "newer":
                raise DatabaseError(f"{engine.url.render_as_string()}: made by a newer calipers; install that version")
            if stands == "older":
                if connection.dialect.name == "postgresql":
                    _hold_tables(connection)
                command.upgrade(_config(connection), revision)
    except OperationalError as error:
        if getattr(error.orig, "sqlstate", "") in GIVES_WAY:
            return False
        raise
    return True


def _hold_tables(connection: Connection) -> None:
    """Take every table before any is changed, parents first as those do who save: else each waits for the other."""
    connection.execute(text(f"SET LOCAL lock_timeout = '{GIVE_WAY_MS}ms'"))
    order = [table.name for table in Record.metadata.sorted_tables]
    found = set(inspect(connection).get_table_names()) - {"alembic_version"}
    for name in sorted(found, key=lambda one: order.index(one) if one in order else len(order)):
        connection.exec_driver_sql(f'LOCK TABLE "{name}" IN ACCESS EXCLUSIVE MODE')


def _scripts() -> ScriptDirectory:
    return ScriptDirectory(str(SCRIPTS))


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    config.attributes["connection"] = connection
    return config
