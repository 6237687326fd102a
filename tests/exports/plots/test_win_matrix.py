"""The win-rate matrix and its table: the shares of the comparisons themselves, both ways round, as many as fit."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace

import pytest

from calibration.calibrate import calibrate
from calibration.remarks import undefined
from calibration.results import CalibrationSettings
from calibration.systems.win_rates import win_matrix as counted
from exports.as_latex import as_latex
from exports.plots.theme import FULL_PAGE, INK_SOFT, ONE_COLUMN
from exports.plots.value_maps import NOTHING
from exports.plots.win_matrix import PAGE, win_matrix
from exports.sheets.ranking import judge_shown
from exports.sheets.system_pairs import PAIR_WIN_RATE, system_pairs_table, systems_in_order, won_by
from plain.wording import speaking
from tests.calibration.ranked import drawn_study, verdicts
from tests.exports.readable import assert_readable, texts_of
from tests.exports.toy import toy_report

FEW = CalibrationSettings(resamples=20)
LONG = tuple(f"{lab}-deep-research-2026-10-{number:02}" for number, lab in enumerate(("lab", "people") * 10))
STUDIES = {
    "two": drawn_study(8, systems=("atlas", "borealis")),
    "three": drawn_study(12),
    "hostile": drawn_study(8, systems=("<script>", "=cmd|' $x$_{2}", "s" * 90)),
    "eight": drawn_study(14, systems=LONG[:8]),
    "twenty": drawn_study(4, systems=LONG),
}
HAND = [  # x beats y 2 of 3, y and z tie once; x never meets z
    ("t1", "ann1", "x", "y", "A"), ("t2", "ann1", "y", "x", "B"), ("t3", "ann1", "x", "y", "B"),
    ("t1", "ann1", "y", "z", "tie"), ("t1", "judge-x", "x", "y", "B"), ("t2", "judge-x", "x", "y", "B"),
]  # fmt: skip


@pytest.fixture(scope="module")
def reports():
    return {name: calibrate(frame, FEW) for name, frame in STUDIES.items()}


def hand():
    return calibrate(verdicts(HAND), FEW)


def printed(figure):
    return [text.get_text() for text in texts_of(figure)]


def test_shares_are_wins_over_comparisons_both_ways_round():
    won = won_by(hand(), "each_annotator")
    assert {pair: (one.value, one.n) for pair, one in won.items()} == {
        ("x", "y"): (pytest.approx(2 / 3), 3), ("y", "x"): (pytest.approx(1 / 3), 3),
        ("y", "z"): (0.5, 1), ("z", "y"): (0.5, 1),
    }  # fmt: skip
    there, back = won["x", "y"], won["y", "x"]
    assert (back.low, back.high) == (pytest.approx(1 - there.high), pytest.approx(1 - there.low))
    assert (back.category, back.note.split("; ")[0]) == ("systems: y, x", "of y")


@pytest.mark.parametrize("rater", ["each_annotator", "judge-x"])
def test_a_report_holds_the_matrix_of_people_and_of_every_judge(reports, rater):
    frame = STUDIES["three"]
    own = counted(frame, None if rater == "each_annotator" else rater, FEW)
    in_report = [one for one in reports["three"].estimates if (one.statistic, one.rater) == (PAIR_WIN_RATE, rater)]
    assert in_report == list(own.estimates)
    assert [one.n for one in in_report] == [int(own.comparisons[i, j]) for i, j in ((0, 1), (0, 2), (1, 2))]


def test_every_share_is_printed_over_its_n_and_what_never_met_is_a_dash():
    figure = win_matrix(hand())
    names = systems_in_order(hand())
    assert sorted(printed(figure)) == sorted(
        [".67", ".33", ".50", ".50", "3", "3", "1", "1"] + [NOTHING.text] * 2  # people; x and z never met
        + ["0", "1.0", "2", "2"] + [NOTHING.text] * 4  # the judge
        + ["by people", "by judge-x alone"] + names * 3
    )  # fmt: skip
    assert "over that of a column, by people and by judge-x alone; " in figure.caption
    assert "a dash: the two never met" in figure.caption
    assert "comparisons, 3 clusters)" in figure.caption, "several people on one item are one comparison"
    assert "grey: no interval" in figure.caption
    with speaking("zh_CN"):
        chinese = win_matrix(hand())
    assert not set(re.findall("[A-Za-z]{2,}", chinese.caption)) - {"judge"}
    assert "按人" in printed(chinese)


def test_a_share_whose_interval_leaves_a_half_out_is_bold(reports):
    figure = win_matrix(reports["eight"])
    bold = [text.get_text() for text in texts_of(figure) if text.get_weight() == "bold"]
    apart = [one for one in figure.drawn if one.low > 0.5 or one.high < 0.5]
    assert len(bold) == 2 * len(apart) > 0


def test_a_share_without_an_interval_is_grey_on_paper():
    grey = [text for text in texts_of(win_matrix(hand())) if text.get_text() == ".50"]
    assert {text.get_color() for text in grey} == {INK_SOFT}


@pytest.mark.parametrize("width", [ONE_COLUMN, FULL_PAGE])
@pytest.mark.parametrize("name", STUDIES)
def test_nothing_leaves_the_page_no_words_touch_and_text_is_8_points(reports, name, width):
    figure = win_matrix(reports[name], width)
    if figure is None:
        assert (name, width) == ("twenty", ONE_COLUMN)
        return
    assert_readable(figure, width, PAGE)


@pytest.mark.parametrize("name", STUDIES)
def test_both_matrices_stand_on_a_full_page_and_the_table_has_what_is_drawn(reports, name):
    figure = win_matrix(reports[name])
    assert [text for text in printed(figure) if text.startswith("by ")] == [
        "by people",
        f"by {judge_shown(reports[name])} alone",
    ]
    cells = {repr(cell) for row in system_pairs_table(reports[name]).rows for cell in row}
    assert {repr(one) for one in figure.drawn} <= cells
    assert figure.caption.endswith(".")
    assert ". " not in figure.caption


def test_systems_stand_in_the_order_of_the_ranking(reports):
    names = [row[:2] for row in system_pairs_table(reports["three"]).rows]
    assert names == list(itertools.combinations(systems_in_order(reports["three"]), 2))


def test_nobody_who_ranked_systems_is_no_matrix_and_no_table():
    assert (win_matrix(toy_report()), system_pairs_table(toy_report())) == (None, None)


def test_an_undefined_share_stays_undefined_when_turned():
    report = hand()
    none = (undefined("no_items"),)
    nothing = tuple(
        replace(one, value=math.nan, low=math.nan, high=math.nan, remarks=none) if one.statistic == PAIR_WIN_RATE
        else one for one in report.estimates
    )  # fmt: skip
    won = won_by(replace(report, estimates=nothing), "each_annotator")
    assert all(math.isnan(one.value) for one in won.values())
    assert "nan" not in printed(win_matrix(replace(report, estimates=nothing)))


def test_the_table_compiles_to_latex_text(reports):
    assert r"\toprule" in as_latex(system_pairs_table(reports["hostile"]))
