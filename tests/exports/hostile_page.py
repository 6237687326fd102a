"""A report whose every name tries to become a part of the page, its twin with plain names, and what a page is made of."""

from __future__ import annotations

import pandas as pd

from calibration.calibrate import calibrate
from calibration.results import CalibrationReport, CalibrationSettings
from exports.figures import Figure
from exports.page import report_page
from exports.sheets.agreement import annotators_table, criteria_table
from exports.sheets.bias import bias_table
from exports.sheets.judges import comparisons_table, judges_table
from exports.sheets.ranking import ranking_table
from exports.sheets.system_pairs import system_pairs_table
from exports.sheets.topics import categories_table
from exports.tables import Table, agreement_table
from tests.calibration.ranked import drawn_study
from tests.exports.test_print import DRAW

TABLES = (
    agreement_table, criteria_table, annotators_table, judges_table, comparisons_table, bias_table, ranking_table,
    system_pairs_table, categories_table,
)  # fmt: skip
HOSTILE = {
    "atlas": "<script>alert('system')</script>",
    "borealis": "\"><img src=x onerror=alert('img')>",
    "cirrus": "</style></title></table><svg onload=alert('svg')>",
    "judge-x": "judge</p><iframe src=javascript:alert('frame')></iframe>",
    "judge-y": "{{ 7 * 7 }}{% include '/etc/passwd' %} &lt;b&gt; ' onmouseover='alert(1)",
    "ann1": "=cmd|' /C calc'!A0",
    "ann2": "‮判断 😀 <a href=//evil.example>x</a>",
    "better": "clear & <b>right</b> \u2028 http://evil.example/?q=\"'`",
}
FEW = CalibrationSettings(resamples=20, per_criterion=True)


def plain_report() -> CalibrationReport:
    return calibrate(_study(), FEW)


def hostile_report() -> CalibrationReport:
    frame = _study()
    named = ["rater_id", "system_a", "system_b", "criterion"]
    frame[named] = frame[named].replace(HOSTILE)
    return calibrate(frame, FEW)


def _study() -> pd.DataFrame:
    frame = drawn_study(8)
    frame["cost_usd"] = frame["rater_id"].map({"judge-x": 0.01, "judge-y": 0.001})
    second = frame.assign(criterion="second")
    return pd.concat([frame, second], ignore_index=True)


def parts_of(report: CalibrationReport) -> tuple[list[Table], list[Figure]]:
    """Every table and every figure that the report has numbers for."""
    tables = [found for make in TABLES if (found := make(report)) is not None]
    return tables, [found for draw in DRAW if (found := draw(report)) is not None]


def page_of(report: CalibrationReport, methods: str = "", title: str = "") -> str:
    return report_page(report, *parts_of(report), methods, title)
