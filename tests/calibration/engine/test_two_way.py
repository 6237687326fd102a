"""Intervals over pairs and annotators: against statsmodels, by hand, and on simulated studies whose truth is known."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.sandwich_covariance import cov_cluster_2groups

from benchmarks.two_way import Design, agreement_of, agreements, answers, coverage, gap_of, promises, true_gap
from calibration.agreement.ceiling import FIXED_PANEL, TwoWay, agreement_two_way, gap_two_way, two_way
from calibration.calibrate import calibrate
from calibration.results import CalibrationSettings, Estimate
from calibration.study.joining import study_of
from calibration.study.left_out import pooled
from tests.calibration.studies import made_pairs

FEW = CalibrationSettings(resamples=99)


def of_cells(agree: Any, size: float = 1.0) -> TwoWay:
    """Every annotator on every pair, `size` labels each; `agree`: shape (pairs, annotators)."""
    own = np.asarray(agree, float)
    sizes = np.full(own.shape, size)
    return two_way(own.sum(axis=1), sizes.sum(axis=1), own, sizes)


def test_three_variances_and_the_interval_by_hand() -> None:
    # residuals -1/2, .. of four pairs by three annotators; pairs sum to 3/2, 1/2, -1/2, -3/2, annotators to 0
    found = of_cells([[1, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 0]])
    assert found.value == 1 / 2
    assert found.over_pairs == pytest.approx(4 / 3 * (9 + 1 + 1 + 9) / 4 / 144)
    assert found.over_annotators == 0
    assert found.over_cells == pytest.approx(12 / 11 * 12 / 4 / 144)
    assert found.variance == found.over_pairs  # never below a single term
    half = stats.t.ppf(0.975, 2) * math.sqrt(found.over_pairs)
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half))


def test_annotators_who_differ_widen_what_pairs_alone_would_say() -> None:
    found = of_cells([[9, 6, 3]] * 5, size=10)  # every pair alike: over pairs alone there is no doubt at all
    assert found.over_pairs == 0
    assert found.over_annotators == pytest.approx(3 / 2 * (15**2 + 15**2) / 150**2)
    assert found.variance == found.over_annotators
    assert found.high - found.low == pytest.approx(2 * stats.t.ppf(0.975, 2) * found.variance**0.5)


@given(st.integers(0, 10_000), st.integers(3, 6), st.integers(3, 12))
def test_it_is_the_two_way_covariance_of_statsmodels(seed: int, annotators: int, pairs: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [
        (c, a, rng.random()) for c in range(pairs) for a in range(annotators) for _ in range(rng.integers(0, 3))
    ] + [(c, c % annotators, rng.random()) for c in range(max(pairs, annotators))]
    frame = pd.DataFrame(rows, columns=["pair", "person", "y"])
    frame["pair"] %= pairs
    sums, sizes = (
        frame.pivot_table(index="pair", columns="person", values="y", aggfunc=how).fillna(0).to_numpy(float)
        for how in ("sum", "count")
    )
    found = two_way(sums.sum(axis=1), sizes.sum(axis=1), sums, sizes)
    fit = OLS(frame["y"], np.ones(len(frame))).fit()
    both, pair, person = cov_cluster_2groups(fit, frame[["pair", "person"]].to_numpy(), use_correction=False)
    shrunk = {name: getattr(found, name) for name in ("over_pairs", "over_annotators", "over_cells")}
    counts = {"over_pairs": found.clusters, "over_annotators": found.annotators, "over_cells": int((sizes > 0).sum())}
    plain = {name: value * (counts[name] - 1) / counts[name] for name, value in shrunk.items()}  # without G / (G - 1)
    assert plain["over_pairs"] == pytest.approx(float(np.squeeze(pair)))
    assert plain["over_annotators"] == pytest.approx(float(np.squeeze(person)))
    total = plain["over_pairs"] + plain["over_annotators"] - plain["over_cells"]
    assert total == pytest.approx(float(np.squeeze(both)))
    assert found.variance >= max(found.over_pairs, found.over_annotators)


@pytest.mark.parametrize(
    ("agree", "note"),
    [
        (np.zeros((0, 3)), "no_items"),
        ([[1, 0], [0, 1], [1, 1]], "two_annotators"),
        ([[1, 0, 1]], "too_few_units"),
        ([[1, 1, 1], [1, 1, 1]], "zero_variance"),
    ],
)
def test_without_an_interval_the_reason_is_given(agree: Any, note: str) -> None:
    found = of_cells(agree)
    assert (found.note, math.isnan(found.low), math.isnan(found.high)) == (note, True, True)
    assert math.isnan(found.value) == (note == "no_items")


def report_of(frame: pd.DataFrame, **options: Any) -> tuple[tuple[Estimate, ...], tuple[Estimate, ...]]:
    """The estimates over pairs, and the same over pairs and annotators."""
    plain, wide = (
        calibrate(frame, replace(FEW, generalise_to=to, **options)).estimates
        for to in ("pairs", "pairs_and_annotators")
    )
    return plain, wide


def test_every_value_stays_and_the_two_headlines_get_the_interval_over_annotators() -> None:
    plain, wide = report_of(made_pairs(pairs=30, annotators=4, missing=0.1), per_criterion=True)
    widened = 0
    for one, other in zip(plain, wide, strict=True):
        assert (one.statistic, one.rater, one.reference, one.criterion, one.n) == (
            other.statistic, other.rater, other.reference, other.criterion, other.n,
        )  # fmt: skip
        assert other.value == pytest.approx(one.value, nan_ok=True)
        if other.method == "two_way_t":
            widened += 1
            assert other.low <= other.value <= other.high
            assert "over pairs and over annotators, of whom these 4 are a sample" in other.note
            assert FIXED_PANEL not in other.remarks
    assert widened == 2 * (1 + 3) + 2  # each judge: agreement over all and in three criteria, one gap


def test_what_keeps_its_interval_says_that_the_panel_is_fixed() -> None:
    _, wide = report_of(made_pairs(pairs=30, annotators=3))
    kept = [one for one in wide if one.rater == "judge-x" and one.reference == "each_annotator"]
    assert {one.statistic for one in kept if FIXED_PANEL in one.remarks} >= {
        "cohen_kappa",
        "percent_agreement_half_credit",
    }
    between_judges = [one for one in wide if (one.rater, one.reference) == ("judge-x", "judge-y")]
    assert between_judges
    assert {one.statistic for one in between_judges if FIXED_PANEL in one.remarks} == {"agreement_difference"}


def test_two_annotators_are_refused_and_the_number_needed_is_named() -> None:
    _, wide = report_of(made_pairs(pairs=30, annotators=2))
    refused = [one for one in wide if "2 annotators are too few to speak for others, 3 are needed" in one.note]
    assert {(one.statistic, one.reference) for one in refused} == {
        ("percent_agreement", "each_annotator"), ("gap_to_ceiling", "others")
    }  # fmt: skip
    assert all(one.method == "none" and math.isnan(one.low) and not math.isnan(one.value) for one in refused)


def test_a_single_criterion_on_few_pairs_has_no_interval_over_annotators_either() -> None:
    _, wide = report_of(made_pairs(pairs=12, annotators=3), per_criterion=True)
    found = [one for one in wide if (one.statistic, one.reference) == ("percent_agreement", "each_annotator")]
    assert {one.criterion: one.method for one in found}.items() >= {("all", "two_way_t"), ("c0", "none")}
    assert all(one.note.count("no interval") == (one.method == "none") for one in found)


def test_a_share_never_leaves_0_to_1() -> None:
    frame = made_pairs(pairs=30, annotators=3, judges={"judge-x": 1.0})
    people = frame["rater_kind"] == "human"
    odd = frame["rater_id"] == "ann1"
    frame.loc[people & ~odd, "label"] = "A"
    frame.loc[~people, "label"] = "A"
    _, wide = report_of(frame)
    found = next(one for one in wide if one.statistic == "percent_agreement" and one.method == "two_way_t")
    assert (found.high, found.low >= 0) == (1.0, True)


def from_answers(people: Any, judge: Any) -> pd.DataFrame:
    """A table of `benchmarks.two_way.answers`: true is A, false is B."""
    rows = []
    for (pair, item), right in np.ndenumerate(judge):
        said = {"judge": right} | {f"ann{one}": people[pair, item, one] for one in range(people.shape[2])}
        for rater, true in said.items():
            rows.append((f"i{pair}-{item}", rater, "judge" if rater == "judge" else "human", "AB"[int(not true)], pair))
    frame = pd.DataFrame(rows, columns=["item_id", "rater_id", "rater_kind", "label", "pair"])
    return frame.assign(criterion="c", cluster_id=frame.pop("pair").map("t{}".format), system_a="x", system_b="y")


def test_the_simulated_studies_are_what_the_tables_would_say() -> None:
    people, judge = next(answers(Design(6, 4, labels=5), 1, seed=3))
    study, group, scale = pooled(from_answers(people, judge), FEW)
    found, witness = gap_two_way(study, group, scale, study.judges[0], FEW), gap_of(people, judge)
    assert [found.value, found.variance, found.low] == pytest.approx([witness.value, witness.variance, witness.low])
    agree = (people == judge[..., None]).sum(axis=1).astype(float)
    said, again = (
        agreement_two_way(study, group, scale, study.judges[0], FEW),
        agreement_of(agree, Design(6, 4, labels=5)),
    )
    assert [said.value, said.variance, said.low] == pytest.approx([again.value, again.variance, again.low])


def test_the_simulation_has_the_truth_it_claims() -> None:
    design = Design(400, 40, labels=4)
    assert agreements(design, 20, seed=5).mean() / design.labels == pytest.approx(0.8, abs=0.015)
    gaps = [gap_of(people, judge).value for people, judge in answers(design, 20, seed=6)]
    assert np.mean(gaps) == pytest.approx(true_gap(design), abs=4 * float(np.std(gaps)) / 20**0.5)


def test_a_judge_seen_in_both_orders_counts_each_label_once() -> None:
    frame = made_pairs(pairs=25, annotators=3, both_orders=True)
    study, group, scale = pooled(frame, FEW)
    found = {one.rater: agreement_two_way(study, group, scale, one, FEW) for one in study.judges}
    report = {
        one.rater: (one.value, one.n)
        for one in calibrate(study_of(frame, FEW).frame, FEW).estimates
        if (one.statistic, one.reference) == ("percent_agreement", "each_annotator")
    }
    assert {name: one.value for name, one in found.items()} == pytest.approx({k: v for k, (v, _) in report.items()})


@pytest.mark.slow
def test_the_interval_covers_other_annotators_and_the_one_over_pairs_alone_does_not() -> None:
    design, studies = Design(100, 5), 1_200
    assert [str(one) for one in promises(design, studies) if not one.kept] == []
    found = coverage(design, 400)
    assert (
        np.mean(found["agreement over pairs alone"])
        < 0.45
        < 0.9
        < np.mean(found["agreement over pairs and annotators"])
    )
