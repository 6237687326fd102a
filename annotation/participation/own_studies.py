"""One person's studies: where they take part in which role, made by them, put away, and gone to in one browser.

Who is the only admin of a study is the same person in those that they make, so one sign-in leads to all of them. An
admin can make a link for anybody of their study and sign in by it as that person: so a sign-in leads on from its link's
study only to where all who were ever admins of that study are admins too, and who shares a study is somebody new in
what they make. A browser is in one study at a time; what a page asks for is done only in the study it was drawn for.
"""

from dataclasses import replace

from sqlalchemy import ColumnElement, orm, select, update

from annotation import errors, protocol, studies
from annotation.people import links, principals, sign_ins
from annotation.planning.plan_root import keep_changed_root
from db import people_tables, tables
from plain.hashes import text_sha256

ARCHIVE = ("archive", "unarchive")  # acts; the last of them counts


def own_places(session: orm.Session, principal: principals.Principal, cookie: str) -> list[principals.Principal]:
    """This person in every study that this sign-in leads to, the newest first; for evaluators and admins."""
    principals.require_role(principal, "evaluator")
    mine = people_tables.Enrollment.rater_id == principal.rater_id, people_tables.Enrollment.status != "withdrawn"
    found = session.scalars(
        select(people_tables.Enrollment).where(*mine).order_by(people_tables.Enrollment.study_id.desc())
    )
    door = session.scalar(
        select(people_tables.Enrollment.study_id)
        .join(people_tables.Invite, people_tables.Invite.enrollment_id == people_tables.Enrollment.id)
        .join(people_tables.SignIn, people_tables.SignIn.invite_id == people_tables.Invite.id)
        .where(people_tables.SignIn.cookie_sha256 == text_sha256(cookie))
    )
    if door is None:
        return []
    could_come = _admins(session, door)  # as anybody of that study
    return [
        replace(principal, study_id=one.study_id, role=one.role, enrollment_id=one.id)
        for one in found
        if one.study_id == door
        or could_come <= _admins(session, one.study_id, people_tables.Enrollment.status != "withdrawn")
    ]


def _admins(session: orm.Session, study_id: int, *which: ColumnElement[bool]) -> set[int]:
    """Raters who ever could make links in this study, apart from the server's own key, whose holder may do anything."""
    of_study = people_tables.Enrollment.study_id == study_id, people_tables.Enrollment.role == "admin"
    others = people_tables.Rater.handle != people_tables.SERVERS_OWN
    found = select(people_tables.Rater.id).join(
        people_tables.Enrollment, people_tables.Enrollment.rater_id == people_tables.Rater.id
    )
    return set(session.scalars(found.where(*of_study, others, *which)))


def make_study(
    session: orm.Session, principal: principals.Principal, name: str, text: str, seed: int
) -> tuple[tables.Study, str]:
    """A new study, whose admin is who makes it, and a token for them there, which works however they came here.

    Raises AnnotationError `name_taken`, and as `init_study` does.
    """
    principals.require_role(principal, "admin")
    if principal.rater_id is None or principal.enrollment_id is None:
        raise errors.AnnotationError("forbidden", "the command line makes studies itself: calipers init")
    if session.scalar(select(tables.Study.id).where(tables.Study.name == name)) is not None:
        raise errors.AnnotationError(
            "name_taken", "there is a study called {name!r}; give this one another name", name=name
        )
    study = studies.init_study(session, name, text, seed, rater_id=principal.rater_id)
    if _admins(session, principal.study_id) <= {principal.rater_id}:
        maker = people_tables.Enrollment(
            study_id=study.id, rater_id=principal.rater_id, role="admin", pseudonym="admin-01"
        )
        session.add(maker)
        session.flush()
    else:
        maker = principals.enroll(session, study, principals.name_of(session, principal.enrollment_id), "admin")
    return study, links.link_of(session, study, maker)


def change_protocol(session: orm.Session, principal: principals.Principal, text: str) -> tables.Study:
    """Bring the study to this text of its protocol, as a new version; raises AnnotationError as `init_study`."""
    study = principals.study_for(session, principal, "admin")
    if protocol.protocol_sha256(text) != study.protocol_sha256:
        studies.init_study(session, study.name, text, study.seed, rater_id=principal.rater_id)
        keep_changed_root(session, study)
    return study


def set_archived(session: orm.Session, principal: principals.Principal, is_archived: bool) -> None:
    """Put the study away from everybody's list, or back; nothing else of it changes."""
    study = principals.study_for(session, principal, "admin")
    studies.audit(session, study.id, principal.rater_id, ARCHIVE[not is_archived])


def is_archived(session: orm.Session, study_id: int) -> bool:
    """Whether an admin put it away and nobody brought it back."""
    acts = tables.Event.study_id == study_id, tables.Event.kind == "audit", tables.Event.what.in_(ARCHIVE)
    return (
        session.scalar(select(tables.Event.what).where(*acts).order_by(tables.Event.id.desc()).limit(1)) == ARCHIVE[0]
    )


def go_to(session: orm.Session, principal: principals.Principal, cookie: str, study_id: int) -> None:
    """From now on this browser is in another study of the same person. Raises AnnotationError `unknown_study`."""
    there = next((place for place in own_places(session, principal, cookie) if place.study_id == study_id), None)
    signed = session.scalar(
        select(people_tables.SignIn).where(people_tables.SignIn.cookie_sha256 == text_sha256(cookie))
    )
    if there is None or signed is None or signed.enrollment_id != principal.enrollment_id:
        raise errors.AnnotationError("unknown_study", "you take part in no such study; load the page again")
    moved = (
        update(people_tables.SignIn).where(*sign_ins.of_one_browser(signed)).values(enrollment_id=there.enrollment_id)
    )
    session.execute(moved.execution_options(synchronize_session=False))
    studies.audit(session, study_id, principal.rater_id, "sign_in", invite=signed.invite_id)
