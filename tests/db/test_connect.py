"""What a line to the database knows and may do: all tables, and no writing for who reads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import text

from db.connect import open_database, reading, transaction
from db.errors import DatabaseError
from db.migrations import upgrade

ROOT = Path(__file__).resolve().parents[2]


def test_opening_the_database_is_enough_to_know_every_table(tmp_path: Path) -> None:
    code = f"""
from db.connect import open_database, transaction
from db.migrations import upgrade
upgrade("sqlite:///{tmp_path}/x.db")
with transaction(open_database("sqlite:///{tmp_path}/x.db")) as session:
    from db.tables import Event
    session.add(Event(kind="audit", what="x"))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_one_line_to_sqlite_serves_readers_who_cannot_write_and_writers_whose_every_commit_is_synced(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path}/calipers.db"
    upgrade(url)
    engine = open_database(url)
    setting = text("UPDATE studies SET seed = 1")
    for _ in range(2):  # the pool gives out the same line again
        with pytest.raises(DatabaseError, match="readonly"), reading(engine) as session:
            session.execute(setting)
        with transaction(engine) as session:
            session.execute(setting)
            assert session.scalar(text("PRAGMA synchronous")) == 2, "FULL"
    engine.dispose()
