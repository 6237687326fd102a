"""Values that SQLite keeps in a column though they do not fit it, and Postgres refuses."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import Column, ColumnElement, Connection

from db.types import Record

WHOLE_MAX = 2**31  # what a column holds on Postgres that is not a BigInteger


def first_misfit(connection: Connection) -> str | None:
    """`table.column` of a value of another kind than the column's, text that is no JSON, a number too large; or None.

    Reads every row once; for a database of SQLite.
    """
    for table in Record.metadata.sorted_tables:
        wrong = (sa.func.max(_misfits(column)).label(column.name) for column in table.c)
        found = connection.execute(sa.select(*wrong).select_from(table))
        if bad := [name for name, is_wrong in found.one()._mapping.items() if is_wrong]:
            return f"{table.name}.{bad[0]}"
    return None


def _misfits(column: Column[object]) -> ColumnElement[int]:
    """1 where the value does not fit."""
    # by name, so that no type of SQLAlchemy's comes between
    plain: ColumnElement[object] = sa.literal_column(f'"{column.table.name}"."{column.name}"')
    kind = sa.func.typeof(plain)
    fits: ColumnElement[bool]
    if isinstance(column.type, sa.Integer | sa.Boolean):
        is_wide = isinstance(column.type, sa.BigInteger)
        fits = (kind == "integer") & (sa.true() if is_wide else plain.between(-WHOLE_MAX, WHOLE_MAX - 1))
    elif isinstance(column.type, sa.Float):
        fits = kind.in_(("real", "integer")) & plain.between(-1.7e308, 1.7e308)
    elif isinstance(column.type, sa.LargeBinary):
        fits = kind == "blob"
    elif isinstance(column.type, sa.JSON):
        fits = (kind == "text") & (sa.func.json_valid(plain) == 1)
    else:
        fits = (kind == "text") & (sa.func.instr(plain, sa.func.char(0)) == 0)
    return sa.case((plain.is_(None) | fits, 0), else_=1)
