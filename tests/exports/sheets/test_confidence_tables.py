"""The tables and the figure of confidence: only where a study has any, complete, and the same on every page."""

from __future__ import annotations

import pandas as pd
import pytest

from app.screens.results.tables_and_figures import behind
from calibration.calibrate import calibrate
from calibration.results import CalibrationReport, CalibrationSettings
from exports.as_latex import as_latex
from exports.figures import as_bytes
from exports.forms import as_markdown
from exports.pack import MAY_HOLD, pack, tables_of
from exports.plots.panels import MOST_PANELS, confidence_figure
from exports.plots.theme import FULL_PAGE, ONE_COLUMN
from exports.sheets.confidence import NO_MAJORITY, believed, confidence_levels_table, confidence_table
from exports.tables import agreement_table
from tests.calibration.sure.test_confidence import sure_judge, votes_of
from tests.exports.toy import toy_report

SETTINGS = CalibrationSettings(resamples=99)


def table_of(judges: int = 1) -> pd.DataFrame:
    """A judge that states 1 to 5, and `judges` that vote six times, one question in four without a majority."""
    rows = sure_judge(lambda c: c / 5, 40)
    for number in range(judges):
        votes = votes_of([(6, 6), (5, 6), (2, 6), (3, 6)] * 10, f"pro-{number}")
        rows += [one for one in votes if one["rater_kind"] == "judge"]
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def report() -> CalibrationReport:
    return calibrate(table_of(), SETTINGS)


def test_a_study_without_confidence_has_neither_table_nor_figure() -> None:
    report = toy_report()
    assert (confidence_table(report), confidence_levels_table(report), confidence_figure(report)) == (None, None, None)
    assert not [table for table in tables_of(report, pd.DataFrame()) if table.name.startswith("confidence")]


def test_each_rater_has_a_row_for_what_it_stated_and_for_its_votes(report: CalibrationReport) -> None:
    table = confidence_table(report)
    assert table is not None
    keys = [column.key for column in table.columns]
    rows = [dict(zip(keys, row, strict=True)) for row in table.rows]
    assert [(row["rater"], row["confidence"]) for row in rows] == [("mini", "stated, 1 to 5"), ("pro-0", "votes")]
    assert [row["no_majority"] for row in rows] == [None, 10], "where nobody votes there is no majority to miss"
    for words in ("c / 5, a convention", "neither right nor wrong", "by chance", "AUROC"):
        assert any(words in note for note in table.notes), words


def test_the_curve_has_a_row_a_level_and_one_of_its_own_for_what_no_majority_decided(report: CalibrationReport) -> None:
    table = confidence_levels_table(report)
    assert table is not None
    levels = [(row[0], row[2]) for row in table.rows]
    assert levels[:5] == [("mini", f"{level} of 5") for level in range(1, 6)]
    assert levels[5:] == [("pro-0", f"{one} %") for one in ("66.7", "83.3", "100")] + [("pro-0", NO_MAJORITY)]
    assert table.rows[-1][3:6] == (None, None, 10), "questions, with no accuracy at all"


def test_every_form_prints_them_and_a_pack_clears_them_away(report: CalibrationReport) -> None:
    for table in (confidence_table(report), confidence_levels_table(report)):
        assert table is not None
        assert table.title in as_markdown(table)
        assert "tabular" in as_latex(table)
    files = pack(report, table_of())
    own = {name for name in files if name.startswith("confidence")}
    assert {
        "confidence.tex",
        "confidence.csv",
        "confidence_levels.json",
        "confidence.pdf",
        "confidence_column.svg",
    } <= own
    assert own <= MAY_HOLD
    assert "Can confidence be believed?" in files["report.html"].decode()


def test_the_figure_draws_every_point_and_says_how_many_curves_it_leaves_out() -> None:
    many = calibrate(table_of(judges=7), SETTINGS)
    for width in (FULL_PAGE, ONE_COLUMN):
        figure = confidence_figure(many, width)
        assert figure is not None
        assert len(figure.drawn) == sum(len(one.points) for one in believed(many)[:MOST_PANELS])
        assert f"the first {MOST_PANELS} of 8 curves" in figure.caption
        assert as_bytes(figure, "svg") == as_bytes(figure, "svg")


def test_a_number_of_one_level_leads_nowhere_for_the_page_shows_all_labels_of_its_judge(
    report: CalibrationReport,
) -> None:
    point = believed(report)[0].points[0]
    assert point.rater == "mini"
    assert behind(point, report) == ""


def test_a_study_of_unlike_criteria_has_no_agreement_row_made_of_its_confidence_alone() -> None:
    rows = sure_judge(lambda c: c / 5, 40)
    rows += [one | {"criterion": "score", "label": str(place % 7)} for place, one in enumerate(rows)]
    report = calibrate(pd.DataFrame(rows), SETTINGS)
    assert agreement_table(report).rows == ()
    assert confidence_table(report) is not None
