"""The pages of an evaluator: what the labels say, how far the work is, and the next study."""

from collections.abc import Callable
from functools import partial
from itertools import chain
from urllib.parse import urlsplit

import streamlit as st
from streamlit.navigation.page import Page

from annotation.people.principals import Principal, choose_language
from app import component, setting_up, settings
from app.results.shown_file import ShownFile
from app.screens import leaving, look, report_page
from app.screens.results import agreement, bias, choice, disagreements, paper, ranking, reliability
from app.screens.study import audit, blinding, crowd, disputes, judges, people, planner, progress, set_up, studies
from db import connect, people_tables, tables
from plain.wording import LANGUAGES, spoken, worded

ITEM = '[data-testid="stSidebarNavItems"] li'
CHOSEN = "language_chosen"
SIDEBAR = 208  # pixels; in a window of a telephone it is a menu
Pages = dict[str, list[Page]]  # by the head of their group


def evaluator_pages(principal: Principal, cookie: str) -> Pages:
    """Return the evaluator's pages in the order of the navigation; a study that is not open yet begins with its own."""
    is_draft, is_owner = _is_draft(principal), principal.role == "admin"
    _speak_to(principal)
    results = {"Results": _results(principal, default=not is_draft)}
    study = {
        "Study": [
            *([_page("Set up", set_up.show, principal, cookie, default=is_draft)] if is_owner else []),
            _page("Progress", progress.show, principal, cookie),
            _page("Judges", judges.show, principal, cookie),
            _page("Disputes", disputes.show, principal),
            _page("Blinding", blinding.show, principal),
            *([_page("People", people.show, principal, cookie)] if is_owner else []),
            *([_page("Crowd", crowd.show, principal, cookie)] if is_owner else []),
            *([_page("Audit", audit.show, principal, cookie)] if is_owner else []),
        ],
    }
    others = {
        "Planning": [_page("Planner", planner.show, principal)],
        "Signed in": [
            _page("Studies", studies.show, principal, cookie),
            _page("Log out", leaving.show_log_out, principal, cookie),
        ],
    }
    return study | results | others if is_draft else results | study | others


def file_pages(file: ShownFile) -> Pages:
    """Return the pages that a labels file has something for, in the same order."""
    look.speak()
    return {"Results": _results(file, default=True), "Planning": [_page("Planner", planner.show, file)]}


def _results(of: Principal | ShownFile, *, default: bool) -> list[Page]:
    return [
        _page("Choice", choice.show, of, default=default),
        _page("Agreement", agreement.show, of),
        _page("Reliability", reliability.show, of),
        _page("Bias", bias.show, of),
        _page("Ranking", ranking.show, of),
        _page("Disagreements", disagreements.show, of),
        _page("Paper", paper.show, of),
    ]


def shown(pages: Pages, principal: Principal | None = None) -> Page:
    """Put the navigation beside the page, and return the page that the address names.

    An address of none has a page that says so: Streamlit would open a dialog over the first. `principal`: see
    `leaving.begin_anew`.
    """
    st.set_page_config(initial_sidebar_state=SIDEBAR)
    listed = list(chain(*pages.values()))
    asked = _asked()
    if all(page.url_path for page in listed):  # the first is at its own word; Streamlit would take it from there
        first = partial(st.switch_page, listed[0])
        listed.append(st.Page(first, title="calipers", url_path="", default=True, visibility="hidden"))
    if "/" not in asked and asked not in {page.url_path for page in listed}:
        listed.append(st.Page(_unknown, title=worded("No such page"), url_path=asked, visibility="hidden"))
    # Streamlit's own heads stand inside of the list as no list item, which screen readers stumble over
    heads = (
        f'{ITEM}:has(a[href$="/{group[0].url_path}"])::before {{ content: "{worded(head)}"; }}'
        for head, group in pages.items()
    )
    st.html(f"<style>{''.join(heads)}</style>")
    page = st.navigation(listed, expanded=True)
    st.sidebar.selectbox(
        worded("Language"), LANGUAGES, [*LANGUAGES].index(spoken()), format_func=LANGUAGES.__getitem__, key=CHOSEN,
        on_change=_speak_from_now, args=(principal,), label_visibility="collapsed",
    )  # fmt: skip
    with st.sidebar:
        component.name_language(spoken().replace("_", "-"))
    if principal is not None:
        leaving.begin_anew(principal, next(one for one in listed if one.url_path == ""))
    return page


def _speak_to(principal: Principal) -> None:
    """Speak the language that this person chose, which is looked up once a session."""
    if look.LANGUAGE not in st.session_state and principal.enrollment_id is not None:
        with connect.reading(settings.database()) as session:
            person = session.get_one(people_tables.Enrollment, principal.enrollment_id)
            st.session_state[look.LANGUAGE] = person.preferences.get("language", "")
    look.speak()


def _speak_from_now(principal: Principal | None) -> None:
    """Keep the language that was just chosen: of a file's reader until the page is closed."""
    chosen = st.session_state[look.LANGUAGE] = st.session_state[CHOSEN]
    if principal is not None:
        with connect.transaction(settings.database()) as session:
            choose_language(session, principal, chosen)


def _unknown() -> None:
    look.style()
    where = worded('<a href="/" target="_self">Choice</a> has the results.')
    report_page.empty(worded("There is no page at this address"), f"<p>{where}</p>")


def _asked() -> str:
    """The address's own word for a page; "" for the first."""
    return urlsplit(st.context.url or "").path.strip("/")


def _page(title: str, show: Callable[..., None], *given: object, default: bool = False) -> Page:
    """Make a page whose title is shown in the browser's tab as well."""
    address, named = title.lower().replace(" ", "_"), worded(title)
    # by its own word, as one keeps it from when another page was the first, it is a page like the others
    default = default and address != _asked()
    return st.Page(partial(_titled, named, show, *given), title=named, url_path=address, default=default)


def _titled(title: str, show: Callable[..., None], *given: object) -> None:
    st.set_page_config(page_title=f"{title} · calipers")
    show(*given)


def _is_draft(principal: Principal) -> bool:
    """Whether its owner opens on what is left to do: the study is not open yet."""
    if principal.role != "admin":
        return False
    with connect.reading(settings.database()) as session:
        return setting_up.is_setting_up(session, session.get_one(tables.Study, principal.study_id))
