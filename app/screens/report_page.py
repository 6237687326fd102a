"""What every page of a report opens and ends with: the study's name and its report, the warnings, how it was made."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from html import escape

import streamlit as st
from sqlalchemy import orm

from annotation import errors, studies, verdicts
from annotation.people.principals import Principal, study_for
from app.results import shown_file, study_reports
from app.results.kept import Version
from app.screens import look, waiting
from app.settings import database, settings
from calibration.errors import CalibrationError
from calibration.results import CalibrationReport
from db import connect, tables
from exports.as_json import data_of
from exports.words.sentences import Caution, folded
from plain.wording import worded

SIMULATED = "Simulated answers, but for those of whoever labels here"
WHERE = '<a href="/progress" target="_self">Progress</a> says how far the work is.'
FIRST_PAGE = "Choice"
OF_PAGE = {  # where a warning matters most; every other is on the first page
    "Agreement": ("thin_criteria", "positive_unknown", "undefined_shown_as_dash", "undeclared_scale", "far_score"),
    "Reliability": ("thin_rater_pairs",),
    "Bias": ("order_inconsistent", "order_unknown", "own_family", "position_bias", "unbalanced_order"),
    "Ranking": ("derived_preferences", "few_systems"),
}
SETTINGS = (
    "level", "resamples", "seed", "ties", "distance", "not_applicable", "references", "margin", "at_least",
    "at_least_kappa", "require", "epsilon", "bias_floor",
)  # fmt: skip


@dataclass(frozen=True)
class Opened:
    """A study's report. `names_systems`: its systems are called by their names, for the study may show them."""

    report: CalibrationReport
    names_systems: bool
    version: Version  # of its labels: what is computed from them is cached by it


def open_report(source: shown_file.Source, nothing: str) -> Opened | None:
    """The page's head and the report as it is now; None where there is none, which the page then says.

    `nothing`: what to call that.
    """
    version, named = page_head(source)
    try:
        kept = waiting.computed("report", source, version, doing="Computing intervals")
        return Opened(kept.value, named, kept.version) if kept else None
    except (errors.AnnotationError, CalibrationError, errors.ImportingError) as error:
        why = worded("{lead}.", lead=error.text[:1].upper() + error.text[1:])
        where = "" if isinstance(source, shown_file.ShownFile) else f"<p>{worded(WHERE)}</p>"
        empty(nothing, f"<p>{escape(why)}</p>{where}")
        return None


def page_head(source: shown_file.Source) -> tuple[Version, bool]:
    """Show what a page of labels begins with; the labels' version, and whether systems may be called by their names."""
    look.style()
    if isinstance(source, shown_file.ShownFile):
        section(f'<p class="c-soft">{escape(source.name)}</p>')
        return source.version, True
    with connect.reading(database()) as session:
        study = study_for(session, source, "evaluator")
        study_head(study)
        return study_reports.label_version(session, study), verdicts.shows_systems(study)


@contextmanager
def begun(principal: Principal, role: str, css: str = "") -> Iterator[tuple[orm.Session, tables.Study]]:
    """A page about a study for whoever has this role there: its style, its head, and one view of what is stored."""
    look.style()
    if css:
        st.html(f"<style>{css}</style>")
    with connect.reading(database()) as session:
        study = study_for(session, principal, role)
        study_head(study)
        yield session, study


def study_head(study: tables.Study) -> None:
    """Show what every page begins with: the protocol's title, the study's name, and whether its answers are made up."""
    mark = f'<span class="c-simulated">{worded(SIMULATED)}</span>' if study.is_simulated else ""
    section(f'<p class="c-soft">{escape(studies.protocol_of(study).title)} · {escape(study.name)}</p>{mark}')


def empty(title: str, html: str) -> None:
    """A page that has nothing to show yet: why, and the next step."""
    st.html(f'<div class="c-empty"><h1>{escape(title)}</h1>{html}</div>')


def answer(sentence: str, *more: str) -> None:
    """The page's answer; `more`: what must be right under it."""
    below = "".join(f'<p class="c-soft">{escape(text)}</p>' for text in more if text)
    st.html(f'<div class="c-page"><h2 class="c-answer">{escape(sentence)}</h2>{below}</div>')


def section(html: str) -> None:
    """A part of the page, HTML already."""
    st.html(f'<div class="c-page">{html}</div>')


def warnings_and_making(report: CalibrationReport, page: str, already: Collection[str] = ()) -> None:
    """The end of the page: its own warnings, how many others there are and where, how all was computed.

    `already`: texts that the page has told above; one that tells more of the same warning is told.
    """
    by_page: dict[str, list[Caution]] = {name: [] for name in (FIRST_PAGE, *OF_PAGE)}
    for caution in folded(report):
        by_page[next((name for name, codes in OF_PAGE.items() if caution.code in codes), FIRST_PAGE)].append(caution)
    own = [caution for caution in by_page.pop(page, []) if caution.text not in already]
    said = "".join(f"<li><code>{escape(one.code)}</code>{escape(one.text)}</li>" for one in own)
    listed = f'<ul class="c-warnings">{said}</ul>' if said else ""
    counts = [
        worded("{found} on {link}", found=len(found), link=_link(name)) for name, found in by_page.items() if found
    ]
    where = worded("More: {counts}." if own or already else "It is: {counts}.", counts=worded(", ").join(counts))
    others = f'<p class="c-soft">{where}</p>' if counts else ""
    if listed or others:
        section(f"<h2>{worded('What to know before you use a number')}</h2>{listed}{others}")
    section(making_html(report))


def _link(page: str) -> str:
    return f'<a href="/{"" if page == FIRST_PAGE else page.lower()}" target="_self">{worded(page)}</a>'


def making_html(report: CalibrationReport) -> str:
    """Settings and counts, folded. What is no word or list of words is in calibration-report.json alone."""
    settings = asdict(report.settings)
    facts = {name: settings[name] for name in SETTINGS} | data_of(report)
    told = ((name, in_one_line(value)) for name, value in facts.items())
    rows = "".join(
        f"<dt>{escape(worded(name.replace('_', ' ')))}</dt><dd>{_as_code(name, escape(text))}</dd>"
        for name, text in told if text
    )  # fmt: skip
    return (
        f'<details class="c-fold"><summary>{worded("How this was computed")}</summary><dl>'
        f'{rows}</dl><p class="c-soft">'
        + worded("Everything else is in calibration-report.json of the paper pack.")
        + "</p></details>"
    )


def _as_code(name: str, text: str) -> str:
    """What a setting or a kind is called in the protocol stays as it is written there."""
    return f"<code>{text}</code>" if name in (*SETTINGS, "cluster", "criteria") else text


def in_one_line(value: object) -> str:
    """A value, or a few of them; "" for what holds more than that, and for nothing."""
    if isinstance(value, bool):
        return worded("yes" if value else "no")
    if not isinstance(value, Mapping | list | tuple):
        return "" if value is None else str(value)
    inside = value.values() if isinstance(value, Mapping) else value
    if any(isinstance(inner, Mapping | list | tuple) for inner in inside):
        return ""
    if isinstance(value, Mapping):
        inside = [f"{name}: {inner}" for name, inner in value.items() if in_one_line(inner)]
    return worded(", ").join(map(str, inside))


def here_alone() -> str:
    """What is said of links that nobody elsewhere can open; empty where they can."""
    told = " They open on this machine alone: start the server with CALIPERS_BASE_URL set to the address people type."
    return worded(told) if settings().is_here_alone else ""
