"""An empty, migrated SQLite database, copied: to migrate one takes as long as many a test."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from db.migrations import upgrade


@cache
def _template() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="calipers-migrated-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    upgrade(f"sqlite:///{folder}/calipers.db")
    return folder / "calipers.db"


def new_sqlite(path: Path) -> str:
    """Put one at this path; its URL."""
    shutil.copy(_template(), path)
    return f"sqlite:///{path}"
