"""A study that many tests begin with is made once and copied; how one is made is what other tests are about."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, is_dataclass
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

import db.types
from tests.postgres_rows import fill, rows_of

MOST = 24  # copies kept
FILES = 100  # of reports; what holds more is made anew
FILLED = "SELECT EXISTS (SELECT 1 FROM studies) OR EXISTS (SELECT 1 FROM raters)"
NEW = "test_"  # how a database of tests/conftest.py begins: nobody else is connected to it


class Own(Exception):
    """What cannot be told by its value, or is not ours to copy."""


@dataclass(frozen=True)
class Kept:
    made: int
    files: Mapping[Path, bytes]
    copy: Callable[[Engine], None]  # the engine's database is the kept one afterwards


_kept: OrderedDict[tuple[object, ...], Kept] = OrderedDict()


def prepared(make: Callable[..., int]) -> Callable[..., int]:
    """`make(engine, ...)` fills an empty database and gives the study's id; asked for the same again, it is copied.

    What is asked for is told by its arguments and the files in any folder among them.
    """

    @wraps(make)
    def copied(engine: Engine, *given: Any, **more: Any) -> int:
        try:
            key = (make.__module__, make.__name__, _place(engine), _value(given), _value(more))
        except Own:
            return make(engine, *given, **more)
        if key not in _kept:
            return _keep(key, engine, make(engine, *given, **more), _folder(given))
        kept = _kept[key]
        _kept.move_to_end(key)
        kept.copy(engine)
        for path, content in kept.files.items():
            there = (_folder(given) or Path()) / path
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(content)
        return kept.made

    return copied


def _keep(key: tuple[object, ...], engine: Engine, made: int, folder: Path | None) -> int:
    with suppress(Own):
        _kept[key] = Kept(made, _files(folder), _copier(engine))
    if len(_kept) > MOST:
        _kept.popitem(last=False)
    return made


def _place(engine: Engine) -> str:
    """The server of an empty database of ours; Own: of any other."""
    if db.types.datetime is not datetime:
        raise Own  # another clock
    if engine.dialect.name == "postgresql" and not str(engine.url.database).startswith(NEW):
        raise Own
    with engine.connect() as connection:
        if connection.exec_driver_sql(FILLED).scalar():
            raise Own
    return "sqlite" if engine.dialect.name == "sqlite" else str(engine.url.set(database=""))


def _value(given: object) -> object:
    if isinstance(given, str | int | float | None):
        return given
    if isinstance(given, Path):
        return tuple(_files(given).items())
    if is_dataclass(given):
        return repr(given)
    if isinstance(given, Mapping):
        return tuple((name, _value(value)) for name, value in given.items())
    if isinstance(given, tuple | list):
        return tuple(map(_value, given))
    raise Own


def _folder(given: tuple[Any, ...]) -> Path | None:
    return next((one for one in given if isinstance(one, Path)), None)


def _files(folder: Path | None) -> dict[Path, bytes]:
    if folder is None:
        return {}
    found = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith("calipers.db")]
    if len(found) > FILES:
        raise Own
    return {path.relative_to(folder): path.read_bytes() for path in found}


def _copier(engine: Engine) -> Callable[[Engine], None]:
    """What makes an engine's database the one that this engine's is now."""
    if engine.dialect.name == "postgresql":
        rows = rows_of(engine)
        return lambda new: fill(new, rows)
    kept = sqlite3.connect(":memory:", check_same_thread=False)
    with closing(sqlite3.connect(str(engine.url.database))) as made:
        made.backup(kept)

    def copy(engine: Engine) -> None:
        with closing(sqlite3.connect(str(engine.url.database))) as new:
            kept.backup(new)

    return copy
