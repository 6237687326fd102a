"""CSV and Parquet read all at once by Arrow, every cell as text; None where anything is odd, for a slower reader."""

import codecs
import csv
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

Wanted = Callable[[Sequence[str]], list[str]]
BLOCK = 8_000_000  # bytes in memory in any form but the table's own; a line that is longer is odd
ROWS, UNPACKED_MAX = 4_000, 2 << 30  # of a Parquet file at a time, and bytes of all its cells
QUOTE = ord('"')


def read_regular_csv(path: Path, wanted: Wanted, coded: Collection[str], separator: str = ",") -> pd.DataFrame | None:
    """Every cell as text, those of the columns `coded` as categories; None where anything is odd.

    `wanted`: which of the columns to keep. Odd is what is not UTF-8, a zero byte, a quote
    inside a cell that does not start with one, rows of unequal length, a single column, one name for two, and a
    line break in a name.
    """
    import pyarrow as pa
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

    if not _is_regular(path, separator):
        return None
    names = _header(path, separator)
    if len(names) < 2 or len({*names}) < len(names) or "" in names[1:] or any({*"\r\n"} & {*name} for name in names):
        return None
    kept = wanted(names)
    code = pa.dictionary(pa.int32(), pa.string())
    types = {name: code if name in coded else pa.large_string() for name in kept}
    convert = ConvertOptions(column_types=types, include_columns=kept, null_values=[])
    parse = ParseOptions(delimiter=separator, newlines_in_values=True)
    try:
        return _of_arrow(read_csv(path, ReadOptions(block_size=BLOCK), parse, convert))
    except pa.ArrowInvalid:
        return None


def _header(path: Path, separator: str) -> list[str]:
    """The first row that is not blank; none where it is longer than the csv module takes."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            return next((row for row in csv.reader(file, delimiter=separator) if row), [])
        except csv.Error:
            return []


def read_regular_parquet(
    path: Path, wanted: Wanted, coded: Collection[str], text: Callable[[Any], str]
) -> pd.DataFrame | None:
    """As `read_regular_csv`; `text` writes what is none. Odd are nested values, zero bytes, and one name for two."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
        names, types = file.schema_arrow.names, file.schema_arrow.types
        if len({*names}) < len(names) or "\0" in "".join(names) or any(map(pa.types.is_nested, types)):
            return None
        kept, size = wanted(names), 0
        chunks: dict[str, list[Any]] = {name: [] for name in kept}
        for batch in file.iter_batches(batch_size=ROWS, columns=kept):  # bit by bit: some KB may unpack to any size
            batch.validate(full=True)
            for name in kept:
                cells = _texts(batch.column(name), text)
                if pc.any(pc.match_substring(cells, "\0")).as_py():
                    return None
                chunks[name].append(cells.dictionary_encode() if name in coded else cells)
                size += chunks[name][-1].nbytes
            if size > UNPACKED_MAX:
                return None
        code = pa.dictionary(pa.int32(), pa.large_string())
        columns = [pa.chunked_array(chunks.pop(name), code if name in coded else pa.large_string()) for name in kept]
        return _of_arrow(pa.table(columns, kept))
    except (pa.ArrowException, OSError):
        return None


def _texts(cells: Any, text: Callable[[Any], str]) -> Any:
    """One chunk of a column with every cell as text, empty where nothing was given."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
        return pc.fill_null(cells.cast(pa.large_string()), "")
    code = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
    distinct = [*map(text, code.dictionary.to_pylist()), ""]
    return pa.array(distinct, pa.large_string()).take(pc.fill_null(code.indices.cast(pa.int64()), len(distinct) - 1))


def _of_arrow(table: Any) -> pd.DataFrame:
    """The table of texts and of coded texts as pandas knows them, column after column."""
    import pyarrow as pa

    columns: dict[str, pd.Series[Any]] = {}
    for name in table.column_names:
        cells = table[name].unify_dictionaries().combine_chunks()  # whole columns are sorted ten times as fast
        table = table.drop_columns(name)
        columns[name] = cells.to_pandas()
        if columns[name].dtype == "category":
            texts = pd.CategoricalDtype(columns[name].cat.categories.astype("str"))
            columns[name] = pd.Series(pd.Categorical.from_codes(columns[name].cat.codes, dtype=texts))
    pa.default_memory_pool().release_unused()
    return pd.DataFrame(columns, copy=False)


def _is_regular(path: Path, separator: str) -> bool:
    """Return whether the bytes are text, and every quote opens a cell, closes it, or is doubled inside one."""
    around = np.frombuffer(f'"\r\n{separator}'.encode(), np.uint8)
    decoder, quotes, last = codecs.getincrementaldecoder("utf-8")(), 0, b"\n"
    with path.open("rb") as file:
        while last:
            block = file.read(BLOCK)
            try:
                decoder.decode(block, final=not block)
            except UnicodeDecodeError:
                return False
            marks = np.frombuffer(last + (block or b"\n"), np.uint8)
            at = 1 + np.flatnonzero(marks[1:-1] == QUOTE)
            opens = (np.arange(len(at)) + quotes) % 2 == 0
            beside = np.where(opens, marks[at - 1], marks[at + 1])
            if 0 in block or not np.isin(beside, around).all():
                return False
            quotes += len(at)
            last = bytes(marks[-2:]) if block else b""
    return quotes % 2 == 0
