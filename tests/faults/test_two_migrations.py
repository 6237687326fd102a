"""An old database in mid-study is migrated by several processes at once, of which one is killed on the way."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine

from annotation.work.claiming import take
from db import migrations
from db.connect import open_database, reading, transaction
from db.tables import Label
from db.types import Record
from tests.faults.conftest import Database
from tests.faults.crowd import a_study, calipers
from tests.plain_study import people_of
from tests.small_study import answer_all

OLDER = sorted(
    script.revision for script in ScriptDirectory(str(Path(migrations.__file__).parent)).walk_revisions()
)[:-1]  # fmt: skip
AT_ONCE = 3


@pytest.fixture
def studied(tmp_path: Path) -> Iterator[Engine]:
    """Work in hand and answers, at the newest schema."""
    source = Database(f"sqlite:///{tmp_path}/newest.db")
    study = a_study(source.engine, 40)
    people = people_of(source.engine, study, 4)
    with transaction(source.engine) as session:
        for person in people:
            work = take(session, person)
            assert work is not None
            answer_all(session, person, work.aid)
    yield source.engine
    source.engine.dispose()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_database_is_migrated_once_whoever_begins_and_whoever_dies(
    kind: str, studied: Engine, request: pytest.FixtureRequest, draw: random.Random, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/old.db" if kind == "sqlite" else request.getfixturevalue("own_postgres").url
    revision = draw.choice(OLDER)
    before = at_revision(url, revision, studied)
    environment = os.environ | {"CALIPERS_DATABASE_URL": url}
    one = [sys.executable, "-m", "app.command_line", "doctor"]
    migrating = [subprocess.Popen(one, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(AT_ONCE)]
    time.sleep(draw.uniform(0.5, 4))
    killed = draw.choice(migrating)
    killed.send_signal(signal.SIGKILL)
    for process in migrating:
        said = process.communicate(timeout=120)[0]
        assert process.returncode == 0 or process is killed, (revision, said)
    with reading(studied) as session:
        answers = list(session.scalars(sa.select(Label.client_uuid)))
    acknowledged = tmp_path / "acknowledged"
    acknowledged.write_text("\n".join(map(str, answers)))
    doctor = calipers(url, "doctor", "--acknowledged", str(acknowledged))
    assert doctor.returncode == 0, (revision, doctor.stdout + doctor.stderr)
    engine = open_database(url)
    with engine.connect() as connection:
        assert migrations.current_version(connection) != revision
        assert {name: rows(connection, table) for name, table in narrowed(before).items()} == before
    engine.dispose()


def at_revision(url: str, revision: str, studied: Engine) -> dict[str, list[Any]]:
    """A database as an older calipers left it, with those rows and columns that it knew; what it holds, by table."""
    engine = open_database(url)
    with engine.begin() as connection:
        command.upgrade(migrations._config(connection), revision)
        inspector = sa.inspect(connection)
        known = {name: {one["name"] for one in inspector.get_columns(name)} for name in inspector.get_table_names()}
    tables = [narrow(table, known[table.name]) for table in Record.metadata.sorted_tables if table.name in known]
    held: dict[str, list[Any]] = {}
    with studied.connect() as source, engine.begin() as connection:
        for table in tables:
            found = rows(source, table)
            if found:
                connection.execute(table.insert(), found)
                held[table.name] = found
    engine.dispose()
    return held


def narrow(table: sa.Table, columns: set[str]) -> sa.Table:
    """The table with these columns alone, and none of its defaults."""
    kept = [sa.Column(one.name, one.type, primary_key=one.primary_key) for one in table.columns if one.name in columns]
    return sa.Table(table.name, sa.MetaData(), *kept)


def narrowed(held: dict[str, list[Any]]) -> dict[str, sa.Table]:
    return {name: narrow(Record.metadata.tables[name], set(found[0])) for name, found in held.items()}


def rows(connection: Connection, table: sa.Table) -> list[Any]:
    found = connection.execute(table.select().order_by(*table.primary_key.columns)).mappings()
    return [dict(row) for row in found]
