"""The word for a bias, the laws that every bias obeys, and the edges where nothing can be told."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from benchmarks.bias import Design, made_verdicts
from calibration.biases.bias_audit import BiasAudit, bias_audit
from calibration.errors import CalibrationError
from calibration.results import CalibrationSettings
from calibration.study.bias import Asked, Bias, bias_of, both_say, evened, outcome, share_of_faults
from tests.calibration.biased import renamed, verdict

SETTINGS = CalibrationSettings(families={"judge": "f", "own": "f"})
ASKED = Asked("a_rate", "judge", SETTINGS, 0.5)


@pytest.mark.parametrize(
    ("low", "high", "seen", "word"),
    [
        (0.01, 0.03, 0.02, "found"),  # small, yet there: the place says that it is within the floor
        (-0.3, -0.1, 0.2, "found"),
        (-0.03, 0.03, 0.05, "not_found"),
        (-0.03, 0.03, 0.051, "cannot_tell"),  # a bias as large as the floor would often have been missed
        (-0.01, 0.06, 0.05, "cannot_tell"),  # the interval still holds a bias that matters
        (-0.3, 0.3, 0.4, "cannot_tell"),
        (math.nan, math.nan, math.nan, "cannot_tell"),
    ],
)
def test_absent_is_said_only_where_the_size_that_matters_would_have_been_seen(
    low: float, high: float, seen: float, word: str
) -> None:
    assert outcome(low, high, seen, 0.05) == word


def test_a_rate_worked_by_hand() -> None:
    # 1, 0 | 1, 1: .75; residual sums -1/2 and 1/2, se = sqrt(2 * 1/2) / 4 = 1/4, t = 1 with 1 df, so p = 1/2
    found = bias_of(ASKED, [1, 0, 1, 1], [1, 1, 2, 2])
    assert (found.estimate.value, found.effect, found.estimate.n, found.estimate.clusters) == (0.75, 0.25, 4, 2)
    assert found.p == pytest.approx(0.5)
    t, power = math.tan(math.pi * 0.475), math.tan(math.pi * 0.3)  # quantiles .975 and .8 of t with 1 df
    assert (found.estimate.low, found.estimate.high) == (0, 1)  # .75 -+ t / 4, which no rate can reach
    assert found.detectable == pytest.approx((t + power) / 4)
    assert (found.outcome, found.place, found.estimate.method) == ("cannot_tell", "cannot tell", "cluster_t")


def test_the_same_in_every_cluster_is_judged_by_how_many_clusters_there_are() -> None:
    many, few = np.repeat(np.arange(40), 10), np.repeat(np.arange(3), 10)
    always, never = bias_of(ASKED, np.ones(400), many), bias_of(ASKED, np.tile([1.0, 0.0], 200), many)
    assert (always.outcome, always.place, always.p) == ("found", "beyond", 2 * 0.5**40)
    assert (never.outcome, never.place, never.p, never.estimate.method) == (
        "not_found", "within", 1.0, "wilson_effective_n",
    )  # fmt: skip
    assert 0 < never.detectable < 0.05
    assert bias_of(ASKED, np.tile([1.0, 0.0], 15), few).outcome == "cannot_tell"


@pytest.mark.parametrize(("scores", "clusters", "note"), [([], [], "no_items"), ([1, 0], [1, 1], "too_few_units")])
def test_what_cannot_be_measured_says_why_and_tells_nothing(scores: list[int], clusters: list[int], note: str) -> None:
    found = bias_of(ASKED, scores, clusters)
    assert (found.outcome, found.estimate.method, math.isnan(found.detectable)) == ("cannot_tell", "none", True)
    assert note in found.estimate.note


def test_an_evened_rate_is_the_mean_of_two_group_means_and_its_spread_that_of_a_jackknife() -> None:
    rng = np.random.default_rng(3)
    clusters, group = np.repeat(np.arange(200), 4), rng.random(800) < 0.8
    scores = (rng.random(800) < np.where(group, 0.7, 0.4) + rng.normal(0, 0.1, 200)[clusters]).astype(float)

    def value(kept: np.ndarray) -> float:
        return float(scores[kept & group].mean() + scores[kept & ~group].mean()) / 2

    found = bias_of(ASKED, evened(scores, group), clusters)
    left_out = np.array([value(clusters != one) for one in range(200)])
    jackknife = math.sqrt(199 / 200 * ((left_out - left_out.mean()) ** 2).sum())
    assert found.estimate.value == pytest.approx(value(np.ones(800, bool)), abs=1e-12)
    assert (found.estimate.high - found.estimate.low) / 2 / 1.972 == pytest.approx(jackknife, rel=0.02)
    assert np.isnan(evened(scores, np.ones(800, bool))).all()


def test_one_fault_is_proof_and_none_is_luck_where_few_were_asked() -> None:
    asked = Asked("changed", "judge", SETTINGS)
    assert share_of_faults(asked, np.eye(1, 200)[0], np.ones(200)).outcome == "found"
    none = share_of_faults(asked, np.zeros(200), np.ones(200))
    assert (none.outcome, none.estimate.value, none.estimate.low) == ("not_found", 0.0, 0.0)
    assert none.detectable == pytest.approx(1 - 0.2 ** (1 / 200))
    assert share_of_faults(asked, np.zeros(10), np.ones(10)).outcome == "cannot_tell"
    assert "no_items" in share_of_faults(asked, np.zeros(3), np.zeros(3)).estimate.note


def word(effects: tuple[float, ...], se: float = 0.01) -> Bias:
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 1, 100)
    return bias_of(
        Asked("d", "judge", SETTINGS), effects[0] + se * 10 * (noise - noise.mean()) / noise.std(), range(100)
    )


def test_two_measures_must_agree_in_word_and_direction() -> None:
    up, down, absent, blurred = word((0.1,)), word((-0.1,)), word((0.0,)), word((0.0,), 0.1)
    assert both_say([up, up]) == "found"
    assert both_say([up, down]) == both_say([up, absent]) == both_say([absent, blurred]) == "cannot_tell"
    assert both_say([absent, absent]) == "not_found"


@pytest.mark.parametrize("floor", [0.0, -0.1, 0.5, math.nan])
def test_a_floor_that_is_no_rate_is_refused(floor: float) -> None:
    with pytest.raises(CalibrationError, match="bias_floor"):
        CalibrationSettings(bias_floor=floor)


def full(seed: int = 5) -> pd.DataFrame:
    """A study with everything in it: both orders, repeats, ties, systems, lengths, failures and rationales."""
    rng = np.random.default_rng(seed)
    frame = made_verdicts(Design(topics=12, labels=2, own=0.3, position=0.3), rng).drop(columns="item")
    frame["run"], frame["status"] = 1, "ok"
    frame.loc[rng.random(len(frame)) < 0.15, "label"] = "tie"
    frame.loc[rng.random(len(frame)) < 0.05, "label"] = "not_applicable"
    again = frame[frame["rater_id"] == "judge"].assign(run=2)
    again.loc[rng.random(len(again)) < 0.3, "label"] = "A"
    frame = pd.concat([frame, again], ignore_index=True)
    frame["rationale"] = [f"reason {n} of the third kind" for n in rng.integers(0, 9, len(frame))]
    frame.loc[rng.random(len(frame)) < 0.05, ["label", "status"]] = ["", "invalid"]
    return frame


def numbers(audit: BiasAudit) -> list[object]:
    return [
        (one.estimate.statistic, one.estimate.rater, one.estimate.category, one.estimate.n, one.outcome, one.place)
        for one in audit.biases
    ]


def values(audit: BiasAudit) -> np.ndarray:
    return np.array(
        [[b.estimate.value, b.estimate.low, b.estimate.high, b.p, b.detectable] for b in audit.biases]
        + [[one.p_flips, one.toward_first, one.toward_second, one.flipped, 0] for one in audit.position]
        + [[one.agreement.value, one.agreement.low, one.agreement.high, one.runs, 0] for one in audit.repeats]
    )


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_renaming_a_and_b_or_reordering_rows_changes_no_bias(seed: int) -> None:
    items = np.random.default_rng(seed).choice(12, size=(12, 5, 8)[seed], replace=False)
    frame = full()
    before = bias_audit(frame, SETTINGS)
    turned = renamed(frame, {f"i{n}" for n in items}).sample(frac=1, random_state=seed)
    after = bias_audit(turned, SETTINGS)
    assert numbers(after) == numbers(before)
    np.testing.assert_allclose(values(after), values(before), rtol=1e-8, atol=1e-10)


def test_reordering_rows_alone_changes_not_one_bit_and_the_table_stays_as_it_was() -> None:
    frame = full()
    copy = frame.copy()
    one, two = bias_audit(frame, SETTINGS), bias_audit(frame.sample(frac=1, random_state=1), SETTINGS)
    np.testing.assert_array_equal(values(one), values(two))
    pd.testing.assert_frame_equal(frame, copy)


def test_every_bias_carries_its_n_clusters_interval_method_and_what_could_have_been_seen() -> None:
    for one in bias_audit(full(), SETTINGS).biases:
        undefined = math.isnan(one.estimate.low)
        assert (one.estimate.method == "none") == undefined
        assert undefined or (one.estimate.low <= one.estimate.value <= one.estimate.high and one.detectable > 0)
        assert not undefined or (one.estimate.note and one.outcome == "cannot_tell")


@pytest.mark.parametrize("label", ["7", "full"])
def test_ratings_and_probes_have_no_position_length_or_family_and_do_not_fail(label: str) -> None:
    rows = [verdict(n, rater, label, system_b="") for n in range(3) for rater in ("ann", "judge")]
    found = bias_audit(pd.DataFrame(rows), SETTINGS)
    assert (found.position, found.length, found.families) == ((), (), ())
    assert all(one.outcome != "found" for one in found.biases)


def test_a_judge_alone_with_invalid_rows_tells_nothing() -> None:
    rows = [verdict(n, "judge", "") for n in range(3)] + [verdict(n, "ann", "A") for n in range(3)]
    found = bias_audit(pd.DataFrame(rows), SETTINGS)
    assert {one.outcome for one in found.biases if one.estimate.rater == "judge"} == {"cannot_tell"}
