"""An annotator's studies: each with their role, what waits there, and the way to it."""

from dataclasses import replace
from html import escape

import streamlit as st
from sqlalchemy import orm

from annotation.participation import own_studies
from annotation.people import accounts, principals
from annotation.studies import protocol_of
from annotation.work import own_work
from app import progress
from app.component import sign_out
from app.screens import look
from app.screens.annotators import my_work
from app.settings import database
from app.texts import Texts, texts_for
from db import connect, people_tables, tables

LABEL = ("annotator", "adjudicator")
CSS = """
.st-key-places { max-width: 920px; margin: 16px auto 0; padding: 0 24px; }
[class*="st-key-place_"] { border-top: 1px solid var(--c-line); padding: 8px 0; }
[data-testid="stMain"]:has(.c-page[dir="rtl"]) .st-key-places { direction: rtl; }
.st-key-places button { min-height: 36px; background: none; border: 1px solid var(--c-edge); color: var(--c-ink); }
.st-key-places button:hover { border-color: var(--c-ink); color: var(--c-ink); background: none; }
.st-key-places button:focus-visible { outline: 2px solid var(--c-accent); outline-offset: 2px; box-shadow: none; }
.st-key-places a { color: var(--c-accent) !important; font-size: 14px; text-underline-offset: 3px; }
@media (max-width: 700px) { .st-key-places { padding: 0 16px; } }
"""


def show(principal: principals.Principal, cookie: str) -> None:
    """All places that this sign-in leads to."""
    with connect.reading(database()) as session:
        words = texts_for(protocol_of(session.get_one(tables.Study, principal.study_id)).language)
        theme = session.get_one(people_tables.Enrollment, principal.enrollment_id).preferences.get("theme", "system")
        found = own_studies.own_places(session, principal)
        lines = [(place.study_id, *told(session, place, words)) for place in found]
    title = words.tell("screens.studies.title")
    st.set_page_config(page_title=title)
    look.style(theme, words)
    st.html(f"<style>{my_work.CSS}{CSS}</style>")
    st.html(
        f'<div class="c-page" {look.attributes(words)}><header class="w-head"><h1>{title}</h1></header>'
        f'<div class="w-main"><p>{words.tell("screens.studies.text")}</p></div></div>'
    )
    back = f'<a href="/my_work" target="_self">{words.tell("screens.my_work.back")}</a>'
    with st.container(key="places"):
        for study_id, name, text in lines:
            with st.container(key=f"place_{study_id}", horizontal=True, vertical_alignment="center"):
                said = f"<b><bdi>{escape(name)}</bdi></b><br><small>{escape(text)}</small>"
                st.html(f'<div class="c-page" {look.attributes(words)}>{said}</div>', width="stretch")
                if study_id == principal.study_id:
                    st.html(back, width="content")
                elif st.button(words.tell("screens.studies.go"), key=f"go_{study_id}"):
                    with connect.transaction(database()) as session:
                        own_studies.go_to(session, principal, cookie, study_id)
                    st.rerun()
    sign_out(principal, cookie, words.language)


def told(session: orm.Session, place: accounts.Place, words: Texts) -> tuple[str, str]:
    """(what it is called, role and what waits): whoever labels reads no study's name, which may name systems."""
    study = session.get_one(tables.Study, place.study_id)
    title, role = protocol_of(study).title, words.tell(f"screens.studies.{place.role}")
    if place.role not in LABEL:
        slots, done = progress.label_slots(session, study)
        title, waits = f"{title} · {study.name}", words.tell("header.submitted", n=done, of=slots)
    elif place.person is None:
        waits = words.tell("screens.studies.not_yet")
    else:
        work = replace(own_work.own_work(session, place.principal), language=words.language)
        waits = f"{my_work.answer(work)} {my_work.what_now(work)}"
    return title, f"{role} · {waits}"
