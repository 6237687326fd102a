"""Figures for print: readable, and drawn from the tables' own estimates. Their bytes and fonts: `test_print`."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from calibration.calibrate import calibrate
from calibration.results import CalibrationSettings, Estimate
from exports.cells import shown
from exports.errors import ExportError
from exports.plots.answers import answers
from exports.plots.forest import forest
from exports.plots.names import fitted, width_of
from exports.plots.theme import FULL_PAGE, INK, OKABE_ITO, ONE_COLUMN, PAPER, themed, tint
from exports.plots.value_maps import criteria_map
from exports.sheets.agreement import criteria_table
from exports.tables import agreement_table
from tests.calibration.studies import made_pairs, made_ratings
from tests.exports.toy import toy_estimate, toy_report

DRAW = (forest, criteria_map, answers)
LONG = {
    "judge-openrouter/anthropic/claude-sonnet-4.5-20250929": 0.9,
    "judge-openrouter/anthropic/claude-haiku-4.5-20251001": 0.8,
    "judge_" + "x" * 90: 0.6,
}
STUDIES = {
    "plain": made_pairs(),
    "one judge": made_pairs(judges={"judge-x": 0.75}, annotators=1),
    "ten judges, forty criteria": made_pairs(
        8, 40, 3, {f"judge-{number}": 0.4 + 0.05 * number for number in range(10)}
    ),
    "long names": made_pairs(24, 2, 2, LONG, both_orders=True),
    "too few pairs": made_pairs(6, 4),
    "ratings": made_ratings(),
    "no two alike": made_ratings(40, 3),
}


@pytest.fixture(scope="module")
def reports():
    few = CalibrationSettings(resamples=50, per_criterion=True)
    return {name: calibrate(frame, few) for name, frame in STUDIES.items()} | {"toy": toy_report()}


# all as wide as a column, where room is least, and those with the most to print as wide as a page
@pytest.mark.parametrize(
    ("name", "width"),
    [*((name, ONE_COLUMN) for name in (*STUDIES, "toy")), *((name, FULL_PAGE) for name in list(STUDIES)[2:4])],
)
def test_nothing_leaves_the_page_and_text_is_8_points(figures_of, name, width):
    found = figures_of(name, width)
    assert found
    for figure in found:
        canvas = figure.canvas
        with themed():
            canvas.draw_without_rendering()
        assert canvas.get_size_inches()[0] == width
        renderer = canvas._get_renderer()
        for text in (one for one in canvas.findobj() if hasattr(one, "get_fontsize") and one.get_visible()):
            if not text.get_text().strip():
                continue
            assert text.get_fontsize() == 8.0
            box = text.get_window_extent(renderer)
            assert box.x0 >= -0.5, (figure.name, text)
            assert box.x1 <= canvas.bbox.width + 0.5, (figure.name, text)
            assert box.y0 >= -0.5, (figure.name, text)
            assert box.y1 <= canvas.bbox.height + 0.5, (figure.name, text)


@pytest.mark.parametrize("name", [*STUDIES, "toy"])
def test_what_is_drawn_is_what_the_tables_say(reports, figures_of, name):
    report, figures = reports[name], {one.name: one for one in figures_of(name, FULL_PAGE)}
    tabled = {cell for row in agreement_table(report).rows for cell in row if isinstance(cell, Estimate)}
    assert {repr(one) for one in figures["agreement"].drawn} <= {repr(one) for one in tabled}
    if "criteria" in figures:
        cells = {repr(row[2]) for row in criteria_table(report).rows}
        assert {repr(one) for one in figures["criteria"].drawn} == cells


def test_every_value_of_the_map_is_printed(reports):
    figure = criteria_map(reports["plain"])
    printed = [text.get_text() for text in figure.canvas.axes[0].texts]
    assert sorted(text for text in printed if text[0] in ".1") == sorted(shown(one)[0] for one in figure.drawn)


def test_points_and_bars_stand_where_the_estimates_are():
    figure = forest(toy_report())
    agreement = figure.canvas.axes[0]
    points = sorted(float(line.get_xdata()[0]) for line in agreement.lines if line.get_marker() == "o")
    bars = sorted(tuple(map(float, line.get_xdata())) for line in agreement.lines if len(line.get_xdata()) == 2 and line.get_linewidth() == 1.2)  # fmt: skip
    assert points == [1 / 3, 0.5, 0.741, 0.8]
    assert bars == [(0.25, 0.43), (0.684, 0.798), (0.74, 0.85)]


def test_a_bare_number_is_not_drawn():
    bare = toy_estimate("percent_agreement", "gpt", 0.5)
    with pytest.raises(ExportError):
        forest(replace(toy_report(), estimates=(bare,)))


@pytest.mark.parametrize("name", [*STUDIES, "toy"])
def test_a_caption_is_one_sentence_and_explains_dashes(figures_of, name):
    for figure in figures_of(name, FULL_PAGE):
        assert figure.caption.endswith(".")
        assert ". " not in figure.caption
        if any(math.isnan(one.value) for one in figure.drawn):
            assert "a dash has no value" in figure.caption


def test_nothing_to_compare_is_no_figure():
    empty = replace(toy_report(), estimates=())
    assert (forest(empty), criteria_map(empty)) == (None, None)
    assert answers(calibrate(made_ratings(), CalibrationSettings(resamples=20))) is None


@pytest.mark.parametrize("name", [*LONG, "judge-openrouter/anthropic/claude [both orders]", "短い名前", "a" * 200, "x"])
@pytest.mark.parametrize("room", [1.05, 2.0])
def test_a_name_of_any_length_fits_its_room(name, room):
    lines = fitted(name, room, 8).split("\n")
    assert len(lines) <= 2
    assert max(width_of(line, 8) for line in lines) <= room


def test_two_long_names_stay_two_names():
    assert len({fitted(name, 1.05, 8) for name in LONG}) == len(LONG)


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    ("ink", "ground", "least"), [(INK, tint(0.72), 4.5), (PAPER, OKABE_ITO[0], 4.5), (INK, OKABE_ITO[5], 4.5)]
)
def test_text_on_colour_has_contrast(ink, ground, least):
    high, low = sorted([luminance(ink), luminance(ground)], reverse=True)
    assert (high + 0.05) / (low + 0.05) >= least
