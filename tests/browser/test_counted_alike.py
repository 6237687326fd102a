"""What the server counts of a report, its text and its blocks, is what a real browser has of the same page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser, Page

import app
from annotation.labels.evidence import plain_text
from annotation.rendering import render_report, report_blocks
from tests.browser.test_hostile_reports import HOSTILE

pytestmark = pytest.mark.browser

DEMO_REPORTS = sorted((Path(app.__file__).parent / "demo" / "reports").rglob("*.md"))
HTML = """html => {
    const pane = document.createElement('div');
    pane.innerHTML = html;
    return pane.textContent;
}"""
CHILDREN = """pages => pages.map(html => {
    const report = new DOMParser().parseFromString('<div></div>', 'text/html').querySelector('div');
    report.innerHTML = html;
    return [...report.children].map(child => [child.tagName.toLowerCase(), child.textContent]);
})"""

PIECES = st.sampled_from(
    (
        "# ", "\n", "\n\n", "\r\n", "- ", "1. ", "> ", "| a | b |\n|---|---|\n| 1 | 2 |\n", "```\n", "    code\n", "`x`",
        "**b**", "*", "_", "~~s~~", "&amp;", "&lt;", "&#13;", "&#0;", "&nbsp;", "&#xD800;", "<b>", "</p>", "<!--", "<![CDATA[",
        "<pre>\n\n", "<br>", "![a](b)", "[t](u)", "\\", "\t", "  \n", "---", "😀", "e\u0301", "漢字", "\u202e", "\u2028", "\ufeff", "\0",
    )
)  # fmt: skip


@pytest.fixture(scope="module")
def empty_page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    yield page
    page.close()


@pytest.fixture(scope="module")
def parser(empty_page: Page) -> Any:
    return lambda *pages: empty_page.evaluate(CHILDREN, list(pages))


def test_the_server_counts_the_same_text_as_the_browser_in_every_demo_report(empty_page: Page) -> None:
    assert len(DEMO_REPORTS) >= 10
    for path in DEMO_REPORTS:
        markdown = path.read_text(encoding="utf-8")
        assert empty_page.evaluate(HTML, render_report(markdown)) == plain_text(markdown), path.name


@settings(max_examples=300, deadline=None)
@given(parts=st.lists(PIECES | st.text(max_size=8), max_size=40))
def test_the_server_counts_the_same_text_as_the_browser_in_any_markdown(empty_page: Page, parts: list[str]) -> None:
    markdown = "".join(parts).encode("utf-8", "replace").decode("utf-8")  # what a database can hold
    assert empty_page.evaluate(HTML, render_report(markdown)) == plain_text(markdown)


def as_blocks(markdown: str) -> list[list[str]]:
    return [[block.tag, block.text] for block in report_blocks(markdown)]


DEEP = ["\n".join(f"{'  ' * level}- level {level}" for level in range(150)), "> " * 190 + "deep", "- " * 120 + "deep"]
MARKS = st.sampled_from(
    ["#", "##", "- ", "1. ", "> ", "```", "    ", "\n", "\n\n", "|a|b|\n|-|-|\n|1|2|", "---", "**", "`", "&lt;", "<b>", "<!--",
     "<p>", "</p>", "\\", "\t", "\u2028", "\x00", "\x0c", "&nbsp;", "&#0;", "&amp;amp;", "]]>", "é", "中", "😀", "x"]
)  # fmt: skip


def test_the_server_counts_the_blocks_of_hostile_reports_as_the_browser_does(parser: Any) -> None:
    alone = [*HOSTILE, *DEEP, ""]
    reports = alone + [f"# Before\n\n{markdown}\n\nafter" for markdown in alone]
    counted = parser(*map(render_report, reports))
    assert [one for one, blocks in zip(reports, counted, strict=True) if blocks != as_blocks(one)] == []


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(MARKS, st.text(max_size=6)), max_size=30).map("".join))
def test_the_server_counts_the_blocks_of_any_report_as_the_browser_does(parser: Any, markdown: str) -> None:
    assert parser(render_report(markdown)) == [as_blocks(markdown)]
