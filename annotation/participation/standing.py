"""How somebody takes part in a study: paused, withdrawn by themselves or an admin, their quota, work taken out."""

import math

from sqlalchemy import Select, func, orm, select, update

from annotation.errors import AnnotationError
from annotation.items.twins import once_a_page
from annotation.labels.entries import clean
from annotation.open_work import quotas, returns
from annotation.people import consent, principals, sign_ins
from annotation.studies import audit, hold_person
from db.people_tables import Enrollment, SignIn
from db.tables import LIVE, SLOT_SOURCES, Assignment, Item, Study

QUOTA_MAX = 1_000_000  # more than any study has; both databases can count so far


def pause(session: orm.Session, principal: principals.Principal, name: str) -> None:
    """No new work for this person until they are resumed; what they have in hand they may finish."""
    _move(session, principal, name, "paused", "pause")


def resume(session: orm.Session, principal: principals.Principal, name: str) -> None:
    """New work again, also for somebody who was withdrawn; their links work as they did."""
    _move(session, principal, name, "active", "resume")


def withdraw(session: orm.Session, principal: principals.Principal, name: str) -> int:
    """This person leaves: their sign-ins end, and work in hand returns to the pool; what they handed in stays.

    Returns how many items went back.
    """
    person = _move(session, principal, name, "withdrawn", "withdraw")
    sign_ins.end_sign_ins(session, SignIn.enrollment_id == person.id)
    return return_in_hand(session, person)


def return_in_hand(session: orm.Session, person: Enrollment) -> int:
    """Give back what this withdrawn person has taken and not handed in. What was reopened counts as it is.

    Returns how many items went back.
    """
    back = 0
    for mine in _held(session, person, ("taken",)):
        if mine.submitted_at is not None:
            mine.status = "submitted"
        elif mine.status == "taken":  # not gone back with its twin
            returns.give_back(session, mine, "withdrawn")
            back += 1
    session.flush()
    return back


def hold_work(session: orm.Session, person: Enrollment) -> None:
    """Hold all that this person has in work, then the person: what is handed in at this moment is over first.

    Work that they took while this waited is not waited for with the person held: all is let go, and begun again.
    """
    taken = _work(person, ("taken",)).with_only_columns(Assignment.id)
    while True:
        with session.begin_nested() as attempt:
            held = {mine.id for mine in _held(session, person, ("taken",))}
            hold_person(session, person.rater_id)
            if held.issuperset(session.scalars(taken)):
                return
            attempt.rollback()


def void_work(session: orm.Session, principal: principals.Principal, name: str, reason: str) -> int:
    """Take out everything this person labelled: no verdict counts it, and its slots are open again for others.

    Rows, labels and time are kept, with the reason. Returns how many slots are open again. Raises AnnotationError
    `no_reason`, or `locked` once the study's labels are frozen.
    """
    study = principals.study_for(session, principal, "admin")
    person = principals.enrollment_of(session, study, name)
    if study.status == "locked":
        raise AnnotationError(
            "locked", "study {name!r} is locked; its labels are frozen, also against this", name=study.name
        )
    if not reason.strip():
        raise AnnotationError("no_reason", "taking work out needs a reason; it is kept with the work")
    slots = 0
    for mine in _held(session, person, ("taken", "submitted", "returned")):
        if mine.status != "returned" and mine.source in SLOT_SOURCES:
            slots += returns.give_back(session, mine, "void") is not None
        mine.status = "void"
    session.flush()
    told = {"enrollment": person.pseudonym, "reason": clean(reason), "slots": slots}
    audit(session, study.id, principal.rater_id, "void_work", **told)
    return slots


def set_quota(session: orm.Session, principal: principals.Principal, quota: int | None, name: str = "") -> None:
    """How many items this person may take, or without a name each annotator; None: as many as there are."""
    study = principals.study_for(session, principal, "admin")
    if quota is not None and not 0 <= quota <= QUOTA_MAX:
        raise AnnotationError(
            "bad_number", "a quota is a number of items from 0 to {quota_max}; none lifts it", quota_max=QUOTA_MAX
        )
    whose = [principals.enrollment_of(session, study, name)] if name else _annotators(session, study)
    for person in whose:
        person.quota = quota
    audit(
        session,
        study.id,
        principal.rater_id,
        "quota",
        quota=quota,
        people=[enrollment.pseudonym for enrollment in whose],
    )


def equal_quota(session: orm.Session, principal: principals.Principal) -> int:
    """Give every annotator who has not left the same share of the label slots, rounded up; returns it.

    Raises AnnotationError `nobody` while there is no annotator.
    """
    study = principals.study_for(session, principal, "admin")
    people = _annotators(session, study)
    if not people:
        raise AnnotationError("nobody", "nobody labels in {name!r} yet; invite annotators first", name=study.name)
    slots = session.scalar(
        select(func.count())
        .select_from(Assignment)
        .join(Item, Item.id == Assignment.item_id)
        .where(
            Assignment.study_id == study.id, Assignment.purpose == "label", Assignment.pass_no == 1,
            Assignment.status.in_(LIVE), Assignment.source.in_(SLOT_SOURCES), Item.excluded_at.is_(None),
            *once_a_page(study),
        )
    )  # fmt: skip
    quota = math.ceil((slots or 0) / len(people))
    set_quota(session, principal, quota)
    return quota


def _move(session: orm.Session, principal: principals.Principal, name: str, status: str, what: str) -> Enrollment:
    study = principals.study_for(session, principal, "admin")
    person = principals.enrollment_of(session, study, name)
    hold_work(session, person)
    audit(session, study.id, principal.rater_id, what, enrollment=person.pseudonym, old=person.status, new=status)
    person.status = status
    session.flush()
    return person


def _held(session: orm.Session, person: Enrollment, statuses: tuple[str, ...]) -> list[Assignment]:
    """Their work in these states, held until the end of the transaction, so that a save under way is over first."""
    held = _work(person, statuses).order_by(Assignment.id).with_for_update().execution_options(populate_existing=True)
    return list(session.scalars(held))


def _work(person: Enrollment, statuses: tuple[str, ...]) -> Select[Assignment]:
    return select(Assignment).where(
        Assignment.study_id == person.study_id, Assignment.rater_id == person.rater_id, Assignment.source != "judge",
        Assignment.status.in_(statuses),
    )  # fmt: skip


def _annotators(session: orm.Session, study: Study) -> list[Enrollment]:
    people = select(Enrollment).where(
        Enrollment.study_id == study.id, Enrollment.role == "annotator", Enrollment.status != "withdrawn"
    )
    return list(session.scalars(people.order_by(Enrollment.id)))


def withdraw_consent(session: orm.Session, principal: principals.Principal) -> int:
    """Work in hand returns to the pool with its labels; what was handed in stays until an admin voids it.

    Returns how many items went back. Raises AnnotationError `forbidden`, or `no_consent` where none was given.
    """
    study, _, person = consent.own_consent(session, principal)
    if person.consent_sha256 is None:
        raise AnnotationError("no_consent", "there is no agreement of yours to take back")
    hold_work(session, person)
    back = return_in_hand(session, person)
    # nor does anything come back to them by itself
    session.execute(
        update(Assignment)
        .where(
            Assignment.study_id == study.id, Assignment.rater_id == person.rater_id, Assignment.status == "returned",
            Assignment.returned.in_(quotas.CAME_BACK),
        )
        .values(returned="withdrawn")
    )  # fmt: skip
    version, person.consent_sha256 = person.consent_sha256, None
    audit(session, study.id, principal.rater_id, "withdraw_consent", sha256=version, returned=back)
    return back
