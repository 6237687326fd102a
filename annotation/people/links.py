"""Links into a study: one for each person, or one for many, as crowd platforms need it.

Only the hash of a person's link is stored, so each is shown once. Whoever comes through an open link with a new
participant id becomes an annotator; of the id, too, nothing is stored but its HMAC under a key of the study, so that
a list of ids is no list of raters.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import exists, func, or_, select, update
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError, SentBack
from annotation.people import door_limits, platforms, principals
from annotation.studies import audit, audit_data, hold_person, hold_study, protocol_of
from db.people_tables import ROLES, SERVERS_OWN, Enrollment, Invite, OpenLink
from db.tables import Assignment, Study
from db.types import now
from plain.hashes import text_sha256

PLACES_MAX = 1_000_000
MADE = "open_link"  # the audit line that also says which platform a link is for, and where it wants people back
# a place that nobody filled in, as {{%PROLIFIC_PID%}}, its bare name, or what a script makes of none, would make one
# person of all
UNFILLED = "|".join(
    map(re.escape, (*platforms.PERSON, *platforms.VISIT, "undefined", "null", "none", "nan", "your-id"))
)
PARTICIPANT = re.compile(rf"(?!(?i:{UNFILLED})$)[A-Za-z0-9][A-Za-z0-9._@-]{{0,127}}")


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


def open_link(
    session: Session, principal: principals.Principal, places: int, quota: int | None = None, platform: str = "",
    back: Mapping[str, str] | None = None,
) -> str:  # fmt: skip
    """A token that lets in up to `places` people, each of whom may take up to `quota` items (None: any number).

    `platform`: one of `platforms.PLATFORMS`; `back`: how somebody ends -> the code or address that it gave for that.
    """
    study = principals.study_for(session, principal, "admin")
    leads = {end: platforms.address_back(platform, end, given) for end, given in (back or {}).items() if given}
    if platform:
        platforms.platform_named(platform)
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


def made_for(session: Session, link: OpenLink) -> tuple[str | None, dict[str, str]]:
    """(platform, back) of a link; see `OpenLinkLine`."""
    kept = audit_data(session, link.study_id, MADE)
    told: dict[str, Any] = next((data for data in kept if data["link"] == link.id), {})
    return told.get("platform"), told.get("back", {})


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


def enter(
    session: Session, link: OpenLink, token: str, participant: str, caller: str, visit: str = "",
    here: principals.Principal | None = None,
) -> Invite:  # fmt: skip
    """What the participant with this id signs in by: the same id is the same person, a new one takes a place.

    `caller`: a hash of where they come from. `visit`: what a platform calls this person's visit; it is told to nobody
    else, so on another device it shows that the same person comes, which the id alone does not. `here`: who is
    signed in in this browser. Raises AnnotationError `preview` while a task is only looked at, `no_participant` without
    a usable id or visit, `other_visit` for somebody's id without their visit once they have begun, `no_places` when all
    places are taken, `too_many` when too many come from one place at once.
    """
    if visit == platforms.PREVIEW:
        raise AnnotationError("preview", "Accept the task on the platform first; it begins here then.")
    platform, back = made_for(session, link)
    asked = platforms.PLATFORMS[platform].visit if platform else ""
    if not PARTICIPANT.fullmatch(participant) or (asked and not PARTICIPANT.fullmatch(visit)):
        raise AnnotationError(
            "no_participant",
            "This link needs to know which participant you are, and the address does not say. Start again from the "
            "platform that sent you here; its study settings must add ?participant=YOUR-ID to the link.",
        )
    study = session.get_one(Study, link.study_id)
    hashed = principals.participant_hash(session, study.id, participant)
    person = principals.find_participant(session, study.id, participant)
    if person is None:
        person = _new_person(session, study, link, hashed, caller, back.get("full"))
    if platform is None:
        return _door(session, link, person, text_sha256(f"{token}:{hashed}"))
    # Sona has no visit: there each browser is one, and only the one that began goes on
    seal = hmac.new(hashed.encode(), (visit if asked else secrets.token_hex(32)).encode(), hashlib.sha256).hexdigest()
    return _door_of_visit(session, link, person, text_sha256(f"{token}:{hashed}:{seal}"), here)


def _door(session: Session, link: OpenLink, person: Enrollment, door: str) -> Invite:
    found = session.scalar(select(Invite).where(Invite.token_sha256 == door))
    if found is None:
        found = Invite(enrollment_id=person.id, token_sha256=door, expires_at=link.expires_at)
        session.add(found)
        session.flush()
    return found


def _door_of_visit(
    session: Session, link: OpenLink, person: Enrollment, door: str, here: principals.Principal | None
) -> Invite:
    """The door of this visit. Another one is made for who has not begun, and for whom an admin took the former from."""
    hold_person(session, person.rater_id)  # who begins closes the doors there are
    standing = select(Invite).where(Invite.enrollment_id == person.id, Invite.revoked_at.is_(None))
    doors = session.scalars(standing.order_by(Invite.token_sha256 != door)).all()
    by = here.invite_id if here else None
    known = next((one for one in doors if one.token_sha256 == door or one.id == by), None)
    if known is None and doors and _has_begun(session, person.id):
        raise AnnotationError(
            "other_visit",
            "Somebody with your participant id has begun already, in another browser or another submission. Go on "
            "there; if that was not you, write to the researcher on the platform that sent you here.",
        )
    return known or _door(session, link, person, door)


def _has_begun(session: Session, enrollment_id: int) -> bool:
    """Whether this person has agreed to something or taken work, as it is stored now."""
    work = exists().where(Assignment.study_id == Enrollment.study_id, Assignment.rater_id == Enrollment.rater_id)
    begun = select(Enrollment.id).where(Enrollment.id == enrollment_id, or_(Enrollment.consented_at.is_not(None), work))
    return session.scalar(begun) is not None


def begin_by_one_visit(session: Session, person: Enrollment, principal: principals.Principal) -> None:
    """Whoever came with a participant id and begins now does so by one visit: every other door of theirs is closed.

    Sign-ins by those doors end with them, so that a visit which somebody made up before leads into nobody's work. The
    caller holds the person, and stores afterwards that they agreed or took work.
    """
    if person.participant_sha256 is None or principal.invite_id is None or _has_begun(session, person.id):
        return
    others = Invite.enrollment_id == person.id, Invite.id != principal.invite_id, Invite.revoked_at.is_(None)
    closed = update(Invite).where(*others).values(revoked_at=now())
    session.execute(closed.execution_options(synchronize_session=False))


def _new_person(
    session: Session, study: Study, link: OpenLink, hashed: str, caller: str, back: str | None
) -> Enrollment:
    taken = session.scalar(select(func.count()).where(Enrollment.open_link_id == link.id)) or 0
    if link.places is not None and taken >= link.places:
        text = "All places of this study are taken. Thank you for your interest; nothing is left to do here."
        raise SentBack("no_places", text, back)
    door_limits.count_entry(session, caller)
    person = principals.enroll(session, study, f"participant {hashed[:8]}", "annotator")
    person.open_link_id, person.participant_sha256, person.quota = link.id, hashed, link.quota
    session.flush()
    return person


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
