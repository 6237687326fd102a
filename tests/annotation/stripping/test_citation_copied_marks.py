"""What a chat page and its clipboard leave: numbers that were buttons, labelled runs of links, lists of bare titles."""

import pytest

from annotation.citations import strip_citations

PAGE = (
    "The quay silted up. \n4\n The pilots left it “for the winter.” \n12\n\n"
    "Fog came in May. \n1\n2\n The toll rose by 8%.\n\nIce followed. \n7\n"
)


def test_a_number_that_was_a_button_goes_with_its_line() -> None:
    assert strip_citations(PAGE).text == (
        "The quay silted up. The pilots left it “for the winter.”\n\nFog came in May. The toll rose by 8%.\n\nIce followed.\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "The quay silted up. \n4\n The pilots left.\n\nFog came. \n12\n\nIce followed.",  # two may be page numbers
        "Gannet\n3\nHeron\n5\nBrill\n4\n",  # a table of scores, cell by cell
        "The tally of the day: \n4\n Gannet. The next: \n5\n Heron. The last: \n6\n Brill.",
        "Count with me.\n3\n2\n1\nGo.\n\nAgain.\n3\n2\n1\nGo.\n\nOnce more.\n3\n\nGo.",
    ],
)
def test_numbers_alone_on_a_line_stay_where_they_may_be_content(text: str) -> None:
    assert strip_citations(text).text == text


A, B, C = (f"[The {name} — Harbour Log](https://{name.lower()}.example/log)" for name in ("Tide", "Ice", "Fog"))


@pytest.mark.parametrize(
    "run",
    [
        f"Sources: {A}, {B}, {C}.",
        f"Source: {A}.",
        f"**Sources:** {A}; {B} and {C}",
        f"Sources: {A} (kept by pilots), {B}.",
        f"Quellen: {A}, {B}.",
    ],
)
def test_a_labelled_run_of_links_that_ends_a_passage_goes_whole(run: str) -> None:
    assert strip_citations(f"The quay silted up. {run}\n\nShips left.").text == "The quay silted up.\n\nShips left."


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            f"The harbour has two sources: {A} and {B}.",
            "The harbour has two sources: The Tide — Harbour Log and The Ice — Harbour Log.",
        ),
        (f"It silted up. Source: {A} says so in May.", "It silted up. Source: The Tide — Harbour Log says so in May."),
    ],
)
def test_links_that_belong_to_a_sentence_keep_their_words(text: str, left: str) -> None:
    assert strip_citations(text).text == left


TITLES = "- Harbour Board Annual Report 2025\n- Pilots' handbook (tides)\n- Gannet survey 2024\n- Tide tables\n- Ice charts\n"


@pytest.mark.parametrize("heading", ["## Sources", "## References", "### **Sources**"])
def test_a_closing_list_of_bare_titles_goes(heading: str) -> None:
    assert strip_citations(f"# Quay\n\nShips left.\n\n{heading}\n{TITLES}").text.rstrip() == "# Quay\n\nShips left."


@pytest.mark.parametrize(
    "text",
    [
        "# Iron\n\nIt is needed.\n\n## Sources\n- Liver\n- Lentils\n- Spinach\n- Oysters\n",  # sources of something else
        f"# Quay\n\n## Sources\n{TITLES}\n## Outlook\n\nShips may return.\n",  # not the end of the report
        "# Quay\n\n## Sources\n- The board was asked in 2025 and has not answered; it is what it was.\n"
        "- Harbour Report 2025\n- Pilots' Report 2024\n- Tide tables\n- Ice charts\n",  # speaks in sentences
        f"# Quay\n\nShips left.\n\n## Notes\n{TITLES}",
    ],
)
def test_other_lists_below_such_a_heading_stay(text: str) -> None:
    assert strip_citations(text).text == text


def test_a_bracket_that_closes_behind_the_parenthesis_costs_no_word() -> None:
    text = "Controls came late (the pilots' notice [https://a.example/log/17).]\n"
    assert strip_citations(text).text == "Controls came late (the pilots' notice).\n"


@pytest.mark.parametrize(
    ("copied", "left"),
    [
        ("Tolls rose. Wikipedia+1\nIce came.", "Tolls rose.\nIce came."),
        ("Tolls rose.Gannet Post+2Brill News+2\n\nIce came.", "Tolls rose.\n\nIce came."),
        ("Tolls rose. Gannet Post+1 Then it thawed.", "Tolls rose. Then it thawed."),
        ("Tolls rose.log.brill.example+1\n* Ice came.pilots+2\nFog.", "Tolls rose.\n* Ice came.\nFog."),
        ("Tolls rose. Post+1\nIce came. Post\nThey read the Post\n", "Tolls rose.\nIce came.\nThey read the Post\n"),
        (
            "Tolls rose. [tides+1]\nIce came. [harbour-log+3] It thawed. [gannets]\nFog. [log.brill+2]",
            "Tolls rose.\nIce came. It thawed.\nFog.",
        ),
        ("Tolls rose by 8%.[tides+3](https://a.example/1)\n", "Tolls rose by 8%.\n"),
        ("Tolls rose [Post+2Log+2Gannet](https://a.example/1) in May.", "Tolls rose in May."),
        (
            "Tolls rose.\na.example\nIce came.\n\nb.example\n\nFog came. \nlog.c.example\nIt thawed.",
            "Tolls rose.\nIce came.\n\nFog came.\nIt thawed.",
        ),
    ],
)
def test_names_of_sites_that_were_buttons_go(copied: str, left: str) -> None:
    assert strip_citations(copied).text == left


@pytest.mark.parametrize(
    "text",
    [
        "They sing in C. They count foo.size+1\nand a[index+1] too.",
        "ISO 9001+2 stays, as do Gannet+1 ships and the Post+2 others.",
        "It has two sites.\nb.example\nIt thawed.\nc.example\n",  # two may be content
        "They said [sic] so. [tides] stays.",
    ],
)
def test_sums_and_single_names_stay(text: str) -> None:
    assert strip_citations(text).text == text
