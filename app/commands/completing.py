"""What a shell offers after Tab: names of studies and protocols, and the words an option takes. Loads no library."""

import os
from collections.abc import Callable
from pathlib import Path


def studies(incomplete: str) -> list[str]:
    """Studies of the database, where it is a SQLite file."""
    from db.study_names import study_names

    names = study_names(os.environ.get("CALIPERS_DATABASE_URL") or "sqlite:///calipers.db")
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
