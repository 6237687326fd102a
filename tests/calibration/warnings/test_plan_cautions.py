"""Cautions about scales, panels and plans: each under its exact condition, and silent beside it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from calibration.calibrate import calibrate
from calibration.results import CalibrationReport, CalibrationSettings
from calibration.warnings.sample_cautions import plan_hash
from tests.calibration.studies import made_pairs, made_ratings

FEW = CalibrationSettings(resamples=20)


def texts(report: CalibrationReport, code: str) -> list[str]:
    return [one.text for one in report.warnings if one.code == code]


def test_a_plan_that_changed_after_labels_were_seen_is_noticed():
    frame = made_pairs(pairs=8)
    planned = replace(FEW, plan_hash=plan_hash(["c0", "c1", "c2"], FEW))
    assert not texts(calibrate(frame, planned), "changed_after_labels")
    for change in ({"margin": 0.1}, {"ties": "exclude"}, {"epsilon": 0.2}):
        assert texts(calibrate(frame, replace(planned, **change)), "changed_after_labels")
    assert texts(calibrate(frame.assign(criterion="c0x" + frame["criterion"]), planned), "changed_after_labels")
    assert not texts(calibrate(frame, replace(planned, seed=5, resamples=30)), "changed_after_labels")


def test_a_judge_of_a_family_whose_report_it_labels_is_noticed():
    frame = made_pairs(pairs=8)
    families = {"judge-x": "gpt", "atlas": "gpt", "judge-y": "claude", "borealis": "gemini"}
    found = texts(calibrate(frame, replace(FEW, families=families)), "own_family")
    assert len(found) == 1
    assert found[0].startswith("judge-x labels reports of its own family gpt (atlas)")


@pytest.mark.parametrize(("copied", "noticed"), [(0.15, False), (0.25, True)])
def test_rationales_that_are_a_judges_byte_for_byte_are_noticed(copied, noticed):
    frame = made_pairs(pairs=40, criteria=1, annotators=1, judges={"judge-x": 0.8})
    number = frame["item_id"].str[1:].astype(int)
    same = (frame["rater_id"] == "ann1") & (number < 40 * copied)
    frame["rationale"] = np.where(same, "", frame["rater_id"] + " ") + "on " + frame["item_id"]
    frame.loc[frame["rater_id"] == "judge-x", "rationale"] = "on " + frame["item_id"]
    found = texts(calibrate(frame, FEW), "copied_rationale")
    assert bool(found) == noticed
    assert not noticed or found[0].startswith("10 of ann1's 40 rationales")


@pytest.mark.parametrize(("dear", "noticed"), [(0.99, False), (1.01, True)])
def test_a_row_that_costs_a_hundred_times_the_median_is_noticed(dear, noticed):
    frame = made_pairs(pairs=10)
    frame["cost_usd"] = np.where(frame["rater_id"] == "judge-x", 0.01, np.nan)
    frame.loc[frame[frame["rater_id"] == "judge-x"].index[0], "cost_usd"] = dear
    assert bool(texts(calibrate(frame, FEW), "out_of_range")) == noticed


@pytest.mark.parametrize(("items", "noticed"), [(9, True), (10, False)])
def test_a_thin_pair_of_raters_is_one_that_shares_fewer_than_ten_labels(items, noticed):
    frame = made_pairs(pairs=30, criteria=1)
    frame = frame[(frame["rater_id"] != "ann3") | (frame["item_id"] < f"p{items:03}")]
    assert bool(texts(calibrate(frame, FEW), "thin_rater_pairs")) == noticed


def test_more_raters_than_labels_to_give_may_be_a_table_on_its_side():
    for frame in (made_pairs(pairs=4, criteria=1, annotators=5), made_ratings(4, 3, annotators=5)):
        report = calibrate(frame, FEW)
        assert texts(report, "maybe_transposed")
        alpha = [one for one in report.estimates if "alpha" in one.statistic and one.rater == "each_annotator"]
        assert alpha
        assert all(math.isnan(one.value) and "maybe_transposed" in one.note for one in alpha)
    assert not texts(calibrate(made_pairs(pairs=5, criteria=1, annotators=5), FEW), "maybe_transposed")


def test_a_share_of_resamples_without_a_value_is_told_even_where_an_interval_stands():
    frame = made_pairs(pairs=8, criteria=1, annotators=1, judges={"judge-x": 1.0})
    frame["label"] = np.where(frame["item_id"] < "p002", "B", "A")
    found = texts(calibrate(frame, replace(FEW, resamples=999)), "undefined_shown_as_dash")
    assert any("resamples of" in text or "interval of" in text for text in found)
    assert any("% undefined" in text for text in found)


def test_a_study_that_resamples_items_never_speaks_of_topics():
    for frame in (made_pairs(pairs=8, both_orders=True), made_ratings(12), made_ratings(30, 3)):
        items = frame.assign(cluster_id=frame["item_id"])
        report = calibrate(items, replace(FEW, per_criterion=True))
        assert report.labels.cluster == "item"
        said = [one.text for one in report.warnings] + [one.note for one in report.estimates]
        assert not [text for text in said if "topic" in text]
    assert calibrate(made_pairs(pairs=8), FEW).labels.cluster == "topic"


def test_nobody_is_warned_of_what_is_not_there():
    report = calibrate(made_pairs(pairs=40), FEW)
    quiet = {"undeclared_scale", "maybe_transposed", "thin_rater_pairs", "derived_preferences", "changed_after_labels"}
    quiet |= {"own_family", "copied_rationale", "out_of_range", "join_loss", "mirrored_items"}
    assert not quiet & {one.code for one in report.warnings}


def test_rationales_of_empty_text_are_nobodys_copy():
    frame = pd.concat([made_pairs(pairs=8)]).assign(rationale="")
    assert not texts(calibrate(frame, FEW), "copied_rationale")
