"""Keys of the database: what is hashed with one cannot be found by trying, unless somebody has the database as well."""

import secrets

from sqlalchemy import orm, select
from sqlalchemy.dialects import postgresql, sqlite

from db import people_tables, types

ADDRESSES = "addresses"  # of the internet, and of e-mail


def key_of(session: orm.Session, name: str) -> str:
    """The key of this name, made by whoever needs it first."""
    if found := kept_key(session, name):
        return found
    made = {"name": name, "secret": secrets.token_hex(32), "created_at": types.now()}
    kind = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    session.execute(kind.insert(people_tables.Key).values(made).on_conflict_do_nothing())
    return kept_key(session, name)


def kept_key(session: orm.Session, name: str) -> str:
    """The key of this name; empty where nobody has needed it yet."""
    return session.scalar(select(people_tables.Key.secret).where(people_tables.Key.name == name)) or ""
