"""What a judge may decide alone, as tables, a figure and sentences: complete, and only where somebody asked."""

from __future__ import annotations

import math
from dataclasses import replace

import pandas as pd
import pytest

from app.screens.results.plot_words import of_alone
from app.screens.results.tables_and_figures import behind
from calibration.calibrate import calibrate
from calibration.results import CalibrationReport, CalibrationSettings
from exports.as_latex import as_latex
from exports.bibliography import used
from exports.figures import as_bytes
from exports.pack import MAY_HOLD, tables_of
from exports.plots.panels import MOST_PANELS, alone_figure
from exports.plots.theme import FULL_PAGE, ONE_COLUMN
from exports.sheets.alone import alone, alone_steps_table, alone_table
from exports.words.methods import methods_in
from exports.words.sentences import alone_words
from tests.calibration.choosing.test_alone import made
from tests.exports.toy import toy_report

SETTINGS = CalibrationSettings(alone_error=0.2, resamples=499)


def with_a_bad_judge() -> pd.DataFrame:
    frame = made(topics=30)
    bad = frame[frame["rater_id"] == "mini"].assign(rater_id="bad", label="B", cost_usd=math.nan)
    return pd.concat([frame, bad], ignore_index=True)


@pytest.fixture(scope="module")
def report() -> CalibrationReport:
    return calibrate(with_a_bad_judge(), SETTINGS)


def test_nobody_asked_and_nothing_stands_there() -> None:
    report = toy_report()
    assert (alone(report), alone_table(report), alone_steps_table(report), alone_figure(report)) == (
        [],
        None,
        None,
        None,
    )
    assert of_alone(report) == ""
    assert not [table for table in tables_of(report, pd.DataFrame()) if table.name.startswith("alone")]
    assert "angelopoulos2021learn" not in used(report)


def test_each_judge_has_a_row_with_its_share_error_price_and_hours(report: CalibrationReport) -> None:
    table = alone_table(report)
    assert table is not None
    keys = [column.key for column in table.columns]
    bad, mini = (dict(zip(keys, row, strict=True)) for row in table.rows)
    assert (bad["judge"], bad["share"], bad["error"]) == ("bad", 0.0, None)
    assert math.isnan(bad["usd_per_1000_items"])  # type: ignore[arg-type]  # unknown, and not 0
    assert (mini["usd_per_1000_items"], mini["hours_per_1000_items"]) == (pytest.approx(2.0), 25.0)
    assert "bad decides nothing: 100 % of its labels on all items are wrong" in " ".join(table.notes)
    assert "one-sided, 95 %, for all 2 judges at once" in " ".join(table.notes).replace("\N{NO-BREAK SPACE}", " ")
    assert {"angelopoulos2021learn", "gaffke2005three"} <= {*used(report)}
    assert f"{table.name}.tex" in MAY_HOLD
    assert "alone" in as_latex(table)


def test_every_threshold_has_a_row_and_says_whether_it_was_shown(report: CalibrationReport) -> None:
    table = alone_steps_table(report)
    assert table is not None
    assert [(row[0], row[-1]) for row in table.rows] == [("bad", "not shown"), ("mini", "shown"), ("mini", "not shown")]


@pytest.mark.parametrize("width", [FULL_PAGE, ONE_COLUMN])
def test_the_figure_draws_the_error_of_every_threshold_of_six_judges_at_most(
    report: CalibrationReport, width: float
) -> None:
    figure = alone_figure(report, width)
    assert figure is not None
    assert len(figure.drawn) == 3
    assert as_bytes(figure, "svg").startswith(b"<?xml")
    many = replace(report, alone=report.alone * (MOST_PANELS + 1))
    crowded = alone_figure(many, width)
    assert crowded is not None
    assert f"{MOST_PANELS} of {2 * (MOST_PANELS + 1)} judges" in crowded.caption


def test_sentences_say_the_price_beside_the_hours_and_what_is_unknown(report: CalibrationReport) -> None:
    bad, mini = alone(report)
    assert "All items to people: 100.0 hours per 1,000 items." in alone_words(bad)
    assert "逐个阈值检验" in (told := methods_in("zh_CN", report))
    assert "mini 可" in told
    plain = alone_words(replace(mini, usd_per_1000_items=math.nan, hours_per_1000_items=math.nan))
    assert "an unknown price + unknown hours per 1,000 items" in plain
    assert of_alone(report).startswith("mini decides most. 75")


def test_an_error_on_some_items_leads_to_no_page_of_all_labels(report: CalibrationReport) -> None:
    decided = alone(report)[1].decided
    assert decided is not None
    assert behind(decided.error, report) == ""
