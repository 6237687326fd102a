"""How far the study is: one sentence, then a row a rater."""

from __future__ import annotations

from html import escape

import streamlit as st

from annotation.people import Principal
from app.progress import study_progress
from app.screens.look import style, table
from app.settings import database
from db.connect import reading

RATERS = ("Rater", "Kind", "Handed in", "In work", "USD spent")
REMARKS = ("When", "Rater", "Item", "Kind", "Words")


def show(principal: Principal) -> None:
    """Counts as they stand now; people appear by pseudonym."""
    style()
    with reading(database()) as session:
        progress = study_progress(session, principal)
    raters = [
        (
            escape(one.rater), "judge" if one.kind == "judge" else "annotator", f"{one.submitted}", f"{one.in_work}",
            "–" if one.cost_usd is None else f"{one.cost_usd:.4f}",
        )
        for one in progress.raters
    ]  # fmt: skip
    said = [
        (*map(escape, (one.at, one.rater, one.item, one.kind)), f'<div class="c-words">{escape(one.text)}</div>')
        for one in progress.remarks
    ]
    remarks = (
        f"<h2>Flags and comments</h2>{table('Flags and comments', REMARKS, said, 'c-remarks')}"
        if said
        else '<p class="c-soft">No annotator has flagged or commented on anything.</p>'
    )
    st.html(
        f'<div class="c-page"><p class="c-soft">{escape(progress.study)} · {escape(progress.status)}</p>'
        f'<p class="c-answer">{progress.submitted} of {progress.slots} annotators\' slots are handed in, '
        f"on {progress.items} items made from {progress.reports} reports.</p>{table('Raters', RATERS, raters)}"
        f"{remarks}</div>"
    )
