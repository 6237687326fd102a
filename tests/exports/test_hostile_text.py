"""Names, titles, notes and cells that mean something to a format: every writer gives them back as text."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from exports.as_json import as_json
from exports.as_latex import as_latex
from exports.forms import as_csv, as_html, as_markdown
from exports.tables import Column, Table
from plain.spreadsheets import guarded, unguarded
from tests.exports.toy_latex import HOSTILE, UNICODE

TEXTS = [
    *HOSTILE, *UNICODE, "＋1", "\u200b=1", "\xa0@x", "'=x", "''", "R&amp;D &lt;b&gt;", "~~struck~~", "[a]: b", "[^1]", "- x",
    "---", "    code", "https://example.org/a_b", "![i](x)", "</td><td>", "javascript:alert(1)", "{{ 1 }}", "\\", "\\\\ *",
    "a\rb", "$a$ and $b$", "===", "12) x", "> q", "```", "\u202eevil",
]  # fmt: skip


def hostile(text: str) -> Table:
    """`text` in every place that holds text."""
    columns = (Column(f"k{text}", f"t{text}", f"s{text}"), Column(text, "n"))
    return Table(
        "hostile", f"T{text}", columns, (("first", 1), (text, 2), (f"x{text}x", 3)), ("plain", text, f"n{text}")
    )


def squeezed(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("text", TEXTS)
def test_csv_gives_back_every_text_and_starts_no_formula(text):
    rows = list(csv.reader(io.StringIO(as_csv(hostile(text)), newline="")))
    cells = [rows[0][1], rows[2][0]]
    for cell in cells:
        assert unguarded(cell) == text
        assert not re.match(r"[\s\u200b\u202e]*(?!-\d+$)[=+\-@＝＋－＠]", cell)
    assert (rows[0][0], rows[3][0]) == (f"k{text}", f"x{text}x")
    assert [len(row) for row in rows] == [2, 2, 2, 2]


@given(st.text())
def test_a_quote_too_many_never_hides_which_text_it_was(text):
    assert unguarded(guarded(text)) == text


@pytest.mark.parametrize("text", TEXTS)
def test_json_gives_back_every_text(text):
    read = json.loads(as_json(hostile(text)))
    assert (read["title"], read["notes"]) == (f"T{text}", ["plain", text, f"n{text}"])
    assert read["columns"][0] == {"key": f"k{text}", "title": f"t{text}", "symbol": f"s{text}"}
    assert read["rows"][1] == {f"k{text}": text, text: 2}


@pytest.mark.parametrize("text", TEXTS)
def test_markdown_shows_every_text_as_text(text):
    rendered = (
        MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(as_markdown(hostile(text)))
    )
    shown = [
        squeezed(html.unescape(cell)) for cell in re.findall(r"<t[dh](?: [^>]*)?>(.*?)</t[dh]>", rendered, re.DOTALL)
    ]
    notes = [squeezed(html.unescape(note)) for note in re.findall(r"<li>(.*?)</li>", rendered, re.DOTALL)]
    title = re.search(r"<p><strong>(.*?)</strong></p>", rendered, re.DOTALL)
    text = text.replace("\x00", "\ufffd")  # as Markdown demands
    assert title
    assert squeezed(html.unescape(title[1])) == squeezed(f"T{text}")
    assert shown[0] == squeezed(f"t{text}")
    assert shown[2:] == ["first", "1", squeezed(text), "2", squeezed(f"x{text}x"), "3"]
    assert notes == ["plain", squeezed(text), squeezed(f"n{text}")]


class Cells(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        if tag in {"td", "th", "li"}:
            self.texts.append("")

    def handle_data(self, data: str) -> None:
        self.texts[-1] += data


@pytest.mark.parametrize("text", TEXTS)
def test_html_shows_every_text_as_text_and_runs_none(text):
    page = Cells(as_html(hostile(text)))
    assert page.texts == [f"t{text}", "n", "first", "1", text, "2", f"x{text}x", "3", "plain", text, f"n{text}"]
    assert page.tags <= {"div", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "span"}
    assert ("aria-label", f"T{text}") in page.attributes
    assert {name for name, _ in page.attributes} <= {"class", "scope", "tabindex", "role", "aria-label"}


@pytest.mark.parametrize("text", TEXTS)
def test_latex_holds_as_many_cells_as_columns_whatever_they_say(text):
    tex = as_latex(hostile(text))
    assert tex.count(r"\begin{tabular*}") == tex.count(r"\end{tabular*}") == 1
    body = tex.split(r"\midrule")[1].split(r"\bottomrule")[0]
    lines = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert {len(re.findall(r"(?<!\\)&", line)) for line in lines} == {1}
    assert re.fullmatch(r"[A-Za-z0-9:-]*", re.search(r"\\label\{(.*)\}", tex)[1])
    assert not {"input", "write", "end{tabular}", "immediate"} & {
        *re.findall(r"(?<!\\)\\([a-z]+(?:\{tabular\})?)", tex)
    }
