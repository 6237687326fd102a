"""How many topics the next study needs: goals, what is assumed or was seen here, hours, money, and why topics."""

import math
from html import escape
from typing import Any

import streamlit as st

from annotation import errors, studies
from annotation.people.principals import study_for
from app.results import reporting, shown_file
from app.results.kept import Version
from app.screens import look, report_page, waiting
from app.screens.results import plot_words, tables_and_figures
from app.settings import database
from calibration.errors import CalibrationError
from calibration.results import CalibrationReport, CalibrationSettings
from calibration.sizing.pilot import Pilot
from calibration.sizing.study_plan import Goals, Prices, StudyPlan, plan_from_numbers, plan_from_pilot
from calibration.study.counted import USD
from db.connect import reading
from exports.cells import DASH
from exports.plots.study_figures import draw_figure, plan_figure
from exports.words import plan_words as words
from plain.wording import several, worded

PLANNED, ANY_TIME = "Planned", "Whenever one likes"
ASSUMED, OWN = "Assumptions", "This study's labels"
AIM_SAID = {
    "interval": "to know agreement to ±{target}",
    "non_inferior": "to show a gap below {target}",
    "tell_apart": "to tell judges apart that differ by {target}",
}
HEADS = ("To show", "Topics", "To be safe", "Pairs", "Hours", "Annotators, USD", "Judge, USD", "Gives")

# where a figure has no room beside what is asked, it stands below, and what is asked stands in rows
CSS = """@media (max-width: 1200px) {
  .st-key-plan > * > [data-testid="stHorizontalBlock"] { row-gap: 0; }
  .st-key-plan > * > [data-testid="stHorizontalBlock"] > [data-testid="stColumn"] { min-width: 100%; }
  .st-key-plan [data-testid="stColumn"]:first-child > [data-testid="stVerticalBlock"] { display: grid;
    grid-template-columns: repeat(auto-fill, minmax(10.5rem, 1fr)); gap: 8px 16px; }
  .st-key-plan [data-testid="stColumn"]:first-child [data-testid="stElementContainer"] { align-self: end;
    &:has(h2) { grid-column: 1 / -1; }
    &:has([data-testid="stSelectbox"]) { grid-column: span 2; }
  }
}"""


def show(source: shown_file.Source) -> None:
    """The plan that the sliders describe; every number is worked out again when one moves."""
    version, _ = report_page.page_head(source)
    settings, criteria = _asked(source)
    st.html(f"<style>{CSS}</style>")
    head = st.container()
    with st.container(key="plan"):
        beside, said = st.columns([3, 8], gap="large")
    with beside:
        basis = st.radio(
            worded("Rests on"), [OWN, ASSUMED], _first_basis(version, source), key="plan_basis", format_func=worded
        )
    try:
        with beside:
            pilot = _chosen_pilot(version, source) if basis == OWN else None
            goals, topics = _goals(settings, pilot)
            assumed = words.DEFAULTS if pilot else _assumptions(criteria)
            currency = pilot.currency if pilot else USD
            prices = _prices(currency)
        planned = _plan(pilot, goals, assumed, prices, topics)
        with head:
            report_page.answer(sentence(planned), words.rests_on(planned, assumed))
        with said:
            _say(planned, goals, currency)
    except (errors.AnnotationError, CalibrationError) as error:
        with head:
            report_page.answer(
                worded("No plan from this."), worded("{lead}.", lead=error.text[:1].upper() + error.text[1:])
            )


def _first_basis(version: Version, source: shown_file.Source) -> int:
    """These labels at first, where they can tell how topics differ; a choice that was made stays."""
    if "plan_basis" in st.session_state:
        return 0
    try:
        return 0 if _computed("pilot", source, version, "") else 1
    except (errors.AnnotationError, CalibrationError):
        return 1


def _asked(source: shown_file.Source) -> tuple[CalibrationSettings, int]:
    """The settings of these labels, and how many criteria their items are asked; 0 where each topic has its own."""
    if isinstance(source, shown_file.ShownFile):
        report: CalibrationReport = _computed("report", source, source.version)
        return report.settings, len(report.labels.criteria)
    with reading(database()) as session:
        study = study_for(session, source, "evaluator")
        protocol = studies.protocol_of(study)
        return reporting.settings_of(protocol, study.seed), len(protocol.criterion)


def _plan(pilot: Pilot | None, goals: Goals, assumed: dict[str, float], prices: Prices, topics: int) -> StudyPlan:
    if pilot is not None:
        return plan_from_pilot(pilot, goals, prices, topics)
    return plan_from_numbers(goals, assumed, prices, topics)


def _goals(settings: CalibrationSettings, pilot: Pilot | None) -> tuple[Goals, int]:
    """Ask for the goals in points of agreement, and how many topics one could have."""
    report_page.section(f"<h2>{worded('What it is to show')}</h2>")
    half_width = _points(worded("Half-width of the interval"), 5.0, "half_width")
    margin = _points(worded("Margin of non-inferiority"), 100 * settings.margin, "margin")
    difference = _points(worded("Difference of two judges"), 5.0, "difference")
    power = st.slider(worded("Power"), 50, 95, 80, 5, format="%d %%", key="plan_power") / 100
    own = min(20, pilot.tried) if pilot else 1
    tried = st.slider(
        worded("Judges tried"), 1, 20, own, key=f"plan_tried_{bool(pilot)}",
        help=worded("Holm over all of them; at the pilot's own number, its claim is planned at its own step of Holm."),
    )  # fmt: skip
    looks, any_time = _looks(settings)
    start = 50 if pilot is None else min(500, max(50, 10 * round(pilot.scores.pilot / 5)))  # twice the pilot's
    topics = st.slider(worded("Topics one could have"), 5, 500, start, 5, key=f"plan_topics_{bool(pilot)}")
    said = 0 if pilot and tried == own else tried
    return Goals(half_width, margin, difference, settings.level, power, said, looks, any_time), topics


def _looks(settings: CalibrationSettings) -> tuple[int, bool]:
    """How many are meant, evenly spaced, and whether they come whenever one likes; at first as the protocol says."""
    modes = [PLANNED, ANY_TIME]
    mode = st.radio(
        worded("Looks at the results"),
        modes,
        modes.index(ANY_TIME) * (settings.looks == "any_time"),
        key="plan_mode",
        format_func=worded,
    )
    if mode == ANY_TIME:
        return 1, True
    return st.slider(worded("Looks, evenly spaced"), 1, 20, 1, key="plan_looks"), False


def _assumptions(criteria: int) -> dict[str, float]:
    """`criteria`: of this study, for the next one is likely to ask them too; 0 where each topic has its own."""
    report_page.section(f"<h2>{worded('What is assumed')}</h2>")
    return words.DEFAULTS | {
        "agreement": st.slider(worded("Agreement"), 50, 95, 80, format="%d %%", key="plan_agreement") / 100,
        "icc": st.slider(worded("ICC: how alike labels of a topic are"), 0.0, 0.6, 0.1, 0.01, key="plan_icc"),
        "criteria": st.slider(
            worded("Criteria"), 1, 60, min(60, criteria or int(words.DEFAULTS["criteria"])), key="plan_criteria"
        ),
        "annotators": st.slider(worded("Annotators of each pair"), 1, 6, 1, key="plan_annotators"),
        "pairs_per_topic": st.slider(worded("Pairs of a topic"), 1, 10, 1, key="plan_pairs"),
        "true_gap": _points(worded("How much worse the judge truly is"), 0.0, "true_gap", low=0.0),
    }


def _money(text: str, currency: str) -> str:
    """A text of ours that says USD, in the currency of the labels."""
    return worded(text).replace(USD, currency)


def _prices(currency: str) -> Prices:
    report_page.section(f"<h2>{worded('What it costs')}</h2>")
    asked = {
        "Minutes of one annotator for a pair": "minutes",
        "USD for an annotator's hour": "rate",
        "USD of a judge for a pair": "judge",
    }
    given = [
        st.number_input(
            _money(label, currency), min_value=0.0, value=None, key=f"plan_{key}", placeholder=worded("unknown")
        )
        for label, key in asked.items()
    ]
    minutes, rate, judge = (math.nan if price is None else float(price) for price in given)
    return Prices(minutes, rate, judge, judge)


def _points(label: str, start: float, key: str, low: float = 1.0) -> float:
    """A slider in points of agreement, as a share."""
    start = min(20.0, max(low, round(2 * start) / 2))
    return st.slider(label, low, 20.0, start, 0.5, format=worded("%g points"), key=f"plan_{key}") / 100


def _say(planned: StudyPlan, goals: Goals, currency: str) -> None:
    tables_and_figures.plot(lambda: plan_figure(planned, goals), "plan", plot_words.of_plan(planned, goals))
    report_page.section(f"<h2>{worded('What each aim takes')}</h2>{aims_html(planned, currency)}")
    if planned.at:
        at = planned.at
        report_page.section(
            f"<h2>{worded('With {topics:,} topics', topics=at.topics)}</h2><p>"
            + worded(
                "Agreement is known to ±{half_width}; a gap below the margin is shown with power {power}, two judges "
                "are told apart with {power_apart}.{price}",
                half_width=words.rounded(at.half_width, 3),
                power=words.percent(at.power),
                power_apart=words.percent(at.power_apart),
                price=_price(at.cost.hours, at.cost.total).replace(USD, currency),
            )
            + "</p>"
        )
    if rows := words.drawn_rows(planned):
        report_page.section(f"<h2>{worded('Topics drawn where they say most')}</h2>")
        tables_and_figures.plot(lambda: draw_figure(planned, goals), "draw", plot_words.of_draw(planned, goals))
        heads = [head[0].upper() + head[1:] for head in (_money(one, currency) for one in words.DRAWN_HEADS)]
        report_page.section(
            f"{look.table('Topics at random and drawn', heads, rows)}"
            f'<p class="c-soft c-foot">{escape(worded(words.DRAWN_NOTE))}</p>'
        )
    report_page.section(
        f"<h2>{worded('Why more criteria do not replace topics')}</h2><p>"
        f"{escape(words.why_topics(planned))}</p>{worth_html(planned)}"
    )


def sentence(planned: StudyPlan) -> str:
    """Topics for each aim, in one sentence."""
    said = []
    for aim in planned.aims:
        what = worded(AIM_SAID[aim.aim], target=worded("{target:g} points", target=100 * aim.target))
        topics = aim.needed.clusters
        number = several(topics, "topic") if topics is not None else worded("no known number")
        said.append(worded("{number} {what}", number=number, what=what))
    return worded("It takes {said}, {said2}, and {said3}.", said=said[0], said2=said[1], said3=said[2])


def aims_html(planned: StudyPlan, currency: str = USD) -> str:
    """Topics, hours and money of each aim; below it why one has none, and what simulated studies say."""
    rows = []
    for aim in planned.aims:
        cost = aim.cost
        if cost is None or aim.needed.clusters is None:
            rows.append((escape(words.aim_words(aim)), *[DASH] * 7))
            continue
        rows.append(
            (
                escape(words.aim_words(aim)), f"{aim.needed.clusters:,}",
                "" if aim.cautious is None else f"{aim.cautious:,}",
                f"{cost.pairs:,}", words.rounded(cost.hours, 0), words.rounded(cost.annotators, 0),
                words.rounded(cost.judges, 2), escape(words.gives(aim)),
            )
        )  # fmt: skip
    notes = [
        worded("{aim_words}: no number of topics, {why}.", aim_words=words.aim_words(aim), why=worded(aim.why))
        for aim in planned.aims
        if aim.why
    ]
    notes += [
        worded(
            "{aim_words}: shown in {simulated} of studies simulated with that many topics.",
            aim_words=words.aim_words(aim),
            simulated=words.percent(aim.simulated),
        )
        for aim in planned.aims
        if not aim.why and not math.isnan(aim.simulated)
    ]
    notes += [
        worded("To be safe: {safe_words}.", safe_words=words.safe_words(planned)),
        worded("Gives: half-width, or power. A dash is unknown, not nothing."),
    ]
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    heads = [_money(head, currency) for head in HEADS]
    return f'{look.table("What each aim takes", heads, rows)}<ul class="c-notes">{listed}</ul>'


def worth_html(planned: StudyPlan) -> str:
    """Half-width by labels of a topic and number of topics; "" where the ICC is not known."""
    if not planned.rows:
        return ""
    heads = ("Labels of a topic", "Are worth", *(several(count, "topic") for count in planned.topics))
    rows = [
        (
            worded("any number") if math.isinf(row.labels_per_pair) else f"{row.labels_per_pair:,.4g}",
            words.rounded(row.effective_labels, 1), *(f"±{words.rounded(width, 3)}" for width in row.half_widths),
        )
        for row in planned.rows
    ]  # fmt: skip
    return look.table("Half-width by labels of a topic and topics", heads, rows)


def _price(hours: float, total: float) -> str:
    known = [] if math.isnan(hours) else [worded("{hours:,.0f} hours of annotators", hours=hours)]
    known += [] if math.isnan(total) else [worded("USD {total:,.0f} in all", total=total)]
    return worded(" It takes {known}.", known=worded(" and ").join(known)) if known else ""


def _chosen_pilot(version: Version, source: shown_file.Source) -> Pilot:
    """Return the pilot of the judge that is chosen here."""
    judges: list[str] = _computed("judges", source, version)
    judge = st.selectbox(
        worded("Judge"),
        ["", *judges],
        format_func=lambda name: name or worded("the one that varies most"),
        key="plan_of_judge",
    )
    pilot: Pilot = _computed("pilot", source, version, judge)
    return pilot


def _computed(what: str, source: shown_file.Source, version: Version, *arguments: str) -> Any:
    kept = waiting.computed(what, source, version, *arguments, doing="Reading this study's labels")
    if kept is None:
        st.stop()
    return kept.value
