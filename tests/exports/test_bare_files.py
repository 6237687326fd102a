"""What an export says of a bare file of labels: nothing that only a study's database could know."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exports.plots.answers import answers
from exports.sheets.judges import judges_table
from exports.words.methods import methods_paragraph
from tests.exports.toy_choice import CANDIDATES, toy_choice
from tests.exports.toy_facts import toy_methods_report

NAMED = "A and B were named when the pair was made, before anyone answered."
PLANNED = "Margin, judges and rules are those of the plan with sha256"


@pytest.mark.parametrize("is_of_study", [True, False])
def test_a_plan_and_the_naming_of_sides_are_told_of_a_study_only(is_of_study: bool) -> None:
    report = toy_choice()
    report = replace(report, plan_root="ef" * 32 * is_of_study)
    drawn, table = answers(report), judges_table(report)
    assert drawn is not None
    assert table is not None
    assert drawn.caption.endswith(NAMED) is is_of_study
    assert any(PLANNED in note for note in table.notes) is is_of_study


def test_without_a_cost_nothing_is_called_the_cheapest() -> None:
    report, rule = toy_methods_report(), "The cheapest adequate judge is chosen."
    assert report.choice is not None
    assert rule in methods_paragraph(report).markdown
    unpriced = tuple(replace(one, cost_per_item=float("nan")) for one in CANDIDATES)
    told = methods_paragraph(replace(report, choice=replace(report.choice, candidates=unpriced))).markdown
    assert rule not in told
    assert "Costs are not known, so no judge is called the cheapest." in told
