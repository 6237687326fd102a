"""How far the study is: one sentence, then a row a rater."""

from __future__ import annotations

from html import escape

import streamlit as st

from annotation.people import Principal
from app.progress import study_progress
from app.screens.look import style
from app.settings import database
from db.connect import reading


def show(principal: Principal) -> None:
    """Counts as they stand now; people appear by pseudonym."""
    style()
    with reading(database()) as session:
        progress = study_progress(session, principal)
    rows = "".join(
        f"<tr><td>{escape(r.rater)}</td><td>{'judge' if r.kind == 'judge' else 'annotator'}</td><td>{r.submitted}</td>"
        f"<td>{r.in_work}</td><td>{'–' if r.cost_usd is None else f'{r.cost_usd:.4f}'}</td></tr>"
        for r in progress.raters
    )
    said = "".join(
        f"<tr><td>{escape(r.at)}</td><td>{escape(r.rater)}</td><td>{escape(r.item)}</td><td>{escape(r.kind)}</td>"
        f'<td class="c-words">{escape(r.text)}</td></tr>'
        for r in progress.remarks
    )
    remarks = (
        '<h2>Flags and comments</h2><div class="c-scroll" tabindex="0" role="region" aria-label="Flags and comments">'
        '<table class="c-table c-remarks"><thead><tr><th>When</th>'
        f"<th>Rater</th><th>Item</th><th>Kind</th><th>Words</th></tr></thead><tbody>{said}</tbody></table></div>"
        if said
        else '<p class="c-soft">No annotator has flagged or commented on anything.</p>'
    )
    st.html(
        f'<div class="c-page"><p class="c-soft">{escape(progress.study)} · {escape(progress.status)}</p>'
        f'<p class="c-answer">{progress.submitted} of {progress.slots} annotators\' slots are handed in, '
        f"on {progress.items} items made from {progress.reports} reports.</p>"
        '<div class="c-scroll" tabindex="0" role="region" aria-label="Raters"><table class="c-table"><thead><tr>'
        '<th scope="col">Rater</th><th scope="col">Kind</th>'
        '<th scope="col">Handed in</th><th scope="col">In work</th><th scope="col">USD spent</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{remarks}</div>"
    )
