"""Parquet files, read into the same rows as JSON and CSV."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.importing.records import Row, storable_rows

UNPACKED_MAX = 512 << 20  # bytes of all cells


def read_parquet(path: Path, shown: str, problems: list[str]) -> tuple[list[str], list[Row]]:
    """Columns and rows; `file:row` counts from 1. Whole numbers become text; fractions stay, for they lost digits."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
        batches = list(_batches(file, shown))
        table = pa.Table.from_batches(batches) if batches else file.schema_arrow.empty_table()
        held = table.to_pylist()
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0][:100]
        raise ImportingError(f"{shown}: not Parquet ({reason}); the file may be cut off") from None
    rows = [
        Row(f"{shown}:{number}", {name: plain_value(value) for name, value in values.items()})
        for number, values in enumerate(held, start=1)
    ]
    return list(table.column_names), storable_rows(rows, problems)


def _batches(file: Any, shown: str) -> Iterator[Any]:
    """The file bit by bit: one value may stand for millions of rows in it, and some KB become more than any memory."""
    size = 0
    for batch in file.iter_batches(batch_size=1_000):
        batch = _plain(batch)
        size += batch.nbytes
        if size > UNPACKED_MAX:
            raise ImportingError(f"{shown}: holds over {UNPACKED_MAX >> 20:,} MB unpacked; split it, if you trust it")
        yield batch


def _plain(batch: Any) -> Any:
    """The same with every value where it is used, not only its number in a list of values."""
    import pyarrow as pa

    columns = [one.dictionary_decode() if pa.types.is_dictionary(one.type) else one for one in batch.columns]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def plain_value(value: Any) -> Any:
    """A cell as JSON could hold it; a date and any number but a finite fraction as text. Bytes stay as they are."""
    if value is None or isinstance(value, str | bool | bytes) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, list | dict):
        return json.loads(json.dumps(value, default=str), parse_constant=str)
    return str(value)
