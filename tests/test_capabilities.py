"""docs/capabilities.md: what each published study needs or can use, and for every mark the test that shows it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "capabilities.md"
STUDIES = ("WLC", "DRG", "DR3", "RB", "DRB")
# x needed to run or check that study, o useful; a line for each capability, a sign for each study
NEEDED = [
    "x....",
    ".x...",
    "oooxx",
    "..x..",
    "xoxxx",
    "xxxxx",
    "xoo.x",
    "xxo.o",
    "xxxxx",
    "xx..o",
    "x....",
    "ox...",
    ".xx.x",
    "xxxxx",
    "xxx..",
    "..x.o",
    "..o.x",
    "x.oo.",
    "xxo.o",
    "xx...",
    "oxxox",
    "xxxoo",
    "..xo.",
    "xxxxx",
    "xoxxx",
    "xxxxx",
    "x...x",
    "..xxo",
    "xoxox",
    "x..o.",
    "oxoxo",
    ".x..x",
    "..x.x",
    ".ox.x",
    "ooxox",
    "xxxxx",
    "ooxo.",
    "x.oo.",
    "x....",
    "xx..o",
    ".xo..",
    "xxxxo",
    "xxxxx",
    "xxooo",
    "..xox",
]
MARK = re.compile(r"\[([xo])\]\((\.\./tests/[\w/]+\.py)#(\w+)\)")
LINES = PAGE.read_text("utf-8").splitlines()
ROWS = [line.strip().strip("|").split("|") for line in LINES if re.match(r"\| \d+ \|", line)]


def cells() -> Iterator[tuple[str, str]]:
    for number, _, *marks in ROWS:
        for study, cell in zip(STUDIES, marks, strict=True):
            yield f"{number.strip()} {study}", cell.strip()


LINKED = [(place, *match.groups()) for place, cell in cells() for match in MARK.finditer(cell)]


@cache
def functions_in(path: Path) -> frozenset[str]:
    found = ast.walk(ast.parse(path.read_text("utf-8")))
    return frozenset(one.name for one in found if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))


def test_the_table_has_every_capability_and_every_mark() -> None:
    assert [row[0].strip() for row in ROWS] == [str(number) for number in range(1, 46)]
    marks = [[match.group(1) if (match := MARK.fullmatch(cell.strip())) else "." for cell in row[2:]] for row in ROWS]
    assert ["".join(row) for row in marks] == NEEDED


def test_no_cell_holds_anything_but_a_linked_mark() -> None:
    assert [place for place, cell in cells() if cell and not MARK.fullmatch(cell)] == []


def test_every_mark_leads_to_a_test_that_is_there() -> None:
    for place, _, file, test in LINKED:
        path = (PAGE.parent / file).resolve()
        assert path.is_file(), f"{place}: {file} is not there"
        assert test.startswith("test_")
        assert test in functions_in(path), f"{place}: {path.name} has no {test}"
