"""A database of its own for commands that run in this process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.settings import database, settings


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, migrated_sqlite: Path) -> Iterator[Path]:
    """An empty folder that commands start in, and an empty database; its schema is the newest, so nothing upgrades it."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(migrated_sqlite, tmp_path / "calipers.db")
    monkeypatch.setenv("CALIPERS_DATABASE_URL", f"sqlite:///{tmp_path}/calipers.db")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("db.migrations.upgrade", lambda url: None)
    settings.cache_clear()
    database.cache_clear()
    yield tmp_path
    database().dispose()
    settings.cache_clear()
    database.cache_clear()
