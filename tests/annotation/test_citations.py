"""Laws of stripping: only deletion, twice is once, never an exception, linear time."""

import hashlib
import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.citations import VERSION, Span, Stripped, strip_citations
from annotation.texts.spans import KINDS

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
SAMPLE = SHARED / "data" / "wlc_sample"
CASES = SHARED / "data" / "strip_cases"

PIECES = (
    "The quay silted up", "Ships left", ". ", ", ", "\n", "\n\n", " ", "[1]", "[2][3]", " [1, 2]", "[4–6]", "\\[5\\]",
    "[^1]", "[^1]: note", "【3†source】", "[7](https://a.example/b_(c))", "[Log](https://a.example)", "](", "([", "[", "]",
    "(", ")", "((", "))", "https://a.example/b", "(https://a.example", "<https://a.example>", "## References\n",
    "**Sources:**", "References: https://a.example", "\n[1] https://a.example\n", "\n1. Ito (2004). *Silt*. Tide Press.\n",
    "\n- ", "\n| a | b |\n|---|---|\n| 4 |  "
    "|\n", "|", "`x[1]`", "```\n", "$x_{[1]}$", "$5", "\\(", "\\[", "<!-- a -->",
    "<think>", "</think>", "<sup>[1]</sup>", "²", "³", "citeturn0search1", "\ue200", "\ue201", "[cite_start]", "[cite: 1]",
    "<grok:render>", "</grok:render>", "![a](b.png)", "!", "参考文献：\n", "港口。", "（来源：https://a.example）", "\r\n", "\r",
    "\ufeff", "\ufdd0", "Would you like me to go on?", "Here is the report:", "---\n", "+2\n", "Site\n", "(Ito, 2004)",
    "*Source:* ", "[[1]), [2]]", "[2]%20a", "silt.12 ", "**silt**.3\n", "| a [1] | 3 |\n", "\t", "> ", "# T\n", "[Source: 3]", "[a.md, p. 3]", "⁂\n", "[web:1]",
)  # fmt: skip
documents = st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=40).map("".join)


def cut(report: str, spans: tuple[Span, ...]) -> str:
    kept, done = [], 0
    for span in spans:
        kept.append(report[done : span.start])
        done = span.end
    return "".join(kept) + report[done:]


def assert_only_deleted(report: str, stripped: Stripped) -> None:
    ends = [0, *(span.end for span in stripped.removed)]
    assert all(end <= span.start < span.end for end, span in zip(ends, stripped.removed, strict=False))
    assert all(span.kind in KINDS for span in stripped.removed)
    assert cut(report, stripped.removed) == stripped.text


@given(documents)
def test_the_text_is_the_report_minus_its_spans(report: str) -> None:
    assert_only_deleted(report, strip_citations(report))


@given(documents)
def test_stripping_twice_is_stripping_once(report: str) -> None:
    once = strip_citations(report).text
    assert strip_citations(once).text == once


@given(st.text(alphabet="[](){}<>!|#*_`$\\^:.,;-–0123 \n\ra1[]【】†", max_size=120))
def test_no_string_raises(report: str) -> None:
    stripped = strip_citations(report)
    assert_only_deleted(report, stripped)
    assert strip_citations(stripped.text).text == stripped.text


WORDS = st.sampled_from("harbour silt tide quay crane pilot toll rope lamp board wharf depth fog storm keel".split())  # noqa: SIM905
sentences = st.lists(WORDS, min_size=3, max_size=12).map(lambda words: " ".join(words).capitalize() + ".")
paragraphs = st.lists(sentences, min_size=1, max_size=5)


@given(st.lists(paragraphs.map(" ".join), min_size=1, max_size=6).map("\n\n".join))
def test_plain_prose_is_left_alone(prose: str) -> None:
    assert strip_citations(prose).text == prose
    assert strip_citations(prose).removed == ()


@given(
    st.lists(paragraphs, min_size=2, max_size=6),
    st.lists(st.integers(1, 12), min_size=60, max_size=60),
    st.sampled_from(["[{}]", " [{}]", "\\[{}\\]", "[{0}][{0}]", "[[{}]](https://a.example/{})", "【{}】", "[^{}]"]),
    st.sampled_from(["## References\n\n", "**Sources**\n\n", "参考文献：\n", ""]),
)
def test_marks_and_a_list_leave_as_they_came(
    prose: list[list[str]], numbers: list[int], mark: str, heading: str
) -> None:
    plain = "\n\n".join(" ".join(paragraph) for paragraph in prose)
    left = iter(numbers)
    marked = "\n\n".join(
        " ".join(sentence[:-1] + mark.format(*[next(left, 1)] * 3) + "." for sentence in paragraph)
        for paragraph in prose
    )
    entries = "\n".join(f"[{n}] https://example.org/{n}" for n in range(1, 13))
    assert strip_citations(f"{marked}\n\n{heading}{entries}\n").text.rstrip() == plain


@pytest.mark.parametrize(
    "unit",
    [
        "<!--", "<think>", "【", "【3", "](", "([", "$", "$a ", "[", "[1", "[1]", "[[1]", "\\[", "`", "```\n", "(", "(a ",
        "http://a ", "(http://a", "[a](http://x y", "([a](http://x) ", "<sup>", "## References\n", "\n", " ", " \n", "|",
        "<grok:render", "\ue200", "[@a;", "[^", "Source: ", "**", "a [1] ", "[1], ", "参考文献\n", "AI生成", "\r\n", "a",
        "- [1]\n", "[[1]), ", "[2]%20", "![a](", "[1-", "[source: a", "Smith (2020; ", "| 1 | |\n", "1. a\n",
    ],
)  # fmt: skip
def test_time_grows_with_the_length_only(unit: str) -> None:
    """A twentieth of the promise (1 MB within 5 s) on a twentieth of the text, with room for a busy machine."""
    report = (unit * 50_000)[:50_000]
    started = time.process_time()
    strip_citations(report)
    assert time.process_time() - started < 1.0


def test_line_ends_and_byte_order_marks_are_spans_of_their_own() -> None:
    stripped = strip_citations("\ufeffShips left [1].\r\nFog came.\r\n\r\n## References\r\n[1] https://a.example\r\n")
    assert stripped.text.rstrip() == "Ships left.\nFog came."
    assert {span.kind for span in stripped.removed} >= {"encoding", "number", "reference_line", "reference_heading"}


def test_the_result_is_frozen_and_carries_its_version() -> None:
    stripped = strip_citations("Ships left.")
    assert stripped == Stripped("Ships left.", (), ("11 characters left",), VERSION)
    with pytest.raises(AttributeError):
        stripped.text = ""  # type: ignore[misc]


@pytest.mark.parametrize(
    ("report", "warning"),
    [
        ("Fog.\n\n## References\n\n" + "[1] https://example.org/a\n" * 9, "of the characters removed"),
        ("Fog.", "4 characters left"),
        ("The scheme https:// is old.", "1 addresses left"),
        ("They won [7–0].", "1 bracket numbers left"),
        ("Fog came.\n\n## References\n\n[1] https://example.org/a", "a list of 1 sources but no marks"),
        ("Fog came 【3】.", "1 marks but no list of sources"),
        ("Fog.\n\n## Notes\n\nAll depths are in metres.", "1 headings of possible lists kept"),
        ("<think>Fog?</think>\n\nFog came.", "1 traces of origin removed"),
    ],
)
def test_the_owner_is_warned(report: str, warning: str) -> None:
    assert any(warning in text for text in strip_citations(report).warnings)


EVERY_STYLE = [
    "Ships left (Quelle: Amt), Ito *et al.* (1) and Ito et al. (2) say (1). Fog came (1). Tolls {2}. Ice [(Board)](https://a.example).\n\n## Quellen und Literatur\n\n"
    "1. Ito, K. (2004). Silt.\n2. https://a.example\n",
    "Ships left [1], [2]. Fog[3–5] came \\[2\\] and［1］ went [[1]), [2]] by [2]%20a.\n\n## References\n"
    + "[1] https://a.example\n[2] b, https://b.example\n",
    "Ships left[5](https://a.example/x_(y)) [[5]](https://a.example). [Log – Port](https://a.example) [B](https://b.example) Fog.",
    "Ships left ([Ito, 2025](https://a.example); [Moss](https://b.example)) for [the quay](https://a.example) (https://a.example) <https://b.example>.",
    "Ships[^1] left【3†source】. citeturn0search3 Fog:contentReference[oaicite:0]{index=0}[web:3] [Source: 4] [a.md, p. 3].\n\n[^1]: Ito.",
    '[cite_start]Ships left[cite: 4]. (cite index="1">Fog</cite> <grok:render x="1"><argument name="a">1</argument></grok:render>came.\nSite\n+2\n',
    r'Ships left.\<grok:render x="1"\> 1 \</grok:render\> [span_1](file:///a/start_span)Fog came.',
    "Ships left (Ito, 2021). Fog (Moss, 1999).\n\n**Works cited**\n\n- Ito, K. (2021). *Silt*. Tide Press.\n",
    "Ships left.12 Fog,3 and rain.1 Depth 2.51 m, 10³ crates, 2019³.\n\n#### **Works cited**\n1. A, accessed 2025, [a](https://a.example)\n3. B, accessed 2025\n12. C, accessed 2025\n",
    "| a | Source |\n|---|---|\n| b | 1 |\n| 1 |  |\n\n*Source:* [1]\n\nFog† ice<sup>†,‡</sup> quay†‡ fell.††\n\n† p < .05\n\n"
    "参考文献：\n[1] https://a.example\n† https://b.example\n‡ https://c.example\n",
    "Fog† ice<sup>†,‡</sup> quay†‡ fell.†† **Rain**†, the †mole.\n\n## Sources\n\n† https://b.example\n‡ https://c.example\n",
    "Here is the report you asked for:\n\n# Tides\n\n<!-- a --><think>b</think>Text.\n\nWould you like me to add charts?",
    "Scores [7–0], [the], [sic], [0, 1], $x_{[1]}$, `a[1]`, [2015] UKSC 11 at [23]–[25], +2 dB, ![alt](https://a.example/b.png).\r\n",
    "Ships [1], [2], [3].\n\nFog at the **quay**.2\n\n| a | b |\n|---|---|\n| 1 | silt[1] |\n| 2 | sand[2] |\n| 3 | rain[3] |\n| 4 | 1 |\n\n"
    "2\n\nIce [Ito et al., *Ice*, 2004](https://a.example/i).\n\n"
    "## References\n\n[1] https://a.example\n[2] https://b.example\n[3] https://c.example\n",
    "Ships left. \n4\n Fog came. \n1\n\nIce. \n2\n\nIt thawed. Sources: [A](https://a.example), [B](https://b.example) (old).\n\n"
    "## Sources\n- Harbour Report 2025\n- Ice survey 2024\n- Charts\n- Tide tables\n- Logs\n",
    "Ships left [Tide Press - Silt] [1].\n\n| PMID | Port |\n|---|---|\n| [12345678](https://a.example) | Brill |\n\n"
    "## Sources\n[1] Tide Press - Silt: https://a.example\n",
    "Hills1, sand2. Tolls1 rose3, rents3 fell1. The Board (HBO)2 paid (Article 6\\)3. Ships left. Source: [A](https://a.example). "
    "Fog [A](https://a.example); [B](https://b.example)\n\n## 6. Source ledger\n1. https://a.example\n2. https://b.example\n3. https://c.example\n",
    "Ships left source_id:57. Fog[1,2](@ref) came[[source_group_web_1]]. Post+1\n\n| Toll | 8 [A](https://a.example) [B](https://b.example) |\n\n"
    "Tides (![][image1]).\n\n[image1]: <data:image/png;base64,AA==>\n\nSources\n\n[\n\n![](https://a.example/i)\n\na.example\n\nLog\n\n"
    "Opens in a new window](https://a.example)[**b.example** Ice新しいウィンドウで開く](https://b.example)\n",
    "Ships left.\\[116\\] Fog\\[63\\]\\[118\\]. Snow\\[2\\]. Ice came [Harbour Office; Tolls][Tolls]. ![Tides](media/chart)\n\n## References\n\n"
    "1. Tolls - Harbour Office, https://a.example\n2. https://b.example\n",
]
GUARD = ("16", "c6380e142f61535739396024a7c230085b941ed501ac80be4c271a84ea2ddc0c")


def test_a_change_of_behaviour_moves_the_version() -> None:
    """When this fails: change VERSION in annotation/citations.py, then write the new pair here."""
    outputs = json.dumps([strip_citations(case).text for case in EVERY_STYLE], ensure_ascii=False)
    assert (VERSION, hashlib.sha256(outputs.encode()).hexdigest()) == GUARD


if CASES.is_dir():

    @pytest.mark.parametrize("path", sorted(CASES.glob("*.json")), ids=lambda path: path.stem)
    def test_shared_examples(path: Path) -> None:
        case = json.loads(path.read_text(encoding="utf-8"))
        stripped = strip_citations(case["input"])
        assert_only_deleted(case["input"], stripped)
        assert strip_citations(stripped.text).text == stripped.text
        if not case["optional"]:
            assert "".join(stripped.text.split()) == "".join(case["gold"].split())


if SAMPLE.is_dir():
    REPORTS = sorted(SAMPLE.glob("test_data/*/md_data/*.md"))
    ARTICLES = sorted((SAMPLE / "wiki_data" / "cleaned_data" / "article").glob("*.md"))

    @pytest.mark.parametrize("system", sorted({path.parts[-3] for path in REPORTS}))
    def test_no_address_and_no_number_is_left_in_a_real_report(system: str) -> None:
        for path in REPORTS:
            if path.parts[-3] == system:
                report = path.read_text(encoding="utf-8")
                stripped = strip_citations(report)
                assert_only_deleted(report, stripped)
                assert strip_citations(stripped.text).text == stripped.text, path
                left = [text for text in stripped.warnings if "addresses left" in text or "numbers left" in text]
                assert not left, path

    @pytest.mark.parametrize("path", ARTICLES, ids=lambda path: path.stem)
    def test_a_human_article_keeps_everything(path: Path) -> None:
        article = path.read_text(encoding="utf-8")
        stripped = strip_citations(article)
        headings = [line for line in article.split("\n") if line.startswith("#")]
        assert len(article) - len(stripped.text) <= 0.0005 * len(article)
        assert [line for line in stripped.text.split("\n") if line.startswith("#")] == headings
