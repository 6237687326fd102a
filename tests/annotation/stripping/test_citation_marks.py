"""Every style of mark disappears, and nothing of the sentence with it."""

import pytest

from annotation.citations import strip_citations

LIST = """

## References

[1] https://example.org/harbour
[2] Ito, K. Wharves and tides. https://example.org/wharves
[3] https://example.net/cranes
[4] https://example.com/pilots
[5] https://example.com/dredging
"""


def shown(markdown: str) -> str:
    return strip_citations(markdown).text


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("The harbour silted up.[3]", "The harbour silted up."),
        ("The harbour silted up [3].", "The harbour silted up."),
        ("The harbour silted up [3]. Ships left.", "The harbour silted up. Ships left."),
        ("The harbour silted up. [3] Ships left.", "The harbour silted up. Ships left."),
        ("The harbour[1][4] silted up.", "The harbour silted up."),
        ("Ships left [1, 2, 5].", "Ships left."),
        ("Ships left [1,2,5].", "Ships left."),
        ("Ships left [1;4], and came back [2]–[4].", "Ships left, and came back."),
        ("Ships left [3–5], and came back [1-3].", "Ships left, and came back."),
        ("Ships left [1], [2], and came back.", "Ships left, and came back."),
        ("Ships left [1], [2] and [3].", "Ships left and."),
        ("Ships left [2][2].", "Ships left."),
        ("Ships left［2］.", "Ships left."),
        ("船只离开了港口［2］。", "船只离开了港口。"),
        ("船只离开了港口。[2] 后来又回来了[3]。", "船只离开了港口。后来又回来了。"),
        ("港口淤积[1, 2]，船只离开[3]。", "港口淤积，船只离开。"),
        (r"Ships left \[1\]\[4\].", "Ships left."),
        (r"Ships left \[5].", "Ships left."),
        ("**Ships left [3].**", "**Ships left.**"),
        ("- Ships left [3]\n- Cranes came [4]", "- Ships left\n- Cranes came"),
        ("| port | year |\n|---|---|\n| Brill [2] | 1572[1], [2] |", "| port | year |\n|---|---|\n| Brill | 1572 |"),
        ("### The pilots [4]", "### The pilots"),
        ("We adapt [2]'s wharf model.", "We adapt's wharf model."),
        ("As shown in [1, 3], ships left.", "As shown in, ships left."),
        ("Ships left ([3]).", "Ships left."),
        ("Ships left (see [3], [4]).", "Ships left."),
        ("*Source:* [2]", ""),
        ("Ships left.^[2]", "Ships left."),
        ("Traffic fell to 12 ships a day[1] by 1980[2].", "Traffic fell to 12 ships a day by 1980."),
        ("A [1]B ship", "A B ship"),
        (
            "Tolls rose by 4% [1], wages by .5 [2], rents not at all.",
            "Tolls rose by 4%, wages by .5, rents not at all.",
        ),
    ],
)
def test_numbers_of_the_list_disappear(marked: str, plain: str) -> None:
    assert shown(marked + LIST).rstrip() == plain


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("Ships left [[1]), [4]].", "Ships left."),
        ("Ships left [[1])].", "Ships left."),
        ("Ships left [2]%20per%20week.).", "Ships left."),
        ("Ships left [[),]].", "Ships left."),
        ("Ships left [[2], [3])].", "Ships left."),
        ("Ships left [[3]].", "Ships left."),
    ],
)
def test_damaged_marks_disappear(marked: str, plain: str) -> None:
    assert shown(marked + LIST).rstrip() == plain


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("Ships left[5](https://example.org/a).", "Ships left."),
        ("Ships left [[5]](https://example.org/a).", "Ships left."),
        ("Ships left [(5)](https://example.org/a), slowly.", "Ships left, slowly."),
        ("Ships left[5](https://example.org/a_(b)).", "Ships left."),
        ('Ships left[5](https://example.org/a "A title (old)").', "Ships left."),
        ("Ships left [1](https://a.example/x) [2](https://b.example/y).", "Ships left."),
        ("Ships left ([1](https://a.example/x), [2](https://b.example/y)).", "Ships left."),
        ("Ships left [^1](https://a.example/x).", "Ships left."),
        (r"Ships left \[5](https://example.org/a).", "Ships left."),
        ("Ships left [Source 3](https://a.example/x).", "Ships left."),
        ("Ships left [source](https://a.example/x).", "Ships left."),
        ("Ships left <sup>[2](https://a.example/x)</sup>.", "Ships left."),
    ],
)
def test_a_number_that_is_a_link_goes_whole(marked: str, plain: str) -> None:
    assert shown(marked) == plain


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("Ships left[^6].\n\n[^6]: Harbour log, https://example.org", "Ships left."),
        ("Ships left[^6^].", "Ships left."),
        (
            "Ships left[^pilot-book] slowly.\n\n[^pilot-book]: The pilot book,\n    second printing.",
            "Ships left slowly.",
        ),
        ("Ships left【3】.", "Ships left."),
        ("Ships left【3†source】.", "Ships left."),
        ("Ships left【38†L640-L648】. Then fog.", "Ships left. Then fog."),
        ("Ships left【38†L640-L648. Then fog.", "Ships left. Then fog."),
        ("Ships left【3:1†harbour.pdf】.", "Ships left."),
        ("Ships left\ue200cite\ue202turn0search1\ue202turn2news4\ue201.", "Ships left."),
        ("Ships left. citeturn0search3turn0news1 Then fog.", "Ships left. Then fog."),
        ("Ships left. fileciteturn0file3 Then fog.", "Ships left. Then fog."),
        ("Ships left:contentReference[oaicite:0]{index=0}.", "Ships left."),
        ("Ships left :contentReference[oaicite:5]index=5}", "Ships left"),
        ("Ships left [oai_citation:2‡Harbour news](https://example.org/a_(b)).", "Ships left."),
        ("[cite_start]Ships left[cite: 4, 5]. Then fog.", "Ships left. Then fog."),
        ("[span_3](start_span)Ships left[span_3](end_span), then fog.", "Ships left, then fog."),
        (
            'Ships left.<grok:render card_id="1" type="x"><argument name="citation_id">7</argument></grok:render> Fog.',
            "Ships left. Fog.",
        ),
        ('Ships left.<argument name="citation_id">7</argument></grok:render> Fog.', "Ships left. Fog."),
        (r'Ships left.\<grok:render card_id="1"\> 7 \</grok:render\> Fog\</reference\>.', "Ships left. Fog."),
        ("[span_1](file:///tmp/a/start_span)Ships left[span_1](file:///tmp/a/end_span). Fog.", "Ships left. Fog."),
        ('Ships left.<grok-card data-id="a"></grok-card> Fog.', "Ships left. Fog."),
        ('Ships left[](grok_render_citation_card_json={"cardIds":["a1"]}). Fog.', "Ships left. Fog."),
        ('<cite index="3-1">Ships left</cite>, then fog.', "Ships left, then fog."),
        (r'\(cite index="3-1"\>Ships left, then fog.', "Ships left, then fog."),
        ('(cite index="3-1,4-2">Ships left</cite>, then fog.', "Ships left, then fog."),
        ('Ships left<reference type="end" id=37>.', "Ships left."),
        ("Ships left[web:3][post:43].", "Ships left."),
        ("Plans are attached[attached_file:1] and kept[memory:2].", "Plans are attached and kept."),
        ("Ships left [citation:3][citation:12].", "Ships left."),
        ("Ships left <ref name=log>Harbour log</ref> slowly.", "Ships left slowly."),
        (r"Ships left \citep{ito2020wharves}.", "Ships left."),
        ("Ships left [@ito2020; @moss1999, p. 3].", "Ships left."),
        ("Ships left.\nHarbour News\n+2\n\nThen fog.", "Ships left.\n\nThen fog."),
    ],
)
def test_tool_tokens_and_notes_disappear_without_any_list(marked: str, plain: str) -> None:
    assert shown(marked).rstrip() == plain


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("Ships left [Source: 19, 20].", "Ships left."),
        ("Ships left [Ref. 4].", "Ships left."),
        ("Ships left [Source 3].", "Ships left."),
        ('Ships left [long_context: "Harbour log, chunk 3"].', "Ships left."),
        ("Ships left [long_context: “Harbour log, chunk 3”].", "Ships left."),
        ("船只离开 [harbour.md, 第3页]。", "船只离开。"),
        ('Ships left [source: "log"].', "Ships left."),
        ("Ships left [来源：港口日志]。", "Ships left。"),
    ],
)
def test_named_sources_disappear(marked: str, plain: str) -> None:
    assert shown(marked) == plain


def test_labels_go_when_the_list_has_them() -> None:
    marked = "Ships left [S1]. Fog came [S1, Ito2004]. The model [F16] flew."
    labelled = "\n\n## Sources\n\n[S1] https://example.org/log\n[Ito2004] Ito, K. Silt. https://example.org/silt\n"
    assert shown(marked + labelled).rstrip() == "Ships left. Fog came. The model [F16] flew."


def test_a_number_with_a_gloss_goes_when_the_list_has_the_number() -> None:
    assert shown("Ships left [4 (pilots' log)]. Fog [9 (no such entry)]." + LIST).rstrip() == (
        "Ships left. Fog [9 (no such entry)]."
    )


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("Ships left ([example.org](https://example.org/?utm_source=chat)).", "Ships left."),
        ("Ships left ([Ito, 2025](https://a.example); [Moss, 2024](https://b.example)). Fog.", "Ships left. Fog."),
        ("Ships left (Ito et al., 2025, [https://a.example/x](https://a.example/x)). Fog.", "Ships left. Fog."),
        ("Ships left (Ito, n.d., [log](https://a.example); Moss et al., 2024b, [toll](https://b.example)).", "Ships left."),
        ("Ships left ([Harbour log | Port of Brill](https://a.example/x#:~:text=ships left,68.4 70.1 98)). Fog.", "Ships left. Fog."),
        ("Ships left ([log](https://a.example/#:~:text=1) foo,bar)). Fog.", "Ships left. Fog."),
        (r"Ships left ([[2305.20050\] Wharves](https://a.example/abs#:~:text=In recent,of ships)). Fog.", "Ships left. Fog."),
        ("Ships left. [Harbour log – Port of Brill](https://a.example) [Tide tables](https://b.example) Fog came.", "Ships left. Fog came."),
        ("Ships left. [Harbour log](https://a.example)\nFog came.", "Ships left.\nFog came."),
        ("船只离开了。[港口日志 - 新闻](https://a.example)", "船只离开了。"),
        ("Ships left ([site][4]).\n\n[4]: https://a.example 'Title'", "Ships left."),
        ("Ships left (Source: [Port of Brill](https://a.example)).", "Ships left."),
        ("Ships left (https://a.example/x_(y)).", "Ships left."),
        ("Ships left (Source: https://a.example).", "Ships left."),
        ("Ships left(https://a.example/b).", "Ships left."),
        ("Ships left (Wharves (2013), Harbour site, <https://a.example/b>).", "Ships left."),
        ("Ships left <https://a.example/b>.", "Ships left."),
        ("Ships left （来源：https://a.example/b）。", "Ships left。"),
        ("Ships left https://a.example/b?c=1&utm_source=chat.", "Ships left."),
        ("Ships left [https://a.example/b](https://a.example/b).", "Ships left."),
        ("Tolls are set by the [harbour board](https://a.example).", "Tolls are set by the harbour board."),
        ("Papers such as [the Log](https://a.example) and [the Tide](https://b.example) agree.", "Papers such as the Log and the Tide agree."),
        ("![A crane at dawn](https://a.example/c.png)", "A crane at dawn"),
        ("The depth ![](<>) is given.", "The depth is given."),
        ('Tolls are set by the <a href="https://a.example">board</a>.', "Tolls are set by the board."),
        ('Ships left <a href="https://a.example">[4]</a>.', "Ships left."),
        ('<img src="https://a.example/c.png" alt="A crane at dawn" width=40>', "A crane at dawn"),
        ("[![A crane](https://a.example/c.png)](https://a.example)", "A crane"),
        ("The [board][hb] sets tolls.\n\n[hb]: https://a.example", "The board sets tolls."),
        ("See the [contents](#contents).", "See the contents."),
    ],
)  # fmt: skip
def test_links_lose_their_address_and_citing_links_their_words(marked: str, plain: str) -> None:
    assert shown(marked).rstrip() == plain


AUTHORS = """

## References

- Surana, P., & Koh, L. (2021). Silting of small harbours. *Coastal Papers*, 3, 14–20.
- Okafor, B. (2019a). Pilots and tolls. Tide Press.
- Long view of the northern wharves. Harbour board, 2021.
"""


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("Ships left (Surana et al., 2021).", "Ships left."),
        ("Ships left (Surana & Koh, 2021; Okafor, 2019a, p. 14).", "Ships left."),
        ("Ships left (see Okafor 2019a).", "Ships left."),
        ("Ships left (Long view of the northern wharves, 2021).", "Ships left."),
        ("Ships left (Lindqvist, 2021).", "Ships left (Lindqvist, 2021)."),
        ("Ships left (Surana, 1987).", "Ships left (Surana, 1987)."),
        ("Okafor opened the lock (2019).", "Okafor opened the lock (2019)."),
    ],
)
def test_author_and_year_go_only_when_the_list_proves_them(marked: str, plain: str) -> None:
    assert shown(marked + AUTHORS).rstrip() == plain


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("Ships left in 2019³ and 2020.", "Ships left in 2019 and 2020."),
        ("Ships left<sup>1,4</sup> slowly<sup>[3]</sup>.", "Ships left slowly."),
        ("The quay is 40 m² and holds 10³ crates.", "The quay is 40 m² and holds 10³ crates."),
        ("It covers 3 km<sup>2</sup> and x<sup>3</sup>.", "It covers 3 km<sup>2</sup> and x<sup>3</sup>."),
        ("Ships left the quay.5 Fog came,3 and “rain.”4 Depth is 2.51 m.", "Ships left the quay. Fog came, and “rain.” Depth is 2.51 m."),
    ],
)  # fmt: skip
def test_raised_and_glued_numbers(marked: str, plain: str) -> None:
    assert shown(marked + LIST).rstrip() == plain


def test_numbers_glued_to_words_go_and_names_that_end_in_digits_stay() -> None:
    marked = (
        "The silt came from the hills1, and tides moved sand2. Cranes were built by Gantry3. Gantry left later4. "
        "**Tolls rose**5, and Quay3 fell. Quay3 was sold; Quay3 is gone. Mp3 files of the fog horn exist, as do B2 maps."
    )
    plain = (
        "The silt came from the hills, and tides moved sand. Cranes were built by Gantry. Gantry left later. "
        "**Tolls rose**, and Quay3 fell. Quay3 was sold; Quay3 is gone. Mp3 files of the fog horn exist, as do B2 maps."
    )
    assert shown(marked + LIST).rstrip() == plain


def test_numbers_glued_to_a_closing_bracket_of_words_go_and_formulas_stay() -> None:
    plain = (
        "Silt came from the hills, and tides moved sand. Tolls rose, and rents fell. The Harbour Board (HB) built "
        "cranes under the act (Article 6\\) and paid the pilots (see below), who left."
    )
    marked = (
        "Silt came from the hills1, and tides moved sand2. Tolls rose3, and rents fell4. The Harbour Board (HBO)5 built "
        "cranes under the act (Article 6\\)3 and paid the pilots (see below)4, who left5."
    )
    assert shown(marked + LIST).rstrip() == plain.replace("(HB)", "(HBO)")
    kept = "Of lime, Ca(OH)2 and Al(OH)3 set; f(tide)2 is (mol/L)2 or (x + y)2 in act (19)4, or (HBO)9."
    assert shown(f"{marked} {kept}{LIST}").rstrip().endswith(kept)
    assert shown("The Harbour Board (HBO)5 built cranes." + LIST).rstrip() == "The Harbour Board (HBO)5 built cranes."


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("| port | depth |\n|---|---|\n| Brill | 4 m |\n| 4 |  |  |", "| port | depth |\n|---|---|\n| Brill | 4 m |"),
        ("<table><tr><td>Brill</td><td>[4]</td></tr></table>", "<table><tr><td>Brill</td><td></td></tr></table>"),
        (
            "| port | Source |\n|---|---|\n| Brill | 4 |\n| Veere | logs |",
            "| port | Source |\n|---|---|\n| Brill |  |\n| Veere | logs |",
        ),
        # a head above nothing would tell who had cited there
        (
            "| port | **Source(s)** |\n|---|---|\n| Brill | 4, 5 |\n| Veere | – |",
            "| port |  |\n|---|---|\n| Brill |  |\n| Veere | – |",
        ),
        ("| port | Ref. |\n|---|---|\n| Brill |  |", "| port |  |\n|---|---|\n| Brill |  |"),
        ("| port | Toll |\n|---|---|\n| Brill |  |", "| port | Toll |\n|---|---|\n| Brill |  |"),
        ("| no. | port |\n|---|---|\n| 4 | Brill |", "| no. | port |\n|---|---|\n| 4 | Brill |"),
    ],
)
def test_tables_keep_their_structure(marked: str, plain: str) -> None:
    text = shown(marked + LIST).rstrip()
    assert [line.replace(" ", "") for line in text.split("\n")] == [line.replace(" ", "") for line in plain.split("\n")]
