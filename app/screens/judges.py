"""How judges stand: one sentence, what the order did to them, the table, failures by kind, how they were asked."""

from __future__ import annotations

from html import escape

import streamlit as st

from annotation.errors import AnnotationError
from annotation.judge_runs import judge_runs
from annotation.principals import Principal, study_for
from annotation.sign_ins import who
from app.judge_orders import Orders, judge_orders
from app.reporting import label_version
from app.screens.judge_asking import ask, read_prompts
from app.screens.judge_tables import asked_lists, failure_table, order_warnings, sentence, standing_table, still_open
from app.screens.look import style
from app.settings import database
from calibration.errors import CalibrationError
from db.connect import reading

EVERY_S = 4  # while calls are unfinished


def show(principal: Principal, cookie: str) -> None:
    """The rows as they are now, drawn again by themselves while a judge is at work. No model is called from here."""
    style()
    with reading(database()) as session:
        version = label_version(session, study_for(session, principal, "evaluator"))
        running = any(one.unfinished for one in judge_runs(session, principal).standings)
    try:
        with st.spinner("Looking at both orders…"):
            orders = _orders(principal, version)
    except (AnnotationError, CalibrationError) as error:
        orders = {}
        st.html(f'<div class="c-page"><p class="c-soft">Nothing to say about the order: {escape(error.text)}</p></div>')
    st.fragment(draw_now, run_every=EVERY_S if running else None)(principal, cookie, orders, running)
    ask(principal)
    read_prompts(principal)


def draw_now(principal: Principal, cookie: str, orders: dict[str, Orders], running: bool) -> None:
    """The part that draws itself again. `running`: calls were open when the whole page was drawn."""
    with reading(database()) as session:
        # a fragment runs without the shell: whoever signed out meanwhile is sent there
        if who(session, cookie) != principal:
            st.rerun()
        runs = judge_runs(session, principal)
    if not runs.standings:
        st.html(
            '<div class="c-empty"><h1>No judge has run yet</h1><p>Describe the models in judges.toml, then run</p>'
            f"<p><code>calipers judge run {escape(runs.study)} --judges judges.toml</code></p></div>"
        )
        return
    if running and not any(one.unfinished for one in runs.standings):
        st.rerun()  # the last call was made: draw the orders again, and stop the clock
    mark = '<span class="c-simulated">Simulated answers: these judges are made up</span>' if runs.simulated else ""
    st.html(
        f'<div class="c-page">{mark}<p class="c-answer">{escape(sentence(runs.standings))}</p>{still_open(runs)}'
        f"{order_warnings(orders)}<h2>Judges</h2>{standing_table(runs, orders)}"
        '<p class="c-soft c-foot">Usable: of all answers asked for. Wasted: paid beyond the first reply of each call. '
        "First shown wins: .50 is no habit of side; below it the 95 % interval over whole clusters, [–] where they do "
        "not differ. Swap consistency: equal verdicts in both orders.</p>"
        f"<h2>What went wrong</h2>{failure_table(runs.failures, runs.study)}"
        f"<h2>How each was asked</h2>{asked_lists(runs.asked)}</div>"
    )


@st.cache_data(max_entries=8, show_spinner=False)
def _orders(principal: Principal, version: tuple[int, ...]) -> dict[str, Orders]:
    """Cached by study and state of its labels; `version` is part of the key only."""
    with reading(database()) as session:
        return judge_orders(session, principal)
