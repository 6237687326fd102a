"""Where a judge and the annotators differ: filters and counts, a list, and one question whole beside both reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape

import pandas as pd
import streamlit as st

from annotation.disputes.disagreements import KINDS, Filters, narrowed
from annotation.disputes.one_disagreement import Given, OneDisagreement, look_at, sent_call
from annotation.errors import AnnotationError
from annotation.people.principals import Principal, study_for
from app.reporting import label_version
from app.screens.disagreement_parts import answers_html, count_sentence, counts_table, line_html, panes_html, sent_html
from app.screens.look import style
from app.screens.report_page import empty, study_head
from app.screens.waiting import computed
from app.settings import database
from db.connect import reading

PAGE = 8  # lines of the list at once
AT = "disagreement_at"


def show(principal: Principal) -> None:
    """Browse the questions that were answered differently. Systems are named only once the study may show them."""
    style()
    with reading(database()) as session:
        study = study_for(session, principal, "evaluator")
        study_head(study)
        version = label_version(session, study)
    kept = computed("disagreements", principal, version, doing="Comparing answers")
    if kept is None:
        return
    compared: pd.DataFrame = kept.value
    if compared.empty:
        empty(
            "Nothing to compare yet",
            "<p>A judge and an annotator must have answered the same question.</p>"
            '<p><a href="/judges" target="_self">Judges</a> and <a href="/progress" target="_self">Progress</a> say '
            "how far each is.</p>",
        )
        return
    head = st.container()
    filters = _filters(compared)
    of_all_kinds = narrowed(compared, replace(filters, kind=""))
    lines = narrowed(of_all_kinds, Filters(kind=filters.kind))
    lines = lines[lines["unlike"] > 0]  # in order already
    said = count_sentence(of_all_kinds, filters.kind)
    head.html(f'<div class="c-page"><p class="c-answer">{escape(said)}</p></div>')
    if lines.empty:
        st.html('<div class="c-page"><p class="c-soft">Take a filter away to see more.</p></div>')
        return
    at = min(st.session_state.setdefault(AT, 0), len(lines) - 1)
    listed, beside = st.columns([3, 7], gap="medium")
    with listed:
        _list(lines, at)
        st.expander("Counts by criterion").html(f'<div class="c-page">{counts_table(of_all_kinds)}</div>')
    with beside:
        _one(principal, lines.iloc[at])


def _filters(compared: pd.DataFrame) -> Filters:
    """Only those that have something to choose from; the address holds what was chosen, so that a link can."""
    systems = sorted({*compared["system_a"].fillna(""), *compared["system_b"].fillna("")} - {""})
    offered = {
        "judge": ("Judge", sorted(compared["judge"].unique())),
        "criterion": ("Criterion", sorted(set(compared["criterion"]))),
        "category": ("Category", sorted(set(compared["category"]) - {""})),
        "system": ("System", systems),
        "kind": ("Kind", list(KINDS)),
    }
    useful = {name: (title, options) for name, (title, options) in offered.items() if len(options) > 1}
    columns = st.columns(5)
    chosen = {
        name: column.selectbox(
            title,
            ["", *options],
            format_func=lambda one: one or "All",
            key=name,
            on_change=_go,
            args=(0,),
            bind="query-params",
        )
        for column, (name, (title, options)) in zip(columns, useful.items(), strict=False)
    }
    return Filters(**{name: value or "" for name, value in chosen.items()})


def _list(lines: pd.DataFrame, at: int) -> None:
    first = at // PAGE * PAGE
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="small"):
        st.button("Previous", key="previous", disabled=at == 0, on_click=_go, args=(at - 1,))
        st.html(f'<p class="c-place">{at + 1:,} of {len(lines):,}</p>', width="content")
        st.button("Next", key="next", disabled=at + 1 == len(lines), on_click=_go, args=(at + 1,))
    rows = st.container(gap="xsmall")
    for number, line in enumerate(lines.iloc[first : first + PAGE].itertuples(), start=first):
        button, words = rows.columns([2, 7], gap="small", vertical_alignment="center")
        button.button(
            f"{number + 1:,}", key=f"go_{number - first}", type="primary" if number == at else "secondary",
            on_click=_go, args=(number,), width="stretch",
        )  # fmt: skip
        words.html(line_html(line))


def _one(principal: Principal, line: pd.Series[str]) -> None:
    try:
        with reading(database()) as session:
            one = look_at(session, principal, line["judge"], line["item_id"], line["criterion"])
    except AnnotationError as error:
        st.html(f'<div class="c-page"><p class="c-soft">{escape(error.text)}</p></div>')
        return
    st.html(f'<div class="c-page">{answers_html(one)}{panes_html(one)}</div>')
    _sent(principal, one)


def _sent(principal: Principal, one: OneDisagreement) -> None:
    """The judge's calls, folded: each holds both reports again."""
    for answer in one.judge:
        if answer.call_id is None:
            continue
        with reading(database()) as session:
            call = sent_call(session, principal, answer.call_id)
        summary = f"<summary>{escape(_title(answer, one.judge))}</summary>"
        st.html(f'<div class="c-page"><details class="c-fold">{summary}{sent_html(call)}</details></div>')


def _title(answer: Given, all_of: Sequence[Given]) -> str:
    which = f", pass {answer.pass_no}" if len(all_of) > 1 else ""
    return f"The prompt that was sent, and the reply{which}"


def _go(at: int) -> None:
    st.session_state[AT] = at
