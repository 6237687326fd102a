"""End every sign-in of one person at once: by themselves, or by an admin. Their links stay good."""

from __future__ import annotations

from sqlalchemy.orm import Session

from annotation.people.enrollments import enrollment_of
from annotation.people.principals import Principal, study_for
from annotation.people.sign_ins import end_sign_ins
from annotation.studies import audit
from db.people_tables import SignIn


def sign_out_everywhere(session: Session, principal: Principal) -> None:
    """Every browser this person is signed in with is signed out, also the one that asks."""
    end_sign_ins(session, SignIn.enrollment_id == principal.enrollment_id)
    audit(session, principal.study_id, principal.rater_id, "sign_out_everywhere")


def sign_out_person(session: Session, principal: Principal, name: str) -> None:
    """The same for somebody else, by an admin: after a lost computer. To end their links as well, see `revoke`."""
    study = study_for(session, principal, "admin")
    person = enrollment_of(session, study, name)
    end_sign_ins(session, SignIn.enrollment_id == person.id)
    audit(session, study.id, principal.rater_id, "sign_out_person", enrollment=person.pseudonym)
