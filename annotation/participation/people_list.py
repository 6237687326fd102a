"""The study's people as its admins see them: the only list with names, and what each is to be paid."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session

from annotation.items.twins import once_a_page
from annotation.people.active_time import seconds_by_assignment
from annotation.people.consent import consent_state
from annotation.people.principals import Principal, study_for
from annotation.studies import protocol_of
from annotation.training.training import training_state
from annotation.work.progress import completion_code
from db.people_tables import ROLES, Enrollment, Invite, Rater, SignIn
from db.tables import HANDED_IN, SLOT_SOURCES, Assignment, Study
from db.types import now

LABELLERS = ("annotator", "adjudicator")
WORK = ("label", "adjudicate")


@dataclass(frozen=True)
class PersonLine:
    """One person. Counts are of items to label, of an adjudicator to settle.

    `active_s` is of everything they did, training and checks as well.
    """

    name: str
    pseudonym: str
    role: str
    status: str  # active | paused | withdrawn
    consent: str  # none (not asked) | asked | given | outdated | withdrawn
    training: str  # none (not asked) | under_way | passed | failed
    quota: int | None
    handed_in: int
    in_work: int
    void: int  # taken out by an admin
    active_s: float
    links: int  # that work now
    link_uses: int  # how often this person's links were used
    link_used_at: datetime | None
    seen_at: datetime | None
    completion_code: str | None  # of who came by an open link and has nothing left to do


def list_people(session: Session, principal: Principal, active: Mapping[int, float] | None = None) -> list[PersonLine]:
    """Everybody in the study; for admins. `active`: `active_seconds_by_rater` where it is at hand already."""
    study = study_for(session, principal, "admin")
    protocol = protocol_of(study)
    links, uses, counts = _links(session, study), _uses(session, study), _counts(session, study)
    active = active_seconds_by_rater(session, study) if active is None else active
    rows = session.execute(
        select(Enrollment, Rater.handle)
        .join(Rater, Rater.id == Enrollment.rater_id)
        .where(Enrollment.study_id == study.id)
        .order_by(Enrollment.id)
    )
    people = [
        PersonLine(
            name=name,
            pseudonym=person.pseudonym,
            role=person.role,
            status=person.status,
            consent=consent_state(protocol, person) if person.role in LABELLERS else "none",
            training=training_state(session, study, person).status if person.role in LABELLERS else "none",
            quota=person.quota,
            handed_in=counts[person.rater_id, "handed_in"],
            in_work=counts[person.rater_id, "in_work"],
            void=counts[person.rater_id, "void"],
            active_s=active.get(person.rater_id, 0.0),
            links=links.get(person.id, 0),
            link_uses=uses[person.id].n if person.id in uses else 0,
            link_used_at=uses[person.id].used_at if person.id in uses else None,
            seen_at=uses[person.id].seen_at if person.id in uses else None,
            completion_code=completion_code(session, Principal(study.id, person.role, person.rater_id, person.id)),
        )
        for person, name in rows
    ]
    return sorted(people, key=lambda person: ROLES.index(person.role))


def active_seconds_by_rater(session: Session, study: Study) -> dict[int, float]:
    """rater -> active seconds on everything of theirs: labels, training, checks, work that went back or is void."""
    spent = seconds_by_assignment(session, study)
    whose = select(Assignment.id, Assignment.rater_id).where(Assignment.study_id == study.id)
    found: dict[int, float] = {}
    for assignment, rater in session.execute(whose.where(Assignment.rater_id.is_not(None))):
        if rater is not None and assignment in spent:
            found[rater] = found.get(rater, 0.0) + sum(spent[assignment].values())
    return found


def _counts(session: Session, study: Study) -> Counter[tuple[int, str]]:
    """(rater, column) -> items to label, of an adjudicator to settle."""
    column = {"taken": "in_work", "void": "void"} | dict.fromkeys(HANDED_IN, "handed_in")
    rows = session.execute(
        select(Assignment.rater_id, Assignment.status, func.count())
        .where(Assignment.study_id == study.id, Assignment.purpose.in_(WORK), Assignment.status.in_(column))
        .where(*once_a_page(study))
        .group_by(Assignment.rater_id, Assignment.status)
    )
    found: Counter[tuple[int, str]] = Counter()
    for rater, status, n in rows:
        found[rater or 0, column[status]] += n
    return found


def _links(session: Session, study: Study) -> dict[int, int]:
    """enrollment -> links that work now; a link for single use works until it is used."""
    rows = session.execute(
        select(Invite.enrollment_id, func.count())
        .join(Enrollment, Enrollment.id == Invite.enrollment_id)
        .where(
            Enrollment.study_id == study.id,
            Enrollment.status != "withdrawn",
            Invite.revoked_at.is_(None),
            Invite.expires_at > now(),
            Invite.single_use.is_(False) | Invite.used_at.is_(None),
        )
        .group_by(Invite.enrollment_id)
    )
    return {person: n for person, n in rows}


def _uses(session: Session, study: Study) -> dict[int, Row[int, int, datetime, datetime]]:
    """enrollment -> how often links were used (`n`), when last (`used_at`), and when the person was last seen."""
    rows = session.execute(
        select(
            SignIn.enrollment_id,
            func.count(SignIn.created_at.distinct()).label("n"),  # a renewed cookie is the same use of a link
            func.max(SignIn.created_at).label("used_at"),
            func.max(SignIn.seen_at).label("seen_at"),
        )
        .join(Enrollment, Enrollment.id == SignIn.enrollment_id)
        .where(Enrollment.study_id == study.id)
        .group_by(SignIn.enrollment_id)
    )  # fmt: skip
    return {row.enrollment_id: row for row in rows}


@dataclass(frozen=True)
class PayLine:
    """One person's work. Hours and amount are not rounded; whoever prints them rounds, and says so."""

    name: str
    pseudonym: str
    role: str
    items: int  # handed in, of every kind: labels, training, repeats and disputes are work
    active_h: float  # also on work that went back or was taken out
    wall_h: float  # from taking an item to handing it in, summed over items
    rate: float  # per active hour
    currency: str
    amount: float


def pay_lines(session: Session, principal: Principal) -> list[PayLine]:
    """Everybody who labels or adjudicates, or did; for admins, as names are in it."""
    study = study_for(session, principal, "admin")
    pay = protocol_of(study).study.pay
    active = active_seconds_by_rater(session, study)
    items, wall = _handed_in(session, study)
    people = session.execute(
        select(Enrollment, Rater.handle)
        .join(Rater, Rater.id == Enrollment.rater_id)
        .where(Enrollment.study_id == study.id)
        .order_by(Enrollment.role, Enrollment.id)
    )
    return [
        PayLine(
            name, person.pseudonym, person.role, items[person.rater_id],
            hours := active.get(person.rater_id, 0.0) / 3600, wall[person.rater_id] / 3600,
            pay.rate, pay.currency, hours * pay.rate,
        )
        for person, name in people
        if person.role in LABELLERS or person.rater_id in active or items[person.rater_id]
    ]  # fmt: skip


def _handed_in(session: Session, study: Study) -> tuple[Counter[int], dict[int, float]]:
    """rater -> items handed in, also those taken out since, and seconds from taking to the last handing in."""
    rows = session.execute(
        select(Assignment.rater_id, Assignment.taken_at, Assignment.submitted_at).where(
            Assignment.study_id == study.id, Assignment.rater_id.is_not(None),
            Assignment.submitted_at.is_not(None), Assignment.source.in_(SLOT_SOURCES), *once_a_page(study),
        )
    )  # fmt: skip
    items: Counter[int] = Counter()
    wall: dict[int, float] = defaultdict(float)
    for rater, taken, submitted in rows:
        if rater is not None:
            items[rater] += 1
            if taken is not None and submitted is not None:
                wall[rater] += max(0.0, (submitted - taken).total_seconds())
    return items, wall
