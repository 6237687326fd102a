"""The database a command works on, brought up to date first."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Engine

from annotation.errors import AnnotationError
from app.settings import database, settings
from db.migrations import upgrade


def opened(*, begins: bool = False) -> Engine:
    """The engine of CALIPERS_DATABASE_URL, with the newest schema.

    `begins`: makes the file where there is none; other commands have nothing to read there, and leave no empty one.
    """
    if not begins:
        _refuse_no_file(database())
    upgrade(settings().database_url)
    return database()


def _refuse_no_file(engine: Engine) -> None:
    """Only where a file could be: of a folder that is not there SQLite itself has more to say."""
    file = Path(engine.url.database or "")
    if engine.dialect.name == "sqlite" and file.resolve().parent.is_dir() and not file.exists():
        raise AnnotationError(
            "no_database",
            f"{file.resolve()}: there is no database yet; begin one with: calipers demo, or calipers init NAME "
            "--protocol quick_start; or name yours in CALIPERS_DATABASE_URL",
        )
