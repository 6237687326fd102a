"""Figures of the choice, the biases, the ranking and the reliability map: repeatable, readable, and nothing invented."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.agreement.reliability_map import Cell, ReliabilityMap
from calibration.calibrate import calibrate
from calibration.results import CalibrationSettings, Estimate
from exports.figures import as_bytes
from exports.plots.bias_figure import PAGE, bias_figure
from exports.plots.frontier import frontier
from exports.plots.names import FAR, Box, places, told_apart, width_of
from exports.plots.ranking_figure import ranking_figure
from exports.plots.theme import FULL_PAGE, INK, OKABE_ITO, ONE_COLUMN, tint
from exports.plots.value_maps import DARKEST, reliability
from exports.sheets.bias import bias_table
from exports.sheets.judges import judges_table
from exports.sheets.ranking import ranking_table
from plain.wording import speaking
from tests.calibration.priced import EIGHT, priced
from tests.calibration.ranked import drawn_study
from tests.calibration.studies import made_pairs
from tests.exports.readable import assert_readable, texts_of
from tests.exports.test_figures import luminance
from tests.exports.toy import NAN, WILSON, toy_estimate, toy_report
from tests.exports.toy_choice import CANDIDATES, toy_choice

ROOT = Path(__file__).resolve().parents[2]
DRAW = (frontier, bias_figure, ranking_figure)
WIDTHS = (ONE_COLUMN, FULL_PAGE)
TWELVE = {f"judge-openrouter/lab/claude-{number}-20250929": (0.4 + 0.04 * number, 0.001) for number in range(12)}
HOSTILE = {
    "判断-模型-甲乙丙丁": (0.8, 0.001),
    "$x$_{judge}": (0.7, 0.0),
    "j_" + "x" * 90: (0.6, 0.01),
    "=cmd|'&%$": (0.5, NAN),
}
STUDIES = {
    "eight judges": priced(EIGHT, pairs=40),
    "twelve of one price": priced(TWELVE, pairs=30, criteria=1, annotators=2),
    "hostile names": priced(HOSTILE, pairs=30, criteria=1, annotators=2),
    "one judge": priced({"solo": (0.8, 0.002)}, pairs=30, criteria=1, annotators=2),
    "both orders": made_pairs(24, 2, 2, both_orders=True),
    "systems": drawn_study(8, systems=("atlas", "地图集 $x$", "system-" + "y" * 60)),
}


@pytest.fixture(scope="module")
def reports():
    few = CalibrationSettings(resamples=30, families={"mini": "lab", "huge": "lab", "atlas": "lab", "judge-x": "lab"})
    return {name: calibrate(frame, few) for name, frame in STUDIES.items()} | {"toy": toy_choice()}


def a_map(criteria: int, categories: int, thin: bool = False) -> ReliabilityMap:
    names = [*(f"criterion {number}" for number in range(criteria)), "all"]
    groups = [*(f"category {number}" for number in range(categories)), "all"]
    half = NAN if thin else 0.05
    note = "no interval: too few pairs" if thin else ""

    def one(statistic: str, value: float) -> Estimate:
        method = "none" if thin else WILSON
        return toy_estimate(statistic, "j", value, value - half, value + half, method, note, "others")

    cells = [
        Cell(name, group, one("percent_agreement", 0.7), one("human_ceiling", 0.8), one("gap_to_ceiling", 0.1))
        for name, group in itertools.product(names, groups)
    ]
    return ReliabilityMap("j", tuple(names[:-1]), tuple(groups[:-1]), tuple(cells))


def test_a_map_drawn_twice_is_the_same_bytes():
    assert as_bytes(reliability(a_map(3, 2)), "svg") == as_bytes(reliability(a_map(3, 2)), "svg")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", [*STUDIES, "toy"])
def test_nothing_leaves_the_page_no_words_touch_and_text_is_8_points(figures_of, name, width):
    for figure in figures_of(name, width):
        assert_readable(figure, width)


@pytest.mark.parametrize("name", [*STUDIES, "toy"])
def test_what_is_drawn_is_what_the_tables_say(reports, figures_of, name):
    tables = {"frontier": judges_table, "bias": bias_table, "ranking": ranking_table}
    for figure in figures_of(name, FULL_PAGE):
        cells = {repr(cell) for row in tables[figure.name](reports[name]).rows for cell in row}
        drawn = [one for one in figure.drawn if not one.statistic.startswith("human_ceiling")]
        assert {repr(one) for one in drawn} <= cells
        assert drawn


@pytest.mark.parametrize("name", [*STUDIES, "toy"])
def test_a_caption_is_one_sentence(figures_of, name):
    for figure in figures_of(name, FULL_PAGE):
        assert figure.caption.endswith(".")
        assert ". " not in figure.caption


def marks_of(figure):
    lines = [line for axes in figure.canvas.axes for line in axes.lines if line.get_marker() == "o"]
    return [(float(line.get_xdata()[0]), line) for line in lines]


def test_a_caption_in_chinese_has_the_stops_of_chinese():
    with speaking("zh_CN"):
        caption = frontier(toy_choice()).caption
    assert caption.endswith("。")
    assert "; " not in caption


def test_only_the_chosen_judge_is_filled_and_dearer_stands_farther_right():
    figure = frontier(toy_choice())
    filled = [line for _, line in marks_of(figure) if line.get_markerfacecolor() == line.get_markeredgecolor()]
    assert len(filled) == 1
    by_height = {round(float(line.get_ydata()[0]), 6): x for x, line in marks_of(figure)}
    heights = {
        one.judge: min(by_height, key=lambda y, one=one: abs(y - _height(figure, one.agreement.value)))
        for one in CANDIDATES
    }
    order = [by_height[heights[one.judge]] for one in CANDIDATES]  # free, then by cost, then unknown
    assert order == sorted(order)


def _height(figure, value):
    (axes,) = figure.canvas.axes
    (low, at), (high, other) = [
        (float("0" + text.get_text()), y) for text, y in zip(axes.get_yticklabels(), axes.get_yticks(), strict=True)
    ][:2]
    return at + (value - low) / (high - low) * (other - at)


def test_free_and_unknown_costs_stand_beside_the_scale():
    assert {"free", "unknown"} <= {text.get_text() for text in texts_of(frontier(toy_choice()))}


@pytest.mark.parametrize("cost", [0.0, math.nan])
def test_without_any_cost_above_0_there_is_no_frontier_to_draw(cost):
    report = toy_choice()
    same = tuple(replace(one, cost_per_item=cost) for one in CANDIDATES)
    assert frontier(replace(report, choice=replace(report.choice, candidates=same))) is None


def test_nothing_to_show_is_no_figure():
    assert [draw(toy_report()) for draw in DRAW] == [None] * 3
    assert reliability(a_map(1, 0)) is None


def test_found_biases_and_only_they_are_filled():
    figure = bias_figure(toy_choice())
    filled = [line for _, line in marks_of(figure) if line.get_markerfacecolor() == OKABE_ITO[1]]
    rows = [row for row in bias_table(toy_choice()).rows if not math.isnan(row[2].low)]
    headline = [row for row in rows if not row[0].startswith(("gpt-4 (own)", "rationales"))]
    assert len(filled) == sum(row[7] == "found" for row in headline)
    assert len(marks_of(figure)) == len(headline)


def test_a_figure_of_twelve_judges_and_every_bias_fits_a_page():
    report = toy_choice()
    judges = [f"judge {number}" for number in range(12)]
    biases = tuple(
        replace(one, estimate=replace(one.estimate, rater=judge)) for judge in judges for one in report.biases
    )
    report = replace(report, labels=replace(report.labels, judges=judges), biases=biases)
    for width in WIDTHS:
        assert bias_figure(report, width).canvas.get_size_inches()[1] <= PAGE


@pytest.mark.parametrize("width", WIDTHS)
def test_every_cell_of_the_map_prints_the_judge_and_the_people(width):
    figure = reliability(a_map(4, 2), width)
    printed = [text.get_text() for text in texts_of(figure) if "/" in text.get_text()]
    assert printed == [".70 / .80"] * 15


def test_a_map_too_wide_for_a_column_turns_and_one_too_wide_both_ways_is_left_out():
    assert reliability(a_map(2, 9), ONE_COLUMN) is not None
    assert reliability(a_map(9, 9), ONE_COLUMN) is None


def test_thin_cells_are_not_shaded_and_the_caption_says_why():
    figure = reliability(a_map(2, 2, thin=True))
    fills = {tuple(patch.get_facecolor()) for patch in figure.canvas.axes[0].patches}
    assert fills == {(1.0, 1.0, 1.0, 1.0)}
    assert "grey cells have too few clusters" in figure.caption


def test_the_darkest_cell_still_carries_its_text():
    high, low = sorted([luminance(INK), luminance(tint(DARKEST, OKABE_ITO[1]))], reverse=True)
    assert (high + 0.05) / (low + 0.05) >= 4.5


points = st.tuples(st.floats(0, 3), st.floats(0, 2))


@given(st.lists(points, min_size=1, max_size=8))
def test_names_never_meet_each_other_or_what_is_taken(spots):
    taken = [Box(x - 0.04, y - 0.04, x + 0.04, y + 0.04) for x, y in spots]
    room = Box(-0.5, -0.5, 4, 3)
    found = places(spots, [(0.6, 0.12)] * len(spots), taken, room)
    assert found is not None
    boxes = [one.box for one in found]
    assert not any(one.meets(other) for one, other in itertools.combinations(boxes, 2))
    assert not any(one.meets(other) for one in boxes for other in taken)
    assert all(room.holds(one) for one in boxes)
    for one, spot in zip(found, spots, strict=True):
        assert (one.line is None) == (math.dist(spot, one.box.nearest(spot)) <= FAR)


def test_a_name_that_finds_no_room_is_said_to():
    assert places([(0.5, 0.5)] * 3, [(0.9, 0.4)] * 3, [], Box(0, 0, 1, 1)) is None


@pytest.mark.parametrize(
    ("names", "room", "shown"),
    [
        (["judge-lab/model-a", "judge-lab/model-b"], 0.6, ["…a", "…b"]),
        (["judge-lab/model-a", "judge-lab/model-b"], 2.0, ["judge-lab/model-a", "judge-lab/model-b"]),
        (["gpt-4", "gpt-5"], 2.0, ["gpt-4", "gpt-5"]),
        (["solo-with-a-long-name"], 2.0, ["solo-with-a-long-name"]),
        (["judge-lab/a", "judge-lab/a [both orders]"], 0.7, ["…a", "…a [both]"]),
        ([], 2.0, []),
    ],
)
def test_what_all_names_begin_with_is_left_out_where_it_is_long_and_has_no_room(names, room, shown):
    assert told_apart(names, (room,)) == shown


def test_names_are_told_apart_in_the_least_room_that_does():
    names = [f"{letter}{'x' * 40}{letter}" for letter in "ab"] + ["a" + "x" * 40 + "b"]
    shown = told_apart(names, (0.3, 0.9))
    assert len({*shown}) == 3
    assert max(width_of(name, 8) for name in shown) <= 0.9
