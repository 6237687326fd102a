"""The figures of annotators and of position bias: each person with the others, and what the first place wins."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from calibration.calibrate import calibrate
from calibration.remarks import Kind, Reason, Remark, code
from calibration.results import CalibrationSettings
from exports.cells import shown
from exports.plots.annotators_figure import annotator_pairs, annotators_figure
from exports.plots.position_figure import position_figure
from exports.plots.theme import FULL_PAGE, OKABE_ITO, ONE_COLUMN
from exports.sheets.agreement import annotators_table
from exports.sheets.bias import bias_table, effect_of
from exports.tables import AMONG, PEOPLE
from tests.calibration.studies import made_pairs, made_ratings
from tests.exports.readable import assert_readable, texts_of
from tests.exports.test_choice_figures import marks_of
from tests.exports.toy import NAN, toy_report
from tests.exports.toy_choice import toy_choice

ONE_CLUSTER = (code("too_few_units"), Remark(Reason.TOO_FEW_UNITS, Kind.BARE))
FEW = CalibrationSettings(resamples=30)
LONG = {f"judge-openrouter/lab/claude-{number}-20250929": 0.5 + 0.04 * number for number in range(12)}
STUDIES = {
    "three people": made_pairs(),
    "two people": made_pairs(annotators=2, both_orders=True),
    "ten people": made_pairs(annotators=10, pairs=20),
    "a crowd": made_pairs(annotators=70, pairs=12, criteria=1),
    "twelve judges": made_pairs(12, judges=LONG, both_orders=True),
    "ratings": made_ratings(),
    "few pairs": made_pairs(3, 2),
}
DRAW = (annotators_figure, annotator_pairs, position_figure)


@pytest.fixture(scope="module")
def reports():
    return {name: calibrate(frame, FEW) for name, frame in STUDIES.items()} | {
        "toy": toy_report(),
        "chosen": toy_choice(),
    }


# all as wide as a column, where room is least, and those with the most to print as wide as a page
@pytest.mark.parametrize(
    ("name", "width"),
    [
        *((name, ONE_COLUMN) for name in (*STUDIES, "toy", "chosen")),
        *((name, FULL_PAGE) for name in ("ten people", "twelve judges")),
    ],
)
def test_nothing_leaves_the_page_no_words_touch_and_text_is_8_points(reports, name, width):
    for figure in (found for draw in DRAW if (found := draw(reports[name], width)) is not None):
        assert_readable(figure, width)


@pytest.mark.parametrize("name", STUDIES)
def test_what_is_drawn_of_people_is_what_their_table_says(reports, name):
    cells = {repr(cell) for row in annotators_table(reports[name]).rows for cell in row}
    for draw in (annotators_figure, annotator_pairs):
        figure = draw(reports[name])
        if figure is not None:
            known = [one for one in figure.drawn if one.statistic not in ("spearman",)]
            assert {repr(one) for one in known} <= cells
            assert figure.caption.endswith(".")
            assert ". " not in figure.caption


def test_each_annotator_stands_in_falling_order_over_all_of_them(reports):
    figure = annotators_figure(reports["three people"])
    values = [x for x, _ in marks_of(figure)][:4]
    found = {
        one.rater: one.value for one in reports["three people"].estimates
        if (one.statistic, one.reference, one.criterion, one.category) == ("percent_agreement", "others", "all", "all")
    }  # fmt: skip
    everyone = found[PEOPLE]
    found = {name: found[name] for name in ("ann1", "ann2", "ann3")}
    assert values == [*sorted(found.values(), reverse=True), everyone]
    names = [text.get_text() for text in figure.canvas.texts]
    assert names == [*sorted(found, key=found.__getitem__, reverse=True), AMONG]


def test_two_annotators_are_one_row(reports):
    figure = annotators_figure(reports["two people"])
    assert [text.get_text() for text in figure.canvas.texts] == ["ann1 and ann2"]
    assert "grey band" not in figure.caption
    assert annotator_pairs(reports["two people"]) is None


def test_a_crowd_is_drawn_without_names(reports):
    figure = annotators_figure(reports["a crowd"])
    assert [text.get_text() for text in figure.canvas.texts if text.get_text()] == [AMONG]
    assert len(marks_of(figure)) == 2 * 71


def test_every_two_of_ten_annotators_are_printed_twice(reports):
    figure = annotator_pairs(reports["ten people"])
    printed = sorted(text.get_text() for text in texts_of(figure) if text.get_text()[0] in ".1")
    assert printed == sorted(2 * [shown(one)[0] for one in figure.drawn])
    assert len(figure.drawn) == 45


def test_one_annotator_is_no_figure():
    report = calibrate(made_pairs(annotators=1), FEW)
    assert (annotators_figure(report), annotator_pairs(report)) == (None, None)


def test_the_share_shown_first_is_the_bias_of_the_table_plus_a_half(reports):
    figure = position_figure(reports["chosen"])
    effects = {repr(row[2]) for row in bias_table(reports["chosen"]).rows}
    biases = {repr(one.estimate): one for one in reports["chosen"].biases}
    assert {repr(effect_of(biases[repr(one)])) for one in figure.drawn} <= effects
    assert sorted(one.value for one in figure.drawn) == [0.5, 0.52, 0.61]


def test_only_a_bias_that_was_found_is_filled(reports):
    filled = [
        x for x, line in marks_of(position_figure(reports["chosen"])) if line.get_markerfacecolor() == OKABE_ITO[1]
    ]
    assert filled == [0.61]


def test_both_orders_bring_a_second_panel(reports):
    titles = [axes.get_title(loc="left") for axes in position_figure(reports["two people"]).canvas.axes]
    assert titles == ["report shown first wins", "same verdict in both orders"]
    assert position_figure(reports["ratings"]) is None


def test_undefined_positions_are_dashes(reports):
    report = reports["chosen"]
    bare = tuple(
        replace(one, estimate=replace(one.estimate, low=NAN, high=NAN, method="none", remarks=ONE_CLUSTER))
        for one in report.biases
    )  # fmt: skip
    figure = position_figure(replace(report, biases=bare))
    assert all(math.isnan(one.low) for one in figure.drawn)
    assert "a point without a bar has no interval" in figure.caption
