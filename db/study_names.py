"""The names of the studies in a SQLite file, read without SQLAlchemy: a shell waits while a name is completed."""

import sqlite3
from contextlib import closing
from pathlib import Path

PREFIX = "sqlite:///"


def study_names(url: str) -> list[str]:
    """In the order they were made; none of another kind of database, and none where there is nothing to read."""
    if not url.startswith(PREFIX):
        return []
    try:
        with closing(sqlite3.connect(f"{Path(url.removeprefix(PREFIX)).absolute().as_uri()}?mode=ro", uri=True)) as db:
            return [str(name) for (name,) in db.execute("SELECT name FROM studies ORDER BY id")]
    except sqlite3.Error:
        return []
