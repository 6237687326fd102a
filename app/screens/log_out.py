"""Log out here, or wherever one is signed in: for a computer that was lost, or a page left open elsewhere."""

from __future__ import annotations

from functools import partial

import streamlit as st

from annotation.people.principals import Principal, may_label
from annotation.people.sign_ins import sign_out, who
from annotation.people.signing_out import sign_out_everywhere
from annotation.studies import protocol_of
from app.screens.look import attributes, style
from app.screens.signed_out import LEFT
from app.settings import database
from app.texts import ENGLISH, Texts, texts_for
from db.connect import reading, transaction
from db.people_tables import Enrollment
from db.tables import Study

CSS = """
.st-key-log_out { max-width: 34rem; margin: 8px auto 0; }
.st-key-log_out button { min-height: 36px; padding: 7px 16px; border-radius: 6px; background: none;
  border: 1px solid var(--c-edge); color: var(--c-ink); }
.st-key-log_out button:hover { border-color: var(--c-ink); color: var(--c-ink); background: none; }
.st-key-log_out button:focus-visible { outline: 2px solid var(--c-accent); outline-offset: 2px; box-shadow: none; }
[data-testid="stApp"] { background: var(--c-paper); }
.c-empty a { color: var(--c-accent) !important; text-underline-offset: 3px; }
"""
ALONE = '[data-testid="stHeader"] { display: none; }'  # who labels has no navigation up there


def show(principal: Principal, cookie: str) -> None:
    """What each button does, and the buttons."""
    with reading(database()) as session:
        labels = may_label(session, principal)
        language = protocol_of(session.get_one(Study, principal.study_id)).language if labels else ENGLISH
        theme = session.get_one(Enrollment, principal.enrollment_id).preferences.get("theme", "system")
    words = texts_for(language)
    tell = partial(_said, words)
    style(theme if labels else "system")
    st.html(f"<style>{CSS}{ALONE if labels else ''}</style>")
    back = f'<a href="/my_work" target="_self">{words.tell("screens.my_work.back")}</a>'
    theirs = f'<p class="c-soft">{tell("unsaved")}</p><p>{back}</p>' if labels else ""
    st.html(f'<main class="c-empty" {attributes(words)}><h1>{tell("title")}</h1><p>{tell("text")}</p>{theirs}</main>')
    with st.container(key="log_out", horizontal=True):
        st.button(tell("here"), key="here", on_click=_leave, args=(cookie, False))
        st.button(tell("everywhere"), key="everywhere", on_click=_leave, args=(cookie, True))


def _said(words: Texts, key: str) -> str:
    return words.tell(f"screens.log_out.{key}")


def _leave(cookie: str, everywhere: bool) -> None:
    with transaction(database()) as session:
        principal = who(session, cookie)  # it may have been revoked since the page was shown
        if principal is not None and everywhere:
            sign_out_everywhere(session, principal)
        else:
            sign_out(session, cookie)
    st.session_state[LEFT] = True
