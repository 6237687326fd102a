"""What is stored about one person, all of it; and names, which go when somebody asks or when their time is over.

Labels stay, with their reasons: they are append-only, and under a pseudonym that then leads to nobody.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, orm, select, update

from annotation.errors import AnnotationError
from annotation.leaks import redaction
from annotation.participation import people_list, standing
from annotation.people import links, principals, sign_ins
from annotation.studies import audit, audit_data, audited
from db import people_tables, tables, types
from plain.hashes import text_sha256
from plain.wording import several

PERIOD = "keep_names"  # the audit line that says for how many days after closing; the newest counts
DELETED = "delete_names"
DAYS_MAX = 36_500
OVER = ("closed", "locked")  # nobody comes any more
# what signs somebody in or seals their files; and hashes, which say nothing to anybody
SECRETS = ("token_sha256", "cookie_sha256", "participant_sha256", "secret")


def person_record(session: orm.Session, principal: principals.Principal, name: str) -> dict[str, Any]:
    """Everything that is stored about this person, for an admin to hand out to them: table -> rows, secrets apart.

    Acts of others that name them by their pseudonym are in it too. Raises AnnotationError `unknown_person`.
    """
    study = principals.study_for(session, principal, "admin")
    person = principals.enrollment_of(session, study, name)
    own = tables.Assignment.study_id == study.id, tables.Assignment.rater_id == person.rater_id
    work = select(tables.Assignment.id).where(*own)
    events = select(tables.Event).where(tables.Event.study_id == study.id)
    about = [
        event
        for event in session.scalars(events.where(tables.Event.rater_id.is_distinct_from(person.rater_id)))
        if event.data.get("enrollment") == person.pseudonym
    ]
    kept: dict[str, Select[Any]] = {
        "person": select(people_tables.Rater).where(people_tables.Rater.id == person.rater_id),
        "enrollment": select(people_tables.Enrollment).where(people_tables.Enrollment.id == person.id),
        "links": select(people_tables.Invite).where(people_tables.Invite.enrollment_id == person.id),
        "sign_ins": select(people_tables.SignIn).where(people_tables.SignIn.enrollment_id == person.id),
        "packets": select(people_tables.Packet).where(people_tables.Packet.enrollment_id == person.id),
        "assignments": select(tables.Assignment).where(*own),
        "labels": select(tables.Label).where(tables.Label.assignment_id.in_(work)),
        "events": events.where(tables.Event.rater_id == person.rater_id),
    }
    found = {kind: [_plain(row) for row in session.scalars(rows)] for kind, rows in kept.items()}
    audit(session, study.id, principal.rater_id, "person_record", enrollment=person.pseudonym)
    return {"format": "calipers-person/1", "study": study.name, **found, "acts_of_others": [*map(_plain, about)]}


def _plain(row: Any) -> dict[str, Any]:
    columns = (column.name for column in row.__table__.columns if column.name not in SECRETS)
    values = {name: getattr(row, name) for name in columns}
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in values.items()}


def erase_person(session: orm.Session, principal: principals.Principal, name: str) -> str:
    """Take this person out, and delete their name and whatever leads to them; returns the pseudonym that stays.

    A keyed hash of a platform's id, or of the name, stays until names are deleted after closing: nobody is to come
    again as somebody new. To have their labels not used either, void them first. Raises AnnotationError
    `unknown_person`, or `other_studies` where their name is needed in others.
    """
    study = principals.study_for(session, principal, "admin")
    person = principals.enrollment_of(session, study, name)
    elsewhere = select(tables.Study.name).join(
        people_tables.Enrollment, people_tables.Enrollment.study_id == tables.Study.id
    )
    theirs = people_tables.Enrollment.rater_id == person.rater_id, people_tables.Enrollment.status != "withdrawn"
    if others := session.scalars(elsewhere.where(*theirs, tables.Study.id != study.id)).all():
        raise AnnotationError(
            "other_studies",
            "{name!r} is the same person in {others}, where the name would go too; take them out there first: "
            "calipers people STUDY --withdraw NAME", name=name.strip(), others=several(len(others), "other study"),
        )  # fmt: skip
    standing.withdraw(session, principal, name)
    mark = person.participant_sha256 or principals.erased_mark(session, name)
    _keep_places(session, [person.rater_id])
    _forget(session, person)
    same = people_tables.Enrollment.study_id == study.id, people_tables.Enrollment.participant_sha256 == mark
    if session.scalar(select(people_tables.Enrollment.id).where(*same)) is None:
        person.participant_sha256 = mark
    audit(session, study.id, principal.rater_id, "erase_person", enrollment=person.pseudonym)
    return person.pseudonym


def keep_names(session: orm.Session, principal: principals.Principal, days: int | None) -> None:
    """Names of who labels go so many days after the study was closed; None: they stay until they are deleted."""
    study = principals.study_for(session, principal, "admin")
    if days is not None and not 0 <= days <= DAYS_MAX:
        raise AnnotationError(
            "bad_number", "names are kept from 0 to {days_max} days after closing; none lifts it", days_max=DAYS_MAX
        )
    audit(session, study.id, principal.rater_id, PERIOD, days=days)


def names_kept(session: orm.Session, principal: principals.Principal) -> tuple[int | None, datetime | None]:
    """(days after closing, when names go by themselves); None: nobody said that they go, or the study is not closed."""
    study = principals.study_for(session, principal, "admin")
    return _period(session, study), names_due(session, study)


def names_due(session: orm.Session, study: tables.Study) -> datetime | None:
    """When this study's names go by themselves; None while it is not closed, or where nobody said that they go."""
    days = _period(session, study)
    # who locks a closed study does not begin the period anew
    acts = session.scalars(select(tables.Event).where(audited(study.id, "status")).order_by(tables.Event.id))
    closed = [act.created_at for act in acts if act.data["new"] == "closed"]
    return closed[-1] + timedelta(days=days) if study.status in OVER and days is not None else None


def _period(session: orm.Session, study: tables.Study) -> int | None:
    said = audit_data(session, study.id, PERIOD)
    return said[-1]["days"] if said else None


def delete_names(session: orm.Session, principal: principals.Principal) -> int:
    """Delete the names of everybody who labels or settles here, now; returns how many. Admins' names stay.

    Raises AnnotationError `not_closed` before the study is closed: people of a platform could come again as new ones,
    and nobody could settle with them.
    """
    study = principals.study_for(session, principal, "admin")
    if study.status not in OVER:
        raise AnnotationError(
            "not_closed", "close {name!r} first; one person's name goes at once by --erase", name=study.name
        )
    return _delete(session, study, principal.rater_id)


def delete_names_due(session: orm.Session) -> dict[str, int]:
    """study -> how many names went, of every study whose time is over; the server asks for it every hour."""
    over = [
        study
        for study in session.scalars(select(tables.Study)).all()
        if (due := names_due(session, study)) is not None and due <= types.now()
    ]
    gone = {study.name: _delete(session, study, None) for study in over}
    return {name: count for name, count in gone.items() if count}


def _delete(session: orm.Session, study: tables.Study, rater_id: int | None) -> int:
    people = select(people_tables.Enrollment).where(
        people_tables.Enrollment.study_id == study.id, people_tables.Enrollment.role.in_(people_list.LABELLERS)
    )
    found = session.scalars(people).all()
    _keep_places(session, [person.rater_id for person in found])
    named = [person for person in found if _forget(session, person)]
    if named:
        audit(session, study.id, rater_id, DELETED, people=[person.pseudonym for person in named])
    return len(named)


def _keep_places(session: orm.Session, rater_ids: Iterable[int]) -> None:
    """Note where the names of these people, which go now, stand in the reasons and quotes of every study of theirs.

    Those are never rewritten, and without the names nothing that is exported later would leave these out of them.
    """
    people, enrolled = people_tables.Rater, people_tables.Enrollment
    named: dict[int, list[str]] = {}
    called = select(enrolled.study_id, people.handle).join(people, people.id == enrolled.rater_id)
    for study_id, name in session.execute(called.where(people.id.in_(list(rater_ids)))):
        if not name.endswith(redaction.NAMELESS):
            named.setdefault(study_id, []).append(name)
    for study_id, names in named.items():
        find, found = redaction.Redactor(tuple(names)), dict[str, list[tuple[int, int]]]()
        typed = select(tables.Label.rationale, tables.Label.evidence).join(
            tables.Assignment, tables.Assignment.id == tables.Label.assignment_id
        )
        theirs = typed.where(tables.Assignment.study_id == study_id)
        for rationale, evidence in session.execute(theirs, execution_options={"yield_per": 1000}):
            for text in (rationale or "", *(span.get("quote") or "" for span in evidence or ())):
                if spans := list(find.names_in(text)):
                    found[text_sha256(text)] = spans
        if found:
            audit(session, study_id, None, redaction.PLACES, texts=found)


def _forget(session: orm.Session, person: people_tables.Enrollment) -> bool:
    """The pseudonym takes the name's place; what signs in, is remembered or is a platform's goes. False: it is gone."""
    rater, nameless = session.get_one(people_tables.Rater, person.rater_id), f"{person.pseudonym}{redaction.NAMELESS}"
    person.participant_sha256 = None
    if rater.handle == nameless:
        return False
    rater.handle, person.preferences = nameless, {}
    links.withdraw_links(session, person)
    groups = update(people_tables.Invite).where(people_tables.Invite.enrollment_id == person.id)
    session.execute(groups.values(account_groups=None))
    sign_ins.end_sign_ins(session, people_tables.SignIn.enrollment_id == person.id)
    return True
