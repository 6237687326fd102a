"""What a paper takes from the study: the whole pack as one file, and the methods paragraph to read before."""

from functools import partial
from html import escape

import streamlit as st

from annotation.people.principals import Principal, study_for
from annotation.verdicts import labels_csv, load_verdicts
from app.results import pack_files, sources, study_reports
from app.results.shown_file import ShownFile, Source, calibrated_file
from app.screens.report_page import answer, open_report, section, warnings_and_making
from app.settings import database
from calibration.choosing.choice_words import short_sentence
from db.connect import reading
from exports.page import methods_html, sources_of
from exports.presets import PRESETS
from exports.words.methods import Methods, methods_paragraph
from exports.words.sentences import headline

INSIDE = (
    "Every table as LaTeX, Markdown, CSV and JSON; every figure as PDF, SVG and PNG at page and column width; one page "
    "of them all (answer.pdf, report.html); the methods section with its BibTeX; the checklists."
)
DATASET = ", and <code>calipers export dataset</code> what others need to use the labels"
BLIND = "labels.csv names systems, and can be downloaded once the study is closed or revealed."


def show(source: Source) -> None:
    """The downloads, then what the methods section will say."""
    opened = open_report(source, "Nothing to print yet")
    if opened is None:
        return
    report = opened.report
    answer(short_sentence(report.choice) if report.choice else headline(report), INSIDE)
    name = source.name if isinstance(source, ShownFile) else _study(source)
    asked = st.multiselect(
        "Also the table of a published study, in its own form", PRESETS, key="presets", width=420,
        placeholder="None",
    )  # fmt: skip
    with st.container(horizontal=True, gap="medium"):
        st.download_button(
            "Download the paper pack", partial(_pack, source, tuple(asked)), f"{name}-paper-pack.zip",
            "application/zip", type="primary", on_click="ignore", key="pack",
        )  # fmt: skip
        if not isinstance(source, ShownFile):
            st.download_button(
                "Download labels.csv", partial(_labels, source), f"{name}-labels.csv", "text/csv",
                disabled=not opened.names_systems, on_click="ignore", key="labels",
            )  # fmt: skip
    section("" if opened.names_systems else f'<p class="c-soft">{BLIND}</p>')
    _methods(methods_paragraph(report, sources.facts_about("" if isinstance(source, ShownFile) else name)))
    root = report.plan_root
    plan = f" Root of the plan: <code>{escape(root)}</code>." if root else ""
    section(
        f"<h2>To let others check it</h2><p>Labels have the sha256 <code>{escape(report.labels.verdicts_sha256)}"
        f"</code>.{plan}</p><p><code>calipers export bundle {escape(name)} --out bundle</code> writes what a reviewer "
        f"needs to compute every number again{'' if isinstance(source, ShownFile) else DATASET}.</p>"
    )
    warnings_and_making(report, "Paper")


def _methods(methods: Methods) -> None:
    sources = "".join(f"<li>{escape(source)}</li>" for source in sources_of(methods.markdown))
    asked = "".join(f"<li>{escape(sentence)}</li>" for sentence in methods.to_state)
    fold = f'<details class="c-fold"><summary>Sources</summary><ul class="c-notes">{sources}</ul></details>'
    section(f"<h2>Methods</h2>{methods_html(methods.markdown)}{fold if sources else ''}")
    if asked:
        section(f'<h2>Left for you to state</h2><ul class="c-notes">{asked}</ul>')


def _study(principal: Principal) -> str:
    with reading(database()) as session:
        return study_for(session, principal, "evaluator").name


def _pack(source: Source, presets: tuple[str, ...]) -> bytes:
    found = calibrated_file(source) if isinstance(source, ShownFile) else study_reports.shown_report(database(), source)
    return pack_files.zipped_pack(found, presets)


def _labels(principal: Principal) -> str:
    with reading(database()) as session:
        return labels_csv(load_verdicts(session, study_for(session, principal, "evaluator")))
