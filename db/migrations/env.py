"""Alembic's entry: runs on the connection and in the transaction that `upgrade` opened."""

from alembic import context

import db.judge_tables
import db.people_tables
import db.tables  # noqa: F401  (to import it is to make its tables known)
from db.types import Record

context.configure(
    connection=context.config.attributes["connection"], target_metadata=Record.metadata, compare_type=True
)
context.run_migrations()
