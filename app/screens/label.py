"""The annotator's page: hands one assignment to the component, which does the rest over our own routes."""

import streamlit as st
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.offline.ballot_signing import rescue_signer
from annotation.people.completion import completion_code, is_participant
from annotation.people.gates import closed_gate
from annotation.people.principals import Principal
from annotation.people.sign_ins import csrf_token
from annotation.studies import protocol_of
from annotation.work.claiming import take
from annotation.work.own_work import status_for
from annotation.work.page import own_assignment
from annotation.work.positions import position
from app.component import annotate
from app.screens import consent, untrained
from app.settings import database
from app.texts import texts_for
from db.connect import transaction
from db.people_tables import Enrollment
from db.tables import Assignment, Study


def show(principal: Principal, cookie: str) -> None:
    """The item the address names (`?open=aid`), the assignment in work, a new one, or the end of work."""
    wanted = st.query_params.get("open")
    with transaction(database()) as session:
        opened = _own(session, principal, wanted) if wanted else None
        gate = None if opened else closed_gate(session, principal)
        assignment = opened or (None if gate == "consent" else take(session, principal))
        done, of = position(session, principal)
        study = session.get_one(Study, principal.study_id)
        participant = is_participant(session, principal)
        code = completion_code(session, principal) if assignment is None else None
        status = status_for(study, session.get_one(Enrollment, principal.enrollment_id))
        title, simulated, language = protocol_of(study).title, study.is_simulated, protocol_of(study).language
    tell = texts_for(language).tell
    if gate is not None and assignment is None:
        (consent if gate == "consent" else untrained).show(principal, cookie)
        return
    annotate(
        {
            "aid": assignment.aid if assignment else None,
            "csrf": csrf_token(cookie),
            "person": principal.opaque_id,
            "rescue": rescue_signer(cookie),
            "language": language,
            "position": {"done": done, "of": of},
            "finished": assignment is None and done > 0 and done == of and status == "open",
            "status": status,
            "participant": participant,
            "code": code,
            "study": {"title": title, "simulated": simulated},
            "links": [
                {"text": tell("screens.my_work.title"), "back": tell("screens.my_work.back"), "href": "/my_work"},
            ],
            "note": tell("screens.label.not_yours") if wanted and opened is None else None,
        },
        key="annotate",
    )


def _own(session: Session, principal: Principal, aid: str) -> Assignment | None:
    try:
        return own_assignment(session, principal, aid)
    except AnnotationError:
        return None
