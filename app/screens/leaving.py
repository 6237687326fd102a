"""Leaving: log out here or wherever one is signed in, and the page of who is not signed in."""

from dataclasses import replace
from functools import partial

import streamlit as st
from sqlalchemy.orm import Session
from streamlit.navigation.page import Page

from annotation.people import principals, sign_ins
from annotation.studies import protocol_of
from app.screens.look import attributes, link_back, speak, style
from app.server.by_account import providers
from app.settings import database
from app.texts import Texts, texts_for
from db import connect, people_tables, tables
from plain.wording import spoken

STUDY = "drawn_for_study"  # in the session of who is signed in
LEFT = "logged_out"  # in the session of whoever logged out on a page of Streamlit's own
DECLINED = "consent_declined"  # in the session of whoever did not agree just now: where their platform wants them


def show() -> None:
    """Say how to get in."""
    style()
    words = texts_for(st.context.locale or "")
    key = f"screens.signed_out.{_why()}"
    back = st.session_state.get(DECLINED)
    way = f"<p>{link_back(words, back)}</p>" if isinstance(back, str) else ""
    text = words.tell(f"{key}_text")
    st.html(f'<div class="c-empty" {attributes(words)}><h1>{words.tell(key)}</h1><p>{text}</p>{way}</div>')
    st.html(f"<style>{CSS}</style>")
    if known := providers():
        with st.container(key="doors", horizontal=True):
            for provider in known:
                named = () if provider == "default" else (provider,)
                label = ": ".join((words.tell("screens.invite.sign_in"), *named))
                st.button(label, key=f"by_{provider}", on_click=st.login, args=named)


def _why() -> str:
    """`saved` only where the page that was left said so: the server cannot know what a browser still holds."""
    if st.session_state.get(DECLINED):
        return "not_agreed"
    told = st.query_params.get("out")
    if told == "saved":
        return "saved"
    return "left" if told == "left" or st.session_state.get(LEFT) else "open_link"


def send_away(session: Session, principal: principals.Principal, cookie: str) -> None:
    """Run the whole page again, which ends here, unless the cookie is still that of whom it was drawn for.

    For the head of a fragment, which runs without the shell: an open page would outlive its sign-in.
    """
    speak()
    now = sign_ins.who(session, cookie)
    if now is None or replace(now, seen_at=principal.seen_at) != principal:
        st.rerun()


def begin_anew(principal: principals.Principal, first: Page) -> None:
    """A page that was drawn before this browser went on to another study forgets what was pressed on it, and begins
    at the `first` one."""
    if st.session_state.setdefault(STUDY, principal.study_id) != principal.study_id:
        st.session_state.clear()
        st.session_state[STUDY] = principal.study_id
        st.switch_page(first)


CSS = """
.st-key-doors { max-width: 34rem; margin: 8px auto 0; }
[data-testid="stMain"]:has(.c-empty[dir="rtl"]) .st-key-doors { direction: rtl; }
.st-key-doors button { min-height: 36px; padding: 7px 16px; border-radius: 6px; background: none;
  border: 1px solid var(--c-edge); color: var(--c-ink); }
.st-key-doors button:hover { border-color: var(--c-ink); color: var(--c-ink); background: none; }
.st-key-doors button:focus-visible { outline: 2px solid var(--c-accent); outline-offset: 2px; box-shadow: none; }
[data-testid="stApp"] { background: var(--c-paper); }
.c-empty a { color: var(--c-accent) !important; text-underline-offset: 3px; }
"""
ALONE = '[data-testid="stHeader"] { display: none; }'  # who labels has no navigation up there


def show_log_out(principal: principals.Principal, cookie: str) -> None:
    """Show what each button does, and the buttons."""
    with connect.reading(database()) as session:
        labels = principals.may_label(session, principal)
        asked = protocol_of(session.get_one(tables.Study, principal.study_id)).language
        language = asked if labels else spoken().replace("_", "-")
        theme = session.get_one(people_tables.Enrollment, principal.enrollment_id).preferences.get("theme", "system")
    words = texts_for(language)
    tell = partial(_said, words)
    style(theme if labels else "system")
    st.html(f"<style>{CSS}{ALONE if labels else ''}</style>")
    back = f'<a href="/my_work" target="_self">{words.tell("screens.my_work.back")}</a>'
    theirs = f'<p class="c-soft">{tell("unsaved")}</p><p>{back}</p>' if labels else ""
    st.html(f'<div class="c-empty" {attributes(words)}><h1>{tell("title")}</h1><p>{tell("text")}</p>{theirs}</div>')
    with st.container(key="doors", horizontal=True):
        st.button(tell("here"), key="here", on_click=_leave, args=(cookie, False))
        st.button(tell("everywhere"), key="everywhere", on_click=_leave, args=(cookie, True))


def _said(words: Texts, key: str) -> str:
    return words.tell(f"screens.log_out.{key}")


def _leave(cookie: str, everywhere: bool) -> None:
    with connect.transaction(database()) as session:
        principal = sign_ins.who(session, cookie)  # it may have been revoked since the page was shown
        if principal is not None and everywhere:
            sign_ins.sign_out_everywhere(session, principal)
        else:
            sign_ins.sign_out(session, cookie)
    st.session_state[LEFT] = True
