"""The pages of an evaluator: what the labels say, how far the work is, and the next study."""

from __future__ import annotations

from collections.abc import Callable
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
        _page("Agreement", agreement.show, principal),
        _page("Reliability", reliability.show, principal),
        _page("Bias", bias.show, principal),
        _page("Ranking", ranking.show, principal),
        _page("Disagreements", disagreements.show, principal),
        _page("Disputes", disputes.show, principal),
        _page("Judges", judges.show, principal, cookie),
        _page("Progress", progress.show, principal, cookie),
        _page("Blinding", blinding.show, principal),
        _page("Paper", paper.show, principal),
        _page("Planner", planner.show, principal),
        *_admins(principal, cookie),
        _page("Log out", log_out.show, principal, cookie),
    ]


def _page(title: str, show: Callable[..., None], *given: object, path: str = "", default: bool = False) -> Page:
    """Whose title stands in the browser's tab as well."""
    address = path or title.lower().replace(" ", "_")
    return st.Page(partial(_titled, title, show, *given), title=title, url_path=address, default=default)


def _titled(title: str, show: Callable[..., None], *given: object) -> None:
    st.set_page_config(page_title=f"{title} · calipers")
    show(*given)


def _first(principal: Principal) -> Page:
    """The choice of a judge; for the owner of a study that is not open yet, what is left to do."""
    if principal.role == "admin":
        with reading(database()) as session:
            if is_setting_up(session, session.get_one(Study, principal.study_id)):
                return _page("Set up", set_up.show, principal, path="choice", default=True)
    return _page("Choice", choice.show, principal, default=True)


def _admins(principal: Principal, cookie: str) -> list[Page]:
    """Names stand on it, so that only an admin has it."""
    return [_page("People", people.show, principal, cookie)] if principal.role == "admin" else []
