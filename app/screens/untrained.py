"""The gate of training is closed: what happened, and whom to ask."""

from __future__ import annotations

import streamlit as st

from annotation.ballot_signing import rescue_signer
from annotation.principals import Principal
from annotation.sign_ins import csrf_token
from annotation.training import TrainingState, training_state
from app.component import sign_out
from app.screens.look import style
from app.screens.my_work import CSS as HOME
from app.settings import database
from db.connect import reading
from db.people_tables import Enrollment
from db.tables import Study

CSS = ".c-empty a { color: var(--c-accent) !important; text-underline-offset: 3px; }"


def show(principal: Principal, cookie: str) -> None:
    """One sentence, and the way on."""
    with reading(database()) as session:
        state = training_state(session, session.get_one(Study, principal.study_id), principal)
        theme = session.get_one(Enrollment, principal.enrollment_id).preferences.get("theme", "system")
    style(theme)
    st.html(f"<style>{HOME}{CSS}</style>")
    st.html(page_html(state))
    signed_in = {"csrf": csrf_token(cookie), "person": principal.opaque_id, "rescue": rescue_signer(cookie)}
    sign_out(signed_in, key="sign_out")


def page_html(state: TrainingState) -> str:
    """For training that was not passed, and for training that cannot be given yet."""
    ask = "Write to whoever sent you your link: they can"
    if state.status == "unready":
        title, text = "The training is not ready", f"{ask} say when to come back."
    else:
        title = "The training was not passed"
        last = "the one attempt" if state.attempts == 1 else f"the last of {state.attempts} attempts"
        text = (
            f"{state.matching} of {state.verdicts} answers were as agreed in {last}; "
            f"{state.pass_mark:.0%} were needed. {ask} let you begin all the same."
        )
    mine = '<p><a href="/my_work" target="_self">My work</a> shows every answer and what was agreed.</p>'
    return f'<main class="c-empty"><h1>{title}</h1><p>{text}</p>{mine}</main>'
