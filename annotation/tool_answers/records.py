"""The records of a file of one answer a record: JSON, JSON Lines, CSV or Parquet, a list under a name or by itself."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import Row, collecting
from annotation.files.rows import DECODER, read_columns, read_csv, read_json, read_json_rows
from annotation.tool_answers.entries import Found, Reading

SUFFIXES = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".pq")


def records(path: Path, reading: Reading, found: Found, below: tuple[str, ...] = ("data",)) -> Iterator[Row]:
    """Every record below `path`, with its place. `below`: names under which one object may hold the list of records.

    A file that cannot be read joins the problems, and the next one is read.
    """
    for file, shown in reading.files(path, "*"):
        if file.suffix.lower() in SUFFIXES or path.is_file():
            with collecting(found.problems):
                yield from _of_file(file, shown, reading.encoding, found.problems, below)


def _of_file(file: Path, shown: str, encoding: str, problems: list[str], below: tuple[str, ...]) -> Iterator[Row]:
    suffix = file.suffix.lower()
    if suffix == ".tsv":
        yield from read_csv(file, shown, problems, encoding, "\t")[1]
    elif suffix in (".csv", ".parquet", ".pq"):
        yield from read_columns(file, problems, encoding)[1]
    elif suffix == ".json" and isinstance(held := _whole(file, shown, encoding), dict):
        yield from _listed(held, shown, below)
    else:
        yield from read_json_rows(file, shown, problems, encoding)


def _whole(file: Path, shown: str, encoding: str) -> Any:
    """The value of the file, None where it is JSON Lines under another name."""
    with suppress(ImportingError):
        return read_json(file, shown, encoding)
    return None


def _listed(held: dict[str, Any], shown: str, below: tuple[str, ...]) -> Iterator[Row]:
    columns, data = held.get("columns"), held.get("data")
    if isinstance(columns, list) and isinstance(data, list):  # a table split by pandas
        listed: Any = [dict(zip(map(str, columns), row, strict=False)) for row in data if isinstance(row, list)]
    elif held and all(isinstance(cells, Mapping) for cells in held.values()):  # columns of cells by their index
        index = list(dict.fromkeys(key for cells in held.values() for key in cells))
        listed = [{name: cells.get(key) for name, cells in held.items()} for key in index]
    else:
        listed = next((held[name] for name in below if isinstance(held.get(name), list)), [held])
    for number, one in enumerate(listed, start=1):
        if not isinstance(one, dict):
            raise ImportingError(f"{shown}: record {number} is no object with named fields; export the file again")
        yield Row(f"{shown}: record {number}", one)


def value_of(cell: Any) -> Any:
    """A cell, read as JSON where it holds a list or an object as text, as CSV and some exports keep them."""
    if isinstance(cell, str) and cell.lstrip()[:1] in ("{", "["):
        with suppress(json.JSONDecodeError, RecursionError):
            return DECODER.decode(cell)
    return cell


def one_of(record: Mapping[str, Any], *names: str) -> Any:
    """The value under the first of these names that holds one; None where none does."""
    return next((record[name] for name in names if record.get(name) not in (None, "")), None)
