"""The schema's history, run from code: `upgrade(url)` brings any database to the newest version."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, text

from db.connect import naming_the_database, open_database
from db.errors import DatabaseError

ADVISORY_LOCK = 0x63616C69  # "cali": two processes that start at once migrate one after the other


def upgrade(url: str) -> None:
    """Create or migrate the schema in one transaction. Raises DatabaseError if the file is newer than this calipers."""
    engine = open_database(url)
    try:
        with naming_the_database(engine), engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ADVISORY_LOCK})
            config = _config(connection)
            if current_version(connection) == ScriptDirectory.from_config(config).get_current_head():
                return
            try:
                command.upgrade(config, "head")
            except CommandError as error:
                raise DatabaseError(
                    f"{engine.url.render_as_string()}: made by a newer calipers ({error}); install that version"
                ) from error
    finally:
        engine.dispose()


def current_version(connection: Connection) -> str | None:
    """The migration the database stands at, None for an empty one."""
    return MigrationContext.configure(connection).get_current_revision()


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    return config
