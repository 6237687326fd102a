"""Studies with known biases, in small: the table in full is benchmarks/bias.py. Bounds are those of the binomial."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from benchmarks.bias import PROMISES, Promise, Tally, broken, tally_of
from calibration.arithmetic.closed_forms import Array
from calibration.arithmetic.columns import Codes
from calibration.biases.preference_bias import linearised_logit
from calibration.results import CalibrationSettings
from calibration.study.bias import Asked, Bias, bias_of, both_say, evened

ASKED = Asked("rate", "judge", CalibrationSettings(), 0.5)
STUDIES, TOPICS, LABELS = 400, 40, 5
CLUSTERS = np.repeat(np.arange(TOPICS), LABELS)


def luck(share: float, studies: int = STUDIES) -> tuple[float, float]:
    """How often something of this probability happens in so many studies, but for one time in a thousand on each side."""
    return stats.binom.ppf(0.001, studies, share), stats.binom.ppf(0.999, studies, share)


def rates(mean: float, seed: int, topics: int = TOPICS, icc: float = 0.3) -> list[Bias]:
    """Shares of first reports whose topics differ with this intraclass correlation."""
    rng, k = np.random.default_rng(seed), 1 / icc - 1
    of_topic = rng.beta(mean * k, (1 - mean) * k, (STUDIES, topics))
    first = rng.random((STUDIES, topics, LABELS)) < of_topic[:, :, None]
    clusters = np.repeat(np.arange(topics), LABELS)
    return [bias_of(ASKED, one.ravel(), clusters) for one in first]


def test_an_absent_bias_is_found_in_one_study_of_twenty_though_labels_are_nested() -> None:
    found = rates(0.5, seed=1)
    wrong = sum(one.outcome == "found" for one in found)
    assert luck(0.03)[0] <= wrong <= luck(0.06)[1]
    # as if labels were independent: the simulation can tell right from wrong
    ks = [round(one.estimate.value * one.estimate.n) for one in found]
    assert sum(stats.binomtest(k, TOPICS * LABELS).pvalue < 0.05 for k in ks) > luck(0.12)[1]


def test_a_bias_of_the_detectable_size_is_found_in_four_studies_of_five() -> None:
    detectable = float(np.mean([one.detectable for one in rates(0.5, seed=2)]))
    hit = sum(one.outcome == "found" for one in rates(0.5 + detectable, seed=3))
    assert luck(0.76)[0] <= hit <= luck(0.85)[1]


@pytest.mark.parametrize("topics", [10, 40])
def test_a_bias_that_the_data_could_not_have_seen_is_never_called_absent(topics: int) -> None:
    words = Counter(one.outcome for one in rates(0.5, seed=4, topics=topics))
    assert words["not_found"] == 0
    assert words["cannot_tell"] >= luck(0.93)[0]


def test_a_bias_as_large_as_the_floor_is_hardly_ever_called_absent_and_none_is_often() -> None:
    there, absent = rates(0.55, seed=5, topics=1_500), rates(0.5, seed=6, topics=1_500)
    assert sum(one.outcome == "not_found" for one in there) <= luck(0.025)[1]
    assert sum(one.outcome == "not_found" for one in absent) >= luck(0.9)[0]


def nested(rng: np.random.Generator, mean: float, icc: float) -> Array:
    k = 1 / icc - 1
    return rng.beta(mean * k, (1 - mean) * k, TOPICS)[CLUSTERS]


def given_the_vote(planted: float, people: float, judge: float, seed: int) -> list[list[Bias]]:
    """Longer reports are better in two labels of three; `planted`: how often the judge takes the longer regardless."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(STUDIES // 2):
        ratio = rng.normal(0, 0.7, TOPICS)[CLUSTERS]
        truth = rng.random(len(CLUSTERS)) < np.where(ratio > 0, nested(rng, 2 / 3, 0.1), nested(rng, 1 / 3, 0.1))
        vote = truth == (rng.random(len(truth)) < people)
        says = truth == (rng.random(len(truth)) < nested(rng, judge, 0.1))
        says = np.where(rng.random(len(truth)) < planted, ratio > 0, says)
        found.append(_both(says, vote, ratio, CLUSTERS))
    return found


def _both(says: Array, vote: Array, ratio: Array, clusters: Codes) -> list[Bias]:
    longer = ratio > 0
    own, people = says == longer, vote == longer
    x = np.stack([2.0 * vote - 1, ratio], 1)
    floorless = Asked("coefficient", "judge", CalibrationSettings(), 0.0)
    gap = bias_of(floorless, own.astype(float) - people, clusters)
    given = bias_of(ASKED, evened(own.astype(float), people), clusters)
    return [gap, given, bias_of(floorless, linearised_logit(says.astype(float), x)[0], clusters)]


@pytest.mark.parametrize(
    ("people", "judge", "fooled"), [(0.99, 0.75, 0), (0.75, 0.75, 2)], ids=["noisy judge", "noisy people"]
)
def test_noise_alone_fools_one_measure_of_length_and_never_both(people: float, judge: float, fooled: int) -> None:
    studies = given_the_vote(0.0, people, judge, seed=7)
    alone = sum(one[fooled].outcome == "found" for one in studies)
    assert alone > luck(0.12, len(studies))[1]
    both = sum(both_say([one[0], one[2]]) == "found" for one in studies)
    assert both <= luck(0.06, len(studies))[1]


def test_a_planted_length_bias_is_found_by_every_measure() -> None:
    studies = given_the_vote(0.4, 0.85, 0.85, seed=8)
    for measure in range(3):
        assert sum(one[measure].outcome == "found" for one in studies) >= luck(0.9, len(studies))[0]


@pytest.mark.parametrize(
    "promise", [one for one in PROMISES if "planted" in one.text or one.design.topics == 10], ids=lambda one: one.text
)
def test_planted_biases_are_found_in_whole_studies_and_small_ones_cannot_tell(promise: Promise) -> None:
    assert list(broken(promise, tally_of(promise, 8, seed=3))) == []


def test_a_broken_promise_is_named() -> None:
    never, always = Counter({"cannot_tell": 50}), Counter({"found": 50})
    planted = next(one for one in PROMISES if one.least and one.truth > 0)
    absent = next(one for one in PROMISES if one.truth == 0)
    assert len(list(broken(planted, Tally(50, never, 0.5, 0.8)))) == 2
    assert len(list(broken(absent, Tally(50, always, 0.5, 0.0)))) == 2
