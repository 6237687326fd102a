"""Who acts, in which role, what a role may do, and a person's place in a study with the pseudonym of every export."""

import hashlib
import hmac
import unicodedata
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, orm, select

from annotation import errors, studies
from annotation.people.keys import key_of
from db.people_tables import Enrollment, Rater
from db.tables import Event, Study
from plain.hashes import keyed
from plain.wording import worded

OF = " of "  # in a provider's own id, and in no address
KEY = "participant_key"  # the audit line that holds the study's key; lines are never changed


@dataclass(frozen=True)
class Principal:
    """Who acts, in which study, in which role. `rater_id` is None for the command line's local admin.

    `seen_at`: when this sign-in was last noted as being used, `invite_id`: the link it came by; None without one.
    """

    study_id: int
    role: str
    rater_id: int | None = None
    enrollment_id: int | None = None
    opaque_id: str = ""
    seen_at: datetime | None = None
    invite_id: int | None = None


def local_admin(study: Study) -> Principal:
    """Whoever can start the command line on this database is its admin."""
    return Principal(study_id=study.id, role="admin")


def study_for(session: orm.Session, principal: Principal, *roles: str) -> Study:
    """The principal's study, if the role is one of `roles`. Raises AnnotationError `forbidden` otherwise."""
    require_role(principal, *roles)
    return session.get_one(Study, principal.study_id)


def downloading(session: orm.Session, kind: str, principal: Principal) -> Principal:
    """The same person, of whose download of such a file the study's audit trail has a line then."""
    studies.audit(session, principal.study_id, principal.rater_id, "export", kind=kind)
    return principal


def require_role(principal: Principal, *roles: str) -> None:
    """Raises AnnotationError `forbidden` unless the role is one of `roles`; an admin may what an evaluator may."""
    held = {principal.role} | ({"evaluator"} if principal.role == "admin" else set())
    if not held & set(roles):
        raise errors.AnnotationError(
            "forbidden",
            "this needs the role {roles}; ask the study's admin",
            roles=worded(" or ").join(map(worded, roles)),
        )


def may_label(session: orm.Session, principal: Principal) -> bool:
    """Annotators and adjudicators may; those who can see systems only where the protocol says so."""
    if principal.role in ("annotator", "adjudicator"):
        return True
    study = session.get_one(Study, principal.study_id)
    return principal.role in ("evaluator", "admin") and studies.protocol_of(study).study.may_see_and_label


def choose_language(session: orm.Session, principal: Principal, language: str) -> None:
    """Keep the language in which an evaluator's pages speak to this person. Raises AnnotationError `forbidden`."""
    require_role(principal, "evaluator")
    person = session.get(Enrollment, principal.enrollment_id) if principal.enrollment_id is not None else None
    if person is None:
        return  # the command line's local admin, who has no pages
    person.preferences = {**person.preferences, "language": language}


def enroll(session: orm.Session, study: Study, name: str, role: str, *, is_simulated: bool = False) -> Enrollment:
    """A new person in the study, with the pseudonym that every export uses."""
    # two who enter at once wait here for each other, so that no pseudonym is given twice
    studies.hold_study(session, study)
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


def lookalike_of(session: orm.Session, study: Study, name: str) -> str | None:
    """Somebody's name that differs from `name` in capitals, blanks or forms of the same letters only."""
    names = session.scalars(
        select(Rater.handle).join(Enrollment, Enrollment.rater_id == Rater.id).where(Enrollment.study_id == study.id)
    )
    return next((taken for taken in names if taken != name and _folded(taken) == _folded(name)), None)


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def find_enrollment(session: orm.Session, study: Study, name: str) -> Enrollment | None:
    """The person whom admins know by this name; None where there is nobody."""
    return session.scalar(
        select(Enrollment)
        .join(Rater, Rater.id == Enrollment.rater_id)
        .where(Enrollment.study_id == study.id, Rater.handle == name.strip())
    )


def erased_mark(session: orm.Session, name: str) -> str:
    """What stays of an erased name while its study goes on, so that nobody comes again by a group as somebody new."""
    return keyed(key_of(session, "erased"), compared(name))


def compared(name: str) -> str:
    """A name as accounts are told apart by it: a provider's own id as it is, an address without ASCII's capitals.

    Other letters fold into somebody else's: the sign of kelvin into k.
    """
    return name if OF in name else name.encode().strip().lower().decode()  # bytes have no other capitals and blanks


def known_as(session: orm.Session, name: str) -> list[Enrollment]:
    """Everybody, of every study, who is called so as accounts are told apart; see `compared`."""
    alike = select(Enrollment, Rater.handle).join(Rater, Rater.id == Enrollment.rater_id)
    # a database may fold other letters too
    found = session.execute(alike.where(func.lower(Rater.handle) == func.lower(name)))
    return [person for person, handle in found if compared(handle) == compared(name)]


def enrollment_of(session: orm.Session, study: Study, name: str) -> Enrollment:
    """The same, or whom a crowd platform knows by this id. Raises AnnotationError `unknown_person`."""
    found = find_enrollment(session, study, name) or find_participant(session, study.id, name)
    if found is None:
        raise errors.AnnotationError(
            "unknown_person", "nobody called {name!r} in {study!r}; see: calipers people {study}", name=name.strip(),
            study=study.name,
        )  # fmt: skip
    return found


def participant_hash(session: orm.Session, study_id: int, participant: str) -> str:
    """What stands for a participant's id in this study; nobody can work it out without the study's key."""
    key = study_key(session, study_id) or ""
    return hmac.new(key.encode(), participant.encode(), hashlib.sha256).hexdigest()


def study_key(session: orm.Session, study_id: int) -> str | None:
    """The study's secret for everything about participants; None before its first open link."""
    lines = select(Event).where(studies.audited(study_id, KEY))
    line = session.scalar(lines.order_by(Event.created_at).limit(1))
    return None if line is None else str(line.data["key"])


def find_participant(session: orm.Session, study_id: int, participant: str) -> Enrollment | None:
    """Whoever a crowd platform knows by this id; None where there is nobody."""
    hashed = participant_hash(session, study_id, participant.strip())
    same = Enrollment.study_id == study_id, Enrollment.participant_sha256 == hashed
    return session.scalar(select(Enrollment).where(*same))


def name_of(session: orm.Session, enrollment_id: int) -> str:
    """The name under which this person was invited."""
    return session.scalars(
        select(Rater.handle).join(Enrollment, Enrollment.rater_id == Rater.id).where(Enrollment.id == enrollment_id)
    ).one()


def names_apart(session: orm.Session, one_id: int, other_id: int) -> tuple[str, str]:
    """The names of two people; with the titles of their studies where these are two, in which one name may be both."""
    one, other = session.get_one(Enrollment, one_id), session.get_one(Enrollment, other_id)
    names = name_of(session, one_id), name_of(session, other_id)
    if one.study_id == other.study_id:
        return names
    titles = (studies.protocol_of(session.get_one(Study, each.study_id)).title for each in (one, other))
    first, second = (f"{name} ({title})" for name, title in zip(names, titles, strict=True))
    return first, second
