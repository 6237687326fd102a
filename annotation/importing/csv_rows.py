"""CSV files beside reports, read as text: ids such as 007, 1e5, NA and null stay what they are."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from annotation.errors import ImportingError
from annotation.importing.records import Row, decode_as_read, nfc, read_bytes

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
                problems.append(
                    f"{where}: not as many values as columns ({len(values)}, not {len(columns)}); "
                    "quote values with commas"
                )
            else:
                rows.append(Row(where, dict(zip(columns, values, strict=True))))
    except csv.Error as error:
        raise ImportingError(f"{shown}:{start}: not CSV ({error}); the file may be cut off") from None
    return columns, rows


def read_rows(
    path: Path, shown: str, *, key: str, required: tuple[str, ...] = (), encoding: str = "utf-8"
) -> list[dict[str, str]]:
    """The rows of `path` as text, each `key` unique after NFC. Raises ImportingError by file and line."""
    problems: list[str] = []
    columns, rows = read_csv(path, shown, problems, encoding)
    missing = [name for name in (key, *required) if name not in columns]
    if missing:
        found = ", ".join(columns) or "nothing"
        raise ImportingError(f"{shown}:1: no column {missing[0]!r} (found: {found}); add it")
    first: dict[str, str] = {}
    for row in rows:
        name = nfc(row.values[key])
        if not name:
            problems.append(f"{row.where}: empty {key}; fill it in or remove the line")
        elif name in first:
            line = first[name].rpartition(":")[2]
            problems.append(f"{row.where}: {key} {name!r} appears twice (first at line {line}); remove one")
        first.setdefault(name, row.where)
    if problems:
        raise ImportingError(problems)
    return [{**row.values, key: nfc(row.values[key])} for row in rows]


def _columns(names: list[str], where: str) -> list[str]:
    names = [name.strip() for name in names]
    for sign, word in OTHER_SEPARATORS.items():
        if len(names) == 1 and sign in names[0]:
            raise ImportingError(f"{where}: values are separated by {word}, not by commas; save the file with commas")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ImportingError(f"{where}: column {twice[0]!r} appears twice; rename or remove one")
    return names
