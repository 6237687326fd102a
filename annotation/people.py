"""Invites, sign-in and roles. What a principal may do is decided here and in the functions it is handed to."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import bindparam, func, select, update
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.studies import audit, protocol_of
from db.people_tables import ROLES, Enrollment, Invite, Rater, SignIn
from db.tables import Event, Study
from db.types import now

IDLE = timedelta(days=14)
ABSOLUTE = timedelta(days=30)
SEEN_EVERY = timedelta(minutes=5)  # a sign-in's `seen_at` is written this often, not at every request
FAILURES_ALLOWED = 10
FAILURES_WITHIN = timedelta(minutes=10)


@dataclass(frozen=True)
class Principal:
    """Who acts, in which study, in which role. `rater_id` is None for the command line's local admin.

    `seen_at`: when this sign-in was last noted as being used; None where there is none.
    """

    study_id: int
    role: str
    rater_id: int | None = None
    enrollment_id: int | None = None
    opaque_id: str = ""
    seen_at: datetime | None = None


def local_admin(study: Study) -> Principal:
    """Whoever can start the command line on this database is its admin."""
    return Principal(study_id=study.id, role="admin")


def study_for(session: Session, principal: Principal, *roles: str) -> Study:
    """The principal's study, if the role is one of `roles`. Raises AnnotationError `forbidden` otherwise."""
    require_role(principal, *roles)
    return session.get_one(Study, principal.study_id)


def require_role(principal: Principal, *roles: str) -> None:
    """Raises AnnotationError `forbidden` unless the role is one of `roles`; an admin may what an evaluator may."""
    held = {principal.role} | ({"evaluator"} if principal.role == "admin" else set())
    if not held & set(roles):
        raise AnnotationError("forbidden", f"this needs the role {' or '.join(roles)}; ask the study's admin")


def may_label(session: Session, principal: Principal) -> bool:
    """Annotators may; those who can see systems only where the protocol says so."""
    if principal.role == "annotator":
        return True
    study = session.get_one(Study, principal.study_id)
    return principal.role in ("evaluator", "admin") and protocol_of(study).study.may_see_and_label


def invite(session: Session, principal: Principal, name: str, role: str) -> str:
    """A token for `name`, shown once: only its hash is stored. A second invite for the same name is a second key."""
    study = study_for(session, principal, "admin")
    name = name.strip()
    if role not in ROLES:
        raise AnnotationError("bad_role", f"no role {role!r}; choose one of {', '.join(ROLES)}")
    if role == "adjudicator":
        raise AnnotationError(
            "bad_role", "adjudication has no screen in this version; invite annotators and evaluators"
        )
    if not name:
        raise AnnotationError("bad_name", "a person needs a name; it is seen by admins only")
    enrollment = _enrollment(session, study, name)
    if enrollment is None:
        enrollment = enroll(session, study, name, role)
    elif enrollment.role != role:
        raise AnnotationError(
            "role_fixed", f"{name!r} is already {enrollment.role} in {study.name!r}; one person holds one role a study"
        )
    token = secrets.token_urlsafe(32)
    days = protocol_of(study).study.limits.invite_days
    session.add(
        Invite(enrollment_id=enrollment.id, token_sha256=_sha256(token), expires_at=now() + timedelta(days=days))
    )
    audit(session, study.id, principal.rater_id, "invite", enrollment=enrollment.pseudonym, role=role)
    return token


def enroll(session: Session, study: Study, name: str, role: str, *, is_simulated: bool = False) -> Enrollment:
    """A new person in the study, with the pseudonym that every export uses."""
    rater = Rater(kind="human", handle=name)
    session.add(rater)
    session.flush()
    number = session.scalar(select(func.count()).where(Enrollment.study_id == study.id, Enrollment.role == role)) or 0
    enrollment = Enrollment(
        study_id=study.id, rater_id=rater.id, role=role, pseudonym=f"{role}-{number + 1:02d}", is_simulated=is_simulated
    )
    session.add(enrollment)
    session.flush()
    return enrollment


def sign_in(session: Session, token: str, address: str, admin_token: str | None = None) -> str | None:
    """A new cookie for a valid invite; None for an unknown, expired or revoked one, all alike.

    A GET does not use a token up: mail scanners open links. Raises AnnotationError `too_many` after ten failures
    from one address in ten minutes, counted in the database so that all processes share the count. `admin_token` is
    the server's own key: whoever has it is admin of the newest study.
    """
    if admin_token and hmac.compare_digest(token.encode(), admin_token.encode()):
        found = _admin_invite(session, token)
    else:
        found = session.scalar(select(Invite).where(Invite.token_sha256 == _sha256(token)))
    if found is None or found.revoked_at is not None or found.expires_at <= now():
        _count_failure(session, _sha256(address)[:16])
        return None
    cookie = secrets.token_urlsafe(32)
    found.used_at = now()
    session.add(SignIn(enrollment_id=found.enrollment_id, invite_id=found.id, cookie_sha256=_sha256(cookie)))
    enrollment = session.get_one(Enrollment, found.enrollment_id)
    audit(session, enrollment.study_id, enrollment.rater_id, "sign_in", invite=found.id)
    return cookie


def _count_failure(session: Session, caller: str) -> None:
    """One more link that does not work. A working one is let in all the same: colleagues may share an address."""
    failures = session.scalar(
        select(func.count()).where(
            Event.study_id.is_(None),
            Event.kind == "audit",
            Event.what == f"invite_failed:{caller}",
            Event.created_at > now() - FAILURES_WITHIN,
        )
    )
    if (failures or 0) >= FAILURES_ALLOWED:
        raise AnnotationError("too_many", "too many invite links that do not work; wait ten minutes and try again")
    audit(session, None, None, f"invite_failed:{caller}")


# asked with every request, and dearer to build than to run
SIGNED_IN = (
    select(
        SignIn.revoked_at, SignIn.seen_at, SignIn.created_at, Invite.revoked_at.label("link_revoked_at"),
        Enrollment.id, Enrollment.study_id, Enrollment.role, Enrollment.status, Rater.id.label("rater_id"),
        Rater.opaque_id,
    )
    .join(Enrollment, Enrollment.id == SignIn.enrollment_id)
    .join(Rater, Rater.id == Enrollment.rater_id)
    .join(Invite, Invite.id == SignIn.invite_id)
    .where(SignIn.cookie_sha256 == bindparam("cookie_sha256"))
)  # fmt: skip


def who(session: Session, cookie: str | None) -> Principal | None:
    """Whose cookie this is, looked up at every run and every request; None when signed out, expired or revoked."""
    if not cookie:
        return None
    row = session.execute(SIGNED_IN, {"cookie_sha256": _sha256(cookie)}).first()
    if row is None or row.revoked_at is not None or row.link_revoked_at is not None or row.status == "withdrawn":
        return None
    if row.seen_at + IDLE < now() or row.created_at + ABSOLUTE < now():
        return None
    return Principal(row.study_id, row.role, row.rater_id, row.id, row.opaque_id, row.seen_at)


def note_seen(session: Session, principal: Principal, cookie: str) -> None:
    """Keep an active sign-in from idling out; writes at most once in five minutes."""
    if principal.seen_at is None or principal.seen_at > now() - SEEN_EVERY:
        return
    mine = update(SignIn).where(SignIn.cookie_sha256 == _sha256(cookie))
    session.execute(mine.values(seen_at=now()).execution_options(synchronize_session=False))


def sign_out(session: Session, cookie: str) -> None:
    """End this sign-in; the invite link stays good."""
    signed = session.scalar(select(SignIn).where(SignIn.cookie_sha256 == _sha256(cookie)))
    if signed is not None and signed.revoked_at is None:
        signed.revoked_at = now()


def revoke(session: Session, principal: Principal, name: str) -> None:
    """Every link of this person stops working, and every open sign-in with it."""
    study = study_for(session, principal, "admin")
    enrollment = _enrollment(session, study, name.strip())
    if enrollment is None:
        raise AnnotationError("unknown_person", f"nobody called {name!r} in {study.name!r}")
    for row in session.scalars(select(Invite).where(Invite.enrollment_id == enrollment.id)):
        row.revoked_at = row.revoked_at or now()
    audit(session, study.id, principal.rater_id, "revoke", enrollment=enrollment.pseudonym)


def csrf_token(cookie: str) -> str:
    """The token a POST must carry beside the cookie; it follows from the cookie, so no process need share state."""
    return hmac.new(cookie.encode(), b"calipers csrf", hashlib.sha256).hexdigest()


def _admin_invite(session: Session, token: str) -> Invite | None:
    """The invite that stands for the server's own key in the newest study, made at its first use."""
    study = session.scalar(select(Study).order_by(Study.id.desc()).limit(1))
    if study is None:
        return None
    key = _sha256(f"{study.id}:{token}")
    found = session.scalar(select(Invite).where(Invite.token_sha256 == key))
    if found is None:
        holder = _enrollment(session, study, "server's own key") or enroll(session, study, "server's own key", "admin")
        found = Invite(enrollment_id=holder.id, token_sha256=key, expires_at=now() + ABSOLUTE)
        session.add(found)
        session.flush()
    found.expires_at = now() + ABSOLUTE
    return found


def _enrollment(session: Session, study: Study, name: str) -> Enrollment | None:
    return session.scalar(
        select(Enrollment)
        .join(Rater, Rater.id == Enrollment.rater_id)
        .where(Enrollment.study_id == study.id, Rater.handle == name)
    )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def list_people(session: Session, principal: Principal) -> list[dict[str, str | int]]:
    """Name, pseudonym, role, status and working links of everybody in the study; for admins."""
    study = study_for(session, principal, "admin")
    working = (
        select(Invite.enrollment_id, func.count().label("links"))
        .where(Invite.revoked_at.is_(None), Invite.expires_at > now())
        .group_by(Invite.enrollment_id)
        .subquery()
    )
    rows = session.execute(
        select(
            Rater.handle, Enrollment.pseudonym, Enrollment.role, Enrollment.status, func.coalesce(working.c.links, 0)
        )
        .join(Rater, Rater.id == Enrollment.rater_id)
        .outerjoin(working, working.c.enrollment_id == Enrollment.id)
        .where(Enrollment.study_id == study.id)
        .order_by(Enrollment.role, Enrollment.pseudonym)
    )
    keys = ("name", "pseudonym", "role", "status", "links")
    return [dict(zip(keys, row, strict=True)) for row in rows]
