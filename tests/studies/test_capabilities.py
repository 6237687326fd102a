"""docs/capabilities.md is made by running: every mark is a row of a walk through that study's own layout.

To write it again: CALIPERS_WRITE_PAGES=1 pytest -m slow tests/studies/test_capabilities.py
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from calibration.inference.bootstrap import expanded_percentile
from tests.annotation.judges.conftest import Fake
from tests.studies.desk import Desk
from tests.studies.implied import IMPLIED, agrees
from tests.studies.intervals import Interval, tail_of
from tests.studies.page import PAGES, same_on_the_page
from tests.studies.setting_out import SET_OUT
from tests.studies.walking import Shown, promised, walked

PAGE = "../capabilities.md"
REAL = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "wlc_real"
CAPABILITIES = (  # the signs: x needed to run or check WLC, DRG, DR3, RB, DRB; o useful
    ("x....", "import a tree of Markdown, and a registry of systems"),
    (".x...", "import text files by id"),
    ("oooxx", "import JSON keyed by id or prompt"),
    ("..x..", "import a folder for each case"),
    ("xoxxx", "categories and features of topics"),
    ("xxxxx", "names, byte order marks, missing and empty reports"),
    ("xoo.x", "strip citations and references"),
    ("xxo.o", "audit the blinding"),
    ("xxxxx", "the same text for people and judge, by hash"),
    ("xx..o", "choose between two reports"),
    ("x....", "39 criteria, in groups"),
    ("ox...", "one overall preference"),
    (".xx.x", "scores, on the scale of the study"),
    ("xxxxx", "claims against their sources"),
    ("xxx..", "key points, insights, facts against reports"),
    ("..x.o", "checklists"),
    ("....x", "weighted criteria of each topic"),
    ("x.oo.", "a reason for each label"),
    ("xxo.o", "order drawn for each assignment, and stored"),
    ("xx...", "ties off or on, not applicable apart"),
    ("oxxox", "so many people an item"),
    ("xxxoo", "a queue that people work off"),
    ("..xo.", "adjudication"),
    ("xxxxx", "criteria or claims by the call of a judge"),
    ("xoxxx", "several judges on the same items"),
    ("xxxxx", "replies checked, each with its status"),
    ("x...x", "both orders, and what the order does"),
    ("..xxo", "repeated runs, votes and their confidence"),
    ("xoxox", "what judges cost"),
    ("x..o.", "label agreement beside a constant answer"),
    ("oxoxo", "κ, α"),
    (".x..x", "preferences derived of scores"),
    ("..x.x", "correlations, beside those of people"),
    (".ox.x", "rank agreement"),
    ("oox.x", "the order of systems by another judge"),
    ("xxxxx", "intervals over whole topics"),
    ("ooxo.", "two systems' scores apart, Wilcoxon"),
    ("x.oo.", "scores by category, analysis of variance"),
    ("x....", "difficulty and features of topics"),
    ("xx..o", "matrix of wins"),
    (".xo..", "two conditions topic by topic"),
    ("xxxxo", "results of judges and people that are there already"),
    ("xxxxx", "labels and reports as files"),
    ("xxooo", "no system named to an annotator"),
    ("..xox", "other languages"),
)
STUDIES = tuple(SET_OUT)
NUMBERS = range(1, len(CAPABILITIES) + 1)


def sign(walk: str, number: int) -> str:
    return CAPABILITIES[number - 1][0][STUDIES.index(walk)]


def on_the_page(walk: str) -> str:
    return (PAGES / PAGE).read_text(encoding="utf-8").partition(f"<!-- {walk} -->")[2].partition("<!-- end of")[0]


@pytest.mark.parametrize("walk", STUDIES)
def test_every_mark_is_a_row_of_the_page_and_every_blank_says_why(walk: str) -> None:
    shown, blank = promised(walk)
    assert sorted([*shown, *blank]) == [*NUMBERS], "each capability once"
    assert [number for number in NUMBERS if sign(walk, number) != "."] == sorted(shown)
    page = on_the_page(walk)
    rows = [line.split("|")[1].strip() for line in page.splitlines() if line.startswith("| ") and "# |" not in line]
    assert [row for row in rows if row.isdigit()] == [str(number) for number in sorted(shown)]
    assert all(f"{number}: {why}" in page for number, why in blank.items())


@pytest.mark.parametrize("walk", [*STUDIES, "wlc_real"])
def test_what_files_imply_stands_beside_each_mark_and_each_interval_is_worked_out_a_second_time(walk: str) -> None:
    rows = [line for line in on_the_page(walk).splitlines() if line[2:4].strip().isdigit()]
    cells = [row.replace(r"\|", "").split("|") for row in rows]
    assert {int(row[1]) for row in cells if row[-3].strip()} == {*IMPLIED[walk]}
    ends = [(row[1], *(len(re.findall(r"\[[^],]+, [^],]+\]", row[place])) for place in (-4, -3))) for row in cells]
    assert rows
    assert [row for row, came, worked_out in ends if came != worked_out] == []


def test_a_number_that_the_files_do_not_imply_is_no_mark() -> None:
    assert agrees(".77 [.73, .80]", 0.78)
    assert not agrees(".77 [.73, .80]", 0.81)
    assert not agrees(".77 [.73, .80]", 0.77, printed=True), "worked out of the labels: its ends too"
    assert agrees(".77 [.73, .80]", Interval(0.772, 0.734, 0.796), printed=True)
    assert not agrees(".77 [.73, .80]", Interval(0.772, 0.72, 0.796), printed=True)
    assert agrees(".77 [.73, .80]", Interval(0.772, 0.72, 0.796, slack=(0.02, 0.0)), printed=True)
    assert agrees("−.06", -0.0553)
    assert not agrees(".06", -0.0553)
    assert not agrees("1,008 labels ok", "1,007 labels ok")
    for topics in (8, 10, 12, 20, 42):  # an end's slack does not tell plain tails from these at every size
        tail = tail_of(topics)
        assert expanded_percentile(np.linspace(0, 1, 100_001), topics) == pytest.approx((tail, 1 - tail), abs=1e-9)


def section(walk: str, rows: Iterable[Shown], blank: dict[int, str], *, signed: bool = True) -> str:
    """The rows of one study as Markdown, in the order of the capabilities, and why there is no other."""
    lines = ["| # | | capability | command | came to | implied | published |", "|---:|---|---|---|---|---|---|"]
    for row in sorted(rows, key=lambda row: row.number):
        mark, what = sign(walk, row.number) if signed else "x", CAPABILITIES[row.number - 1][1]
        came = row.came.replace("|", r"\|")
        lines.append(f"| {row.number} | {mark} | {what} | `{row.command}` | {came} | {row.implied} | {row.published} |")
    told = "; ".join(f"{number}: {why}" for number, why in sorted(blank.items()))
    return "\n".join([*lines, *(["", f"Not asked of it: {told}."] if told else [])])


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


@pytest.mark.slow
@pytest.mark.parametrize("walk", STUDIES)
def test_a_walk_through_the_study_shows_what_the_page_says(walk: str, desk: Desk, fake: Fake) -> None:
    desk.bill, desk.prompts = fake.bill, fake.prompts
    fake.set(keep_prompts=True)
    decide = SET_OUT[walk](desk.folder, fake.base)
    same_on_the_page(PAGE, walk, section(walk, list(walked(desk, walk, decide)), promised(walk)[1]))


@pytest.mark.slow
@pytest.mark.skipif(
    not REAL.is_dir(), reason="the publisher's files are not ours to ship; the walk above has the shape"
)
def test_the_publishers_own_files_show_it_too(desk: Desk) -> None:
    (desk.folder / "wlc_real").symlink_to(REAL)
    rows = list(walked(desk, "wlc_real", {}))
    same_on_the_page(PAGE, "wlc_real", section("wlc", rows, {}))
