"""The dashboard of a running study: how far it is, whether its labels can be trusted, and what annotators remarked."""

from html import escape

import streamlit as st
from sqlalchemy.orm import Session
from streamlit.delta_generator import DeltaGenerator

from annotation.errors import AnnotationError
from annotation.facts.judge_facts import ImportedCost, imported_costs
from annotation.people.principals import Principal, study_for
from annotation.work.remarks import Remark, deal_with, remarks_of, reply
from app.progress import StudyProgress, far, handed_in, label_slots, study_parts, study_progress
from app.results.kept import Version
from app.results.quality import StudyQuality, more_pairs, trust
from app.results.study_reports import label_version
from app.screens.leaving import send_away
from app.screens.look import paged, style
from app.screens.report_page import answer, empty, section, study_head
from app.screens.results.plot_words import of_speed, of_steps, of_work
from app.screens.results.tables_and_figures import plot_html
from app.screens.study import progress_parts
from app.screens.waiting import computed
from app.settings import database
from calibration.errors import CalibrationError
from db import connect, tables
from exports.plots.study_figures import agreement_steps, annotators_at_work, speed_by_agreement
from plain.wording import spoken, worded, worded_of

EVERY = 30  # seconds between two looks
NEW = "progress_is_new"  # the page was opened; not: its numbers moved
AIMS = {"±3 points": 0.03, "±5 points": 0.05, "±10 points": 0.1}
FLAGS = {"broken_text": "the text is broken", "reveals_author": "the text reveals who wrote it", "other": "other"}
KINDS = {"flag": "flag", "comment": "comment", "skip": "skip"}  # of a remark, in words


def show(principal: Principal, cookie: str) -> None:
    """People appear by pseudonym, and no label beside a system."""
    style()
    st.html(f"<style>{progress_parts.CSS}</style>")
    with connect.reading(database()) as session:
        study_head(study_for(session, principal, "evaluator"))
    st.session_state[NEW] = True
    _live(principal, cookie)
    _remarks(principal, cookie)


@st.fragment(run_every=EVERY)
def _live(principal: Principal, cookie: str) -> None:
    """Everything that moves by itself. How far the work is comes at once; in a large study the rest takes a second."""
    head = st.empty()
    with connect.reading(database()) as session:
        send_away(session, principal, cookie)
        study = study_for(session, principal, "evaluator")
        if st.session_state.pop(NEW, False):
            _at_once(head, *label_slots(session, study))
        progress, study_id, version = study_progress(session, principal), study.id, label_version(session, study)
        imported = _imported(study_id, version, session)
    if not progress.items:
        empty(
            worded("Nothing to label yet"),
            (
                "<p>"
                + worded("This study has no items: import reports, then plan what is labelled with")
                + f"</p><p><code>calipers pairs {escape(progress.study)} --apply</code></p>"
            ),
        )
        return
    try:
        kept = computed("quality", principal, version, doing="Computing intervals")
    except (AnnotationError, CalibrationError) as error:
        with head:
            answer(far(progress), worded("How annotators agree cannot be computed: {text}", text=error.text))
        _counts(progress, imported)
        return
    if kept is None:
        with head:
            answer(far(progress), waiting(progress))
        _counts(progress, imported)
        return
    measured: StudyQuality = kept.value
    with head:
        answer(f"{far(progress)} {trust(measured)}", waiting(progress))
    section(progress_parts.looks_html(measured))
    _counts(progress, imported)
    if measured.annotators:
        _agreement(measured, study_id, kept.version)
        if progress.drawn:
            _next_batch(principal, kept.version)
        _people(measured, study_id, kept.version)
    _by(principal, measured)


def _at_once(head: DeltaGenerator, slots: int, submitted: int) -> None:
    if slots:
        with head:
            answer(handed_in(slots, submitted))


def waiting(progress: StudyProgress) -> str:
    """Say what wants somebody's hand now."""
    open_ones = sum(not remark.dealt_with and not remark.replies for remark in progress.remarks)
    parts = [worded("the study is {status}", status=worded(progress.status))]
    waits = worded_of(open_ones, "{n} remark waits for an answer", "{n} remarks wait for an answer")
    parts += [progress.short] * bool(progress.short) + [waits] * bool(open_ones)
    if progress.stale:
        who = worded(", ").join(
            worded("{rater} with {item}", rater=item.rater, item=item.item) for item in progress.stale[:3]
        )
        parts.append(worded("{stale} in work without a sign for too long: {who}", stale=len(progress.stale), who=who))
    return worded("{lead}.", lead=worded("; ").join([parts[0].capitalize(), *parts[1:]]))


def _counts(progress: StudyProgress, imported: dict[str, ImportedCost]) -> None:
    with st.container(key="counts"):
        people, items = st.columns(2, gap="large")
    with people:
        everybody = [rater for rater in progress.raters if rater.kind == "human"]
        section(f"<h2>{worded('Annotators')}</h2>")
        shown = paged(
            everybody, lambda rater: f"{rater.rater} {rater.status}", "progress_raters", worded("Find an annotator")
        )
        bars = progress_parts.bars_html(everybody, progress.slots, shown)
        section(f"{bars}{progress_parts.judges_html(progress, imported)}")
    with items:
        section(f"<h2>{worded('Items and their slots')}</h2>{progress_parts.strip_html(progress.by_item)}")


def _agreement(measured: StudyQuality, study_id: int, version: Version) -> None:
    section(f"<h2>{worded('Agreement so far')}</h2>")
    aim = st.segmented_control(
        worded("Interval wanted"),
        list(AIMS),
        default="±5 points",
        key="progress_aim",
        required=True,
        format_func=worded,
    )
    half_width = AIMS[aim or "±5 points"]
    steps = _steps(study_id, version, spoken(), half_width, measured)
    beside = progress_parts.side_by_side(steps, progress_parts.agreement_html(measured))
    section(f"<p>{escape(more_pairs(measured, half_width))}</p>{beside}")


def _next_batch(principal: Principal, version: Version) -> None:
    """Of a study whose topics are drawn: what the next batch would change."""
    found = computed("next", principal, version, doing="Weighing the topics that wait")
    if found and found.value:
        told = worded("{lead}.", lead=found.value[:1].upper() + found.value[1:])
        section(f"<h2>{worded('The next batch')}</h2><p>{escape(told)}</p>")


def _people(measured: StudyQuality, study_id: int, version: Version) -> None:
    figures = progress_parts.side_by_side(*_figures(study_id, version, spoken(), measured))
    section(f"<h2>{worded('Each annotator beside the others')}</h2>{figures}")
    shown = paged(
        measured.annotators,
        lambda annotator: annotator.rater,
        "progress_annotators",
        worded("Find an annotator's figures"),
    )
    section(progress_parts.people_html(shown))


def _by(principal: Principal, measured: StudyQuality) -> None:
    """Show what few look at, folded and counted last."""
    with connect.reading(database()) as session:
        counted = study_parts(session, principal)
    if measured.agreement.criteria:
        with st.expander(worded("Agreement by criterion")):
            section(progress_parts.criteria_html(measured))
    for name, parts in (
        ("Topic", counted.by_topic), ("System", counted.by_system), ("Criterion", counted.by_criterion),
    ):  # fmt: skip
        if parts:
            with st.expander(worded("Progress by {name}", name=worded(name.lower()))):
                find = worded("Find a {name}", name=worded(name.lower()))
                shown = paged(parts, lambda part: part.name, f"progress_{name.lower()}", find)
                section(progress_parts.parts_html(name, shown))


@st.fragment
def _remarks(principal: Principal, cookie: str) -> None:
    """Not drawn anew by itself: somebody may be writing a reply."""
    with connect.reading(database()) as session:
        send_away(session, principal, cookie)
        remarks = remarks_of(session, principal)
    section(f"<h2>{worded('Flags, comments and skips')}</h2>")
    if not remarks:
        section('<p class="c-soft">' + worded("No annotator has flagged, skipped or commented on anything.") + "</p>")
        return
    waiting_first = sorted(remarks, key=lambda remark: (remark.dealt_with, bool(remark.replies)))
    for remark in paged(waiting_first, _named, "progress_remarks", worded("Find a remark, its annotator or its item")):
        _remark(principal, remark)


def _named(remark: Remark) -> str:
    return " ".join((remark.rater, remark.item, remark.kind, worded(FLAGS.get(remark.what, remark.what)), remark.text))


def _remark(principal: Principal, remark: Remark) -> None:
    with st.container(key=f"remark_{remark.remark}"):
        section(remark_html(remark))
        if remark.dealt_with:
            return
        form = st.form(key=f"reply_{remark.remark}", border=False, clear_on_submit=True)
        with form.container(horizontal=True, gap="small", width=960):
            text = st.text_input(
                worded("Reply to {rater} on {item}", rater=remark.rater, item=remark.item),
                key=f"text_{remark.remark}", label_visibility="collapsed",
                placeholder=worded("Reply; its annotator reads it in My work"),
            )  # fmt: skip
            sent = st.form_submit_button(worded("Send reply"), key=f"send_{remark.remark}")
            done = st.form_submit_button(worded("Mark as dealt with"), key=f"done_{remark.remark}", type="tertiary")
    if sent or done:
        _act(principal, remark.remark, text, done)


def _act(principal: Principal, remark: int, text: str, done: bool) -> None:
    try:
        with connect.transaction(database()) as session:
            if text.strip() or not done:
                reply(session, principal, remark, text)
            if done:
                deal_with(session, principal, remark)
    except AnnotationError as error:
        st.error(error.text)
        return
    st.rerun()


def remark_html(remark: Remark) -> str:
    """Who said what about which item, what was answered, and whether it is dealt with."""
    about = worded(": ") + worded(FLAGS.get(remark.what, remark.what)) if remark.what else ""
    state = worded(" · dealt with") if remark.dealt_with else ""
    replies = "".join(
        f'<p class="d-answer">{escape(said.text)} <small>{said.at:%Y-%m-%d %H:%M}</small></p>'
        for said in remark.replies
    )
    return (
        f'<div class="d-remark"><p class="c-soft">{remark.at:%Y-%m-%d %H:%M} · {escape(remark.rater)} · '
        f"{escape(remark.item)} · {escape(worded(KINDS[remark.kind]) + about)}{state}</p>"
        f"<p>{escape(remark.text) or '–'}</p>{replies}</div>"
    )


@st.cache_data(max_entries=8, show_spinner=False)
def _imported(study_id: int, version: Version, _session: Session) -> dict[str, ImportedCost]:
    return imported_costs(_session, _session.get_one(tables.Study, study_id))


@st.cache_data(max_entries=8, show_spinner=False)
def _figures(study_id: int, version: Version, language: str, _found: StudyQuality) -> tuple[str, str]:
    """Cached by study, state of its labels and language, for all who may see it."""
    at_work, speed = annotators_at_work(_found.annotators), speed_by_agreement(_found.annotators)
    return plot_html(at_work, of_work(_found.annotators)), plot_html(speed, of_speed(_found.annotators))


@st.cache_data(max_entries=24, show_spinner=False)
def _steps(study_id: int, version: Version, language: str, half_width: float, _found: StudyQuality) -> str:
    figure = agreement_steps(_found.agreement, half_width, _found.cluster)
    few = (
        '<p class="c-soft">'
        + worded("The curve begins with the second cluster that two annotators have answered.")
        + "</p>"
    )
    return plot_html(figure, of_steps(_found.agreement, _found.cluster)) or few
