"""What stands beside an agreement: prevalence, ties told apart, orders, systems, and the report as it is written."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score

from calibration.arithmetic.metrics import balanced_accuracy, cohen_kappa, gwet_ac1, pabak
from calibration.calibrate import calibrate
from calibration.inference.bootstrap import expanded_percentile, wilson_effective
from calibration.results import Estimate
from exports.as_json import ALWAYS, report_json
from tests.calibration.explicit import FEW, PEOPLE, explicit, found, plain_report, plain_study, tables_of
from tests.calibration.studies import joined, made_pairs, made_ratings

FRAME = plain_study()
ROWS = joined(FRAME, "judge-x", PEOPLE)


def test_no_two_estimates_of_a_report_have_the_same_name():
    settings = replace(FEW, per_criterion=True, per_category=True, per_system_pair=True, unclustered=True, resamples=9)
    for frame in (made_pairs(pairs=8, both_orders=True), made_pairs(annotators=2), made_ratings(), made_ratings(40, 3)):
        frame["category"] = np.where(frame["cluster_id"] < "topic004", "law", "")
        report = calibrate(frame, settings)
        names = Counter((e.statistic, e.rater, e.reference, e.criterion, e.category) for e in report.estimates)
        assert [name for name, count in names.items() if count > 1] == []


BESIDE_KAPPA = {
    "gwet_ac1": lambda rows: gwet_ac1(rows["a"], rows["b"], ["A", "tie", "B"]),
    "pabak": lambda rows: pabak(rows["a"], rows["b"], ["A", "tie", "B"]),
    "balanced_accuracy": lambda rows: balanced_accuracy_score(rows["b"], rows["a"]),
}


@pytest.mark.parametrize("statistic", BESIDE_KAPPA)
def test_what_stands_beside_kappa_has_the_interval_of_explicit_resampling(statistic):
    estimate = found(plain_report(), statistic, "judge-x")
    draws = explicit(ROWS, sorted(FRAME["cluster_id"].unique()), BESIDE_KAPPA[statistic])
    assert estimate.value == pytest.approx(BESIDE_KAPPA[statistic](ROWS), abs=1e-12)
    assert (estimate.low, estimate.high) == pytest.approx(expanded_percentile(draws, estimate.clusters), abs=1e-12)


def test_balanced_accuracy_by_hand():
    # the reference says A four times, two of them found; B twice, both found
    assert balanced_accuracy(list("AABBBB"), list("AAAABB")) == (2 / 4 + 2 / 2) / 2
    assert math.isnan(balanced_accuracy([], []))


def test_where_nobody_can_tie_ac1_and_pabak_know_two_labels():
    frame = made_pairs(pairs=24, annotators=1)
    frame = frame[frame.groupby(["item_id", "criterion"])["label"].transform(lambda labels: "tie" not in set(labels))]
    rows = joined(frame, "judge-x", ["ann1"])
    report = calibrate(frame, FEW)
    assert found(report, "pabak", "judge-x").value == pytest.approx(2 * (rows["a"] == rows["b"]).mean() - 1)
    assert found(report, "gwet_ac1", "judge-x").value == pytest.approx(gwet_ac1(rows["a"], rows["b"]))
    declared = calibrate(frame, replace(FEW, scales=dict.fromkeys(("c0", "c1", "c2"), ("A", "tie", "B"))))
    assert found(declared, "pabak", "judge-x").value == pytest.approx((3 * (rows["a"] == rows["b"]).mean() - 1) / 2)


def test_a_judge_that_never_reads_looks_good_only_where_prevalence_is_not_told():
    # 95 of 100 pairs are won by the reference: agreement .950, kappa .000, AC1 .947, PABAK .900
    people = pd.DataFrame({"item_id": [f"p{i:03}" for i in range(100)], "label": ["A"] * 95 + ["B"] * 5})
    people = people.assign(cluster_id=people["item_id"], criterion="c", system_a="wikipedia", system_b="atlas")
    judge = people.assign(rater_id="judge", rater_kind="judge", label="A")
    report = calibrate(pd.concat([people.assign(rater_id="ann", rater_kind="human"), judge]), FEW)
    assert found(report, "percent_agreement", "judge").value == 0.95
    assert found(report, "constant_judge_baseline", "judge").value == 0.95
    assert found(report, "chance_agreement", "judge").value == pytest.approx(0.95)
    assert math.isnan(found(report, "cohen_kappa", "judge").value)
    assert "constant_rater" in found(report, "cohen_kappa", "judge").note
    assert found(report, "gwet_ac1", "judge").value == pytest.approx(0.947, abs=5e-4)
    assert found(report, "pabak", "judge").value == pytest.approx(0.9)
    assert found(report, "balanced_accuracy", "judge").value == 0.5
    assert found(report, "chance_agreement", "judge").note == (
        "judge says A 100.0 %, B 0.0 %; each_annotator says A 95.0 %, B 5.0 %"
    )
    assert {"baseline_not_beaten", "skewed_reference"} <= {one.code for one in report.warnings}


def test_ties_are_told_apart_and_never_counted_as_agreement():
    pair = ROWS["a"] + ROWS["b"]
    hits = {
        "same": ROWS["a"] == ROWS["b"],
        "soft": (ROWS["a"] == "tie") != (ROWS["b"] == "tie"),
        "hard": pair.isin(["AB", "BA"]),
    }
    assert sum(found(plain_report(), name, "judge-x").value for name in hits) == pytest.approx(1)
    for name, hit in hits.items():
        estimate = found(plain_report(), name, "judge-x")
        by_cluster = hit.groupby(ROWS["cluster"])
        assert estimate.value == pytest.approx(hit.mean())
        assert (estimate.low, estimate.high) == pytest.approx(wilson_effective(by_cluster.sum(), by_cluster.size()))


def test_agreement_where_the_judge_keeps_its_verdict_in_both_orders():
    frame = made_pairs(pairs=25, annotators=1, both_orders=True)
    judge = frame[frame["rater_id"] == "judge-x"]
    kept = judge.groupby(["item_id", "criterion"])["label"].agg(lambda labels: labels.nunique() == 1)
    rows = judge.merge(frame[frame["rater_id"] == "ann1"], on=["item_id", "criterion"], suffixes=("_a", "_b"))
    rows = rows[[kept[key] for key in zip(rows["item_id"], rows["criterion"], strict=True)]]
    estimate = found(calibrate(frame, FEW), "percent_agreement_consistent_orders", "judge-x")
    assert estimate.value == pytest.approx((rows["label_a"] == rows["label_b"]).mean())
    assert estimate.n == kept.sum()
    assert f"{kept.sum()} of {len(kept)} labels" in estimate.note


def against_wikipedia(agents: tuple[str, ...] = ("atlas", "borealis")) -> pd.DataFrame:
    """People and judge on pairs of Wikipedia with an agent; Wikipedia is A by coin and wins nine times in ten."""
    frame = made_pairs(pairs=60, criteria=1, annotators=1, judges={"judge-x": 0.8}, seed=3)
    number = frame["item_id"].str[1:].astype(int)
    agent, wiki_is_a = pd.Series(np.array(agents)[number % len(agents)]), number % 3 != 0
    rng = np.random.default_rng(0)
    wiki_wins = rng.random(len(frame)) < 0.9
    frame["label"] = np.where(frame["label"] == "tie", "tie", np.where(wiki_is_a == wiki_wins, "A", "B"))
    frame["system_a"] = np.where(wiki_is_a, "wikipedia", agent)
    frame["system_b"] = np.where(wiki_is_a, agent, "wikipedia")
    return frame


def test_kappa_by_system_names_the_winner_instead_of_a_and_b():
    frame = against_wikipedia()
    named = frame.assign(
        label=np.where(
            frame["label"] == "tie",
            "tie",
            np.where(np.where(frame["label"] == "A", frame["system_a"], frame["system_b"]) == "wikipedia", "A", "B"),
        )
    )
    rows, plain = joined(named, "judge-x", ["ann1"]), joined(frame, "judge-x", ["ann1"])
    report = calibrate(frame, FEW)
    estimate = found(report, "cohen_kappa_by_system", "judge-x")
    assert estimate.value == pytest.approx(cohen_kappa(rows["a"], rows["b"]), abs=1e-12)
    assert abs(estimate.value - found(report, "cohen_kappa", "judge-x").value) > 0.05
    assert found(report, "cohen_kappa", "judge-x").value == pytest.approx(cohen_kappa(plain["a"], plain["b"]))
    assert "coded by system: wikipedia wins, tie, the other system wins" in estimate.note
    draws = explicit(rows, sorted(frame["cluster_id"].unique()), lambda r: cohen_kappa(r["a"], r["b"]))
    assert (estimate.low, estimate.high) == pytest.approx(expanded_percentile(draws, estimate.clusters), abs=1e-12)


def test_systems_that_all_meet_each_other_have_no_kappa_by_system():
    frame = against_wikipedia()
    third = frame["item_id"].isin(["p001", "p002"])
    frame.loc[third, ["system_a", "system_b"]] = ["atlas", "borealis"]
    assert "cohen_kappa_by_system" not in {one.statistic for one in calibrate(frame, FEW).estimates}


def test_every_pair_of_systems_has_estimates_of_its_own_where_they_are_asked_for():
    frame = against_wikipedia()
    report = calibrate(frame, replace(FEW, per_system_pair=True))
    category = "systems: atlas, wikipedia"
    own = frame[(frame["system_a"] == "atlas") | (frame["system_b"] == "atlas")]
    rows = joined(own, "judge-x", ["ann1"])
    agreed = found(report, "percent_agreement", "judge-x", category=category)
    assert (agreed.value, agreed.n, agreed.clusters) == ((rows["a"] == rows["b"]).mean(), len(rows), 30)
    assert found(report, "cohen_kappa", "judge-x", category=category).value == pytest.approx(
        cohen_kappa(rows["a"], rows["b"])
    )
    agreements = [one for one in report.estimates if one.statistic == "percent_agreement"]
    assert {one.category for one in agreements} == {"all", category, "systems: borealis, wikipedia"}
    plain = [one for one in calibrate(frame, FEW).estimates if one.statistic == "percent_agreement"]
    assert {one.category for one in plain} == {"all"}


def test_a_criterion_on_few_pairs_gets_its_count_table_instead_of_an_interval():
    frame = made_pairs(pairs=10, annotators=1)
    report = calibrate(frame, replace(FEW, per_criterion=True))
    rows = joined(frame[frame["criterion"] == "c1"], "judge-x", ["ann1"])
    (table,) = [one for one in report.tables if (one.rater, one.criterion) == ("judge-x", "c1")]
    assert table.labels == ["A", "tie", "B"]
    assert table.counts == tables_of(rows.assign(cluster="x"), ["x"])[0].astype(int).tolist()
    (single,) = [
        one
        for one in report.estimates
        if (one.statistic, one.rater, one.reference, one.criterion)
        == ("percent_agreement", "judge-x", "each_annotator", "c1")
    ]
    assert math.isnan(single.low)
    assert "too few pairs" in single.note


def test_perfect_agreement_never_has_an_interval_of_zero_width():
    frame = made_pairs(pairs=24, annotators=3)
    frame["label"] = frame.groupby(["item_id", "criterion"])["label"].transform("first")
    for one in calibrate(frame, FEW).estimates:
        assert math.isnan(one.low) or one.low < one.high or one.statistic in ("soft", "hard"), one


def test_the_written_report_holds_everything_and_no_nan():
    report = calibrate(made_pairs(pairs=10), replace(FEW, per_criterion=True))
    text = report_json(report)
    read = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert set(read) == {"format", "data", "settings", "warnings", "estimates", "choice", "biases", "card", "judges"}
    assert len(read["estimates"]) == len(report.estimates)
    assert set(read["estimates"][0]) == {*Estimate.__dataclass_fields__} - {"remarks"} | {"note"}
    assert set(read["settings"]) == set(ALWAYS), "no other was changed"
    assert None in {one["low"] for one in read["estimates"]}
    assert read["data"]["rows"] == len(made_pairs(pairs=10))
    assert {"joins", "marginals", "statuses", "tables", "verdicts_sha256", "cluster", "aliases"} <= set(read["data"])
    assert text == report_json(calibrate(made_pairs(pairs=10), replace(FEW, per_criterion=True)))
