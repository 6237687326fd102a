"""Column types and constraint names shared by all tables."""

import math
import secrets
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect, Double, MetaData, orm
from sqlalchemy.types import TypeDecorator

NAMING = {
    "ix": "ix_%(column_0_N_label)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


class UtcDateTime(TypeDecorator[datetime]):
    """An aware UTC time. A naive time is refused, because nobody can say later which zone it meant."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is not None and value.tzinfo is None:
            raise ValueError(f"a time without a zone cannot be stored: {value.isoformat()}")
        return value if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        # SQLite forgets the zone; what process_bind_param wrote was UTC
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Limit(TypeDecorator[float]):
    """The most that something may come to; NULL is no limit. nan is refused, since SQLite stores it as NULL."""

    impl = Double
    cache_ok = True

    def process_bind_param(self, value: float | None, dialect: Dialect) -> float | None:
        if value is not None and not math.isfinite(value):
            raise ValueError(f"{value} is no limit that can be kept")
        return value


def now() -> datetime:
    """The server's clock, as every row is stamped."""
    return datetime.now(UTC)


class Record(orm.DeclarativeBase):
    """One stored row."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {  # noqa: RUF012  (read once, by SQLAlchemy)
        datetime: UtcDateTime(),
        dict[str, Any]: JSON(none_as_null=True),
        list[Any]: JSON(none_as_null=True),
    }


def opaque() -> str:
    """A name that says nothing: 128 random bits, the only identifiers that reach an annotator's browser."""
    return secrets.token_hex(16)


def one_of(column: str, allowed: tuple[str, ...]) -> str:
    """The SQL of a check that `column` holds one of `allowed` (NULL passes, as SQL checks do)."""
    return f"{column} IN ({', '.join(repr(value) for value in allowed)})"
