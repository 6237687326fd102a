"""What a paper takes from the study: the whole pack as one file, and the methods paragraph to read before."""

from functools import partial
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from annotation.errors import AnnotationError
from annotation.people.principals import Principal, downloading, study_for
from annotation.verdicts import labels_csv, load_verdicts
from app.results import export_files, pack_files, shown_file, sources, study_reports
from app.screens import look, report_page
from app.settings import database
from calibration.choosing.choice_words import short_sentence
from calibration.results import CalibrationReport
from db.connect import reading, transaction
from exports import errors, page, presets
from exports.facts import StudyFacts
from exports.pack import METHODS_IN
from exports.words.methods import methods_in, methods_paragraph
from exports.words.sentences import headline
from plain.wording import ENGLISH, LANGUAGES, speaking, worded

INSIDE = (
    "Every table as LaTeX, Markdown, CSV and JSON; every figure as PDF, SVG and PNG at page and column width; one page "
    "of them all (answer.pdf, report.html); the methods section with its BibTeX; the checklists."
)
READY = {"bundle": "Download the bundle", "dataset": "Download the dataset"}
MADE = "export_made"  # (bundle or dataset, its archive or why there is none)
BLIND = "labels.csv names systems, and can be downloaded once the study is closed or revealed."


def show(source: shown_file.Source) -> None:
    """The downloads, then what the methods section will say."""
    opened = report_page.open_report(source, worded("Nothing to print yet"))
    if opened is None:
        return
    report = opened.report
    report_page.answer(short_sentence(report.choice) if report.choice else headline(report), worded(INSIDE))
    name = source.name if isinstance(source, shown_file.ShownFile) else _study(source)
    with st.container(horizontal=True, gap="medium"):
        asked = st.multiselect(
            worded("Also the table of a published study, in its own form"), presets.PRESETS, key="presets", width=420,
            placeholder=worded("None"),
        )  # fmt: skip
        language = st.selectbox(
            worded("The methods section in another language too"), [*METHODS_IN], None, LANGUAGES.__getitem__,
            key="methods_in", width=420, placeholder=worded("None"),
        )  # fmt: skip
    with st.container(horizontal=True, gap="medium"):
        st.download_button(
            worded("Download the paper pack"), partial(_pack, source, tuple(asked), language), f"{name}-paper-pack.zip",
            "application/zip", type="primary", on_click="ignore", key="pack",
        )  # fmt: skip
        if not isinstance(source, shown_file.ShownFile):
            st.download_button(
                worded("Download labels.csv"), partial(_labels, source), f"{name}-labels.csv", "text/csv",
                disabled=not opened.names_systems, on_click="ignore", key="labels",
            )  # fmt: skip
    report_page.section("" if opened.names_systems else f'<p class="c-soft">{worded(BLIND)}</p>')
    _methods(report, sources.facts_about("" if isinstance(source, shown_file.ShownFile) else name), language)
    root = report.plan_root
    plan = (" " + worded("Root of the plan: <code>{root}</code>.", root=escape(root))) if root else ""
    report_page.section(
        f"<h2>{worded('To let others check it')}</h2><p>"
        + worded(
            "Labels have the sha256 <code>{verdicts_sha256}</code>.{plan}",
            verdicts_sha256=escape(report.labels.verdicts_sha256),
            plan=plan,
        )
        + "</p><p>"
        + worded(
            "A bundle holds what a reviewer needs to compute every number again; a dataset what "
            "others need to use the labels."
        )
        + "</p>"
    )
    if isinstance(source, Principal) and source.role == "admin":
        _to_check(source, name, tuple(asked), language, can_be_made=opened.names_systems)
    else:
        report_page.section(f"<p><code>calipers export bundle {escape(name)} --out bundle</code></p>")
    report_page.warnings_and_making(report, "Paper")


def _to_check(
    principal: Principal, name: str, presets: tuple[str, ...], language: str | None, *, can_be_made: bool
) -> None:
    """Bundle and dataset, made while one waits and then there to be downloaded."""
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        license = st.text_input(worded("License of a dataset"), key="license", placeholder="CC-BY-4.0", width=200)
        kinds = {"bundle": worded("Make the bundle"), "dataset": worded("Make the dataset")}
        for kind, label in kinds.items():
            if st.button(label, key=f"make_{kind}", disabled=not can_be_made):
                kept = st.session_state.setdefault(MADE, {})
                kept[kind] = _made(principal, name, kind, presets, license, language)
    for kind, made in st.session_state.get(MADE, {}).items():
        if isinstance(made, str):
            report_page.section(f'<p class="c-red">{escape(made)}</p>')
        else:
            st.download_button(
                worded(READY[kind]), made, f"{name}-{kind}.zip", "application/zip", type="primary",
                on_click="ignore", key=f"made_{kind}",
            )  # fmt: skip


def _made(
    principal: Principal, name: str, kind: str, presets: tuple[str, ...], license: str, language: str | None
) -> bytes | str:
    """The archive, or why there is none."""
    bar = st.progress(0.0, worded("Reading labels"))
    try:
        with reading(database()) as session:
            study_for(session, principal, "admin")
        with speaking(), TemporaryDirectory() as folder:
            if kind == "bundle":
                found = study_reports.shown_report(database(), principal)
                export_files.write_bundle_of(
                    found, Path(folder), presets, partial(_advance, bar), principal.rater_id, language
                )
            else:
                export_files.write_dataset_of(
                    name, Path(folder), texts=False, with_void=False, license=license, advance=partial(_advance, bar),
                    rater_id=principal.rater_id,
                )  # fmt: skip
            return pack_files.zipped_folder(Path(folder))
    except (AnnotationError, errors.ExportError) as error:
        return error.text
    finally:
        bar.empty()


def _advance(bar: DeltaGenerator, done: int, of: int, doing: str) -> None:
    look.advance(bar, doing.capitalize(), done, of)


def _methods(report: CalibrationReport, facts: StudyFacts, language: str | None) -> None:
    methods = methods_paragraph(report, facts)
    text = methods_in(language, report, facts) if language else methods.markdown
    tag = (language or ENGLISH).replace("_", "-")
    sources = "".join(f"<li>{escape(source)}</li>" for source in page.sources_of(methods.markdown))
    asked = "".join(f"<li>{escape(sentence)}</li>" for sentence in methods.to_state)
    fold = f'<details class="c-fold"><summary>{worded("Sources")}</summary><ul class="c-notes">{sources}</ul></details>'
    told = f'<div lang="{tag}">{page.methods_html(text)}</div>'
    report_page.section(f"<h2>{worded('Methods')}</h2>{told}{fold if sources else ''}")
    if asked:
        report_page.section(f'<h2>{worded("Left for you to state")}</h2><ul class="c-notes">{asked}</ul>')


def _study(principal: Principal) -> str:
    with reading(database()) as session:
        return study_for(session, principal, "evaluator").name


def _pack(source: shown_file.Source, presets: tuple[str, ...], language: str | None) -> bytes:
    found = (
        shown_file.calibrated_file(source)
        if isinstance(source, shown_file.ShownFile)
        else study_reports.shown_report(database(), source)
    )
    return pack_files.zipped_pack(found, presets, language)


def _labels(principal: Principal) -> str:
    with transaction(database()) as session:
        study = study_for(session, downloading(session, "labels", principal), "evaluator")
        return labels_csv(load_verdicts(session, study))
