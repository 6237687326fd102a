"""What annotators are given on paper: one page of A4, as a repository's web view would print it."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib
from markdown_it import MarkdownIt
from playwright.sync_api import Browser

from tests.docs.shell import ROOT

# a face that comes with matplotlib, for a test may not hang on what a machine has installed; else the measures of
# GitHub's style sheet
FONTS = (Path(matplotlib.get_data_path()) / "fonts" / "ttf").as_uri()
CSS = (
    f"""
@font-face {{ font-family: printed; src: url("{FONTS}/STIXGeneral.ttf"); }}
@font-face {{ font-family: printed; font-weight: 700; src: url("{FONTS}/STIXGeneralBol.ttf"); }}
body {{ font: 16px/1.5 printed; margin: 0; }}
"""
    + """
h1, h2, h3 { margin: 24px 0 16px; line-height: 1.25; } h1 { font-size: 2em; padding-bottom: .3em; margin-top: 0; }
h2 { font-size: 1.5em; padding-bottom: .3em; } h3 { font-size: 1.25em; } p, ul, ol, table { margin: 0 0 16px; }
ul, ol { padding-left: 2em; } li + li { margin-top: .25em; } img { max-width: 100%; }
img[align=right] { padding-left: 20px; } td, th { padding: 6px 13px; border: 1px solid; }
code, kbd { font: 85% printed; padding: .2em .4em; }
"""
)


def test_the_annotators_page_prints_on_one_side_with_its_pictures(browser: Browser, tmp_path: Path) -> None:
    docs = ROOT / "docs"
    body = MarkdownIt().enable("table").render((docs / "annotators.md").read_text(encoding="utf-8"))
    file = tmp_path / "annotators.html"
    file.write_text(f'<meta charset="utf-8"><base href="{docs.as_uri()}/"><style>{CSS}</style>{body}', encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    assert page.evaluate("document.fonts.ready.then(all => [...all].every(one => one.status === 'loaded'))")
    pictures = page.locator("img")
    assert pictures.count() == 2
    assert all(pictures.evaluate_all("all => all.map(one => one.naturalWidth > 0)"))
    margin = dict.fromkeys(("top", "right", "bottom", "left"), "1cm")
    printed = page.pdf(format="A4", margin=margin)  # type: ignore[arg-type]  # a TypedDict of these keys
    page.close()
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
