"""Aggregates of claims as scores of reports, by hand; and studies of the same reports as one table."""

from __future__ import annotations

import pandas as pd
import pytest

from calibration.agreement.score_preferences import preference_agreement
from calibration.errors import CalibrationError
from calibration.settings import Aggregate, CalibrationSettings
from calibration.study.joining import study_of
from calibration.systems.aggregates import aggregate_estimates
from calibration.systems.claim_scores import Part, scores_from_claims, together

FEW = CalibrationSettings(resamples=99)
POINTS = CalibrationSettings(
    resamples=99,
    aggregates=(Aggregate("KPR", "share", ("Supported",)), Aggregate("KPC", "share", ("Contradicted",))),
    answer_values={"Supported": 1.0, "Omitted": 0.0, "Contradicted": 0.0},
)
NAMES = ["item_id", "rater_id", "rater_kind", "criterion", "label", "cluster_id", "system_a", "system_b", "status"]
LETTERS = {"S": "Supported", "O": "Omitted", "C": "Contradicted", "?": ""}


def points(said: dict[tuple[str, str, str], str]) -> pd.DataFrame:
    """(rater, topic, system) -> one letter for each key point; ?: an answer that nobody could read."""
    rows = [
        (f"{topic}{system}{k}", rater, "human" if rater.startswith("ann") else "judge", "covered", LETTERS[one], topic,
         system, "", "invalid" if one == "?" else "ok")
        for (rater, topic, system), letters in said.items() for k, one in enumerate(letters)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=NAMES)


def scores(frame: pd.DataFrame) -> dict[tuple[str, str, str, str], str]:
    return {
        (row.rater_id, row.criterion, row.cluster_id, row.system_a): row.label if row.status == "ok" else row.status
        for row in frame.itertuples()
    }


def test_a_reports_score_is_the_share_of_its_claims_by_each_rater_alone() -> None:
    said = {("ann1", "t", "x"): "SSO", ("ann2", "t", "x"): "SOO", ("mini", "t", "x"): "SC?", ("mini", "t", "y"): "??"}
    found = scores(scores_from_claims(points(said), POINTS))
    assert found == {
        ("ann1", "KPR", "t", "x"): "0.6666666667", ("ann2", "KPR", "t", "x"): "0.3333333333",
        ("mini", "KPR", "t", "x"): "0.5", ("mini", "KPR", "t", "y"): "missing",
        ("ann1", "KPC", "t", "x"): "0", ("ann2", "KPC", "t", "x"): "0",
        ("mini", "KPC", "t", "x"): "0.5", ("mini", "KPC", "t", "y"): "missing",
    }  # fmt: skip


def test_a_topic_in_two_languages_has_a_score_for_each_report_and_stays_one_cluster() -> None:
    said = {("ann1", "t.de", "x"): "SSO", ("ann1", "t.en", "x"): "SO", ("ann1", "u", "x"): "S"}
    named = points(said)
    own = named.assign(topic=named["cluster_id"].replace("u", ""), cluster_id=named["cluster_id"].str[0])
    found = scores_from_claims(own, POINTS).query("criterion == 'KPR'")
    assert found[["item_id", "topic", "cluster_id", "label"]].to_numpy().tolist() == [
        ["t.de: x", "t.de", "t", "0.6666666667"], ["t.en: x", "t.en", "t", "0.5"], ["u: x", "u", "u", "1"]
    ]  # fmt: skip
    kpr = next(one for one in aggregate_estimates(study_of(own, POINTS), POINTS)[0] if one.criterion == "KPR")
    assert kpr.value == pytest.approx(((2 / 3 + 1 / 2) / 2 + 1) / 2), "not the share of both reports' claims"
    people = preferences("A").assign(cluster_id="t.de")
    both, _ = together(people, POINTS, [Part("claims", own, POINTS)])
    assert {*both["cluster_id"]} == {"t", "u"}, "though this study has no cluster_ids"


def test_repeats_by_people_enter_no_score_and_a_judges_runs_are_averaged() -> None:
    first = points({("ann1", "t", "x"): "SO", ("mini", "t", "x"): "SO"}).assign(run=1)
    again = points({("ann1", "t", "x"): "SS", ("mini", "t", "x"): "SS"}).assign(run=2)
    found = scores(scores_from_claims(pd.concat([first, again]), POINTS))
    assert found["ann1", "KPR", "t", "x"] == "0.5"
    assert found["mini", "KPR", "t", "x"] == "0.75"


def preferences(winners: str) -> pd.DataFrame:
    """One annotator's preference between x (A) and y (B) on topics t0, t1, ...; the items are called as the claims'."""
    rows = [(f"t{n}x0", "ann1", "human", "overall", label, f"t{n}", "x", "y", "ok") for n, label in enumerate(winners)]
    return pd.DataFrame(rows, columns=NAMES)


def test_the_sign_of_claims_scores_is_held_against_preferences_and_ties_are_counted() -> None:
    said = {("mini", f"t{n}", "x"): mine for n, mine in enumerate(("SSO", "SOO", "SSS", "OOO", "COO", "SSC"))}
    said |= {("mini", f"t{n}", "y"): other for n, other in enumerate(("SOO", "SSS", "SSO", "OOO", "SSO", "SOO"))}
    frame, settings = together(preferences("ABBABA"), FEW, [Part("points", points(said), POINTS)])
    found = {one.score: one for one in preference_agreement(frame, settings)}
    assert set(found) == {"KPR", "KPC"}
    # KPR says A B A tie B A where people say A B B A B A: 2 of 2 A, 2 of 3 B
    assert (found["KPR"].kappa.n, found["KPR"].kept.n, found["KPR"].tied) == (5, 6, 1)
    assert found["KPR"].kappa.value == pytest.approx((4 / 5 - 12 / 25) / (1 - 12 / 25))
    assert (found["KPC"].kappa.n, found["KPC"].tied) == (2, 4)


def test_a_question_about_claims_leaves_its_name_and_scale_to_ratings() -> None:
    scaled = CalibrationSettings(
        resamples=99, aggregates=POINTS.aggregates, scales={"covered": ("Supported", "Omitted")}
    )
    rated = points({("mini", "t", "x"): "SO"}).head(1).assign(label="7", item_id="t: x")
    said = Part("points", points({("mini", "t", "x"): "SO"}), scaled)
    nine = CalibrationSettings(resamples=99, scale_ends={"covered": (0, 9)})
    frame, settings = together(preferences("A"), FEW, [Part("quality", rated, nine), said])
    assert (settings.scales, settings.scale_ends) == ({}, {"covered": (0.0, 9.0)})
    assert scores(frame)["mini", "covered", "t", "x"] == "7"


def test_two_questions_of_one_name_are_refused() -> None:
    said = points({("mini", "t", "x"): "SO"})
    with pytest.raises(CalibrationError, match="'KPR' is asked in points and again"):
        together(preferences("A"), FEW, [Part("points", said, POINTS), Part("again", said, POINTS)])


def test_without_claims_there_is_nothing_to_make_scores_of() -> None:
    with pytest.raises(CalibrationError, match="no aggregate of claims"):
        scores_from_claims(preferences("AB"), POINTS)
    with pytest.raises(CalibrationError, match="no aggregate of claims"):
        scores_from_claims(points({("mini", "t", "x"): "SO"}), FEW)
