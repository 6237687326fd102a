"""What a shell offers after Tab: names of studies and protocols, and the words an option takes. Loads no library."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

PREFIX = "sqlite:///"


def studies(incomplete: str) -> list[str]:
    """Studies of the database, where it is a SQLite file."""
    names = _study_names(os.environ.get("CALIPERS_DATABASE_URL") or "sqlite:///calipers.db")
    return [name for name in names if name.startswith(incomplete)]


def protocols(incomplete: str) -> list[str]:
    """Shipped protocols, and protocol files in this folder."""
    import annotation

    shipped = sorted(path.stem for path in (Path(annotation.__file__).parent / "protocols").glob("*.toml"))
    return [name for name in [*shipped, *files(".toml")("")] if name.startswith(incomplete)]


def files(*suffixes: str) -> Callable[[str], list[str]]:
    """Files in this folder that end so."""

    def offered(incomplete: str) -> list[str]:
        names = sorted(path.name for path in Path().iterdir() if path.suffix in suffixes)
        return [name for name in names if name.startswith(incomplete)]

    return offered


def studies_or_labels(incomplete: str) -> list[str]:
    """What can be calibrated."""
    return [*studies(incomplete), *files(".csv", ".jsonl", ".parquet")(incomplete)]


def among(*words: str) -> Callable[[str], list[str]]:
    """One of these words."""
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


def _study_names(url: str) -> list[str]:
    """In the order they were made, read without SQLAlchemy: a shell waits while a name is completed.

    Empty for another kind of database, and where there is nothing to read.
    """
    if not url.startswith(PREFIX):
        return []
    try:
        with closing(sqlite3.connect(f"{Path(url.removeprefix(PREFIX)).absolute().as_uri()}?mode=ro", uri=True)) as db:
            return [str(name) for (name,) in db.execute("SELECT name FROM studies ORDER BY id")]
    except sqlite3.Error:
        return []
