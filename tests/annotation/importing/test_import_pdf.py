"""A PDF's characters and places become headings, paragraphs, lists, tables and marks again, in the order of reading."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from annotation.citations import strip_citations
from annotation.documents import pdf_lines, pdf_pictures, pdf_process, pdf_tree, programs
from annotation.documents.document_tree import elements_in, text_of
from annotation.documents.reading import read_document
from annotation.errors import ImportingError
from annotation.protocol import Reports
from annotation.shown_texts.prepare import prepare_report
from tests.annotation.importing.pdf_files import Put, bomb, in_this_process, link, locked, pdf, running, written

WORDS = "The tide rises and falls twice a day because the Earth turns under two bulges of water that the moon holds."


def read(*pages: list[Put], **more) -> tuple[str, tuple[str, ...]]:
    with in_this_process():
        return read_apart(*pages, **more)


def read_apart(*pages: list[Put], **more) -> tuple[str, tuple[str, ...]]:
    made = read_document(pdf(*pages, **more), ".pdf", "x")
    return made.text.strip(), made.lost


def test_lines_become_headings_paragraphs_lists_and_code() -> None:
    page: list[Put] = [
        (72, 80, 20, "plain", "High water"),
        (72, 110, 14, "plain", "How it"), (120, 110, 14, "plain", "rises"),
        *running(WORDS, 72, 130, 60), (72, 156, 10, "plain", "This is known to every-"),
        (72, 169, 10, "plain", "body and to well-known people."),
        (72, 195, 10, "bold", "Bold"), (100, 195, 10, "plain", "and"), (125, 195, 10, "slanted", "slanted."),
        (72, 220, 10, "plain", "•"), (90, 220, 10, "plain", "First point"),
        (90, 233, 10, "plain", "goes on."),
        (90, 246, 10, "plain", "•"), (108, 246, 10, "plain", "Below it"),
        (72, 259, 10, "plain", "•"), (90, 259, 10, "plain", "Second"),
        (72, 285, 10, "plain", "3."), (90, 285, 10, "plain", "Third"),
        (72, 310, 10, "typed", "for x in y:"), (96, 322, 10, "typed", "go(x)"),
    ]  # fmt: skip
    text, lost = read(page)
    assert lost == ()
    assert text == (
        f"# High water\n\n## How it rises\n\n{WORDS} This is known to everybody and to well-known people."
        "\n\n**Bold** and *slanted.*\n\n- First point goes on.\n  - Below it\n- Second\n\n3.  Third\n\n"
        "```\nfor x in y:\n    go(x)\n```"
    )


def test_marks_are_superscripts_that_lead_somewhere_and_linked_numbers() -> None:
    page: list[Put] = [
        (72, 80, 10, "plain", "It rises"), (101.7, 76, 6, "plain", "7"), (108, 80, 10, "plain", "by 10"),
        (132.6, 76, 6, "plain", "3"), (140, 80, 10, "plain", "litres [4] as"), (205, 80, 10, "plain", "Newton"),
        (245, 80, 10, "plain", "says."),
    ]  # fmt: skip
    links = [
        link(101, 68, 106, 80, "#"),
        link(164, 70, 178, 83, "https://example.org/4"),
        link(204, 70, 242, 83, "https://example.org/n"),
    ]
    text, _ = read(page, links=links)
    assert text == (
        "It rises[^c1] by 10<sup>3</sup> litres [[4]](https://example.org/4) as [Newton](https://example.org/n) says."
    )
    shown = prepare_report(text, "Tides", (), Reports(), layout="canonical").shown_text
    assert shown == "# Tides\n\nIt rises by 10^3 litres as Newton says.\n"


def test_a_link_ends_within_a_word_and_an_address_over_lines_is_whole() -> None:
    page: list[Put] = [
        (72, 80, 10, "plain", "It rises (Newton)."), (72, 93, 10, "plain", "Tides https://example.org/2013-"),
        (72, 106, 10, "plain", "36-tides-of-the-moon."),
    ]  # fmt: skip
    address = "https://example.org/2013-36-tides-of-the-moon"
    links = [link(107, 70, 142, 82, "https://example.org/n")]
    links += [link(99, 84, 300, 95, address), link(70, 97, 165.5, 108, address)]
    text, _ = read(page, links=links)
    assert text == f"It rises ([Newton](https://example.org/n)). Tides {address}."
    assert strip_citations(f"{text}\n").text == "It rises. Tides.\n"
    page[1:] = running("Tides https://example.org/the- long-and-ever-winding-way/ moon/7 times.", 72, 93, 30)
    assert read(page)[0] == "It rises (Newton). Tides https://example.org/the-long-and-ever-winding-way/moon/7 times."


def test_formulas_are_told_and_texs_root_is_no_letter() -> None:
    text, lost = read([(72, 80, 10, "plain", "It is"), (96, 80, 10, "maths", "p"), (106, 80, 10, "plain", "k high.")])
    assert text == "It is √ k high."
    assert lost == ("1 page with formulas, which were read as characters",)
    assert read([(72, 80, 10, "maths", "\u2022"), (90, 80, 10, "plain", "A point")]) == ("- A point", ())
    halves: list[Put] = [(100, 80, 10, "plain", "1"), (100, 93, 10, "plain", "2"), (72, 120, 10, "plain", "Half.")]
    for rule, told in [("100 759.3 5.6 .4 re f", lost), ("90 759.3 25.6 .4 re f", ()), ("100 755 5.6 9 re f", ())]:
        assert read(halves, drawn=rule)[1] == told


def test_letters_that_lie_as_drawn_are_told_or_refused_and_one_without_a_name_is_no_code() -> None:
    own = b"/BaseFont/ABCDEF+CMEX10/Encoding/WinAnsiEncoding"

    def told(glyphs: bytes, *page: Put) -> tuple[str, tuple[str, ...]]:
        named = b"/BaseFont/ABCDEF+Own/Encoding<</Differences[97%b]>>" % glyphs
        made = read_document(pdf(page).replace(own, named).replace(b"+CMEX10", b"+Own"), ".pdf", "x")
        return made.text.strip(), made.lost

    hebrew = b"/afii57664/afii57665/afii57666"  # alef, bet and gimel
    assert told(hebrew, (72, 80, 10, "maths", "abc"), (90, 80, 10, "plain", "is three letters."))[1] == (
        "1 page with words from right to left, whose letters are as drawn",
    )
    with pytest.raises(ImportingError, match="x: written from right to left, of which a PDF holds the letters as they"):
        told(hebrew, (72, 80, 10, "maths", "abc cba"), (172, 80, 10, "plain", "three"))
    shown = "1 page with characters that its fonts do not name, shown as \ufffd"
    assert told(b"/a", (72, 80, 10, "maths", "\x01"), (90, 80, 10, "plain", "b")) == ("\ufffd b", (shown,))


def test_columns_are_read_one_after_the_other_and_that_it_was_a_guess_is_told() -> None:
    left, right = running(WORDS * 4, 72, 100, 42), running(WORDS.upper() * 3, 320, 100, 28)
    top: list[Put] = [
        (72, 70, 10, "plain", "A line that reaches over both of the columns, from one side to the other one.")
    ]
    text, lost = read([*top, *left, *right], [*running(WORDS, 72, 100, 42), *running(WORDS.upper(), 320, 100, 28)])
    assert lost == ("2 pages in columns, whose order was guessed",)
    assert text.index("A line that") < text.index("The tide") < text.index("THE TIDE")
    assert text.count(WORDS) == 5
    assert text.count(WORDS.upper()) == 4


@pytest.mark.parametrize("ruled", [True, False])
def test_a_table_is_one_with_rules_and_without(ruled: bool) -> None:
    rows = [("Place", "Height"), ("Fundy", "16 m"), ("Ems", "3 m")]
    page = [
        (80.0 + 150 * n, 100.0 + 20 * at, 10.0, "plain", cell)
        for at, row in enumerate(rows)
        for n, cell in enumerate(row)
    ]
    lines = [f"72 {842 - y} m 372 {842 - y} l S" for y in (85, 105, 125, 145)] + [
        f"{x} 757 m {x} 697 l S" for x in (72, 222, 372)
    ]
    text, _ = read(
        [(72, 60, 10, "plain", "Before it."), *page, (72, 190, 10, "plain", "After it.")],
        drawn="\n".join(lines) * ruled,
    )
    table = "| Place | Height |\n|-------|--------|\n| Fundy | 16 m   |\n| Ems   | 3 m    |"
    assert text == f"Before it.\n\n{table}\n\nAfter it."


def test_a_table_without_rules_has_wrapped_heads_cells_in_the_middle_of_their_row_and_narrow_columns() -> None:
    def level(y: float, *cells: str) -> list[tuple[float, float, float, str, str]]:
        return [(x, y, 10.0, "plain", cell) for x, cell in zip((72.0, 190.0, 300.0), cells, strict=True) if cell]

    spaced = [
        *level(100, "", "Mean", ""), *level(106, "Place", "", "Remark"), *level(112, "", "range", ""),
        *level(131, "", "", "the highest of"), *level(137, "Fundy", "11.7", ""), *level(143, "", "", "all of them"),
        *level(162, "Ems", "3.1", ""),
    ]  # fmt: skip
    after = [(72.0, 181.0, 10.0, "plain", "Short line."), (72.0, 230.0, 10.0, "plain", "More of the text.")]
    text, _ = read([(72, 60, 10, "plain", "Before it."), *spaced, *after])
    table = """
| Place | Mean range | Remark                     |
|-------|------------|----------------------------|
| Fundy | 11.7       | the highest of all of them |
| Ems   | 3.1        |                            |
"""
    assert text == f"Before it.\n{table}\nShort line.\n\nMore of the text."
    dense = [
        *level(100, "Measure", "Cost", ""), *level(112, "Low speed", "little, as far", "Low"), *level(124, "", "as known", ""),
        *level(136, "Walls", "much", "High"), *level(148, "Windows", "some", "High"),
    ]  # fmt: skip
    code = [(72.0, 200.0 + 12 * n, 10.0, "typed", "x    =    1        # one") for n in range(3)]
    text, _ = read([(72, 88, 10, "plain", "ends here."), *dense, *code])
    assert text.split("\n\n")[:2] == [
        "ends here.",
        "| Measure   | Cost                    |      |\n"
        "|-----------|-------------------------|------|\n"
        "| Low speed | little, as far as known | Low  |\n"
        "| Walls     | much                    | High |\n"
        "| Windows   | some                    | High |",
    ]


HEAD = ("Place", "Mean range")


def table_rows(top: float, *rows: tuple[str, ...], font: str = "plain") -> list[Put]:
    """Rows of a table without rules, 22 points apart; a cell's lines are parted by a bar."""
    return [
        (72.0 + 150 * n, top + 22 * at + 12 * down, 10.0, font, line)
        for at, row in enumerate(rows)
        for n, cell in enumerate(row)
        for down, line in enumerate(cell.split("|"))
        if line
    ]


def test_a_table_goes_on_over_pages_whether_its_head_is_set_again_or_not() -> None:
    first = [*running(WORDS, 72, 80, 60), *table_rows(700, HEAD, font="bold")]
    first += table_rows(722, ("Fundy", "11.7"), ("Severn", "8.9"), ("Ems, where", "3.1"))
    again = table_rows(40, HEAD, font="bold")
    for second in (
        [*again, *table_rows(62, ("Brest", "4.2"))],
        table_rows(40, ("Brest", "4.2")),
        # the rest of a cell that the page's end cut, and a row of two lines
        [*again, *table_rows(62, ("", "in spring"), ("Brest|harbour", "4.2"))],
    ):
        text, lost = read([*first], [*second, (72, 220, 10, "plain", "They fall.")])
        assert (lost, text.count("Mean range"), text.count("|----")) == ((), 1, 2), text
        assert [*map(str.split, text.splitlines())][-3][:2] == ["|", "Brest"]
    assert "| 3.1 in spring |" in " ".join(text.split())
    assert "| Brest harbour | 4.2 |" in " ".join(text.split())
    three = read(
        first, [*again, *table_rows(62, *[(f"P{n}", str(n)) for n in range(30)])], [*again, *table_rows(62, ("Z", "1"))]
    )
    assert (three[1], three[0].count("Mean range"), three[0].count("\n| ")) == ((), 1, 35)
    # a matrix has nothing in its corner
    corner, rest = table_rows(40, ("", "Mean", "Range"), font="bold"), (("Brest", "4.2", "7"), ("Total:", "19", ""))
    matrix = [(x, y + 660, *put) for x, y, *put in corner] + table_rows(722, ("Fundy", "11.7", "3"), ("Ems", "3", "5"))
    for second, cut in (
        (table_rows(40, *rest), ""),
        ([*corner, *table_rows(62, ("", "in May", ""), *rest)], " in May"),
    ):
        text, lost = read(matrix, second)
        assert " ".join(text.split()).endswith(f"| Ems | 3{cut} | 5 | | Brest | 4.2 | 7 | | Total: | 19 | |")
        assert (lost, text.count("Range")) == ((), 1)


def test_tables_that_a_pages_end_parts_and_nothing_joins_are_told() -> None:
    first = table_rows(700, HEAD, font="bold") + table_rows(722, ("Fundy", "11.7"), ("Ems", "3.1"))
    other = table_rows(40, ("Moon", "Sun", "Earth"), font="bold") + table_rows(62, ("1", "2", "3"), ("4", "5", "6"))
    text, lost = read(first, other)
    assert (text.count("| Moon"), text.count("|---"), lost) == (1, 4, ("1 table cut by a page's end, shown as two",))
    text, lost = read(first, [(72, 40, 10, "plain", "Between them."), *other])
    assert lost == ()
    plain = table_rows(700, HEAD, ("Fundy", "11.7"), ("Ems", "3.1"))
    text, lost = read(plain, table_rows(40, ("Model", "Score"), ("Atlas", "1"), ("Borealis", "2")))
    guessed = "1 page whose first rows were guessed to go on with the table before it"
    assert (text.count("|---"), lost) == (2, (guessed,))
    text, lost = read(plain, table_rows(40, ("Note:", "all are in metres")))
    assert (text.split("\n\n")[1:], lost) == (["Note: all are in metres"], ())


def test_a_table_of_which_a_page_holds_one_row_or_two_is_one_or_told() -> None:
    guessed = "1 page whose first rows were guessed to go on with the table before it"
    two, three = (("Fundy", "11.7"), ("Ems", "3.1")), (("Fundy", "11.7"), ("Severn", "8.9"), ("Ems", "3.1"))
    text: list[Put] = running(WORDS, 72, 80, 60)
    for above, below, lost in (
        (table_rows(760, HEAD, font="bold"), three, ()),
        ([*table_rows(738, HEAD, font="bold"), *table_rows(760, ("Brest", "4"))], three, ()),
        (table_rows(760, HEAD), three, (guessed,)),
        (table_rows(760, HEAD), two, (guessed,)),
        (table_rows(738, HEAD, ("Brest", "4")), two, (guessed,)),
        (table_rows(760, HEAD), two[:1], ("1 table cut by a page's end, shown as two",)),
    ):
        read_again, told = read([*text, *above], [*table_rows(40, *below), (72, 220, 10, "plain", "They fall.")])
        assert told == lost
        rows = [line.split("|")[1].strip() for line in read_again.split("\n") if line.startswith("| ")]
        whole = ["Place", *["Brest"] * (len(above) > 2), *(place for place, _ in below)]
        assert rows == (whole if lost != ("1 table cut by a page's end, shown as two",) else [])
    items = [("A", 738.0), ("B", 760.0), ("C", 40.0), ("D", 62.0)]
    points = [[(72.0, y, 10.0, "plain", "•"), (90.0, y, 10.0, "plain", f"Point {name}")] for name, y in items]
    again, _ = read([*text, *points[0], *points[1]], [*points[2], *points[3]])
    assert again.split("\n")[2:] == ["- Point A", "- Point B", "- Point C", "- Point D"]
    # the same between rules: one row at the end, and one at the top
    drawn = "\n".join(
        [f"72 {842 - y} m 372 {842 - y} l S" for y in (30, 50, 745, 765, 785)]
        + [f"{x} {842 - y} m {x} {842 - low} l S" for x in (72, 222, 372) for y, low in ((30, 50), (745, 785))]
    )  # fmt: skip
    for above in (table_rows(758, HEAD, font="bold"), table_rows(758, HEAD, ("Brest", "4"), font="bold")):
        page = [(x, y + 1, *put) for x, y, *put in above]
        for below in (two[:1], two):
            again, _ = read(
                [*text, *page], [*table_rows(44, *below), (72, 220, 10, "plain", "They fall.")], drawn=drawn
            )
            assert "| Fundy" in again, (page, again)


def test_numbers_of_a_table_that_begins_a_page_are_none_of_the_pages() -> None:
    cells = [
        [(f"{['Fundy', 'Severn', 'Ems'][page]} {n}", str(16 + 7 * n + 5 * page**2)) for n in range(4)]
        for page in range(3)
    ]
    text, _ = read(*([*table_rows(40, *rows), *running(WORDS, 72, 400, 60), (222, 815, 9, "plain", str(page))]
                     for page, rows in enumerate(cells, start=1)))  # fmt: skip
    for rows in cells:
        assert all(f"| {place} | {number} |" in " ".join(text.split()) for place, number in rows)
    assert {"1", "2", "3"}.isdisjoint(text.split("\n"))
    title = [[(72, 30, 9, "plain", "Tides"), (290, 30, 9, "plain", str(page + 1)), (72, 80, 9, "plain", "Tides"),
              *running(WORDS, 72, 100, 60)] for page in (1, 2, 3)]  # fmt: skip
    assert read(*title)[0].count("Tides") == 3, "above the margin it is text"


def test_running_titles_and_page_numbers_go_and_a_sentence_goes_on_over_the_page() -> None:
    pages = [
        [
            (72, 30, 9, "plain", "Atlas Research"),
            *running(f"{WORDS[:-1]} and" if number == 3 else WORDS, 72, 100, 60),
            (290, 815, 9, "plain", str(number)),
        ]
        for number in (1, 2, 3)
    ]
    text, _ = read(*pages, [(72, 100, 10, "plain", "the sun pulls too."), (290, 815, 9, "plain", "4")])
    assert text == f"{WORDS}\n\n{WORDS}\n\n{WORDS[:-1]} and the sun pulls too."


def test_a_number_near_the_text_is_a_pages_only_where_it_is_alone_at_the_end_of_several() -> None:
    table = [
        (72.0 + 150 * n, 700.0 + 20 * at, 10.0, "plain", cell)
        for at, row in enumerate((("Place", "Height"), ("Fundy", "16"), ("Ems", "13")))
        for n, cell in enumerate(row)
    ]
    text, _ = read(*[[*running(WORDS, 72, 100, 60), *table]] * 2)
    assert (text.count("16"), text.count("13")) == (2, 2)
    numbered = [[*running(WORDS, 72, 100, 60), (290, 745, 9, "plain", str(page))] for page in (1, 2)]
    assert read(*numbered)[0] == f"{WORDS}\n\n{WORDS}"
    assert read(numbered[0], [(72, 100, 10, "plain", "The end.")])[0] == f"{WORDS}\n\n1\n\nThe end.", "of one page"


def test_notes_that_lead_back_are_notes_and_those_at_a_pages_foot_are_told() -> None:
    marked: list[Put] = [(72, 80, 10, "plain", "They rise."), (118, 77, 6.5, "plain", "1")]
    listed: list[Put] = [(72, 120, 10, "plain", "1. First the moon"), (72, 160, 10, "plain", "1. So says Smith.~")]
    [page] = pdf_process.read_pages(pdf([*marked, *listed], links=[link(117, 68, 123, 82, "#")]))
    page["words"] = [[word[0].replace("~", "↩"), *word[1:]] for word in page["words"]]  # a letter of no font here
    found = pdf_tree.tree_of([page])
    assert found
    assert [text_of(one) for one in found[0]] == ["They rise. So says Smith.", "First the moon"]
    assert [text_of(one) for one in elements_in(found[0]) if one["t"] == "Note"] == ["So says Smith."]
    foot: list[Put] = [(72, 757, 5, "plain", "1"), (76, 760, 8, "plain", "So says Smith in a letter.")]
    text, lost = read([*running(WORDS, 72, 110, 60), *marked, *foot])
    assert lost == ("1 page with notes at its foot, which are in the text",)
    assert text.endswith("<sup>1</sup> So says Smith in a letter.")
    assert read([*running(WORDS, 72, 110, 60), *marked, (72, 760, 10, "plain", "1 of them is in Fundy.")])[1] == ()


def test_pictures_without_words_and_pages_without_text_are_told() -> None:
    words = [(72.0, 80.0, 10.0, "plain", "Some words.")]
    assert read(words, [], picture=True)[1] == ("2 figures without words", "1 page without text")
    with pytest.raises(ImportingError, match="holds no text, only pictures"):
        read([], picture=True)
    curve = "100 700 m 100 720 140 720 140 700 c S\n" * 40
    assert read(words, drawn=curve)[1] == ("1 page with a drawing, whose labels are in the text",)


def test_a_picture_stands_above_its_caption_and_the_papers_own_and_a_pages_background_go() -> None:
    page = [(72.0, 80.0, 10.0, "plain", "They rise."), (72.0, 460.0, 10.0, "slanted", "Figure 1: Height by hour")]
    below = [*page, (72.0, 473.0, 10.0, "plain", "They fall.")]
    assert read(below, picture=True) == (
        "They rise.\n\n![Figure 1: Height by hour](figure1.png)\n\nThey fall.",
        (),
    )
    assert "![" not in read(page, page, page, picture=True)[0]
    over = running(WORDS * 4, 80, 350, 30, step=5, size=4)
    assert read([*page, *over], picture=True)[1] == ("1 figure behind text, left out",)
    claimed = pdf(page, picture=True, pixels=(10_000, 10_000, b""))
    assert pdf_pictures.read_pictures(claimed, ["pdf:1/10000x10000/0", "pdf:9/1x1/0", "x"]) == {}
    assert pdf_pictures.read_pictures(claimed[:400], ["pdf:1/10000x10000/0"]) == {}


def test_columns_that_are_close_to_each_other_are_two() -> None:
    """LaTeX sets them a type size apart, on one height."""
    left, right = running(WORDS * 8, 72, 150, 41), running(WORDS.upper() * 6, 292, 150, 30)
    text, lost = read([*left, *right, (290, 745, 10, "plain", "1")])
    assert (text.count(WORDS), text.count(WORDS.upper()), "1" in text) == (8, 6, False)
    assert lost == ("1 page in columns, whose order was guessed",)


@pytest.mark.parametrize(
    ("original", "said"),
    [
        pytest.param(lambda: b"%PDF-1.7 and no more", "no PDF", id="no objects"),
        pytest.param(lambda: pdf([(72, 80, 10, "plain", "x")])[:400], "no PDF", id="cut off"),
        pytest.param(locked, "locked by a password", id="locked"),
        pytest.param(lambda: written([b"<</Type/Catalog>>"]), "no PDF", id="no pages"),
        pytest.param(
            lambda: pdf([(72, 80, 10, "plain", "x")]).replace(b"[0 0 595", b"[0 0 " + b"9" * 400 + b".0"),
            "wider or higher than 14,400 points",
            id="wide",
        ),
        pytest.param(lambda: bomb(450), "over 250 MB", id="bomb", marks=pytest.mark.slow),
    ],
)
def test_what_cannot_be_read_is_told_in_one_sentence(original: Callable[[], bytes], said: str) -> None:
    with pytest.raises(ImportingError, match=f"^atlas/tides.pdf: .*{said}") as refused:
        read_document(original(), ".pdf", "atlas/tides.pdf")
    assert "\n" not in str(refused.value)


def test_no_script_runs_and_no_address_is_asked() -> None:
    script = "/OpenAction<</S/JavaScript/JS(app.launchURL\\('http://127.0.0.1:9/'\\))>>/AA<</WC<</S/URI/URI(http://127.0.0.1:9/)>>>>"
    assert read([(72, 80, 10, "plain", "Some words.")], more=script) == ("Some words.", ())


def test_a_lines_end_joins_dashes_and_compounds_and_letters_are_letters() -> None:
    page: list[Put] = [
        (72, 80, 10, "plain", "It rises under the rule of one moon—"), (72, 93, 10, "plain", "and falls by Anti-"),
        (72, 106, 10, "plain", "Lunar laws of the high and of the low water."),
    ]  # fmt: skip
    assert (
        read(page)[0]
        == "It rises under the rule of one moon—and falls by Anti-Lunar laws of the high and of the low water."
    )
    assert pdf_lines._letters("\ufb01n 椒\u2fc7", "") == "fin 椒麻"


def test_words_that_nobody_could_see_are_none_and_blanks_have_an_end() -> None:
    page: list[Put] = [(72, 80, 10, "typed", "Hello")]
    unseen = "BT /typed 10 Tf 0 Tz 72 700 Td (no width) Tj ET BT /typed 10 Tf 100000000 762 Td (far away) Tj ET"
    assert read(page, drawn=unseen)[0] == "```\nHello\n```"
    narrow = "BT /typed 10 Tf .1 Tz 72 660 Td (narrow) Tj 100 Tz 400 0 Td (x) Tj ET"
    assert len(read([], drawn=narrow)[0]) < 999


def test_text_on_its_side_or_aslant_cuts_no_sentence_and_is_told() -> None:
    stamp = "BT /plain 20 Tf 0 1 -1 0 60 650 Tm (arXiv:2602.01590v1 [cs.CL]) Tj ET"
    draft = "BT /plain 60 Tf .7 .7 -.7 .7 100 650 Tm (DRAFT) Tj ET"
    page = running(WORDS, 72, 100, 60)
    lost = ("1 page with text on its side or aslant, which was left out",)
    assert read(page, drawn=stamp) == read(page, drawn=draft) == (WORDS, lost)


def test_a_folder_of_somebody_elses_breaks_no_pdf(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "resource.py").write_text("raise SystemExit(1)")
    (tmp_path / "annotation").mkdir()
    (tmp_path / "annotation" / "__init__.py").write_text("raise SystemExit(1)")
    monkeypatch.chdir(tmp_path)
    page: list[Put] = [(72, 80, 10, "plain", "Some words.")]
    assert read_apart(page) == ("Some words.", ())
    monkeypatch.setattr("sys.executable", "false")
    with pytest.raises(ImportingError, match="the program that reads PDFs does not run here"):
        read_apart(page)


def test_the_readers_time_and_memory_have_an_end_and_a_lower_end_stays(monkeypatch) -> None:
    with monkeypatch.context() as patched, pytest.raises(ImportingError, match=r"not read within 0\.01 s"):
        patched.setattr(pdf_process, "PATIENCE_S", 0.01)
        read_apart([(72, 80, 10, "plain", "x")])
    under_ulimit = ["sh", "-c", f'ulimit -d 300000 && exec "$0" -m {pdf_process.__name__}', sys.executable]
    given = pdf([(72, 80, 10, "plain", "Word")])
    done = subprocess.run(under_ulimit, input=given, capture_output=True, check=True, cwd=programs.ROOT)
    assert b'"Word"' in done.stdout


def made_page(small: float, links: int) -> dict[str, object]:
    """1,500 words in lines of ten, every second one of the size `small`."""
    words = [
        ["word", 50.0 * (n % 10), 50.0 * (n % 10) + 40, y := 90.0 * (n // 10), y + 10, small if n % 2 else 10.0, "F"]
        for n in range(1_500)
    ]
    boxes = [[0.0, 5.0, 90.0 * n, 90.0 * n + 5, "#"] for n in range(links)]
    nothing = dict.fromkeys(("tables", "figures", "dots", "boxes"), ())
    return {
        "width": 595.0,
        "height": 14_400.0,
        "words": words,
        "links": boxes,
        "drawn": 0,
        **dict.fromkeys(("turned", "stacked", "from_right", "unnamed"), 0),
        **nothing,
    }


def test_small_words_and_links_are_looked_for_on_their_own_height_alone() -> None:
    def seconds(page: dict[str, object]) -> float:
        begun = time.process_time()
        pdf_lines.read_pages([page])
        return time.process_time() - begun

    assert seconds(made_page(6, 150)) < 5 * seconds(made_page(10, 0)), "200 and 30 times as long, each with each"


def test_a_table_without_any_room_between_its_columns_is_one_where_they_all_stand_left() -> None:
    rows = [("Period", "Light", "Why"), ("before 1780", "wood, coal, wax", "no other"), ("1780-1860", "oil", "bright"),
            ("after 1900", "paraffin", "ten times as bright")]  # fmt: skip
    page = [(x, 100.0 + 14 * at, 10.0, "plain", cell) for at, row in enumerate(rows)
            for x, cell in zip((72.0, 130.5, 204.0), row, strict=True)]  # fmt: skip
    text, lost = read(
        [(72, 76, 10, "plain", "Before it."), *page, (72, 166, 10, "plain", "This is set below it in a line.")]
    )
    assert (text.count("\n| "), lost) == (4, ())
    assert "| before 1780 | wood, coal, wax | no other            |" in text
    assert text.endswith("|\n\nThis is set below it in a line.")


def test_what_is_drawn_beside_words_is_a_box_of_a_task_or_told_as_a_chart() -> None:
    square = "{0} {1} 9 9 re S ".format
    tick = f"{74} {842 - 96} m {77} {842 - 99} l {80} {842 - 93} l S "
    tasks: list[Put] = [
        (72, 60, 10, "plain", "Tasks."),
        (88, 100, 10, "plain", "lamps"),
        (88, 114, 10, "plain", "horns"),
    ]
    assert read(tasks, drawn=square(72.5, 742) + square(72.5, 728) + tick)[0] == "Tasks.\n\n- ☒ lamps\n- ☐ horns"
    axis = [(60.0, 300.0 + 20 * n, 8.0, "plain", str(10 * n)) for n in range(9)]
    marks = "".join(f"80 {545 - 20 * n} m 84 {545 - 20 * n} l S " for n in range(9))
    told = ("1 page with a drawing, whose labels are in the text",)
    assert read([*tasks[:1], *axis], drawn=marks)[1] == told
    assert read(tasks[:1], drawn="90 600 20 50 re f 120 600 20 80 re f 150 600 20 66 re f")[1] == told
    assert read(tasks[:1], drawn="90 600 20 50 re f 120 600 20 50 re f 150 600 20 50 re f")[1] == ()


def test_two_notes_beside_each_other_are_two_marks_and_notes_of_one_work_stay() -> None:
    page: list[Put] = [(72, 80, 10, "plain", "It rises"), (102, 76, 6, "plain", "67"), (112, 80, 10, "plain", "so.")]
    links = [link(101.5, 68, 105.3, 80, "#"), link(105.4, 68, 110, 80, "#")]
    assert read(page, links=links)[0] == "It rises[^c1][^c2] so."
    noted: list[list[Put]] = [
        [(72, 80, 10, "plain", "It rises"), (102, 76, 6, "plain", str(n)), *running(WORDS * 2, 72, 93, 90),
         (72, 800, 6, "plain", str(n)), (77, 800, 8, "plain", f"Smith, Tides, p. {n}.")] for n in (1, 2, 3)
    ]  # fmt: skip
    text, lost = read(*noted)
    assert [f"Smith, Tides, p. {n}." in text for n in (1, 2, 3)] == [True] * 3
    assert lost == ("3 pages with notes at its foot, which are in the text",)


def test_a_numbered_line_in_bold_type_is_a_heading_and_what_is_set_in_on_both_sides_a_quotation() -> None:
    text = "The tide rises and falls as the moon goes around the earth, and so it is told by the people of the coast."
    page: list[Put] = [*running(f"{text} {text}", 72, 80, 90), *running(text, 110, 130, 40), (72, 190, 10, "bold", "4. Money"),
                       (80, 210, 10, "plain", "\u2022 High."), *running(text, 90, 230, 90)]  # fmt: skip
    made, _ = read(page)
    assert made.split("\n\n")[1:] == [f"> {text}", "**4. Money**", "- High.", text]
    listed, _ = read([*page, (72, 300, 10, "bold", "5. Sea"), (72, 313, 10, "bold", "6. Ebb")])
    assert listed.endswith("5.  **Sea**\n6.  **Ebb**")
