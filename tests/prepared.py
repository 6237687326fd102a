"""A study that many tests begin with is made once and copied; how one is made is what other tests are about."""

from __future__ import annotations

import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, is_dataclass
from datetime import datetime
from functools import cache, wraps
from itertools import count
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

import db.types
from db.connect import reading
from db.people_tables import Rater
from db.tables import Study

MOST = 24  # copies kept; on Postgres each takes eight megabytes
FILES = 100  # of reports; what holds more is made anew
NEW = "test_"  # how a database of tests/conftest.py begins: nobody else is connected to it


class Own(Exception):
    """What cannot be told by its value, or is not ours to copy."""


@dataclass(frozen=True)
class Kept:
    made: int
    files: Mapping[Path, bytes]
    copy: Callable[[Engine], bool]  # whether the engine's database is now the kept one
    forget: Callable[[], None]


_kept: OrderedDict[tuple[object, ...], Kept] = OrderedDict()
_numbers = count()


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
        if not kept.copy(engine):
            return make(engine, *given, **more)
        for path, content in kept.files.items():
            there = (_folder(given) or Path()) / path
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(content)
        return kept.made

    return copied


def _keep(key: tuple[object, ...], engine: Engine, made: int, folder: Path | None) -> int:
    take = _keep_sqlite if engine.dialect.name == "sqlite" else _keep_postgres
    try:
        copy, forget = take(engine)
        _kept[key] = Kept(made, _files(folder), copy, forget)
    except (Own, OperationalError):
        return made  # somebody else is connected to it
    while len(_kept) > MOST:
        _kept.popitem(last=False)[1].forget()
    return made


def _place(engine: Engine) -> str:
    """The server of an empty database of ours; Own: of any other."""
    if db.types.datetime is not datetime:
        raise Own  # another clock
    if engine.dialect.name == "postgresql" and not str(engine.url.database).startswith(NEW):
        raise Own
    with reading(engine) as session:
        if session.scalar(sa.select(Study.id).limit(1)) or session.scalar(sa.select(Rater.id).limit(1)):
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


def _keep_sqlite(engine: Engine) -> tuple[Callable[[Engine], bool], Callable[[], None]]:
    kept = sqlite3.connect(":memory:", check_same_thread=False)
    with closing(sqlite3.connect(str(engine.url.database))) as made:
        made.backup(kept)

    def copy(engine: Engine) -> bool:
        with closing(sqlite3.connect(str(engine.url.database))) as new:
            kept.backup(new)
        return True

    return copy, kept.close


def _keep_postgres(engine: Engine) -> tuple[Callable[[Engine], bool], Callable[[], None]]:
    admin, name = _admin(engine.url.set(database="postgres")), f"kept_{next(_numbers)}_{engine.url.database}"
    _leave(engine, admin)
    _run(admin, f"CREATE DATABASE {name} TEMPLATE {engine.url.database} STRATEGY FILE_COPY")

    def copy(engine: Engine) -> bool:
        _leave(engine, admin)
        try:
            _run(admin, f"DROP DATABASE {engine.url.database}")
        except OperationalError:
            return False  # somebody else is connected to it
        _run(admin, f"CREATE DATABASE {engine.url.database} TEMPLATE {name} STRATEGY FILE_COPY")
        return True

    return copy, lambda: _run(admin, f"DROP DATABASE {name}")


def _leave(engine: Engine, admin: Engine) -> None:
    """Close every connection, and see the server notice: a statement that finds one there sleeps a tenth of a second."""
    engine.dispose()
    there = sa.text("SELECT count(*) FROM pg_stat_activity WHERE datname = :name")
    ends = time.monotonic() + 1
    with admin.connect() as connection:
        while connection.scalar(there, {"name": engine.url.database}) and time.monotonic() < ends:
            time.sleep(0.002)


@cache
def _admin(url: sa.URL) -> Engine:
    return sa.create_engine(url, isolation_level="AUTOCOMMIT")


def _run(admin: Engine, statement: str) -> None:
    with admin.connect() as connection:
        connection.execute(sa.text(statement))


def forget_all() -> None:
    """Before the server ends: nothing is left on one that outlives the run."""
    while _kept:
        _kept.popitem()[1].forget()
