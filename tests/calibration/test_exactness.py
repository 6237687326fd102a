"""Every draw behind every bootstrap interval of a report, against explicit resampling of cluster indices.

The witnesses are scikit-learn, krippendorff, scipy, statsmodels and written-out definitions on the resampled rows
themselves. Clusters are unequal and labels are missing. Draws, not only bounds, are compared, to 1e-12.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from threadpoolctl import threadpool_limits

from calibration.calibrate import calibrate
from calibration.inference import bootstrap
from calibration.inference.bootstrap import expanded_percentile
from calibration.results import CalibrationReport, CalibrationSettings, Estimate
from calibration.study import bounding
from tests.calibration.brute_force import (
    MIRROR,
    OF_UNITS,
    PEOPLE,
    PROBE,
    SEED,
    WITNESSES,
    B,
    compared,
    kappa,
    resampled,
    units_of,
)
from tests.calibration.studies import joined, made_pairs, made_ratings

SETTINGS = CalibrationSettings(resamples=B, seed=SEED)


def with_coin_names(frame: pd.DataFrame) -> pd.DataFrame:
    """Half of the items with A and B, and their systems, exchanged."""
    swap = frame["item_id"].str[-1].isin(list("02468"))
    frame["label"] = frame["label"].where(~swap, frame["label"].map(MIRROR))
    frame.loc[swap, ["system_a", "system_b"]] = ["borealis", "atlas"]
    return frame


PAIRS = with_coin_names(made_pairs(pairs=24, missing=0.1))
PROBES = PAIRS.drop(columns=["system_a", "system_b", "presentation"]).assign(label=PAIRS["label"].map(PROBE))
STUDIES: dict[str, tuple[pd.DataFrame, CalibrationSettings]] = {
    "pairs": (PAIRS, SETTINGS),
    "complete pairs": (made_pairs(pairs=12, seed=4), SETTINGS),
    "probes on a declared scale": (
        PROBES,
        replace(SETTINGS, scales=dict.fromkeys(["c0", "c1", "c2"], tuple(PROBE.values()))),
    ),
    "ratings": (made_ratings(60), replace(SETTINGS, scales={"quality": tuple(map(str, range(1, 11)))})),
    "fine ratings": (made_ratings(60, 3), SETTINGS),
}
STUDIES["fine ratings"][0]["label"] = STUDIES["fine ratings"][0]["label"].round(1)  # ratio alpha: up to 200 values
COMPARISONS = [("judge-x", "each_annotator"), ("ann2", "others"), ("each_annotator", "others"), ("ann1", "ann3")]


def with_draws(frame: pd.DataFrame, settings: CalibrationSettings) -> list[tuple[Estimate, np.ndarray]]:
    """Each bootstrapped estimate of a report with its draws, whose number stands where its lower bound would."""
    kept: list[np.ndarray] = []

    def number(draws: np.ndarray, *_: object) -> tuple[float, float]:
        kept.append(np.array(draws))
        return len(kept) - 1.0, float(len(kept))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounding.bootstrap, "expanded_percentile", number)
        report = calibrate(frame, settings)
    # these have the witnesses of test_bradley_terry, test_alternative_annotator and test_distance
    apart = ("bradley_terry", "advantage_probability", "human_ceiling_linear", "percent_agreement_linear")
    drawn = [one for one in report.estimates if one.statistic not in apart]
    return [(one, kept[int(one.low)]) for one in drawn if one.method == "cluster_bootstrap_expanded"]


@pytest.mark.parametrize("study", STUDIES)
def test_every_draw_of_every_statistic_equals_explicit_resampling(study):
    frame, settings = STUDIES[study]
    clusters, units = sorted(frame["cluster_id"].unique()), units_of(frame)
    found = {(one.rater, one.reference, one.statistic): (one, draws) for one, draws in with_draws(frame, settings)}
    checked = set()
    for rater, reference in COMPARISONS:
        names = [name for who, whom, name in found if (who, whom) == (rater, reference)]
        witnesses = {name: WITNESSES[study][name] for name in names}  # a statistic without a witness fails here
        rows = compared(frame, rater, reference)
        for of_units, table in ((False, rows), (True, units)):
            own = {
                name: function
                for name, function in witnesses.items()
                if (name.startswith(OF_UNITS) and (rater, reference) == ("each_annotator", "others")) == of_units
            }
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                draws = [[function(drawn) for function in own.values()] for drawn in resampled(table, clusters) if own]
                values = {name: function(table) for name, function in own.items()}
            for position, name in enumerate(own):
                estimate, engine = found[rater, reference, name]
                told = f"{name} of {rater} and {reference}"
                assert estimate.value == pytest.approx(values[name], abs=1e-12), told
                witness = np.array(draws)[:, position]
                np.testing.assert_allclose(engine, witness, rtol=0, atol=1e-12, err_msg=told)
                checked.add(name)
    assert checked == {name for _, _, name in found}


@pytest.mark.parametrize("study", STUDIES)
def test_weights_of_one_give_the_point_value_of_every_statistic(study, monkeypatch):
    def ones(n_clusters: int, resamples: int, *_: object) -> Iterator[np.ndarray]:
        yield np.ones((resamples, n_clusters), dtype=np.int64)

    monkeypatch.setattr(bootstrap, "cluster_weights", ones)
    frame, settings = STUDIES[study]
    found = with_draws(frame, replace(settings, resamples=3))
    assert found
    for estimate, draws in found:
        assert draws == pytest.approx(np.full(3, estimate.value), abs=1e-12), estimate


@pytest.mark.parametrize("study", ["pairs", "ratings", "fine ratings"])
def test_draws_are_the_same_bytes_for_every_block_size_and_number_of_threads(study, monkeypatch):
    frame, settings = STUDIES[study]
    expected = with_draws(frame, replace(settings, resamples=300))
    for block, threads in ((256, 2), (64, 1), (16, 2)):
        with monkeypatch.context() as patch, threadpool_limits(threads):
            patch.setattr(bootstrap.resample, "__defaults__", (9_999, 0, block))
            patch.setattr(bootstrap.cluster_weights, "__defaults__", (9_999, 0, block))
            found = with_draws(frame, replace(settings, resamples=300))
        assert [one for one, _ in found] == [one for one, _ in expected]
        if study == "fine ratings":  # sums of fractions: exact is what whole numbers are
            for (_, draws), (_, other) in zip(found, expected, strict=True):
                np.testing.assert_allclose(draws, other, rtol=0, atol=1e-12)
        else:
            assert sha256(found) == sha256(expected)


def sha256(found: list[tuple[Estimate, np.ndarray]]) -> str:
    return hashlib.sha256(b"".join(draws.tobytes() for _, draws in found)).hexdigest()


def one_estimate(report: CalibrationReport, statistic: str, rater: str, reference: str) -> Estimate:
    wanted = statistic, rater, reference, "all"
    (found,) = [one for one in report.estimates if (one.statistic, one.rater, one.reference, one.criterion) == wanted]
    return found


def test_the_interval_is_the_expanded_percentile_of_these_draws():
    rows, clusters = compared(PAIRS, "judge-x", "each_annotator"), sorted(PAIRS["cluster_id"].unique())
    estimate = one_estimate(calibrate(PAIRS, SETTINGS), "cohen_kappa", "judge-x", "each_annotator")
    draws = [kappa(drawn) for drawn in resampled(rows, clusters)]
    assert (estimate.low, estimate.high) == pytest.approx(expanded_percentile(draws, len(clusters)), abs=1e-12)
    assert (estimate.n, estimate.clusters) == (len(rows), len(clusters))


def test_both_passes_of_a_judge_are_compared_and_each_counts_half():
    frame = made_pairs(pairs=12, both_orders=True, missing=0.1)
    rows, clusters = joined(frame, "judge-x", PEOPLE), sorted(frame["cluster_id"].unique())
    assert set(rows["weight"]) == {0.5, 1.0}

    def half(drawn: pd.DataFrame) -> float:
        return float(cohen_kappa_score(drawn["a"], drawn["b"], sample_weight=drawn["weight"]))

    estimate = one_estimate(calibrate(frame, SETTINGS), "cohen_kappa", "judge-x", "each_annotator")
    draws = [half(drawn) for drawn in resampled(rows, clusters)]
    assert estimate.value == pytest.approx(half(rows), abs=1e-12)
    assert (estimate.low, estimate.high) == pytest.approx(expanded_percentile(draws, estimate.clusters), abs=1e-12)
    assert estimate.n == round(rows["weight"].sum())


def test_ranking_once_and_resampling_the_ranks_would_not_be_exact():
    frame = made_ratings(40, 3)
    rows, clusters = joined(frame, "judge-x", PEOPLE), sorted(frame["cluster_id"].unique())
    rows["ra"], rows["rb"] = stats.rankdata(rows["a"]), stats.rankdata(rows["b"])
    drawn = list(resampled(rows, clusters))
    anew = np.array([stats.spearmanr(one["a"], one["b"]).statistic for one in drawn])
    once = np.array([stats.pearsonr(one["ra"], one["rb"]).statistic for one in drawn])
    assert np.abs(anew - once).max() > 0.005
