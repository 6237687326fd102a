"""A checklist answers from what is known; what is not known is said to be so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings

from exports.as_json import as_json
from exports.as_latex import as_latex
from exports.facts import StudyFacts
from exports.forms import as_csv, as_markdown
from exports.words.checklists import alt_test_checklist, blinding_checklist
from tests.exports.test_methods import ANY_FACTS
from tests.exports.toy_facts import bare_report, people_report, toy_facts, toy_methods_report

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "checklists.md"
BOTH = (alt_test_checklist, blinding_checklist)


def answers(table: Any) -> dict[str, tuple[str, str]]:
    return {item: (answer, where) for item, answer, where in table.rows}


def test_the_checklists_are_those_that_were_read() -> None:
    made = [as_markdown(make(toy_methods_report(), facts)) for facts in (toy_facts(), None) for make in BOTH]
    assert "\n".join(made) == GOLDEN.read_text(encoding="utf-8")


def test_of_a_bare_table_blinding_is_not_known() -> None:
    assert {answer for answer, _ in answers(blinding_checklist(toy_methods_report())).values()} == {"not known"}


@pytest.mark.parametrize(
    ("change", "item", "answer"),
    [
        ({"citations_stripped": False}, "Citations removed", "no"),
        ({"layout": "kept"}, "One layout for all reports, references included", "no"),
        ({"flags": {}}, "Passages that may name a maker decided by the owner", "yes"),
        ({"orders": {}}, "Order recorded", "not known"),
        ({"orders": {"A": 2, "B": 1}}, "Order recorded", "yes"),
        ({"imported_labels": 1}, "Order drawn at random for each annotator", "no"),
        ({"imported_labels": 1}, "System and file names hidden from annotators", "not known"),
        ({"unproved_texts": 1}, "People and judges read one stored text, by its sha256", "no"),
        ({"blinding_audit": None}, "Leakage was measured", "not known"),
        ({"blinding_audit": {"refused": "one system"}}, "Leakage was measured", "no"),
        ({"revealed_at": "2026-11-19"}, "Labels and systems kept apart until the study closed", "no"),
        ({"status": "open"}, "Labels and systems kept apart until the study closed", "not known"),
        ({"labels_after_reveal": 2}, "No label was given after systems were revealed", "no"),
        ({"staff_labelled": 0}, "Nobody who runs the study labelled", "yes"),
        ({"judges": (replace(toy_facts().judges[0], order="one"),)}, "Judges asked in both orders", "no"),
    ],
)
def test_each_fact_changes_its_answer(change: dict[str, Any], item: str, answer: str) -> None:
    assert answers(blinding_checklist(toy_methods_report(), replace(toy_facts(), **change)))[item][0] == answer


def test_ratings_are_not_asked_about_sides() -> None:
    facts = replace(toy_facts(), task_type="pointwise_rating")
    assert "Order recorded" not in answers(blinding_checklist(toy_methods_report(), facts))


def test_the_test_is_asked_for_where_it_was_not_made() -> None:
    assert answers(alt_test_checklist(bare_report()))["The test was made"][0] == "no"
    assert answers(alt_test_checklist(people_report()))["At least 3 annotators"] == ("no", "2 annotators")


def test_candidates_are_all_listed_only_where_no_settings_were_replaced() -> None:
    def said(facts: StudyFacts | None) -> tuple[str, str]:
        return answers(alt_test_checklist(toy_methods_report(), facts))["All candidates tried are listed"]

    once = tuple(replace(one, settings_tried=1, imported=False) for one in toy_facts().judges)
    assert said(None)[0] == "not known", "a table holds what was kept, not what was tried"
    assert said(replace(toy_facts(), judges=once))[0] == "yes"
    assert said(toy_facts()) == ("no", "3 candidates in the report; of settings, small is one of 3")


def test_an_epsilon_of_the_software_is_not_known_to_be_fixed_beforehand() -> None:
    def fixed(known: bool | None) -> str:
        facts = replace(StudyFacts(), epsilon_in_protocol=known)
        return answers(alt_test_checklist(toy_methods_report(), facts))["ε was fixed beforehand"][0]

    assert [fixed(known) for known in (True, False, None)] == ["yes", "not known", "not known"]


@given(ANY_FACTS)
@settings(phases=(Phase.explicit, Phase.generate))
def test_whatever_is_unknown_every_format_takes_the_checklists(facts: StudyFacts) -> None:
    for make in BOTH:
        table = make(toy_methods_report(), facts)
        assert all(answer in ("yes", "no", "not known") for _, answer, _ in table.rows)
        assert "None" not in as_csv(table) + as_json(table) + as_latex(table) + as_markdown(table)
