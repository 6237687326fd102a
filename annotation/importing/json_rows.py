"""JSON and JSON Lines, read without losing an id: numbers keep their spelling (2009.12610 stays 2009.12610)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.importing.records import Row, decode, read_bytes, shortened, storable_rows

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
            problems.append(f"{where}: holds {KINDS[type(value)]}, not an object with named fields; correct the line")
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
                    f"{shown}:{number}: one object over several lines; write one object a line, or an array of objects"
                ) from None
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
        remedy = "the file may be cut off" if last else "correct or remove the line"
        where = f"{shown}:{line + error.lineno - 1}"
        raise ImportingError(
            f"{where}: not JSON ({error.msg.removesuffix(' at')} at column {error.colno}); {remedy}"
        ) from None
    except _NameTwice as error:
        raise ImportingError(f"{shown}:{line}: name {shortened(str(error))} twice in one object; remove one") from None
    except RecursionError:
        raise ImportingError(f"{shown}:{line}: nested too deeply to be read; is this the right file?") from None


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
