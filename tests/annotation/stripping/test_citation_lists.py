"""Lists of sources are found by their structure, wherever they stand, and what is not a list stays."""

import pytest

from annotation.citations import strip_citations

BODY = "# The harbour\n\nThe harbour silted up over two centuries.\n\n"
ENTRIES = "[1] https://example.org/a\n[2] Ito, K. Wharves. https://example.org/b\n"


SPELLINGS = [
    ENTRIES,
    "- [1] https://example.org/a\n- [2] https://example.org/b\n",
    "1. [Wharves](https://example.org/a)\n2. [Tides](https://example.org/b)\n",
    "[1] Wharves: https://example.org/a\n\n[2] Tides: https://example.org/b\n",
    "[1] [4] Wharves and tides\nhttps://example.org/a\n[2] Cranes\nhttps://example.org/b\n",
    "[1] Wharves, accessed May 3, 2025, [https://example.org/a](https://example.org/a)\n[2] Tides, accessed May 4, 2025\n",
    "https://example.org/a[1]\nhttps://example.org/b[2]\n",
    "\\[1\\] https://example.org/a\n\\[2\\] https://example.org/b\n",
    "[1](https://example.org/a)\n\n[2](https://example.org/b)\n",
]


@pytest.mark.parametrize(
    "heading",
    [
        "## References",
        "# References",
        "###### References",
        "**References**",
        "__References__",
        "References",
        "References:",
        "REFERENCES",
        "## 10\\. References",
        "## 10. References",
        "## References:**",
        "## **References**",
        "**References:**",
        "### Key Citations",
        "Citations:",
        "#### **Works cited**",
        "### Sources",
        "## Sources and references",
        "## Reference list",
        "## List of references",
        "## References & further reading",
        "## Endnotes",
        "参考文献：",
        "## 参考资料",
        "**参考资料&#x20;**",
        "### 关键引用",
        "## 七、参考文献",
        "## 參考資料",
        "## Quellenverzeichnis",
        "## Références",
        "## Список литературы",
        "## Fuentes",
        "> ## References",
        "References\n----------",
        "## 📚 References",
        "## VII. References",
        "## References (selected)",
        "## Références bibliographiques",
        "## Referencias bibliográficas",
        "## Fonti e riferimenti",
        "## Bibliografia i źródła",
        "## Geraadpleegde bronnen",
        "## Použité zdroje",
        "## Kaynaklar ve Referanslar",
        "## Список использованных источников",
        "## Список використаних джерел",
        "## المصادر والمراجع",
        "### 참고 자료",
        "## 参考文献・出典",
        "## 引用文献一覧",
        "**Quellen und Literatur**",
        "**Sources consultées :**",
        "<h2>References</h2>",
        "<summary>Sources</summary>",
        "## 6. Source ledger",
        "## Citation log",
    ],
)
def test_heading_and_entries_go_in_every_spelling(heading: str) -> None:
    for entries in SPELLINGS:
        stripped = strip_citations(BODY + heading + "\n\n" + entries)
        assert stripped.text.rstrip() == BODY.rstrip(), entries


@pytest.mark.parametrize(
    "entries",
    [
        "1 Wharves. “Harbour news”, 2014. https://example.org/a\n2 Tides. “Tide tables.” https://example.org/b\n",
        "* 16 Harbour board: https://example.org/a\n* 17 Port: https://example.org/b\n",
        "- Ito, K. (1998). *Wharves of the North*. Tide Press.\n- Moss, L. (2004). *Silt*. Quay University Press.\n",
        "httpswww.example.org/a\nhttpswww.example.org/b\n",
        "1. Ito, K. (2008). Wharves.  \n   URL: https://example.org/a\n\n2. Moss (2010). Silt.  \n   URL: https://example.org/b\n",
        "1. Harbour board: tolls\n2. Port of Brill: depths\n3. Tide office: tables\n",
        "Harbour board. “Tolls.” Retrieved May 3, 2025.\nPort of Brill. “Depths.” Retrieved May 4, 2025.\n",
        "[1]: https://example.org/a \"Wharves\"\n[2]: https://example.org/b\n",
        "[^1]: Ito, Wharves.\n[^2]: Moss, Silt.\n",
        "### Books\n\n- Ito, K. (1998). *Wharves*. Tide Press.\n\n### Pages\n\n- https://example.org/a\n",
        "",
    ],
)  # fmt: skip
def test_other_entries_under_a_plain_heading(entries: str) -> None:
    assert strip_citations(BODY + "## References\n\n" + entries).text.rstrip() == BODY.rstrip()


def test_text_after_a_list_stays() -> None:
    after = "\n## Conclusion\n\nThe quay still stands.\n"
    assert strip_citations(BODY + "### Bibliography\n\n" + ENTRIES + after).text == BODY + after.lstrip("\n")


def test_a_paragraph_after_a_list_stays_without_a_heading() -> None:
    after = "The quay still stands, and it is used by small boats that have no other place to go.\n"
    assert strip_citations(BODY + "## References\n\n" + ENTRIES + "\n" + after).text == BODY + after


def test_a_remark_after_a_rule_stays() -> None:
    text = BODY + "## Sources\n\n" + ENTRIES + "\n---\n\n*Compiled for the harbour board on 3 May 2024.*\n"
    assert strip_citations(text).text == BODY + "---\n\n*Compiled for the harbour board on 3 May 2024.*\n"


def test_a_note_in_place_of_a_list_goes_with_its_heading() -> None:
    text = BODY + "### Sources\n\nNo reliable sources could be found, since the search had failed.\n"
    assert strip_citations(text).text.rstrip() == BODY.rstrip()


def test_two_lists_and_the_text_between_them() -> None:
    between = "# Summary of the article\n\nThis article describes a harbour and what became of it.\n\n"
    text = (
        BODY
        + "# References\n\nhttps://example.org/a[1]\nhttps://example.org/b[2]\n\n"
        + between
        + "## References\n\n"
        + ENTRIES
    )
    assert strip_citations(text).text.rstrip() == (BODY + between).rstrip()


def test_a_heading_that_only_points_at_the_list_goes_with_it() -> None:
    text = BODY + "## References\n\n(see Key Citations below)\n\n### Key Citations\n\n" + ENTRIES
    assert strip_citations(text).text.rstrip() == BODY.rstrip()


def test_sources_after_each_part() -> None:
    text = "## One\n\nThe harbour silted up[1].\n\n**Sources:**\n[1] https://example.org/a\n\n## Two\n\nShips left.\n"
    assert strip_citations(text).text == "## One\n\nThe harbour silted up.\n\n## Two\n\nShips left.\n"


@pytest.mark.parametrize(
    "tail",
    [
        "[1] <https://example.org/a>\n[2] <https://example.org/b>\n",
        "⁂\n\n[^1]: https://example.org/a\n[^2]: https://example.org/b\n",
        '<div align="center">⁂</div>\n\n[^1]: https://example.org/a\n\n[^2]: https://example.org/b\n',
        '[1]: https://example.org/a "Wharves"\n[2]: https://example.org/b\n',
        "https://example.org/a\nhttps://example.org/b\n",
        "References: https://example.org/a\n",
        "Sources: [1] https://example.org/a; [2] https://example.org/b\n",
        "**Sources:** [Wharves](https://example.org/a), [Tides](https://example.org/b)\n",
    ],
)
def test_a_list_without_heading_goes_from_the_end(tail: str) -> None:
    assert strip_citations(BODY + tail).text.rstrip() == BODY.rstrip()


def test_a_fence_around_the_whole_report_does_not_hide_its_list() -> None:
    text = "```markdown\n# Harbour\n\nShips left[1].\n\n## References\n\n[1] https://example.org/a\n```\n"
    assert "[1]" not in strip_citations(text).text
    assert "https" not in strip_citations(text).text


def test_the_first_line_of_a_list_may_introduce_it() -> None:
    text = BODY + "## References\n\nThe following sources were used:\n\n" + ENTRIES
    assert strip_citations(text).text.rstrip() == BODY.rstrip()


NUMBERED_TAIL = '1. Ito, "Wharves". https://example.org/a\n2. Moss, 1998. https://example.org/b\n'


@pytest.mark.parametrize(
    "tail", [NUMBERED_TAIL, "Source: chat, 3 May\n" + NUMBERED_TAIL.replace("1.", "(1)").replace("2.", "(2)")]
)
def test_a_cited_numbered_list_at_the_end_needs_no_heading(tail: str) -> None:
    assert strip_citations("Ships left [1]. Fog came [2].\n\n" + tail).text.rstrip() == "Ships left. Fog came."


@pytest.mark.parametrize(
    "tail",
    ["1. The harbour will be dredged.\n2. The quay closes in 2025.", "2. https and so on\n3. Moss, 1998, a novel"],
)
def test_a_plan_at_the_end_is_no_list_of_sources(tail: str) -> None:
    assert strip_citations("Ships left [1]. Fog came [2].\n\n" + tail).text.rstrip().endswith(tail)


WORKS = """**Bibliography**

Ito, K 2004, 'Wharves and tides', *Harbour Journal*, vol. 3.

Moss, A 1998, *Silt of the North*, Tide Press.
"""


def test_a_bibliography_without_addresses_goes_when_the_text_cites_it_by_name() -> None:
    cited = "Ships left (Ito 2004). Fog came (see e.g. Moss 1998, p. 4).\n\n" + WORKS
    assert strip_citations(cited).text.rstrip() == "Ships left. Fog came."


def test_a_bibliography_that_nobody_cites_stays() -> None:
    text = "Ships left. Fog came.\n\n" + WORKS
    assert strip_citations(text).text == text


def test_a_bibliography_goes_when_superscripts_count_it() -> None:
    text = "Ships left.<sup>1,2</sup> Fog came.<sup>3</sup>\n\n## Bibliography\n\n1. Ito K. Silt.\n2. Moss A. Fog.\n3. Board.\n"
    assert strip_citations(text).text.rstrip() == "Ships left. Fog came."


def test_the_frame_of_a_folded_list_goes_with_it() -> None:
    text = "Fog came.\n\n<details>\n<summary>Sources</summary>\n\n1. https://example.org/a\n2. https://example.org/b\n\n</details>\n"
    assert strip_citations(text).text.rstrip() == "Fog came."


def test_a_label_left_with_a_flattened_mark_goes_and_a_count_of_sources_stays() -> None:
    listed = "\n\n#### References\n[1] A study of rivers, https://example.org/a\n"
    assert strip_citations(f"Rivers rise.\n\n**Citations used:**.1{listed}").text.strip() == "Rivers rise."
    assert "Sources: 12 rivers" in strip_citations(f"Rivers rise.\n\nSources: 12 rivers{listed}").text
