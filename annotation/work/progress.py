"""How far a person is, in a number that never jumps, and the completion code that a crowd platform pays for."""

import base64
import hashlib
import hmac
from collections import Counter
from datetime import datetime

from sqlalchemy import Select, bindparam, func, orm, select

from annotation import adjudication, studies
from annotation.items.twins import once_a_page
from annotation.open_work import due, quotas
from annotation.people import principals
from db import connect, people_tables
from db.tables import Assignment, Item, Study

COUNTED = 10_000  # items of one person: who has more before them sees this number


def position(session: orm.Session, principal: principals.Principal) -> tuple[int, int]:
    """(submitted, of): how far this person is, training apart.

    `of` also counts the open slots they could still take, up to COUNTED, and what will be given to them between these.
    """
    study = session.get_one(Study, principal.study_id)
    rows = connect.rows_of(session, _held(study), {"rater": principal.rater_id})
    held: Counter[str] = Counter()
    labels = done = 0
    for purpose, status, count in rows:
        held[status] += count
        labels += count * (purpose == "label")
        done += count * (status != "taken")
    return done, held.total() + _to_come(session, principal, labels)


@studies.built_once
def _held(study: Study) -> Select[str, str, int]:
    return (
        select(Assignment.purpose, Assignment.status, func.count())
        .where(
            Assignment.study_id == study.id,
            Assignment.rater_id == quotas.RATER,
            Assignment.source != "judge",
            Assignment.purpose != "training",
            Assignment.status.in_(("taken", "submitted", "locked")),
            *once_a_page(study),
        )
        .group_by(Assignment.purpose, Assignment.status)
    )


def waits_until(session: orm.Session, principal: principals.Principal) -> datetime | None:
    """When there is work again for somebody who can take nothing more now, but has items that come later.

    None for everybody else: whoever has work in hand or could take some, and whoever is done.
    """
    study = session.get_one(Study, principal.study_id)
    if principal.rater_id is None or principal.role == "adjudicator" or study.status != "open":
        return None
    taken = select(Assignment.id).where(
        Assignment.study_id == study.id, Assignment.rater_id == principal.rater_id, Assignment.status == "taken"
    )
    if session.scalar(taken.limit(1)) is not None or _slots(session, study, principal.rater_id, 0):
        return None
    return due.waits_until(session, study, principal.rater_id)


def _to_come(session: orm.Session, principal: principals.Principal, labels: int) -> int:
    if principal.role == "adjudicator":
        return adjudication.count_disputes(session, principal)
    study = session.get_one(Study, principal.study_id)
    if study.status != "open" or principal.rater_id is None or not principals.may_label(session, principal):
        return 0
    slots = _slots(session, study, principal.rater_id, labels)
    return slots + due.still_due(session, study, principal.rater_id, labels + slots)


def _slots(session: orm.Session, study: Study, rater_id: int, labels: int) -> int:
    """How many more than `labels` this person could take under their quota: items, or topics where seen once."""
    left = quotas.quota_left(session, study, rater_id)
    counted = max(1, COUNTED - labels)
    most = counted if left is None else min(left, counted)
    still_open: int = connect.rows_of(session, _open_units(study), {"rater": rater_id, "most": most})[0][0]
    return still_open


@studies.built_once
def _open_units(study: Study) -> Select[int]:
    """How many there are, of which as many as `most` are looked for."""
    unit = Item.topic_id if studies.protocol_of(study).study.topic_once else Item.id
    units = quotas.open_to(study).order_by(None).with_only_columns(unit).distinct().limit(bindparam("most"))
    return select(func.count()).select_from(units.subquery())


LENGTH = 8  # of 32 letters and digits each


def is_participant(session: orm.Session, principal: principals.Principal) -> bool:
    """Whether this person came by an open link, so that a code waits for them at the end."""
    found = session.get(people_tables.Enrollment, principal.enrollment_id) if principal.enrollment_id else None
    return found is not None and found.participant_sha256 is not None


def completion_code(session: orm.Session, principal: principals.Principal) -> str | None:
    """The person's code once nothing is left for them to do; None before, and for whoever came by no open link.

    It follows from the study's own key, so it is the same whenever it is asked for, and nobody can work it out.
    """
    if principal.enrollment_id is None:
        return None
    person = session.get_one(people_tables.Enrollment, principal.enrollment_id)
    key = principals.study_key(session, person.study_id) if person.open_link_id and person.participant_sha256 else None
    if key is None or not _is_done(session, principal, person):
        return None
    digest = hmac.new(key.encode(), f"completion {person.participant_sha256}".encode(), hashlib.sha256).digest()
    return base64.b32encode(digest).decode()[:LENGTH]


def _is_done(session: orm.Session, principal: principals.Principal, person: people_tables.Enrollment) -> bool:
    """Quota reached, or nothing more to take; a study that is paused may go on. A repeat due days later is no reason
    to wait. Nobody comes to the end by skipping: who skipped more than they handed in is the owner's to pay or not."""
    study = session.get_one(Study, person.study_id)
    mine = Assignment.study_id == study.id, Assignment.rater_id == person.rater_id
    done, of = position(session, principal)
    if (
        not done
        or session.scalar(select(Assignment.id).where(*mine, Assignment.status == "taken").limit(1)) is not None
    ):
        return False
    if quotas.quota_left(session, study, person.rater_id) == 0:
        return True
    passed = select(func.count()).where(*mine, Assignment.returned == "skipped", *once_a_page(study))
    skipped = session.scalar(passed) or 0
    return done >= of and skipped <= done and study.status != "paused"
