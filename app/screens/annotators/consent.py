"""What a person agrees to: the task, the consent text, pay and time; read before the first item, and at any time."""

from collections.abc import Callable
from functools import partial
from html import escape

import streamlit as st

from annotation.errors import AnnotationError
from annotation.participation.standing import withdraw_consent
from annotation.people.consent import Consent, give_consent, view_consent
from annotation.people.principals import Principal
from annotation.people.sign_ins import sign_out as leave
from annotation.people.sign_ins import who
from annotation.rendering import render_report
from annotation.texts.scripts import direction
from annotation.work.way_back import go_back
from app.component import sign_out
from app.screens import leaving, look
from app.screens.annotators.my_work import CSS as HOME
from app.screens.annotators.my_work import how_time_counts
from app.settings import database
from app.texts import ENGLISH, Texts, texts_for
from db.connect import reading, transaction

CSS = """
.c-page .g-main { max-width: 42rem; margin: 40px auto 0; padding: 0 24px; }
.c-page .g-main > h2:not(.c-answer) { margin: 32px 0 8px; padding-top: 12px; border-top: 1px solid var(--c-line); }
.g-text, .c-page .g-text :is(p, li) { font: 16px/1.55 var(--w-serif); max-width: none; }
.c-page .g-text :is(ul, ol) { margin: 0 0 8px; padding-inline-start: 24px; }
.c-page .g-text :is(h3, h4, h5, h6) { font: 600 16px/1.4 var(--w-serif); margin: 16px 0 8px; padding: 0; }
.c-page .g-main a { color: var(--c-accent); text-underline-offset: 3px; }
.c-page .g-warn { border-inline-start: 2px solid var(--c-amber); padding-inline-start: 12px; }
.st-key-consent { max-width: 42rem; margin: 8px auto 0; padding: 0 24px; }
[data-testid="stMain"]:has(.c-page[dir="rtl"]) .st-key-consent { direction: rtl; }
.st-key-consent button { min-height: 36px; padding: 7px 16px; border-radius: 6px; background: none;
  border: 1px solid var(--c-edge); color: var(--c-ink); }
.st-key-consent button:hover { border-color: var(--c-ink); color: var(--c-ink); background: none; }
.st-key-consent button:focus-visible { outline: 2px solid var(--c-accent); outline-offset: 2px; box-shadow: none; }
.st-key-consent button p { font: 600 14px/1.4 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
.st-key-consent .st-key-agree button { border-color: var(--c-accent); background: var(--c-accent);
  color: var(--c-on-accent); }
.st-key-consent .st-key-withdraw_now button { border-color: currentColor; color: var(--c-red); }
"""
REFUSED = "consent_refused"
REFUSALS = ("out_of_date", "no_consent")  # codes with words of their own
ASKING = "consent_withdrawing"  # the question whether somebody really wants to stop is open


def show(principal: Principal, cookie: str) -> None:
    """Show the text and what can be done about it now."""
    with reading(database()) as session:
        consent = view_consent(session, principal)
    words = texts_for(consent.language)
    st.set_page_config(page_title=words.tell("screens.consent_title"))
    look.style(consent.theme, words)
    st.html(f"<style>{HOME}{CSS}</style>")
    st.html(page_html(consent))
    if refused := st.session_state.pop(REFUSED, ()):
        said = escape(_refusal(words, *refused))
        st.html(f'<div class="c-page" {look.attributes(words)}><p class="g-main c-amber" role="alert">{said}</p></div>')
    with st.container(key="consent"):
        if consent.state in ("asked", "outdated", "withdrawn"):
            _ask(cookie, consent.sha256, words)
        elif consent.state == "given":
            _withdraw(cookie, words)
    sign_out(principal, cookie, consent.language)


def page_html(consent: Consent) -> str:
    """Instructions, consent text, pay and time; every word that somebody wrote is escaped or was rendered."""
    words = texts_for(consent.language)
    tell = partial(_said, words)
    theirs = f'lang="{escape(consent.language)}" dir="{direction(consent.language)}"'
    simulated = f'<span class="c-simulated">{words.tell("screens.simulated")}</span>' if consent.simulated else ""
    opening = tell(consent.state, day=look.local_day(consent.given_at, words.language) if consent.given_at else "")
    note = f'<p class="g-warn">{tell("withdrawn_note")}</p>' if consent.state == "withdrawn" else ""
    title, text = tell("title"), ""
    if consent.text.strip():
        text = f'<h2>{title}</h2><div class="g-text" {theirs}>{render_report(consent.text)}</div>'
    home = words.tell("screens.my_work.back")
    back = f'<p><a href="/my_work" target="_self">{home}</a></p>' if consent.state in ("given", "none") else ""
    time = escape(how_time_counts(words, consent.idle_s, consent.pay.rate, consent.pay.currency))
    return (
        f'<div class="c-page" {look.attributes(words)}><header class="w-head"><h1>{title}</h1>'
        f'<span class="w-study" {theirs}>{escape(consent.title)}</span>{simulated}</header><div class="g-main">'
        f'<h2 class="c-answer">{opening}</h2>{note}{back}'
        f'<h2>{tell("what_you_do")}</h2><div class="g-text" {theirs}><p>{escape(consent.task)}</p>'
        f"{render_report(consent.guidance)}</div>{text}<h2>{tell('time_and_pay')}</h2><p>{time}</p></div></div>"
    )


def _said(words: Texts, key: str, **values: object) -> str:
    return words.tell(f"screens.consent.{key}", **values)


def _refusal(words: Texts, code: str, text: str) -> str:
    """What the server refused: in English its own sentence, which says more."""
    return text if words.language == ENGLISH else _said(words, code if code in REFUSALS else "refused")


def _ask(cookie: str, sha256: str, words: Texts) -> None:
    agree, decline = (words.tell(f"screens.consent.{key}") for key in ("agree", "decline"))
    with st.container(horizontal=True):
        # the version that was on screen, not the one that the next run reads
        st.button(agree, key="agree", on_click=_do, args=(cookie, give_consent, sha256))
        st.button(decline, key="decline", on_click=_decline, args=(cookie,))


def _withdraw(cookie: str, words: Texts) -> None:
    tell = words.tell
    if not st.session_state.get(ASKING):
        st.button(tell("screens.consent.withdraw"), key="withdraw", on_click=_asking, args=(True,))
        return
    stops = tell("screens.consent.stops")
    st.html(f'<div class="c-page" {look.attributes(words)}><p class="g-warn">{stops}</p></div>')
    with st.container(horizontal=True):
        st.button(
            tell("screens.consent.withdraw_now"), key="withdraw_now", on_click=_do, args=(cookie, withdraw_consent)
        )
        st.button(tell("screens.consent.stay"), key="stay", on_click=_asking, args=(False,))


def _asking(whether: bool) -> None:
    st.session_state[ASKING] = whether


def _decline(cookie: str) -> None:
    with transaction(database()) as session:
        principal = who(session, cookie)
        address = go_back(session, principal, "") if principal else None
        leave(session, cookie)
    st.session_state[leaving.DECLINED] = address or True


def _do(cookie: str, act: Callable[..., object], *arguments: str) -> None:
    """Then the page is shown as it is now, also where the text was changed while it was being read."""
    _asking(False)
    try:
        with transaction(database()) as session:
            principal = who(session, cookie)  # it may have been revoked since the page was shown
            if principal is not None:
                act(session, principal, *arguments)
    except AnnotationError as error:
        st.session_state[REFUSED] = error.code, error.text
