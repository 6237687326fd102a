"""Links into a study: one for each person, or one for many, as crowd platforms need it.

Only the hash of a person's link is stored, so each is shown once. Whoever comes by one for many: see `visits`.
"""

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.people import platforms, principals
from annotation.studies import audit, audit_data, hold_study, protocol_of
from db.people_tables import ROLES, SERVERS_OWN, Enrollment, Invite, OpenLink
from db.tables import Study
from db.types import now
from plain.hashes import text_sha256

PLACES_MAX = 1_000_000
MADE = "open_link"  # the audit line that also says what a link was made for


@dataclass(frozen=True)
class OpenLinkLine:
    """An open link as admins see it."""

    id: int
    state: str  # working | expired | withdrawn
    places: int | None
    taken: int
    quota: int | None
    expires_at: datetime
    platform: str | None = None
    back: Mapping[str, str] = field(default_factory=dict)  # how somebody ends -> where the platform wants them
    workspace: str | None = None  # of the platform, whose signature everybody brings


def open_link(
    session: Session, principal: principals.Principal, places: int, quota: int | None = None, platform: str = "",
    back: Mapping[str, str] | None = None, workspace: str = "",
) -> str:  # fmt: skip
    """A token that lets in up to `places` people, each of whom may take up to `quota` items (None: any number).

    `platform`: one of `platforms.PLATFORMS`; `back`: how somebody ends -> the code or address that it gave for that;
    `workspace`: its id of the owner's workspace, where it signs the addresses of their studies; see `visits.enter`.
    """
    study = principals.study_for(session, principal, "admin")
    leads = {end: platforms.address_back(platform, end, given) for end, given in (back or {}).items() if given}
    if platform:
        platforms.platform_named(platform)
    if workspace:
        platforms.refuse_unsigned(platform, workspace)
    if not (1 <= places <= PLACES_MAX and (quota is None or 1 <= quota <= PLACES_MAX)):
        raise AnnotationError(
            "bad_number", "an open link needs 1 to {places_max} places, and a quota of at least one item",
            places_max=PLACES_MAX,
        )  # fmt: skip
    hold_study(session, study)
    if principals.study_key(session, study.id) is None:
        audit(session, study.id, principal.rater_id, principals.KEY, key=secrets.token_hex(32))
    token = secrets.token_urlsafe(32)
    link = OpenLink(
        study_id=study.id, token_sha256=text_sha256(token), places=places, quota=quota,
        expires_at=now() + timedelta(days=protocol_of(study).study.limits.invite_days),
    )  # fmt: skip
    session.add(link)
    session.flush()
    told = {"link": link.id, "places": places, "quota": quota, "platform": platform or None, "back": leads}
    told |= {"workspace": workspace} if workspace else {}
    audit(session, study.id, principal.rater_id, MADE, **told)
    return token


def open_links(session: Session, principal: principals.Principal) -> list[OpenLinkLine]:
    """The study's open links, oldest first; for admins."""
    study = principals.study_for(session, principal, "admin")
    rows = session.execute(
        select(OpenLink, func.count(Enrollment.id))
        .outerjoin(Enrollment, Enrollment.open_link_id == OpenLink.id)
        .where(OpenLink.study_id == study.id)
        .group_by(OpenLink.id)
        .order_by(OpenLink.id)
    )
    return [
        OpenLinkLine(link.id, _state(link), link.places, taken, link.quota, link.expires_at, *made_for(session, link))
        for link, taken in rows
    ]


def made_for(session: Session, link: OpenLink) -> tuple[str | None, dict[str, str], str | None]:
    """(platform, back, workspace) of a link; see `OpenLinkLine`."""
    kept = audit_data(session, link.study_id, MADE)
    told: dict[str, Any] = next((data for data in kept if data["link"] == link.id), {})
    return told.get("platform"), told.get("back", {}), told.get("workspace")


def revoke_open_link(session: Session, principal: principals.Principal, link_id: int) -> None:
    """Nobody gets in by this link any more, and whoever came by it is signed out; their work stays.

    Raises AnnotationError `unknown_link`.
    """
    study = principals.study_for(session, principal, "admin")
    link = session.get(OpenLink, link_id, with_for_update=True)
    if link is None or link.study_id != study.id:
        raise AnnotationError(
            "unknown_link", "no open link {link_id} in {name!r}; see: calipers people {name}", link_id=link_id,
            name=study.name,
        )  # fmt: skip
    link.revoked_at = link.revoked_at or now()
    came = select(Enrollment.id).where(Enrollment.open_link_id == link.id)
    by_it = update(Invite).where(Invite.enrollment_id.in_(came), Invite.revoked_at.is_(None))
    session.execute(by_it.values(revoked_at=now()).execution_options(synchronize_session=False))
    audit(session, study.id, principal.rater_id, "revoke_open_link", link=link.id)


def find_open_link(session: Session, token: str) -> OpenLink | None:
    """The link with this token if it works. Those who come by it queue here, so that its places are counted exactly."""
    link = session.scalar(select(OpenLink).where(OpenLink.token_sha256 == text_sha256(token)).with_for_update())
    return link if link is not None and _state(link) == "working" else None


def _state(link: OpenLink) -> str:
    if link.revoked_at is not None:
        return "withdrawn"
    return "expired" if link.expires_at <= now() else "working"


NAME_MAX = 200
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # a database or a terminal would stumble over them


def invite(session: Session, principal: principals.Principal, name: str, role: str, *, new_link: bool = False) -> str:
    """A token for `name`, shown once: only its hash is stored.

    A second invite for the same name is a second key; with `new_link` the older ones stop working, and every sign-in
    with them. Raises AnnotationError `bad_name` for no name and for one that hardly differs from somebody's,
    `role_fixed` for another role than the person has, `withdrawn` for one who left.
    """
    study = principals.study_for(session, principal, "admin")
    name = name.strip()
    _refuse_no_name(name)
    if role not in ROLES:
        raise AnnotationError("bad_role", "no role {role!r}; choose one of {roles}", role=role, roles=", ".join(ROLES))
    hold_study(session, study)  # of two who invite somebody new at once, one finds them here
    enrollment = principals.find_enrollment(session, study, name) or _enroll_new(session, study, name, role)
    if enrollment.role != role:
        raise AnnotationError(
            "role_fixed", "{name!r} is already {role} in {study!r}; one person holds one role a study", name=name,
            role=enrollment.role, study=study.name,
        )  # fmt: skip
    if enrollment.status == "withdrawn":
        raise AnnotationError("withdrawn", "{name!r} is withdrawn, so no link would work; resume them first", name=name)
    if new_link:
        withdraw_links(session, enrollment)
    token = link_of(session, study, enrollment)
    audit(
        session, study.id, principal.rater_id, "invite", enrollment=enrollment.pseudonym, role=role, new_link=new_link
    )
    return token


def link_of(session: Session, study: Study, enrollment: Enrollment) -> str:
    """A token for a person at hand; whoever calls has checked the role and writes the audit trail."""
    token, limits = secrets.token_urlsafe(32), protocol_of(study).study.limits
    session.add(
        Invite(
            enrollment_id=enrollment.id,
            token_sha256=text_sha256(token),
            expires_at=now() + timedelta(days=limits.invite_days),
            single_use=limits.single_use_invites,
        )
    )
    return token


def _refuse_no_name(name: str) -> None:
    if not name:
        raise AnnotationError("bad_name", "a person needs a name; it is seen by admins only")
    if name == SERVERS_OWN:
        raise AnnotationError(
            "bad_name", "{name!r} stands for whoever runs the server, who needs no other link", name=name
        )
    if len(name) > NAME_MAX or CONTROL.search(name):
        raise AnnotationError(
            "bad_name", "{name!r:.60} is no name: one line of at most {name_max} plain characters", name=name,
            name_max=NAME_MAX,
        )  # fmt: skip


def _enroll_new(session: Session, study: Study, name: str, role: str) -> Enrollment:
    """One person with two places would count as two annotators who agree."""
    if other := principals.lookalike_of(session, study, name):
        raise AnnotationError(
            "bad_name", "{other!r} is in {name!r} already; for the same person write that, for another a fuller name",
            other=other, name=study.name,
        )  # fmt: skip
    return principals.enroll(session, study, name, role)


def invite_all(
    session: Session, principal: principals.Principal, names: Sequence[str], role: str, *, new_link: bool = False
) -> dict[str, str]:
    """name -> token, in the order given; all of them or none. A name given twice gets one link."""
    return {
        name: invite(session, principal, name, role, new_link=new_link)
        for name in dict.fromkeys(name.strip() for name in names)
    }


def revoke(session: Session, principal: principals.Principal, name: str) -> None:
    """Every link of this person stops working, and every open sign-in with it."""
    study = principals.study_for(session, principal, "admin")
    enrollment = principals.enrollment_of(session, study, name)
    withdraw_links(session, enrollment)
    audit(session, study.id, principal.rater_id, "revoke", enrollment=enrollment.pseudonym)


def withdraw_links(session: Session, enrollment: Enrollment) -> None:
    """The same for a person at hand; whoever calls has checked the role and writes the audit trail."""
    standing = update(Invite).where(Invite.enrollment_id == enrollment.id, Invite.revoked_at.is_(None))
    session.execute(standing.values(revoked_at=now()))


def find_invite(session: Session, token: str) -> Invite | None:
    """The link with this token, held until the end of the transaction: of two who use it at once, one waits."""
    return session.scalar(select(Invite).where(Invite.token_sha256 == text_sha256(token)).with_for_update())
