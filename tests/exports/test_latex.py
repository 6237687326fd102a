"""Tables as LaTeX: as a person has read them, and how they are laid out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from exports.as_latex import as_latex
from exports.latex.tex_layout import NARROW, TIGHT, WIDE, fold, panels, table_format, width
from exports.tables import Column, Table
from tests.exports.toy import WILSON, toy_estimate
from tests.exports.toy_latex import LONG, extreme_tables, toy_tables

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
TABLES = toy_tables()


def cells(tex: str) -> list[list[str]]:
    """The lines between the rules, cell by cell."""
    bodies = re.findall(r"\\midrule\n(.*?)(?:\\bottomrule|\\end\{tabular)", tex, flags=re.DOTALL)
    lines = [line for body in bodies for line in body.splitlines() if line.endswith(r"\\")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)&", line.removesuffix(r"\\"))] for line in lines]


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_the_one_a_person_has_read(name):
    assert as_latex(TABLES[name]) == (GOLDEN / f"{name}.tex").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TABLES)
def test_every_table_states_n_clusters_ties_and_interval(name):
    table = TABLES[name]
    said = " ".join((*table.notes, *(column.title for column in table.columns)))
    for word in ("n|Topics", "[Cc]lusters", "[Tt]ies?", "95 %"):
        assert re.search(rf"\b({word})(?!\w)", said), word


@pytest.mark.parametrize(
    ("values", "form"),
    [
        ([".74", ".50"], ".2"),
        (["−.12", "1.00"], "-1.2"),
        (["1,170", "2"], "4"),
        (["12.3", ".00", "–", ""], "2.2"),
        (["<.001", ".900"], ".3"),
        (["–", ""], ""),
    ],
)
def test_a_column_reserves_the_digits_that_its_cells_have(values, form):
    assert table_format(values) == form


def test_numbers_align_at_the_point_and_everything_else_stands_in_braces():
    for line in cells(as_latex(TABLES["judges"])):
        for cell in line[1:]:
            assert not cell or re.fullmatch(r"-?\d*\.?\d+|\{.*\}|[a-z].*", cell), cell
    assert ["gpt-5\\_mini", ".79", ".47", "-.01", r"{$<$.001}", ".998"] in cells(as_latex(TABLES["judges"]))


@pytest.mark.parametrize(
    ("room", "lines"),
    [
        (40.0, ["openrouter/anthropic/claude-sonnet-4.5-20250929 [both orders]"]),
        (18.0, ["openrouter/anthropic/claude-sonnet-4.5-", "20250929 [both orders]"]),
        (11.0, ["openrouter/anthropic/", "claude-sonnet-4.5-", "20250929 [both orders]"]),
    ],
)
def test_a_long_name_folds_after_its_signs(room, lines):
    assert fold("openrouter/anthropic/claude-sonnet-4.5-20250929 [both orders]", room) == lines


@pytest.mark.parametrize("name", [*LONG, "x" * 90, "中" * 40, "a b " * 30, "", "e\u0301" * 30])
def test_no_line_is_wider_than_its_room_and_no_letter_is_lost(name):
    lines = fold(name, 8.0)
    assert all(width(line) <= 8.0 for line in lines)
    assert "".join(lines).replace(" ", "") == name.replace(" ", "")


def test_what_fits_a_column_stands_in_one_and_the_rest_across_the_page():
    rooms = {name: panels(table)[0].room for name, table in TABLES.items()}
    assert rooms["annotators"] == NARROW
    assert rooms["agreement"] == TIGHT
    assert rooms["ranking"] == WIDE
    assert r"\begin{table}" in as_latex(TABLES["annotators"])
    assert r"\begin{table*}" in as_latex(TABLES["agreement"])


def test_columns_too_many_for_a_page_stand_in_two_tables_each_with_the_names():
    table = TABLES["judges"]
    found = panels(table)
    assert len(found) == 2
    assert [shape.place for panel in found for shape in panel.shapes[1:]] == list(range(1, len(table.columns)))
    assert {panel.shapes[0].place for panel in found} == {0}


@pytest.mark.parametrize("count", [1, 8, 20, 60])
def test_any_number_of_columns_finds_room(count):
    columns = (
        Column("name", "Name"),
        *(Column(f"c{n}", f"criterion_with_a_long_id_{n}", f"c{n}") for n in range(count)),
    )
    estimate = toy_estimate("any", "gpt", 0.5, 0.4, 0.6, WILSON)
    table = Table("many", "Many", columns, (("gpt", *[estimate] * count),), ())
    for panel in panels(table):
        assert sum(shape.room for shape in panel.shapes) <= panel.room
    assert as_latex(table).count(".50") == count


def test_every_row_of_a_long_table_stands_once_in_parts_of_one_number():
    table = extreme_tables()["criteria"]
    tex = as_latex(table)
    assert "longtable" not in tex
    assert len(table.rows) == 780
    assert tex.count(r"\label") == 1
    assert tex.count(r"\caption") - 1 == tex.count(r"\addtocounter{table}{-1}") == tex.count("(continued)") > 1
    assert len([line for line in cells(tex) if line[-1]]) == len(table.rows)


def test_the_name_that_rows_share_is_printed_once_and_again_on_every_page():
    columns = (Column("criterion", "Criterion"), Column("rater", "Rater"), Column("n", "n"))
    rows = tuple((name, f"judge {number}", number) for name in ("depth", "style") for number in range(40))
    tex = as_latex(Table("t", "T", columns, rows, ()))
    floats = [cells(part) for part in tex.split(r"\end{table}")[:-1]]
    assert len(floats) > 1
    for lines in floats:
        names = [line[0] for line in lines]
        assert names[0]
        assert len([name for name in names if name]) == len({*names} - {""})
    assert [line[1] for lines in floats for line in lines] == [row[1] for row in rows]


def test_notes_never_stand_without_a_row():
    columns = (Column("item", "Item"), Column("n", "n"))
    for count in range(35, 60):
        table = Table("t", "T", columns, tuple((f"row {number}", number) for number in range(count)), ("word " * 60,))
        parts = as_latex(table).split(r"\end{table}")[:-1]
        assert all(cells(part) for part in parts)
        assert len(cells(as_latex(table))) == count


def test_lines_of_a_table_of_words_are_left_to_tex():
    columns = (Column("item", "Item"), Column("answer", "Answer"))
    tex = as_latex(Table("t", "T", columns, (("A sentence that is longer than half a column of a page", "yes"),), ()))
    assert r"A sentence that is longer than half a column of a page & yes\\" in tex
    assert tex.count(r"\raggedright\arraybackslash}p{") == 2


@pytest.mark.parametrize(
    ("room", "lines"),
    [(30, ["simulated-quick [both orders]"]), (11, ["simulated-quick", "[both orders]"])],
)
def test_what_is_added_to_a_name_in_brackets_stays_together(room, lines):
    assert fold("simulated-quick [both orders]", room) == lines


def test_the_comment_names_the_packages_that_are_needed_and_no_other():
    needs = {"adjustbox": r"\begin{adjustbox}", "siunitx": r"\sisetup", "booktabs": r"\toprule"}
    for table in TABLES.values():
        tex = as_latex(table)
        (listed,) = re.findall(r"^% \\usepackage\{(.*)\}$", tex, flags=re.MULTILINE)
        assert {*listed.split(",")} == {name for name, used in needs.items() if used in tex}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("gpt", []),
        ("gęślą", [r"% \usepackage[T1]{fontenc}"]),
        ("中文", ["% pdfLaTeX has no font for some of this text (Chinese, Japanese or Korean).", "Noto Serif CJK SC"]),
        ("تقرير", ["(Arabic)", r"% \usepackage[english,bidi=basic]{babel}", "Noto Naskh Arabic"]),
        ("😀 Ж", ["(emoji, Cyrillic)", "Noto Color Emoji", "Noto Serif"]),
    ],
)
def test_the_comment_names_what_pdflatex_cannot_print(text, lines):
    table = Table("one", text, (Column("a", "A"),), ((text,),), ())
    head = as_latex(table).partition(r"\begin{table}")[0]
    assert all(line in head for line in lines)
    assert text in as_latex(table)
    assert ("pdfLaTeX" in head) == (not text.isascii() and "ą" not in text)
