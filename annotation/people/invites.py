"""Links for one person: made, replaced, withdrawn. Only a link's hash is stored, so each is shown once."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.locks import hold_study
from annotation.people.enrollments import enroll, enrollment_of, find_enrollment, lookalike_of
from annotation.people.principals import Principal, study_for
from annotation.studies import audit, protocol_of
from db.people_tables import ROLES, Enrollment, Invite
from db.tables import Study
from db.types import now

NAME_MAX = 200
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # a database or a terminal would stumble over them


def invite(session: Session, principal: Principal, name: str, role: str, *, new_link: bool = False) -> str:
    """A token for `name`, shown once: only its hash is stored.

    A second invite for the same name is a second key; with `new_link` the older ones stop working, and every sign-in
    with them. Raises AnnotationError `bad_name` for no name and for one that hardly differs from somebody's,
    `role_fixed` for another role than the person has, `withdrawn` for one who left.
    """
    study = study_for(session, principal, "admin")
    name = name.strip()
    _refuse_no_name(name)
    if role not in ROLES:
        raise AnnotationError("bad_role", f"no role {role!r}; choose one of {', '.join(ROLES)}")
    hold_study(session, study)  # of two who invite somebody new at once, one finds them here
    enrollment = find_enrollment(session, study, name) or _enroll_new(session, study, name, role)
    if enrollment.role != role:
        raise AnnotationError(
            "role_fixed", f"{name!r} is already {enrollment.role} in {study.name!r}; one person holds one role a study"
        )
    if enrollment.status == "withdrawn":
        raise AnnotationError("withdrawn", f"{name!r} is withdrawn, so no link would work; resume them first")
    if new_link:
        withdraw_links(session, enrollment)
    token, limits = secrets.token_urlsafe(32), protocol_of(study).study.limits
    session.add(
        Invite(
            enrollment_id=enrollment.id,
            token_sha256=sha256_of(token),
            expires_at=now() + timedelta(days=limits.invite_days),
            single_use=limits.single_use_invites,
        )
    )
    audit(
        session, study.id, principal.rater_id, "invite", enrollment=enrollment.pseudonym, role=role, new_link=new_link
    )
    return token


def _refuse_no_name(name: str) -> None:
    if not name:
        raise AnnotationError("bad_name", "a person needs a name; it is seen by admins only")
    if len(name) > NAME_MAX or CONTROL.search(name):
        raise AnnotationError("bad_name", f"{name!r:.60} is no name: one line of at most {NAME_MAX} plain characters")


def _enroll_new(session: Session, study: Study, name: str, role: str) -> Enrollment:
    """One person with two places would count as two annotators who agree."""
    if other := lookalike_of(session, study, name):
        raise AnnotationError(
            "bad_name",
            f"{other!r} is in {study.name!r} already; for the same person write that, for another a fuller name",
        )
    return enroll(session, study, name, role)


def invite_all(
    session: Session, principal: Principal, names: Sequence[str], role: str, *, new_link: bool = False
) -> dict[str, str]:
    """name -> token, in the order given; all of them or none. A name given twice gets one link."""
    return {
        name: invite(session, principal, name, role, new_link=new_link)
        for name in dict.fromkeys(name.strip() for name in names)
    }


def revoke(session: Session, principal: Principal, name: str) -> None:
    """Every link of this person stops working, and every open sign-in with it."""
    study = study_for(session, principal, "admin")
    enrollment = enrollment_of(session, study, name)
    withdraw_links(session, enrollment)
    audit(session, study.id, principal.rater_id, "revoke", enrollment=enrollment.pseudonym)


def withdraw_links(session: Session, enrollment: Enrollment) -> None:
    """The same for a person at hand; whoever calls has checked the role and writes the audit trail."""
    standing = update(Invite).where(Invite.enrollment_id == enrollment.id, Invite.revoked_at.is_(None))
    session.execute(standing.values(revoked_at=now()))


def find_invite(session: Session, token: str) -> Invite | None:
    """The link with this token, held until the end of the transaction: of two who use it at once, one waits."""
    return session.scalar(select(Invite).where(Invite.token_sha256 == sha256_of(token)).with_for_update())


def sha256_of(text: str) -> str:
    """What is stored of a token or a cookie, as hex."""
    return hashlib.sha256(text.encode()).hexdigest()
