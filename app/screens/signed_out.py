"""Nobody is signed in: one sentence and one next step, in the browser's language."""

from dataclasses import replace

import streamlit as st
from sqlalchemy.orm import Session

from annotation.people.principals import Principal
from annotation.people.sign_ins import who
from app.screens.look import attributes, style
from app.texts import texts_for

LEFT = "logged_out"  # in the session of whoever logged out on a page of Streamlit's own
DECLINED = "consent_declined"  # in the session of whoever did not agree just now


def show() -> None:
    """Say how to get in."""
    style()
    words = texts_for(st.context.locale or "")
    key = f"screens.signed_out.{_why()}"
    st.html(
        f'<main class="c-empty" {attributes(words)}><h1>{words.tell(key)}</h1><p>{words.tell(f"{key}_text")}</p></main>'
    )


def _why() -> str:
    """`saved` only where the page that was left said so: the server cannot know what a browser still holds."""
    if st.session_state.get(DECLINED):
        return "not_agreed"
    told = st.query_params.get("out")
    if told == "saved":
        return "saved"
    return "left" if told == "left" or st.session_state.get(LEFT) else "open_link"


def send_away(session: Session, principal: Principal, cookie: str) -> None:
    """Run the whole page again, which ends here, unless the cookie is still that of whom it was drawn for.

    For the head of a fragment, which runs without the shell: an open page would outlive its sign-in.
    """
    found = who(session, cookie)
    if found is None or replace(found, seen_at=principal.seen_at) != principal:
        st.rerun()
