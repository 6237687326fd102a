"""The demo reports: complete, of readable length, and between them an example of every citation style that we remove."""

import csv
import re
from pathlib import Path

import pytest

DEMO = Path(__file__).resolve().parents[2] / "app" / "demo" / "reports"
PATHS = sorted(DEMO.glob("*/*.md"))
REPORTS = {f"{path.parent.name}/{path.stem}": path.read_text(encoding="utf-8") for path in PATHS}

TOOL = "\ue200cite\ue202"  # private-use characters of one chat product's marks

STYLES = {
    # marks in the text
    "numeric": r"\w \[3\]\.",
    "numeric run": r"\[1\]\[5\]",
    "numeric list": r"\[7, 8, 10\]",
    "numeric list, semicolon": r"\[1;4\]",
    "numeric range": r"\[3–5\]",
    "numeric joined": r"\[8\], \[9\]",
    "numeric doubled": r"\[8\]\[8\]",
    "numeric, full width": r"［5］",
    "damaged": r"\[\[1\]\), \[10\]\]",
    "number as link": r"\w\[2\]\(https://",
    "number as link, double": r"\[\[5\]\]\(https://",
    "number as link, round": r"\[\(3\)\]\(https://\S+\(1860s\)\)",
    "number as link, titled": r'\[4\]\(https://\S+ "[^"]+"\)',
    "escaped": r"\w\.\\\[3\\\]",
    "escaped run": r"\\\[1\\\]\\\[2\\\]",
    "footnote": r"\.\[\^6\]",
    "footnote, named": r"\.\[\^note\]",
    "footnote, closed": r"\.\[\^7\^\]",
    "footnote definition": r"(?m)^\[\^6\]: .+https://",
    "lenticular": r"【3†source】",
    "lenticular with lines": r"【5†L22-L31】",
    "lenticular, unclosed": r"【5†L640-L648\. ",
    "tool token": TOOL + r"turn0search1\ue202turn0search4\ue201",
    "tool token, bare": r"citeturn0search3turn0news1",
    "tool token, content reference": r":contentReference\[oaicite:0\]\{index=0\}",
    "tool token, oai citation": r"\[oai_citation:0‡[^\]]+\]\(https://",
    "tool token, chip": r"(?m)^Example Sleep Lab\n\+2$",
    "tool token, cite start": r"\[cite_start\].+\[cite: 1, 2\]",
    "tool token, span": r"\[span_1\]\(start_span\).+\[span_1\]\(end_span\)",
    "tool token, grok": r"<grok:render [^>]*>\s*<argument name=\"citation_id\">2</argument>\s*</grok:render>",
    "tool token, grok card": r"\[\]\(grok_render_citation_card_json=",
    "tool token, cite index": r"\(cite index=\"3-1\">.+</cite>",
    "tool token, reference": r"<reference type=\"end\" id=37>",
    "tool token, web": r"\[web:1\]\[web:2\]",
    "tool token, file, post, memory": r"(?s)\[attached_file:1\].+\[post:43\].+\[memory:2\]",
    "named, source": r"\[Source: 2, 5\]",
    "named, ref": r"\[Ref\. 3\]",
    "named, with words": r"\[7 \(gas chapter\)\]",
    "named, context": r'\[long_context: "[^"]+"\]',
    "named, file": r"\[file\.md, 第3页\]",
    "parenthesised link": r"\(\[example\.org\]\(https://example\.org/\S+\?utm_source=demo\)\)",
    "parenthesised links": r"\(\[[^]]+\]\(https://\S+\); \[[^]]+\]\(https://\S+\)\)",
    "parenthesised label": r"\(\[Example Forest\]\[4\]\)",
    "after the sentence": r"\. \[[^]]+ – [^]]+\]\(https://\S+\) \[[^]]+\]\(https://\S+\)\n",
    "URL in brackets": r" \(https://\S+\)",
    "URL in brackets, labelled": r"\(Source: https://\S+\)",
    "URL in brackets, anchor lost": r"\w\(https://",
    "URL in brackets, with blanks": r"\(https://\S+#:~:text=growth range,4 to 35 C\)",
    "URL in brackets, titled": r"\([\w ]+ \(2016\), [\w ]+, <https://\S+>\)",
    "autolink": r"\w <https://\S+>\.",
    "author-year": r"\(Marlow & Dunn, 2014, p\. \d+\)",
    "author-year proven by its list": r"(?m)^- Ortega, L\., .+\(2009\)",
    "title-year": r"\(\*The glass of Cordouan\*, 2017\)",
    "superscript": r"\.³",
    "superscript tag": r"<sup>\[3\]</sup>",
    "superscript tag, bare": r"<sup>1,2</sup>",
    "glued": r"hope\.1 ",
    "table cell": r"\| 2011 \[3\] \|",
    "table cell, several": r"\| \[1\], \[3\] \|",
    "table cell, tag": r"<td>\[24\]</td>",
    "table row, stray": r"(?m)^\| 4 \|  \|  \|$",
    "label": r"\*Source:\* \[16\]",
    "label, empty": r"\*\*Sources:\*\*\n\Z",
    # lists of references
    "heading": r"(?m)^## References$",
    "heading, bold": r"(?m)^\*\*References\*\*$",
    "heading, works cited": r"(?m)^#### \*\*Works cited\*\*$",
    "heading, sources": r"(?m)^### Sources$",
    "heading, plain": r"(?m)^Citations:$",
    "heading, key citations": r"(?m)^### Key Citations$",
    "heading, numbered": r"(?m)^## 7\\\. References$",
    "heading, Chinese": r"(?m)^参考文献：$",
    "list in the middle": r"\*\*Sources:\*\*\n\[1\] https://\S+\n\[2\] https://\S+\n\n## ",
    "entry, title and URL": r"(?m)^\[1\] .+\. https://",
    "entry, bullet": r"(?m)^- \[1\] https://",
    "entry, title: URL": r"(?m)^- \[3\] .+: https://",
    "entry, accessed": r"(?m)^1\. .+, accessed July 7, 2025, \[https://",
    "entry, linked title": r"(?m)^1\. \[.+\]\(https://",
    "entry, bare number": r"(?m)^3 .+ https://",
    "entry, escaped": r"(?m)^\\\[1\\\] .+https://",
    "entry, no URL": r"(?m)^- Marlow, A\. [^\n]+Press\.$",
    "entry, definition": r'(?m)^\[4\]: https://\S+ "Example Forest"$',
    "list without heading": r"packet\.\n\n\[1\] <https://",
    "list behind an asterism": r"⁂</div>\n\n\[\^1\]: https://",
    # where a text comes from
    "provenance, thinking": r"(?s)\A<think>.+</think>",
    "provenance, comment": r"<!-- .+ -->",
    "provenance, notice": r"(?m)^> （注：文档部分内容可能由 AI 生成）$",
    "provenance, preamble": r"\AHere is the research report",
    "provenance, offer": r"Would you like me to turn this report [^\n]+\?\n\Z",
}

LOOK_ALIKES = {
    "score": r"\[7–0\]",
    "editorial": r"\[sic\]",
    "code": r"grid\[2\]\[3\] = ",
    "inline code": r"`Fl\(3\) 20s 36m 18M`",
    "formula": r"\$x_\{\[1\]\}\$",
    "display formula": r"(?m)^\$\$.+\$\$$",
    "units": r"m²/s²",
    "powers of ten": r"10⁸",
    "interval": r"\[0, 1\]",
    "ages": r"aged \[18–65\]",
    "judgment": r"\[2014\] UKSC 13",
    "publisher and year": r"\(Demo House Press, 2014\)",
    "checkbox": r"(?m)^- \[x\] .+\n- \[ \] ",
    "see also": r"(?m)^## See also$",
    "mark inside see also": r"(?m)^- Kefir \[4\]$",
    "notes in prose": r"(?m)^## Notes\n\n[A-Z\"]",
    "heading with sources": r"(?m)^## Sources of uncertainty$",
    "wiki link": r"\[\[Rye bread\]\]",
    "lenticular without digits": r"【发酵】",
    "content link": r"such as \[Example Cycling\]\(https://",
    "chat sentence in quotation marks": r'"Would you like me to suggest a bedtime routine\?"',
    "money": r"\$5 and \$7",
}

CONTENT = {
    "table": r"(?m)^\|[-: |]+\|$",
    "numbered list": r"(?m)^1\. [A-Z]",
    "bold": r"\*\*\w",
    "curly quotes": r"“\w",
    "accent": r"vélocipède",
    "Chinese name": r"Jiangxia 江厦",
}


def rows(name: str) -> list[dict[str, str]]:
    with (DEMO / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def words(markdown: str) -> int:
    """Blank-separated pieces that hold a letter or digit, citations and lists included."""
    return sum(any(character.isalnum() for character in piece) for piece in markdown.split())


def test_every_system_reports_on_every_topic_and_nothing_else_lies_about() -> None:
    pairs = {f"{system['system']}/{topic['topic']}" for system in rows("systems.csv") for topic in rows("topics.csv")}
    assert set(REPORTS) == pairs
    assert len(REPORTS) == 18
    files = {path.relative_to(DEMO).as_posix() for path in DEMO.rglob("*") if path.is_file()}
    assert files == {f"{pair}.md" for pair in pairs} | {"topics.csv", "systems.csv"}


def test_topics_name_their_question_category_and_language() -> None:
    topics = rows("topics.csv")
    assert list(topics[0]) == ["topic", "title", "prompt", "category", "language"]
    assert all(all(topic.values()) for topic in topics)
    assert {topic["category"] for topic in topics} == {"Technology", "Society", "Nature"}
    assert {topic["language"] for topic in topics} == {"en"}


def test_one_system_is_the_reference() -> None:
    assert {system["system"]: (system["public_name"], system["is_reference"]) for system in rows("systems.csv")} == {
        "atlas": ("Atlas Researcher", "false"),
        "borealis": ("Borealis Deep Search", "false"),
        "handbook": ("Handbook Editors", "true"),
    }


@pytest.mark.parametrize("key", REPORTS)
def test_a_report_can_be_read_in_five_minutes(key: str) -> None:
    assert 600 <= words(REPORTS[key]) <= 1_400


@pytest.mark.parametrize("key", REPORTS)
def test_links_lead_nowhere_but_to_example_domains(key: str) -> None:
    hosts = set(re.findall(r"https?://([^/\s)>\]]+)", REPORTS[key]))
    assert hosts <= {"example.org", "example.com", "example.net"}


@pytest.mark.parametrize("key", REPORTS)
def test_no_report_names_a_system(key: str) -> None:
    names = "|".join(system["public_name"] for system in rows("systems.csv"))
    assert not re.search(rf"{names}|atlas|borealis|handbook", REPORTS[key], re.IGNORECASE)


@pytest.mark.parametrize("name", STYLES)
def test_every_citation_style_occurs(name: str) -> None:
    assert any(re.search(STYLES[name], text) for text in REPORTS.values())


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_every_look_alike_occurs(name: str) -> None:
    assert any(re.search(LOOK_ALIKES[name], text) for text in REPORTS.values())


@pytest.mark.parametrize("name", CONTENT)
def test_ordinary_markdown_occurs(name: str) -> None:
    assert any(re.search(CONTENT[name], text) for text in REPORTS.values())
