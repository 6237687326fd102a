"""People whom a crowd platform sends by one link for many: who each is, and which visit opens whose work.

Whoever comes with a new participant id becomes an annotator; of the id nothing is stored but its HMAC under a key of
the study, so that a list of ids is no list of raters. An id is no password: work opens to the visit that it was begun
in, and to another one only while nothing was answered, on the platform's own signature, or when an admin lets it in.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import exists, func, or_, select, update
from sqlalchemy.orm import Session

from annotation import errors
from annotation.people import door_limits, links, platforms, principals
from annotation.studies import audit, audited, hold_person
from db.people_tables import Enrollment, Invite, OpenLink
from db.tables import Assignment, Event, Label, Study
from db.types import now
from plain.hashes import text_sha256

KEPT_OUT, LET_IN = "kept_out", "let_in"  # audit lines of a visit that opened nothing, and of its end
# a place that nobody filled in, as {{%PROLIFIC_PID%}}, its bare name, or what a script makes of none, would make one
# person of all
UNFILLED = "|".join(
    map(re.escape, (*platforms.PERSON, *platforms.VISIT, "undefined", "null", "none", "nan", "your-id"))
)
PARTICIPANT = re.compile(rf"(?!(?i:{UNFILLED})$)[A-Za-z0-9][A-Za-z0-9._@-]{{0,127}}")


@dataclass(frozen=True)
class KeptOut:
    """A visit with the id of somebody who had answered by another one. `id`: of its audit line."""

    id: int
    pseudonym: str
    at: datetime


def enter(
    session: Session, link: OpenLink, token: str, participant: str, caller: str, visit: str = "",
    here: principals.Principal | None = None, signed: Mapping[str, Any] | None = None,
) -> Invite:  # fmt: skip
    """What the participant with this id signs in by: the same id is the same person, a new one takes a place.

    `caller`: a hash of where they come from. `visit`: what a platform calls this person's visit; it is told to nobody
    else, so on another device it shows that the same person comes, which the id alone does not. `here`: who is
    signed in in this browser. `signed`: what the platform says of who comes, checked by whoever read it; a link that
    was made with a workspace lets nobody in anew without it. Raises AnnotationError `preview` while a task is only
    looked at, `no_participant` without a usable id, visit or signature, `no_places` when all places are taken,
    `too_many` when too many come from one place at once; OtherVisit for the id of somebody who has answered already.
    """
    if visit == platforms.PREVIEW:
        raise errors.AnnotationError("preview", "Accept the task on the platform first; it begins here then.")
    platform, back, workspace = links.made_for(session, link)
    asked = platforms.PLATFORMS[platform].visit if platform else ""
    if not PARTICIPANT.fullmatch(participant) or (asked and not PARTICIPANT.fullmatch(visit)):
        raise errors.AnnotationError(
            "no_participant",
            "This link needs to know which participant you are, and the address does not say. Start again from the "
            "platform that sent you here; its study settings must add ?participant=YOUR-ID to the link.",
        )
    hashed = principals.participant_hash(session, link.study_id, participant)
    person = principals.find_participant(session, link.study_id, participant)
    # Sona has no visit: there each browser is one, and only the one that began goes on
    seal = hmac.new(hashed.encode(), (visit if asked else secrets.token_hex(32)).encode(), hashlib.sha256).hexdigest()
    key = text_sha256(f"{token}:{hashed}:{seal}" if platform else f"{token}:{hashed}")
    if known := person and _known_door(session, person, key, here):
        return known
    is_signed = workspace is not None and platforms.said_by(signed, participant, visit, workspace)
    if workspace and not is_signed:
        raise errors.AnnotationError(
            "no_participant",
            "The platform's signature of this address is missing, has run out, or could not be checked. Open the study "
            "on the platform again.",
        )
    if person is None:
        person = _new_person(session, session.get_one(Study, link.study_id), link, hashed, caller, back.get("full"))
    elif platform or links.made_for(session, session.get_one(OpenLink, person.open_link_id))[0]:
        _begin_anew(session, link, person, is_signed, key if asked else None)
    return _door(session, link, person, key)


def _known_door(session: Session, person: Enrollment, key: str, here: principals.Principal | None) -> Invite | None:
    """The door of this visit, or that by which this browser came, while it stands."""
    hold_person(session, person.rater_id)  # who begins closes the doors there are
    lasts = Invite.revoked_at.is_(None), Invite.expires_at > now()
    standing = select(Invite).where(Invite.enrollment_id == person.id, *lasts)
    doors = session.scalars(standing.order_by(Invite.token_sha256 != key)).all()
    by = here.invite_id if here else None
    return next((one for one in doors if one.token_sha256 == key or one.id == by), None)


def _door(session: Session, link: OpenLink, person: Enrollment, key: str) -> Invite:
    found = session.scalar(select(Invite).where(Invite.token_sha256 == key))
    if found is None:
        found = Invite(enrollment_id=person.id, token_sha256=key, expires_at=link.expires_at)
        session.add(found)
        session.flush()
    return found


def _begin_anew(session: Session, link: OpenLink, person: Enrollment, is_signed: bool, key: str | None) -> None:
    """Another visit of somebody who is known: whoever returned the study and took it anew, on any device.

    Where somebody has begun it ends the former ones, so that one person works by one visit. `key`: of this visit, which
    stands again if it was one of the former, unless an admin ended them all; None where a platform has no visits.
    """
    if person.status == "withdrawn" or _is_awaited(session, person):
        return
    if not is_signed and _has_answered(session, person):
        raise errors.OtherVisit(person.id, link.id, key)
    if _has_begun(session, person.id):
        links.withdraw_links(session, person)
        if not is_signed:
            person.consent_sha256 = person.consented_at = None  # of whoever that was: this one is asked
    session.execute(update(Invite).where(Invite.token_sha256 == key).values(revoked_at=None))


def _is_awaited(session: Session, person: Enrollment) -> bool:
    """Whether an admin ended this person's visits, so that whoever comes next with the id goes on; not by withdrawing
    the link for many that they came by.
    """
    standing = select(Invite.id).where(Invite.enrollment_id == person.id, Invite.revoked_at.is_(None))
    if session.scalar(standing.limit(1)) is not None:
        return False
    which = or_(*(audited(person.study_id, what) for what in ("revoke", LET_IN, "revoke_open_link")))
    for line in session.scalars(select(Event).where(which).order_by(Event.id.desc())):
        if line.data.get("enrollment") == person.pseudonym or line.data.get("link") == person.open_link_id:
            return line.what != "revoke_open_link"
    return False


def _has_begun(session: Session, enrollment_id: int) -> bool:
    """Whether this person has agreed to something or taken work, as it is stored now."""
    work = exists().where(Assignment.study_id == Enrollment.study_id, Assignment.rater_id == Enrollment.rater_id)
    begun = select(Enrollment.id).where(Enrollment.id == enrollment_id, or_(Enrollment.consented_at.is_not(None), work))
    return session.scalar(begun) is not None


def _has_answered(session: Session, person: Enrollment) -> bool:
    """Whether anything of theirs is stored that another visit would read: an answer, a remark, a note to oneself."""
    own = Assignment.study_id == person.study_id, Assignment.rater_id == person.rater_id
    labels = select(Label.id).join(Assignment, Assignment.id == Label.assignment_id).where(*own)
    told = Event.study_id == person.study_id, Event.rater_id == person.rater_id
    remarks = select(Event.id).where(*told, Event.kind.in_(("flag", "comment")))
    stored = [session.scalar(rows.limit(1)) for rows in (labels, remarks)]
    return any(row is not None for row in stored) or bool(person.preferences.get("notes"))


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
        raise errors.SentBack("no_places", text, back)
    door_limits.count_entry(session, caller)
    person = principals.enroll(session, study, f"participant {hashed[:8]}", "annotator")
    person.open_link_id, person.participant_sha256, person.quota = link.id, hashed, link.quota
    session.flush()
    return person


def keep_out(session: Session, refused: errors.OtherVisit, address: str) -> None:
    """Note a visit that was refused, once until it is let in, in a transaction after the one that its refusal ended.

    Raises AnnotationError `too_many`; see `door_limits`.
    """
    person = session.get_one(Enrollment, refused.enrollment_id)
    hold_person(session, person.rater_id)
    link = session.get_one(OpenLink, refused.link_id)  # of now: that of their first visit may have ended
    door = None if refused.key is None else _door(session, link, person, refused.key)
    if door is not None:
        door.revoked_at = door.revoked_at or now()
    told = {"enrollment": person.pseudonym, "visit": door and door.id}
    if all(line.data != told for line in _unsettled(session, person.study_id)):
        door_limits.count_failure(session, door_limits.caller_of(session, address))
        audit(session, person.study_id, None, KEPT_OUT, **told)  # of whom, nobody can say


def kept_out(session: Session, principal: principals.Principal, participant: str = "") -> list[KeptOut]:
    """Every visit that was refused and that nobody has let in, the newest first; for admins.

    `participant`: of whom the platform knows by this id alone.
    """
    study = principals.study_for(session, principal, "admin")
    whose = principals.find_participant(session, study.id, participant) if participant.strip() else None
    lines = _unsettled(session, study.id)
    found = [KeptOut(line.id, line.data["enrollment"], line.created_at) for line in reversed(lines)]
    if participant.strip():
        return [one for one in found if whose is not None and one.pseudonym == whose.pseudonym]
    return found


def let_in(session: Session, principal: principals.Principal, number: int) -> None:
    """Let one of `kept_out` go on where that person stopped; their former visits end.

    Where the platform has no visits it is whoever comes next with the id. Raises AnnotationError `unknown_visit`.
    """
    study = principals.study_for(session, principal, "admin")
    line = next((one for one in _unsettled(session, study.id) if one.id == number), None)
    if line is None:
        raise errors.AnnotationError("unknown_visit", "this visit waits no more; load the page again")
    ours = Enrollment.study_id == study.id, Enrollment.pseudonym == line.data["enrollment"]
    person = session.scalars(select(Enrollment).where(*ours)).one()
    hold_person(session, person.rater_id)
    links.withdraw_links(session, person)
    visit = Invite.id == line.data["visit"], Invite.enrollment_id == person.id
    session.execute(update(Invite).where(*visit).values(revoked_at=None))
    audit(session, study.id, principal.rater_id, LET_IN, **line.data)


def _unsettled(session: Session, study_id: int) -> list[Event]:
    """Lines of visits that are still kept out: whoever is let in, or whose links are withdrawn, has none."""
    found: list[Event] = []
    which = or_(*(audited(study_id, what) for what in (KEPT_OUT, LET_IN, "revoke", "erase_person")))
    for line in session.scalars(select(Event).where(which).order_by(Event.id)):
        if line.what != KEPT_OUT:
            found = [one for one in found if one.data["enrollment"] != line.data["enrollment"]]
        else:
            found.append(line)
    return found
