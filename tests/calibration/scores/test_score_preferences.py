"""People's one preference against a judge's scores: by hand, against sklearn, against explicit resampling."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from calibration.agreement.score_preferences import (
    PreferenceAgreement,
    named_as_shown,
    peoples_preferences,
    preference_agreement,
)
from calibration.calibrate import calibrate
from calibration.choosing.choice import Candidate
from calibration.errors import CalibrationError
from calibration.inference.bootstrap import expanded_percentile, wilson_effective
from calibration.results import CalibrationReport, CalibrationSettings
from calibration.study.joining import study_of
from calibration.totals.inter_human import mean_kappa_of_people
from calibration.warnings.sample_cautions import unread_topics
from exports.pipeline import decision_of
from exports.words.sentences import judges_met
from tests.calibration.brute_force import mirrored_kappa
from tests.calibration.explicit import FEW, explicit
from tests.calibration.studies import made_gym, made_pairs, made_ratings
from tests.exports.toy_studies import gym_study

FRAME = made_gym()
CASES = [(judge, score) for score in ("clarity", "recall") for judge in ("large", "mini")]


@cache
def all_found() -> tuple[PreferenceAgreement, ...]:
    return preference_agreement(FRAME, FEW)


def found_in(judge: str, score: str) -> PreferenceAgreement:
    return next(one for one in all_found() if (one.judge, one.score) == (judge, score))


def test_every_judge_and_score_is_a_case() -> None:
    assert [(one.judge, one.score) for one in all_found()] == CASES


def test_a_topic_in_two_languages_has_two_reports_of_each_system_and_is_one_cluster() -> None:
    number = FRAME["cluster_id"].map({name: at for at, name in enumerate(sorted(FRAME["cluster_id"].unique()))})
    two = FRAME.assign(topic=FRAME["cluster_id"], cluster_id="c" + (number // 2).astype(str))
    found, plain = preference_agreement(two, FEW), all_found()
    assert [(one.kappa.value, one.kappa.n) for one in found] == [(one.kappa.value, one.kappa.n) for one in plain]
    half = [(one.kappa.clusters, other.kappa.clusters) for one, other in zip(found, plain, strict=True)]
    assert all(own < of <= 2 * own for own, of in half)
    coarse = FRAME.assign(topic="science")
    assert preference_agreement(coarse, FEW) == plain, "a subject matter is no topic"
    first, other = FRAME["cluster_id"].unique()[:2]
    torn = FRAME.assign(topic=FRAME["cluster_id"].replace(other, first))
    item = FRAME.assign(topic=FRAME["cluster_id"].mask(FRAME.index == 0, "another"))
    for table, told in ((two, "shared_clusters"), (torn, "unread_topics")):
        warnings = [one.code for one in calibrate(table, FEW).warnings]
        assert [one for one in warnings if one in ("shared_clusters", "unread_topics")] == [told]
    for table, name in ((torn, f"topic {first}"), (item, f"item {FRAME['item_id'].iloc[0]}")):
        (unread,) = unread_topics(table, study_of(table, FEW))
        assert f"the column topic is not read: {name} lies in several " in unread.text
    for table in (coarse, FRAME.assign(topic="")):
        assert not list(unread_topics(table, study_of(table, FEW)))


def joined(judge: str, score: str) -> pd.DataFrame:
    """Every preference of a person beside the sign of the judge's difference, by plain pandas; ties gone."""
    rows = beside(judge, score)
    return rows[rows["a"].isin(["A", "B"]) & (rows["b"] != "tie")]


def beside(judge: str, score: str) -> pd.DataFrame:
    """The same with ties, and "" where a report has no score."""
    people = FRAME[FRAME["rater_kind"] == "human"]
    own = FRAME[(FRAME["rater_id"] == judge) & (FRAME["criterion"] == score)]
    given = own.set_index(["cluster_id", "system_a"])["label"].astype(int)
    a, b = (
        given.reindex(pd.MultiIndex.from_frame(people[["cluster_id", side]])).to_numpy()
        for side in ("system_a", "system_b")
    )
    said = np.where(a > b, "A", np.where(b > a, "B", np.where(a == b, "tie", "")))
    return people.assign(a=said, b=people["label"]).rename(columns={"cluster_id": "cluster"})


def kappa(rows: pd.DataFrame) -> float:
    return float(cohen_kappa_score(rows["a"], rows["b"]))


def test_ten_of_thirteen_preferences_by_hand() -> None:
    (found,) = preference_agreement(gym_study(), FEW)
    assert (found.judge, found.score, found.derived) == ("mini", "clarity", True)
    assert found.kappa.value == pytest.approx(11 / 21)  # 6 1 1 2: Po 4/5, Pe 29/50
    assert found.symmetrised.value == pytest.approx(3 / 5)  # whichever report is called A: Po 4/5, Pe 1/2
    assert (found.kappa.n, found.kept.n, found.tied) == (10, 13, 1)
    assert found.kept.value == pytest.approx(10 / 13)
    assert found.kept.note == "ties on either side dropped, 1; not answered by the judge 2"


PRICED = FRAME.assign(cost_usd=np.where(FRAME["rater_kind"] == "judge", 0.01, np.nan))


@cache
def priced_report() -> CalibrationReport:
    return calibrate(PRICED, FEW)


def candidates(report: CalibrationReport) -> dict[str, Candidate]:
    return {one.judge: one for one in report.choice.candidates} if report.choice else {}


def test_a_score_costs_its_judges_whole_call_on_both_reports() -> None:
    """Of a judge whose calls answer both scores."""
    pairs, calls = FRAME[FRAME["rater_kind"] == "human"].drop_duplicates("item_id"), FRAME[FRAME["rater_id"] == "mini"]
    unknown = PRICED.assign(cost_usd=PRICED["cost_usd"].where(PRICED["criterion"] != "recall"))
    known, unpriced = candidates(priced_report()), candidates(calibrate(unknown, FEW))
    for score in ("clarity", "recall"):
        rows = calls.groupby(["cluster_id", "system_a"])["criterion"].agg(
            ["size", lambda of, score=score: score in {*of}]
        )
        one, other = (
            rows.reindex(pd.MultiIndex.from_frame(pairs[["cluster_id", side]])) for side in ("system_a", "system_b")
        )
        both = one.iloc[:, 1].eq(True).to_numpy() & other.iloc[:, 1].eq(True).to_numpy()
        billed = (one["size"].to_numpy() + other["size"].to_numpy())[both].mean()
        assert known[f"mini by {score}"].cost_per_item == pytest.approx(0.01 * billed)
        assert math.isnan(unpriced[f"mini by {score}"].cost_per_item), "a part of the call has no price"


def test_settings_tried_before_count_for_each_score_of_their_judge() -> None:
    again = FRAME.assign(settings_tried=np.where(FRAME["rater_id"] == "mini", 4, np.nan))
    once, tried = priced_report().choice, calibrate(again, FEW).choice
    assert once is not None
    assert tried is not None
    assert (once.tried, tried.tried) == (4, 4 + 2 * 3)


def test_a_score_that_says_no_preference_is_left_out_by_name_and_the_others_stay() -> None:
    twice = FRAME[(FRAME["rater_id"] == "mini") & (FRAME["criterion"] == "clarity")].head(1).assign(item_id="again")
    report = calibrate(pd.concat([FRAME, twice], ignore_index=True), FEW)
    assert report.choice is not None
    assert {one.judge for one in report.choice.candidates} == {f"{a} by {b}" for a, b in CASES} - {"mini by clarity"}
    (told,) = (one for one in report.warnings if one.code == "score_left_out")
    assert "mini by clarity is no candidate: mini scored two reports of" in told.text


def test_a_score_is_held_to_its_judges_family() -> None:
    settings = replace(FEW, families={"mini": "a", "atlas": "a"}, require=("self-preference",))
    choice = calibrate(FRAME, settings).choice
    assert choice is not None
    rows = {one.judge: [row.question for row in one.rows] for one in choice.candidates}
    assert ["self-preference" in rows[f"{judge} by clarity"] for judge in ("mini", "large")] == [True, False]


def test_each_score_is_a_judge_of_the_preference_to_choose_among() -> None:
    report = priced_report()
    assert report.choice is not None
    assert judges_met(report), "by the preferences that their scores say"
    found = {one.judge: one for one in report.choice.candidates}
    assert {*found} == {f"{judge} by {score}" for judge, score in CASES}
    for judge, score in CASES:
        rows = beside(judge, score)
        agreed = (rows["a"] == rows["b"])[rows["a"] != ""].mean()
        assert found[f"{judge} by {score}"].agreement.value == pytest.approx(agreed)
        beside_it = report.labels.joins[f"{judge} by {score}"]["human_rows_joined"]
        assert beside_it == (rows["a"] != "").sum(), "what the methods text counts is what it is compared on"
    assert {one.rater for one in report.warnings if one.code == "derived_preferences"} == {*found}
    dashes = [one.text for one in report.warnings if one.code == "undefined_shown_as_dash"]
    assert not any("no_items" in text for text in dashes), "nobody was asked what the others were"
    assert (decided := decision_of(report, "large by clarity")) is not None, "the gate decides on it"
    only = replace(report.choice, candidates=(found["large by clarity"],))
    assert decision_of(replace(report, choice=only), "large") == decided
    two = pd.concat([FRAME, FRAME[FRAME["rater_kind"] == "human"].assign(criterion="other")])
    assert calibrate(two, FEW).choice is None, "of two preferences none is the one to stand in for"


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_kappas_and_their_intervals_are_those_of_explicit_resampling(case: tuple[str, str]) -> None:
    rows, found = joined(*case), found_in(*case)
    clusters = sorted(FRAME["cluster_id"].unique())
    for estimate, statistic in ((found.kappa, kappa), (found.symmetrised, mirrored_kappa)):
        draws = explicit(rows, clusters, statistic)
        assert estimate.value == pytest.approx(statistic(rows), abs=1e-12)
        expected = expanded_percentile(draws, estimate.clusters)
        assert (estimate.low, estimate.high) == pytest.approx(expected, abs=1e-12)
        assert (estimate.n, estimate.clusters) == (len(rows), rows["cluster"].nunique())


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_the_kept_share_is_of_all_that_people_said(case: tuple[str, str]) -> None:
    rows, found = joined(*case), found_in(*case)
    people = FRAME[FRAME["rater_kind"] == "human"].groupby("cluster_id").size()
    kept = rows.groupby("cluster").size().reindex(people.index, fill_value=0)
    assert (found.kept.value, found.kept.n) == (pytest.approx(len(rows) / people.sum()), people.sum())
    assert (found.kept.low, found.kept.high) == pytest.approx(wilson_effective(kept, people), abs=1e-12)


def test_scores_on_systems_that_people_did_not_compare_change_nothing() -> None:
    compared = FRAME[FRAME["rater_kind"] == "human"][["cluster_id", "system_a", "system_b"]].drop_duplicates()
    pairs = {(row.cluster_id, name) for row in compared.itertuples() for name in (row.system_a, row.system_b)}
    used = [(topic, system) in pairs for topic, system in zip(FRAME["cluster_id"], FRAME["system_a"], strict=True)]
    assert preference_agreement(FRAME[used], FEW) == preference_agreement(FRAME, FEW)


def test_naming_a_pair_the_other_way_leaves_the_symmetrised_kappa_alone() -> None:
    turned = FRAME.copy()
    other = (turned["rater_kind"] == "human") & turned["cluster_id"].isin(["t03", "t07", "t11", "t20"])
    turned.loc[other, ["system_a", "system_b"]] = turned.loc[other, ["system_b", "system_a"]].to_numpy()
    turned.loc[other, "label"] = turned.loc[other, "label"].replace({"A": "B", "B": "A"})
    for before, after in zip(all_found(), preference_agreement(turned, FEW), strict=True):
        assert (after.symmetrised, after.kept, after.tied) == (before.symmetrised, before.kept, before.tied)


def test_only_the_order_of_a_judges_scores_counts() -> None:
    frame = FRAME.copy()
    judged = frame["rater_kind"] == "judge"
    frame.loc[judged, "label"] = frame.loc[judged, "label"].astype(int).pow(3).add(1).astype(str)
    assert preference_agreement(frame, FEW) == all_found()


def test_two_runs_of_a_judge_count_one_half_each() -> None:
    frame = gym_study()
    judged = frame["rater_kind"] == "judge"
    again = frame[judged].assign(run=2)
    again.loc[again["item_id"] == "x1", "label"] = "1"  # turns topic 1, where people say A A B
    (found,) = preference_agreement(pd.concat([frame.assign(run=1), again], ignore_index=True), FEW)
    assert found.kappa.n == 10
    po, pe = 7.5 / 10, (5.5 * 7 + 4.5 * 3) / 100  # of topic 1 half says A A B and half B B B
    assert found.kappa.value == pytest.approx((po - pe) / (1 - pe))


def test_a_judge_that_states_preferences_itself_has_its_row() -> None:
    frame = gym_study()
    stated = (
        frame[frame["rater_kind"] == "human"].drop_duplicates("item_id").assign(rater_id="pairs", rater_kind="judge")
    )
    found = {one.judge: one for one in preference_agreement(pd.concat([frame, stated]), FEW)}
    assert (found["pairs"].score, found["pairs"].derived) == ("overall", False)
    assert found["mini"].derived
    # its labels A A A A B A on 3 2 2 1 3 2 preferences of people: all but those of topics 1, 5 and 6 that differ
    rows = {("A", "A"): 2 + 2 + 2 + 1 + 1, ("A", "B"): 1 + 1, ("B", "B"): 2, ("B", "A"): 1}
    a, b = zip(*(pair for pair, count in rows.items() for _ in range(count)), strict=True)
    assert found["pairs"].kappa.value == pytest.approx(cohen_kappa_score(a, b))
    assert found["pairs"].kappa.n == 13


def only(frame: pd.DataFrame) -> PreferenceAgreement:
    (found,) = preference_agreement(frame, FEW)
    return found


def test_equal_scores_everywhere_are_told_to_be_ties() -> None:
    frame = gym_study()
    frame.loc[frame["rater_kind"] == "judge", "label"] = "7"
    found = only(frame)
    assert (math.isnan(found.kappa.value), found.kappa.n, found.tied, found.kept.value) == (True, 0, 11, 0)
    assert found.kappa.note.endswith("all_tied: every one is a tie")


def test_a_judge_that_always_prefers_the_same_report_has_no_kappa_but_its_mirror_has() -> None:
    frame = gym_study()
    frame.loc[(frame["rater_kind"] == "judge") & (frame["system_a"] == "x"), "label"] = "10"
    frame = frame[frame["cluster_id"] != "t3"]
    found = only(frame)
    assert math.isnan(found.kappa.value)
    assert "constant_rater" in found.kappa.note
    assert not math.isnan(found.symmetrised.value)


@pytest.mark.parametrize("frame", [made_pairs(pairs=4), made_ratings(12)], ids=["three criteria", "none"])
def test_people_must_answer_one_criterion_on_pairs(frame: pd.DataFrame) -> None:
    for function in (preference_agreement, peoples_preferences):
        with pytest.raises(CalibrationError) as refused:
            function(frame, FEW)
        assert refused.value.code == "not_pairwise"


def test_the_peoples_rows_give_the_inter_annotator_kappa_of_the_study() -> None:
    people = peoples_preferences(FRAME, FEW)
    wide = people.pivot(index="item_id", columns="rater_id", values="label")
    pairs = [("ann1", "ann2"), ("ann1", "ann3"), ("ann2", "ann3")]
    expected = np.mean([cohen_kappa_score(wide[one], wide[two]) for one, two in pairs])
    assert mean_kappa_of_people(people, FEW).value == pytest.approx(expected)


def test_the_verdicts_stay_as_they_were() -> None:
    before = FRAME.copy(deep=True)
    preference_agreement(FRAME, CalibrationSettings(resamples=9))
    pd.testing.assert_frame_equal(FRAME, before)


def test_pairs_that_all_people_saw_in_one_order_have_for_a_what_stood_first() -> None:
    """The labels keep whom they prefer; one pair that two people saw otherwise leaves every name as it is."""
    pairs = FRAME["system_b"] != ""
    topic = FRAME["cluster_id"].map({name: at for at, name in enumerate(sorted(FRAME["cluster_id"].unique()))})
    orders = np.array(["BA", "AB"])[topic % 2]
    shown = FRAME.assign(presentation=np.where(pairs, orders, ""))
    named, is_named = named_as_shown(shown)
    winner = [one["system_a"].where(one["label"] == "A", one["system_b"]) for one in (shown, named)]
    assert (winner[0] == winner[1])[FRAME["label"].isin(["A", "B"])].all()
    assert ((named["system_a"] != shown["system_a"]) == (pairs & (orders == "BA"))).all()
    assert is_named
    assert {*named.loc[pairs, "presentation"]} == {"AB"}
    person = shown.loc[pairs, "rater_id"].iloc[0]
    mixed = shown.assign(
        presentation=shown["presentation"].replace("BA", "AB").where(shown["rater_id"] != person, "BA")
    )
    alone = shown[(shown["rater_id"] == person) | ~pairs]
    for frame in (FRAME, mixed, alone):
        assert named_as_shown(frame)[0] is frame
