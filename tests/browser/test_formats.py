"""The same reports in five formats: what is shown of them does not say in which one a report came."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from annotation.blinding import AuditedReport, audit_blinding
from annotation.protocol import Reports
from annotation.shown_texts.prepare import prepare_report
from benchmarks import documents

pytestmark = pytest.mark.browser
DEMO = Path(__file__).resolve().parents[2] / "app" / "demo" / "reports"


@pytest.mark.slow
def test_the_audits_classifier_cannot_tell_the_format_that_a_report_came_in(browser: Browser) -> None:
    reports = []
    for source in sorted([*DEMO.glob("atlas/*.md"), *DEMO.glob("borealis/*.md")]):
        topic, title = f"{source.parent.name}/{source.stem}", source.stem.replace("_", " ")
        for suffix in (".md", ".docx", ".html", ".odt", ".pdf"):
            original = documents.through(source.read_text("utf-8"), suffix, browser)
            ready = prepare_report(original, title, (), Reports(), layout="canonical")
            shown = ready.shown_text
            reports.append(AuditedReport(topic + suffix, topic, suffix, False, original, shown, shown, 0, title=title))
    audited = audit_blinding(reports, 7)
    told = {(one.text, one.features): one.accuracy for one in audited.identification}
    shown_by = {features: accuracy for (text, features), accuracy in told.items() if text == "shown"}
    assert len(shown_by) >= 2
    assert max(shown_by.values()) <= 0.2 + 0.1, (told, [one for one in audited.identification if one.text == "shown"])


@pytest.mark.slow
@pytest.mark.parametrize("suffix", documents.SUFFIXES)
def test_marks_go_and_words_stay_whatever_file_a_report_came_in(browser: Browser, suffix: str) -> None:
    recall, lost = documents.scored(documents.own_examples(), suffix, browser)
    assert recall >= 0.97
    assert lost <= 1
