"""The 144 reports of the Wiki Live Challenge sample, where it is: none shows a raw mark of Markdown to a reader."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from annotation.importing.reports.wlc import read_wlc
from annotation.protocol import Reports
from annotation.rendering import render_report
from annotation.shown_texts.prepare import prepare_report

SAMPLE = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "wlc_sample"
RAW = re.compile(r"\*\*|^\s*#{1,6}(?:\s|$)|^\s*\||\|\s*$|^\s*:?-{3,}:?\s*\||~~|\]\(")
BLOCK = re.compile(r"</?(?:p|br|hr|h\d|ul|ol|li|blockquote|table|thead|tbody|tr|th|td)\b[^>]*>")
CODE = re.compile(r"<(pre|code)>.*?</\1>", re.DOTALL)


def raw_lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if RAW.search(line)]


def text_of(page: str) -> str:
    """What a reader sees, a line each block, code left out."""
    return html.unescape(re.sub(r"<[^>]+>", "", BLOCK.sub("\n", CODE.sub("", page))))


@pytest.mark.parametrize(
    "shown",
    [
        "two **bold",
        "#### Heading",
        "| a | b |",
        "ends in |",
        "--- | ---",
        "~~gone",
        "[a](b)",
    ],
)
def test_a_raw_mark_is_seen(shown: str) -> None:
    assert raw_lines(text_of(f"<p>before</p><p>{shown}</p>")) == [shown]
    assert raw_lines(text_of(f"<p>#1 on the chart</p><pre><code>{shown}</code></pre>")) == []


if SAMPLE.is_dir():

    def pages(every: int = 1) -> dict[str, str]:
        """Path -> HTML of the shown text, prepared as an import does it."""
        parsed = read_wlc(SAMPLE)
        titles = {topic.key: topic.title for topic in parsed.topics}
        names = [name for system in parsed.systems for name in (system.key, system.public_name)]
        return {
            one.path: render_report(
                prepare_report(one.text, titles[one.topic], names, Reports(), layout="canonical").shown_text
            )
            for one in parsed.reports[::every]
        }

    @pytest.mark.slow
    def test_no_report_shows_a_raw_mark() -> None:
        assert len(found := pages()) == 144
        assert {path: lines for path, page in found.items() if (lines := raw_lines(text_of(page)))} == {}

    @pytest.mark.browser
    def test_nor_in_a_browser(browser: Browser) -> None:
        """Every sixth of them: that a browser shows the text looked at above needs no more."""
        tab = browser.new_page()
        tab.set_content("<main></main>")
        put = "page => { const main = document.querySelector('main'); main.innerHTML = page; return main.innerText; }"
        lines = {path: raw_lines(tab.evaluate(put, CODE.sub("", page))) for path, page in pages(6).items()}
        tab.close()
        assert {path: found for path, found in lines.items() if found} == {}
