"""The pages of an evaluator: what the labels say, how far the work is, and the next study."""

from collections.abc import Callable
from functools import partial

import streamlit as st
from streamlit.navigation.page import Page

from annotation.people.principals import Principal
from app import setting_up, settings
from app.results.shown_file import ShownFile
from app.screens import leaving as signed_out
from app.screens.results import agreement, bias, choice, disagreements, paper, ranking, reliability
from app.screens.study import blinding, disputes, judges, people, planner, progress, set_up
from db import connect, tables


def evaluator_pages(principal: Principal, cookie: str) -> list[Page]:
    """Return the evaluator's pages in the order of the navigation."""
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
        _page("Log out", signed_out.show_log_out, principal, cookie),
    ]


def file_pages(file: ShownFile) -> list[Page]:
    """Return the pages that a labels file has something for, in the same order."""
    return [
        _page("Choice", choice.show, file, default=True),
        _page("Agreement", agreement.show, file),
        _page("Reliability", reliability.show, file),
        _page("Bias", bias.show, file),
        _page("Ranking", ranking.show, file),
        _page("Disagreements", disagreements.show, file),
        _page("Paper", paper.show, file),
        _page("Planner", planner.show, file),
    ]


def _page(title: str, show: Callable[..., None], *given: object, path: str = "", default: bool = False) -> Page:
    """Make a page whose title is shown in the browser's tab as well."""
    address = path or title.lower().replace(" ", "_")
    return st.Page(partial(_titled, title, show, *given), title=title, url_path=address, default=default)


def _titled(title: str, show: Callable[..., None], *given: object) -> None:
    st.set_page_config(page_title=f"{title} · calipers")
    show(*given)


def _first(principal: Principal) -> Page:
    """The choice of a judge; for the owner of a study that is not open yet, what is left to do."""
    if principal.role == "admin":
        with connect.reading(settings.database()) as session:
            if setting_up.is_setting_up(session, session.get_one(tables.Study, principal.study_id)):
                return _page("Set up", set_up.show, principal, path="choice", default=True)
    return _page("Choice", choice.show, principal, default=True)


def _admins(principal: Principal, cookie: str) -> list[Page]:
    """Return the page that shows names, which only an admin has."""
    return [_page("People", people.show, principal, cookie)] if principal.role == "admin" else []
