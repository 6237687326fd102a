"""The annotator's home: how far, how long, what it pays, what comes next, and every item of one's own."""

from collections.abc import Sequence
from functools import partial
from html import escape
from urllib.parse import urlencode

import streamlit as st

from annotation.participation import own_studies
from annotation.people import principals
from annotation.rendering import render_report
from annotation.texts.scripts import direction
from annotation.work.own_work import STATES as OWN_STATES
from annotation.work.own_work import OwnItem, OwnRemark, OwnWork, own_work
from app.component import sign_out
from app.screens import look
from app.settings import database
from app.texts import ENGLISH, Texts, local, texts_for
from db.connect import reading

CSS = """
:root { --w-serif: Charter, "Bitstream Charter", "Sitka Text", Cambria, Georgia, serif; }
[data-testid="stApp"] { background: var(--c-paper); }
[data-testid="stHeader"] { display: none; }
[data-testid="stMainBlockContainer"] { padding: 40px 0 64px; max-width: none; }
.w-head { position: fixed; inset: 0 0 auto; z-index: 1; display: flex; align-items: center; gap: 16px; height: 40px;
  padding-inline: 16px 124px; background: var(--c-surface); border-bottom: 1px solid var(--c-line);
  white-space: nowrap; }
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
.w-main .c-table th:last-child { font-size: 0; } /* its links say it too */
.w-main .c-table :is(th, td):is(:nth-child(2), :last-child) { text-align: start; }
.w-main .c-table :is(th, td):last-child { padding-inline-end: 0; width: 1%; }
.w-main .c-table td:first-child { width: 55%; min-width: 13rem; white-space: normal; padding-inline-end: 24px; }
.w-find { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 16px; margin: 8px 0; font-size: 14px;
  font-variant-numeric: tabular-nums; }
.w-find :is(input, button) { padding: 4px 8px; border: 1px solid var(--c-edge); border-radius: 6px; font: inherit;
  color: inherit; background: var(--c-paper); }
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
STATES = {state: f"state_{state.replace(' ', '_')}" for state in OWN_STATES.values()}
WHAT_NOW = ("draft", "paused", "held", "closed", "locked")  # statuses that say why there is nothing to do


def show(principal: principals.Principal, cookie: str) -> None:
    """One sentence, the next step, then the list."""
    with reading(database()) as session:
        work, is_elsewhere = own_work(session, principal), len(own_studies.own_places(session, principal)) > 1
    st.set_page_config(page_title=texts_for(work.language).tell("screens.home_title"))
    look.style(work.theme, texts_for(work.language))
    st.html(f"<style>{CSS}</style>")
    asked = st.query_params
    st.html(page_html(work, asked.get("find", ""), asked.get("from", ""), is_elsewhere))
    sign_out(principal, cookie, work.language)


def page_html(work: OwnWork, find: str = "", first: str = "", is_elsewhere: bool = False) -> str:
    """The whole page; every word that somebody wrote is escaped or went through the report renderer.

    Of many items a page of those with the words `find` in their topic, the one that begins with number `first`.
    `is_elsewhere`: whether this person has other studies to go to.
    """
    words = texts_for(work.language)
    tell = words.tell
    simulated = f'<span class="c-simulated">{tell("screens.simulated")}</span>' if work.simulated else ""
    step = f'<a class="w-next" href="/" target="_self">{next_step(work)}</a>' if work.goes_on else ""
    rate, currency = (work.pay.rate, work.pay.currency) if work.pay else (0.0, "")
    time = escape(how_time_counts(words, work.idle_s, rate, currency))
    others = f'<a href="/studies" target="_self">{tell("screens.studies.title")}</a> · ' if is_elsewhere else ""
    theirs = f'lang="{escape(work.language)}" dir="{direction(work.language)}"'
    task = f"<div {theirs}><p>{escape(work.task)}</p>{render_report(work.guidance)}</div>"
    return (
        f'<div class="c-page" {look.attributes(words)}><header class="w-head"><h1>{tell("screens.my_work.title")}</h1>'
        f'<span class="w-study" {theirs}>{escape(work.title)}</span>{simulated}</header><div class="w-main">'
        f'<p class="c-answer">{escape(answer(work))}</p><p class="c-soft">{escape(what_now(work))}</p>'
        f"{_training(work, words)}{_warning(work, words)}{_code(work, words)}{step}"
        f"{_folded(tell('screens.my_work.instructions'), task)}"
        f'{_consent(work, words)}{_table(work, words, find, first)}<p class="c-soft w-time">{time}</p>'
        f'<p class="w-time">{others}<a href="/log_out" target="_self">{tell("screens.my_work.log_out")}</a></p>'
        "</div></div>"
    )


def _warning(work: OwnWork, words: Texts) -> str:
    return f'<p class="c-amber" role="note">{words.tell("screens.my_work.careful")}</p>' if work.careless else ""


def _code(work: OwnWork, words: Texts) -> str:
    if work.is_sent_back:
        return f"<p>{look.link_back(words)}</p>"
    if work.completion_code is None:
        return ""
    code = f'<code class="w-code">{escape(work.completion_code)}</code>'
    return f'<p class="c-soft">{words.tell("screens.my_work.code", code=code)}</p>'


def answer(work: OwnWork) -> str:
    """Say how far the work is, how long it took, and what it pays so far."""
    words = texts_for(work.language)
    of = work.submitted + work.in_work + work.to_come
    if not of:
        return words.tell("screens.my_work.none_yet")
    items = words.tell("screens.items", n=of)
    all_of = "all_submitted" if work.status == "open" else "these_submitted"
    if work.submitted == of:
        far = words.tell(f"screens.my_work.{all_of}", items=items)
    else:
        far = words.tell("screens.my_work.some_submitted", n=work.submitted, items=items)
    pay = local.money(work.pay.amount, work.pay.currency, words.language) if work.pay else ""
    key = f"{'in_all' if work.status == 'locked' else 'so_far'}{'_paid' if pay else ''}"
    return words.tell(f"screens.my_work.{key}", far=far, time=duration(work.active_s, words), pay=pay)


def what_now(work: OwnWork) -> str:
    """Say whether there is more to do, and if not, why."""
    tell = partial(_mine, texts_for(work.language))
    if work.status in WHAT_NOW and not work.in_work and not work.goes_on:
        return tell(work.status)
    if work.consent_state == "withdrawn":
        return tell("withdrawn")
    if work.goes_on:
        if work.in_work:
            return tell("in_work_to_come" if work.to_come else "in_work", n=work.in_work, more=work.to_come)
        return tell("to_come", n=work.to_come) if work.to_come else tell("training_first")
    if work.training.status in ("failed", "unready"):
        return tell("not_given")
    if work.more_at:
        return tell("more_at", time=look.local_time(work.more_at, texts_for(work.language).language))
    return tell("nothing_left") if work.submitted else tell("nothing_waits")


def next_step(work: OwnWork) -> str:
    """The button's words."""
    tell = partial(_mine, texts_for(work.language))
    if work.consent_state in ("asked", "outdated"):
        return tell("read_consent")
    if work.training.status == "under_way":
        return tell("go_on_training") if work.items else tell("begin_training")
    return tell("go_on", n=work.submitted + 1) if work.items else tell("begin")


def duration(seconds: float, words: Texts | None = None) -> str:
    """`42 min`, or `2 h 05 min`; minutes begun do not count. Without words in English."""
    hours, minutes = divmod(int(seconds // 60), 60)
    tell = (words or texts_for(ENGLISH)).tell
    return tell("screens.hours", h=hours, m=minutes) if hours else tell("screens.minutes", m=minutes)


def _mine(words: Texts, key: str, **values: object) -> str:
    return words.tell(f"screens.my_work.{key}", **values)


def _table(work: OwnWork, words: Texts, find: str, first: str) -> str:
    if not work.items:
        return ""
    tell = partial(_mine, words)
    heads = tuple(map(tell, ("topic", "state", "answered", "active", "submitted_at", "open")))
    items = look.matching(work.items, lambda item: item.topic, find)
    at = look.start(int(first[:9]) - 1 if first.isascii() and first.isdigit() else 0, len(items))
    rows = (_row(item, words) for item in items[at : at + look.PAGE])
    beside = _beside(find, at, len(items), words) if len(work.items) > look.PAGE else ""
    return f'<h2 id="items">{tell("newest_first")}</h2>{beside}{look.table(tell("your_items"), heads, rows)}'


def _beside(find: str, at: int, of: int, words: Texts) -> str:
    """Which items these are, the pages before and after, and a box to find one; plain links, so that Back works."""
    tell = partial(_mine, words)
    links = "".join(
        f'<a href="/my_work?{escape(urlencode({"find": find, "from": to + 1}))}#items" target="_self">{tell(name)}</a>'
        for name, to in (("newer", at - look.PAGE), ("older", at + look.PAGE))
        if 0 <= to < of
    )
    place = tell("place", first=at + 1, last=min(at + look.PAGE, of), of=of) if of else tell("none_found")
    return (
        f'<form class="w-find" action="/my_work" method="get"><label>{tell("find")} <input name="find" '
        f'value="{escape(find)}"></label><button>{tell("find_now")}</button><span>{place}</span>{links}</form>'
    )


def _row(item: OwnItem, words: Texts) -> tuple[str, ...]:
    tell = partial(_mine, words)
    submitted = look.local_time(item.submitted_at, words.language) if item.submitted_at else "–"
    verb = "continue" if item.state == "in work" else "open"
    name = tell(f"{verb}_item", topic=escape(item.topic))
    return (
        f"<bdi>{escape(item.topic)}</bdi>{_remarks(item, words)}",
        f'<span class="w-state-{item.state.split()[0]}">{tell(STATES[item.state])}</span>',
        f"{item.answered}/{item.criteria}",
        duration(item.active_s, words),
        f"<bdi>{submitted}</bdi>",
        f'<a href="/?open={item.aid}" target="_self" aria-label="{name}">{tell(verb)}</a>',
    )


def _remarks(item: OwnItem, words: Texts) -> str:
    tell = partial(_mine, words)
    said = [line for remark in item.remarks for line in (_said(remark, words), *_answered(remark.replies, words))]
    if item.is_training:
        said.insert(0, tell("training"))
    if item.returned == "skipped":
        said[:0] = [tell("skipped", reason=item.reason), *_answered(item.skip_replies, words)]
    elif item.returned in ("closed", "withdrawn", "stale"):
        said.insert(0, tell(f"went_back_{item.returned}"))
    lines = "".join(f"<li>{escape(line)}</li>" for line in said)
    return f'<ul class="w-remarks">{lines}</ul>' if lines else ""


def _said(remark: OwnRemark, words: Texts) -> str:
    if remark.kind != "flag":
        return _mine(words, "comment", text=remark.text)
    if remark.what in ("broken_text", "reveals_author"):
        return _mine(words, f"flag_{remark.what}_why" if remark.text else f"flag_{remark.what}", text=remark.text)
    return _mine(words, "flag" if remark.text else "flag_other", text=remark.text)


def _answered(replies: Sequence[str], words: Texts) -> list[str]:
    return [_mine(words, "answer", text=reply) for reply in replies]


def _folded(title: str, html: str) -> str:
    return f'<details class="w-fold"><summary>{title}</summary><div>{html}</div></details>'


def _consent(work: OwnWork, words: Texts) -> str:
    if work.consent_state == "none":
        return ""
    tell = partial(_mine, words)
    day = look.local_day(work.consented_at, words.language) if work.consented_at else ""
    where = f'<p><a href="/consent" target="_self">{tell("read_or_withdraw")}</a></p>'
    text = f'<div lang="{escape(work.language)}" dir="{direction(work.language)}">{render_report(work.consent)}</div>'
    return _folded(tell(f"consent_{work.consent_state}", day=day), text + where)


def _training(work: OwnWork, words: Texts) -> str:
    """Say in one sentence how the training went; nothing where there is none."""
    state = work.training
    if state.status not in ("passed", "failed", "under_way", "unready"):
        return ""
    key = "passed_with" if state.status == "passed" and state.verdicts else state.status
    said = _mine(
        words, f"training_{key}", matching=state.matching, of=state.verdicts, needed=f"{100 * state.pass_mark:.0f} %",
        done=state.done, items=state.items, attempt=state.attempt, attempts=state.attempts,
    )  # fmt: skip
    return f'<p class="c-soft">{said}</p>'


def how_time_counts(words: Texts, idle_s: int, rate: float, currency: str) -> str:
    """When active time counts and what it is paid; `idle_s` seconds of a pause count, `rate` is an hour's."""
    whole = idle_s % 60 == 0
    pause = words.tell("screens.minutes", m=idle_s // 60) if whole else words.tell("screens.seconds", s=idle_s)
    counts = _mine(words, "time_counts", pause=pause)
    return _mine(words, "paid", counts=counts, pay=local.money(rate, currency, words.language)) if rate > 0 else counts
