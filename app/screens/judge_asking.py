"""Under the tables of the Judges page: ask for another run, its cost first, and read any prompt before or after."""

from __future__ import annotations

from html import escape

import streamlit as st

from annotation.disputes.one_disagreement import sent_call
from annotation.errors import AnnotationError
from annotation.judges.asking import Forecast, can_be_asked, forecast
from annotation.judges.judge_prompts import CallOn, asked_items, calls_on
from annotation.judges.judge_runs import asked_in_the_app
from annotation.judges.requests import request_run
from annotation.people.principals import Principal, study_for
from app.screens.disagreement_parts import sent_html
from app.settings import database
from db.connect import reading, transaction

ESTIMATED = "judge_estimated"
STATES = {
    "planned": "not sent yet",
    "leased": "being sent",
    "submitted": "in a batch",
    "done": "done",
    "failed": "failed",
}


def ask(principal: Principal) -> None:
    """Estimate, then ask: a row that a worker on the command line carries out. Nothing is called from here."""
    with reading(database()) as session:
        judges, study = can_be_asked(session, principal), study_for(session, principal, "evaluator")
        name, requests = study.name, asked_in_the_app(session, study)
    if not judges:
        return
    st.html('<div class="c-page"><h2>Another run</h2></div>')
    chosen, button = st.columns([2, 5], vertical_alignment="bottom")
    judge = chosen.selectbox("Judge to run again", judges, key="judge_to_run", on_change=_forget)
    if judge in requests:
        waiting = f"<code>calipers judge resume {escape(name)} --judges judges.toml --wait</code>"
        st.html(f'<div class="c-page"><p class="c-soft">It is asked for. A worker carries it out: {waiting}</p></div>')
        return
    if button.button("Estimate", key="estimate"):
        st.session_state[ESTIMATED] = judge
    if st.session_state.get(ESTIMATED) == judge:
        _confirm(principal, judge)


def _confirm(principal: Principal, judge: str) -> None:
    try:
        with st.spinner("Counting what is missing…"):
            found = forecast(database(), principal, judge)
    except AnnotationError as error:
        st.html(f'<div class="c-page"><p class="c-red">{escape(error.text)}</p></div>')
        return
    st.html(f'<div class="c-page"><p>{escape(forecast_sentence(found))}</p></div>')
    with st.container(horizontal=True, gap="small"):
        calls = found.estimate.calls
        these = "this call" if calls == 1 else f"these {calls:,} calls"
        if calls and st.button(f"Ask for {these}", key="ask", type="primary"):
            with transaction(database()) as session:
                request_run(session, principal, [judge])
            _forget()
            st.rerun()
        if st.button("Not now", key="not_now"):
            _forget()
            st.rerun()


def forecast_sentence(found: Forecast) -> str:
    """What a run would add, what that costs, and what the judge has cost and may cost."""
    money, calls = found.estimate, found.estimate.calls
    limit = "" if found.max_cost is None else f" of the USD {found.max_cost:,.2f} it may cost"
    spent = f"It has cost USD {found.spent:,.4f} so far{limit}."
    if not calls:
        return f"Nothing is missing: a run of {found.judge} would make no calls. {spent}"
    parts = [f"{found.waiting:,} planned before"] if found.waiting else []
    parts += [f"{found.new:,} for what came since"] if found.new else []
    cost = "at a price nobody has given"
    if money.likely is not None and money.worst is not None:
        cost = f"likely USD {money.likely:,.4f}, at worst USD {money.worst:,.4f}"
    word = "call" if calls == 1 else "calls"
    return (
        f"{found.judge} would make {calls:,} {word} ({', '.join(parts)}), {cost}. {spent} "
        "Reckoned with the settings of its last run; the worker reads judges.toml as it is then."
    )


def read_prompts(principal: Principal) -> None:
    """Judge, item, call: the prompt as it was sent, proved by its sha256, or as it will be."""
    with reading(database()) as session:
        items = asked_items(session, principal)
    if not items:
        return
    st.html('<div class="c-page"><h2>Read a prompt</h2></div>')
    first, second, third = st.columns([2, 3, 3])
    judge = first.selectbox("Judge", list(items), key="prompt_judge")
    item = second.selectbox(
        "Item", list(items[judge]), format_func=lambda one: f"{one} · {items[judge][one]}", key=f"prompt_item_{judge}"
    )
    with reading(database()) as session:
        calls = calls_on(session, principal, judge, item)
    named = {one.call_id: _name(one) for one in calls}
    call = third.selectbox(
        "Call", list(named), format_func=named.__getitem__, index=None, key=f"prompt_call_{judge}_{item}",
        placeholder="Choose a call",
    )  # fmt: skip
    if call is not None:
        with reading(database()) as session:
            shown = sent_call(session, principal, call)
        st.html(f'<div class="c-page">{sent_html(shown)}</div>')


def _name(one: CallOn) -> str:
    parts = [f"pass {one.pass_no}", f"repeat {one.repeat_no}" if one.repeat_no > 1 else ""]
    parts += [one.criteria[0] if len(one.criteria) == 1 else f"{len(one.criteria)} criteria"]
    parts += [
        f"settings {one.settings}" if one.settings > 1 else "",
        f"probe: {one.probe_kind}" if one.probe_kind else "",
    ]
    return " · ".join(filter(None, [*parts, STATES[one.state]]))


def _forget() -> None:
    st.session_state.pop(ESTIMATED, None)
