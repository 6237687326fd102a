"""Whether everything that a client was told is stored stands in the database, and stands there once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.facts.soundness import Fault
from db.tables import Event, Label

AT_ONCE = 500  # ids in one query


def acknowledged_faults(session: Session, client_uuids: Iterable[str]) -> list[Fault]:
    """`client_uuids`: of answers, remarks and flags whose acknowledgement arrived. All that is missing is named."""
    asked = dict.fromkeys(client_uuids)
    times: Counter[str] = Counter()
    for some in _parts(one for one in asked if "\0" not in one):  # Postgres would not even look for it
        for table in (Label, Event):
            times.update(session.scalars(select(table.client_uuid).where(table.client_uuid.in_(some))))
    missing = [one for one in asked if times[one] == 0]
    doubled = [one for one in asked if times[one] > 1]
    found = {"what was acknowledged is stored": missing, "what was acknowledged is stored once": doubled}
    return [Fault(rule, len(ids), tuple(ids)) for rule, ids in found.items() if ids]


def _parts(ids: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(ids)
    while some := list(islice(rest, AT_ONCE)):
        yield some
