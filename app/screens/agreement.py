"""The evaluator's page: the answer in one sentence, its plot, the table, the warnings, how it was made."""

from __future__ import annotations

from html import escape

import streamlit as st

from annotation.errors import AnnotationError
from annotation.people import Principal, study_for
from annotation.studies import protocol_of
from app.reporting import label_version, study_report
from app.screens.agreement_plot import forest_plot
from app.screens.look import style
from app.settings import database
from calibration.errors import CalibrationError
from calibration.results import CalibrationReport
from db.connect import reading
from exports.as_html import as_html
from exports.sentences import about, headline
from exports.tables import agreement_table


def show(principal: Principal) -> None:
    """Agreement of every judge with the annotators, as it stands now."""
    style()
    with reading(database()) as session:
        study = study_for(session, principal, "evaluator")
        title, name, simulated = protocol_of(study).title, study.name, study.is_simulated
        version = label_version(session, study)
    mark = '<span class="c-simulated">Simulated answers: people and judges of this study are made up</span>' if simulated else ""  # fmt: skip  # noqa: E501
    st.html(f'<div class="c-page"><p class="c-soft">{escape(title)} · {escape(name)}</p>{mark}</div>')
    try:
        with st.spinner("Computing intervals…"):
            report = _report(principal, version)
    except (AnnotationError, CalibrationError) as error:
        st.html(f'<div class="c-empty"><h1>No agreement to show yet</h1><p>{escape(error.text)}</p></div>')
        return
    st.html(f'<div class="c-page"><p class="c-answer">{escape(headline(report))}</p></div>')
    plot = forest_plot(report)
    if plot is not None:
        st.html(
            '<div class="c-page"><p class="c-soft">Each judge\'s agreement with the annotators, pooled over criteria; '
            "the bar is the 95 % interval over whole topics, the grey band the annotators among themselves.</p></div>"
        )
        st.altair_chart(plot, width="content", theme=None)
    st.html(f'<div class="c-page"><h2>Agreement</h2>{as_html(agreement_table(report))}</div>')
    warnings = "".join(f"<li><code>{escape(w.code)}</code>{escape(about(w))}</li>" for w in report.warnings)
    if warnings:
        st.html(f'<div class="c-page"><h2>What to know before you use a number</h2><ul class="c-warnings">{warnings}</ul></div>')  # fmt: skip  # noqa: E501
    with st.expander("How this was computed"):
        st.json({"settings": _plain(report), "data": dict(report.data)}, expanded=1)


@st.cache_data(max_entries=16, show_spinner=False)
def _report(principal: Principal, version: tuple[int, ...]) -> CalibrationReport:
    """Cached by study and state of its labels; `version` is part of the key only."""
    with reading(database()) as session:
        return study_report(session, principal)[1]


def _plain(report: CalibrationReport) -> dict[str, object]:
    settings = report.settings
    return {"level": settings.level, "resamples": settings.resamples, "seed": settings.seed, "ties": settings.ties,
            "not_applicable": settings.not_applicable, "margin": settings.margin}  # fmt: skip
