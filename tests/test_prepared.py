"""A study that is copied is the one that would have been made; what is asked for otherwise is made anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from db.connect import open_database, reading, transaction
from db.types import Record
from tests.conftest import new_postgres
from tests.migrated import new_sqlite
from tests.small_study import a_person, make_study


@pytest.fixture
def other(engine: Engine, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """A second empty database of the same kind."""
    if engine.dialect.name == "postgresql":
        with new_postgres(request.getfixturevalue("postgres")) as url:
            second = open_database(url)
            yield second
            second.dispose()
        return
    second = open_database(new_sqlite(tmp_path / "other.db"))
    yield second
    second.dispose()


def rows(engine: Engine) -> dict[str, list[Any]]:
    with reading(engine) as session:
        tables = Record.metadata.sorted_tables
        return {one.name: sorted(map(repr, session.execute(sa.select(one)).all())) for one in tables}


def files(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_copy_has_every_row_and_file_and_grows_like_any_other(engine: Engine, other: Engine, tmp_path: Path) -> None:
    first, second = make_study(engine, tmp_path / "a", seed=99), make_study(other, tmp_path / "b", seed=99)
    assert first == second
    assert rows(engine) == rows(other)  # the very rows, down to what was drawn at random
    assert files(tmp_path / "a") == files(tmp_path / "b") != {}
    with transaction(other) as session:
        a_person(session, second)
    assert rows(engine) != rows(other)


def test_other_words_other_files_and_a_database_in_use_are_made_anew(
    engine: Engine, other: Engine, tmp_path: Path
) -> None:
    make_study(engine, tmp_path / "a", seed=99)
    make_study(other, tmp_path / "b", seed=98)
    assert rows(engine)["assignments"] != rows(other)["assignments"]
    (tmp_path / "b" / "alpha" / "tides.md").write_text("# Tides\n\nOther words.\n", encoding="utf-8")
    again = make_study(other, tmp_path / "b", seed=99, name="again")
    assert again == 2
    assert any("Other words." in row for row in rows(other)["reports"])
