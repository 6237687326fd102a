"""Signing in with a lab's own provider (OpenID Connect): whose verified address, or whose group, is who in a study.

Whoever is invited under an e-mail address signs in with it; whoever is of a group that was invited is enrolled at their
first sign-in. Links work beside it.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import func, orm, select

from annotation.errors import AnnotationError
from annotation.people import door_limits, principals, sign_ins
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


def account_of(claims: Mapping[str, Any]) -> Account | None:
    """The account that these claims of an id token, checked by whoever read it, are about; None for old ones."""
    issued, issuer, subject = claims.get("iat"), claims.get("iss"), claims.get("sub")
    if not isinstance(issued, int | float) or not isinstance(subject, str) or not isinstance(issuer, str):
        return None
    if abs(types.now() - datetime.fromtimestamp(issued, UTC)) > FRESH:
        return None
    email, groups = claims.get("email"), claims.get("groups")
    is_theirs = claims.get("email_verified") is True and isinstance(email, str) and "@" in email
    known_as = str(email).strip().lower() if is_theirs else f"{subject} of {issuer}"
    return Account(known_as, tuple(str(group) for group in groups) if isinstance(groups, list | tuple) else ())


def invite_group(session: orm.Session, principal: principals.Principal, group: str, role: str) -> None:
    """Whoever is of this group of the provider comes in with this role, from their first sign-in on.

    An empty role lets nobody new in by it; those who came keep theirs. Raises AnnotationError `bad_role`.
    """
    study = principals.study_for(session, principal, "admin")
    if role and role not in people_tables.ROLES:
        raise AnnotationError("bad_role", f"no role {role!r}; choose one of {', '.join(people_tables.ROLES)}")
    audit(session, study.id, principal.rater_id, GROUP, group=group, role=role)


def sign_in_account(
    session: orm.Session, account: Account, address: str, former: str | None = None
) -> str | None:  # fmt: skip
    """A new cookie for who this is in the newest study that knows them; None where none does, or they left it.

    `former`, the cookie that this browser had, ends here. Raises AnnotationError `too_many`; see `door_limits`.
    """
    person = _known(session, account) or _of_group(session, account)
    if person is None or person.status == "withdrawn":
        door_limits.count_failure(session, door_limits.caller_of(session, address))
        return None
    # a door that nobody else has the key of, and that is used up
    door = people_tables.Invite(
        enrollment_id=person.id, token_sha256=text_sha256(secrets.token_urlsafe(32)), single_use=True,
        expires_at=types.now() + sign_ins.ABSOLUTE,
    )  # fmt: skip
    session.add(door)
    session.flush()
    return sign_ins.begin(session, door, person, former)


def _known(session: orm.Session, account: Account) -> people_tables.Enrollment | None:
    known = (
        select(people_tables.Enrollment)
        .join(people_tables.Rater, people_tables.Rater.id == people_tables.Enrollment.rater_id)
        .where(func.lower(people_tables.Rater.handle) == account.known_as.lower())
        .where(people_tables.Enrollment.participant_sha256.is_(None))
        .order_by(people_tables.Enrollment.status == "withdrawn", people_tables.Enrollment.study_id.desc())
    )
    return session.scalars(known.limit(1)).first()


def _of_group(session: orm.Session, account: Account) -> people_tables.Enrollment | None:
    lines = select(tables.Event).where(tables.Event.kind == "audit", tables.Event.what == GROUP)
    roles = {
        (line.study_id, line.data["group"]): line.data["role"]
        for line in session.scalars(lines.order_by(tables.Event.id))
    }
    own = ((study, role) for (study, group), role in roles.items() if group in account.groups)
    admitted = [(study, role) for study, role in own if study is not None and role]
    if not admitted:
        return None
    newest = max(study for study, _ in admitted)
    study = session.get_one(tables.Study, newest)
    # of two roles the one that sees less
    role = min((role for study_id, role in admitted if study_id == newest), key=people_tables.ROLES.index)
    hold_study(session, study)
    return _known(session, account) or principals.enroll(session, study, account.known_as, role)
