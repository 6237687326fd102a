"""A backup that was spoiled, or sealed anew by somebody who knows how, is refused in a sentence, or is sound."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.settings import database
from db.backup import OURS, seal, writable, write_backup
from db.connect import open_database
from tests.fuzz.faults import Faults
from tests.fuzz.hostile import VALUES, fuzzing, mutated_file, spoiled
from tests.fuzz.stored import everything, fingerprint, wrong
from tests.fuzz.trees import study_of
from tests.fuzz.typed import calipers, unfit

pytestmark = pytest.mark.slow

CELLS = tuple(
    value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
    for value in VALUES
    if value is None or isinstance(value, str | float) or (isinstance(value, int) and abs(value) < 2**63)
)


@pytest.fixture
def backup(elsewhere: Path) -> Path:
    """Of a small study, beside an empty database."""
    engine = open_database(f"sqlite:///{elsewhere}/calipers.db")
    study_of()(engine, elsewhere / "made")
    write_backup(engine, elsewhere / "monday.calipers", "1.2.3", lambda done, of: None)
    engine.dispose()
    database().dispose()
    return elsewhere / "monday.calipers"


@st.composite
def spoiled_backups(draw: st.DrawFn, raw: bytes, folder: Path) -> bytes:
    """By its bytes, by its manifest, or in a cell and sealed anew as somebody would who knows how."""
    if draw(st.integers(0, 2)) == 0:
        return draw(spoiled(raw))
    path = folder / "spoiled.db"
    path.write_bytes(raw)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as opened:
        (manifest,) = opened.execute(f"SELECT manifest FROM {OURS}").fetchone()
        if draw(st.integers(0, 3)) == 0:
            told = draw(mutated_file("m.json", manifest.encode())).decode("utf-8", "replace")
            opened.execute(f"UPDATE {OURS} SET manifest = ?", (told,))
        else:
            _spoil_cell(draw, opened)
            opened.execute(f"DROP TABLE {OURS}")
            seal_again(path, json.loads(manifest), opened)
    return path.read_bytes()


def _spoil_cell(draw: st.DrawFn, opened: sqlite3.Connection) -> None:
    held = opened.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'").fetchall()
    names = sorted(name for (name,) in held if opened.execute(f"SELECT 1 FROM {name}").fetchone() and name != OURS)
    table = draw(st.sampled_from(names))
    column = draw(st.sampled_from([row[1] for row in opened.execute(f"PRAGMA table_info({table})")]))
    try:
        opened.execute(f'UPDATE {table} SET "{column}" = ? WHERE rowid = 1', (draw(st.sampled_from(CELLS)),))
    except sqlite3.DatabaseError:
        opened.execute(f"DROP TABLE {table}")


def seal_again(path: Path, told: dict[str, str], opened: sqlite3.Connection) -> None:
    """With the sums of its tables as they are now."""
    opened.close()
    engine = writable(path)
    with engine.begin() as connection:
        seal(connection, told["software"], told["revision"], told["made_at"], lambda done, of: None)
    engine.dispose()


def test_a_spoiled_backup_leaves_the_database_empty_or_sound(
    backup: Path, elsewhere: Path, migrated_sqlite: Path
) -> None:
    faults, raw = Faults(), backup.read_bytes()
    (elsewhere / "monday.calipers.sha256").unlink()
    path = elsewhere / "calipers.db"

    def empty() -> None:
        database().dispose()
        for suffix in ("-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        shutil.copy(migrated_sqlite, path)

    empty()
    before = fingerprint(everything(database()))
    assert calipers("restore", backup).code == 0
    assert wrong(database()) == []
    empty()

    @fuzzing(12)
    @given(spoiled_backups(raw, elsewhere))
    def restore(content: bytes) -> None:
        with faults.of(content[:400]):
            backup.write_bytes(content)
            said = calipers("restore", backup)
            faults.note(unfit(said), said)
            if said.code == 0 or "rows as of" in said.out:
                everything(database())  # whatever came in can be read again
                empty()
            elif fingerprint(everything(database())) != before:
                faults.note(["refused, and the database changed"], said)
                empty()

    restore()
    assert faults.said() == ""
