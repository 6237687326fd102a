"""What a paper prints where answers pass or fail: tables, figures, methods, page and JSON hold the same numbers."""

from __future__ import annotations

import json
import re

import pytest

from app.screens.results.plot_words import of_pass_fail, of_pass_rates
from calibration.calibrate import calibrate
from calibration.results import CalibrationReport, Estimate
from calibration.settings import CalibrationSettings
from exports.bibliography import used
from exports.facts import StudyFacts
from exports.forms import as_markdown
from exports.pack import pack
from exports.plots.forest import pass_fail_figure, pass_rates_figure
from exports.plots.theme import ONE_COLUMN
from exports.sheets.passing import confusion_table, label_rates_table, pass_fail_table, pass_rates_table
from exports.words.methods import methods_in, methods_paragraph
from plain.wording import speaking, worded
from tests.calibration.passing.passed import by_name, made_answers
from tests.calibration.studies import made_pairs

FEW = CalibrationSettings(resamples=99)


@pytest.fixture(scope="module")
def report() -> CalibrationReport:
    return calibrate(made_answers(labelled=24, people=2), FEW)


def test_the_tables_hold_the_counts_the_rates_and_the_pass_rates(report: CalibrationReport) -> None:
    confusion, rates, systems = confusion_table(report), pass_fail_table(report), pass_rates_table(report)
    assert confusion
    assert rates
    assert systems
    (judge, _) = report.pass_fail
    assert confusion.rows[0] == (
        "j",
        "pass",
        *(getattr(judge, key) for key in ("both", "rater_only", "reference_only", "neither")),
    )
    assert sum(confusion.rows[0][2:]) == 24 * 6 * 2
    labels = label_rates_table(report)
    assert labels
    assert [row[:2] for row in labels.rows] == [
        (rater, label) for rater in ("j", "annotators among themselves") for label in ("fail", "pass")
    ]
    assert labels.rows[1][2].value == rates.rows[0][3].value
    assert labels.rows[1][4].value == rates.rows[0][1].value
    assert [row[0] for row in rates.rows] == ["j", "annotators among themselves"]
    assert rates.rows[0][1:6] == tuple(
        by_name(report, name, reference="each_annotator")
        for name in ("true_positive_rate", "true_negative_rate", "precision", "f1_score", "youden_j")
    )
    assert [row[1] for row in systems.rows] == ["all", "s1", "s2"]
    assert systems.rows[2][4] == by_name(report, "rogan_gladen_pass_rate", category="systems: s2")
    for table in (confusion, rates, systems):
        assert "Positive: pass, against fail (known by its word)." in as_markdown(table)


def test_figures_draw_what_the_tables_hold(report: CalibrationReport) -> None:
    drawn = pass_fail_figure(report), pass_rates_figure(report, ONE_COLUMN)
    assert drawn[0]
    assert drawn[1]
    assert {one.statistic for one in drawn[0].drawn} == {"true_positive_rate", "true_negative_rate"}
    assert [one.statistic for one in drawn[1].drawn] == [
        "pass_rate", "pass_rate", "rogan_gladen_pass_rate", "judge_corrected_pass_rate",
    ] * 3  # fmt: skip
    systems = pass_rates_table(report)
    assert systems is not None
    cells = [cell for row in systems.rows for cell in row if isinstance(cell, Estimate)]
    assert set(drawn[1].drawn) == set(cells)


def test_a_pack_its_methods_and_its_sources_speak_of_them(report: CalibrationReport) -> None:
    facts = StudyFacts()
    files = pack(report, facts)
    assert {"confusion.csv", "pass_fail.tex", "pass_rates.md", "pass_fail.pdf", "pass_rates_column.png"} <= {*files}
    said = json.loads(files["calibration-report.json"])
    assert said["data"]["pass_fail"][0]["positive"] == "pass"
    assert any(one["statistic"] == "rogan_gladen_pass_rate" for one in said["estimates"])
    text = methods_paragraph(report, facts).markdown
    assert "Answers of pass (known by its word) are positive. Against each annotator's label in turn, the true" in text
    assert "after Rogan and Gladen [@rogan1978estimating]" in text
    assert "回答为 pass（由其用词识别） 者记为阳性。依次以每名标注者的标注为参照：真阳性率（召回率）" in methods_in(
        "zh_CN", report
    )
    assert {"rogan1978estimating", "youden1950index", "rijsbergen1979information"} <= {*used(report)}
    page = files["report.html"]
    assert "Pass and fail" in (page if isinstance(page, str) else page.decode())


def test_a_page_says_them_in_a_sentence(report: CalibrationReport) -> None:
    assert of_pass_fail(report).startswith("j finds .")
    assert "passes by j alone; without its errors ." in of_pass_rates(report)


def test_notes_of_these_tables_are_chinese_on_a_chinese_page(report: CalibrationReport) -> None:
    with speaking("zh_CN"):
        made = [confusion_table(report), pass_fail_table(report), label_rates_table(report), pass_rates_table(report)]
        notes = " ".join(worded(note) for table in made if table for note in table.notes)
    names = r"\b(Rogan|Gladen|Youden|Wilson|PPI|TPR|TNR|BCa|seed|sha256 \w+|pass|fail)\b"
    assert re.findall("[A-Za-z]{2,}", re.sub(names, "", notes)) == []
    assert notes.count("阳性：pass，相对于 fail（由其用词识别）。") == 3


def test_nothing_of_it_stands_where_pairs_are_compared() -> None:
    report = calibrate(made_pairs(pairs=12), FEW)
    assert not any((confusion_table(report), pass_fail_table(report), pass_rates_table(report)))
    assert label_rates_table(report) is None
    assert pass_fail_figure(report) is pass_rates_figure(report) is None
    assert not any((of_pass_fail(report), of_pass_rates(report)))
    assert "positive" not in methods_paragraph(report, StudyFacts()).markdown
