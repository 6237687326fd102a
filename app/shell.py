"""Every run of the browser app: cookie to principal, then the pages of that role, in the study it was drawn for."""

from functools import partial

import streamlit as st
from streamlit.navigation.page import Page

from annotation.people import principals, sign_ins
from app.screens import leaving as signed_out
from app.screens import waiting
from app.screens.annotators import consent, label, my_work, places
from app.server.own_page import COOKIE
from app.settings import database
from db import connect, errors

OWN = ("my_work", "consent", "studies", "log_out")  # an annotator's addresses, which somebody may have kept


def principal_of(cookie: str | None) -> principals.Principal | None:
    """Looked up at every run, because an open page survives logout and revocation otherwise."""
    with connect.reading(database()) as session:
        return sign_ins.who(session, cookie)


def pages_of(principal: principals.Principal | None, cookie: str | None) -> dict[str, list[Page]]:
    """The screens of whoever holds this cookie, by the head of their group; under "" what no navigation shows."""
    if principal is None or cookie is None:
        signed = partial(st.Page, signed_out.show, title="Signed out")
        return {"": [signed(default=True), *(signed(url_path=path, visibility="hidden") for path in OWN)]}
    labelling = st.Page(partial(label.show, principal, cookie), title="Label", url_path="label", default=True)
    if principal.role in ("annotator", "adjudicator"):
        others = (
            (my_work.show, "My work", "my_work"), (consent.show, "Consent", "consent"),
            (places.show, "Studies", "studies"), (signed_out.show_log_out, "Log out", "log_out"),
        )  # fmt: skip
        hidden = (
            st.Page(partial(show, principal, cookie), title=title, url_path=path, visibility="hidden")
            for show, title, path in others
        )
        return {"": [labelling, *hidden]}
    # with what they compute, three times the memory: not for a server that only annotators use
    from app.screens.evaluator import evaluator_pages

    return evaluator_pages(principal, cookie)


st.set_page_config(page_title="calipers", layout="wide")
try:
    asks = st.context.cookies.get(COOKIE)
    comes = principal_of(asks)
    pages = pages_of(comes, asks)
    if set(pages) == {""}:
        page = st.navigation(pages, position="hidden")
        if comes is not None:
            signed_out.begin_anew(comes, pages[""][0])
        page.run()
    else:
        from app.screens.evaluator import shown

        shown(pages, comes).run()
except errors.DatabaseError as error:
    waiting.show(error)
