"""The owner's first page until the study is open: what is done, what comes next, and how to do it."""

from html import escape

import streamlit as st

from annotation.people.principals import Principal, study_for
from app import setting_up, settings
from app.screens import look, report_page
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
    """Show the steps as they are now; a click on a command selects the whole of it."""
    look.style()
    st.html(f"<style>{CSS}</style>")
    with reading(settings.database()) as session:
        report_page.study_head(study_for(session, principal, "admin"))
        taken = setting_up.steps(setting_up.set_up_of(session, principal))
    report_page.answer(setting_up.sentence(taken))
    report_page.section(f'<ol class="s-steps">{"".join(map(step_html, taken))}</ol>')
    st.button("Look again", key="look_again")


def step_html(step: setting_up.Step) -> str:
    """A step with its state in words for who cannot see the mark; its command and page until it is done."""
    way = "" if step.state == "done" else _way(step)
    return (
        f'<li class="s-{step.state}"><span class="s-mark" role="img" aria-label="{STATES[step.state]}">'
        f"{MARKS[step.state]}</span><div><b>{escape(step.title)}</b>"
        f'<p class="c-soft">{escape(step.told)}</p>{way}</div></li>'
    )


def _way(step: setting_up.Step) -> str:
    link = "" if step.page is None else f'<a href="/{step.page[0]}" target="_self">{escape(step.page[1])}</a>'
    command = f"<code>{escape(step.command)}</code>"
    return f"<p>{link} or {command}</p>" if link else f"<p>{command}</p>"
