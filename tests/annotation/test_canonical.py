"""One layout for every report: each change of the list by itself, the laws that hold for any text, the real reports."""

from __future__ import annotations

import hashlib
import html
import re
import time
from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.blinding import CANONICAL_VERSION, canonical_format
from annotation.canonical.form import Layout
from annotation.citations import strip_citations
from annotation.rendering import render_report

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT.parent / "shared" / "data" / "wlc_sample"


def formatted(markdown: str, title: str | None = None) -> str:
    return canonical_format(markdown, title).text.removesuffix("\n")


LAYOUT = {  # the numbers are those of the list in the specification of canonical format
    "1 line ends": ("Ships left.\r\n\r\nFog came.\r", "Ships left.\n\nFog came."),
    "1 byte order mark and zero width": ("\ufeffShips\u200b left\u2060.", "Ships left."),
    "1 special blanks": ("190\u202fmph, 4:00\u00a0p.m.", "190 mph, 4:00 p.m."),
    "1 ideographic indent": ("\u3000\u3000港口很深。\n\n\u3000船来了。", "港口很深。\n\n船来了。"),
    "1 ideographic blank inside": ("港口\u3000很深。", "港口\u3000很深。"),
    "1 trailing blanks and breaks": ("Ships left.  \nFog came.\\\nRain fell.", "Ships left.\n\nFog came.\n\nRain fell."),
    "1 runs of blanks": ("Ships   left.\tFog.", "Ships left. Fog."),
    "1 empty lines": ("\n\nShips left.\n\n\n\nFog came.\n\n", "Ships left.\n\nFog came."),
    "2 entities": ("a&nbsp;b&#x20;c &amp; d &eacute;", "a b c & d é"),
    "2 kept entities": ("&lt;b&gt; &amp;lt; &#60;", "&lt;b&gt; &amp;lt; &lt;"),
    "2 an entity that would be syntax": ("&#42;note&#42; &#35;1", "\\*note\\* #1"),
    "2 needless escapes": (r"R\&B\. Top \#1, \~17, a\_b \(so\) well\-known \$4 wow\!", "R&B. Top #1, ~17, a_b (so) well-known $4 wow!"),
    "2 needed escapes": ("\\- a\n\n1\\. b\n\n\\*c\\*\n\n\\# d", "\\- a\n\n1\\. b\n\n\\*c\\*\n\n\\# d"),
    "3 setext": ("Tides\n=====\n\nA\n\nMoon\n----\n\nB", "# Tides\n\nA\n\n## Moon\n\nB"),
    "3 a bold line": ("**Moon**\n\nIt pulls.", "## Moon\n\nIt pulls."),
    "3 a bold sentence is no heading": ("**The moon pulls.**\n\nSo it does.", "**The moon pulls.**\n\nSo it does."),
    "3 trailing signs and emphasis": ("## **The** *moon* ##\n\nA", "## The moon\n\nA"),
    "3 no blank behind the sign": ("##Moon\n\nA #tag", "## Moon\n\nA #tag"),
    "3 numbers": ("## 1. A\n\n### 1.1 B\n\n## 2\\. C\n\n### 2.1 D", "## A\n\n### B\n\n## C\n\n### D"),
    "3 roman and Chinese numbers": ("## I. A\n\n## II. B\n\n## 一、港\n\n## 二、船", "## A\n\n## B\n\n## 港\n\n## 船"),
    "3 years are no numbers": ("## 1982 season\n\n## 1983 season\n\n## 19 crews", "## 1982 season\n\n## 1983 season\n\n## 19 crews"),
    "3 a bold line counts along": ("## 1. A\n\n**2. B**\n\n### 2.1 C", "## A\n\n## B\n\n### C"),
    "3 levels": ("x\n\n# A\n\n#### B\n\n###### C\n\n# D", "x\n\n## A\n\n### B\n\n#### C\n\n## D"),
    "4 bullets": ("* a\n\n+ b\n• c\n– d", "- a\n- b\n- c\n- d"),
    "4 numbers": ("3) a\n4) b\n9) c", "3. a\n4. b\n5. c"),
    "4 nesting": ("*   a\n    *   b\n        1) c\n*   d", "- a\n  - b\n    1. c\n- d"),
    "4 under a number three": ("1. a\n   - b\n\n     more\n2. c", "1. a\n   - b\n\n     more\n2. c"),
    "4 a line is a paragraph": ("# T\nShips left.\nFog came.\n## A\nRain fell.", "# T\n\nShips left.\n\nFog came.\n\n## A\n\nRain fell."),
    "4 a typewriter's lines": (
        "The quay had silted up over forty long winters, and so\nthe ships left for another harbour in the spring of that\nyear.\n\nFog came.",
        "The quay had silted up over forty long winters, and so the ships left for another harbour in the spring of that year.\n\nFog came.",
    ),
    "5 signs": ("__a__ *b* ***c*** _d_", "**a** _b_ _**c**_ _d_"),
    "5 inside a word": ("un*friendly*ness and snake_case", "un*friendly*ness and snake_case"),
    "5 a bullet's head": ("- **Depth:** nine metres\n- __Width__: two", "- **Depth:** nine metres\n- **Width**: two"),
    "5 a bold paragraph": ("**" + "The tide is long. " * 7 + "It ends.**", "The tide is long. " * 7 + "It ends."),
    "5 without a partner": ("Ships **left. It''s _late", "Ships left. It's late"),
    "5 wikitext": ("'''Ships''' ''left''", "Ships left"),
    "5 what is no mark": ("5 * 3, 2**3, Sgr A*, 0.4**", "5 * 3, 2**3, Sgr A*, 0.4**"),
    "5 escaped by an exporter": ("\\*\\*Note:\\*\\* ships left", "**Note:** ships left"),
    "6 quotes": ("“Ships” ‘left’ the harbour’s quay", "\"Ships\" 'left' the harbour's quay"),
    "6 dashes": ("a — b—c -- d--e and--f, non\u2011fatal", "a – b—c – d – e and – f, non-fatal"),
    "6 what is no dash": ("run --help, a ---- b, 1–2", "run --help, a ---- b, 1–2"),
    "6 dots": ("and so…", "and so..."),
    "6 gaps": ("Ships left . Fog , rain ; really ? .5 and .NET", "Ships left. Fog, rain; really? .5 and .NET"),
    "6 CJK is left alone": ("“潮汐”——很大……是的，真的！", "“潮汐”——很大……是的，真的！"),
    "7 one layout": ("a|b\n:--|--:\n1|2|3\n|||\n4", "| a | b | |\n| --- | ---: | --- |\n| 1 | 2 | 3 |\n\n4"),
    "7 empty columns": ("| a |  | b |\n|---|---|---|\n| 1 |  | 2 |", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
    "7 rows without a delimiter": ("| a | b |\n| 1 | 2 |", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
    "7 bold headers": ("| **a** | b |\n|---|---|\n| **1** | 2 |", "| a | b |\n| --- | --- |\n| **1** | 2 |"),
    "7 HTML": (
        '<table class="x"><tr><th>a</th><th>b</th></tr>\n<tr><td>1<br/>2</td><td><b>3</b></td></tr></table>',
        "| a | b |\n| --- | --- |\n| 1; 2 | 3 |",
    ),
    "7 spans": (
        '<table><tr><th rowspan="2">a</th><th colspan="2">b</th></tr><tr><td>1</td><td>2</td></tr></table>',
        "| a | b | |\n| --- | --- | --- |\n| | 1 | 2 |",
    ),
    "7 emptied": ("<table><tr><th>a</th><th>Ref.</th></tr><tr><td>1</td><td></td></tr></table>", "| a |\n| --- |\n| 1 |"),
    "7 wikitext": ('{| class="wikitable"\n|+ Depths\n! a !! b\n|-\n| style="x" | 1 || 2\n|}', "Depths\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"),
    "7 other tags": ("<p>Ships <b>left</b>.</p><p>x<sup>2</sup>, 1<sup>st</sup><br>y, a < b</p>", "Ships left.\n\nx^2, 1st y, a < b"),
    "8 rules": ("Ships left.\n\n---\n\n* * *\n\n⁂\n\n═════\n\nFog came.", "Ships left.\n\nFog came."),
    "8 a heading of nothing": ("## ---\n\nFog came.", "Fog came."),
    "8 emoji": ("## 🚀 Moon\n\n- ✅ a\n- ☐ d\n- ☒ e\n- **🌊 b:** c 🌊", "## Moon\n\n- a\n- [ ] d\n- [x] e\n- **b:** c 🌊"),
    "code stays": ("```python\na  —  “b” .\n```\n\nSee `x  —  y`.", "```\na  —  “b” .\n```\n\nSee `x  —  y`."),
    "formulas show the same": ("$$\na_1  *  b_2\n$$\n\nand $x_{*}  y_{*}$", "$$a_{1}*b_{2}$$\n\nand $x_{*}y_{*}$"),
    "formulas stay formulas before a number": (
        "$x_1$<sup>5</sup> fell, $y_2$<b>7</b> did not, `z`**5**",
        "$x_{1}$^5 fell, $y_{2}$ 7 did not, `z`**5**",
    ),
    "addresses stay": ("[a](https://a.example/b--c__d) https://a.example/x--y_z_", "[a](https://a.example/b--c__d) https://a.example/x--y_z_"),
    "quotations": ("> Ships *left*.\n>\n> * Fog", "> Ships _left_.\n>\n> - Fog"),
    "a fence around everything": ("```markdown\n# T\n\n* a\n```", "# T\n\n- a"),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUT)
def test_each_change_of_the_list(name: str) -> None:
    markdown, expected = LAYOUT[name]
    assert formatted(markdown) == expected
    assert formatted(expected) == expected


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("# Tidal Power: The Pulse of the Ocean\n\n## Tides\n\nA", "# Tidal power\n\n## Tides\n\nA"),
        ("# Tidal_power\n\nA", "# Tidal power\n\nA"),
        ("# From the Moon\n\nA\n\n## B\n\nC", "# Tidal power\n\nA\n\n## B\n\nC"),
        ("**Tidal Power**\n\nA", "# Tidal power\n\nA"),
        ("Tidal power\n\nA", "# Tidal power\n\nA"),
        ("# Tidal Power\n\nA\n\n# Plants\n\n### Rance", "# Tidal power\n\nA\n\n## Plants\n\n### Rance"),
        ("## Early life\n\nA\n\n## Career\n\nB", "# Tidal power\n\n## Early life\n\nA\n\n## Career\n\nB"),
        ("# Introduction\n\nA\n\n# Plants\n\nB", "# Tidal power\n\n## Introduction\n\nA\n\n## Plants\n\nB"),
        ("A\n\n# B", "# Tidal power\n\nA\n\n## B"),
        ("", ""),
        ("\n---\n", ""),
    ],
)
def test_the_topics_title_stands_above_every_report_that_holds_text(markdown: str, shown: str) -> None:
    assert formatted(markdown, "Tidal power") == shown
    assert formatted(shown, "Tidal power") == shown


def test_a_title_shows_its_words_whatever_signs_it_holds() -> None:
    text = formatted("A", "C*-algebras & <b> “x”")
    assert "C*-algebras &amp; &lt;b&gt; &quot;x&quot;" in render_report(text).replace('"', "&quot;")
    assert formatted(text, "C*-algebras & <b> “x”") == text


def test_changes_are_counted_by_name_and_the_version_names_the_level() -> None:
    done = canonical_format("## **A**\n\n* “b” .\n* c\n")
    assert done.changes == {"bullets": 2, "gaps": 1, "emphasis": 2, "quotes": 2}
    assert done.version == f"{CANONICAL_VERSION}/canonical"
    assert canonical_format("## A\n\n- b\n").changes == {}


GUARD = ("7", "b3871a02d77421b29f33e35e48b1ede02f565d1aace94d03962e3e9c816e978b")


def test_a_change_of_behaviour_moves_the_version() -> None:
    """When this fails: change CANONICAL_VERSION in annotation/canonical/form.py, then write the new pair here."""
    outputs = "\0".join(formatted(markdown) for markdown, _ in LAYOUT.values())
    assert (CANONICAL_VERSION, hashlib.sha256(outputs.encode()).hexdigest()) == GUARD


def test_spacing_leaves_layout_alone() -> None:
    markdown = "# T\r\n\n\n*  a&nbsp;b\\.  \n1) “c” .\n\n---\n**D**\n\n| a |  b |\n|--|:-:|\n"
    done = canonical_format(markdown, "Other", "spacing")
    assert done.text == '# T\n\n* a b.\n1) "c".\n\n---\n**D**\n\n| a | b |\n|--|:-:|\n'
    assert done.version == f"{CANONICAL_VERSION}/spacing"
    assert canonical_format(done.text, "Other", "spacing").text == done.text


PIECES = (
    "The quay silted up", "Ships left", ". ", ", ", "\n", "\n\n", " ", "  ", "**", "*", "_", "__", "**bold**", "*soft*",
    "***x***", "# ", "## ", "### T\n", "\n===\n", "\n---\n", "* * *\n", "- ", "* ", "1. ", "2) ", "• ", "– ", "    - ", "    ",
    "> ", ">> ", "|", "| a | b |\n", "|---|---|\n", "-|\n-:|\n", "\\|", "`x[1]`", "```\n", "```python\nx = 1\n```\n", "~~~\n",
    "$x_{1}$", "$5", "$$\nE = mc^2\n$$", "\\(", "\\[", "\\*", "\\*\\*a\\*\\*", "\\_", "\\#", "\\-", "\\", "&amp;", "&nbsp;",
    "&lt;b&gt;", "&#42;", "&amp;lt;", "“a”", "’", " — ", "--", "…", " .", " ,", "<b>", "<br>", "<sup>2</sup>", "<p>", "<li>",
    "<table><tr><td>a</td><td>b</td></tr></table>", "<h2>T</h2>", "{|\n! a !! b\n|-\n| c || d\n|}\n", "''", "\ufeff", "\u200b",
    "\u00a0", "\u3000", "\r\n", "\r", "港口。", "“港”", "**港：**口", "[a](https://a.example/b__c)", "](", "[", "]", "(", ")",
    "https://a.example/x--y_", "🚀 ", "⁂\n", "1️⃣ ", "**Head**\n", "Title\n", "\U000f0000", "1\\. ", "Sgr A*", "2**3", "~~", "+", "{",
)  # fmt: skip
documents = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=40).map("".join)
TAGS = re.compile(r"</?(?:b|br|sup|p|li|table|tr|td|h2)>", re.IGNORECASE)


def letters(markdown: str) -> str:
    """Every letter in its order. Numbers stand before headings and list items too, which may lose them."""
    return "".join(filter(str.isalpha, html.unescape(TAGS.sub("", markdown))))


@given(documents, st.sampled_from([None, "The tide*"]), st.sampled_from(get_args(Layout)))
def test_formatting_twice_is_formatting_once(markdown: str, title: str | None, layout: Layout) -> None:
    once = canonical_format(markdown, title, layout).text
    assert canonical_format(once, title, layout).text == once


@given(documents)
def test_no_letter_is_lost_and_none_is_added(markdown: str) -> None:
    assert letters(canonical_format(markdown).text) == letters(markdown)


WORD = st.sampled_from(
    ["harbour", "tide", "12", "quay", "1982", "toll", "3.5", "rope", "A*", "£40", "depth", "24-hour"]
)
sentence = st.lists(WORD, min_size=2, max_size=9).map(lambda words: " ".join(words) + ".")
marked = st.tuples(
    sentence, st.sampled_from(["{}", "**{}**", "*{}*", "“{}”", "{} — so", "<i>{}</i>", "_{}_ \\- so"])
).map(lambda pair: pair[1].format(pair[0]))
block = st.one_of(
    marked,
    st.lists(marked, min_size=1, max_size=3).map("\n".join),
    st.tuples(st.integers(1, 6), WORD).map(lambda pair: "#" * pair[0] + " Of " + pair[1]),
    st.tuples(st.sampled_from("-*+•"), st.lists(marked, min_size=1, max_size=4)).map(
        lambda pair: "\n".join(f"{pair[0]} {item}" for item in pair[1])
    ),
    st.lists(st.tuples(WORD, WORD), min_size=1, max_size=3).map(
        lambda rows: "| key | value |\n|:--|---|\n" + "\n".join(f"| {a} | {b} |" for a, b in rows)
    ),
    marked.map(lambda text: "> " + text),
    st.just("---"),
    st.just("```\nrun  —  12\n```"),
)


def words(markdown: str) -> list[str]:
    return re.findall(r"[^\W_]+", TAGS.sub("", re.sub("</?i>", "", markdown)))


@given(st.lists(block, min_size=1, max_size=8).map("\n\n".join))
def test_words_keep_their_order_and_their_digits(markdown: str) -> None:
    assert words(canonical_format(markdown).text) == words(markdown)
    assert words(canonical_format(markdown, layout="spacing").text) == words(markdown)


@pytest.mark.parametrize(
    "unit",
    [
        "*a ", "**a", "_a", "a*", "`", "```a\n", "$a ", "[", "](", "| a |\n", "|-|\n", "- ", "- a\n", "> ", ">", "# ", "1. a\n",
        "<b =", "<table>", "<table><tr>", "<p>", "{|\n", "{|\n|}\n", " ", "\n", " \n", "\t", "--", " — ", "\\", "\\$", "&#", "''",
        "a\n===\n", "\n    a=\n\n", "🚀", "http://", "a | b\n--|--\n", "\U000f0000a", "中",
    ],
)  # fmt: skip
def test_time_grows_with_the_length_only(unit: str) -> None:
    """A twentieth of the promise (1 MB within 10 s) on a twentieth of the text, with room for a busy machine."""
    markdown = (unit * 50_000)[:50_000]
    started = time.process_time()
    canonical_format(markdown, "Title")
    assert time.process_time() - started < 1.5


def visible_markup(markdown: str) -> list[str]:
    """Signs of Markdown or HTML that a reader would see as text, code aside."""
    rendered = re.sub(r"<code>.*?</code>", "", render_report(markdown), flags=re.DOTALL)
    text = html.unescape(re.sub(r"</?[a-z][^<>]*>", "", rendered))
    return re.findall(r"\*\*|^\s*#+\s.*|^\s*\|.*|.*\|\s*$|</?[a-z][a-z0-9]*\b[^<>\n]*>", text, re.MULTILINE)


def rendered(markdown: str) -> str:
    """The words of the page: marks inside a word join it, all other tags part it."""
    return html.unescape(re.sub(r"</?(?!strong|em)[a-z][^<>]*>", " ", render_report(markdown)))


def without_numbers_and_fences(markdown: str) -> str:
    """A list's numbers and what follows an opening fence are not part of the page's text."""
    return html.unescape(re.sub(r"^(?:\s*[0-9]+\. |```.*)", "", markdown, flags=re.MULTILINE))


def shown(path: Path) -> str:
    return canonical_format(strip_citations(path.read_text(encoding="utf-8")).text, path.stem.replace("_", " ")).text


@pytest.mark.parametrize("path", sorted(ROOT.glob("app/demo/reports/*/*.md")), ids=lambda p: f"{p.parts[-2]}/{p.stem}")
def test_a_demo_report_shows_no_markup(path: Path) -> None:
    assert visible_markup(shown(path)) == []


def has_the_one_layout(path: Path) -> None:
    text = shown(path)
    outside_code = re.sub(r"```.*?```", "code", text, flags=re.DOTALL)
    headings = [len(signs) for signs in re.findall(r"^(#+) ", outside_code, re.MULTILINE)]
    assert headings[0] == 1
    assert 1 not in headings[1:]
    assert headings[1:2] in ([], [2])
    assert all(b <= a + 1 for a, b in pairwise(headings))
    assert not re.findall(r"\S [.,;!?](?!\w)|[“”‘’\u00a0]|\S  +\S| $|\n\n\n", outside_code)
    assert not re.findall(r"^\s*[*+•]\s", outside_code, re.MULTILINE)
    assert visible_markup(text) == []
    assert words(re.sub(r"</?(?:strong|em)>", "", rendered(text))) == words(without_numbers_and_fences(text))
    assert canonical_format(text, path.stem.replace("_", " ")).text == text


if SAMPLE.is_dir():
    REPORTS = sorted((*SAMPLE.glob("test_data/*/md_data/*.md"), *SAMPLE.glob("wiki_data/cleaned_data/article/*.md")))

    SYSTEMS = sorted({path.parts[-3] for path in REPORTS})

    @pytest.mark.parametrize("system", SYSTEMS)
    def test_a_real_report_has_the_one_layout(system: str) -> None:
        for path in REPORTS:
            if path.parts[-3] == system:
                has_the_one_layout(path)
