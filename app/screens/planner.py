"""How many topics the next study needs: goals, what is assumed or was seen here, hours, money, and why topics."""

from __future__ import annotations

import math
from html import escape
from typing import Any

import streamlit as st

from annotation.errors import AnnotationError
from annotation.people.principals import Principal, study_for
from annotation.studies import protocol_of
from app.kept import Version
from app.plan_words import DEFAULTS, aim_words, gives, percent, rests_on, rounded, safe_words, why_topics
from app.plot_words import of_plan
from app.reporting import label_version, settings_of
from app.screens.look import style, table
from app.screens.plots import plot
from app.screens.report_page import answer, section, study_head
from app.screens.waiting import computed
from app.settings import database
from calibration.errors import CalibrationError
from calibration.results import CalibrationSettings
from calibration.sizing.pilot import Pilot
from calibration.sizing.study_cost import Design, Prices
from calibration.sizing.study_plan import Goals, StudyPlan, plan_from_assumptions, plan_from_pilot
from db.connect import reading
from exports.cells import DASH
from exports.plots.plan_figure import plan_figure

ASSUMED, OWN = "Assumptions", "This study's labels"
HEADS = ("To show", "Topics", "To be safe", "Pairs", "Hours", "Annotators, USD", "Judge, USD", "Gives")


def show(principal: Principal) -> None:
    """The plan that the sliders describe; every number is worked out again when one moves."""
    style()
    with reading(database()) as session:
        study = study_for(session, principal, "evaluator")
        study_head(study)
        protocol = protocol_of(study)
        settings, version = settings_of(protocol, study.seed), label_version(session, study)
    beside, said = st.columns([3, 8], gap="large")
    with beside:
        basis = st.radio("Rests on", [ASSUMED, OWN], key="plan_basis")
    try:
        with beside:
            pilot = _chosen_pilot(version, principal) if basis == OWN else None
            goals, topics = _goals(settings, pilot)
            assumed = DEFAULTS if pilot else _assumptions(len(protocol.criterion))
            prices = _prices()
        with said:
            _say(_plan(pilot, goals, assumed, prices, topics), goals, assumed)
    except (AnnotationError, CalibrationError) as error:
        with said:
            answer("No plan from this.", f"{error.text[:1].upper()}{error.text[1:]}.")


def _plan(pilot: Pilot | None, goals: Goals, assumed: dict[str, float], prices: Prices, topics: int) -> StudyPlan:
    if pilot is not None:
        return plan_from_pilot(pilot, goals, prices, topics)
    design = Design(assumed["pairs_per_topic"], assumed["criteria"] * assumed["annotators"], assumed["annotators"])
    known = {name: assumed[name] for name in ("agreement", "icc", "correlation", "true_gap")}
    return plan_from_assumptions(goals, design, prices, topics=topics, **known)


def _goals(settings: CalibrationSettings, pilot: Pilot | None) -> tuple[Goals, int]:
    """In points of agreement; and how many topics one could have."""
    section("<h2>What it is to show</h2>")
    half_width = _points("Half-width of the interval", 5.0, "half_width")
    margin = _points("Margin of non-inferiority", 100 * settings.margin, "margin")
    difference = _points("Difference of two judges", 5.0, "difference")
    power = st.slider("Power", 50, 95, 80, 5, format="%d %%", key="plan_power") / 100
    tried = st.slider("Judges tried", 1, 20, min(20, pilot.tried) if pilot else 1, key=f"plan_tried_{bool(pilot)}")
    topics = st.slider("Topics one could have", 5, 500, 50, 5, key="plan_topics")
    return Goals(half_width, margin, difference, settings.level, power, tried), topics


def _assumptions(criteria: int) -> dict[str, float]:
    """`criteria`: of this study, for the next one is likely to ask them too; 0 where each topic has its own."""
    section("<h2>What is assumed</h2>")
    return DEFAULTS | {
        "agreement": st.slider("Agreement", 50, 95, 80, format="%d %%", key="plan_agreement") / 100,
        "icc": st.slider("ICC: how alike labels of a topic are", 0.0, 0.6, 0.1, 0.01, key="plan_icc"),
        "criteria": st.slider("Criteria", 1, 60, min(60, criteria or int(DEFAULTS["criteria"])), key="plan_criteria"),
        "annotators": st.slider("Annotators of each pair", 1, 6, 1, key="plan_annotators"),
        "pairs_per_topic": st.slider("Pairs of a topic", 1, 10, 1, key="plan_pairs"),
        "true_gap": _points("How much worse the judge truly is", 0.0, "true_gap", low=0.0),
    }


def _prices() -> Prices:
    section("<h2>What it costs</h2>")
    asked = {
        "Minutes of one annotator for a pair": "minutes",
        "USD for an annotator's hour": "rate",
        "USD of a judge for a pair": "judge",
    }
    found = [
        st.number_input(label, min_value=0.0, value=None, key=f"plan_{key}", placeholder="unknown")
        for label, key in asked.items()
    ]
    minutes, rate, judge = (math.nan if one is None else float(one) for one in found)
    return Prices(minutes, rate, judge, judge)


def _points(label: str, start: float, key: str, low: float = 1.0) -> float:
    """A slider in points of agreement, as a share."""
    start = min(20.0, max(low, round(2 * start) / 2))
    return st.slider(label, low, 20.0, start, 0.5, format="%g points", key=f"plan_{key}") / 100


def _say(found: StudyPlan, goals: Goals, assumed: dict[str, float]) -> None:
    answer(sentence(found), rests_on(found, assumed))
    plot(plan_figure(found, goals), "plan", of_plan(found, goals))
    section(f"<h2>What each aim takes</h2>{aims_html(found)}")
    if found.at:
        at = found.at
        section(
            f"<h2>With {at.topics:,} topics</h2><p>Agreement is known to ±{rounded(at.half_width, 3)}; a gap below the "
            f"margin is shown with power {percent(at.power)}, two judges are told apart with "
            f"{percent(at.power_apart)}.{_price(at.cost.hours, at.cost.total)}</p>"
        )
    section(f"<h2>Why more criteria do not replace topics</h2><p>{escape(why_topics(found))}</p>{worth_html(found)}")


def sentence(found: StudyPlan) -> str:
    """Topics for each aim, in one sentence."""
    parts = {"interval": "to know agreement to ±{}", "non_inferior": "to show a gap below {}",
             "tell_apart": "to tell judges apart that differ by {}"}  # fmt: skip
    said = []
    for one in found.aims:
        what = parts[one.aim].format(f"{100 * one.target:g} points")
        topics = one.needed.clusters
        said.append(f"{f'{topics:,} topics' if topics is not None else 'no known number'} {what}")
    return f"It takes {said[0]}, {said[1]}, and {said[2]}."


def aims_html(found: StudyPlan) -> str:
    """Topics, hours and money of each aim; below it why one has none, and what simulated studies say."""
    rows = []
    for one in found.aims:
        cost = one.cost
        if cost is None or one.needed.clusters is None:
            rows.append((escape(aim_words(one)), *[DASH] * 7))
            continue
        rows.append(
            (
                escape(aim_words(one)), f"{one.needed.clusters:,}", "" if one.cautious is None else f"{one.cautious:,}",
                f"{cost.pairs:,}", rounded(cost.hours, 0), rounded(cost.annotators, 0), rounded(cost.judges, 2),
                escape(gives(one)),
            )
        )  # fmt: skip
    notes = [f"{aim_words(one)}: no number of topics, {one.why}." for one in found.aims if one.why]
    notes += [
        f"{aim_words(one)}: shown in {percent(one.simulated)} of studies simulated with that many topics."
        for one in found.aims
        if not one.why and not math.isnan(one.simulated)
    ]
    notes += [f"To be safe: {safe_words(found)}.", "Gives: half-width, or power. A dash is unknown, not nothing."]
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f'{table("What each aim takes", HEADS, rows)}<ul class="c-notes">{listed}</ul>'


def worth_html(found: StudyPlan) -> str:
    """Half-width by labels of a topic and number of topics; "" where the ICC is not known."""
    if not found.rows:
        return ""
    heads = ("Labels of a topic", "Are worth", *(f"{count:,} topics" for count in found.topics))
    rows = [
        (
            "any number" if math.isinf(one.labels_per_pair) else f"{one.labels_per_pair:,.4g}",
            rounded(one.effective_labels, 1), *(f"±{rounded(width, 3)}" for width in one.half_widths),
        )
        for one in found.rows
    ]  # fmt: skip
    return table("Half-width by labels of a topic and topics", heads, rows)


def _price(hours: float, total: float) -> str:
    known = [] if math.isnan(hours) else [f"{hours:,.0f} hours of annotators"]
    known += [] if math.isnan(total) else [f"USD {total:,.0f} in all"]
    return f" It takes {' and '.join(known)}." if known else ""


def _chosen_pilot(version: Version, principal: Principal) -> Pilot:
    """Of the judge that is chosen here."""
    judges: list[str] = _computed("judges", principal, version)
    judge = st.selectbox(
        "Judge", ["", *judges], format_func=lambda one: one or "the one that varies most", key="plan_of_judge"
    )
    pilot: Pilot = _computed("pilot", principal, version, judge)
    return pilot


def _computed(what: str, principal: Principal, version: Version, *arguments: str) -> Any:
    kept = computed(what, principal, version, *arguments, doing="Reading this study's labels")
    if kept is None:
        st.stop()
    return kept.value
