"""The annotator's page: hands one assignment to the component, which does the rest over our own routes."""

from functools import partial

import streamlit as st
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.people import principals
from annotation.studies import protocol_of
from annotation.training.training import TrainingState, closed_gate, training_state
from annotation.work import claiming, own_work, page, progress, way_back
from app.component import annotate, sign_out, signed_in
from app.screens.annotators import consent, my_work
from app.screens.look import attributes, link_back, style
from app.settings import database
from app.texts import Texts, texts_for
from db import connect, people_tables, tables


def show(principal: principals.Principal, cookie: str) -> None:
    """The item the address names (`?open=aid`), the assignment in work, a new one, or the end of work."""
    wanted = st.query_params.get("open")
    with connect.transaction(database()) as session:
        opened = _own(session, principal, wanted) if wanted else None
        gate = None if opened else closed_gate(session, principal)
        assignment = opened or (None if gate == "consent" else claiming.take(session, principal))
        done, of = progress.position(session, principal)
        study = session.get_one(tables.Study, principal.study_id)
        participant = progress.is_participant(session, principal)
        code = progress.completion_code(session, principal) if assignment is None else None
        back = way_back.address_back(session, principal) if assignment is None else None
        status = own_work.status_for(study, session.get_one(people_tables.Enrollment, principal.enrollment_id))
        name = principals.name_of(session, principal.enrollment_id or 0)
        title, simulated, language = protocol_of(study).title, study.is_simulated, protocol_of(study).language
    tell = texts_for(language).tell
    if gate is not None and assignment is None:
        (consent.show if gate == "consent" else show_untrained)(principal, cookie)
        return
    annotate(
        signed_in(principal, cookie, language)
        | {
            "aid": assignment.aid if assignment else None,
            "name": name,
            "position": {"done": done, "of": of},
            "finished": assignment is None and done > 0 and done == of and status == "open",
            "status": status,
            "participant": participant,
            "code": code,
            "back": "/back" if back else None,
            "study": {"title": title, "simulated": simulated},
            "links": [
                {"text": tell("screens.my_work.title"), "back": tell("screens.my_work.back"), "href": "/my_work"}
            ],
            "note": tell("screens.label.not_yours") if wanted and opened is None else None,
        },
        key="annotate",
    )


def _own(session: Session, principal: principals.Principal, aid: str) -> tables.Assignment | None:
    try:
        return page.own_assignment(session, principal, aid)
    except AnnotationError:
        return None


CSS = ".c-empty a { color: var(--c-accent) !important; text-underline-offset: 3px; }"


def show_untrained(principal: principals.Principal, cookie: str) -> None:
    """One sentence, and the way on."""
    with connect.reading(database()) as session:
        study = session.get_one(tables.Study, principal.study_id)
        state, language = training_state(session, study, principal), protocol_of(study).language
        back = way_back.address_back(session, principal)
        theme = session.get_one(people_tables.Enrollment, principal.enrollment_id).preferences.get("theme", "system")
    style(theme)
    st.html(f"<style>{my_work.CSS}{CSS}</style>")
    st.html(page_html(state, texts_for(language), is_sent_back=back is not None))
    sign_out(principal, cookie, language)


def page_html(state: TrainingState, words: Texts, *, is_sent_back: bool = False) -> str:
    """Return the page for training that was not passed, or that cannot be given yet."""
    tell = partial(_said, words)
    if state.status == "unready":
        title, text = tell("not_ready"), tell("not_ready_text")
    else:
        title = tell("not_passed")
        text = tell(
            "not_passed_once" if state.attempts == 1 else "not_passed_last", matching=state.matching,
            of=state.verdicts, needed=f"{100 * state.pass_mark:.0f} %", attempts=state.attempts,
        )  # fmt: skip
    link = f'<a href="/my_work" target="_self">{words.tell("screens.my_work.title")}</a>'
    mine = tell("answers_there", link=link)
    back = f"<p>{link_back(words)}</p>" if is_sent_back else ""
    return f'<div class="c-empty" {attributes(words)}><h1>{title}</h1><p>{text}</p>{back}<p>{mine}</p></div>'


def _said(words: Texts, key: str, **values: object) -> str:
    return words.tell(f"screens.untrained.{key}", **values)
