"""Panels beside judges in a report: measured weights never see the topics they are reported on."""

from __future__ import annotations

import random
import re
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.judges.defining.judge_file import PanelDefinition
from annotation.verdicts import COLUMNS
from app.results.panels import fit_clusters, measured_weights, with_panels, without_explained
from calibration.calibrate import calibrate
from calibration.estimates import ReportWarning
from calibration.results import CalibrationSettings

FEW = CalibrationSettings(resamples=99, seed=7)
MEASURED: dict[str, Any] = {"rule": "weighted", "weights": "measured", "fit_share": 0.3}


def study(topics: int = 20, criteria: int = 4) -> pd.DataFrame:
    """One annotator; `good` agrees on nine in ten, `fair` on seven in ten, `constant` always says A."""
    rng = random.Random(1)
    rows = []
    for topic in range(topics):
        for number in range(criteria):
            truth = "AB"[(topic + number) % 2]
            other = "BA"["AB".index(truth)]
            said = {
                "ann": truth,
                "good": truth if rng.random() < 0.9 else other,
                "fair": truth if rng.random() < 0.7 else other,
                "constant": "A",
            }
            for rater, label in said.items():
                human = rater == "ann"
                rows.append(
                    {
                        "item_id": f"item-{topic:05d}", "rater_id": rater, "rater_kind": "human" if human else "judge",
                        "criterion": f"c{number}", "label": label, "cluster_id": f"t{topic:02d}", "system_a": "x",
                        "system_b": "y", "presentation": "AB" if topic % 2 else "BA", "category": "", "run": 1,
                        "pass_no": 1, "seconds": 1.0, "cost_usd": None if human else 0.01, "status": "ok",
                        "rationale": "", "evidence": "", "len_a": 10, "len_b": 10,
                    }
                )  # fmt: skip
    return pd.DataFrame(rows, columns=list(COLUMNS))


def panel(**more: Any) -> PanelDefinition:
    return PanelDefinition(**{"name": "three", "members": ("good", "fair", "constant"), **more})


def test_a_panel_is_a_rater_of_the_report_with_the_summed_cost() -> None:
    table, (said,) = with_panels(study(), [panel()], FEW, allow_tie=False, pairs=True)
    own = table[table["rater_id"] == "three [panel]"]
    assert len(own) == 80
    assert own["cost_usd"].tolist() == pytest.approx([0.03] * 80)
    assert (said.code, said.rater) == ("panel", "three [panel]")
    assert "80 of 80 questions have a majority" in said.text
    report = calibrate(table, FEW)
    found = {
        (one.statistic, one.rater): one.value
        for one in report.estimates
        if one.criterion == "all" and one.reference in ("each_annotator", "")
    }
    by_hand = (own["label"].to_numpy() == study().query("rater_id == 'ann'")["label"].to_numpy()).mean()
    assert found["percent_agreement", "three [panel]"] == pytest.approx(by_hand)
    assert found["cost_per_item", "three [panel]"] == pytest.approx(3 * found["cost_per_item", "good"])


def test_a_member_no_better_than_a_constant_answer_has_no_vote() -> None:
    weights = measured_weights(study(), panel(**MEASURED), FEW)
    assert weights["constant"] == 0.0
    assert weights["good"] > weights["fair"] > 0.5
    truth = study().query("rater_id == 'ann'")["label"].to_numpy()
    assert weights["good"] == pytest.approx((study().query("rater_id == 'good'")["label"].to_numpy() == truth).mean())


def test_the_topics_that_fitted_the_weights_have_no_verdicts_of_the_panel() -> None:
    frame = study()
    held_out = fit_clusters(frame["cluster_id"], FEW.seed, 0.3)
    assert len(held_out) == 6
    table, (said,) = with_panels(frame, [panel(**MEASURED)], FEW, allow_tie=False, pairs=True)
    own = table[table["rater_id"] == "three [panel]"]
    assert set(own["cluster_id"]) == set(frame["cluster_id"]) - set(held_out)
    assert "weights measured on 6 of 20 clusters" in said.text
    assert all(name in said.text for name in held_out)
    # what is reported on cannot reach the weights
    outside = ~frame["cluster_id"].isin(held_out)
    frame.loc[outside & (frame["rater_id"] == "ann"), "label"] = "A"
    again, (same,) = with_panels(frame, [panel(**MEASURED)], FEW, allow_tie=False, pairs=True)
    assert again[again["rater_id"] == "three [panel]"]["label"].tolist() == own["label"].tolist()
    assert same.text == said.text
    lost = [one.code for one in calibrate(table, FEW).warnings if one.rater == "three [panel]"]
    assert "join_loss" in lost
    explained = without_explained(calibrate(table, FEW).warnings, [panel(**MEASURED)], table)
    assert not [one for one in explained if one.code == "join_loss" and one.rater == "three [panel]"]
    unpaired = [ReportWarning("unpaired_judges", {"other": name}, "good") for name in ("three [panel]", "bad")]
    assert without_explained(unpaired, [panel(**MEASURED)], table) == unpaired[1:], "whatever their texts say"


def test_that_a_panel_has_no_order_is_no_fault_but_that_of_others_is() -> None:
    table, _ = with_panels(study(), [panel()], FEW, allow_tie=False, pairs=True)
    warnings = calibrate(table, FEW).warnings
    assert "order_unknown" in {one.code for one in warnings}
    assert "order_unknown" not in {one.code for one in without_explained(warnings, [panel()], table)}
    table.loc[table["rater_id"] == "good", "presentation"] = None
    assert "order_unknown" in {one.code for one in without_explained(calibrate(table, FEW).warnings, [panel()], table)}


def test_a_panel_that_nobody_can_weigh_decides_nothing_and_says_so() -> None:
    frame = study()
    frame.loc[frame["rater_kind"] == "judge", "label"] = "A"
    table, (said,) = with_panels(frame, [panel(**MEASURED)], FEW, allow_tie=True, pairs=True)
    assert table is frame, "and is no candidate that would be ruled out for it"
    assert "no member beats a constant answer" in said.text


def test_a_learned_panel_is_a_candidate_and_says_what_its_members_weigh_and_are_worth() -> None:
    table, (said,) = with_panels(study(), [panel(rule="learned")], FEW, allow_tie=False, pairs=True)
    own = table[table["rater_id"] == "three [panel]"]
    assert len(own) == 80, "every topic has verdicts: each from a model that did not see it"
    assert own["cost_usd"].tolist() == pytest.approx([0.03] * 80)
    truth = study().query("rater_id == 'ann'")["label"].to_numpy()
    assert (own["label"].to_numpy() == truth).mean() > 0.85
    assert "fitted 10 times on other clusters than it was asked about" in said.text
    assert re.search(r"its 3 members are worth \d\.\d independent judges", said.text)
    report = calibrate(table, FEW)
    assert report.choice is not None
    assert "three [panel]" in {one.judge for one in report.choice.candidates}
    few, (why,) = with_panels(study(topics=3), [panel(rule="learned")], FEW, allow_tie=False, pairs=True)
    assert "three [panel]" not in set(few["rater_id"])
    assert "no model: labels of 3 clusters are too few" in why.text


def test_a_panel_has_no_verdict_where_a_member_was_not_asked_and_says_so() -> None:
    """As on topics that a member's prompt shows: two members are another panel, at another price."""
    frame = study()
    shown = (frame["rater_id"] == "fair") & frame["cluster_id"].isin(["t00", "t01", "t02"])
    for more in ({}, {"rule": "learned"}):
        table, (said,) = with_panels(frame[~shown], [panel(**more)], FEW, allow_tie=False, pairs=True)
        own = table[table["rater_id"] == "three [panel]"]
        assert (len(own), own["cost_usd"].sum()) == (68, pytest.approx(68 * 0.03))
        assert "it has no verdict on 3 items about which a member was not asked" in said.text
    assert not [
        one for one in without_explained(calibrate(table, FEW).warnings, [panel()], table)
        if one.code == "join_loss" and one.rater == "three [panel]"
    ]  # fmt: skip


def test_a_member_without_verdicts_yet_ends_no_report() -> None:
    members = ("good", "fair", "late")
    table, (said,) = with_panels(study(), [panel(rule="learned", members=members)], FEW, allow_tie=False, pairs=True)
    assert set(table["status"][table["rater_id"] == "three [panel]"]) == {"ok"}
    assert re.search(r"the 2 of its 3 members that answered are worth \d\.\d independent judges", said.text)
    _, (told,) = with_panels(
        study(), [panel(rule="learned", members=("good", "late"))], FEW, allow_tie=False, pairs=True
    )
    assert "how many independent judges the 1 of its 2 members that answered are worth is not defined" in told.text


def test_without_panels_nothing_changes() -> None:
    frame = study()
    table, warnings = with_panels(frame, [], FEW, allow_tie=False, pairs=True)
    assert table is frame
    assert warnings == ()


@given(st.sets(st.text("abc", min_size=1), min_size=0, max_size=12), st.integers(0, 99), st.floats(0.01, 0.99))
def test_fit_topics_are_drawn_by_the_seed_alone_and_some_are_left(names: set[str], seed: int, share: float) -> None:
    drawn = fit_clusters(names, seed, share)
    assert drawn == fit_clusters(sorted(names, reverse=True), seed, share)
    assert set(drawn) < names or not names
    assert len(drawn) >= min(1, max(0, len(names) - 1))
