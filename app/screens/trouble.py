"""The database cannot be used just now: what happened, and what becomes of what was typed."""

import logging
import secrets

import streamlit as st

from app.screens.look import style
from db.errors import DatabaseError, DiskFull

log = logging.getLogger("calipers")


def show(error: DatabaseError) -> None:
    """One sentence for the person, the reason in the server's log under the same id."""
    error_id = secrets.token_hex(6)
    log.error("%s %s screen %s", error_id, type(error).__name__, error)
    what = "The server's disk is full" if isinstance(error, DiskFull) else "The server cannot reach its data"
    style()
    st.html(
        f'<main class="c-empty"><h1>{what}</h1><p>What you typed is kept in this browser and will be sent. '
        f"Load the page again in a minute; if this stays, tell the study's owner: error {error_id}.</p></main>"
    )
