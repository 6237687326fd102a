"""Every table of a report: of the toy reports, and of one with more judges, criteria and letters than a page likes."""

from __future__ import annotations

import math
from dataclasses import replace

from calibration.inference.compare import Difference, JudgePair
from calibration.results import CalibrationReport
from calibration.systems.category_effects import CategoryAnova
from exports.sheets.agreement import annotators_table, criteria_table, summary_table
from exports.sheets.bias import bias_table
from exports.sheets.judges import card_table, comparisons_table, judges_table
from exports.sheets.ranking import ranking_table
from exports.sheets.topics import categories_table
from exports.tables import Column, Table, agreement_table
from tests.exports.sheets.test_criteria_tables import toy_criteria
from tests.exports.toy import BOOTSTRAP, WILSON, T, toy_estimate, toy_report
from tests.exports.toy_choice import candidate, toy_choice

LONG = [f"openrouter/anthropic/claude-sonnet-4.5-2025092{n} [both orders]" for n in range(6)]
LONG += [f"vertex_ai/publishers/google/models/gemini_2.5_pro_preview:thinking-{n}" for n in range(6)]
CRITERIA = [f"evidence_and_source_quality_of_primary_literature_{n:02}" for n in range(60)]
PEOPLE = "each_annotator"
UNSEEN = Difference(math.nan, math.nan, math.nan, math.nan, 0, 0)


def toy_pairs() -> CalibrationReport:
    """Two judges compared, and systems by category."""
    pair = JudgePair("tiny", "gpt-5_mini", UNSEEN, 0.0002, "worse", 0.98)
    effect = CategoryAnova(1.6, 0.217, 0.12, -0.03, 0.07, 0.0, 0.31, 0.95, 30, 3, ("law",))
    gap = toy_estimate("agreement_difference", "tiny", -0.24, -0.31, -0.17, T, reference="gpt-5_mini")
    report = toy_report()
    effects = {"atlas": effect, "Système_$x$": effect}
    return replace(report, judge_pairs=(pair,), category_effects=effects, estimates=(*report.estimates, gap))


def toy_tables() -> dict[str, Table]:
    """By name, as in tests/golden."""
    choice, pairs = toy_choice(), toy_pairs()
    found = (
        agreement_table(toy_report()), criteria_table(toy_criteria()), annotators_table(toy_criteria()),
        judges_table(choice), bias_table(choice), ranking_table(choice), comparisons_table(pairs),
        categories_table(pairs), summary_table(toy_report()), card_table(choice, "gpt-5_mini"),
    )  # fmt: skip
    return {table.name: table for table in found if table is not None}


def extreme_tables() -> dict[str, Table]:
    """12 judges with long names, 60 criteria with long ids: 780 rows by criterion, 66 pairs of judges."""
    estimates = [
        toy_estimate("percent_agreement", name, 0.5 + place / 40, 0.4 + place / 40, 0.6 + place / 40, WILSON)
        for place, name in enumerate(LONG)
    ]
    for name, value in (("cohen_kappa", 0.3), ("cohen_kappa_symmetrised", 0.31), ("krippendorff_alpha_nominal", -0.3),
                        ("pearson", -0.01), ("spearman", 0.4)):  # fmt: skip
        estimates += [toy_estimate(name, judge, value, value - 0.1, value + 0.1, BOOTSTRAP) for judge in LONG]
    estimates += [toy_estimate("cost_per_item", judge, 1.2, 1.1, 1.3, T, reference="") for judge in LONG]
    estimates += [toy_estimate("valid_share", judge, 0.99, 0.98, 0.997, WILSON, reference="") for judge in LONG]
    estimates += [toy_estimate("percent_agreement", PEOPLE, 0.8, 0.7, 0.9, WILSON, reference="others")]
    pairs = []
    for place, judge in enumerate(LONG):
        for other in LONG[place + 1 :]:
            pairs.append(JudgePair(judge, other, UNSEEN, 0.4, "cannot_tell", 1.0))
            estimates.append(toy_estimate("agreement_difference", judge, -0.1, -0.2, 0.1, T, reference=other))
    by_criterion = [
        replace(one, criterion=name)
        for name in CRITERIA
        for one in estimates
        if one.statistic in {"percent_agreement", "cohen_kappa"}
    ]
    report = toy_choice()
    tried = tuple(candidate(name, 0.7, 0.01, 0.2, 1.2, "cannot_tell", "cannot_tell") for name in LONG)
    assert report.choice is not None
    labels = replace(report.labels, judges=LONG, criteria=dict.fromkeys(CRITERIA, "pairwise"))
    report = replace(
        report,
        labels=labels,
        judge_pairs=tuple(pairs),
        estimates=(*estimates, *by_criterion),
        choice=replace(report.choice, candidates=tried),
    )
    found = (
        agreement_table(report), criteria_table(report), judges_table(report), comparisons_table(report),
        summary_table(report),
    )  # fmt: skip
    return {table.name: table for table in found if table is not None}


HOSTILE = [
    "=cmd()", "+1", "-2", "@x", "a,b", "\"q\" and 's'", "two\nlines\r\nthree", "& % _ # $ { } ~ ^ \\", r"\input{x}",
    r"\write18{touch written}", r"\end{tabular}", "[a]", "*b", "|", "<script>alert(1)</script>", "Système ñ ß ø ł ž ű",
    "ąęĐ «»", "e\u0301 x\u0304 ế", "α β γ δ ε Ω Α ά ΐ", "a\x00\x07\x1bb", "\u200b\u200d\u2060\ufeffz\u202e",
    "--flag --- ``x'' ?`!`", "1\u00a0000 … – — ‘a’ “b” ² × ≤", "^^41 %comment", "\t=tab", "½ § © ® ° µ € ™ • ¡¿",
    "x\u2028y\u0085z", " =1", "\n=1", "](x) **b** `c` | d", "1. a", "# h", "", "  ",
]  # fmt: skip
UNICODE = ["＝1+1", "中文报告 质量", "😀👍🏽👨\u200d👩\u200d👧", "تقرير البحث", "日本語 한국어", "Привет"]


def hostile_table(texts: list[str]) -> Table:
    """Each text as a name, a heading, a note and in the title."""
    columns = (Column("name", texts[0]), Column("said", texts[-1] or "said", "s"), Column("n", "n"))
    rows = tuple((text, text, number) for number, text in enumerate(texts))
    return Table("hostile", " ".join(texts[:8]), columns, rows, tuple(texts))
