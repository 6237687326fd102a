"""Completion codes: what a crowd platform's participant takes back to be paid."""

from __future__ import annotations

import base64
import hashlib
import hmac

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotation.people.open_links import study_key
from annotation.people.principals import Principal
from annotation.planning.quotas import quota_left
from annotation.work.positions import position
from annotation.work.twins import once_a_page
from db.people_tables import Enrollment
from db.tables import Assignment, Study

LENGTH = 8  # of 32 letters and digits each


def is_participant(session: Session, principal: Principal) -> bool:
    """Whether this person came by an open link, so that a code waits for them at the end."""
    found = session.get(Enrollment, principal.enrollment_id) if principal.enrollment_id else None
    return found is not None and found.participant_sha256 is not None


def completion_code(session: Session, principal: Principal) -> str | None:
    """The person's code once nothing is left for them to do; None before, and for whoever came by no open link.

    It follows from the study's own key, so it is the same whenever it is asked for, and nobody can work it out.
    """
    if principal.enrollment_id is None:
        return None
    person = session.get_one(Enrollment, principal.enrollment_id)
    key = study_key(session, person.study_id) if person.participant_sha256 else None
    if key is None or not _is_done(session, principal, person):
        return None
    digest = hmac.new(key.encode(), f"completion {person.participant_sha256}".encode(), hashlib.sha256).digest()
    return base64.b32encode(digest).decode()[:LENGTH]


def _is_done(session: Session, principal: Principal, person: Enrollment) -> bool:
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
    if quota_left(session, study, person.rater_id) == 0:
        return True
    passed = select(func.count()).where(*mine, Assignment.returned == "skipped", *once_a_page(study))
    skipped = session.scalar(passed) or 0
    return done >= of and skipped <= done and study.status != "paused"
