"""The annotator's home: how far, how long, what it pays, what comes next, and every item of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from annotation.ballot_signing import rescue_signer
from annotation.own_work import OwnItem, OwnRemark, OwnWork, own_work
from annotation.principals import Principal
from annotation.rendering import render_report
from annotation.sign_ins import csrf_token
from app.component import sign_out
from app.screens.look import style, table
from app.settings import database
from db.connect import reading

FLAGS = {"broken_text": "the text is broken", "reveals_author": "the text reveals who wrote it", "other": ""}
CSS = """
:root { --w-serif: Charter, "Bitstream Charter", "Sitka Text", Cambria, Georgia, serif; }
[data-testid="stApp"] { background: var(--c-paper); }
[data-testid="stHeader"] { display: none; }
[data-testid="stMainBlockContainer"] { padding: 40px 0 64px; max-width: none; }
.w-head { position: fixed; inset: 0 0 auto; z-index: 1; display: flex; align-items: center; gap: 16px; height: 40px;
  padding: 0 104px 0 16px; background: var(--c-surface); border-bottom: 1px solid var(--c-line); white-space: nowrap; }
.c-page .w-head h1 { margin: 0; font-size: 14px; }
.w-study { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; color: var(--c-ink-soft);
  font: 16px/1.4 var(--w-serif); }
.c-page .w-code { color: var(--c-ink); font-weight: 600; letter-spacing: 0.1em; user-select: all; }
.w-head .c-simulated { margin: 0; color: var(--c-ink-soft); border-color: var(--c-line); }
.w-main { max-width: 920px; margin: 40px auto 0; padding: 0 24px; }
.c-page .w-main .c-answer { margin-bottom: 4px; font-variant-numeric: tabular-nums; }
.c-page .w-main a { color: var(--c-accent); text-underline-offset: 3px; }
.c-page .w-main .w-next { display: inline-block; margin: 16px 0 24px; padding: 7px 16px; border-radius: 6px;
  background: var(--c-accent); color: var(--c-on-accent); font-weight: 600; text-decoration: none; }
.w-main :focus-visible { outline: 2px solid var(--c-accent); outline-offset: 2px; }
.w-fold:first-of-type { margin-top: 24px; }
.w-next + .w-fold { margin-top: 0; }
.w-fold { border-top: 1px solid var(--c-line); }
.w-fold summary { padding: 8px 0; cursor: pointer; font-weight: 600; }
.w-fold div { padding: 0 0 16px; max-width: 42rem; }
.w-fold div, .w-fold div p, .w-fold div li { font: 16px/1.5 var(--w-serif); }
.c-page .w-main h2 { margin: 24px 0 4px; }
.w-main .c-table { width: 100%; }
.w-main .c-table th { border-bottom-color: var(--c-line); }
.w-main .c-table td { vertical-align: top; }
.w-main .c-table :is(th, td):is(:nth-child(2), :last-child) { text-align: left; }
.w-main .c-table :is(th, td):last-child { padding-right: 0; width: 1%; }
.w-main .c-table td:first-child { width: 55%; min-width: 13rem; white-space: normal; padding-right: 24px; }
.w-remarks { margin: 2px 0 0 !important; padding: 0 !important; list-style: none; color: var(--c-ink-soft); }
.w-remarks li { margin: 0 !important; font-size: 12px; overflow-wrap: anywhere; }
.w-state-submitted { color: var(--c-green); }
.w-state-in { color: var(--c-accent); font-weight: 600; }
.w-main .w-time { margin-top: 16px; max-width: none; font-size: 12px; }
@media (max-width: 700px) {
  .w-main { padding: 0 16px; }
  .w-main thead { display: none; }
  .w-main .c-table tr { display: grid; grid-template-columns: 7rem 3rem 1fr auto; padding: 8px 0;
    border-bottom: 1px solid var(--c-line); }
  .w-main .c-table td, .w-main .c-table td:first-child { width: auto; padding: 2px 0; border: 0; }
  .w-main .c-table td:first-child { grid-column: 1 / -1; }
  .w-main .c-table td:nth-child(4) { padding-left: 16px; text-align: left; }
  .w-main .c-table td:nth-child(5) { display: none; }
}
"""
CONSENT = {
    "asked": "Consent, not given yet",
    "outdated": "Consent, to a text that was changed since",
    "withdrawn": "Consent, withdrawn",
}
WHAT_NOW = {
    "draft": "This study has not begun yet. Come back with the same link when you are told that it is open.",
    "paused": "This study is paused; what you handed in is stored. Come back later with the same link.",
    "held": "Your work is paused; what you handed in is stored. Whoever sent you your link can say why.",
    "closed": "This study is closed; what you handed in is stored, and can still be reopened.",
    "locked": "This study is locked; what you handed in is stored, and nothing changes any more.",
}


def show(principal: Principal, cookie: str) -> None:
    """One sentence, the next step, then the list."""
    with reading(database()) as session:
        work = own_work(session, principal)
    st.set_page_config(page_title="My work · calipers")
    style(work.theme)
    st.html(f"<style>{CSS}</style>")
    st.html(page_html(work))
    signed_in = {"csrf": csrf_token(cookie), "person": principal.opaque_id, "rescue": rescue_signer(cookie)}
    sign_out(signed_in, key="sign_out")


def page_html(work: OwnWork) -> str:
    """The whole page; every word that somebody wrote is escaped or went through the report renderer."""
    simulated = '<span class="c-simulated">Simulated study</span>' if work.simulated else ""
    step = f'<a class="w-next" href="/" target="_self">{next_step(work)}</a>' if work.goes_on else ""
    rate, currency = (work.pay.rate, work.pay.currency) if work.pay else (0.0, "")
    time = escape(how_time_counts(work.idle_s, rate, currency))
    return (
        '<div class="c-page"><header class="w-head"><h1>My work</h1>'
        f'<span class="w-study">{escape(work.title)}</span>{simulated}</header><div class="w-main">'
        f'<p class="c-answer">{escape(answer(work))}</p><p class="c-soft">{escape(what_now(work))}</p>'
        f"{_training(work)}{_warning(work)}{_code(work)}{step}"
        f"{_folded('Instructions', f'<p>{escape(work.task)}</p>{render_report(work.guidance)}')}"
        f'{_consent(work)}{_table(work.items)}<p class="c-soft w-time">{time}</p></div></div>'
    )


def _warning(work: OwnWork) -> str:
    return f'<p class="c-amber" role="note">{escape(work.warning)}</p>' if work.warning else ""


def _code(work: OwnWork) -> str:
    if work.completion_code is None:
        return ""
    code = f'<code class="w-code">{escape(work.completion_code)}</code>'
    return f'<p class="c-soft">Your completion code, for the platform that sent you: {code}</p>'


def answer(work: OwnWork) -> str:
    """How far, how long, and what it pays so far."""
    of = work.submitted + work.in_work + work.to_come
    if not of:
        return "No item of yours yet."
    if work.submitted == of:
        far = f"All {_items(of)} submitted" if work.status == "open" else f"{_items(of)} submitted"
    else:
        far = f"{work.submitted} of {_items(of)} submitted"
    pay = f"; {work.pay.currency} {work.pay.amount:,.2f}" if work.pay else ""
    return f"{far}; {duration(work.active_s)}{pay} {'in all' if work.status == 'locked' else 'so far'}."


def what_now(work: OwnWork) -> str:
    """Whether there is more to do, and if not, why."""
    if work.status in WHAT_NOW and not work.in_work and not work.goes_on:
        return WHAT_NOW[work.status]
    if work.consent_state == "withdrawn":
        return "You withdrew your agreement, so no more work is given to you."
    if work.goes_on:
        parts = (f"{work.in_work} in work" if work.in_work else "", f"{work.to_come} to come" if work.to_come else "")
        return f"{', '.join(filter(None, parts)) or 'Training first'}."
    if work.training.status in ("failed", "unready"):
        return "No item is given to you yet; whoever sent you your link can change that."
    if work.more_at:
        return f"Everything is stored. There is more for you from {work.more_at:%Y-%m-%d %H:%M} UTC; come back then."
    if work.submitted:
        return "Everything is stored. There is nothing left to do."
    return "No item is waiting for you; new ones may be given out later."


def next_step(work: OwnWork) -> str:
    """The button's words."""
    if work.consent_state in ("asked", "outdated"):
        return "Read the consent text"
    if work.training.status == "under_way":
        return "Continue with the training" if work.items else "Begin with the training"
    return f"Continue with item {work.submitted + 1}" if work.items else "Begin with the first item"


def duration(seconds: float) -> str:
    """`42 min`, or `2 h 05 min`; minutes begun do not count."""
    hours, minutes = divmod(int(seconds // 60), 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min"


def _table(items: tuple[OwnItem, ...]) -> str:
    if not items:
        return ""
    heads = ("Topic", "State", "Answered", "Active", "Submitted (UTC)", "")
    return f"<h2>Your items, newest first</h2>{table('Your items', heads, map(_row, items))}"


def _row(item: OwnItem) -> tuple[str, ...]:
    submitted = f"{item.submitted_at:%Y-%m-%d %H:%M}" if item.submitted_at else "–"
    verb = "Continue" if item.state == "in work" else "Open"
    return (
        f"{escape(item.topic)}{_remarks(item)}",
        f'<span class="w-state-{item.state.split()[0]}">{item.state}</span>',
        f"{item.answered}/{item.criteria}",
        duration(item.active_s),
        submitted,
        f'<a href="/?open={item.aid}" target="_self" aria-label="{verb}: {escape(item.topic)}">{verb}</a>',
    )


def _remarks(item: OwnItem) -> str:
    said = [line for remark in item.remarks for line in (_said(remark), *_answered(remark.replies))]
    if item.is_training:
        said.insert(0, "training")
    if item.returned == "skipped":
        said[:0] = [f"skipped: {item.reason}", *_answered(item.skip_replies)]
    elif item.returned == "closed":
        said.insert(0, "went back when the study was closed")
    elif item.returned == "withdrawn":
        said.insert(0, "went back when you stopped taking part")
    elif item.returned == "stale":
        said.insert(0, "went back to the others because nothing was done for a long time")
    lines = "".join(f"<li>{escape(line)}</li>" for line in said)
    return f'<ul class="w-remarks">{lines}</ul>' if lines else ""


def _said(remark: OwnRemark) -> str:
    parts = ("flag", FLAGS.get(remark.what, ""), remark.text) if remark.kind == "flag" else ("comment", remark.text)
    return ": ".join(filter(None, parts))


def _answered(replies: Sequence[str]) -> list[str]:
    return [f"answer: {one}" for one in replies]


def _folded(title: str, html: str) -> str:
    return f'<details class="w-fold"><summary>{title}</summary><div>{html}</div></details>'


def _consent(work: OwnWork) -> str:
    if work.consent_state == "none":
        return ""
    given = f"Consent, given {work.consented_at:%Y-%m-%d}" if work.consented_at else ""
    where = '<p><a href="/consent" target="_self">Read it with its instructions, or withdraw</a></p>'
    return _folded(CONSENT.get(work.consent_state, given), render_report(work.consent) + where)


def _training(work: OwnWork) -> str:
    """How the training went, in one sentence; nothing where there is none."""
    state = work.training
    told = f"{state.matching} of {state.verdicts} answers as agreed"
    words = {
        "passed": f"Training passed: {told}." if state.verdicts else "Training passed.",
        "failed": f"Training not passed: {told}; {state.pass_mark:.0%} were needed.",
        "under_way": f"Training: {state.done} of {state.items} items handed in, attempt {state.attempt} of "
        f"{state.attempts}.",
        "unready": "The training is not ready yet.",
    }
    return f'<p class="c-soft">{words[state.status]}</p>' if state.status in words else ""


def how_time_counts(idle_s: int, rate: float, currency: str) -> str:
    """When active time counts and what it is paid; `idle_s` seconds of a pause count, `rate` is an hour's."""
    paid = f" It is paid at {currency} {rate:,.2f} an hour." if rate > 0 else ""
    pause = f"{idle_s // 60} min" if idle_s % 60 == 0 else f"{idle_s} s"
    return (
        "Active time counts while you read, scroll or type "
        f"with the page in front; a pause counts for at most {pause}.{paid}"
    )


def _items(n: int) -> str:
    return f"{n} item" if n == 1 else f"{n} items"
