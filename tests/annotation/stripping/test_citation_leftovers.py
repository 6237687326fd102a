"""Numbers that an upstream repair overlooked: the brackets cite, yet some marks lost theirs on the way."""

import pytest

from annotation.citations import strip_citations

BODY = "The quay silted up [1]. Ships left [2][3]. Fog came [4].\n\n"
LIST = "\n\n## References\n\n" + "\n".join(f"[{n}] https://example.org/{n}" for n in range(1, 13))


def shown(passage: str) -> str:
    return strip_citations(f"{BODY}{passage}{LIST}").text.rstrip()


@pytest.mark.parametrize(
    ("marked", "left"),
    [
        ("She led the **Board of Pilots (north)**.2", "She led the **Board of Pilots (north)**."),
        ("* It met the sloop *Gannet*.11  \n* Fog fell.", "* It met the sloop *Gannet*.\n* Fog fell."),
        ("It was sold in March 1851.9", "It was sold in March 1851."),
        ("It was sold on **March 3, 1851**.9,10", "It was sold on **March 3, 1851**."),
        ("He called it “a bridge of tides.” 5", "He called it “a bridge of tides.”"),
        ("The toll rose by 8%.4", "The toll rose by 8%."),
        ("The pilots went ashore.12", "The pilots went ashore."),
        (
            "They founded the **Board of Pilots**.7 It met at dusk.",
            "They founded the **Board of Pilots**. It met at dusk.",
        ),
        ("Fog fell on the quay.3 *Gannet* left.", "Fog fell on the quay. *Gannet* left."),
    ],
)
def test_a_listed_number_glued_to_the_stop_that_ends_a_line_goes(marked: str, left: str) -> None:
    assert shown(marked).removeprefix("The quay silted up. Ships left. Fog came.\n\n") == left


@pytest.mark.parametrize(
    "passage",
    [
        "The toll rose to 1851.9",  # a decimal
        "The mean depth is 2.4",
        "It costs $1,500,000.1",
        "See Figure.2",
        "See No.5",
        "The pilots went ashore.40",  # not in the list
        "The pilots went ashore.2 of them stayed",
        "It weighs approx.3 The rest is silt",
        "They moored at Pier 4",
        "Final tally: Brill 3, Moss 2",
        "Devices: Lamp 3, Horn 4",
    ],
)
def test_numbers_that_may_be_content_stay(passage: str) -> None:
    assert shown(passage).endswith(passage)


def test_glued_numbers_stay_where_no_list_knows_them() -> None:
    passage = "The pilots went ashore.12\n\nThey sold the **Board**.2"
    assert strip_citations(BODY + passage).text.endswith(passage)


TABLE = "| year | port | remark |\n|---|---|---|\n"


@pytest.mark.parametrize(
    ("rows", "left"),
    [
        (
            "| 1851 | Brill | Opened to sloops [7] |\n| 1852 | Moss | 7 |\n| 1853 | Brill | Dredged[7] |\n| 1854 | Ito | Closed [8], [9] |",
            "| 1851 | Brill | Opened to sloops |\n| 1852 | Moss | |\n| 1853 | Brill | Dredged |\n| 1854 | Ito | Closed |",
        ),
        (  # one cell without a mark: the column does not cite throughout
            "| 1851 | Brill | Opened [7] |\n| 1852 | Moss | 7 |\n| 1853 | Brill | Dredged |\n| 1854 | Ito | Closed [8] |\n| 1855 | Ito | Reopened [8] |",
            "| 1851 | Brill | Opened |\n| 1852 | Moss | 7 |\n| 1853 | Brill | Dredged |\n| 1854 | Ito | Closed |\n| 1855 | Ito | Reopened |",
        ),
        (  # counts with marks: the column holds numbers
            "| 1851 | Brill | 12 [7] |\n| 1852 | Moss | 7 |\n| 1853 | Brill | 9 [7] |\n| 1854 | Ito | 4 [8] |",
            "| 1851 | Brill | 12 |\n| 1852 | Moss | 7 |\n| 1853 | Brill | 9 |\n| 1854 | Ito | 4 |",
        ),
        (  # a number that no source has
            "| 1851 | Brill | Opened [7] |\n| 1852 | Moss | 40 |\n| 1853 | Brill | Dredged [7] |\n| 1854 | Ito | Closed [8] |",
            "| 1851 | Brill | Opened |\n| 1852 | Moss | 40 |\n| 1853 | Brill | Dredged |\n| 1854 | Ito | Closed |",
        ),
    ],
)  # fmt: skip
def test_a_bare_number_goes_from_a_column_whose_every_worded_cell_cites(rows: str, left: str) -> None:
    cells = [
        [cell.strip() for cell in line.split("|")] for line in shown(TABLE + rows).split("\n")[-left.count("\n") - 1 :]
    ]
    assert cells == [[cell.strip() for cell in line.split("|")] for line in left.split("\n")]


def test_a_paragraph_of_listed_numbers_right_under_a_table_goes() -> None:
    rows = TABLE + "| 1851 | Brill | 12 sloops |"
    assert shown(f"{rows}\n\n3") == shown(rows)
    assert shown(f"{rows}\n\n3, 11\n\nFog fell.") == shown(f"{rows}\n\nFog fell.")
    assert shown(f"{rows}\n\n40\n\nFog fell.").endswith("\n\n40\n\nFog fell.")
    assert shown("The tally of the day:\n\n3\n\nFog fell.").endswith(":\n\n3\n\nFog fell.")


RECORDS = """

## References

1. Ito, K., Moss, L., & Surana, P. (2004). "Silt and toll." *Tide Press*. https://example.org/silt
2. "Lamps of the northern wharves." *Harbour Review*. https://example.org/lamps
"""


@pytest.mark.parametrize(
    ("marked", "left"),
    [
        ("Silt rose by 4 cm [Ito et al., *Silt and Toll*, Tide Press 2004](https://example.org/silt).", "Silt rose by 4 cm."),
        ("Lamps burnt whale oil [*Lamps of the Northern Wharves*, Harbour Review](https://example.org/lamps).", "Lamps burnt whale oil."),
        ("The toll fell by 8% [Harbourpedia: toll](https://www.harbourpedia.example/toll), then rose.", "The toll fell by 8%, then rose."),
        ("“Nobody saw the fog” [Quayside: an old thread](https://quayside.example/t/1).", "“Nobody saw the fog”."),
        # the anchor is a word of the sentence
        ("This was shown by [Ito et al., 2004](https://example.org/silt).", "This was shown by Ito et al., 2004."),
        ("They read [Harbourpedia: toll](https://other.example/x).", "They read Harbourpedia: toll."),
        ("She painted [*Lamps at Dusk*, a triptych](https://example.org/dusk).", "She painted *Lamps at Dusk*, a triptych."),
        ("It opened in [Brill, 1851](https://example.org/silt).", "It opened in Brill, 1851."),
        ("Fog [Ito et al., 2004](https://example.org/silt) came back.", "Fog Ito et al., 2004 came back."),
    ],
)  # fmt: skip
def test_a_link_named_like_a_source_goes_where_it_stands_apart_from_the_clause(marked: str, left: str) -> None:
    assert strip_citations(f"{marked}{RECORDS}").text.rstrip() == left


REMARKS = "| year | remark |\n|---|---|\n"


@pytest.mark.parametrize(
    ("cells", "goes"),
    [
        (["slow loss of bearings 7", "heavy fog (again) 3", "ebb above the bar 7", "toll on sloops 11"], True),
        (["slow loss of bearings 7", "heavy fog 3", "opened to sloops [2]", "ebb above the bar 7", "toll on whale oil 1"], True),
        (["cod 12", "eel 3", "ling 7", "hake 3"], False),  # what was counted, and how many
        (["the pilots of Brill 9", "the Harbour Board 3", "captain John Moss 7", "mate Tom Ito 3"], False),  # names
        (["lost the race by 3", "won the race by 2", "lost the heat by 3", "won at last by 1"], False),  # the same word
        (["first quay built 1", "second quay built up 2", "the bar dredged 3", "the locks closed 4"], False),  # counted up
        (["slow loss of bearings 7", "heavy fog (again) 3", "ebb above the bar", "fog", "toll on sloops 11"], False),
        (["slow loss of bearings 70", "heavy fog (again) 3", "ebb above the bar 7", "toll on sloops 11"], False),
    ],
)  # fmt: skip
def test_numbers_behind_the_words_of_a_whole_column_go_when_they_read_as_marks(cells: list[str], goes: bool) -> None:
    table = REMARKS + "\n".join(f"| {1850 + n} | {cell} |" for n, cell in enumerate(cells))
    numbers = [cell.split()[-1].isdigit() for cell in cells]
    left = [line.split("|")[2].split()[-1].isdigit() for line in shown(table).split("\n")[-len(cells) :]]
    assert left == ([False] * len(cells) if goes else numbers)


def test_a_long_capitalised_word_loses_its_number_only_among_many_glued_ones() -> None:
    prose = "Silt came1, sand left2. Tolls rose3, rents fell4. Cranes sank5, pilots left6. Fog lifted7, ships sailed8."
    named = "They kept the Harbour Regulations3. The Lightship4 left, as did Wharf5."
    clean = "Silt came, sand left. Tolls rose, rents fell. Cranes sank, pilots left. Fog lifted, ships sailed."
    shortened = "They kept the Harbour Regulations. The Lightship4 left, as did Wharf5."
    assert strip_citations(f"{prose} {named}{LIST}").text.rstrip() == f"{clean} {shortened}"
    few = prose[: prose.index("Cranes")].replace("came1", "came").replace("left2", "left").replace("rose3", "rose")
    assert strip_citations(f"{few}{named}{LIST}").text.rstrip() == f"{few}{named}"


@pytest.mark.parametrize(
    "mark",
    [
        " source_id:57073447242", " (source_id: 12)", " [doc_id=ab12]", " chunk_ids: 4, 7", " [SOURCE_ID: Tide log, 1.2]",
        "[1](@ref)", "[2,3](@ref)", "[[source_group_web_1]]", "[[source_group_web_4]][[source_group_web_10]]",
    ],
)  # fmt: skip
def test_what_retrievers_and_chat_pages_call_their_sources_goes(mark: str) -> None:
    assert (
        strip_citations(f"The quay silted up{mark}.\n- Ships left{mark}\n").text
        == "The quay silted up.\n- Ships left\n"
    )


def test_braces_and_broad_brackets_round_a_cited_passage_go() -> None:
    braced = 'It {antml:cite index="0-2"}silted up{/antml:cite} in <cite index="1">May</cite>.'
    assert strip_citations(braced).text == "It silted up in May."


@pytest.mark.parametrize(
    "text",
    ["The resource_id: 12 stays.", "The field source_id: 12 names it.", "Set `doc_id=12`.", "A source_id: none."],
)
def test_a_field_that_the_text_is_about_stays(text: str) -> None:
    assert strip_citations(text).text == text


def test_images_by_reference_become_their_words() -> None:
    image = "[image1]: <data:image/png;base64,iVBORw0KGgo=>"
    report = f"The rise (![][image1]) is steep.\n\n![Toll by year][image1]\n\nFog [1].\n\n{image}\n"
    assert strip_citations(report).text.rstrip() == "The rise is steep.\n\nToll by year\n\nFog [1]."


def test_a_fence_of_plain_text_is_code_unless_it_holds_sentences() -> None:
    address = "```text\nhttps://a.example/{id}/log.xml\n```\n"
    report = "```text\nThe quay was deep but it has silted up [1], and ships have left.\n\n## References\n[1] https://a.example\n```\n"
    assert strip_citations(address).text == address
    assert "https" not in strip_citations(report).text


def test_escaped_marks_go_on_beyond_what_is_left_of_their_list() -> None:
    text = r"Ships left.\[116\] Tolls rose\[63\]\[118\] then, and fog came\[7\]. It fell by \[500\]."
    assert (
        strip_citations(text + LIST).text.rstrip() == r"Ships left. Tolls rose then, and fog came. It fell by \[500\]."
    )
    assert strip_citations(text).text == text


@pytest.mark.parametrize("listing", ["", LIST])
@pytest.mark.parametrize(
    "text",
    [
        r"CI \[10, 20\]. CI \[11, 30\]. CI \[12, 40\].",
        r"Age was in \[18, 65\]. Score was in \[20, 80\]. Time was in \[30, 90\], all told.",
        r"He paid \[500\]. She paid \[600\]. They paid \[700\].",
        r"He paid \[50\]. She paid \[60\]. They paid \[70\].",
    ],
)
def test_escaped_numbers_that_no_list_speaks_for_are_content(text: str, listing: str) -> None:
    assert strip_citations(text + listing).text.rstrip() == text


def test_a_few_escaped_numbers_prove_nothing() -> None:
    text = r"Paragraph \[23\] of it holds, as the tides in \[12\] do, and \[sic\] stays."
    assert strip_citations(text).text == text


SOURCES = (
    "\n\n## References\n\n1. The quay - Harbour Office, https://a.example\n2. [Tide Times] On fog. https://b.example\n"
    "3. BBC: Ice. https://c.example\n4. Ito, K. *London Stock*. https://d.example\n5. NASA: Fog. https://e.example\n6. Quays, https://f.example\n"
)


@pytest.mark.parametrize(
    ("marked", "left"),
    [
        ("It rose [Harbour Office]. It fell [Tide Times], too.", "It rose. It fell, too."),
        (r"It rose \[Tide Times\] \[Harbour Office\].", "It rose."),
        ("It rose. [Tide Times] Then it fell.", "It rose. Then it fell."),
        ("It rose [BBC]. It fell [Tide Times].", "It rose. It fell."),
        ("It rose [BBC].", "It rose [BBC]."),  # alone it may be an editor's word
        ("They met at the [London Stock].", "They met at the [London Stock]."),
        ("It rose [Tide Times][Quays]. It fell[Quays][BBC].", "It rose. It fell."),
        ("It rose [Tide Times; Quays]. It fell [BBC].", "It rose. It fell."),
        ("It rose [Quays]. It fell [Quays; or not].", "It rose [Quays]. It fell [Quays; or not]."),
        ("So [Tide Times] wrote to [Harbour Office].", "So [Tide Times] wrote to [Harbour Office]."),
        ("It rose. [Harbour Office] officials said no.", "It rose. [Harbour Office] officials said no."),
        ("It rose. [Harbour Office], too, said no.", "It rose. [Harbour Office], too, said no."),
        ("So it was. [NASA] was first [BBC].", "So it was. [NASA] was first [BBC]."),
        ("[NASA], not fog, was first [BBC].", "[NASA], not fog, was first [BBC]."),
        ("- [Tide Times] On tides it fell.", "- [Tide Times] On tides it fell."),
        ("So [Tide Times] [Harbour Office] wrote.", "So [Tide Times] [Harbour Office] wrote."),
        ("It rose. [Tide Times] [Harbour Office] “It fell.”", "It rose. “It fell.”"),
        ("It rose [BBC]. [NASA] Then it fell.", "It rose. Then it fell."),
        ("[Tide Times] [Harbour Office], too, fell.", "[Tide Times] [Harbour Office], too, fell."),
        ("It rose.\n\n[Harbour Office]\n\nIt fell.", "It rose.\n\nIt fell."),
        ("It rose [Tidal Office]. [Name], [the] end [sic].", "It rose [Tidal Office]. [Name], [the] end [sic]."),
    ],
)
def test_a_sources_name_alone_in_a_bracket_goes_where_a_clause_ends(marked: str, left: str) -> None:
    assert strip_citations(marked + SOURCES).text.rstrip() == left


@pytest.mark.parametrize("address", ["media/chart", "image1", "charts/tides.png"])
def test_an_image_keeps_its_words_wherever_it_lies(address: str) -> None:
    assert strip_citations(f"Ships left.\n\n![Tides]({address})").text == "Ships left.\n\nTides"
