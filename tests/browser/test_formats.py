"""The same reports in five formats: what is shown of them does not say in which one a report came."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Browser
from sqlalchemy import Engine, select

from annotation.blinding import AuditedReport, audit_blinding
from annotation.protocol import Reports
from annotation.shown_texts.prepare import LOST, prepare_report
from annotation.verdicts import labels_csv, load_verdicts
from benchmarks import documents
from db.connect import reading
from db.tables import Report, Study, System, Topic
from tests.annotation.test_verdicts import study_on, submit_known

pytestmark = pytest.mark.browser
FORMATS = (".md", ".docx", ".html", ".odt", ".pdf")
DEMO = Path(__file__).resolve().parents[2] / "app" / "demo" / "reports"


@pytest.mark.slow
def test_the_audits_classifier_cannot_tell_the_format_that_a_report_came_in(browser: Browser) -> None:
    reports = []
    for source in sorted([*DEMO.glob("atlas/*.md"), *DEMO.glob("borealis/*.md")]):
        topic, title = f"{source.parent.name}/{source.stem}", source.stem.replace("_", " ")
        for suffix in FORMATS:
            original = documents.through(source.read_text("utf-8"), suffix, browser)
            ready = prepare_report(original, title, (), Reports(), layout="canonical")
            shown = ready.shown_text
            reports.append(AuditedReport(topic + suffix, topic, suffix, False, original, shown, shown, 0, title=title))
    audited = audit_blinding(reports, 7)
    told = {(one.text, one.features): one.accuracy for one in audited.identification}
    shown_by = {features: accuracy for (text, features), accuracy in told.items() if text == "shown"}
    assert len(shown_by) >= 2
    assert max(shown_by.values()) <= 0.2 + 0.1, (told, [one for one in audited.identification if one.text == "shown"])


FORMULAS = "\n\nThe sum is $\\frac{1}{2}$ of the whole, and so\n\n$$\\sum_{k=1}^{n} k = \\frac{n(n+1)}{2}$$\n\nas was told.\n\n"


@pytest.mark.slow
@pytest.mark.databases("sqlite")
def test_verdicts_texts_and_exports_hold_a_study_of_five_formats_alike(
    browser: Browser, engine: Engine, tmp_path: Path
) -> None:
    sources = [DEMO / f"atlas/{name}.md" for name in ("bicycle_history", "sourdough", "tidal_power")]
    for source in sources:
        text = source.read_text("utf-8").replace("\n\n", FORMULAS, 1)
        for suffix in FORMATS:
            (tmp_path / suffix[1:]).mkdir(exist_ok=True)
            made = documents.saved(text, suffix, browser, mathml=True)
            (tmp_path / suffix[1:] / f"{source.stem}{suffix}").write_bytes(made)
    study_id = study_on(engine, tmp_path)
    known = submit_known(engine, study_id, "random", seed=3)
    with reading(engine) as session:
        verdicts = load_verdicts(session, session.get_one(Study, study_id))
        rows = session.execute(
            select(Topic.key, System.key, Report.shown_text, Report.flags).join_from(Report, Topic).join(System)
        ).all()
    assert len(verdicts) == len(known)
    assert {len(sources) * 4 * 4} == {
        (verdicts[["system_a", "system_b"]] == suffix[1:]).sum().sum() for suffix in FORMATS
    }
    assert pd.read_csv(StringIO(labels_csv(verdicts)), dtype="str")["label"].to_list() == verdicts["label"].to_list()
    for topic in {topic for topic, *_ in rows}:
        # TeX has many spellings of a formula, which are set alike; a PDF has its characters, and says so
        shown = {re.sub(r"\$[^$]+\$", "$", text) for key, system, text, _ in rows if key == topic and system != "pdf"}
        assert len(shown) == 1, (topic, shown)
    lost = {system: [flag["text"] for flag in flags if flag["kind"] == LOST] for _, system, _, flags in rows}
    assert {system for system, told in lost.items() if any("formulas" in words for words in told)} == {"pdf"}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", documents.SUFFIXES)
def test_marks_go_and_words_stay_whatever_file_a_report_came_in(browser: Browser, suffix: str) -> None:
    recall, lost = documents.scored(documents.own_examples(), suffix, browser)
    assert recall >= 0.97
    assert lost <= 1
