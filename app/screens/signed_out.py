"""Nobody is signed in: one sentence and one next step."""

import streamlit as st

from app.screens.look import style

DECLINED = "consent_declined"  # in the session of whoever did not agree just now
OPEN_LINK = (
    '<main class="c-empty"><h1>Open your invitation link</h1>'
    "<p>calipers knows you by the link you were sent. Open it again in this browser; "
    "what you typed before is kept and will be sent.</p></main>"
)
NOT_AGREED = (
    '<main class="c-empty"><h1>You did not agree</h1>'
    "<p>So no work is given to you, and you are signed out. Should you change your mind, open your invitation link "
    "again; otherwise close this page.</p></main>"
)


def show() -> None:
    """Say how to get in."""
    style()
    st.html(NOT_AGREED if st.session_state.get(DECLINED) else OPEN_LINK)
