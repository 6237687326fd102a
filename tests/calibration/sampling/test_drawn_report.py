"""A report on topics that were drawn unequally: weighted by the draw, or a dash; from labels.csv alone."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from calibration.agreement.panel import OF_PEOPLE
from calibration.calibrate import Waiting, calibrate
from calibration.choosing.looking import Looking
from calibration.choosing.open_words import enough_words
from calibration.errors import CalibrationError
from calibration.remarks import Reason
from calibration.settings import CalibrationSettings
from calibration.sizing.agreement_so_far import agreement_so_far, why_unknown
from calibration.sizing.pilot import pilot_of
from calibration.study.joining import study_of
from calibration.systems.claim_scores import scores_from_claims
from calibration.systems.topic_scores import measures_of, topic_scores
from calibration.totals.system_differences import system_differences
from calibration.warnings.comparison_cautions import choice_cautions
from exports.as_json import report_json
from exports.bibliography import used
from exports.sheets.system_pairs import system_differences_table
from exports.words.checklists import alt_test_checklist
from exports.words.methods import methods_in, methods_paragraph
from tests.calibration.aggregated import probe
from tests.calibration.studies import made_pairs, made_ratings

SETTINGS = CalibrationSettings(resamples=99, min_clusters=2)


@pytest.fixture(scope="module")
def labels() -> pd.DataFrame:
    frame = made_pairs(20)
    topics = sorted(frame["cluster_id"].unique())
    copies = dict(zip(topics, np.resize([1, 2, 5], len(topics)), strict=True))
    return frame.assign(copies=frame["cluster_id"].map(copies))


@pytest.fixture(scope="module")
def weighted(labels):
    return calibrate(labels.assign(draw_probability=1 / labels["copies"]), SETTINGS)


def key(one):
    return one.statistic, one.rater, one.reference, one.criterion, one.category


def test_every_value_is_that_of_a_table_where_each_topic_stands_as_often_as_its_weight_says(labels, weighted) -> None:
    parts = [
        labels[labels["copies"] >= number].assign(
            cluster_id=labels["cluster_id"].astype(str) + f"-{number}",
            item_id=labels["item_id"].astype(str) + f"-{number}",
        )
        for number in range(1, 6)
    ]
    copied = {key(one): one for one in calibrate(pd.concat(parts), SETTINGS).estimates}
    judges = {judge for judge in weighted.labels.judges}
    compared = [one for one in weighted.estimates if not math.isnan(one.value) and one.reference not in judges]
    of_people = [one for one in compared if one.rater not in judges or one.reference]
    names = {one.statistic for one in of_people}
    assert {"percent_agreement", "cohen_kappa", "gwet_ac1", "human_ceiling", "gap_to_ceiling", "win_rate"} <= names
    wrong = {
        key(one): (one.value, copied[key(one)].value)
        for one in of_people
        if one.statistic not in ("judge_corrected_win_rate", "krippendorff_alpha_nominal")
        and one.value != pytest.approx(copied[key(one)].value, abs=1e-9)
    }
    assert wrong == {}


def test_what_is_not_weighted_is_a_dash_with_its_reason_and_counts_stay_those_of_labels(labels, weighted) -> None:
    plain = {key(one): one for one in calibrate(labels, SETTINGS).estimates}
    for one in weighted.estimates:
        assert math.isnan(one.value) or one.n == plain[key(one)].n or one.statistic == "win_rate"
    dashes = {one.statistic for one in weighted.estimates if one.reason == Reason.NOT_WEIGHTED}
    assert {"bradley_terry", "fleiss_kappa", "seconds_per_item"} & {name for name, *_ in plain} <= dashes
    assert [one.code for one in weighted.warnings].count("drawn_topics") == 1


def test_methods_and_sources_tell_of_the_draw_and_the_json_holds_it(weighted) -> None:
    told = methods_paragraph(weighted).markdown
    assert "drawn as whole topics with known probabilities from .20 to 1.00" in told
    assert "weight each topic by the inverse of its probability" in told
    assert "抽取概率已知，为 .20 至 1.00" in methods_in("zh_CN", weighted)
    assert {"zrnic2024active", "desraj1956some", "sarndal1992model"} <= {*used(weighted)}
    assert json.loads(report_json(weighted))["data"]["drawn"]["labelled"] == weighted.labels.clusters


@pytest.mark.parametrize(
    ("planned", "said"), [(61, ""), (120, "Enough: mini is adequate, 61 of 120 topics labelled, 59 not needed.")]
)
def test_topics_that_are_not_needed_any_more_are_counted(planned, said) -> None:
    assert enough_words("mini", Looking("planned", 61, planned)) == said


def test_progress_is_weighted_and_a_plan_from_such_a_pilot_is_refused(labels, weighted) -> None:
    drawn = labels.assign(draw_probability=1 / labels["copies"])
    so_far = agreement_so_far(drawn, (), SETTINGS)
    told = {key(one): one.value for one in weighted.estimates}
    assert {key(one): one.value for one in so_far.overall}.items() <= told.items()
    assert so_far.steps[-1].value == pytest.approx(told["percent_agreement", "each_annotator", "others", "all", "all"])
    assert why_unknown(so_far.needed(0.05)).startswith("topics were drawn with unequal")
    with pytest.raises(CalibrationError, match="unequal chances"):
        pilot_of(drawn, SETTINGS)


def test_the_choice_rests_on_the_weighted_gap(weighted) -> None:
    for candidate in weighted.choice.candidates:
        told = next(
            one for one in weighted.estimates
            if (one.statistic, one.rater, one.reference) == ("gap_to_ceiling", candidate.judge, "others")
        )  # fmt: skip
        if candidate.valid_share == 1:
            assert candidate.claim.test.difference.value == pytest.approx(told.value)


def test_one_probability_for_all_topics_changes_no_number(labels) -> None:
    even = calibrate(labels.assign(draw_probability=0.25), SETTINGS)
    plain = calibrate(labels, SETTINGS)
    assert [replace(one, remarks=()) for one in even.estimates if one.value == one.value] == [
        replace(one, remarks=()) for one in plain.estimates if one.value == one.value
    ]
    assert even.choice.sentence == plain.choice.sentence


@pytest.mark.parametrize(("chance", "code"), [(0, "bad_number"), (1.5, "bad_number"), (None, "draws_conflict")])
def test_a_probability_that_is_none_is_refused(labels, chance, code) -> None:
    given = pd.Series(0.5, labels.index)
    given[labels["cluster_id"] == labels["cluster_id"].iloc[-1]] = chance
    with pytest.raises(CalibrationError) as refused:
        calibrate(labels.assign(draw_probability=given), SETTINGS)
    assert refused.value.code == code


def test_a_topic_has_one_probability_and_intervals_over_annotators_are_refused(labels) -> None:
    frame = labels.assign(draw_probability=1 / labels["copies"])
    frame.loc[frame.index[-1], "draw_probability"] = 0.123
    with pytest.raises(CalibrationError, match="drawn whole"):
        calibrate(frame, SETTINGS)
    with pytest.raises(CalibrationError, match="generalise_to"):
        calibrate(
            labels.assign(draw_probability=1 / labels["copies"]),
            replace(SETTINGS, generalise_to="pairs_and_annotators"),
        )


@pytest.fixture(scope="module")
def rated() -> pd.DataFrame:
    frame = made_ratings(60)
    topics = sorted(frame["cluster_id"].unique())
    chance = dict(zip(topics, np.resize([1.0, 0.5, 0.2], len(topics)), strict=True))
    return frame.assign(draw_probability=frame["cluster_id"].map(chance))


def test_of_ratings_too_what_is_not_weighted_is_a_dash_in_the_report_and_in_what_comes_first(rated) -> None:
    first = []
    with patch("calibration.calibrate.MANY_ROWS", 0):
        report = calibrate(rated, SETTINGS, waiting=Waiting(points=first.append))
    told = {key(one): one for one in report.estimates}
    among_people = [one for one in report.estimates if one.statistic in OF_PEOPLE and one.rater == "each_annotator"]
    assert {one.reason for one in among_people} == {Reason.NOT_WEIGHTED}
    assert len(first) == 2
    for early in first:
        for one in early.estimates:
            assert math.isnan(one.value) == math.isnan(told[key(one)].value), one
    assert "panel_sensitive" not in {one.code for one in report.warnings}


def test_how_systems_and_topics_compare_is_refused_where_their_topics_were_drawn(rated) -> None:
    two = pd.concat([rated, rated.assign(item_id=rated["item_id"] + "b", system_a="borealis")])
    with pytest.raises(CalibrationError, match="not weighted") as refused:
        system_differences(two, SETTINGS)
    assert refused.value.code == "unknown_form"
    study = study_of(two, SETTINGS)
    measure = measures_of(study, SETTINGS)[0]
    with pytest.raises(CalibrationError, match="not weighted"):
        topic_scores(study, None, measure, SETTINGS)
    assert topic_scores(study, "judge-x", measure, SETTINGS)  # it hangs on no draw
    assert system_differences_table(two, calibrate(two, SETTINGS)) is None
    claims = pd.DataFrame([probe("pass", topic=f"t{number}", draw_probability=1 / (1 + number)) for number in range(4)])
    with pytest.raises(CalibrationError, match="not weighted"):
        scores_from_claims(claims, SETTINGS)


def test_reviewers_read_why_the_alternative_annotator_test_is_not_there(weighted) -> None:
    rows = {row[0]: row[1:] for row in alt_test_checklist(weighted).rows}
    assert rows["The test was made"] == ("no", "not weighted: topics were drawn with unequal probabilities")


def test_the_panel_is_no_caution_where_nothing_of_it_is_weighted(labels) -> None:
    drawn = study_of(labels.assign(draw_probability=1 / labels["copies"]), SETTINGS)
    with patch("calibration.warnings.comparison_cautions.panel_sensitivity", side_effect=AssertionError):
        assert [*choice_cautions(drawn, None, SETTINGS)] == []
