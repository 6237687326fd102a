"""The database cannot be used just now: what happened, and what becomes of what was typed."""

import logging
import secrets

import streamlit as st

from app.screens.look import attributes, style
from app.texts import texts_for
from db.errors import DatabaseError, DiskFull

log = logging.getLogger("calipers")


def show(error: DatabaseError) -> None:
    """One sentence for the person, the reason in the server's log under the same id."""
    error_id = secrets.token_hex(6)
    log.error("screen failed", extra={"error_id": error_id, "error": type(error).__name__, "reason": str(error)})
    words = texts_for(st.context.locale or "")  # the study's language is in the database
    what = words.tell("screens.trouble.disk_full" if isinstance(error, DiskFull) else "screens.trouble.no_data")
    text = words.tell("screens.trouble.text", error=error_id)
    style()
    st.html(f'<main class="c-empty" {attributes(words)}><h1>{what}</h1><p>{text}</p></main>')
