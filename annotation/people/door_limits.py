"""How often a door may be tried, counted in the database so that all processes share the count."""

import ipaddress
from datetime import datetime, timedelta

from sqlalchemy import func, orm, select
from sqlalchemy.sql import ColumnElement

from annotation.errors import AnnotationError
from annotation.people.keys import ADDRESSES, key_of
from annotation.studies import audit
from db import tables, types
from db.people_tables import Invite, SignIn
from plain.hashes import keyed

WITHIN = timedelta(minutes=10)
FAILURES = 10  # links that do not work, from one address
ENTRIES = 60  # new people by open links, from one address: a classroom may share it
SIGN_INS = 30  # by one person's link


def caller_of(session: orm.Session, address: str) -> str:
    """What stands for whoever calls from there: an HMAC with a key of the database, 16 hex digits.

    Nobody without that key can try addresses against it. Of IPv6 a household has a whole /64, so that counts as one.
    """
    return keyed(key_of(session, ADDRESSES), _place(address))[:16]


def _place(address: str) -> str:
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(known, ipaddress.IPv6Address):
        mapped = known.ipv4_mapped
        known = mapped or ipaddress.ip_network((int(known) >> 64 << 64, 64)).network_address
    return str(known)


def count_failure(session: orm.Session, caller: str) -> None:
    """One more link that does not work. A working one is let in all the same: colleagues may share an address.

    Raises AnnotationError `too_many` after FAILURES in ten minutes.
    """
    _count(
        session, f"invite_failed:{caller}", FAILURES,
        "too many invite links that do not work; wait ten minutes and try again",
    )  # fmt: skip


def count_entry(session: orm.Session, caller: str) -> None:
    """One more person by an open link. Raises AnnotationError `too_many` after ENTRIES in ten minutes."""
    _count(session, f"entered:{caller}", ENTRIES, "too many people came from here just now; wait ten minutes")


def refuse_hammering(session: orm.Session, link: Invite) -> None:
    """Raises AnnotationError `too_many` where this link signed in SIGN_INS times in ten minutes.

    A logout needs a sign-in to end, so that nobody can log out more often either.
    """
    made = select(func.count()).where(SignIn.invite_id == link.id, _lately(SignIn.created_at))
    if (session.scalar(made) or 0) >= SIGN_INS:
        raise AnnotationError("too_many", "this link was opened very often just now; wait ten minutes and try again")


def _count(session: orm.Session, what: str, allowed: int, refusal: str) -> None:
    same = tables.Event.study_id.is_(None), tables.Event.kind == "audit", tables.Event.what == what
    tried = session.scalar(select(func.count()).where(*same, _lately(tables.Event.created_at)))
    if (tried or 0) >= allowed:
        raise AnnotationError("too_many", refusal)
    audit(session, None, None, what)


def _lately(when: orm.InstrumentedAttribute[datetime]) -> ColumnElement[bool]:
    # both ways: a clock that jumped back must not keep anybody out until it has caught up
    return when.between(types.now() - WITHIN, types.now() + WITHIN)
