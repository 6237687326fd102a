"""What commands begin with: the database opened, the study found; its libraries come with the first call only."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Engine, orm

    from annotation.people.principals import Principal
    from annotation.protocol import Protocol
    from db.tables import Study


def opened(*, begins: bool = False) -> Engine:
    """The engine of CALIPERS_DATABASE_URL, as `app.settings.opened` gives it."""
    from app import settings

    return settings.opened(begins=begins)


def reading(engine: Engine) -> AbstractContextManager[orm.Session]:
    """One consistent view for reading, as `db.connect.reading` gives it."""
    from db import connect

    return connect.reading(engine)


def transaction(engine: Engine) -> AbstractContextManager[orm.Session]:
    """One short writing transaction, as `db.connect.transaction` gives it."""
    from db import connect

    return connect.transaction(engine)


def find_study(session: orm.Session, name: str | None) -> Study:
    """The study called `name`, or the only one there is. Raises AnnotationError naming what exists."""
    from annotation import studies

    return studies.find_study(session, name)


def protocol_of(study: Study) -> Protocol:
    """The protocol as the study stores it."""
    from annotation import studies

    return studies.protocol_of(study)


def local_admin(study: Study) -> Principal:
    """Whoever can start the command line on this database is its admin."""
    from annotation.people import principals

    return principals.local_admin(study)
