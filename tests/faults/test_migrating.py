"""A newer schema arrives while an older calipers works on the same database; SQLite and Postgres."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from annotation.labelling import save
from annotation.people.principals import local_admin
from annotation.work.claiming import take
from annotation.work.page import assignment_page
from app.progress import study_progress
from db import connect, migrations
from db.connect import reading, transaction
from db.errors import DatabaseError
from db.migrations import current_version, standing, upgrade
from db.tables import Label, Study
from tests.machines.later import LATER, later_scripts
from tests.small_study import a_person, answer, make_study

BRING_UP = "from pathlib import Path; from db import migrations; migrations.SCRIPTS = Path({scripts!r}); migrations.upgrade({url!r})"


def test_processes_that_start_at_once_migrate_one_after_the_other(
    engine: Engine, database_url: str, tmp_path: Path
) -> None:
    program = BRING_UP.format(scripts=str(later_scripts(tmp_path)), url=database_url)
    pipe = subprocess.PIPE
    starting = [subprocess.Popen([sys.executable, "-c", program], stderr=pipe, text=True) for _ in range(3)]
    assert [one.communicate(timeout=120)[1] for one in starting] == ["", "", ""]
    with engine.connect() as connection:
        assert current_version(connection) == LATER
        assert standing(connection) == "newer", "for this calipers"
    assert "moods" in sa.inspect(engine).get_table_names()


@dataclass
class OldProcess:
    """Threads of an older calipers on this engine: Ada saves the same answer anew, an admin looks at Progress."""

    engine: Engine
    study_id: int
    acked: list[str] = field(default_factory=list)
    failures: list[BaseException] = field(default_factory=list)

    def __post_init__(self) -> None:
        with transaction(self.engine) as session:
            self.ada = a_person(session, self.study_id)
            self.aid = take(session, self.ada).aid

    def save(self) -> None:
        with transaction(self.engine) as session:
            shown = assignment_page(session, self.ada, self.aid)
            revision = max((one["rev"] for one in shown["answers"].values()), default=0)
            fresh = {"client_uuid": uuid.uuid4().hex, "seq": revision + 1, "base_rev": revision}
            saved = save(session, self.ada, [answer(shown, "clear", "left", **fresh)])
        self.acked += [ack["client_uuid"] for ack in saved.acks]

    def read(self) -> None:
        with reading(self.engine) as session:
            study_progress(session, local_admin(session.get_one(Study, self.study_id)))

    @contextmanager
    def at_work(self) -> Iterator[None]:
        over = threading.Event()

        def until_over(step: Callable[[], None]) -> None:
            try:
                while not over.is_set():
                    step()
            except BaseException as error:
                self.failures.append(error)

        threads = [threading.Thread(target=until_over, args=(step,)) for step in (self.save, self.read)]
        for thread in threads:
            thread.start()
        try:
            self.further(5)
            yield
            self.further(5)
        finally:
            over.set()
            for thread in threads:
                thread.join()

    def further(self, labels: int) -> None:
        """Until so many more are acknowledged."""
        goal, deadline = len(self.acked) + labels, time.monotonic() + 60
        while len(self.acked) < goal and not self.failures:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def check(self) -> None:
        assert self.failures == []
        with reading(self.engine) as session:
            assert session.scalars(sa.select(Label.client_uuid).order_by(Label.id)).all() == self.acked


@pytest.fixture
def old(engine: Engine, tmp_path: Path) -> OldProcess:
    return OldProcess(engine, make_study(engine, tmp_path / "reports"))


def test_saves_and_reads_go_on_while_a_migration_adds_to_their_tables(
    old: OldProcess, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with old.at_work():
        monkeypatch.setattr(migrations, "SCRIPTS", later_scripts(tmp_path))
        upgrade(database_url)
    old.check()
    assert "mood" in {one["name"] for one in sa.inspect(old.engine).get_columns("labels")}


def test_a_migration_gives_way_to_those_who_wait_behind_it(
    old: OldProcess, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An export reads for longer than people should wait: on Postgres it holds the table that is to be changed."""
    monkeypatch.setattr(migrations, "SCRIPTS", later_scripts(tmp_path))
    migrating = threading.Thread(target=upgrade, args=(database_url,))
    with old.at_work():
        with reading(old.engine) as session:
            session.execute(sa.select(Label.id)).all()
            migrating.start()
            old.further(12)
        migrating.join()
    old.check()
    with old.engine.connect() as connection:
        assert current_version(connection) == LATER


def test_a_table_that_is_never_free_ends_in_one_sentence_and_the_schema_as_it_was(
    engine: Engine, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "SCRIPTS", later_scripts(tmp_path))
    for name, value in {"GIVE_WAY_MS": 100, "TRIES": 2}.items():
        monkeypatch.setattr(migrations, name, value)
    monkeypatch.setattr(connect, "BUSY_S", 1)
    with transaction(engine) as session, pytest.raises(DatabaseError) as refused:
        session.execute(sa.select(Label.id)).all()  # on SQLite only one writes, on Postgres this holds the table
        upgrade(database_url)
    assert "\n" not in str(refused.value)
    assert re.search("holds its tables|locked", str(refused.value))
    with engine.connect() as connection:
        assert current_version(connection) != LATER
    upgrade(database_url)
