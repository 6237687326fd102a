"""The columns of DeepResearch Bench: by hand, against scipy and another ICC, against explicit resampling."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from calibration.errors import CalibrationError
from calibration.inference.bootstrap import expanded_percentile, wilson_effective
from calibration.results import CalibrationSettings
from calibration.totals.topic_totals import disputed_topics, topic_agreement
from tests.calibration.brute_force import coefficients
from tests.calibration.explicit import FEW, PEOPLE, SEED, B
from tests.calibration.studies import made_pairs, made_topics
from tests.exports.toy_studies import race_study

FRAME = made_topics()
(FOUND,) = topic_agreement(FRAME, FEW)
TOTALS = (
    FRAME.groupby(["cluster_id", "system_a", "rater_id", "criterion"])["label"].first().unstack().dropna()
    .mean(axis=1).unstack()
)  # fmt: skip


def icc_1_1(ratings: pd.DataFrame) -> float:
    """From mean squares, of the rows without a gap."""
    x = ratings.dropna(axis=1, how="all").dropna().to_numpy(float)
    if min(x.shape) < 2:
        return math.nan
    n, k = x.shape
    means = x.mean(axis=1, keepdims=True)
    msr, msw = k * ((means - x.mean()) ** 2).sum() / (n - 1), ((x - means) ** 2).sum() / (n * (k - 1))
    return float(coefficients(msr, 0.0, 0.0, msw, n, k)["ICC(1,1)"])


def of_topics() -> pd.DataFrame:
    """One row per topic: pairs of systems in the same order and all of them, and the two correlations."""
    out = []
    for topic, totals in TOTALS.groupby(level="cluster_id"):
        both = pd.DataFrame({"a": totals["judge-x"], "b": totals[PEOPLE].mean(axis=1)}).dropna()
        a, b = both["a"].to_numpy(), both["b"].round(9).to_numpy()
        signs = np.sign(np.subtract.outer(a, a) * np.subtract.outer(b, b))
        pairs = len(both) * (len(both) - 1) / 2
        row = {"topic": topic, "agree": (signs > 0).sum() / 2, "pairs": pairs, "r": math.nan, "rho": math.nan}
        varied = both["a"].nunique() > 1 and both["b"].round(9).nunique() > 1
        if len(both) > 2 and varied and not icc_1_1(totals[PEOPLE]) < 0:
            row["r"], row["rho"] = (
                stats.pearsonr(both["a"], both["b"])[0],
                stats.spearmanr(both["a"], both["b"].round(9))[0],
            )
        out.append(row)
    return pd.DataFrame(out).set_index("topic")


TOPICS = of_topics()


def pearson_of_systems(topics: np.ndarray) -> float:
    both = pd.DataFrame({"a": TOTALS["judge-x"], "b": TOTALS[PEOPLE].mean(axis=1)}).dropna()
    drawn = pd.concat([both.xs(TOPICS.index[one]) for one in topics])
    means = drawn.groupby(level="system_a").mean()
    return float(stats.pearsonr(means["a"], means["b"]).statistic)


@cache
def draws() -> dict[str, np.ndarray]:
    (child,) = np.random.SeedSequence(SEED).spawn(1)
    index = np.random.Generator(np.random.PCG64(child)).integers(0, len(TOPICS), (B, len(TOPICS)))
    drawn = [TOPICS.iloc[row] for row in index]
    out = {
        "par": np.array([one["agree"].sum() / one["pairs"].sum() for one in drawn]),
        "opc": np.array([pearson_of_systems(row) for row in index]),
        "fap": np.array([one["r"].mean() for one in drawn]),
        "fas": np.array([one["rho"].mean() for one in drawn]),
    }
    return out | {"overall": np.mean(list(out.values()), axis=0)}


def test_the_study_has_disputed_topics_gaps_and_ties() -> None:
    disputed = [topic for topic, totals in TOTALS.groupby(level="cluster_id") if icc_1_1(totals[PEOPLE]) < 0]
    assert disputed_topics(FRAME, FEW) == tuple(disputed)
    assert 0 < len(disputed) < len(TOPICS)
    assert TOTALS["judge-x"].isna().any()
    assert f"{len(disputed)} disputed by people" in FOUND.pearson.note


@pytest.mark.parametrize(
    ("estimate", "name", "value"),
    [
        (FOUND.systems, "opc", pearson_of_systems(np.arange(len(TOPICS)))),
        (FOUND.pearson, "fap", TOPICS["r"].mean()),
        (FOUND.spearman, "fas", TOPICS["rho"].mean()),
    ],
    ids=["opc", "fap", "fas"],
)
def test_correlations_and_their_intervals_are_those_of_explicit_resampling(estimate, name, value) -> None:
    assert estimate.value == pytest.approx(value, abs=1e-12)
    expected = expanded_percentile(draws()[name], estimate.clusters)
    assert (estimate.low, estimate.high) == pytest.approx(expected, abs=1e-12)


def test_pairwise_agreement_pools_pairs_of_systems_over_topics() -> None:
    assert FOUND.ordered.value == pytest.approx(TOPICS["agree"].sum() / TOPICS["pairs"].sum(), abs=1e-12)
    assert FOUND.ordered.n == TOPICS["pairs"].sum()
    expected = wilson_effective(TOPICS["agree"], TOPICS["pairs"])
    assert (FOUND.ordered.low, FOUND.ordered.high) == pytest.approx(expected, abs=1e-12)


def test_overall_is_the_mean_of_four_and_so_is_each_of_its_resamples() -> None:
    four = (FOUND.ordered, FOUND.systems, FOUND.pearson, FOUND.spearman)
    assert FOUND.overall.value == pytest.approx(np.mean([one.value for one in four]), abs=1e-12)
    expected = expanded_percentile(draws()["overall"], FOUND.overall.clusters)
    assert (FOUND.overall.low, FOUND.overall.high) == pytest.approx(expected, abs=1e-12)


def test_a_judge_stricter_on_some_topics_than_on_others_changes_only_the_means_of_systems() -> None:
    frame = FRAME.copy()
    judged = frame["rater_kind"] == "judge"
    frame.loc[judged, "label"] += frame.loc[judged, "cluster_id"].str[1:].astype(int) % 5
    (found,) = topic_agreement(frame, FEW)
    assert found.ordered == FOUND.ordered
    assert found.spearman == FOUND.spearman
    assert (found.pearson.value, found.pearson.low) == pytest.approx((FOUND.pearson.value, FOUND.pearson.low))


def test_three_topics_by_hand() -> None:
    frame = race_study()
    (found,) = topic_agreement(frame, FEW)
    assert disputed_topics(frame, FEW) == ("t3",)
    assert found.ordered.value == pytest.approx(5 / 9)
    assert found.systems.value == pytest.approx(math.sqrt(3) / 2)
    assert (found.pearson.value, found.spearman.value) == (pytest.approx(3 / 4), pytest.approx(3 / 4))
    assert (found.pearson.n, found.ordered.n) == (2, 9)
    assert found.overall.value == pytest.approx((5 / 9 + math.sqrt(3) / 2 + 3 / 2) / 4)
    assert "3 systems, fewer than 10" in found.systems.note


def test_one_annotator_disputes_nothing() -> None:
    frame = race_study()
    assert disputed_topics(frame[frame["rater_id"] != "ann2"], FEW) == ()


def test_more_annotators_than_systems_are_no_transposed_table() -> None:
    frame = race_study()
    third, fourth = (frame[frame["rater_id"] == "ann1"].assign(rater_id=name) for name in ("ann3", "ann4"))
    assert disputed_topics(pd.concat([frame, third, fourth]), FEW) == ()


def test_two_systems_have_pairs_and_an_overall_without_a_value() -> None:
    frame = race_study()
    (found,) = topic_agreement(frame[frame["system_a"] != "z"], FEW)
    assert found.ordered.value == pytest.approx(2 / 3)
    assert [math.isnan(one.value) for one in (found.systems, found.pearson, found.spearman, found.overall)] == [
        True
    ] * 4
    assert "two_points" in found.systems.note
    assert found.overall.note == "one of the four has no value"


def test_preferences_are_no_scores_and_nothing_is_changed() -> None:
    for function in (topic_agreement, disputed_topics):
        with pytest.raises(CalibrationError) as refused:
            function(made_pairs(pairs=4), CalibrationSettings(resamples=9))
        assert refused.value.code == "not_scores"
    before = FRAME.copy(deep=True)
    topic_agreement(FRAME, CalibrationSettings(resamples=9))
    pd.testing.assert_frame_equal(FRAME, before)
