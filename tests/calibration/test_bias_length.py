"""Length bias given the human vote: by hand, against a second implementation, and its edges."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

from benchmarks.bias import Design, made_verdicts
from calibration.biases.preference_bias import length_bias, linearised_logit
from tests.calibration.biased import verdict


def labels(said: list[tuple[str, str]], lengths: tuple[float, float] = (1000, 200)) -> pd.DataFrame:
    """One item for each (judge, person)."""
    rows = [
        verdict(n, rater, label, len_a=lengths[0], len_b=lengths[1])
        for n, pair in enumerate(said)
        for rater, label in zip(("judge", "ann"), pair, strict=True)
    ]
    return pd.DataFrame(rows)


def test_rates_by_hand() -> None:
    # A is the longer. Judge A, people A twice; A against B three times; B against A once; ties are not decisive
    said = [("A", "A")] * 2 + [("A", "B")] * 3 + [("B", "A")] + [("tie", "A"), ("A", "tie")]
    one = length_bias(labels(said), "judge")
    assert (one.longer_rate.estimate.value, one.longer_rate.estimate.n) == (pytest.approx(5 / 6), 6)
    assert one.people_longer_rate.estimate.value == 3 / 6
    assert one.difference.estimate.value == pytest.approx(2 / 6)
    assert (one.disagreements.estimate.value, one.disagreements.estimate.n) == (3 / 4, 4)
    # where people took the longer the judge did in 2 of 3, where they took the shorter in 3 of 3
    assert one.given_vote.estimate.value == pytest.approx((2 / 3 + 1) / 2)
    assert one.people_longer_rate.estimate.rater == "people"


@pytest.mark.parametrize(
    ("lengths", "n", "dropped"),
    [((1000, 950), 0, 0), ((1000, 949), 4, 0), ((math.nan, 500), 0, 4), ((0, 500), 0, 4), ((math.nan, math.nan), 0, 4)],
)
def test_lengths_alike_unknown_or_zero_are_left_out_and_counted(
    lengths: tuple[float, float], n: int, dropped: int
) -> None:
    one = length_bias(labels([("A", "B")] * 4, lengths), "judge")
    assert (one.difference.estimate.n, one.dropped) == (n, dropped)
    assert n or one.outcome == "cannot_tell"


def test_a_judge_that_always_takes_the_longer_is_found_though_no_coefficient_exists() -> None:
    rng = np.random.default_rng(0)
    said = [("A", "A" if rng.random() < 0.5 else "B") for _ in range(80)]
    one = length_bias(labels(said), "judge")
    assert (one.coefficient.estimate.note.split(";")[0], one.coefficient.outcome) == ("separated", "cannot_tell")
    assert (one.given_vote.estimate.value, one.outcome) == (1.0, "found")


def test_a_judge_that_always_agrees_with_people_has_no_length_bias_of_its_own() -> None:
    rng = np.random.default_rng(0)
    said = [(one, one) for one in rng.choice(["A", "B"], 200, p=[0.8, 0.2])]
    one = length_bias(labels(said), "judge")
    assert (one.people_longer_rate.outcome, one.difference.outcome, one.outcome) == ("found", "not_found", "not_found")


def test_the_coefficient_is_that_of_logistic_regression_with_clustered_errors() -> None:
    design = Design(topics=50, labels=3, annotators=1, both_orders=False, length=0.3, better_longer=0.5)
    frame = made_verdicts(design, np.random.default_rng(6)).drop(columns="item")
    one = length_bias(frame, "judge").coefficient
    wide = frame.pivot(
        index=["item_id", "criterion", "cluster_id", "len_a", "len_b"], columns="rater_id", values="label"
    ).reset_index()
    x = np.stack([np.where(wide["ann0"] == "A", 1.0, -1.0), np.log(wide["len_a"] / wide["len_b"])], axis=1)
    groups = {"groups": wide["cluster_id"].astype("category").cat.codes.to_numpy(), "use_correction": False}
    fit = sm.GLM((wide["judge"] == "A").astype(float), x, family=sm.families.Binomial()).fit(
        cov_type="cluster", cov_kwds=groups
    )
    assert one.estimate.value == pytest.approx(fit.params.iloc[1], abs=1e-7)
    half = stats.t.ppf(0.975, 49) * fit.bse.iloc[1] * math.sqrt(50 / 49)
    assert one.estimate.high - one.estimate.value == pytest.approx(half, rel=1e-5)
    assert one.floor == pytest.approx(math.log(0.55 / 0.45) / math.log(2))  # twice as long: from .5 to .55


def test_columns_that_say_the_same_give_no_coefficient_and_a_vote_nobody_cast_is_left_out() -> None:
    y, ratio = np.array([1.0, 0.0, 1.0, 1.0]), np.array([1.0, 1.0, 2.0, -1.0])
    assert linearised_logit(y, np.stack([ratio, 2 * ratio], 1))[1] == "zero_variance"
    alone, reason = linearised_logit(y, np.stack([np.zeros(4), ratio], 1))
    assert (reason, alone.mean()) == ("", pytest.approx(linearised_logit(y, ratio[:, None])[0].mean()))


def test_an_annotator_is_measured_against_the_other_annotators() -> None:
    rows = [
        verdict(n, rater, "A" if rater == "ann0" else "B", len_a=900, len_b=100)
        for n in range(4)
        for rater in ("ann0", "ann1", "ann2")
    ]
    one = length_bias(pd.DataFrame(rows), "ann0")
    assert (one.difference.estimate.value, one.difference.estimate.n) == (1.0, 8)
