"""What looks like a citation and is none stays, with and without a list of sources in the report."""

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

LOOK_ALIKES = [
    "The Gulls won the cup final 7–0 [7–0] at home.",
    "They lost [2–1] in the replay.",
    'He wrote that "[the] pilots [sic] tak[ing] the toll [...] left".',
    "Sign here: [Name], [Date], [ ].",
    "- [ ] mend the quay\n- [x] paint the crane",
    "The formula $x_{[1]} = y^{2}$ holds, and \\( a_1 \\) too.",
    "Energy is\n\n\\[ E = mc^2 \\]\n\nas everyone knows.",
    "Read `grid[2][3]` and `row['x']` first.",
    "```python\nvalues[1] = rows[2]  # see https://example.org\n```",
    "~~~\n## References\n[1] https://example.org\n~~~",
    "The quay is 40 m² wide, the wind 9 m²/s², the crates 10³.",
    "*Fog* (1982), *Tide* (1985) and *Storm* (2023) came out in that order.",
    "She published it herself (Tide Press, 2014).",
    "In *Moss v Ito* [2015] UKSC 11 at [23]–[25] the court agreed.",
    "Under the Ports Act [Chapter 11:08] a toll is due.",
    "Values lie in [0, 1], ages in [18–65], scores in [1, 5].",
    "The rate is between [2, 4] percent.",
    "The [4+2] cycloaddition gives bicyclo[2.2.1]heptane; [18F]FDG is a tracer.",
    "See the [[harbour master]] page.",
    "【背景】港口很旧。",
    "Psalm 23:1–3 and Matthew 5:3 were read; 1. e4 e5 2. Nf3 was played.",
    "1. Prepare the quay.\n2. Sow in rows of 3.\n\n10. Harvest in week 10.",
    "| no. | port |\n|---|---|\n| 1 | Brill |\n| 2 | Veere |",
    "The gain is +2 dB, the grade B+, the channel Harbour+.",
    "Depth is 2.51 m and the draught 3.4 m.",
    "Change.org hosted the petition; Booking.com did not.",
    "The paper has doi 10.1000/182, ISBN 978-3-16-148410-0 and arXiv:2009.12610.",
    'The bot closed with "Would you like me to mend the quay?" every time.',
    "It cost $5 and later $7 to moor.",
    "The lock holds [1,000] crates and [12,500] sacks.",
    "The year [1990] was wet.",
    "Between 1990 and 1995 (see Figure 3) the tolls rose.",
    "Section 3.2 and Table 4 show it (n = 12).",
    "He typed array[i] and list[0] without a thought.",
    "It is 5 * 3 * 2, or a_1 and b_2, and snake_case_names.",
    "Costs are < 5 and > 3; a <b>bold</b> claim.",
    "“See you,” he said. “[Laughs] No.”",
    "The reform has three aims: (1) lower tolls; (2) shorter waits; (3) better charts.",
    "Let M = {1} and N = {1, 2}.",
    "He asked for proof (source: unclear) and left (Source: see below).",
    "*Reference: a horse born in 1998*",
    "**Note: the 2020 census was delayed.**",
    "She read the [Guardian] and the [Times].",
    "| Source | Share |\n|---|---|\n| Wind | 40 |",
    "Type ^[x] to match it.",
    "2. References\n3. Index\n4. Maps\n\nThese are the parts.",
]


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_look_alikes_stay_without_a_list(text: str) -> None:
    assert strip_citations(text).text == text


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_look_alikes_stay_beside_real_citations(text: str) -> None:
    prose = "The harbour silted up [1]. Ships left [2][3]. Cranes came [4].\n\n"
    plain = "The harbour silted up. Ships left. Cranes came.\n\n"
    assert strip_citations(prose + text + LIST).text.rstrip() == plain + text


@pytest.mark.parametrize(
    "text",
    [
        "## Cultural references\n\nThe quay appears in two films (1982, 1990).",
        "## Sources of funding\n\n1. Tolls\n2. Rents",
        "### References in popular culture\n\n- *Fog* (1982)\n- *Tide* (1985)",
        "## Sources\n\nThe river rises from two springs. They were first mapped in 1820 by the harbour board, which "
        "was looking for drinking water.",
        "## Notes\n\n- The tide tables are computed, not observed.\n- All depths are in metres.",
        "## Bibliography\n\n- *Wharves of the North* (1998)\n- *Silt* (2004)\n\n## Later life\n\nShe retired in 2010.",
        "## Data sources\n\n- Tide tables of the harbour board (1990)\n- Census of small boats (2004)",
        "## See also\n\n- [Port of Brill](https://example.org)\n- Port of Veere",
        "## Quellen der Donau\n\nDie Donau hat zwei Quellflüsse. Der erste wurde 1875 gefasst.",
        "## Fuentes de energía\n\n- Viento (2021)\n- Agua (2022)",
        "## Основные источники дохода\n\n1. Рыба, 2020\n2. Лес, 2021",
        "## Liste des musées\n\n1. Louvre (1793)\n2. Orsay (1986)",
        "## Literatur\n\n- *Der Deich* (1951)\n- *Salz* (1957)",
        "The board used many sources\n\nand trusted none of them.",
        "7. References\n8. Index\n\nThe contents end here.",
        "Two of them cite no\nsources\nand say so.",
    ],
)
def test_headings_that_only_sound_like_lists_keep_their_section(text: str) -> None:
    kept = text.replace("[Port of Brill](https://example.org)", "Port of Brill")
    assert strip_citations(text).text == kept


def test_seeds_stay_when_there_is_no_list() -> None:
    text = "Moss [1] beat Ito [4] and met Okafor [2] in the final."
    assert strip_citations(text).text == text


def test_cells_of_a_table_neither_prove_nor_disprove_that_numbers_without_a_list_cite() -> None:
    draw = "| round | winner |\n|---|---|\n| 1 | Moss [1] |\n| 2 | Ito [4] |\n| 3 | Okafor [2] |\n| 4 | Moss [1] |"
    assert strip_citations(draw).text == draw
    tolls = "| year | toll | Source |\n|---|---|---|\n| 1851 | 4 d | [8] |\n| 1852 | 5 d | [5] |\n| 1853 | 6 d | [8] |"
    text = strip_citations(f"Silt rose [1]. Ships left [2], and cranes came [3].\n\n{tolls}").text
    assert text.startswith("Silt rose. Ships left, and cranes came.")
    assert "[" not in text


def test_numbers_without_a_list_go_when_they_close_sentences_and_start_low() -> None:
    text = "The harbour silted up [1]. Ships left [2], and cranes came [3]."
    assert strip_citations(text).text == "The harbour silted up. Ships left, and cranes came."


def test_high_numbers_without_a_list_stay() -> None:
    text = "The harbour silted up [41]. Ships left [42], and cranes came [43]."
    assert strip_citations(text).text == text


def test_a_report_about_citations_keeps_its_words() -> None:
    text = "Reference lists and citations are discussed in the references below deck."
    assert strip_citations(text).text == text
