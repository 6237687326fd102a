"""How judges stand: one sentence, what the order did to them, the table, failures by kind, how they were asked."""

from __future__ import annotations

from html import escape

import streamlit as st

from annotation.errors import AnnotationError
from annotation.facts.imported_costs import ImportedCost, imported_costs
from annotation.judges.judge_runs import judge_runs
from annotation.judges.standing import are_at_work
from annotation.people.principals import Principal, study_for
from app.judge_orders import Orders
from app.reporting import label_version
from app.screens.judge_asking import ask, read_prompts
from app.screens.judge_tables import asked_lists, failure_table, order_warnings, sentence, standing_table, still_open
from app.screens.look import style
from app.screens.report_page import empty, study_head
from app.screens.signed_out import send_away
from app.screens.waiting import computed
from app.settings import database
from calibration.errors import CalibrationError
from db.connect import reading

IMPORTED_SAYS = " Imported: as the file of labels says, in seconds for an item with all its criteria."
EVERY_S = 4  # while calls are unfinished


def show(principal: Principal, cookie: str) -> None:
    """The rows as they are now, drawn again by themselves while a judge is at work. No model is called from here."""
    style()
    with reading(database()) as session:
        study = study_for(session, principal, "evaluator")
        study_head(study)
        version, running = label_version(session, study), are_at_work(session, study)
        imported = imported_costs(session, study)
    try:
        kept = computed("orders", principal, version, doing="Looking at both orders")
        orders: dict[str, Orders] = kept.value if kept else {}
    except (AnnotationError, CalibrationError) as error:
        orders = {}
        st.html(f'<div class="c-page"><p class="c-soft">Nothing to say about the order: {escape(error.text)}</p></div>')
    st.fragment(draw_now, run_every=EVERY_S if running else None)(principal, cookie, orders, imported, running)
    ask(principal)
    read_prompts(principal)


def draw_now(
    principal: Principal, cookie: str, orders: dict[str, Orders], imported: dict[str, ImportedCost], running: bool
) -> None:
    """The part that draws itself again. `running`: calls were open when the whole page was drawn."""
    with reading(database()) as session:
        send_away(session, principal, cookie)
        runs = judge_runs(session, principal)
    if not runs.standings:
        empty(
            "No judge has run yet",
            "<p>Describe the models in judges.toml, then run</p>"
            f"<p><code>calipers judge run {escape(runs.study)} --judges judges.toml</code></p>",
        )
        return
    if running and not any(one.unfinished for one in runs.standings):
        st.rerun()  # the last call was made: draw the orders again, and stop the clock
    st.html(
        f'<div class="c-page"><p class="c-answer">{escape(sentence(runs.standings))}</p>{still_open(runs)}'
        f"{order_warnings(orders)}<h2>Judges</h2>{standing_table(runs, orders, imported)}"
        '<p class="c-soft c-foot">Usable: of all answers asked for. Wasted: paid beyond the first reply of each call. '
        "First shown wins: .50 is no habit of side; below it the 95 % interval over whole clusters, [–] where they do "
        f"not differ. Swap consistency: equal verdicts in both orders.{IMPORTED_SAYS if imported else ''}</p>"
        f"<h2>What went wrong</h2>{failure_table(runs)}"
        f"<h2>How each was asked</h2>{asked_lists(runs.asked)}</div>"
    )
