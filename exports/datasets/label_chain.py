"""Rows of labels chained by hash: each holds the sha256 of the one before it in its assignment, and its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
OWN, PREVIOUS = "sha256", "previous_sha256"


def canonical_sha256(value: Any) -> str:
    """Of the canonical JSON: keys sorted, nothing escaped that need not be, no blanks; UTF-8, as hex."""
    return hashlib.sha256(CANONICAL(value).encode()).hexdigest()


def chained(rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The rows with `previous_sha256` ("" for the first of its assignment) and `sha256` of all but itself."""
    last: dict[Any, str] = {}
    for row in rows:
        linked = {**row, PREVIOUS: last.get(row["assignment"], "")}
        last[row["assignment"]] = linked[OWN] = canonical_sha256(linked)
        yield linked


def broken(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The places where the chain does not hold, in words; nothing for rows as `chained` gave them.

    It tells a changed, inserted, moved or removed row. What it cannot tell: that an assignment's last rows, or all of
    them, are gone, or that everything was hashed anew; only a hash that was published says that.
    """
    last: dict[Any, str] = {}
    for number, row in enumerate(rows, start=1):
        where = f"row {number} ({row.get('assignment')}, {row.get('criterion')}, revision {row.get('revision')})"
        if canonical_sha256({name: value for name, value in row.items() if name != OWN}) != row.get(OWN):
            yield f"{where}: was changed, its sha256 is another"
        if row.get(PREVIOUS) != last.get(row.get("assignment"), ""):
            yield f"{where}: does not follow the row before it in its assignment"
        last[row.get("assignment")] = str(row.get(OWN))
