"""Signing in with a lab's own provider (OpenID Connect): whose verified address, or whose group, is who in a study.

Whoever is invited under an e-mail address signs in with it; whoever is of a group that was invited is enrolled at their
first sign-in. Links work beside it.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, orm, select

from annotation.errors import AnnotationError
from annotation.people import door_limits, links, principals, sign_ins
from annotation.studies import audit, hold_study
from db import people_tables, tables, types
from plain.hashes import text_sha256

GROUP = "invite_group"  # the audit line that says which role a group of the provider has; the newest counts
FRESH = timedelta(minutes=10)  # what a provider said is used at once, and no stolen copy of it later


@dataclass(frozen=True)
class Account:
    """Somebody as a provider knows them: by their address where it says that this is verified, else by its own id."""

    known_as: str
    groups: tuple[str, ...]


def account_of(claims: Mapping[str, Any], is_only_provider: bool = True) -> Account | None:
    """The account that these claims of an id token, checked by whoever read it, are about; None for old ones, and where
    it has signs that no database keeps.

    A group is `PROVIDER/GROUP`; where there is one provider alone, `GROUP` is its too.
    """
    issued, issuer, subject = claims.get("iat"), claims.get("iss"), claims.get("sub")
    if not isinstance(issued, int | float) or not isinstance(subject, str) or not isinstance(issuer, str):
        return None
    if abs(types.now() - datetime.fromtimestamp(issued, UTC)) > FRESH:
        return None
    email, groups = claims.get("email"), claims.get("groups")
    is_address = isinstance(email, str) and "@" in email and principals.OF not in email
    is_theirs = claims.get("email_verified") is True and is_address
    known_as = str(email) if is_theirs else f"{subject}{principals.OF}{issuer}"
    if links.CONTROL.search(known_as):
        return None
    known_as = principals.compared(known_as)
    named = [str(group) for group in groups] if isinstance(groups, list | tuple) else []
    named = [group for group in named if not links.CONTROL.search(group)]
    of_provider = (f"{claims.get('provider')}/{group}" for group in named)
    return Account(known_as, (*of_provider, *named) if is_only_provider else tuple(of_provider))


def invite_group(session: orm.Session, principal: principals.Principal, group: str, role: str) -> None:
    """Whoever is of this group of the provider comes in with this role, from their first sign-in on; see `account_of`.

    An empty role lets nobody new in by it; those who came keep theirs. Raises AnnotationError `bad_role`.
    """
    study = principals.study_for(session, principal, "admin")
    if role and role not in people_tables.ROLES:
        raise AnnotationError("bad_role", f"no role {role!r}; choose one of {', '.join(people_tables.ROLES)}")
    audit(session, study.id, principal.rater_id, GROUP, group=group, role=role)


def invited_groups(session: orm.Session, principal: principals.Principal) -> dict[str, str]:
    """Group -> the role that it comes in with, for admins."""
    study = principals.study_for(session, principal, "admin")
    roles = _roles(session, tables.Event.study_id == study.id)
    return {group: role for (_, group), role in sorted(roles.items()) if role}


@dataclass(frozen=True)
class Place:
    """A study where an account may go, and as what; `person` is None where its group is let in and it never came."""

    study_id: int
    role: str
    person: people_tables.Enrollment | None

    @property
    def principal(self) -> principals.Principal:
        """Who is there, to read what waits for them; nobody by name where `person` is None."""
        who = (self.person.rater_id, self.person.id) if self.person else ()
        return principals.Principal(self.study_id, self.role, *who)


def places(session: orm.Session, account: Account) -> list[Place]:
    """Where this account may go, first what sees most, and of those the newest.

    For admins a study of their own or of the command line goes before others, since any admin may invite them under
    their address. Who left a study, or was erased from it, comes to it by no group.
    """
    known = _known(session, account)
    been = {one.study_id for one in known}
    found = [Place(one.study_id, one.role, one) for one in known if one.status != "withdrawn"]
    found += [Place(study, role, None) for study, role in _admitted(session, account).items() if study not in been]
    inits = select(tables.Event.study_id, tables.Event.rater_id).where(tables.Event.what == "init")
    made_by = {study: rater for study, rater in session.execute(inits)}

    def rank(place: Place) -> tuple[int, bool, int]:
        rater = place.person.rater_id if place.person else None
        is_foreign = place.role == "admin" and made_by.get(place.study_id) not in (None, rater)
        return people_tables.ROLES.index(place.role), not is_foreign, place.study_id

    ranked = sorted(found, key=rank, reverse=True)
    return [one for one in ranked if one.person is not None or not _is_erased(session, one.study_id, account)]


def sign_in_account(
    session: orm.Session, account: Account, address: str, former: str | None = None
) -> str | None:  # fmt: skip
    """A new cookie for who this is, in the first of `places`; None where there is none.

    `former`, the cookie that this browser had, ends here. Raises AnnotationError `too_many`; see `door_limits`.
    """
    found = places(session, account)
    if not found:
        door_limits.count_failure(session, door_limits.caller_of(session, address))
        return None
    door = door_of(session, account, found[0])
    return sign_ins.begin(session, door, session.get_one(people_tables.Enrollment, door.enrollment_id), former)


def door_of(session: orm.Session, account: Account, place: Place) -> people_tables.Invite:
    """A door to this one of `places`, used up, that nobody else has the key of.

    Raises AnnotationError `unknown_study` for who was erased there just now.
    """
    person = place.person or _enrolled(session, account, place)
    if person is None:
        raise AnnotationError("unknown_study", "you take part in no such study; load the page again")
    door = people_tables.Invite(
        enrollment_id=person.id, token_sha256=text_sha256(secrets.token_urlsafe(32)), single_use=True,
        used_at=types.now(), expires_at=types.now() + sign_ins.ABSOLUTE, account_groups=list(account.groups),
    )  # fmt: skip
    session.add(door)
    session.flush()
    return door


def _enrolled(session: orm.Session, account: Account, place: Place) -> people_tables.Enrollment | None:
    study = session.get_one(tables.Study, place.study_id)
    hold_study(session, study)
    if _is_erased(session, study.id, account):
        return None
    came = next((one for one in _known(session, account) if one.study_id == study.id), None)  # while this one waited
    return came or principals.enroll(session, study, account.known_as, place.role)


def _known(session: orm.Session, account: Account) -> list[people_tables.Enrollment]:
    """Everybody who is known by this address, in any capitals, or by this id, whether or not they left."""
    named = principals.known_as(session, account.known_as)
    return [person for person in named if person.participant_sha256 is None]


def _admitted(session: orm.Session, account: Account) -> dict[int, str]:
    """Study -> role where a group of theirs is let in; of two roles the one that sees less."""
    roles = _roles(session).items()
    own = [(study, role) for (study, group), role in roles if group in account.groups and study and role]
    return dict(sorted(own, key=lambda one: people_tables.ROLES.index(one[1]), reverse=True))  # the last one counts


def _roles(session: orm.Session, *which: ColumnElement[bool]) -> dict[tuple[int | None, str], str]:
    """(study, group) -> the role it was given last, empty where nobody new comes in by it."""
    lines = select(tables.Event).where(tables.Event.kind == "audit", tables.Event.what == GROUP, *which)
    return {
        (line.study_id, line.data["group"]): line.data["role"]
        for line in session.scalars(lines.order_by(tables.Event.id))
    }


def _is_erased(session: orm.Session, study_id: int, account: Account) -> bool:
    mark = principals.erased_mark(session, account.known_as)
    erased = people_tables.Enrollment.study_id == study_id, people_tables.Enrollment.participant_sha256 == mark
    return session.scalar(select(people_tables.Enrollment.id).where(*erased)) is not None
