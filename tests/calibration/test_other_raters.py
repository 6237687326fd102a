"""Judges with judges, annotators with annotators, and whole panels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa

from calibration.arithmetic.metrics import cohen_kappa, light_kappa, percent_agreement
from calibration.calibrate import calibrate
from calibration.inference.bootstrap import expanded_percentile
from tests.calibration.explicit import FEW, PEOPLE, explicit, found, plain_report, plain_study
from tests.calibration.studies import joined, made_pairs

FRAME = plain_study()
ROWS = joined(FRAME, "judge-x", PEOPLE)


def test_judges_are_compared_with_judges_and_people_with_people():
    judges = joined(FRAME, "judge-x", ["judge-y"])
    two = joined(FRAME, "ann1", ["ann3"])
    for rater, reference, rows in (("judge-x", "judge-y", judges), ("ann1", "ann3", two)):
        assert found(plain_report(), "percent_agreement", rater, reference).value == pytest.approx(
            percent_agreement(rows["a"], rows["b"])
        )
        kappa = found(plain_report(), "cohen_kappa", rater, reference)
        assert (kappa.value, kappa.n) == (pytest.approx(cohen_kappa(rows["a"], rows["b"]), abs=1e-12), len(rows))
        draws = explicit(rows, sorted(FRAME["cluster_id"].unique()), lambda r: cohen_kappa(r["a"], r["b"]))
        assert (kappa.low, kappa.high) == pytest.approx(expanded_percentile(draws, kappa.clusters), abs=1e-12)
    assert not [one for one in plain_report().estimates if one.reference == "judge-y" and one.statistic == "kept_share"]


def test_both_orders_of_a_judge_are_not_compared_with_another_judge():
    report = calibrate(made_pairs(pairs=8, both_orders=True), FEW)
    assert {one.rater for one in report.estimates if one.reference == "judge-y"} == {"judge-x"}


def wide_of(frame: pd.DataFrame) -> pd.DataFrame:
    wide = frame.pivot(index=["cluster_id", "item_id", "criterion"], columns="rater_id", values="label")[PEOPLE]
    return wide.reset_index().rename(columns={"cluster_id": "cluster"})


def test_lights_kappa_of_a_panel_is_the_mean_over_its_pairs():
    wide = wide_of(FRAME)

    def light(rows: pd.DataFrame) -> float:
        return light_kappa(rows[PEOPLE].T.to_numpy())

    estimate = found(plain_report(), "light_kappa", "each_annotator", "others")
    assert estimate.value == pytest.approx(light(wide), abs=1e-12)
    draws = explicit(wide, sorted(FRAME["cluster_id"].unique()), light)
    assert (estimate.low, estimate.high) == pytest.approx(expanded_percentile(draws, estimate.clusters), abs=1e-12)
    assert estimate.note == "mean over 3 pairs of annotators, unweighted"


def test_a_pair_that_shares_fewer_than_ten_labels_does_not_weigh_as_much_as_another():
    frame = FRAME[(FRAME["rater_id"] != "ann3") | (FRAME["item_id"] < "p003")]
    wide = wide_of(frame)
    pairs = [(wide[one], wide[two]) for one, two in (("ann1", "ann2"), ("ann1", "ann3"), ("ann2", "ann3"))]
    shared = [int((one.notna() & two.notna()).sum()) for one, two in pairs]
    report = calibrate(frame, FEW)
    weighted = np.average([cohen_kappa(one, two) for one, two in pairs], weights=shared)
    estimate = found(report, "light_kappa", "each_annotator", "others")
    assert estimate.value == pytest.approx(weighted, abs=1e-12)
    assert "weighted by shared units because 2 share fewer than 10" in estimate.note
    (warning,) = [one for one in report.warnings if one.code == "thin_rater_pairs"]
    assert "2 of 3 pairs of annotators" in warning.text


def test_fleiss_kappa_stands_where_every_label_has_equally_many_raters():
    frame = made_pairs(pairs=24)
    wide = wide_of(frame)

    def fleiss(rows: pd.DataFrame) -> float:
        counts = np.stack([(rows[PEOPLE] == label).sum(axis=1) for label in ("A", "B", "tie")], axis=1)
        return float(fleiss_kappa(counts))

    estimate = found(calibrate(frame, FEW), "fleiss_kappa", "each_annotator", "others")
    draws = explicit(wide, sorted(frame["cluster_id"].unique()), fleiss)
    assert estimate.value == pytest.approx(fleiss(wide), abs=1e-12)
    assert (estimate.low, estimate.high) == pytest.approx(expanded_percentile(draws, estimate.clusters), abs=1e-12)
    assert "fleiss_kappa" not in {one.statistic for one in plain_report().estimates}  # labels are missing there
