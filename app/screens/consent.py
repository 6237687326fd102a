"""What a person agrees to: the task, the consent text, pay and time; read before the first item, and at any time."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import streamlit as st

from annotation.ballot_signing import rescue_signer
from annotation.consent import Consent, give_consent, view_consent
from annotation.errors import AnnotationError
from annotation.principals import Principal
from annotation.rendering import render_report
from annotation.sign_ins import csrf_token, who
from annotation.sign_ins import sign_out as leave
from annotation.withdrawing import withdraw_consent
from app.component import sign_out
from app.screens.look import style
from app.screens.my_work import CSS as HOME
from app.screens.my_work import how_time_counts
from app.screens.signed_out import DECLINED
from app.settings import database
from db.connect import reading, transaction

CSS = """
.c-page .g-main { max-width: 42rem; margin: 40px auto 0; padding: 0 24px; }
.c-page .g-main > h2 { margin: 32px 0 8px; padding-top: 12px; border-top: 1px solid var(--c-line); }
.g-text, .c-page .g-text :is(p, li) { font: 16px/1.55 var(--w-serif); max-width: none; }
.c-page .g-text :is(ul, ol) { margin: 0 0 8px; padding-left: 24px; }
.c-page .g-text :is(h3, h4, h5, h6) { font: 600 16px/1.4 var(--w-serif); margin: 16px 0 8px; padding: 0; }
.c-page .g-main a { color: var(--c-accent); text-underline-offset: 3px; }
.c-page .g-note { color: var(--c-ink-soft); }
.c-page .g-warn { border-left: 2px solid var(--c-amber); padding-left: 12px; }
.st-key-consent { max-width: 42rem; margin: 8px auto 0; padding: 0 24px; }
.st-key-consent button { min-height: 36px; padding: 7px 16px; border-radius: 6px; background: none;
  border: 1px solid var(--c-edge); color: var(--c-ink); }
.st-key-consent button:hover { border-color: var(--c-ink); color: var(--c-ink); background: none; }
.st-key-consent button:focus-visible { outline: 2px solid var(--c-accent); outline-offset: 2px; box-shadow: none; }
.st-key-consent button p { font: 600 14px/1.4 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
.st-key-consent .st-key-agree button { border-color: var(--c-accent); background: var(--c-accent);
  color: var(--c-on-accent); }
.st-key-consent .st-key-withdraw_now button { border-color: currentColor; color: var(--c-red); }
"""
OPENINGS = {
    "asked": "Please read this before your first item.",
    "outdated": "The consent text was changed; please read it again before more work.",
    "withdrawn": "You withdrew your agreement.",
    "given": "You agreed to this on {day}.",
    "none": "This study asks for no agreement.",
}
WITHDRAWN = (
    "No more work is given to you, and nothing of yours is stored from now on. What you had in hand went back; what "
    "you handed in is kept unless the people who run the study take it out: write to whoever sent you the link if "
    "you want that. You can agree again below."
)
STOPS = (
    "You then get no more work. What you have in hand goes back to the others; what you handed in is kept unless the "
    "people who run the study take it out."
)
REFUSED = "consent_refused"
ASKING = "consent_withdrawing"  # the question whether somebody really wants to stop is open


def show(principal: Principal, cookie: str) -> None:
    """The text and what can be done about it, as things stand."""
    with reading(database()) as session:
        consent = view_consent(session, principal)
    st.set_page_config(page_title="Consent · calipers")
    style(consent.theme)
    st.html(f"<style>{HOME}{CSS}</style>")
    st.html(page_html(consent))
    if refused := st.session_state.pop(REFUSED, ""):
        st.html(f'<div class="c-page"><p class="g-main c-amber" role="alert">{escape(refused)}</p></div>')
    with st.container(key="consent"):
        if consent.state in ("asked", "outdated", "withdrawn"):
            _ask(cookie, consent.sha256)
        elif consent.state == "given":
            _withdraw(cookie)
    signed_in = {"csrf": csrf_token(cookie), "person": principal.opaque_id, "rescue": rescue_signer(cookie)}
    sign_out(signed_in, key="sign_out")


def page_html(consent: Consent) -> str:
    """Instructions, consent text, pay and time; every word that somebody wrote is escaped or was rendered."""
    simulated = '<span class="c-simulated">Simulated study</span>' if consent.simulated else ""
    opening = OPENINGS[consent.state].format(day=f"{consent.given_at:%Y-%m-%d}" if consent.given_at else "")
    note = f'<p class="g-warn">{WITHDRAWN}</p>' if consent.state == "withdrawn" else ""
    text = f'<h2>Consent</h2><div class="g-text">{render_report(consent.text)}</div>' if consent.text.strip() else ""
    back = '<p><a href="/my_work" target="_self">Back to my work</a></p>' if consent.state in ("given", "none") else ""
    time = escape(how_time_counts(consent.idle_s, consent.pay.rate, consent.pay.currency))
    return (
        '<div class="c-page"><header class="w-head"><h1>Consent</h1>'
        f'<span class="w-study">{escape(consent.title)}</span>{simulated}</header><main class="g-main">'
        f'<p class="c-answer">{opening}</p>{note}{back}'
        f'<h2>What you do</h2><div class="g-text"><p>{escape(consent.task)}</p>{render_report(consent.guidance)}</div>'
        f"{text}<h2>Time and pay</h2><p>{time}</p></main></div>"
    )


def _ask(cookie: str, sha256: str) -> None:
    with st.container(horizontal=True):
        # the version that was on screen, not the one that the next run reads
        st.button("I have read this and agree", key="agree", on_click=_do, args=(cookie, give_consent, sha256))
        st.button("I do not agree", key="decline", on_click=_decline, args=(cookie,))


def _withdraw(cookie: str) -> None:
    if not st.session_state.get(ASKING):
        st.button("Withdraw my agreement", key="withdraw", on_click=_asking, args=(True,))
        return
    st.html(f'<div class="c-page"><p class="g-warn">{STOPS}</p></div>')
    with st.container(horizontal=True):
        st.button("Withdraw now", key="withdraw_now", on_click=_do, args=(cookie, withdraw_consent))
        st.button("Go on taking part", key="stay", on_click=_asking, args=(False,))


def _asking(whether: bool) -> None:
    st.session_state[ASKING] = whether


def _decline(cookie: str) -> None:
    with transaction(database()) as session:
        leave(session, cookie)
    st.session_state[DECLINED] = True


def _do(cookie: str, act: Callable[..., object], *arguments: str) -> None:
    """Then the page is shown as it is now, also where the text was changed while it was being read."""
    _asking(False)
    try:
        with transaction(database()) as session:
            principal = who(session, cookie)  # it may have been revoked since the page was shown
            if principal is not None:
                act(session, principal, *arguments)
    except AnnotationError as error:
        st.session_state[REFUSED] = error.text
