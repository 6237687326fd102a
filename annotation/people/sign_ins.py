"""From a link to a cookie, from a cookie to whoever holds it, and the end of every sign-in of one person at once."""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, or_, orm, select, update

from annotation.errors import AnnotationError, OtherPerson
from annotation.people import door_limits, links, principals, visits
from annotation.studies import audit
from db import connect, tables
from db.people_tables import SERVERS_OWN, Enrollment, Invite, Rater, SignIn
from db.types import now
from plain.hashes import text_sha256

IDLE = timedelta(days=14)
ABSOLUTE = timedelta(days=30)
SEEN_EVERY = timedelta(minutes=5)  # a sign-in's `seen_at` is written this often, not at every request
RENEW_AFTER = timedelta(days=1)
GRACE = timedelta(minutes=10)  # a renewed cookie's former value still works so long, for what is under way


def sign_in(
    session: orm.Session,
    token: str,
    address: str,
    admin_token: str | None = None,
    *,
    participant: str = "",
    visit: str = "",
    signed: Mapping[str, Any] | None = None,
    confirmed: bool = False,
    former: str | None = None,
) -> str | None:
    """A new cookie for a link that works; None for an unknown, used, expired or revoked one, all alike.

    Mail scanners open links, so a link for single use raises AnnotationError `confirm` until somebody pressed the
    button (`confirmed`), and is used up then; any link raises OtherPerson until then where `former`, the cookie this
    browser had, is somebody else's. It ends here. `participant`, `visit`, `signed`: what an open link needs; see
    `visits.enter` for what it raises. `too_many`: see `door_limits`. `admin_token` is the server's own key: whoever has
    it is admin of the newest study that the command line made.
    """
    caller = door_limits.caller_of(session, address)
    now_here = who(session, former)
    here = now_here.enrollment_id if now_here else None
    who_comes = {"participant": participant, "visit": visit, "signed": signed, "here": now_here}
    found = _door(session, token, admin_token, caller, **who_comes)
    enrollment = session.get_one(Enrollment, found.enrollment_id) if found else None
    used_up = found is not None and found.single_use and found.used_at is not None
    if found is None or enrollment is None or used_up or not _works(found) or enrollment.status == "withdrawn":
        door_limits.count_failure(session, caller)
        return None
    if not confirmed:
        _ask_before_another(session, here, found.enrollment_id)
    if found.single_use and not confirmed:
        raise AnnotationError("confirm", "This link works once. Press the button to sign in here, in this browser.")
    return begin(session, found, enrollment, former)


def begin(session: orm.Session, found: Invite, enrollment: Enrollment, former: str | None) -> str:
    """A new cookie for this person by this door; whoever calls knows that it is theirs. Raises AnnotationError
    `too_many` where it was used very often just now. `former` ends."""
    door_limits.refuse_hammering(session, found)
    if former:
        sign_out(session, former)
    cookie = secrets.token_urlsafe(32)
    found.used_at = now()
    session.add(SignIn(enrollment_id=found.enrollment_id, invite_id=found.id, cookie_sha256=text_sha256(cookie)))
    audit(session, enrollment.study_id, enrollment.rater_id, "sign_in", invite=found.id)
    return cookie


def _ask_before_another(session: orm.Session, here: int | None, enrollment_id: int) -> None:
    invited = session.get_one(Enrollment, enrollment_id)
    if here is not None and session.get_one(Enrollment, here).rater_id != invited.rater_id:
        raise OtherPerson(*principals.names_apart(session, here, enrollment_id))


def _door(session: orm.Session, token: str, admin_token: str | None, caller: str, **who_comes: Any) -> Invite | None:
    """What this token signs in by, whether or not it still works."""
    if admin_token and hmac.compare_digest(token.encode(), admin_token.encode()):
        return _admin_invite(session, token)
    found = links.find_invite(session, token)
    link = links.find_open_link(session, token) if found is None else None
    return visits.enter(session, link, token, caller=caller, **who_comes) if link is not None else found


def _works(found: Invite) -> bool:
    return found.revoked_at is None and found.expires_at > now()


# asked with every request, and dearer to build than to run
SIGNED_IN = (
    select(
        SignIn.revoked_at, SignIn.seen_at, SignIn.created_at, SignIn.invite_id,
        Invite.revoked_at.label("link_revoked_at"), Enrollment.id,
        Enrollment.study_id, Enrollment.role, Enrollment.status, Rater.id.label("rater_id"),
        Rater.opaque_id,
    )
    .join(Enrollment, Enrollment.id == SignIn.enrollment_id)
    .join(Rater, Rater.id == Enrollment.rater_id)
    .join(Invite, Invite.id == SignIn.invite_id)
    .where(SignIn.cookie_sha256 == bindparam("cookie_sha256"))
)  # fmt: skip


def who(session: orm.Session, cookie: str | None) -> principals.Principal | None:
    """Whose cookie this is, looked up at every run and every request; None when signed out, expired or revoked."""
    if not cookie:
        return None
    row = next(iter(connect.rows_of(session, SIGNED_IN, {"cookie_sha256": text_sha256(cookie)})), None)
    if row is None or row.link_revoked_at is not None or row.status == "withdrawn":
        return None
    if row.revoked_at is not None and not _in_grace(row.revoked_at, row.seen_at):
        return None
    # both ways: one made while the clock was far ahead would otherwise last until that day
    if abs(now() - row.seen_at) > IDLE or abs(now() - row.created_at) > ABSOLUTE:
        return None
    person = row.study_id, row.role, row.rater_id, row.id, row.opaque_id
    return principals.Principal(*person, row.seen_at, row.invite_id)


def acting(session: orm.Session, cookie: str, study_id: int) -> principals.Principal:
    """Whoever holds the cookie, for what a page of this study asks: an open page survives the end of its sign-in, and
    its browser may have gone on to another study. Raises AnnotationError `signed_out`, `other_study`.
    """
    known = who(session, cookie)
    if known is None:
        raise AnnotationError("signed_out", "you are signed out; open your invitation link again")
    if known.study_id != study_id:
        raise AnnotationError("other_study", "this browser went on to another study; load the page again")
    return known


def note_seen(session: orm.Session, principal: principals.Principal, cookie: str) -> None:
    """Keep an active sign-in from idling out; writes at most once in five minutes."""
    if principal.seen_at is None or principal.seen_at > now() - SEEN_EVERY:
        return
    # not of a value that was renewed meanwhile: its grace is told by this time
    mine = update(SignIn).where(SignIn.cookie_sha256 == text_sha256(cookie), SignIn.revoked_at.is_(None))
    session.execute(mine.values(seen_at=now()).execution_options(synchronize_session=False))


def renew(session: orm.Session, cookie: str) -> str | None:
    """The next value of a cookie that has been in use for a day; None while it need not change, or signs nobody in.

    The former value works for GRACE longer, and gets another one in that time: the reply with the first may be lost.
    What follows from the cookie's stem, `csrf_token`, stays, so that pages which are open elsewhere in this browser go
    on.
    """
    row = session.scalar(select(SignIn).where(SignIn.cookie_sha256 == text_sha256(cookie)))
    if row is None or not _is_due(row, cookie) or who(session, cookie) is None:
        return None
    at = now()
    former = update(SignIn).where(SignIn.id == row.id, SignIn.revoked_at.is_(None))
    session.execute(former.values(revoked_at=at, seen_at=at + GRACE).execution_options(synchronize_session=False))
    following = f"{_stem(cookie)}.{int(at.timestamp())}.{secrets.token_urlsafe(32)}"
    session.add(
        SignIn(
            enrollment_id=row.enrollment_id, invite_id=row.invite_id, cookie_sha256=text_sha256(following),
            created_at=row.created_at,
        )
    )  # fmt: skip
    return following


def is_due(session: orm.Session, cookie: str) -> bool:
    """Whether `renew` has something to do; for a reader that must not write."""
    row = session.scalar(select(SignIn).where(SignIn.cookie_sha256 == text_sha256(cookie)))
    return row is not None and _is_due(row, cookie)


def _is_due(row: SignIn, cookie: str) -> bool:
    if row.revoked_at is not None:
        return _in_grace(row.revoked_at, row.seen_at)
    return abs(now() - _made_at(cookie, row)) >= RENEW_AFTER


def sign_out(session: orm.Session, cookie: str) -> None:
    """End this sign-in, with the values its cookie had before; the invite link stays good."""
    signed = session.scalar(select(SignIn).where(SignIn.cookie_sha256 == text_sha256(cookie)))
    if signed is not None:
        end_sign_ins(session, *of_one_browser(signed))


def of_one_browser(signed: SignIn) -> tuple[ColumnElement[bool], ...]:
    """This sign-in under every value that its cookie had."""
    return SignIn.invite_id == signed.invite_id, SignIn.created_at == signed.created_at


@dataclass(frozen=True)
class OpenSignIn:
    """One browser in which somebody is signed in now. `seen_at`: to five minutes."""

    id: int
    name: str
    role: str
    since: datetime
    seen_at: datetime


def open_sign_ins(session: orm.Session, principal: principals.Principal) -> list[OpenSignIn]:
    """Everybody's browsers that are signed in to the study, the last seen first; for admins."""
    study = principals.study_for(session, principal, "admin")
    at = now()
    works = SignIn.revoked_at.is_(None), SignIn.seen_at > at - IDLE, SignIn.created_at > at - ABSOLUTE
    rows = session.execute(
        select(SignIn, Enrollment.role, Rater.handle)
        .join(Enrollment, Enrollment.id == SignIn.enrollment_id)
        .join(Rater, Rater.id == Enrollment.rater_id)
        .join(Invite, Invite.id == SignIn.invite_id)
        .where(Enrollment.study_id == study.id, Enrollment.status != "withdrawn", Invite.revoked_at.is_(None), *works)
        .order_by(SignIn.seen_at.desc(), SignIn.id.desc())
    )
    return [OpenSignIn(signed.id, name, role, signed.created_at, signed.seen_at) for signed, role, name in rows]


def end_sign_in(session: orm.Session, principal: principals.Principal, number: int) -> None:
    """Sign one browser out, by an admin. Raises AnnotationError `unknown_sign_in`."""
    study = principals.study_for(session, principal, "admin")
    signed = session.get(SignIn, number)
    person = None if signed is None else session.get_one(Enrollment, signed.enrollment_id)
    if signed is None or person is None or person.study_id != study.id:
        raise AnnotationError(
            "unknown_sign_in", "no sign-in {number} in {name!r}; load the page again", number=number, name=study.name
        )
    end_sign_ins(session, *of_one_browser(signed))
    audit(session, study.id, principal.rater_id, "end_sign_in", enrollment=person.pseudonym, sign_in=signed.id)


def end_sign_ins(session: orm.Session, *which: ColumnElement[bool]) -> None:
    """End those that are not over yet; whoever calls has checked the role and writes the audit trail."""
    for still, over in (
        (SignIn.revoked_at.is_(None), {"revoked_at": now()}),
        (SignIn.seen_at > SignIn.revoked_at, {"seen_at": SignIn.revoked_at}),  # in their grace
    ):
        ending = update(SignIn).where(*which, still).values(over)
        session.execute(ending.execution_options(synchronize_session=False))


def of_person(session: orm.Session, rater_id: int | None) -> ColumnElement[bool]:
    """Every sign-in of one person, in whichever of their studies it is now; of an account's, whose name is the same."""
    mine = select(Enrollment.id).where(Enrollment.rater_id == rater_id)
    name = session.scalar(select(Rater.handle).where(Rater.id == rater_id)) or ""
    named = [person.id for person in principals.known_as(session, name)]
    by_account = SignIn.invite_id.in_(select(Invite.id).where(Invite.account_groups.is_not(None)))
    return or_(SignIn.enrollment_id.in_(mine), and_(by_account, SignIn.enrollment_id.in_(named)))


def csrf_token(cookie: str) -> str:
    """The token a POST must carry beside the cookie; it follows from the cookie, so no process need share state."""
    return hmac.new(_stem(cookie).encode(), b"calipers csrf", hashlib.sha256).hexdigest()


def _stem(cookie: str) -> str:
    """What stays when a cookie is renewed; alone it signs nobody in."""
    return cookie.partition(".")[0]


def _made_at(cookie: str, row: SignIn) -> datetime:
    """When the cookie got this value: renewed ones say so, and could not be told from others if they lied."""
    _, _, rest = cookie.partition(".")
    return datetime.fromtimestamp(int(rest.partition(".")[0]), UTC) if rest else row.created_at


def _in_grace(revoked_at: datetime, seen_at: datetime) -> bool:
    """Whether this value was followed by another just now: only `renew` writes these times so far apart."""
    return seen_at - revoked_at == GRACE and abs(now() - revoked_at) < GRACE


def _admin_invite(session: orm.Session, token: str) -> Invite | None:
    """The invite that stands for the server's own key, made at its first use.

    It is in the newest study that the command line made: any admin can make one in the browser.
    """
    by_command = tables.Event.what == "init", tables.Event.rater_id.is_(None)
    made = select(tables.Study).join(tables.Event, tables.Event.study_id == tables.Study.id).where(*by_command)
    study = session.scalar(made.order_by(tables.Study.id.desc()).limit(1))
    if study is None:
        return None
    key = text_sha256(f"{study.id}:{token}")
    found = session.scalar(select(Invite).where(Invite.token_sha256 == key))
    if found is None:
        holder = principals.find_enrollment(session, study, SERVERS_OWN)
        holder = holder or principals.enroll(session, study, SERVERS_OWN, "admin")
        found = Invite(enrollment_id=holder.id, token_sha256=key, expires_at=now() + ABSOLUTE)
        session.add(found)
        session.flush()
    found.expires_at = now() + ABSOLUTE
    return found


def sign_out_everywhere(session: orm.Session, principal: principals.Principal) -> None:
    """Every browser this person is signed in with is signed out, also the one that asks."""
    end_sign_ins(session, of_person(session, principal.rater_id))
    audit(session, principal.study_id, principal.rater_id, "sign_out_everywhere")


def sign_out_person(session: orm.Session, principal: principals.Principal, name: str) -> None:
    """The same for somebody else, by an admin: after a lost computer. To end their links as well, see `revoke`."""
    study = principals.study_for(session, principal, "admin")
    person = principals.enrollment_of(session, study, name)
    end_sign_ins(session, of_person(session, person.rater_id))
    audit(session, study.id, principal.rater_id, "sign_out_person", enrollment=person.pseudonym)
