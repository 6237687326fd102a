"""CSV, JSON, JSON Lines and Parquet files as rows whose ids stay what they are: 007, 1e5, NA, 2009.12610."""

import csv
import io
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import Row, decode, decode_as_read, nfc, read_bytes, shortened, storable_rows
from plain.wording import worded

SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".parquet", ".pq")

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
        raise ImportingError(
            "{shown}: not Parquet ({reason}); the file may be cut off", shown=shown, reason=reason
        ) from None
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
            raise ImportingError(
                "{shown}: holds over {unpacked_max:,} MB unpacked; split it, if you trust it", shown=shown,
                unpacked_max=UNPACKED_MAX >> 20,
            )  # fmt: skip
        yield batch


def _plain(batch: Any) -> Any:
    """The same with every value where it is used, not only its number in a list of values."""
    import pyarrow as pa

    columns = [
        column.dictionary_decode() if pa.types.is_dictionary(column.type) else column for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def plain_value(value: Any) -> Any:
    """A cell as JSON could hold it; a date and any number but a finite fraction as text. Bytes stay as they are."""
    if value is None or isinstance(value, str | bool | bytes) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, list | dict):
        return json.loads(json.dumps(value, default=str), parse_constant=str)
    return str(value)


def read_columns(path: Path, problems: list[str], encoding: str) -> tuple[list[str], list[Row]]:
    """Columns and rows of any kind of table that is known, by its suffix. Raises ImportingError."""
    suffix = path.suffix.lower()
    if suffix == ".csv":
        return read_csv(path, path.name, problems, encoding)
    if suffix in (".parquet", ".pq"):
        return read_parquet(path, path.name, problems)
    if suffix in (".jsonl", ".ndjson", ".json"):
        rows = read_json_rows(path, path.name, problems, encoding)
        return list(dict.fromkeys(name for row in rows for name in row.values)), rows
    raise ImportingError(
        "{name}: not a kind of table that is known; give {suffixes}", name=path.name, suffixes=", ".join(SUFFIXES)
    )


FIELD_LIMIT = 16_000_000  # reports exceed the csv module's default of 131,072 characters
OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs"}


def read_csv(
    path: Path, shown: str, problems: list[str], encoding: str = "utf-8", separator: str = ","
) -> tuple[list[str], list[Row]]:
    """Columns and rows as text (RFC 4180: quoted commas and line ends), each row under the line it starts on.

    Rows of another length join `problems`. Raises ImportingError where no table can be made out.
    """
    csv.field_size_limit(FIELD_LIMIT)
    text = decode_as_read(read_bytes(path, shown), shown, encoding)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    columns: list[str] = []
    rows: list[Row] = []
    start = 1
    try:
        for values in reader:
            where, start = f"{shown}:{start}", reader.line_num + 1
            if not values:
                continue
            if not columns:
                columns = _columns(values, where)
            elif len(values) != len(columns):
                problems.append(worded(
                    "{where}: not as many values as columns ({values}, not {columns}); quote values with commas",
                    where=where, values=len(values), columns=len(columns),
                ))  # fmt: skip
            else:
                rows.append(Row(where, dict(zip(columns, values, strict=True))))
    except csv.Error as error:
        raise ImportingError(
            "{shown}:{start}: not CSV ({error}); the file may be cut off",
            shown=shown, start=start, error=worded(str(error)),
        ) from None  # fmt: skip
    return columns, rows


def read_rows(
    path: Path, shown: str, *, key: str, required: tuple[str, ...] = (), encoding: str = "utf-8"
) -> list[dict[str, str]]:
    """The rows of `path` as text, each `key` unique after NFC. Raises ImportingError by file and line."""
    problems: list[str] = []
    columns, rows = read_csv(path, shown, problems, encoding)
    missing = [name for name in (key, *required) if name not in columns]
    if missing:
        found = ", ".join(columns) or worded("nothing")
        raise ImportingError(
            "{shown}:1: no column {missing!r} (found: {found}); add it", shown=shown, missing=missing[0], found=found
        )
    first: dict[str, str] = {}
    for row in rows:
        name = nfc(row.values[key])
        if not name:
            problems.append(worded("{where}: empty {key}; fill it in or remove the line", where=row.where, key=key))
        elif name in first:
            line = first[name].rpartition(":")[2]
            problems.append(worded(
                "{where}: {key} {name!r} appears twice (first at line {line}); remove one", where=row.where, key=key,
                name=name, line=line,
            ))  # fmt: skip
        first.setdefault(name, row.where)
    if problems:
        raise ImportingError(problems)
    return [{**row.values, key: nfc(row.values[key])} for row in rows]


def _columns(names: list[str], where: str) -> list[str]:
    names = [name.strip() for name in names]
    for sign, word in OTHER_SEPARATORS.items():
        if len(names) == 1 and sign in names[0]:
            raise ImportingError(
                "{where}: values are separated by {word}, not by commas; save the file with commas", where=where,
                word=worded(word),
            )  # fmt: skip
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ImportingError(
            "{where}: column {twice!r} appears twice; rename or remove one", where=where, twice=twice[0]
        )
    return names


BETWEEN = re.compile(r"[\s,]*")  # between two entries of an array that is known to be well formed
KINDS = {dict: "an object", list: "a list", bool: "true or false", type(None): "null", str: "one value"}


def read_json(path: Path, shown: str, encoding: str = "utf-8") -> Any:
    """One JSON value. Numbers are read as text. Raises ImportingError with line and column."""
    return _parsed(decode(read_bytes(path, shown), shown, encoding), shown, 1)


def read_json_rows(path: Path, shown: str, problems: list[str], encoding: str = "utf-8") -> list[Row]:
    """One object a line, blank lines allowed; a file that starts with `[` is an array, whatever its suffix.

    A bad line joins `problems` and the next one is read. Raises ImportingError where the file cannot be read at all.
    """
    text = decode(read_bytes(path, shown), shown, encoding)
    rows = []
    for line, value in _entries(text, shown, problems):
        where = f"{shown}:{line}"
        if not isinstance(value, dict):
            problems.append(worded(
                "{where}: holds {kinds}, not an object with named fields; correct the line", where=where,
                kinds=worded(KINDS[type(value)]),
            ))  # fmt: skip
            continue
        rows.append(Row(where, value))
    return storable_rows(rows, problems)


def _entries(text: str, shown: str, problems: list[str]) -> list[tuple[int, Any]]:
    if text.lstrip().startswith("["):
        _parsed(text, shown, 1)
        return _array(text)
    found = []
    # not splitlines: U+2028 and its like may stand inside a value
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    for number, line in lines:
        try:
            found.append((number, _parsed(line, shown, number, last=number == lines[-1][0])))
        except ImportingError as error:
            if number == lines[0][0] and len(lines) > 1 and _is_one_object(text):
                raise ImportingError(
                    "{shown}:{number}: one object over several lines; write one object a line, or an array of objects",
                    shown=shown, number=number,
                ) from None  # fmt: skip
            problems += error.problems
    return found


def _array(text: str) -> list[tuple[int, Any]]:
    """Entries with the line each starts on, of an array that has been parsed once."""
    found, line, counted = [], 1, 0
    end = BETWEEN.match(text, text.index("[") + 1)
    position = end.end() if end else 0
    while text[position] != "]":
        line += text.count("\n", counted, position)
        counted = position
        value, position = DECODER.raw_decode(text, position)
        found.append((line, value))
        end = BETWEEN.match(text, position)
        position = end.end() if end else position
    return found


def _parsed(text: str, shown: str, line: int, last: bool = True) -> Any:
    try:
        return DECODER.decode(text)
    except json.JSONDecodeError as error:
        remedy = worded("the file may be cut off" if last else "correct or remove the line")
        where = f"{shown}:{line + error.lineno - 1}"
        raise ImportingError(
            "{where}: not JSON ({msg} at column {colno}); {remedy}", where=where,
            msg=worded(error.msg.removesuffix(" at")), colno=error.colno, remedy=remedy,
        ) from None  # fmt: skip
    except _NameTwice as error:
        raise ImportingError(
            "{shown}:{line}: name {error} twice in one object; remove one", shown=shown, line=line,
            error=shortened(str(error)),
        ) from None  # fmt: skip
    except RecursionError:
        raise ImportingError(
            "{shown}:{line}: nested too deeply to be read; is this the right file?", shown=shown, line=line
        ) from None


def _is_one_object(text: str) -> bool:
    try:
        return isinstance(DECODER.decode(text), dict)
    except (json.JSONDecodeError, _NameTwice, RecursionError):
        return False


class _NameTwice(Exception):
    """Of two values under one name, JSON keeps the last and says nothing."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held = dict(pairs)
    if len(held) != len(pairs):
        names = [name for name, _ in pairs]
        raise _NameTwice(next(name for name in names if names.count(name) > 1))
    return held


DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=_object)
