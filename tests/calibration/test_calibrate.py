from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from calibration.agreement import agreeing
from calibration.arithmetic.metrics import cohen_kappa, percent_agreement, symmetrised_kappa
from calibration.calibrate import calibrate
from calibration.errors import CalibrationError
from calibration.inference.bootstrap import wilson_effective
from calibration.results import CalibrationReport, CalibrationSettings, Estimate
from calibration.table.unasked import without_unasked
from tests.calibration.studies import joined, made_pairs, made_ratings

FEW = CalibrationSettings(resamples=99)
PEOPLE = ["ann1", "ann2", "ann3"]


def estimate(report: CalibrationReport, statistic: str, rater: str, criterion: str = "all") -> Estimate:
    reference = "others" if rater.startswith(("ann", "each_annotator")) else "each_annotator"
    (found,) = [
        one
        for one in report.estimates
        if (one.statistic, one.rater, one.criterion, one.category) == (statistic, rater, criterion, "all")
        and one.reference in (reference, "")
    ]
    return found


def codes(report: CalibrationReport) -> set[str]:
    return {warning.code for warning in report.warnings}


def renamed(frame: pd.DataFrame, items: set[str]) -> pd.DataFrame:
    """The same study with A and B exchanged for these items: labels, systems and presentation."""
    out, rows = frame.copy(), frame["item_id"].isin(items)
    for column, swap in (("label", {"A": "B", "B": "A"}), ("presentation", {"AB": "BA", "BA": "AB"})):
        out.loc[rows, column] = frame.loc[rows, column].replace(swap)
    out.loc[rows, ["system_a", "system_b"]] = frame.loc[rows, ["system_b", "system_a"]].to_numpy()
    return out


def test_no_naming_of_a_and_b_can_change_agreement_or_symmetrised_kappa():
    # 400 labels: 100 pairs, two annotators and one judge, every order drawn independently
    frame = made_pairs(pairs=134, criteria=1, annotators=2, judges={"judge-x": 0.75}, seed=9).iloc[:400]
    report = calibrate(frame, FEW)
    rng = np.random.default_rng(0)
    items = frame["item_id"].unique()
    namings = [set(items), set(rng.choice(items, 60, replace=False)), set(items[:1])]
    plain = {estimate(report, "cohen_kappa", "judge-x").value}
    for naming in namings:
        other = calibrate(renamed(frame, naming), FEW)
        for statistic in (
            "percent_agreement",
            "percent_agreement_half_credit",
            "cohen_kappa_symmetrised",
            "first_rate",
        ):
            for rater in ("judge-x", "each_annotator"):
                if statistic == "first_rate":
                    assert estimate(other, statistic, rater).value == estimate(report, statistic, rater).value
                    continue
                ours, theirs = estimate(report, statistic, rater), estimate(other, statistic, rater)
                assert (ours.value, ours.low, ours.high) == pytest.approx(
                    (theirs.value, theirs.low, theirs.high), abs=1e-12
                )
        plain.add(estimate(other, "cohen_kappa", "judge-x").value)
    assert len(plain) > 1  # plain kappa does change, which is why the symmetrised one stands beside it


def test_agreement_is_computed_on_verdicts_and_not_on_sides():
    # judge and annotator always name the same winner, and saw the pair in independent random orders
    frame = made_pairs(pairs=134, criteria=1, annotators=2, judges={"judge-x": 1.0}, seed=9)
    truth = frame[frame["rater_id"] == "judge-x"].set_index("item_id")["label"]
    frame["label"] = frame["item_id"].map(truth)
    decisive = frame[frame["label"] != "tie"]
    sides = np.where(
        decisive["label"] == "A", decisive["presentation"], decisive["presentation"].map({"AB": "BA", "BA": "AB"})
    )
    clicks = decisive.assign(label=sides)  # AB: the left one was chosen
    assert estimate(calibrate(frame, FEW), "cohen_kappa", "judge-x").value == 1.0
    rows = joined(clicks, "judge-x", ["ann1", "ann2"])
    assert abs(cohen_kappa(rows["a"], rows["b"])) < 0.3


def test_point_values_are_those_of_the_public_functions():
    frame = made_pairs(missing=0.1)
    report = calibrate(frame, FEW)
    rows = joined(frame, "judge-x", PEOPLE)
    for statistic, value in {
        "percent_agreement": percent_agreement(rows["a"], rows["b"]),
        "percent_agreement_half_credit": percent_agreement(rows["a"], rows["b"], "half_credit"),
        "percent_agreement_exclude_ties": percent_agreement(rows["a"], rows["b"], "exclude"),
        "cohen_kappa": cohen_kappa(rows["a"], rows["b"]),
        "cohen_kappa_symmetrised": symmetrised_kappa(rows["a"], rows["b"]),
        "constant_judge_baseline": rows["b"].value_counts().max() / len(rows),
    }.items():
        assert estimate(report, statistic, "judge-x").value == pytest.approx(value, abs=1e-12)


def test_two_annotators_among_themselves_have_cohens_own_kappa():
    frame = made_pairs(annotators=2)
    rows = joined(frame, "ann1", ["ann2"])
    report = calibrate(frame, FEW)
    assert estimate(report, "cohen_kappa", "each_annotator").value == pytest.approx(cohen_kappa(rows["a"], rows["b"]))
    assert estimate(report, "cohen_kappa", "each_annotator").n == len(rows)
    assert "two_annotators" in codes(report)


def test_names_of_annotators_do_not_change_what_they_share():
    frame = made_pairs()
    other = frame.replace({"rater_id": {"ann1": "zoe", "ann3": "abe"}})
    ours, theirs = calibrate(frame, FEW), calibrate(other, FEW)
    for statistic in ("cohen_kappa", "krippendorff_alpha_nominal", "pearson"):
        one, two = estimate(ours, statistic, "each_annotator"), estimate(theirs, statistic, "each_annotator")
        assert (one.value, one.low, one.high) == pytest.approx((two.value, two.low, two.high), abs=1e-12)


def test_same_verdicts_in_any_row_order_give_the_same_bytes():
    frame = made_pairs(missing=0.1).assign(seconds=3.3, cost_usd=0.0017)
    settings = replace(FEW, per_criterion=True)
    before = frame.copy(deep=True)
    first = repr(calibrate(frame, settings))
    assert repr(calibrate(frame, settings)) == repr(calibrate(frame.sample(frac=1, random_state=1), settings)) == first
    pd.testing.assert_frame_equal(frame, before)


def test_a_crowd_is_worked_off_in_parts_with_the_same_numbers(monkeypatch):
    frame = made_pairs(annotators=4)
    whole = calibrate(frame, FEW)
    monkeypatch.setattr(agreeing, "AT_ONCE", 2)
    assert repr(calibrate(frame, FEW)) == repr(whole)


def test_judges_that_labelled_both_orders_are_two_candidates():
    rows = []
    answers = {  # item: (AB, BA), with the verdict a person gave
        "p1": ("A", "A", "A"),
        "p2": ("A", "B", "A"),
        "p3": ("tie", "B", "tie"),
        "p4": ("B", "B", "A"),
    }
    for item, (one, two, person) in answers.items():
        base = {"item_id": item, "criterion": "c", "cluster_id": item, "system_a": "x", "system_b": "y"}
        judge = {"rater_id": "gpt", "rater_kind": "judge", "cost_usd": 0.01, "seconds": 2.0}
        rows += [
            base | judge | {"label": one, "presentation": "AB"},
            base | judge | {"label": two, "presentation": "BA"},
            base | {"rater_id": "ann", "rater_kind": "human", "label": person, "presentation": "AB"},
        ]
    report = calibrate(pd.DataFrame(rows), FEW)
    assert estimate(report, "percent_agreement", "gpt").value == (1 + 1 / 2 + 1 / 2 + 0) / 4
    # p2 and p3 become ties: against A no, against tie yes
    assert estimate(report, "percent_agreement", "gpt [both orders]").value == 2 / 4
    assert [estimate(report, "percent_agreement", name).n for name in ("gpt", "gpt [both orders]")] == [4, 4]
    assert estimate(report, "cost_per_item", "gpt").value == pytest.approx(0.01)
    assert estimate(report, "cost_per_item", "gpt [both orders]").value == pytest.approx(0.02)
    assert estimate(report, "seconds_per_item", "gpt [both orders]").value == pytest.approx(4.0)
    assert estimate(report, "swap_consistency", "gpt").value == 2 / 4
    assert "order_inconsistent" in codes(report)


def test_repeats_of_a_judge_are_averaged_and_a_retest_of_a_person_is_not_counted():
    frame = made_pairs(pairs=25, criteria=1, annotators=1, judges={"judge-x": 0.8})
    again = frame.assign(run=2, label="tie")
    report = calibrate(pd.concat([frame.assign(run=1), again]), FEW)
    rows = joined(frame, "judge-x", ["ann1"])
    half = (rows["a"] == rows["b"]).mean() / 2 + (rows["b"] == "tie").mean() / 2
    assert estimate(report, "percent_agreement", "judge-x").value == pytest.approx(half, abs=1e-12)
    assert estimate(report, "percent_agreement", "judge-x").n == 25


def test_invalid_answers_are_never_ties_and_are_shown_as_missing():
    frame = made_pairs(annotators=2)
    rows = joined(frame, "judge-x", ["ann1", "ann2"])
    lost = (frame["rater_id"] == "judge-x") & (frame["item_id"] < "p010")
    frame["status"] = np.where(lost, "invalid", "ok")
    report = calibrate(frame, FEW)
    mine = joined(frame[~lost], "judge-x", ["ann1", "ann2"])
    agree = (mine["a"] == mine["b"]).sum()
    assert estimate(report, "percent_agreement", "judge-x").value == agree / len(mine)
    assert estimate(report, "percent_agreement_missing_as_wrong", "judge-x").value == agree / len(rows)
    assert estimate(report, "kept_share", "judge-x").value == len(mine) / len(rows)
    assert estimate(report, "valid_share", "judge-x").value == 55 / 82
    assert {"missing_answers", "labels_dropped"} <= codes(report)
    assert "join_loss" not in codes(report)


@pytest.mark.parametrize(("choice", "n"), [("drop", 28), ("category", 30)])
def test_not_applicable_is_dropped_or_a_category_of_its_own(choice, n):
    frame = made_pairs(pairs=30, criteria=1, annotators=1, judges={"judge-x": 0.9})
    frame.loc[(frame["rater_id"] == "judge-x") & frame["item_id"].isin(["p001", "p002"]), "label"] = "not_applicable"
    frame.loc[(frame["rater_id"] == "ann1") & (frame["item_id"] == "p002"), "label"] = "not_applicable"
    report = calibrate(frame, replace(FEW, not_applicable=choice))
    assert estimate(report, "percent_agreement", "judge-x").n == n
    if choice == "category":
        rows = joined(frame, "judge-x", ["ann1"])
        assert estimate(report, "cohen_kappa", "judge-x").value == pytest.approx(cohen_kappa(rows["a"], rows["b"]))
        scored = rows[(rows["a"] != "not_applicable") & (rows["b"] != "not_applicable")]
        half = percent_agreement(scored["a"], scored["b"], "half_credit")
        assert estimate(report, "percent_agreement_half_credit", "judge-x").value == pytest.approx(half)
    else:
        assert "labels_dropped" in codes(report)
        applicable = estimate(report, "applicability_agreement", "judge-x")
        assert (applicable.value, applicable.n) == (29 / 30, 30)
        assert "in 6.7 % of rows" in applicable.note


def test_agreement_has_its_wilson_interval_of_clusters():
    frame = made_pairs(annotators=1)
    rows = joined(frame, "judge-x", ["ann1"])
    by_cluster = (rows["a"] == rows["b"]).groupby(rows["cluster"])
    expected = wilson_effective(by_cluster.sum(), by_cluster.size())
    found = estimate(calibrate(frame, FEW), "percent_agreement", "judge-x")
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-12)
    assert found.method == "wilson_effective_n"


@pytest.mark.parametrize(("pairs", "interval"), [(19, False), (20, True)])
def test_a_single_criterion_needs_twenty_clusters_for_an_interval(pairs, interval):
    report = calibrate(made_pairs(pairs=pairs), replace(FEW, per_criterion=True))
    for statistic in ("percent_agreement", "cohen_kappa"):
        single = estimate(report, statistic, "judge-x", "c0")
        assert math.isnan(single.low) != interval
        assert not math.isnan(estimate(report, statistic, "judge-x").low)
        assert interval or ("too few pairs" in single.note and single.method == "none")
    assert ("few_clusters" in codes(report)) != interval
    assert ("thin_criteria" in codes(report)) != interval


def test_per_category_estimates_rest_on_their_own_topics():
    frame = made_pairs(pairs=50, annotators=1)
    frame["category"] = np.where(frame["item_id"] < "p025", "law", "")
    report = calibrate(frame, replace(FEW, per_category=True))
    rows = joined(frame[frame["category"] == "law"], "judge-x", ["ann1"])
    (law,) = [
        one
        for one in report.estimates
        if (one.category, one.statistic, one.rater, one.reference)
        == ("law", "cohen_kappa", "judge-x", "each_annotator")
    ]
    assert law.value == pytest.approx(cohen_kappa(rows["a"], rows["b"]))
    assert law.clusters == 25


def test_criteria_of_different_kinds_are_not_pooled():
    pairs = made_pairs(pairs=25, annotators=2)
    ratings = made_ratings(25, annotators=2).assign(cluster_id=lambda rows: rows["item_id"])
    frame = pd.concat([pairs, ratings.assign(label=ratings["label"].astype(str))]).fillna(
        {"system_b": "", "presentation": ""}
    )
    report = calibrate(frame, replace(FEW, per_criterion=True))
    assert not [one for one in report.estimates if one.statistic == "cohen_kappa" and one.criterion == "all"]
    assert estimate(report, "pearson", "judge-x", "quality").n > 0
    assert {"mixed_criteria", "undeclared_scale"} <= set(codes(report))
    of_judges = frame[(frame["criterion"] != "quality") | (frame["rater_kind"] == "judge")]
    found = codes(calibrate(of_judges, FEW))
    assert not {"mixed_criteria", "undeclared_scale"} & set(found), "people answer one question, and nothing is pooled"
    assert without_unasked(of_judges) == (of_judges, ()), "scores of the two of a pair say who is better"
    asked = pairs.assign(label=pairs["label"].map({"A": "pass"}).fillna("fail"), system_a="", system_b="")
    graded = asked[asked["rater_kind"] == "judge"].assign(criterion="grade", label="7")
    graded.iloc[0, graded.columns.get_loc("label")] = None  # as a DataFrame has what is missing
    kept, told = without_unasked(pd.concat([graded, asked]))
    assert (len(kept), {*kept["criterion"]}) == (len(asked), {*asked["criterion"]})
    assert told[0].endswith(f"of another kind than what people did: grade ({len(graded)} rows)")


def test_probe_answers_are_nominal_unless_a_scale_is_declared():
    labels = {"A": "Supported", "B": "Contradicted", "tie": "Omitted"}
    frame = made_pairs(annotators=2).drop(columns=["system_a", "system_b", "presentation"])
    frame["label"] = frame["label"].map(labels)
    nominal = {one.statistic for one in calibrate(frame, FEW).estimates}
    assert {"cohen_kappa", "krippendorff_alpha_nominal"} <= nominal
    assert not {"pearson", "spearman", "cohen_kappa_symmetrised", "first_rate"} & nominal
    scale = ("Contradicted", "Omitted", "Supported")
    report = calibrate(frame, replace(FEW, scales={f"c{i}": scale for i in range(3)}))
    rows = joined(frame, "judge-x", ["ann1", "ann2"])
    weighted = cohen_kappa(rows["a"], rows["b"], scale, "quadratic")
    assert estimate(report, "cohen_kappa_quadratic", "judge-x").value == pytest.approx(weighted)
    assert {"krippendorff_alpha_ordinal", "spearman"} <= {one.statistic for one in report.estimates}


def test_settings_that_do_not_exist_are_refused():
    for wrong in ({"ties": "drop"}, {"level": 95}, {"margin": 0.0}, {"not_applicable": "keep"}):
        with pytest.raises(CalibrationError) as refusal:
            CalibrationSettings(**wrong)
        assert refusal.value.code == "unknown_form"


def test_two_orders_that_disagree_are_a_tie_even_where_nobody_else_tied():
    """Found on real input: without a tie in the file such items vanished, and agreement looked better than it was."""
    rows = [
        (item, rater, kind, label, presentation)
        for item, first, second in [("p1", "A", "A"), ("p2", "A", "B"), ("p3", "B", "A"), ("p4", "B", "B")]
        for rater, kind, label, presentation in [
            ("ann", "human", "A", "AB"),
            ("gpt", "judge", first, "AB"),
            ("gpt", "judge", second, "BA"),
        ]
    ]
    frame = pd.DataFrame(rows, columns=["item_id", "rater_id", "rater_kind", "label", "presentation"])
    frame = frame.assign(criterion="c", cluster_id=frame["item_id"], system_a="atlas", system_b="borealis")
    both = estimate(calibrate(frame, CalibrationSettings(resamples=99)), "percent_agreement", "gpt [both orders]")
    assert (both.value, both.n) == (1 / 4, 4)
