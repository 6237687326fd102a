"""The gate of training is closed: what happened, and whom to ask."""

from __future__ import annotations

from functools import partial

import streamlit as st

from annotation.offline.ballot_signing import rescue_signer
from annotation.people.principals import Principal
from annotation.people.sign_ins import csrf_token
from annotation.people.training import TrainingState, training_state
from annotation.studies import protocol_of
from app.component import sign_out
from app.screens.look import attributes, style
from app.screens.my_work import CSS as HOME
from app.settings import database
from app.texts import Texts, texts_for
from db.connect import reading
from db.people_tables import Enrollment
from db.tables import Study

CSS = ".c-empty a { color: var(--c-accent) !important; text-underline-offset: 3px; }"


def show(principal: Principal, cookie: str) -> None:
    """One sentence, and the way on."""
    with reading(database()) as session:
        study = session.get_one(Study, principal.study_id)
        state, language = training_state(session, study, principal), protocol_of(study).language
        theme = session.get_one(Enrollment, principal.enrollment_id).preferences.get("theme", "system")
    style(theme)
    st.html(f"<style>{HOME}{CSS}</style>")
    st.html(page_html(state, texts_for(language)))
    signed_in = {"csrf": csrf_token(cookie), "person": principal.opaque_id, "rescue": rescue_signer(cookie)}
    signed_in["language"] = language
    sign_out(signed_in, key="sign_out")


def page_html(state: TrainingState, words: Texts) -> str:
    """For training that was not passed, and for training that cannot be given yet."""
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
    return f'<main class="c-empty" {attributes(words)}><h1>{title}</h1><p>{text}</p><p>{mine}</p></main>'


def _said(words: Texts, key: str, **values: object) -> str:
    return words.tell(f"screens.untrained.{key}", **values)
