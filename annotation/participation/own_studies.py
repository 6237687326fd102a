"""One person's studies: where they take part in which role, made by them, put away, and gone to in one browser.

A sign-in by an account of a lab's provider leads to all places of that account, whose word nobody here can give. By a
link, who is the only admin of a study is the same person in those that they make, so one sign-in leads to all of them.
An admin can make a link for anybody of their study and sign in by it as that person: so a link leads on from its study
only to where all who were ever admins of that study are admins too, and who shares a study is somebody new in what they
make. A browser is in one study at a time; what a page asks for is done only in the study it was drawn for.
"""

from sqlalchemy import ColumnElement, orm, select, update

from annotation import errors, protocol, studies
from annotation.people import accounts, links, principals, sign_ins
from annotation.planning.plan_root import keep_changed_root
from db import tables
from db.people_tables import SERVERS_OWN, Enrollment, Invite, Rater, SignIn
from plain.hashes import text_sha256

ARCHIVE = ("archive", "unarchive")  # acts; the last of them counts


def own_places(session: orm.Session, principal: principals.Principal) -> list[accounts.Place]:
    """Where this sign-in leads to: of a link the newest first, of an account what sees most."""
    if principal.invite_id is None:
        return []
    if (account := _account(session, principal)) is not None:
        return accounts.places(session, account)
    mine = Enrollment.rater_id == principal.rater_id, Enrollment.status != "withdrawn"
    found = select(Enrollment).where(*mine).order_by(Enrollment.study_id.desc())
    door = session.get_one(Invite, principal.invite_id)
    came_to = session.get_one(Enrollment, door.enrollment_id).study_id
    could_come = _admins(session, came_to)  # as anybody of that study
    return [
        accounts.Place(one.study_id, one.role, one)
        for one in session.scalars(found)
        if one.study_id == came_to or could_come <= _admins(session, one.study_id, Enrollment.status != "withdrawn")
    ]


def _account(session: orm.Session, principal: principals.Principal) -> accounts.Account | None:
    """The account that signed in here, which has its own name in every study; None of who came by a link."""
    groups = session.get_one(Invite, principal.invite_id).account_groups
    if groups is None or principal.enrollment_id is None:
        return None
    return accounts.Account(principals.name_of(session, principal.enrollment_id), tuple(groups))


def _admins(session: orm.Session, study_id: int, *which: ColumnElement[bool]) -> set[int]:
    """Raters who ever could make links in this study, apart from the server's own key, whose holder may do anything."""
    of_study = Enrollment.study_id == study_id, Enrollment.role == "admin"
    others = Rater.handle != SERVERS_OWN
    found = select(Rater.id).join(Enrollment, Enrollment.rater_id == Rater.id)
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
        maker = Enrollment(study_id=study.id, rater_id=principal.rater_id, role="admin", pseudonym="admin-01")
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
    there = next((place for place in own_places(session, principal) if place.study_id == study_id), None)
    signed = session.scalar(select(SignIn).where(SignIn.cookie_sha256 == text_sha256(cookie)))
    if there is None or signed is None or signed.enrollment_id != principal.enrollment_id:
        raise errors.AnnotationError("unknown_study", "you take part in no such study; load the page again")
    account = _account(session, principal)
    # an account's door is of the study that it is in, whose admins can end it
    door = accounts.door_of(session, account, there) if account else session.get_one(Invite, signed.invite_id)
    person = there.person or session.get_one(Enrollment, door.enrollment_id)
    moved = update(SignIn).where(*sign_ins.of_one_browser(signed)).values(enrollment_id=person.id, invite_id=door.id)
    session.execute(moved.execution_options(synchronize_session=False))
    studies.audit(session, study_id, person.rater_id, "sign_in", invite=door.id)
