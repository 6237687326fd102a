"""Parquet files, read into the same rows as JSON and CSV."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.importing.records import Row, storable_rows


def read_parquet(path: Path, shown: str, problems: list[str]) -> tuple[list[str], list[Row]]:
    """Columns and rows; `file:row` counts from 1. Whole numbers become text; fractions stay, for they lost digits."""
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0][:100]
        raise ImportingError(f"{shown}: not Parquet ({reason}); the file may be cut off") from None
    rows = [
        Row(f"{shown}:{number}", {name: _plain(value) for name, value in values.items()})
        for number, values in enumerate(table.to_pylist(), start=1)
    ]
    return list(table.column_names), storable_rows(rows, problems)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | float | bytes):
        return value
    if isinstance(value, list | dict):
        return json.loads(json.dumps(value, default=str))
    return str(value)
