"""The owner's first page until the study is open: what is done, what comes next, and how to do it."""

from __future__ import annotations

from html import escape

import streamlit as st

from annotation.people.principals import Principal, study_for
from app.screens.look import style
from app.screens.report_page import answer, section, study_head
from app.setting_up import Step, sentence, set_up_of, steps
from app.settings import database
from db.connect import reading

CSS = """
.c-page .s-steps { max-width: 46rem; margin: 8px 0 0; padding: 0; list-style: none; }
.c-page .s-steps > li { display: grid; grid-template-columns: 24px 1fr; margin: 0; padding: 12px 0;
  border-top: 1px solid var(--c-line); font-size: 14px; }
.c-page .s-steps > .s-next { border-top: 2px solid var(--c-accent); }
.s-steps b { font-weight: 600; }
.s-mark { color: var(--c-ink-soft); font-variant-numeric: tabular-nums; }
.s-done .s-mark { color: var(--c-green); }
.s-later b { font-weight: 400; color: var(--c-ink-soft); }
.s-next .s-mark { color: var(--c-accent); font-weight: 600; }
.c-page .s-steps p { margin: 4px 0 0; }
.s-steps code { user-select: all; }
"""
MARKS = {"done": "✓", "next": "→", "later": ""}
STATES = {"done": "done", "next": "next", "later": "to come"}


def show(principal: Principal) -> None:
    """The steps as they stand now; a click on a command selects the whole of it."""
    style()
    st.html(f"<style>{CSS}</style>")
    with reading(database()) as session:
        study_head(study_for(session, principal, "admin"))
        taken = steps(set_up_of(session, principal))
    answer(sentence(taken))
    section(f'<ol class="s-steps">{"".join(map(step_html, taken))}</ol>')
    st.button("Look again", key="look_again")


def step_html(one: Step) -> str:
    """A step with its state in words for who cannot see the mark; its command and page until it is done."""
    way = "" if one.state == "done" else _way(one)
    return (
        f'<li class="s-{one.state}"><span class="s-mark" role="img" aria-label="{STATES[one.state]}">{MARKS[one.state]}'
        f'</span><div><b>{escape(one.title)}</b><p class="c-soft">{escape(one.told)}</p>{way}</div></li>'
    )


def _way(one: Step) -> str:
    link = "" if one.page is None else f'<a href="/{one.page[0]}" target="_self">{escape(one.page[1])}</a>'
    command = f"<code>{escape(one.command)}</code>"
    return f"<p>{link} or {command}</p>" if link else f"<p>{command}</p>"
