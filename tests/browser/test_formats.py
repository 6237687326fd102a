"""The same reports in five formats: what is shown of them does not say in which one a report came."""

from __future__ import annotations

import shutil
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Browser
from sqlalchemy import Engine, select

from annotation.blinding import AuditedReport, audit_blinding
from annotation.citations import strip_citations
from annotation.protocol import Reports
from annotation.shown_texts.prepare import LOST, prepare_report
from annotation.verdicts import labels_csv, load_verdicts
from benchmarks import documents
from db.connect import reading
from db.tables import Report, Study, System, Topic
from tests.annotation.test_verdicts import submit_known
from tests.pictured_study import SHOWN, draw
from tests.small_study import make_study

pytestmark = pytest.mark.browser
FORMATS = (".md", ".docx", ".html", ".odt", ".pdf")
ADDED = (
    "\n\n![Figure 1: height by day, in metres](chart.png)\n\nThe sum is ${}$ of the whole, and so\n\n"
    "$${}$$\n\nas was told.\n\n"
)
DEMO = Path(__file__).resolve().parents[2] / "app" / "demo" / "reports"
SOURCES = sorted([*DEMO.glob("atlas/*.md"), *DEMO.glob("borealis/*.md")])


def without_thought(source: Path) -> str:
    """A report as it is exported: tags of what a program thought are gone where another wrote the file."""
    return source.read_text("utf-8").rpartition("</think>")[2]


@pytest.mark.slow
def test_the_audits_classifier_cannot_tell_the_format_that_a_report_came_in(browser: Browser) -> None:
    reports = []
    for source in SOURCES:
        topic, title = f"{source.parent.name}/{source.stem}", source.stem.replace("_", " ")
        for suffix in FORMATS:
            original = documents.through(without_thought(source), suffix, browser)
            shown = prepare_report(original, title, (), Reports(), layout="canonical").shown_text
            reports.append(AuditedReport(topic + suffix, topic, suffix, False, original, shown, shown, 0, title=title))
    told = {one.features: one.accuracy for one in audit_blinding(reports, 7).identification if one.text == "shown"}
    assert len(told) >= 2
    assert max(told.values()) <= 0.2 + 0.1, told


@pytest.mark.slow
@pytest.mark.databases("sqlite")
def test_one_study_of_the_same_reports_in_five_formats_holds_them_all_alike(
    browser: Browser, engine: Engine, tmp_path: Path
) -> None:
    for suffix in FORMATS:
        (tmp_path / suffix[1:]).mkdir()
    draw(tmp_path / "md" / "chart.png", inches=(6, 3), dots=100, colour="#0072B2")
    shutil.copy(tmp_path / "md" / "chart.png", tmp_path / "html")
    for at, source in enumerate(SOURCES):
        added = ADDED.format(*documents.formulas()[2 * at : 2 * at + 2])
        text = without_thought(source).replace("\n\n", added, 2)
        for suffix in FORMATS:
            made = documents.saved(text, suffix, browser, beside=tmp_path / "md")
            (tmp_path / suffix[1:] / f"{source.parent.name}_{source.stem}{suffix}").write_bytes(made)
    study_id = make_study(engine, tmp_path, protocol=SHOWN)
    known = submit_known(engine, study_id, "random", seed=3)
    with reading(engine) as session:
        verdicts = load_verdicts(session, session.get_one(Study, study_id))
        rows = session.execute(
            select(Topic.key, System.key, Report).join_from(Report, Topic).join(System).order_by(Topic.key)
        ).all()
        shown = {(topic, system): report.shown_text for topic, system, report in rows}
        digests = {(topic, system): report.shown_sha256 for topic, system, report in rows}
        lost = {
            (topic, system): [flag["text"] for flag in report.flags if flag["kind"] == LOST]
            for topic, system, report in rows
        }
    assert len(shown) == len(SOURCES) * len(FORMATS)
    for topic, system in shown:
        assert "figures/" in shown[topic, "md"]
        if system != "pdf":
            assert digests[topic, system] == digests[topic, "md"], (topic, system)
            assert not lost[topic, system]
            continue
        told = " ".join(lost[topic, system])
        assert "formulas, which were told from where their characters stand" in told
    same = sum(digests[topic, "pdf"] == digests[topic, "md"] for topic, system in shown if system == "pdf")
    assert same >= len(SOURCES) - 2, "pandoc slants bold letters, and signs with which some cite have no name"
    reports = [
        AuditedReport(topic + system, topic, system, False, text, text, text, 0, title=topic)
        for (topic, system), text in shown.items()
    ]
    audited = audit_blinding(reports, 7)
    told = {one.features: one.accuracy for one in audited.identification if one.text == "shown"}
    assert len(told) >= 2
    assert max(told.values()) <= audited.chance + 0.1, told
    assert len(verdicts) == len(known)
    assert {len(SOURCES) * 4 * 4} == {
        (verdicts[["system_a", "system_b"]] == suffix[1:]).sum().sum() for suffix in FORMATS
    }
    assert pd.read_csv(StringIO(labels_csv(verdicts)), dtype="str")["label"].to_list() == verdicts["label"].to_list()


@pytest.mark.slow
def test_formulas_that_a_browser_printed_are_formulas_again(browser: Browser) -> None:
    assert documents.formulas_again(browser) >= 0.9


MARKED = (
    "So $E=mc^2$[3] holds of it, and $x_1$<sup>[4]</sup> also, and $x_1$<sup>5</sup> too, ($x_1$)[5].\n\n## References\n\n"
    "1. A. Ho, One, 2020.\n2. B. Ho, Two, 2020.\n3. C. Ho, Three, 2020.\n4. D. Ho, Four, 2020.\n5. E. Ho, Five, 2020.\n"
)


@pytest.mark.slow
def test_marks_behind_a_printed_formula_go_and_leave_it_as_it_was(browser: Browser) -> None:
    text = strip_citations(documents.through(MARKED, ".pdf", browser)).text
    assert text.strip() == "So $E=mc^{2}$ holds of it, and $x_{1}$ also, and $x_{1}$ too, ($x_{1}$)."


@pytest.mark.slow
@pytest.mark.parametrize("suffix", documents.SUFFIXES)
def test_marks_go_and_words_stay_whatever_file_a_report_came_in(browser: Browser, suffix: str) -> None:
    recall, lost = documents.scored(documents.own_examples(), suffix, browser)
    assert recall >= 0.97
    assert lost <= 1
