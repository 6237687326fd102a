"""From a link to a cookie, and from a cookie to whoever holds it."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import timedelta

from sqlalchemy import bindparam, func, select, update
from sqlalchemy.orm import Session

from annotation.enrollments import enroll, find_enrollment
from annotation.errors import AnnotationError
from annotation.invites import find_invite, sha256_of
from annotation.open_links import enter, find_open_link
from annotation.principals import Principal
from annotation.studies import audit
from db.people_tables import Enrollment, Invite, Rater, SignIn
from db.tables import Event, Study
from db.types import now

IDLE = timedelta(days=14)
ABSOLUTE = timedelta(days=30)
SEEN_EVERY = timedelta(minutes=5)  # a sign-in's `seen_at` is written this often, not at every request
FAILURES_ALLOWED = 10
FAILURES_WITHIN = timedelta(minutes=10)


def sign_in(
    session: Session,
    token: str,
    address: str,
    admin_token: str | None = None,
    *,
    participant: str = "",
    confirmed: bool = False,
) -> str | None:
    """A new cookie for a link that works; None for an unknown, used, expired or revoked one, all alike.

    Mail scanners open links, so a link for single use raises AnnotationError `confirm` until somebody pressed the
    button (`confirmed`), and is used up then. `participant`: the id an open link needs; see `open_links.enter` for what
    it raises. `too_many` after ten failures from one address in ten minutes, counted in the database so that all
    processes share the count. `admin_token` is the server's own key: whoever has it is admin of the newest study.
    """
    found = _door(session, token, admin_token, participant)
    enrollment = session.get_one(Enrollment, found.enrollment_id) if found else None
    used_up = found is not None and found.single_use and found.used_at is not None
    if found is None or enrollment is None or used_up or not _works(found) or enrollment.status == "withdrawn":
        _count_failure(session, sha256_of(address)[:16])
        return None
    if found.single_use and not confirmed:
        raise AnnotationError("confirm", "This link works once. Press the button to sign in here, in this browser.")
    cookie = secrets.token_urlsafe(32)
    found.used_at = now()
    session.add(SignIn(enrollment_id=found.enrollment_id, invite_id=found.id, cookie_sha256=sha256_of(cookie)))
    audit(session, enrollment.study_id, enrollment.rater_id, "sign_in", invite=found.id)
    return cookie


def _door(session: Session, token: str, admin_token: str | None, participant: str) -> Invite | None:
    """What this token signs in by, whether or not it still works."""
    if admin_token and hmac.compare_digest(token.encode(), admin_token.encode()):
        return _admin_invite(session, token)
    found = find_invite(session, token)
    link = find_open_link(session, token) if found is None else None
    return enter(session, link, token, participant) if link is not None else found


def _works(found: Invite) -> bool:
    return found.revoked_at is None and found.expires_at > now()


def _count_failure(session: Session, caller: str) -> None:
    """One more link that does not work. A working one is let in all the same: colleagues may share an address."""
    failures = session.scalar(
        select(func.count()).where(
            Event.study_id.is_(None),
            Event.kind == "audit",
            Event.what == f"invite_failed:{caller}",
            # a clock that jumped back must not keep anybody out until it has caught up
            Event.created_at.between(now() - FAILURES_WITHIN, now() + FAILURES_WITHIN),
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
    row = session.execute(SIGNED_IN, {"cookie_sha256": sha256_of(cookie)}).first()
    if row is None or row.revoked_at is not None or row.link_revoked_at is not None or row.status == "withdrawn":
        return None
    # both ways: one made while the clock was far ahead would otherwise last until that day
    if abs(now() - row.seen_at) > IDLE or abs(now() - row.created_at) > ABSOLUTE:
        return None
    return Principal(row.study_id, row.role, row.rater_id, row.id, row.opaque_id, row.seen_at)


def note_seen(session: Session, principal: Principal, cookie: str) -> None:
    """Keep an active sign-in from idling out; writes at most once in five minutes."""
    if principal.seen_at is None or principal.seen_at > now() - SEEN_EVERY:
        return
    mine = update(SignIn).where(SignIn.cookie_sha256 == sha256_of(cookie))
    session.execute(mine.values(seen_at=now()).execution_options(synchronize_session=False))


def sign_out(session: Session, cookie: str) -> None:
    """End this sign-in; the invite link stays good."""
    signed = session.scalar(select(SignIn).where(SignIn.cookie_sha256 == sha256_of(cookie)))
    if signed is not None and signed.revoked_at is None:
        signed.revoked_at = now()


def csrf_token(cookie: str) -> str:
    """The token a POST must carry beside the cookie; it follows from the cookie, so no process need share state."""
    return hmac.new(cookie.encode(), b"calipers csrf", hashlib.sha256).hexdigest()


def _admin_invite(session: Session, token: str) -> Invite | None:
    """The invite that stands for the server's own key in the newest study, made at its first use."""
    study = session.scalar(select(Study).order_by(Study.id.desc()).limit(1))
    if study is None:
        return None
    key = sha256_of(f"{study.id}:{token}")
    found = session.scalar(select(Invite).where(Invite.token_sha256 == key))
    if found is None:
        holder = find_enrollment(session, study, "server's own key")
        holder = holder or enroll(session, study, "server's own key", "admin")
        found = Invite(enrollment_id=holder.id, token_sha256=key, expires_at=now() + ABSOLUTE)
        session.add(found)
        session.flush()
    found.expires_at = now() + ABSOLUTE
    return found
