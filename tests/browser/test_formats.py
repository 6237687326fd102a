"""The same reports in five formats: what is shown of them does not say in which one a report came."""

from __future__ import annotations

from pathlib import Path

import pypandoc
import pytest
from playwright.sync_api import Browser

from annotation.blinding import AuditedReport, audit_blinding
from annotation.documents.reading import read_document
from annotation.protocol import Reports
from annotation.shown_texts.prepare import prepare_report

pytestmark = pytest.mark.browser
DEMO = Path(__file__).resolve().parents[2] / "app" / "demo" / "reports"


def _read(written: Path, suffix: str, browser: Browser) -> str:
    """A report as whoever has it in this format would import it; a browser prints the PDF."""
    if suffix == ".md":
        return written.read_text(encoding="utf-8")
    kind = {".pdf": "html"}.get(suffix, suffix[1:])
    made = written.with_suffix(f".{kind}")
    pypandoc.convert_file(str(written), kind, "markdown-citations", outputfile=str(made), extra_args=["--standalone"])
    original = made.read_bytes()
    if suffix == ".pdf":
        page = browser.new_page()
        page.goto(made.as_uri())
        original = page.pdf(format="A4")
        page.close()
    return read_document(original, suffix, made.name).text


@pytest.mark.slow
def test_the_audits_classifier_cannot_tell_the_format_that_a_report_came_in(browser: Browser, tmp_path: Path) -> None:
    reports = []
    for source in sorted([*DEMO.glob("atlas/*.md"), *DEMO.glob("borealis/*.md")]):
        topic, title = f"{source.parent.name}/{source.stem}", source.stem.replace("_", " ")
        for suffix in (".md", ".docx", ".html", ".odt", ".pdf"):
            folder = tmp_path / topic / suffix
            folder.mkdir(parents=True)
            written = folder / source.name
            written.write_bytes(source.read_bytes())
            original = _read(written, suffix, browser)
            ready = prepare_report(original, title, (), Reports(), layout="canonical")
            shown = ready.shown_text
            reports.append(AuditedReport(topic + suffix, topic, suffix, False, original, shown, shown, 0, title=title))
    audited = audit_blinding(reports, 7)
    told = {(one.text, one.features): one.accuracy for one in audited.identification}
    shown_by = {features: accuracy for (text, features), accuracy in told.items() if text == "shown"}
    assert len(shown_by) >= 2
    assert max(shown_by.values()) <= 0.2 + 0.1, (told, [one for one in audited.identification if one.text == "shown"])
