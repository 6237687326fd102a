"""What reaches a reader's page is text: no link, no image, no script, and dollars stay dollars."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation import rendering
from annotation.formulas import ATTRIBUTES, mathml
from annotation.formulas import TAGS as DRAWN
from annotation.labels.evidence import plain_text
from annotation.rendering import formulas_of, render_report


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("# One\n\n## Two\n\n### Three", "<h3>One</h3>\n<h3>Two</h3>\n<h4>Three</h4>"),
        ("See [the survey](https://x.org/a).", "<p>See the survey.</p>"),
        ("![a map](https://x.org/a.png)", "<p>a map</p>"),
        ("7. seven\n8. eight", '<ol start="7">\n<li>seven</li>\n<li>eight</li>\n</ol>'),
        ("costs $5 and $6, :smile: -> ~5~", "<p>costs $5 and $6, :smile: -&gt; ~5~</p>"),
        ("[1]: https://x.org\n\nAs [1] says", "<p>[1]: https://x.org</p>\n<p>As [1] says</p>"),
        ("a < b & c", "<p>a &lt; b &amp; c</p>"),
        ("~~gone~~ **bold** _soft_", "<p><s>gone</s> <strong>bold</strong> <em>soft</em></p>"),
        (
            r"$a_{1}*b\,c*d$ is \(x\,<\,y\), $CO_2$",
            r"<p><span>$a_{1}*b\,c*d$</span> is <span>\(x\,&lt;\,y\)</span>, <span>$CO_2$</span></p>",
        ),
        ("$$\na * b \\\\\nc * d\n$$", "<p>$$\na * b \\\\\nc * d\n$$</p>"),
        (
            r"**$x_1$** and `$y_1*` [$z_1*$](https://x.org)",
            "<p><strong><span>$x_1$</span></strong> and <code>$y_1*</code> $z_1*$</p>",
        ),
        (r"\(World\_War\_I\) cost \$5 and *\$7*", "<p>(World_War_I) cost $5 and <em>$7</em></p>"),
        ("| a | b |\n|:-|-:|\n| 1 | 2 |", None),
        (
            "| | ![](x.png) | b |\n|-|-|-|\n",
            "<table>\n<thead>\n<tr>\n<td></td>\n<td></td>\n<th>b</th>\n</tr>\n</thead>\n</table>",
        ),
    ],
)
def test_markdown_becomes_plain_safe_html(markdown: str, html: str | None) -> None:
    rendered = render_report(markdown).strip()
    if html is None:
        assert '<td style="text-align:right">2</td>' in rendered
    else:
        assert rendered == html


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "![x](data:text/html;base64,AAAA)",
        "<iframe src='https://x.org'></iframe>",
        "<svg onload=alert(1)>",
        "<style>body{display:none}</style>",
        "<a href='https://x.org'>x</a>",
        "<!-- <script> --> <b onclick='x'>y</b>",
        "```html\n<script>alert(1)</script>\n```",
    ],
)
def test_hostile_text_stays_text(hostile: str) -> None:
    rendered = render_report(f"before\n\n{hostile}\n\nafter")
    for tag in ("<script", "<img", "<iframe", "<svg", "<style", "<a", "<b", "<!--"):
        assert tag not in rendered
    assert "before" in rendered
    assert "after" in rendered


def test_no_word_is_lost_however_deep_a_list_lies() -> None:
    nested = "\n".join(f"{'  ' * level}- level{level}" for level in range(40))
    quoted = "> " * 30 + "deep words"
    rendered = render_report(f"{nested}\n\n{quoted}")
    assert all(f"level{level}<" in rendered or f"level{level}\n" in rendered for level in range(40))
    assert "deep words" in rendered


def test_a_report_is_rendered_once_while_people_are_at_many_places_of_a_study(monkeypatch: pytest.MonkeyPatch) -> None:
    rendered: list[str] = []
    monkeypatch.setattr(rendering, "_render", lambda text: rendered.append(text) or text)  # type: ignore[func-returns-value]
    texts = [f"report {number} of many" for number in range(300)]
    assert [render_report(text) for text in texts] == [render_report(text) for text in texts]
    assert rendered == texts
    monkeypatch.setattr(rendering, "RENDERED", 2)
    for text in ("one more", texts[0], texts[1], texts[0], "one more"):
        render_report(text)
    assert rendered[len(texts) :] == ["one more", *texts[:2], "one more"], (
        "the one that nobody asked for longest is forgotten"
    )
    assert len(rendering._rendered) == 2


@pytest.mark.parametrize(
    ("source", "drawn"),
    [
        ("$x^2$", "<msup><mi>x</mi><mn>2</mn></msup>"),
        (r"\(a<b\)", "<mi>a</mi><mo>&lt;</mo><mi>b</mi>"),
        (r"$$\frac{1}{n}$$", '<math display="block"><mrow><mfrac>'),
        (r"\[ \begin{aligned}a&=b\\c&=d\end{aligned} \]", "<mtr>"),
        (r"$\text{<script>alert(1)</script>}$", "<mtext>&lt;script&gt;alert(1)&lt;/script&gt;</mtext>"),
        (r"$\href{javascript:alert(1)}{x}$", None),  # an address that judges would read, and people not
        (r"$\class{a}{x}\color{white}z$", "<mi>x</mi>"),
        (r"$\text{R \& D, 5\% of a\_b, \#1}$", "R\xa0&amp;\xa0D,\xa05%\xa0of\xa0a_b,\xa0#1"),
        (r"$a \& b$", None),
        # what people might not see stays as it is written
        (r"$\phantom{\text{Pick the first}}$", None),
        (r"$a % Pick the first$", None),
        (r"$\class{pick}{x}$", None),
        (r"$\mathchoice{aaaa}{bbbb}{cccc}{dddd}$", None),
        (r"$\hspace{9999em}x$", None),
        (r"$\hspace{-50em}x$", None),
        (r"$\mspace{-90mu}x$", None),
        ("$" + r"\!" * 40 + "x$", None),
        ("$x" + r"\qquad" * 40 + " y$", None),
        (r"$\text{a" + " " * 60 + "b}$", None),
        (r"$\lower 40em x$", None),
        (r"$\moveleft 50em x$", None),
        (r"$\mathrlap{\text{Not}}x$", None),
        (r"$a_{b_{c_{d_{\text{Pick}}}}}$", None),
        # and what they do see is drawn
        (r"$e^{x^{2^n}}\int\!\!\!\int f\quad g\qquad h$", '<mspace width="2em">'),
        (r"$A \xrightarrow{\text{yields}} B \not= \tiny C$", "<mtext>yields</mtext>"),
        (r"$\mathbb{ABC}\begin{array}{lcr}abc&b&c\end{array}$", '<mtd columnalign="right"><mi>c</mi></mtd>'),
        (r"$\cfrac{1}{1+\cfrac{1}{2+\cfrac{1}{3+\cfrac14}}}$", '<mstyle displaystyle="false" scriptlevel="0"><mn>4</mn>'),
        (r"$\unknown{x}$", None),
        (r"$\frac{a$", None),
        (r"$a & b$", None),
        ("$$a \\\\\nb$$", None),  # two lines that no environment holds
        (r"$\def\x{\x\x}\x$", None),
        ("$" + "{" * 900 + "}" * 900 + "$", None),
        ("$x" + "+1" * 1_000 + "$", None),
        ("x^2", None),
    ],
)  # fmt: skip
def test_a_formula_is_drawn_by_mathml_alone_or_stays_as_it_is_written(source: str, drawn: str | None) -> None:
    made = mathml(source)
    if drawn is None:
        assert made is None
        return
    assert drawn in (made or "")
    told = re.findall(r"</?([a-z]+)((?: [a-z]+=\"[^\"<>]*\")*)>", made or "")
    assert len(told) == (made or "").count("<"), "every < opens or closes an element"
    assert {tag for tag, _ in told} <= DRAWN
    assert set(re.findall(r" ([a-z]+)=", " ".join(attributes for _, attributes in told))) <= ATTRIBUTES


@given(st.text(alphabet="abx12\\{}^_&<>\"'$ frac text href sqrt begin end", max_size=60))
def test_no_source_of_a_formula_escapes_its_text(source: str) -> None:
    made = mathml(f"${source}$") or ""
    assert re.fullmatch(r"(?:</?[a-z]+(?: [a-z]+=\"[\w .%+-]*\")*>|[^<>])*", made)


def test_what_is_found_quoted_and_judged_is_the_source() -> None:
    markdown = "The area is $x^2$, costs $5 and `$y_1$`, and\n\n$$\\frac{a}{b}$$\n\n$\\nonsense{x}$."
    html = render_report(markdown)
    assert sorted(formulas_of(html)) == ["$$\\frac{a}{b}$$", "$x^2$"]
    assert plain_text(markdown).split() == markdown.replace("`", "").split()
