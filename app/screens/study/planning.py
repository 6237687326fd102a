"""What people label is planned in the browser: looked at with its hours and its price, and only then made."""

from functools import partial
from html import escape
from typing import Any

import streamlit as st
from sqlalchemy.orm import Session

from annotation import errors, studies
from annotation.designs.pairing import DESIGNS
from annotation.people.principals import Principal, study_for
from annotation.planning import draws, plan_summary, plan_words, slots
from app.results.next_topics import BATCH, design_of, plan_drawn
from app.screens import look, report_page
from app.settings import database
from calibration.sizing.next_batch import QUESTIONS
from db.connect import reading, transaction
from plain.wording import worded

ASKED = "plan_asked"  # what `make_plan` was asked for; there while the plan is looked at
DRAWN = "active"
TOLD = {
    "reference": "reference: each system against it",
    "all": "all: every two systems",
    "balanced": "balanced: every two meet equally often",
    DRAWN: "batches of topics, where judges say most",
}


def show(principal: Principal) -> None:
    """What to plan; then the plan, with the button that makes it."""
    with reading(database()) as session:
        study = study_for(session, principal, "admin")
        protocol, design, drawn = (
            studies.protocol_of(study),
            design_of(session, study),
            draws.kept_draws(session, study),
        )
    asked: dict[str, Any] = {}
    has_pairs = plan_words.noun_of(protocol) == "pairs"
    designs = [DRAWN] if drawn else [*DESIGNS, DRAWN]  # what is drawn once is drawn to its end
    design = DRAWN if drawn or protocol.study.next == "active" else design
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        if has_pairs:
            asked["design"] = st.selectbox(
                worded("Pairs"),
                designs,
                designs.index(design),
                format_func=lambda name: worded(TOLD[name]),
                key="plan_design",
                width=320,
            )
        if asked.get("design") == DRAWN:
            asked["size"] = st.number_input(worded("Topics in this batch"), 1, None, BATCH, key="plan_batch", width=160)
            asked["question"] = st.selectbox(
                worded("Drawn for"),
                QUESTIONS,
                format_func=lambda name: name.replace("_", " "),
                key="plan_for",
                width=160,
            )
        asked["per_topic"] = st.number_input(
            worded("Items a topic"), 1, None, None, key="plan_per_topic", placeholder=worded("all"), width=140
        )
        asked["total"] = st.number_input(
            worded("Items in all"), 1, None, None, key="plan_total", placeholder=worded("no limit"), width=140
        )
        asked["overlap"] = st.number_input(
            worded("Annotators an item"), 1, None, protocol.study.overlap, key="plan_overlap", width=160
        )
        looked = st.button(worded("Look at the plan"), key="plan_look")
    asked["roster"] = st.checkbox(worded("Say now who labels what, among those invited"), key="plan_roster")
    if looked:
        st.session_state[ASKED] = asked
    if st.session_state.get(ASKED) == asked:
        _look_at(principal, asked, has_pairs)


def _look_at(principal: Principal, asked: dict[str, Any], has_pairs: bool) -> None:
    try:
        with st.spinner(worded("Planning…")), reading(database()) as session:
            study = study_for(session, principal, "admin")
            plan, told = _planned(session, principal, asked)
            found = plan_summary.summary(session, principal, plan)
            noun = plan_words.noun_of(studies.protocol_of(study))
            said = [*told.splitlines(), plan_words.size_words(study.name, study.seed, noun, found)]
    except errors.AnnotationError as error:
        _refused(error)
        return
    if found.loads:
        said.append(plan_words.roster_words(found.loads, found.uneven_sides if has_pairs else None))
    said += [
        *plan_words.work_words(found),
        *([worded("warning: {warning}", warning=found.warning)] if found.warning else []),
    ]
    heads = (
        "System",
        "Items",
        "Slots",
        *(("Left", "Right") if has_pairs else ()),
    )
    rows = [
        (escape(one.system), f"{one.items:,}", f"{one.slots:,}",
         *((f"{one.left:,}", f"{one.right:,}") if has_pairs else ()))
        for one in found.systems
    ]  # fmt: skip
    lines = "".join(f"<li>{escape(line)}</li>" for line in said)
    report_page.section(
        f'<ul class="c-notes s-told">{lines}</ul>{look.table("Plan by system", heads, rows) if rows else ""}'
    )
    with st.container(horizontal=True, gap="small"):
        new = (
            worded("Make these slots")
            if found.new_slots == 1
            else worded("Make these {new_slots:,} slots", new_slots=found.new_slots)
        )
        if st.button(new, key="plan_make", type="primary", disabled=not found.new_slots):
            try:
                _make(principal, asked)
            except errors.AnnotationError as error:  # what came in meanwhile left another plan, or none
                _refused(error)
        if st.button(worded("Not now"), key="plan_not_now"):
            _forget()


def _refused(error: errors.AnnotationError) -> None:
    report_page.section(f'<p class="c-red">{escape(error.text)}</p>')


def _make(principal: Principal, asked: dict[str, Any]) -> None:
    bar = st.progress(0.0, worded("Comparing reports"))
    with reading(database()) as session:
        plan, _ = _planned(session, principal, asked)
        passages = slots.compare_plan(session, principal, plan, partial(look.advance, bar, worded("Comparing reports")))
    with transaction(database()) as session:  # once more: something may have come in meanwhile
        slots.apply_plan(session, principal, _planned(session, principal, asked)[0], passages)
    _forget()


def _planned(session: Session, principal: Principal, asked: dict[str, Any]) -> tuple[slots.Plan, str]:
    """The plan, and what is told of the topics drawn for it, if any."""
    if asked.get("design") == DRAWN:
        return plan_drawn(session, principal, **{name: value for name, value in asked.items() if name != "design"})
    return slots.make_plan(session, principal, **asked), ""


def _forget() -> None:
    st.session_state.pop(ASKED, None)
    st.rerun()
