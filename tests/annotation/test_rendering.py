"""What reaches a reader's page is text: no link, no image, no script, and dollars stay dollars."""

from __future__ import annotations

import pytest

from annotation import rendering
from annotation.rendering import render_report


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
        (r"$a_{1}*b\,c*d$ is \(x\,<\,y\), $CO_2$", r"<p>$a_{1}*b\,c*d$ is \(x\,&lt;\,y\), $CO_2$</p>"),
        ("$$\na * b \\\\\nc * d\n$$", "<p>$$\na * b \\\\\nc * d\n$$</p>"),
        (
            r"**$x_1$** and `$y_1*` [$z_1*$](https://x.org)",
            "<p><strong>$x_1$</strong> and <code>$y_1*</code> $z_1*$</p>",
        ),
        (r"\(World\_War\_I\) cost \$5 and *\$7*", "<p>(World_War_I) cost $5 and <em>$7</em></p>"),
        ("| a | b |\n|:-|-:|\n| 1 | 2 |", None),
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
