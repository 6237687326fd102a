from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from exports.as_json import as_json, report_json
from exports.as_latex import as_latex, escape
from exports.cells import number, shown
from exports.errors import ExportError
from exports.forms import as_csv, as_html, as_markdown
from exports.tables import Table, agreement_table
from exports.words.notes import TIE_RULES
from tests.exports.toy import NAN, WILSON, toy_estimate, toy_report

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


@pytest.mark.parametrize(
    ("name", "write"),
    [("tex", as_latex), ("md", as_markdown), ("csv", as_csv), ("json", as_json), ("html", as_html)],
)
def test_the_agreement_table_is_the_one_a_person_has_read(name, write):
    assert write(agreement_table(toy_report())) == (GOLDEN / f"agreement.{name}").read_text(encoding="utf-8")


def test_the_report_is_the_one_a_person_has_read():
    assert report_json(toy_report()) == (GOLDEN / "calibration-report.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (0.741, 0.684, 0.798, (".74", "[.68, .80]")),
        (0.741, 0.7352, 0.7468, (".741", "[.735, .747]")),
        (0.2, -0.7, 0.8, (".2", "[−.7, .8]")),
        (1.0, 0.97, 1.0, ("1.00", "[.97, 1.00]")),
        (-0.001, -0.1, 0.1, (".00", "[−.10, .10]")),
        (0.5, NAN, NAN, (".50", "[–]")),
        (NAN, NAN, NAN, ("–", "")),
        (12.34, 11.5, 13.2, ("12.3", "[11.5, 13.2]")),
        (1234.5, 1200.0, 1300.0, ("1,234", "[1,200, 1,300]")),
    ],
)
def test_a_number_shows_no_digit_that_its_interval_cannot_support(value, low, high, text):
    assert shown(toy_estimate("any", "gpt", value, low, high, WILSON)) == text


@pytest.mark.parametrize(("cell", "text"), [(None, ""), ("gpt", "gpt"), (1170, "1,170"), (0.5, ".50"), (NAN, "–")])
def test_plain_cells(cell, text):
    assert shown(cell) == (text, "")


def test_a_negative_number_that_rounds_to_nothing_has_no_sign():
    assert number(-0.0004, 2) == ".00"


@pytest.mark.parametrize(
    "bare",
    [
        toy_estimate("cohen_kappa", "gpt", 0.5, 0.4, 0.6, method=""),
        toy_estimate("cohen_kappa", "gpt", 0.5, method="none", note=""),
        toy_estimate("cohen_kappa", "gpt", NAN, method="none", note=""),
    ],
)
def test_a_bare_number_is_not_printed(bare):
    report = replace(toy_report(), estimates=(bare,))
    with pytest.raises(ExportError, match="cohen_kappa") as refusal:
        agreement_table(report)
    assert refusal.value.code == "bare_number"


@pytest.mark.parametrize(
    ("ties", "column"),
    [
        ("three_class", "percent_agreement"),
        ("half_credit", "percent_agreement_half_credit"),
        ("exclude", "percent_agreement_exclude_ties"),
    ],
)
def test_the_agreement_column_follows_the_tie_rule_and_says_so(ties, column):
    table = agreement_table(toy_report(ties))
    assert table.columns[1].key == column
    assert any(f"Ties: {TIE_RULES[ties]}." in note for note in table.notes)
    assert not any("percent_agreement" in note or f"({ties})" in note for note in table.notes)  # words, no settings


def test_a_spreadsheet_runs_no_cell_and_loses_no_digit():
    rows = list(csv.DictReader(io.StringIO(as_csv(agreement_table(toy_report())))))
    assert rows[1]["rater"] == "'=cmd|'&%$ #1"
    assert float(rows[1]["percent_agreement"]) == 1 / 3
    assert rows[0]["pearson"] == "-0.001"
    assert rows[1]["cohen_kappa"] == ""
    assert rows[1]["cohen_kappa_note"].startswith("constant_rater")


def test_json_has_null_for_nan_and_reads_back():
    report = json.loads(report_json(toy_report()))
    assert report["format"] == "calipers-report/1"
    assert set(report) == {"format", "data", "settings", "warnings", "estimates", "choice", "judges", "biases", "card"}
    undefined = [one for one in report["estimates"] if one["note"].startswith("constant_rater")]
    assert undefined[0]["value"] is None
    assert report["choice"] is None


def test_tex_prints_any_name_as_it_is():
    assert escape("50 % of_{x} & #1 \\ ~^ κ − [a]") == (
        r"50 \% of\_\{x\} \& \#1 \textbackslash{} \textasciitilde{}\textasciicircum{} $\kappa$ $-$ [a]"
    )


def test_tex_is_ascii_balanced_and_has_as_many_cells_in_every_row():
    tex = as_latex(agreement_table(toy_report()))
    assert tex.isascii()
    bare = tex.replace(r"\{", "").replace(r"\}", "")
    assert bare.count("{") == bare.count("}")
    body = tex.split(r"\toprule")[1].split(r"\bottomrule")[0].replace(r"\&", "")
    rows = [line for line in body.splitlines() if line.endswith(r"\\")]
    columns = len(agreement_table(toy_report()).columns)
    assert {line.count("&") for line in rows} == {columns - 1}


def test_a_table_without_rows_is_still_a_table():
    empty = Table("agreement", "Nothing yet", agreement_table(toy_report()).columns, (), ("No judge has run.",))
    for write in (as_latex, as_markdown, as_csv, as_json):
        assert write(empty)
