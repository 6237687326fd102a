"""The tables of the choice: judges with what became of them, biases with their sizes, systems in their order."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from calibration.calibrate import calibrate
from calibration.choosing.choice_words import short_sentence
from calibration.results import CalibrationSettings, Estimate
from calibration.systems.category_effects import category_effects
from exports.as_json import as_json
from exports.as_latex import as_latex
from exports.cells import Probability, shown
from exports.forms import as_csv, as_markdown
from exports.plots.bias_figure import bias_figure
from exports.sheets.agreement import annotators_table, criteria_table, summary_table
from exports.sheets.bias import bias_table, headlines
from exports.sheets.judges import card_table, comparisons_table, judges_table, outcome_words
from exports.sheets.ranking import judge_shown, ranking_table
from exports.sheets.topics import categories_table
from exports.tables import agreement_table
from exports.words.methods import methods_paragraph
from tests.calibration.priced import EIGHT, priced
from tests.calibration.ranked import drawn_study
from tests.calibration.studies import made_pairs, made_ratings
from tests.exports.toy import toy_report
from tests.exports.toy_choice import CANDIDATES, bias, candidate, toy_choice

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
FORMS = [("tex", as_latex), ("md", as_markdown), ("csv", as_csv), ("json", as_json)]
FEW = CalibrationSettings(resamples=30)


@pytest.mark.parametrize("make", [judges_table, bias_table, ranking_table])
@pytest.mark.parametrize(("suffix", "write"), FORMS)
def test_the_tables_are_the_ones_a_person_has_read(make, suffix, write):
    table = make(toy_choice())
    assert write(table) == (GOLDEN / f"{table.name}.{suffix}").read_text(encoding="utf-8")


def test_a_report_without_choice_biases_or_systems_has_no_such_table():
    bare = toy_report()
    assert (judges_table(bare), bias_table(bare), ranking_table(bare), card_table(bare, "tiny")) == (None,) * 4


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (CANDIDATES[0], "ruled out: gap above the margin"),
        (CANDIDATES[1], "open: cannot tell yet"),
        (CANDIDATES[2], "adequate: chosen"),
        (CANDIDATES[3], "open: constant answer too close"),
        (CANDIDATES[4], "adequate: cost unknown"),
        (candidate("j", 0.8, 0.0, 0.001, 0.1, "dearer"), "adequate: dearer"),
        (candidate("j", 0.8, 0.0, 0.001, 0.1, "lower_agreement"), "adequate: agrees less at that price"),
        (
            candidate("j", 0.4, 0.0, 0.001, 0.1, "baseline_not_beaten", place="below"),
            "ruled out: no better than a constant answer",
        ),
        (
            replace(candidate("j", 0.8, 0.0, 0.001, 0.1, "no_reference"), claim=None, rows=()),
            "open: no reference",
        ),
    ],
)
def test_the_outcome_of_a_judge_is_said_with_its_reason(one, words):
    assert outcome_words(one) == words


def test_the_first_note_under_the_judges_is_the_choice_in_short():
    report = toy_choice()
    assert judges_table(report).notes[0] == short_sentence(report.choice)


def test_judges_without_costs_have_no_column_of_costs():
    unpriced = tuple(replace(one, cost_per_item=math.nan, on_frontier=False) for one in CANDIDATES)
    report = toy_choice()
    report = replace(report, estimates=tuple(one for one in report.estimates if one.statistic != "cost_per_item"))
    choice = replace(report.choice, candidates=unpriced, status="cannot_tell")
    keys = [one.key for one in judges_table(replace(report, choice=choice)).columns]
    assert not {"cost_per_1000_items", "on_frontier"} & {*keys}


def test_every_candidate_has_its_row_and_numbers_of_the_choice():
    report = calibrate(priced(EIGHT, pairs=60), FEW)
    table = judges_table(report)
    keys = [column.key for column in table.columns]
    for row, one in zip(table.rows, report.choice.candidates, strict=True):
        cells = dict(zip(keys, row, strict=True))
        assert (cells["judge"], cells["percent_agreement"]) == (one.judge, one.agreement)
        assert cells["gap"].value == one.claim.test.difference.value
        assert cells["clusters_needed"] == one.clusters_needed


def test_the_bias_table_says_found_not_found_or_cannot_tell_and_never_that_there_is_none():
    for report in (toy_choice(), calibrate(made_pairs(24, 2, 2, both_orders=True), FEW)):
        table = bias_table(report)
        at = [column.key for column in table.columns].index("outcome")
        assert {row[at] for row in table.rows} <= {"found", "not found", "cannot tell"}
        assert "no bias" not in as_markdown(table).lower()


def test_an_effect_is_the_measure_minus_what_it_is_without_bias():
    rows = {row[:2]: row for row in bias_table(toy_choice()).rows}
    effect, against = rows["report shown first wins", "gpt-5_mini"][2:4]
    assert (effect.value, effect.low, effect.high, against) == pytest.approx((0.11, 0.06, 0.16, 0.5))
    assert rows["report shown first wins", "tiny"][2].statistic == "first_rate"  # the other is undefined there


def test_a_found_effect_below_0_is_named_by_its_reverse_in_headline_table_and_caption():
    report, plain = toy_choice(), bias_figure(toy_choice()).caption
    ties = bias("tie_rate_gap", "gpt-5_mini", -0.07, 0.02, "found", p=0.001)
    own = bias("self_preference", "gpt-5_mini", -0.12, 0.04, "found", category="systems: gpt-4")
    fewer = replace(report, biases=(*(one for one in report.biases if one.estimate.statistic != "tie_rate_gap"), ties))
    table = bias_table(replace(fewer, biases=(*fewer.biases, own)))
    assert {"ties less than people", "gpt-4 (own), less than people"} < {row[0] for row in table.rows}
    assert {row[2].value < 0 for row in table.rows if "less than" in row[0]} == {True}
    assert "A negative effect that is found is named by its reverse." in table.notes
    said = {one.title: one.said for one in headlines(fewer)}
    assert (said["ties more than people"], said["changes its answer"]) == (
        "ties less than people",
        "changes its answer",
    )
    assert bias_figure(fewer).caption == f"{plain[:-1]}; left of 0 a rater does the reverse of the title."


def test_a_bias_that_the_labels_cannot_show_is_said_to_be_one():
    (note,) = [note for note in bias_table(toy_choice()).notes if note.startswith("Cannot tell, for")]
    assert "changes its answer (=cmd|'&%$ #1, small, tiny, unpriced)" in note


def test_the_systems_of_the_own_family_and_only_findings_of_others_have_rows():
    said = [row[0] for row in bias_table(toy_choice()).rows]
    assert "gpt-4 (own), beyond people" in said
    assert not any("atlas" in one for one in said)
    assert "Systems of other families without a row: 1 cannot tell." in bias_table(toy_choice()).notes


def test_the_ranking_holds_every_system_in_the_order_of_the_people():
    report = calibrate(drawn_study(), FEW)
    table = ranking_table(report)
    people = [row[1].value for row in table.rows]
    assert sorted(row[0] for row in table.rows) == ["atlas", "borealis", "cirrus"]
    assert people == sorted(people, reverse=True)
    assert any("Kendall's τ" in note and "judge-x" in note and "judge-y" in note for note in table.notes)


def test_the_ranking_shows_the_chosen_judge_else_the_one_that_agrees_most():
    report = toy_choice()
    assert judge_shown(report) == "gpt-5_mini"
    assert judge_shown(replace(report, choice=replace(report.choice, judge=None))) == "gpt-5_mini"
    assert judge_shown(toy_report()) == ""


def test_a_card_has_one_row_for_each_question():
    report = calibrate(priced(EIGHT, pairs=40), FEW)
    table = card_table(report, "mini")
    assert [row[0] for row in table.rows] == [one.question for one in report.card if one.judge == "mini"]
    assert card_table(report, "nobody") is None


@pytest.mark.parametrize(
    "frame",
    [
        made_pairs(), made_pairs(pairs=3), made_pairs(pairs=6), made_pairs(annotators=1), made_ratings(),
        made_ratings(40, 3), drawn_study(4),
    ],
)  # fmt: skip
def test_the_tables_of_any_study_can_be_written_and_every_dash_has_its_reason(frame):
    report = calibrate(frame, replace(FEW, per_criterion=True))
    cards = [card_table(report, judge) for judge in report.labels.judges]
    of_estimates = [*filter(None, (criteria_table(report), annotators_table(report), summary_table(report)))]
    assert not any(isinstance(cell, float) for table in of_estimates for row in table.rows for cell in row)
    others = agreement_table(report), judges_table(report), bias_table(report), ranking_table(report), *cards
    for table in filter(None, (*of_estimates, *others)):
        for _, write in FORMS:
            assert write(table)
        json.loads(as_json(table))
        for cell in (cell for row in table.rows for cell in row):
            assert not (isinstance(cell, float) and math.isnan(cell))
            if isinstance(cell, Estimate) and math.isnan(cell.low):
                assert cell.note


@pytest.mark.parametrize(("p", "text"), [(0.0004, "<.001"), (0.0365, ".036"), (1.0, "1.000"), (math.nan, "–")])
def test_a_probability_is_never_printed_as_nothing(p, text):
    assert shown(Probability(p)) == (text, "")


def test_no_digit_of_a_probability_is_lost_in_csv_and_json():
    row = next(row for row in json.loads(as_json(judges_table(toy_choice())))["rows"] if row["judge"] == "gpt-5_mini")
    assert row["p_adjusted"] == 5 * 0.00004
    assert repr(5 * 0.00004) in as_csv(judges_table(toy_choice()))


def test_judges_are_compared_two_by_two_on_the_labels_that_both_were_asked():
    report = calibrate(priced({"bad": (0.3, 0.002), "good": (0.9, 0.001), "other": (0.88, 0.001)}, pairs=40), FEW)
    table = comparisons_table(report)
    rows = {row[:2]: dict(zip([column.key for column in table.columns], row, strict=True)) for row in table.rows}
    assert set(rows) == {("bad", "good"), ("bad", "other"), ("good", "other")}
    agreed = {
        one.rater: one.value
        for one in report.estimates
        if (one.statistic, one.reference, one.criterion) == ("percent_agreement", "each_annotator", "all")
    }
    for (judge, other), row in rows.items():
        assert row["agreement_difference"].value == pytest.approx(agreed[judge] - agreed[other])
        assert (row["n"], row["clusters"], row["shared"]) == (40 * 3 * 3, 40, 1.0)
    assert rows["bad", "good"]["outcome"] == "agrees less"
    assert rows["good", "other"]["outcome"] == "cannot tell"
    assert any("Holm over 3 pairs" in note for note in table.notes)
    assert all(write(table) for _, write in FORMS)
    assert comparisons_table(calibrate(priced({"good": (0.9, 0.001)}, pairs=24), FEW)) is None


@pytest.mark.parametrize(("distance", "near"), [
    ("linear", "1 − |a − b| / range of the scale (linear distance)"), ("quadratic", "(quadratic distance)"),
    ("exact", ""),
])  # fmt: skip
def test_a_note_of_scores_says_whether_near_ones_or_equal_ones_count(distance: str, near: str) -> None:
    frame = made_ratings(60)
    other = frame[frame["rater_kind"] == "judge"].assign(rater_id="judge-y", label="5")
    report = calibrate(pd.concat([frame, other]), replace(FEW, distance=distance))
    equal = "the share of equal labels"
    for table in (judges_table(report), comparisons_table(report), card_table(report, "judge-x")):
        notes = " ".join(table.notes if table else ())
        assert (near in notes, equal in notes) == (True, not near)
    for same in (agreement_table(report), criteria_table(report), annotators_table(report)):
        notes = " ".join(same.notes if same else ())
        assert equal in notes
        # the first of them knows of no choice: it is made from labels alone as well
        assert ("κ is unweighted" in notes) is (bool(near) and same is not None and same.name != "agreement")


def test_systems_by_category_of_topic_are_those_of_the_public_function():
    frame = drawn_study(topics=30)
    frame = frame.assign(category=frame["cluster_id"].map(lambda name: "AB"[int(name[-1]) % 2]))
    table = categories_table(calibrate(frame, FEW))
    effects = category_effects(frame, settings=FEW)
    rows = {row[0]: dict(zip([column.key for column in table.columns], row, strict=True)) for row in table.rows}
    assert set(rows) == set(effects)
    for name, one in effects.items():
        assert (rows[name]["eta_squared"], rows[name]["omega_squared"]) == (one.eta_squared, one.omega_squared)
        assert (rows[name]["p"], rows[name]["n"], rows[name]["categories"]) == (one.p, 30, 2)
    assert categories_table(calibrate(frame.assign(category=""), FEW)) is None


def test_a_test_that_passes_where_the_choice_does_not_is_said_to_ask_another_question():
    report = toy_choice()
    assert not [note for note in judges_table(report).notes if "another question" in note]
    passed = replace(report, alt_tests=(replace(report.alt_tests[1], passed=True),))
    (told,) = (note for note in judges_table(passed).notes if "another question" in note)
    assert "15 points (ε)" in told
    assert "the margin of 5 points" in told
    assert "so small passes it without being shown to be adequate" in told
    assert told in methods_paragraph(passed).markdown
