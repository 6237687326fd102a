"""A report is the same report in every format: what tells the format goes, marks go, and a loss waits for a decision."""

from __future__ import annotations

import io
import subprocess
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from urllib.request import urlopen

import pypandoc
import pytest
from sqlalchemy import Engine, select

from annotation.documents import document_tree, joined_cells, reading, web_pages
from annotation.documents.reading import read_document
from annotation.errors import AnnotationError, ImportingError
from annotation.figures.placing import placed, reader
from annotation.importing.layouts import propose
from annotation.importing.reports.dr3_eval import read_dr3_eval
from annotation.importing.reports.folder import read_folder
from annotation.importing.reports.records import Parsed
from annotation.importing.reports.wlc import read_wlc
from annotation.people.principals import local_admin
from annotation.protocol import Reports
from annotation.shown_texts.overrides import edit_text, resolve_all, resolve_flag
from annotation.shown_texts.prepare import prepare_report
from db.connect import transaction
from db.tables import Report, Study
from tests.annotation.layout_trees import WORDS, bring_in, put, task_tree
from tests.annotation.test_importing import write_wlc

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
DRAWN = " ".join(
    f'xmlns:{name}="http://schemas.openxmlformats.org/drawingml/2006/{space}"'
    for name, space in [("a", "main"), ("pic", "picture"), ("wp", "wordprocessingDrawing")]
)
# a picture that lies at the relationship `seen`, as Word's "Link to File" writes it
LINKED = (
    '<w:r><w:drawing><wp:inline><wp:docPr id="1" name="P" descr="High water"/><a:graphic><a:graphicData><pic:pic>'
    '<pic:blipFill><a:blip r:link="seen"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>'
)
MARKDOWN = """# Tides

Tides rise.[1] They fall [2, 3] with the **moon**, see [Newton](https://example.org/n).[^1]

## How high

| Place | Height [3] |
|-------|-----------:|
| Fundy | 16 m [1]   |
| Ems   | 3 m        |

- In *spring*, `h = 2` metres.
- At neaps less, as $h_1 < h_2$ says.

1. First line\\
   and its second.
2. Costs $5 and [sic] "quoted" #1.

```
code   keeps
  its blanks
```

[^1]: Smith, J. (2020). On tides. <https://example.org/s>

## References

1. Ebb, A. <https://example.org/1>
2. Flow, B. <https://example.org/2>
3. Neap, C. <https://example.org/3>
"""


@cache
def written(suffix: str, markdown: str = MARKDOWN) -> bytes:
    """As pandoc writes the Markdown in a format, which stands for whatever program exported it."""
    form = "commonmark+pipe_tables+footnotes+tex_math_dollars"
    command = [pypandoc.get_pandoc_path(), "-s", "--mathml", "-f", form, "-t", suffix[1:], "-o", "-", "--sandbox"]
    command += ["--metadata", "pagetitle=Export of Atlas 7"]
    return subprocess.run(command, input=markdown.encode(), capture_output=True, check=True).stdout


def docx(body: str, template: str = "http://127.0.0.1:9/t", **parts: str) -> bytes:
    """A file of Word's, by hand: `body` is its text, `template` an address it names, `parts` more under word/."""
    kinds = "http://schemas.openxmlformats.org/package/2006/content-types"
    links = "http://schemas.openxmlformats.org/package/2006/relationships"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{kinds}"><Default Extension="xml" ContentType="application/xml"/><Default '
            'Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>',
        )
        packed.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{links}"><Relationship Id="r" Type="{R}/officeDocument" Target="word/document.xml"/>'
            "</Relationships>",
        )
        packed.writestr(
            "word/document.xml",
            f'<w:document xmlns:w="{W}" xmlns:r="{R}" xmlns:c="urn:c" {DRAWN}><w:body>{body}</w:body></w:document>',
        )
        for name, content in parts.items():
            packed.writestr(f"word/{name}.xml", content)
        packed.writestr(
            "word/_rels/document.xml.rels",
            f'<Relationships xmlns="{links}">'
            + "".join(f'<Relationship Id="{n}" Type="{R}/{n}" Target="{n}.xml"/>' for n in parts)
            + f'<Relationship Id="out" Type="{R}/attachedTemplate" Target="{template}" TargetMode="External"/>'
            + f'<Relationship Id="seen" Type="{R}/image" Target="{template}" TargetMode="External"/></Relationships>',
        )
    return out.getvalue()


def changed(suffix: str, part: str, before: str, after: str) -> bytes:
    """The report in a packed format, with other words in those of its parts whose names end so."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(written(suffix))) as made, zipfile.ZipFile(out, "w") as packed:
        for name in made.namelist():
            held = made.read(name)
            packed.writestr(name, held.replace(before.encode(), after.encode()) if name.endswith(part) else held)
    return out.getvalue()


def bad_lzma() -> bytes:
    """A part that is packed as zip files seldom are, and damaged."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_LZMA) as packed:
        packed.writestr("word/document.xml", WORDS * 9)
    at = out.getvalue().index(b"word/document.xml") + len("word/document.xml")
    return out.getvalue()[: at + 4] + b"\xff" * 60 + out.getvalue()[at + 64 :]


def run(text: str, raised: bool = False) -> str:
    look = '<w:rPr><w:vertAlign w:val="superscript"/></w:rPr>' if raised else ""
    return f'<w:r>{look}<w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*runs: str) -> str:
    return f"<w:p>{''.join(runs)}</w:p>"


def field(told: str, shown: str) -> str:
    mark = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
    inside = f'<w:r><w:instrText xml:space="preserve"> {told} </w:instrText></w:r>'
    return mark.format("begin") + inside + mark.format("separate") + shown + mark.format("end")


def shown(text: str) -> str:
    return prepare_report(text, "Tides", (), Reports(), layout="canonical").shown_text


@pytest.mark.parametrize("suffix", [".docx", ".html", ".epub"])
def test_a_report_is_shown_alike_whatever_file_it_came_in(suffix: str) -> None:
    made = read_document(written(suffix), suffix, "x")
    assert made.lost == ()
    assert shown(made.text) == shown(MARKDOWN)
    assert "Atlas 7" not in made.text, "a file's own title is none of the report"


def test_formulas_of_an_open_document_are_read_and_what_is_none_is_told() -> None:
    made = read_document(written(".odt"), ".odt", "x")
    assert made.lost == ()
    assert "as $h_{1} < h_{2}$ says" in made.text
    assert shown(made.text) == shown(MARKDOWN).replace("---:", "---"), (
        "pandoc does not hear where an .odt's cells stand"
    )
    assert read_document(written(".odt", "$$x$$"), ".odt", "x").text.strip() == "$$x$$"
    charted = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(written(".odt", "$x$"))) as odt, zipfile.ZipFile(charted, "w") as packed:
        for name in odt.namelist():
            packed.writestr(name, "<chart/>" if name == "Formula-0/content.xml" else odt.read(name))
    assert read_document(charted.getvalue(), ".odt", "x").lost == ("1 formula or chart that could not be read",)


def test_words_own_marks_go_and_what_it_shows_before_the_text_stays() -> None:
    zotero = 'ADDIN ZOTERO_ITEM CSL_CITATION {"citationItems":[{"id":1,"itemData":{"id":1,"type":"book","title":"T"}}]}'
    body = (
        '<w:p><w:pPr><w:pStyle w:val="Title"/></w:pPr>' + run("High water") + "</w:p>"
        + paragraph(run("It rises"), field(zotero, run(" (Smith, 2020)")), run(" twice"),
                    '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:footnoteReference w:id="2"/></w:r>',
                    run(" a day."))
        + paragraph(run("It falls"), '<w:hyperlink w:anchor="ref7">' + run("7", raised=True) + "</w:hyperlink>",
                    run(" by 10"), run("3", raised=True), run(" litres."))
        + "<w:tbl>" + 2 * f'<w:tr><w:tc><w:p><w:pPr><w:jc w:val="left"/></w:pPr>{run("Ems")}</w:p></w:tc></w:tr>' + "</w:tbl>"
    )  # fmt: skip
    notes = f'<w:footnotes xmlns:w="{W}"><w:footnote w:id="2">{paragraph(run("Jones, Seas, 1999."))}</w:footnote></w:footnotes>'
    styles = f'<w:styles xmlns:w="{W}"><w:style w:type="paragraph" w:styleId="Title"><w:name w:val="Title"/></w:style></w:styles>'
    made = read_document(docx(body, footnotes=notes, styles=styles), ".docx", "x")
    assert made.text.startswith("# High water\n")
    assert (
        shown(made.text)
        == "# Tides\n\nIt rises twice a day.\n\nIt falls by 10^3 litres.\n\n| Ems |\n| --- |\n| Ems |\n"
    )


ENDNOTE = field("ADDIN EN.CITE", run("1", raised=True)).replace("</w:instrText></w:r>", (
    '</w:instrText></w:r><w:r><w:fldChar w:fldCharType="begin"><w:fldData>PEVuZE5vdGU+</w:fldData></w:fldChar></w:r>'
    '<w:r><w:instrText>ADDIN EN.CITE.DATA</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
), 1)  # fmt: skip
MENDELEY = (
    '<w:sdt><w:sdtPr><w:tag w:val="MENDELEY_CITATION_v3_e30"/><w:id w:val="-1"/></w:sdtPr><w:sdtContent>%s</w:sdtContent>'
    "</w:sdt>"
)


@pytest.mark.parametrize(
    "mark",
    [
        field(r"CITATION Smi20 \l 1033", run("(Smith, 2020)")), ENDNOTE, MENDELEY % run("(Smith, 2020)"),
        MENDELEY % run("1", raised=True), f'<w:hyperlink r:id="seen">{run("1", raised=True)}</w:hyperlink>',
    ],
    ids=["Word", "EndNote", "Mendeley Cite", "its number", "web"],
)  # fmt: skip
def test_citations_go_whichever_program_put_them_into_a_docx(mark: str) -> None:
    words = paragraph(run("It rises"), mark, run(" by 10"), run("3", raised=True), run(" litres."))
    assert shown(read_document(docx(words), ".docx", "x").text) == "# Tides\n\nIt rises by 10^3 litres.\n"


def test_a_number_that_leads_to_a_table_or_chapter_is_no_mark_as_one_to_a_source_or_note_is() -> None:
    place = '<w:bookmarkStart w:id="{0}" w:name="_Ref{0}"/>{1}<w:bookmarkEnd w:id="{0}"/>'
    body = (
        paragraph(run("Table "), field(r"REF _Ref1 \h", run("3")), run(" on page "), field(r"PAGEREF _Ref1 \h", run("4")),
                  run(" says so ["), field(r"REF _Ref2 \r \h", run("5")), run("]"),
                  field(r"NOTEREF _Ref3 \f \h", run("1", raised=True)), run("."))
        + paragraph(run("Table "), place.format(1, f'<w:fldSimple w:instr=" SEQ Table ">{run("3")}</w:fldSimple>'), run(": tides."))
        + paragraph(place.format(2, run("Smith, J. (1999). Tides.")))
    )  # fmt: skip
    said = shown(read_document(docx(body), ".docx", "x").text)
    assert said == "# Tides\n\nTable 3 on page 4 says so.\n\nTable 3: tides.\n\nSmith, J. (1999). Tides.\n"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ('<p>Section <a href="#m">2</a> by <a href="#r">[3]</a></p><h2 id="m">Sea</h2><h2 id="r">References</h2>',
         "Section 2 by [^c1]\n\n## Sea\n\n## References"),
        ('<ul><li><label><input type="checkbox" checked>tides</label></li></ul>', "- ☒ tides"),
        ("<p>Sources: 1 Ebb https://e.org/a 2 Flow https://e.org/b 3 Sea https://e.org/c</p>",
         "Sources:\n1 Ebb https://e.org/a\n2 Flow https://e.org/b\n3 Sea https://e.org/c"),
        ('<p>a<sup><a href="#c1">[1]</a></sup> b</p>', "a[^c1] b"),
        ('<p>a<sup>2</sup> <q>b</q> <u>c</u> <span style="x">d</span></p>', 'a<sup>2</sup> "b" c d'),
        ('<p>a<a href="#top">see below</a><a id="x"></a></p>', "asee below"),
        ('<p>x <span class="katex"><math><mi>y</mi></math><span class="katex-html">y</span></span></p>', "x $y$"),
        ("<div><nav>Menu</nav><p>a<br>b</p></div><script>c</script><style>d</style>", "Menu\n\na\nb"),
        ("<table><tr><td>only<p>text</p></td></tr></table>", "only\n\ntext"),
        (
            "<table><tr><th colspan=2>a</th></tr><tr><td rowspan=2>b<p>c</p></td><td>d</td></tr><tr><td>e</td></tr></table>",
            "| a    |     |\n|------|-----|\n| b; c | d   |\n|      | e   |",
        ),
        (
            '<table><colgroup><col span="2"></colgroup><col><tr><th>a</th><th>b</th><th>c</th></tr><tr><td>1</td><td>2</td><td>3</td></tr></table>',
            "| a   | b   | c   |\n|-----|-----|-----|\n| 1   | 2   | 3   |",
        ),
        ("<table><tr><th>A<th>B<tbody><tr><td>1<td><table><tr><td>i<td>j</table><tr><td>3<td>4</table>c",
         "| A   | B    |\n|-----|------|\n| 1   | i; j |\n| 3   | 4    |\n\nc"),
        ("<table><tr><td><pre>1\n2</pre></td><td><pre>if x:\n  y</pre></td></tr></table>", "```\nif x:\n  y\n```"),
        ('<p><img src="wait.gif" data-src="tides.png" alt="Tides"></p>', "![Tides](figure1.png)"),
        (
            r"<p>The <b>sum $\sum_{i=1}^n x_i$</b>, \(a_1 = b*c*d\) and \[\{x_2\}\], not C:\(dir\), \{a\} or $5*6*7</p>",
            r"The **sum $\sum_{i=1}^n x_i$**, \(a_1 = b*c*d\) and \[\{x_2\}\], not C:\\(dir\\), \\{a\\} or $5\*6\*7",
        ),
        (r"<table><tr><th>a</th><th>b</th></tr><tr><td>\(|x_1|\)</td><td>$\|y^2\|$ c|d</td></tr></table>",
         r"""| a                   | b                      |
|---------------------|------------------------|
| \(\vert x_1\vert \) | $\Vert y^2\Vert $ c\|d |"""),
        (r"<p>(a) one (b)</p><ul><li>(i) two</li></ul><p>\(x\) is</p>", "(a) one (b)\n\n- (i) two\n\n" r"\(x\) is"),
        ('<p><img alt="p > 0.05" src="a.png"> <![odd mark]></p>', r"![p \> 0.05](figure1.png)"),
        ("<ol><li>a</li></ol><ol><li>b</li></ol><ul><li>c</li></ul>", "1.  a\n2.  b\n\n- c"),
        ("<dl><dt>a</dt><dd>b</dd></dl><blockquote>c</blockquote><hr>", "**a**\n\nb\n\n> c\n\n---"),
        ('<img src="a.png"><p>Figure 1: <b>b</b></p><figure><img src="c.png"><figcaption>d</figcaption></figure>',
         "![Figure 1: **b**](figure1.png)\n\n![d](figure2.png)"),
        ('<figure><img src="atlas.png" alt="x"><figcaption>x</figcaption></figure>', "![x](figure1.png)"),
        ("<p>Sources: [7] http://a.org - Tides [8] <a href='http://b.org'>Moon</a></p>", "Sources:\n[7] http://a.org - Tides\n[8] [Moon](http://b.org)"),
        ("<h2>Watch, <em>Tides</em>. http://a.org\nSea. http://b.org C. http://c.org</h2>", "Watch, *Tides*. http://a.org\nSea. http://b.org\nC. http://c.org"),
        ("<p>It is [1] (http://a.org), not [2] (http://b.org).</p><p>At http://a.org or http://b.org Or http://c.org</p>", "It is [1] (http://a.org), not [2] (http://b.org).\n\nAt http://a.org or http://b.org Or http://c.org"),
    ],
)  # fmt: skip
def test_html_becomes_what_an_agent_would_have_written(html: str, markdown: str) -> None:
    assert read_document(html.encode(), ".html", "x").text.strip() == markdown


@pytest.mark.parametrize(
    ("charset", "written", "given"),
    [
        ("gb2312", "gb2312", "utf-8"), ("utf-16", "utf-16", "cp1252"), ("Shift_JIS", "shift_jis", "utf-8"),
        ("undefined", "utf-8", "gb2312"), ("iso-8859-1", "gb2312", "gb2312"),
    ],
)  # fmt: skip
def test_a_page_is_read_in_the_encoding_that_it_or_its_owner_declares(charset: str, written: str, given: str) -> None:
    page = f'<html><head><meta charset="{charset}"></head><body><p>潮汐 3 m</p></body></html>'
    assert read_document(page.encode(written), ".html", "x", given).text == "潮汐 3 m\n"


@pytest.mark.parametrize(
    ("suffix", "original", "lost"),
    [
        (".html", b'<p>a</p><img src="a.png"><img src="b.png" alt="">', ("2 figures without words",)),
        (".html", b'<figure><img src="a.png"><figcaption>A chart</figcaption></figure>', ()),
        (".html", b'<p>a <span class="katex"><span class="katex-html">b</span></span></p><canvas></canvas><iframe src="x">',
         ("1 drawing that could not be read", "1 embedded page that could not be read", "1 formula that could not be read")),
        (".html", b"<p>T<b>id</b>es <img class='MathJax' src='a.png' alt='x'></p><script>so</script>"
         b"<svg><text>Springs and neaps</text></svg>",
         ("1 figure without words", "3 words that could not be read, beginning “Springs and neaps”")),
        (".docx", docx(paragraph("<w:r><w:drawing><c:chart r:id='x'/></w:drawing></w:r>", run("a"))),
         ("1 chart that could not be read",)),
    ],
)  # fmt: skip
def test_what_a_conversion_lost_is_counted(suffix: str, original: bytes, lost: tuple[str, ...]) -> None:
    assert read_document(original, suffix, "x").lost == lost


def test_a_picture_linked_outside_and_the_words_of_an_open_documents_picture_are_told() -> None:
    made = read_document(docx(paragraph(run("It rises."), LINKED)), ".docx", "x")
    assert (made.text, made.lost) == ("It rises.![High water](figure1.png)\n", ())
    kept = placed(made.text, reader(b"", "a.docx", made.images, None), "a key", show=True)
    assert kept.lost == ("1 figure on the web, where nothing is fetched from",)
    frame = '<draw:frame><draw:image xlink:href="Pictures/a.png"/>{}</draw:frame>'
    for said, words in [
        ("title>Ebb</svg:title", "Ebb"),
        ("title>Ebb</svg:title><svg:desc>Low &amp; dry</svg:desc", "Low & dry"),
    ]:
        odt = changed(".odt", "content.xml", "Tides rise", "Tides " + frame.format(f"<svg:{said}>"))
        assert f"Tides ![{words}](figure1.png)" in read_document(odt, ".odt", "x").text
    inside = "data:image/png;base64," + "A" * (9 << 20)  # pandoc alone would need over 500 MB
    assert read_document(f'<p>a</p><img alt="b" src="{inside}">'.encode(), ".html", "x").images == (inside,)


def shape(drawn: str, asks: str = "wps", instead: str = "") -> str:
    """A drawing of Word's, with what older programs show instead."""
    graphic = f"<a:graphic><a:graphicData>{drawn}</a:graphicData></a:graphic>"
    inline = f'<w:drawing><wp:inline><wp:docPr id="1" name="P" descr="Two tides"/>{graphic}</wp:inline></w:drawing>'
    choice = f'<mc:Choice Requires="{asks}">{inline}</mc:Choice><mc:Fallback>{instead}</mc:Fallback>'
    return f'<w:r><mc:AlternateContent xmlns:mc="urn:m">{choice}</mc:AlternateContent></w:r>'


def test_no_words_of_words_are_lost_with_what_is_around_them_and_the_rest_is_told() -> None:
    box = f"<w:txbxContent>{paragraph(run('Box.'))}</w:txbxContent>"
    simple = '<w:fldSimple w:instr=" {} ">{}</w:fldSimple>'.format
    ruby = f"<w:r><w:ruby><w:rubyPr/><w:rt>{run('umi')}</w:rt><w:rubyBase>{run('海')}</w:rubyBase></w:ruby></w:r>"
    seen = '<pic:pic><pic:blipFill><a:blip r:link="seen"/></pic:blipFill></pic:pic>'
    listed = field("ADDIN ZOTERO_BIBL {} CSL_BIBLIOGRAPHY", run("Smith."))
    body = (
        paragraph(run("Own "), shape(f"<wps:txbx>{box}</wps:txbx>", instead=f"<w:pict>{box}</w:pict>"), run("words."))
        + paragraph(run("It "), simple("DOCVARIABLE x", run("rises")), run(" "), ruby, run(", "),
                    f'<w:dir w:val="rtl">{run("falls")}</w:dir>', f"<w:customXml>{run(' and')}</w:customXml>", run(" ebbs."))
        + paragraph(shape(f"<wpg:wgp>{seen}{seen}</wpg:wgp>", "wpg"))
        + paragraph(shape("", "cx1", "<w:t>A chart.</w:t>")) + paragraph(listed)
    )  # fmt: skip
    made = read_document(docx(body), ".docx", "x")
    pictures = "![Two tides](figure1.png)![Two tides](figure2.png)"
    assert made.text == f"Own words.\n\nBox.\n\nIt rises 海(umi), falls and ebbs.\n\n{pictures}\n\nA chart.\n\nSmith.\n"
    assert made.lost == ()
    body = paragraph(
        run("Ebb "), f"<w:unheard>{run('or &lt;b&gt; flow')}</w:unheard>", run(" and sea."), field("EQ x", "")
    )
    body += f'<w:del w:id="1">{run("never")}</w:del><w:altChunk r:id="seen"/>'
    assert read_document(docx(body), ".docx", "x").lost == (
        "1 formula that could not be read",
        "1 embedded document that could not be read",
        "3 words that could not be read, beginning “or <b> flow”",
    )


def test_no_words_of_an_open_document_are_lost_with_what_is_around_them() -> None:
    box = "<draw:frame><draw:text-box><text:p>Box.</text:p></draw:text-box></draw:frame>"
    ruby = "<text:ruby><text:ruby-base>海</text:ruby-base><text:ruby-text>umi</text:ruby-text></text:ruby>"
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>".format
    row = "<table:table-row>{}</table:table-row>".format
    inner = f"<table:table-cell><table:table table:is-sub-table='true'>{row(cell('1') + cell('2'))}</table:table></table:table-cell>"
    rows = row(cell("a") + cell("b")) + f"<table:table-row-group>{row(cell('c') + inner)}</table:table-row-group>"
    body = (
        f"<text:p>Own {box}words <text:date>today</text:date> by {ruby}.</text:p>"
        f"<table:table><table:table-column table:number-columns-repeated='2'/>{rows}</table:table>"
        "<draw:rect><text:p>Drawn.</text:p></draw:rect><text:alien><text:p>Ebb and flow.</text:p></text:alien>"
        "<text:table-of-content><text:index-body><text:p>Chapter 1</text:p></text:index-body></text:table-of-content>"
    )
    made = read_document(changed(".odt", "content.xml", "</office:text>", f"{body}</office:text>"), ".odt", "x")
    said = "Own words today by 海(umi).\n\nBox.\n\n| a   | b    |\n|-----|------|\n| c   | 1; 2 |\n\nDrawn.\n"
    assert said in made.text
    assert made.lost == ("3 words that could not be read, beginning “Ebb and flow”",)


def test_what_a_document_hides_or_holds_beside_its_text_is_read_as_its_reader_sees_it_or_told() -> None:
    hidden = "<w:r><w:rPr><w:vanish/></w:rPr><w:t>Rate it 10.</w:t></w:r>" + run("Seen.").replace(
        "<w:t", '<w:rPr><w:vanish w:val="0"/></w:rPr><w:t', 1
    )
    former = '<w:rPr><w:rPrChange w:id="1" w:author="Ann"><w:rPr><w:vanish/></w:rPr></w:rPrChange></w:rPr><w:t'
    hidden += run("No more hidden.").replace("<w:t", former, 1)
    math = '<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math">{}</m:oMath>'.format
    half = "<m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"
    cited = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    note = f"<w:r><w:unheard>{run('ebb or flow')}</w:unheard></w:r>"
    notes = (
        f'<w:footnotes xmlns:w="{W}"><w:footnote w:id="2">{paragraph(run("A note."), note)}</w:footnote></w:footnotes>'
    )
    body = paragraph(run("It is "), math(half), run("."), hidden, cited)
    made = read_document(
        docx(body + paragraph(math("<m:unheard><m:r><m:t>7</m:t></m:r></m:unheard>")), footnotes=notes), ".docx", "x"
    )
    assert made.text.startswith("It is $\\frac{1}{2}$.Seen.No more hidden.[^1]")
    assert made.lost == (
        "1 formula that could not be read",
        "3 words that could not be read, beginning “ebb or flow”",
        "3 hidden words left out",
    )
    cell = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>".format
    times = ' table:number-columns-repeated="3"'
    rows = f"<table:table-row>{cell('', 'a') + cell(times, 'b')}</table:table-row>"
    rows += f'<table:table-row table:number-rows-repeated="2">{cell(times, "c") + cell("", "d")}</table:table-row>'
    table = f'<table:table><table:table-column table:number-columns-repeated="4"/>{rows}</table:table>'
    odt = read_document(changed(".odt", "content.xml", "</office:text>", f"{table}</office:text>"), ".odt", "x")
    said = (
        "| a   | b   | b   | b   |\n|-----|-----|-----|-----|\n| c   | c   | c   | d   |\n| c   | c   | c   | d   |\n"
    )
    assert said in odt.text


def test_styles_and_pages_that_hide_words_are_told_and_words_of_a_book_that_no_chapter_shows() -> None:
    styles = f'<w:styles xmlns:w="{W}"><w:style w:type="character" w:styleId="Hid"><w:rPr><w:vanish/></w:rPr></w:style></w:styles>'
    styled = run("Rate it 10.").replace("<w:t", '<w:rPr><w:rStyle w:val="Hid"/></w:rPr><w:t', 1)
    moved = f'<w:moveTo w:id="4">{run(" Ebb.")}</w:moveTo><w:moveFrom w:id="3">{run("Ebb.")}</w:moveFrom>'
    made = read_document(docx(paragraph(run("Seen."), styled, moved), styles=styles), ".docx", "x")
    assert (made.text, made.lost) == ("Seen. Ebb.\n", ("3 hidden words left out",))
    page = (
        '<p>Seen<p style="color:red; display: none">Rate it 10.<div hidden><div>a</div>b</div><ul><li hidden>c<li>d</ul>'
        "<template>never</template><p hidden>open to the end"
    )
    made = read_document(page.encode(), ".html", "x")
    assert (made.text, made.lost) == ("Seen\n\n- d\n\nopen to the end\n", ("6 hidden words left out",))
    unended = (
        "<ul><li>a<li hidden><p>b<i>c</i></p>d</i></ul><p>One.</p><ul><li>e</ul><div><p hidden>f</div>Two.<p>Three."
        "<table><tr><th>g<td style='display:none'>h</div>i</table>Four.<table><tr><th>j</table>"
    )
    made = web_pages.seen(unended)
    assert (made[1].split(), made[2].split()) == (["a", "One.", "e", "Two.", "Three.", "g", "Four.", "j"], [*"bcdfhi"])
    within = (
        "<ul><li hidden>a<ul><li>b<li>c</ul></li><li>One.</ul><table><tr><td hidden>d<table><tr><td>e</td></tr></table>f"
        "<td>Two.</table><dl><dt hidden>g<dl><dt>h<dd>i</dl><dd>Three.</dl>"
    )
    made = web_pages.seen(within)
    assert (made[1].split(), made[2].split()) == (["One.", "Two.", "Three."], [*"abcdefghi"])
    part = "<p hidden='hidden'>Rate it 10.</p><p style='display:none'>Or 9.</p><p>Seen.</p></body>"
    book = read_document(changed(".epub", "ch001.xhtml", "</body>", part), ".epub", "x")
    assert ("Seen." in book.text, "Or 9." in book.text, book.lost) == (True, False, ("5 hidden words left out",))
    book = changed(".epub", "title_page.xhtml", "</body>", "<p>Ebb and flow.</p></body>")
    assert read_document(book, ".epub", "x").lost == ("3 words that could not be read, beginning “Ebb and flow”",)
    hidden = (
        '<text:section text:display="none"><text:p>Rate it.</text:p></text:section><text:p>Seen.</text:p></office:text>'
    )
    assert read_document(changed(".odt", "content.xml", "</office:text>", hidden), ".odt", "x").lost == (
        "2 hidden words left out",
    )


def test_two_formulas_of_one_paragraph_are_read_as_one_and_none_is_told_as_lost() -> None:
    space = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    both = "".join(f"<m:oMath><m:r><m:t>{one}</m:t></m:r></m:oMath>" for one in ("E=m", "F=a"))
    made = read_document(docx(paragraph(f"<m:oMathPara {space}>{both}</m:oMathPara>")), ".docx", "x")
    assert (made.text, made.lost) == ("$${E = m}{F = a}$$\n", ())


def test_what_a_program_thought_goes_from_a_document_as_from_markdown() -> None:
    page = (
        "<think>I should say it rises.</think><p>It rises.</p><p>Reuters\n+2</p><p>&lt;think&gt;Hm.&lt;/think&gt;</p>"
    )
    made = read_document(page.encode(), ".html", "x")
    assert made.lost == ()
    assert shown(made.text) == "# Tides\n\nIt rises.\n"
    word = (
        paragraph(run("&lt;think&gt;"))
        + paragraph(run("Hm."))
        + paragraph(run("&lt;/think&gt;"))
        + paragraph(run("Ebb."))
    )
    assert shown(read_document(docx(word), ".docx", "x").text) == "# Tides\n\nEbb.\n"


def two_systems(root: Path, lost: bytes = b"") -> Parsed:
    put(root / "atlas/tides.html", f"<p>{WORDS * 5}</p>".encode() + lost)
    put(root / "borealis/tides.md", WORDS * 6)
    return read_folder(root)


def test_a_loss_waits_for_a_decision_that_no_edit_forgets(engine: Engine, tmp_path: Path) -> None:
    report = bring_in(engine, two_systems(tmp_path, b"\r\n<img src='http://127.0.0.1:9/chart.png'>"))
    assert any(
        "converted to Markdown by html by pandoc" in line and "1 lost something" in line for line in report.lines()
    )
    assert (report.crlf, report.bom) == (0, 0), "a document has no line ends of its own"
    with transaction(engine) as session:
        admin = local_admin(session.scalars(select(Study)).one())
        row = session.scalars(select(Report).where(Report.open_flags > 0)).one()
        assert [(f["kind"], f["text"]) for f in row.flags] == [("lost", "1 figure without words")]
        edit_text(session, admin, row.id, "Written by hand. " * 20, "typed the chart's words")
        assert row.open_flags == 1
        with pytest.raises(AnnotationError, match="no name"):
            resolve_flag(session, admin, row.id, 0, "mask")
        assert resolve_all(session, admin, "keep", kind="lost") == 1
        assert row.open_flags == 0


@pytest.mark.parametrize(
    ("suffix", "original", "said"),
    [
        (".docx", b"", "no .docx file, or cut off"),
        (".docx", written(".docx")[:3000], "no .docx file, or cut off"),
        (".docx", b"\xd0\xcf\x11\xe0" + bytes(600), "locked by a password"),
        (".docx", docx("<w:p>"), "cannot be read"),
        (".docx", bad_lzma(), "no .docx file, or cut off"),
        (".odt", written(".odt")[:-20], "no .odt file, or cut off"),
        (".odt", changed(".odt", "manifest.xml", "<manifest:file", "<manifest:encryption-data/><manifest:file"), "locked"),
        (".odt", changed(".odt", "content.xml", "</office:text>", '<text:p><text:s text:c="999999999"/></text:p>'), "be read"),
        (".epub", changed(".epub", ".opf", 'href="text/', 'href="../../../../../etc/'), "cannot be read"),
        (".epub", docx(""), "cannot be read"),
        (".html", b"<p>\x92</p>", "byte 0x92 at 3 is not UTF-8"),
        (".html", b"<blockquote>" * 9_000, "within each other"),
        (".docx", docx(run("a" * (41 << 20))), "unpacks to over"),
    ],
    ids=["empty", "cut off", "locked", "damaged", "lzma", "cut odt", "locked odt", "broken odt", "path",
         "another format", "codec", "deep", "bomb"],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_told_in_one_sentence(suffix: str, original: bytes, said: str) -> None:
    with pytest.raises(ImportingError, match=f"^atlas/tides{suffix}.*{said}") as refused:
        read_document(original, suffix, f"atlas/tides{suffix}")
    assert "\n" not in str(refused.value)


def lying(size: int) -> bytes:
    """A part of 100 MB that says it has `size` bytes, in both places where it says so."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed, packed.open("word/document.xml", "w") as part:
        for _ in range(100):
            part.write(b" " * (1 << 20))
    return out.getvalue().replace((100 << 20).to_bytes(4, "little"), size.to_bytes(4, "little"))


def test_a_file_that_lies_about_its_size_or_never_closes_what_it_opens_takes_no_memory_and_no_time() -> None:
    original = lying(1000)
    tracemalloc.start()
    with pytest.raises(ImportingError, match="cut off"):
        read_document(original, ".docx", "x")
    assert tracemalloc.get_traced_memory()[1] < 20 << 20
    tracemalloc.stop()
    boxes = "<w:p><w:txbxContent>" * 900 + run("a" * 200_000) + "</w:txbxContent></w:p>" * 900
    for body, said in [('<w:fldSimple w:instr=" REF x ">' * 50_000, "mismatched tag"), (boxes, "over 160 MB")]:
        with pytest.raises(ImportingError, match=said):
            read_document(docx(body), ".docx", "x")


def test_a_page_that_never_closes_what_it_opens_takes_no_time() -> None:
    begun = time.process_time()
    for opened in ("<!--", "<td '", "<script>", "<table><tr><td>", '<p hidden a="', "<head"):
        web_pages.heard(opened * 20_000)
        web_pages.text_of_book(opened * 20_000)
    assert time.process_time() - begun < 3
    page = "<table><!-- <td> --><tr><td>a<script>x = '<tr><td>'</script><td>b</table>"
    assert "<td>a<script>x = '<tr><td>'</script></td><td>b</td></tr></table>" in web_pages.heard(page)[0].decode()


def test_joined_cells_are_counted_before_they_are_made() -> None:
    none = ["", [], []]
    joined, plain = [[none, [[none, {}, size, size, []]] * count] for size, count in ((200, 30), (1, 1))]
    table = [none, [None, []], [], [none, []], [[none, 0, [], [joined, *[plain] * 200]]], [none, []]]
    tracemalloc.start()
    with pytest.raises(joined_cells.TooLarge):
        [*document_tree.PlainTree(word=False).table(table)]
    assert tracemalloc.get_traced_memory()[1] < 50 << 20
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("name", "value", "html"), [("MEMORY_MB", 1, b"<p>a</p>" * 9_000), ("PATIENCE_S", 0.01, b"<p>a</p>" * 90_000)]
)
def test_neither_memory_nor_time_runs_away(name: str, value: float, html: bytes, monkeypatch) -> None:
    monkeypatch.setattr(reading, name, value)
    with pytest.raises(ImportingError, match=f"over 1 MB|not read within {value} s"):
        read_document(html, ".html", "x")


def test_nothing_that_a_document_names_is_fetched() -> None:
    asked: list[str] = []

    class Counting(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

    with HTTPServer(("127.0.0.1", 0), Counting) as server:
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        at = f"http://127.0.0.1:{server.server_port}"
        html = f'<base href="{at}"><link rel=stylesheet href=/c><iframe src="{at}/i"></iframe><img src="{at}/x">ab'
        made = read_document(
            f'{html}<iframe src="/etc/passwd"></iframe><script src="/s"></script>'.encode(), ".html", "x"
        )
        drawn = '<w:r><w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml"><v:imagedata r:id="seen"/></v:shape></w:pict></w:r>'
        word = read_document(docx(paragraph(run("ab"), drawn), f"{at}/t"), ".docx", "x")
        seen = f'<img src="{at}/x"/><iframe src="{at}/i"></iframe><img src="../../../../etc/passwd"/></body>'
        book = read_document(changed(".epub", ".xhtml", "</body>", seen), ".epub", "x")
        linked = f'<text:section-source xlink:href="{at}/x.odt"/></office:text>'
        defined = f'?><!DOCTYPE x [<!ENTITY % a SYSTEM "{at}/a.dtd">%a;]>'
        assert "Tides" in read_document(changed(".odt", "content.xml", "?>", defined), ".odt", "x").text
        letter = read_document(changed(".odt", "content.xml", "</office:text>", linked), ".odt", "x")
        with pytest.raises(OSError, match="Not Found"):
            urlopen(f"{at}/counted", timeout=5)
        server.shutdown()
    assert "ab" in made.text
    assert "root:" not in made.text + book.text + letter.text
    assert book.lost == ("2 figures without words",)
    assert word.text == "ab\n"
    assert asked == ["/counted"]


def named(read: Callable[[Path], Parsed], root: Path) -> dict[str, str]:
    return {one.path: one.encoding for one in read(root).reports}


def test_every_layout_of_markdown_takes_documents(tmp_path: Path) -> None:
    tree = write_wlc(tmp_path / "wlc")
    one = next((tree / "test_data").rglob("*.md"))
    put(one.with_suffix(".html"), "<p>text</p>")
    assert {*named(read_wlc, tree).values()} == {"utf-8"}, "a document beside the same report as text"
    one.unlink()
    found = named(read_wlc, tree)
    assert found[one.with_suffix(".html").relative_to(tree).as_posix()].startswith("html by pandoc")
    tasks = task_tree(tmp_path / "dr3")
    task = next(tasks.rglob("final_report.md"))
    put(task.with_suffix(".html"), "<p>text</p>")
    assert {*named(read_dr3_eval, tasks).values()} == {"utf-8"}, "a document beside the same report as text"
    for other in tasks.rglob("final_report.md"):
        put(other.with_suffix(".html"), "<p>text</p>")
        other.unlink()
    assert propose(tasks)[0] == "dr3_eval"
    assert all(one.startswith("html by") for one in named(read_dr3_eval, tasks).values())


def test_a_document_beside_the_same_report_as_text_is_another_copy(tmp_path: Path) -> None:
    two_systems(tmp_path)
    put(tmp_path / "borealis/tides.docx", b"never read")
    put(tmp_path / "borealis/~$other.docx", b"open in Word")
    parsed = read_folder(tmp_path)
    assert (parsed.problems, parsed.ignored, len(parsed.reports)) == ((), 2, 2)
    (tmp_path / "borealis/tides.md").unlink()
    assert propose(tmp_path)[0] == "folder"
    assert read_folder(tmp_path).problems[0].startswith("borealis/tides.docx: no .docx file")


def test_without_the_extra_the_command_that_installs_it_is_named(monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pypandoc", None)
    with pytest.raises(ImportingError, match="calipers\\[documents\\]"):
        read_document(b"<p>a</p>", ".html", "x")
