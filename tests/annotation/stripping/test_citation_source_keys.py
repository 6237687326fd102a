"""Marks that name their source by a label of the list or by a number of PubMed, and lists that give such labels."""

import pytest

from annotation.citations import strip_citations

KEYED = """

References

1. (ito2019silting pages 1-2): K. Ito and A. Moss. Silting of small harbours. Tides, 4:11-19, Mar 2019. URL: \
https://example.org/silt. This article has 9 citations and is from a journal that is read by those who dredge.

2. (moss2021pilotsand pages 3-5): A. Moss. Pilots and their tolls. Quays, 2021. This article has 2 citations.

3. (HARBOUR17 chunk 1): A register of wharves. Port Office, 2017.
"""


def shown(markdown: str) -> str:
    return strip_citations(markdown).text


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("The harbour silted up. (ito2019silting pages 1-2)", "The harbour silted up."),
        (
            "It silted up (ito2019silting pages 1-2, moss2021pilotsand pages 3-5) and closed.",
            "It silted up and closed.",
        ),
        ("It silted up (ito2019silting pages 7-9; HARBOUR17 chunk 1).", "It silted up."),
        ("| Brill | Ito 2019 (ito2019silting pages 1-2) | 12 |", "| Brill | Ito 2019 | 12 |"),
        ("It silted up (in 2019, pages 1-2) and closed.", "It silted up (in 2019, pages 1-2) and closed."),
        ("It silted up (lee2020harbours pages 1-2).", "It silted up (lee2020harbours pages 1-2)."),
    ],
)
def test_a_label_in_parentheses_goes_where_the_list_has_it(marked: str, plain: str) -> None:
    assert shown(marked + KEYED).rstrip() == plain


def test_labels_in_parentheses_stay_without_a_list() -> None:
    text = "It silted up (ito2019silting pages 1-2).\n\n1. (phase 2): the quay is built.\n2. (phase 3): it is paved."
    assert shown(text) == text


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("Fever followed (PMID: 12345678).", "Fever followed."),
        ("Fever followed (PMID: 12345678, 23456789; PMCID: PMC3456789) soon.", "Fever followed soon."),
        ("Fever followed [PMC3456789], then rest.", "Fever followed, then rest."),
        ("Ships left the quay [journal (2021-03-04)] early.", "Ships left the quay early."),
    ],
)
def test_numbers_of_pubmed_and_dated_kinds_of_source_alone_in_a_bracket_go(marked: str, plain: str) -> None:
    assert shown(marked) == plain


@pytest.mark.parametrize(
    "text",
    [
        "The record PMID 12345678 was withdrawn.",
        "It was withdrawn (the record PMID 12345678 is empty).",
        "Search for a PMC (physical medium check).",
        "It closed [early (2021-03-04)] that year.",
        "The preprint (arXiv:1706.03762) started it.",
    ],
)
def test_numbers_of_records_within_a_sentence_stay(text: str) -> None:
    assert shown(text) == text


def test_a_title_goes_with_the_address_that_stands_apart_below_it() -> None:
    listed = (
        "\n\n[1] https://example.org/a\n\nhttps://example.org/a\n\n[2] [4] A register of wharves\n\n"
        "https://example.org/b\n\n[3] Tolls of the pilots - Port Office\n\nhttps://example.org/c\n"
    )
    assert shown("Ships left [1]. Cranes came [2].\n\nThe end came late." + listed).rstrip() == (
        "Ships left. Cranes came.\n\nThe end came late."
    )


def test_an_inventory_of_citations_is_a_list() -> None:
    text = (
        "The harbour silted up.\n\n### Citation Inventory\n\n- PMID:12345678\n- PMID:23456789\n- ISBN:9780000000002\n"
    )
    assert shown(text).rstrip() == "The harbour silted up."


NAMED = (
    "\n\n### Sources\n\n[1] Harbour Office - Tolls of the pilots: https://example.org/a\n"
    "[2] Tide Press - Silt and sand on the north quay (2019): https://example.org/b\n"
    "[3] Ito, K. (2004). The keeper of wharves: https://example.org/c\n"
)


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("Ships left [Harbour Office - Tolls of the pilots] [1].", "Ships left."),
        ("Ships left [Harbour Office] [2]. Fog came [3].", "Ships left. Fog came."),
        ("- **Silt:** The quay closed [Tide Press - Silt 2019] [2].", "- **Silt:** The quay closed."),
        ("Fog [Tide Press - Silt and sand on the north quay][2] came.", "Fog came."),
        ("He told [the] [1] pilots.", "He told [the] pilots."),
        ("He told [The] [3] pilots.", "He told [The] pilots."),
        ("They asked [Ito] [3] about it.", "They asked [Ito] about it."),
        ("They met at [Harbour Office] in May [1].", "They met at [Harbour Office] in May."),
        ("It moored [Pilot Board] [1].", "It moored [Pilot Board]."),
        ("It moored [Harbour pilots] [1].", "It moored [Harbour pilots]."),
    ],
)
def test_a_name_in_a_bracket_goes_with_the_mark_behind_it_where_the_list_has_it(marked: str, plain: str) -> None:
    assert shown(marked + NAMED).rstrip() == plain


@pytest.mark.parametrize("head", ["PMID", "**PMIDs**", "PMCID", "DOI"])
def test_linked_numbers_in_a_column_of_record_numbers_go(head: str) -> None:
    table = f"| {head} | Finding |\n|---|---|\n"
    assert shown(table + "| [12345678](https://example.org/12345678/) | silt |\n| 7 | sand |") == (
        table + "| | silt |\n| 7 | sand |"
    )


def test_linked_numbers_in_other_columns_keep_their_number() -> None:
    table = "| Crates | Port |\n|---|---|\n| [12345678](https://example.org/a) | Brill |"
    assert shown(table) == "| Crates | Port |\n|---|---|\n| 12345678 | Brill |"
