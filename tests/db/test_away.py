"""A database that is away for a moment costs a wait; one that stays away is said, and nothing else is tried again."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, text

from db import connect
from db.connect import open_database, patient, reading, transaction
from db.errors import DatabaseAway, DatabaseError, DiskFull

pytestmark = pytest.mark.every_case


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "FIRST_S", 0.001)
    monkeypatch.setattr(connect, "LAST_S", 0.001)
    monkeypatch.setattr(connect, "AWAY_S", 0.2)


@pytest.mark.parametrize(
    ("errors", "tries", "ends"),
    [
        ([DatabaseAway("x")] * 3, 4, None),
        ([DatabaseAway("x")] * 10_000, None, DatabaseAway),
        ([DatabaseError("locked")], 1, DatabaseError),
        ([DiskFull("full")], 1, DiskFull),
        ([ValueError("a bug")], 1, ValueError),
    ],
)
def test_only_a_database_that_is_away_is_waited_for(
    errors: list[Exception], tries: int | None, ends: type[Exception] | None
) -> None:
    left, done = iter(errors), []

    @patient
    def act(value: int) -> int:
        done.append(value)
        if (error := next(left, None)) is not None:
            raise error
        return value

    if ends is None:
        assert act(7) == 7
    else:
        with pytest.raises(ends):
            act(7)
    assert tries is None or len(done) == tries


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_a_connection_that_postgres_ends_and_a_server_that_is_not_there_are_away(engine: Engine) -> None:
    with pytest.raises(DatabaseAway), transaction(engine) as session:
        session.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
        session.execute(text("SELECT 1"))
    with pytest.raises(DatabaseAway), reading(open_database("postgresql://x@127.0.0.1:1/y")) as session:
        session.execute(text("SELECT 1"))
    with pytest.raises(DatabaseError) as refused, transaction(engine) as session:
        session.execute(text("SET LOCAL statement_timeout = 1; SELECT pg_sleep(1)"))
    assert not isinstance(refused.value, DatabaseAway), "a statement that failed may fail again"
