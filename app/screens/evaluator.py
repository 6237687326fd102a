"""The pages of an evaluator: what the labels say, how far the work is, and the next study."""

from __future__ import annotations

from functools import partial

import streamlit as st
from streamlit.navigation.page import Page

from annotation.people.principals import Principal
from app.screens import (
    agreement,
    bias,
    blinding,
    choice,
    disagreements,
    disputes,
    judges,
    log_out,
    paper,
    people,
    planner,
    progress,
    ranking,
    reliability,
    set_up,
)
from app.setting_up import is_setting_up
from app.settings import database
from db.connect import reading
from db.tables import Study


def evaluator_pages(principal: Principal, cookie: str) -> list[Page]:
    """In the order of the navigation."""
    return [
        _first(principal),
        st.Page(partial(agreement.show, principal), title="Agreement", url_path="agreement"),
        st.Page(partial(reliability.show, principal), title="Reliability", url_path="reliability"),
        st.Page(partial(bias.show, principal), title="Bias", url_path="bias"),
        st.Page(partial(ranking.show, principal), title="Ranking", url_path="ranking"),
        st.Page(partial(disagreements.show, principal), title="Disagreements", url_path="disagreements"),
        st.Page(partial(disputes.show, principal), title="Disputes", url_path="disputes"),
        st.Page(partial(judges.show, principal, cookie), title="Judges", url_path="judges"),
        st.Page(partial(progress.show, principal, cookie), title="Progress", url_path="progress"),
        st.Page(partial(blinding.show, principal), title="Blinding", url_path="blinding"),
        st.Page(partial(paper.show, principal), title="Paper", url_path="paper"),
        st.Page(partial(planner.show, principal), title="Planner", url_path="planner"),
        *_admins(principal, cookie),
        st.Page(partial(log_out.show, principal, cookie), title="Log out", url_path="log_out"),
    ]


def _first(principal: Principal) -> Page:
    """The choice of a judge; for the owner of a study that is not open yet, what is left to do."""
    if principal.role == "admin":
        with reading(database()) as session:
            if is_setting_up(session, session.get_one(Study, principal.study_id)):
                return st.Page(partial(set_up.show, principal), title="Set up", url_path="choice", default=True)
    return st.Page(partial(choice.show, principal), title="Choice", url_path="choice", default=True)


def _admins(principal: Principal, cookie: str) -> list[Page]:
    """Names stand on it, so that only an admin has it."""
    if principal.role != "admin":
        return []
    return [st.Page(partial(people.show, principal, cookie), title="People", url_path="people")]
