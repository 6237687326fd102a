"""Effects of probes: three outcomes by hand, then judges with planted biases, simulated without a provider."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from calibration.errors import CalibrationError
from calibration.inference.compare import Difference
from calibration.inference.stress_effect import detectable, outcome_of, share_of, stress_effect
from tests.fake_llm import log_odds_first, planted

Array = npt.NDArray[np.float64]
RUNS, TOPICS, CRITERIA = 400, 25, 12


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (0.06, 0.2, "beyond"), (-0.2, -0.06, "beyond"), (-0.04, 0.05, "within"), (-0.05, 0.02, "within"),
        (0.04, 0.2, "cannot tell"), (-0.2, 0.2, "cannot tell"), (0.05, 0.2, "cannot tell"),
        (math.nan, math.nan, "cannot tell"),
    ],
)  # fmt: skip
def test_an_outcome_is_where_the_whole_interval_lies(low: float, high: float, outcome: str) -> None:
    assert outcome_of(low, high, 0.05) == outcome


def test_what_could_have_been_found_is_three_standard_errors_or_so() -> None:
    # t_.975 and t_.8 with 24 df: 2.0639 and 0.8569 standard errors of .01
    found = Difference(0.0, -0.020639, 0.020639, 1.0, 100, 25)
    assert detectable(found) == pytest.approx(0.029208, abs=1e-6)


def test_a_share_is_of_the_labels_that_are_known_and_its_interval_reckons_with_topics() -> None:
    by_topic = share_of([1, 1, 0, 0, math.nan], ["a", "a", "b", "b", "c"])
    apart = share_of([1, 1, 0, 0], ["a", "b", "c", "d"])
    assert (by_topic.value, by_topic.n, by_topic.clusters) == (apart.value, apart.n, 2) == (0.5, 4, 2)
    assert by_topic.low < apart.low < 0.5 < apart.high < by_topic.high
    assert math.isnan(share_of([1.0], ["a"]).low)
    assert math.isnan(share_of([], []).value)


def test_a_judge_that_never_moves_over_many_topics_is_within_and_over_two_nobody_can_tell() -> None:
    clusters = np.repeat(np.arange(40), 10)
    never = stress_effect(np.ones(400), np.ones(400), clusters)
    assert (never.difference.value, never.outcome, never.note) == (0.0, "within", "zero_variance")
    assert never.difference.low < 0 < never.difference.high
    assert math.isnan(never.detectable)
    assert stress_effect([1, 1], [1, 1], [1, 2]).outcome == "cannot tell"


def test_a_judge_that_always_moves_is_beyond() -> None:
    always = stress_effect(np.zeros(100), np.ones(100), np.repeat(np.arange(20), 5))
    assert (always.difference.value, always.outcome) == (1.0, "beyond")
    assert always.difference.low < always.difference.high <= 1.0 + (1 - always.difference.low)


def test_without_known_noise_a_large_change_cannot_be_told_from_it() -> None:
    rng = np.random.default_rng(0)
    moved = (rng.random(400) < 0.4).astype(float)
    clusters = np.repeat(np.arange(40), 10)
    assert stress_effect(np.zeros(400), moved, clusters).outcome == "beyond"
    blurred = stress_effect(np.zeros(400), moved, clusters, noise_known=False)
    assert (blurred.outcome, blurred.note) == ("cannot tell", "noise_unknown")


@pytest.mark.parametrize(("score", "tolerance"), [(1.5, 0.05), (-0.1, 0.05), (0.5, 0.0)])
def test_scores_outside_0_to_1_and_an_empty_tolerance_are_refused(score: float, tolerance: float) -> None:
    with pytest.raises(CalibrationError) as refused:
        stress_effect([score, 1.0], [0.0, 1.0], [1, 2], tolerance)
    assert refused.value.code == "bad_number"


def p_first(model: str, better: Array, ln_ratio: float | Array = 0.0, own: float | Array = 0.0) -> Array:
    return np.asarray(1 / (1 + np.exp(-log_odds_first(planted(model), better, ln_ratio, own))))


def two_answers(model: str, bias: str, rng: np.random.Generator) -> tuple[Array, Array, float]:
    """Answers with the bias at work and without, shape (runs, topics, criteria), and the true mean difference.

    The report shown first is the better one in half of each topic's criteria, so the truth has a closed form.
    """
    better = np.where(np.arange(CRITERIA) % 2, 1.0, -1.0)
    with_it, without = {
        "pos": (p_first(model, better), 1 - p_first(model, -better)),  # the same report first, then second
        "len": (p_first(model, better, math.log(1.6)), p_first(model, better)),  # padded, then as it is
        "fam": (p_first(model, better, own=1.0), p_first(model, better)),  # its own family's report, and people's view
    }[bias]
    shape = (RUNS, TOPICS, CRITERIA)
    return (
        (rng.random(shape) < with_it).astype(float),
        (rng.random(shape) < without).astype(float),
        float((with_it - without).mean()),
    )


@pytest.mark.parametrize("bias", ["pos", "len", "fam"])
@pytest.mark.parametrize("size", [0.0, 0.8])
def test_each_planted_bias_is_covered_and_none_is_found_where_none_is(bias: str, size: float) -> None:
    x, y, truth = two_answers(f"fake-acc-0.85-{bias}-{size}", bias, np.random.default_rng(20))
    clusters = np.repeat(np.arange(TOPICS), CRITERIA)
    found = [stress_effect(b.ravel(), a.ravel(), clusters) for a, b in zip(x, y, strict=True)]
    covered = np.mean([one.difference.low <= truth <= one.difference.high for one in found])
    assert 0.925 <= covered <= 0.975
    if size == 0.0:
        assert truth == pytest.approx(0.0, abs=1e-12)
        assert np.mean([one.difference.p < 0.05 for one in found]) <= 0.07
        assert sum(one.outcome == "beyond" for one in found) == 0


def test_the_smallest_detectable_effect_is_found_in_four_of_five_runs() -> None:
    # shares .5 and .5 + d of 300 independent answers: d = 2.9208 sqrt((.5 - d^2) / 300), so d = .1176
    d, shape = 0.1176, (RUNS, 300)
    rng = np.random.default_rng(21)
    x, y = rng.random(shape) < 0.5 + d, rng.random(shape) < 0.5
    found = [stress_effect(b, a, np.repeat(np.arange(25), 12)) for a, b in zip(x, y, strict=True)]
    assert np.mean([one.detectable for one in found]) == pytest.approx(d, rel=0.03)
    assert 0.74 <= np.mean([one.difference.low > 0 for one in found]) <= 0.86


def test_in_one_closed_form_the_planted_length_moves_the_share_of_wins_as_logits_add() -> None:
    # base logit 0 (no accuracy): p = 1 / (1 + 1.6 ** -0.8)
    assert p_first("fake-len-0.8", np.zeros(1), math.log(1.6))[0] == pytest.approx(1 / (1 + 1.6**-0.8))
    assert planted("fake-acc-0.85") == planted("fake-first-0.7") == planted("fake") == {}
