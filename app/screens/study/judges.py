"""How judges are doing: one sentence, what the order did to them, the table, failures by kind, how they were asked."""

from html import escape

import streamlit as st

from annotation.errors import AnnotationError
from annotation.facts.judge_facts import ImportedCost, imported_costs
from annotation.judges.money.accounts import PAUSED
from annotation.judges.planning import requests as asking
from annotation.judges.reviewing import disagreements, inspecting, judge_standings
from annotation.people.principals import Principal, study_for
from app.results import computing, study_reports
from app.screens import leaving, report_page, waiting
from app.screens.results.disagreements import sent_html
from app.screens.study import describing, judge_tables, people
from app.settings import database
from calibration.errors import CalibrationError
from db.connect import reading, transaction
from plain.wording import several, worded

IMPORTED_SAYS = " Imported: as the file of labels says, in seconds for an item with all its criteria."
EVERY_S = 4  # while calls or requests are unfinished


def show(principal: Principal, cookie: str) -> None:
    """The rows as they are now, drawn again by themselves while a judge is at work. No model is called from here."""
    with report_page.begun(principal, "evaluator") as (session, study):
        version, running = study_reports.label_version(session, study), judge_standings.are_at_work(session, study)
        imported = imported_costs(session, study)
    try:
        kept = waiting.computed("orders", principal, version, doing="Looking at both orders")
        orders: dict[str, computing.Orders] = kept.value if kept else {}
    except (AnnotationError, CalibrationError) as error:
        orders = {}
        st.html(
            '<div class="c-page"><p class="c-soft">'
            + worded("Nothing to say about the order: {text}", text=escape(error.text))
            + "</p></div>"
        )
    st.fragment(draw_now, run_every=EVERY_S if running else None)(principal, cookie, orders, imported, running)
    ask(principal)
    if principal.role == "admin":
        describing.show(principal)
    read_prompts(principal)


def draw_now(
    principal: Principal,
    cookie: str,
    orders: dict[str, computing.Orders],
    imported: dict[str, ImportedCost],
    running: bool,
) -> None:
    """The part that draws itself again. `running`: calls or requests were open when the whole page was drawn."""
    with reading(database()) as session:
        leaving.send_away(session, principal, cookie)
        runs = judge_standings.judge_runs(session, principal)
        in_app = asking.described_judges(session, study_for(session, principal, "evaluator"))
    if running and not (runs.requests or any(standing.unfinished for standing in runs.standings)):
        st.rerun()  # the last call was made, or what was asked for ended without one: draw all anew, and stop the clock
    if not runs.standings:
        report_page.empty(
            worded("No judge has run yet"),
            f"<p>{worded('Describe models below and ask for a run, or run those of judges.toml:')}</p><p><code>"
            f"calipers judge run {escape(runs.study)} --judges judges.toml</code></p>",
        )
        return
    left = [*runs.requests, *(one.judge for one in runs.standings if one.unfinished)]
    # who does not wait carries out no request
    worker = describing.worker_for(runs.study, left, in_app, waits=bool(runs.requests))
    st.html(
        '<div class="c-page"><p class="c-answer">'
        f"{escape(judge_tables.sentence(runs.standings))}</p>"
        f"{judge_tables.still_open(runs, worker)}{judge_tables.order_warnings(orders)}<h2>"
        f"{worded('Judges')}</h2>{judge_tables.standing_table(runs, orders, imported)}</div>"
    )
    _pausing(people.acting(principal, cookie), runs)
    st.html(
        '<div class="c-page"><p class="c-soft c-foot">'
        + worded(
            "Usable: of all answers asked for. Wasted: paid beyond the first reply of each call. First shown wins: "
            ".50 is no habit of side; below it the 95 % interval over whole clusters, [–] where they do not "
            "differ. Swap consistency: equal verdicts in both orders.{imported_says}",
            imported_says=worded(IMPORTED_SAYS) if imported else "",
        )
        + f"</p><h2>{worded('What went wrong')}</h2>{judge_tables.failure_table(runs)}<h2>"
        f"{worded('How each was asked')}</h2>{judge_tables.asked_lists(runs.asked)}</div>"
    )


def _pausing(whose: people.Whose, runs: judge_standings.JudgeRuns) -> None:
    """A button for each judge that has calls to make."""
    with st.container(horizontal=True, gap="small"):
        for one in runs.standings:
            if one.unfinished:
                word, act, about = PAUSE[one.stopped == PAUSED]
                st.button(
                    f"{worded(word)} {one.judge}", key=f"pause_{one.judge}", help=worded(about), on_click=people.do,
                    args=(whose, act, [one.judge]),
                )  # fmt: skip


PAUSE = {
    False: ("Pause", asking.pause_judges, "No worker takes another call; what is in flight is finished and kept."),
    True: ("Go on with", asking.go_on, "Asked for anew; a worker that waits takes it up."),
}
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
        judges, study = asking.can_be_asked(session, principal), study_for(session, principal, "evaluator")
        name, requests = study.name, judge_standings.asked_in_the_app(session, study)
        why, in_app = asking.not_run(session, study), asking.described_judges(session, study)
    if not judges:
        return
    told = "{judge} was asked for and not run: {why}. Mended there, it can be asked for again."
    lines = (worded(told, judge=escape(one), why=escape(said.text.rstrip(".。"))) for one, said in sorted(why.items()))
    lost = "".join(f'<p class="c-red">{line}</p>' for line in lines)
    st.html(f'<div class="c-page"><h2>{worded("Ask for a run")}</h2>{lost}</div>')
    chosen, button = st.columns([2, 5], vertical_alignment="bottom")
    judge = chosen.selectbox(worded("Judge to ask"), judges, key="judge_to_run", on_change=_forget)
    if judge in requests:
        waiting = f"<code>{escape(describing.worker_for(name, [judge], in_app))}</code>"
        st.html(
            '<div class="c-page"><p class="c-soft">'
            + worded("It is asked for. A worker carries it out: {waiting}", waiting=waiting)
            + "</p></div>"
        )
        return
    if button.button(worded("Estimate"), key="estimate"):
        st.session_state[ESTIMATED] = judge
    if st.session_state.get(ESTIMATED) == judge:
        _confirm(principal, judge)


def _confirm(principal: Principal, judge: str) -> None:
    try:
        with st.spinner(worded("Counting what is missing…")):
            expected = asking.forecast(database(), principal, judge)
    except AnnotationError as error:
        st.html(f'<div class="c-page"><p class="c-red">{escape(error.text)}</p></div>')
        return
    st.html(f'<div class="c-page"><p>{escape(forecast_sentence(expected))}</p></div>')
    with st.container(horizontal=True, gap="small"):
        calls = expected.estimate.calls
        these = worded("this call") if calls == 1 else worded("these {calls:,} calls", calls=calls)
        if calls and st.button(worded("Ask for {these}", these=these), key="ask", type="primary"):
            with transaction(database()) as session:
                asking.request_run(session, principal, [judge])
            _forget()
            st.rerun()
        if st.button(worded("Not now"), key="not_now"):
            _forget()
            st.rerun()


def forecast_sentence(expected: asking.Forecast) -> str:
    """Say what a run would add, what that costs, and what the judge has cost and may cost."""
    money, calls = expected.estimate, expected.estimate.calls
    limit = (
        ""
        if expected.max_cost is None
        else worded(" of the USD {max_cost:,.2f} it may cost", max_cost=expected.max_cost)
    )
    spent = worded("It has cost USD {spent:,.4f} so far{limit}.", spent=expected.spent, limit=limit)
    if not calls:
        return worded(
            "Nothing is missing: a run of {judge} would make no calls. {spent}", judge=expected.judge, spent=spent
        )
    parts = [worded("{waiting:,} planned before", waiting=expected.waiting)] if expected.waiting else []
    parts += [worded("{new:,} for what came since", new=expected.new)] if expected.new else []
    cost = worded("at a price nobody has given")
    if money.likely is not None and money.worst is not None:
        cost = worded("likely USD {likely:,.4f}, at worst USD {worst:,.4f}", likely=money.likely, worst=money.worst)
    return worded(
        "{judge} would make {calls} ({parts}), {cost}. {spent} Reckoned with the settings of its last "
        "run, or as it is described here; the worker reads its description as it is then.",
        judge=expected.judge, calls=several(calls, "call"), parts=worded(", ").join(parts), cost=cost, spent=spent,
    )  # fmt: skip


def read_prompts(principal: Principal) -> None:
    """Judge, item, call: the prompt as it was sent, proved by its sha256, or as it will be."""
    with reading(database()) as session:
        items = inspecting.asked_items(session, principal)
    if not items:
        return
    st.html(f'<div class="c-page"><h2>{worded("Read a prompt")}</h2></div>')
    first, second, third = st.columns([2, 3, 3])
    judge = first.selectbox(worded("Judge"), list(items), key="prompt_judge")
    item = second.selectbox(
        worded("Item"),
        list(items[judge]),
        format_func=lambda item: f"{item} · {items[judge][item]}",
        key=f"prompt_item_{judge}",
    )
    with reading(database()) as session:
        calls = inspecting.calls_on(session, principal, judge, item)
    named = {call.call_id: _name(call) for call in calls}
    call = third.selectbox(
        worded("Call"), list(named), format_func=named.__getitem__, index=None, key=f"prompt_call_{judge}_{item}",
        placeholder=worded("Choose a call"),
    )  # fmt: skip
    if call is not None:
        with reading(database()) as session:
            shown = disagreements.sent_call(session, principal, call)
        st.html(f'<div class="c-page">{sent_html(shown)}</div>')


def _name(call: inspecting.CallOn) -> str:
    parts = [
        worded("pass {pass_no}", pass_no=call.pass_no),
        worded("repeat {repeat_no}", repeat_no=call.repeat_no) if call.repeat_no > 1 else "",
    ]
    parts += [
        call.criteria[0] if len(call.criteria) == 1 else worded("{criteria} criteria", criteria=len(call.criteria))
    ]
    parts += [
        worded("settings {settings}", settings=call.settings) if call.settings > 1 else "",
        worded("stress test: {stress}", stress=call.stress) if call.stress else "",
    ]
    return " · ".join(filter(None, [*parts, worded(STATES[call.state])]))


def _forget() -> None:
    st.session_state.pop(ESTIMATED, None)
