"""What a draw is foretold to save: as much as studies that were drawn so then saved, nothing where judges say nothing."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.active import TOPICS, Question, Topics
from calibration.sampling.allocation import anticipated_deviation
from calibration.sampling.inclusion import draw_weights
from calibration.sizing.draw_gain import BATCHES, FEWEST, MOST, DrawGain, draw_gain, expected_deviation
from calibration.sizing.pilot import pilot_of, spread_of
from calibration.sizing.planning import Spread
from tests.calibration.studies import made_pairs


def made(rng: np.random.Generator, tells: bool, topics: int = TOPICS) -> Topics:
    """Three topics in four of which people agree with the judge alike, and one where it may be anything.

    `tells`: whether judges differ on the latter; else as often on all.
    """
    odd = rng.random(topics) < 0.25
    value = 12 * (0.8 + np.where(odd, 0.2, 0.02) * rng.choice([-1, 1], topics))
    sizes, signs = np.full(topics, 12.0), np.where(odd & tells, 0.6, 0.1)[:, None]
    return Topics({"agreement": Question(value, sizes, signs)}, signs + rng.uniform(0, 0.05, signs.shape), value)


def foretold(seed: int, tells: bool, topics: int = TOPICS, of: int = TOPICS) -> DrawGain:
    found = draw_gain(foretold_spread(seed, tells, topics), of)
    assert found is not None
    return found


def foretold_spread(seed: int, tells: bool, topics: int = TOPICS) -> Spread:
    """Of a pilot of so many topics, half of which teach what the other half is to be."""
    pilot = made(np.random.default_rng(seed), tells, topics)
    one = pilot.questions["agreement"]
    moved = one.influence(np.arange(topics), np.ones(topics))[1]
    half = np.arange(topics) % 2
    expected = np.zeros(topics)
    for own in (0, 1):
        others = np.flatnonzero(half != own)
        expected[half == own] = anticipated_deviation(pilot.signs, one.sizes, others, moved[others])[half == own]
    return Spread(0.0, float(moved.std()), moved, topics, "", expected)


@pytest.mark.parametrize("tells", [True, False])
def test_what_is_foretold_is_what_drawn_studies_then_save(tells: bool) -> None:
    rng, values = np.random.default_rng(5), {"drawn": [], "random": []}  # type: dict[str, list[float]]
    for _ in range(400):
        study = made(rng, tells)
        one = study.questions["agreement"]
        batches = study.drawn(rng, "agreement", 60, 20)
        at = np.concatenate([batch.topics for batch in batches])
        values["drawn"].append(one.influence(at, draw_weights(batches))[0])
        values["random"].append(one.influence(rng.permutation(TOPICS)[:60], np.ones(60))[0])
    saved = 1 - np.var(values["drawn"]) / np.var(values["random"])
    # the ratio of two variances of 400 values each is known to about 10 %
    ratio, se = foretold(6, tells).at(60)
    assert abs(1 - ratio - saved) < 2 * math.hypot(se, 0.1 * (1 - saved))
    assert (1 - ratio > 0.15) == (1 - ratio > 2 * se) == tells


@pytest.mark.slow
@pytest.mark.parametrize(("topics", "of"), [(60, 120), (240, 80)])
def test_its_error_is_that_between_pilots_where_the_chances_are_the_same(topics: int, of: int) -> None:
    found = []
    for seed in range(24):
        pilot = foretold_spread(100 + seed, tells=True, topics=topics)
        odd = np.abs(pilot.topics - pilot.mean) > np.abs(pilot.topics - pilot.mean).max() / 2
        gain = draw_gain(replace(pilot, expected=np.where(odd, 1.0, 0.2)), of)
        assert gain is not None
        found.append(gain.at(of // 2))
    ratios, ses = (np.array(each) for each in zip(*found, strict=True))
    assert 0.6 < np.sqrt((ses**2).mean()) / ratios.std(ddof=1) < 1.7  # of 24 an sd is known to 15 %


def test_fewer_topics_do_where_judges_tell_and_more_are_told_where_they_mislead() -> None:
    assert foretold(7, tells=True).needed(60, TOPICS) < 55
    pilot = foretold_spread(7, tells=True)
    misled = draw_gain(replace(pilot, expected=pilot.expected.max() + pilot.expected.min() - pilot.expected), TOPICS)
    assert misled is not None
    assert misled.needed(60, TOPICS) > 60
    many = draw_gain(pilot, 2 * MOST)
    assert many is not None
    assert (many.topics[0], many.topics[-1]) == (2 * MOST / BATCHES, 2 * MOST)  # of more the same shares
    assert draw_gain(replace(pilot, topics=np.full(TOPICS, pilot.mean)), TOPICS) is None  # nothing varies


def test_a_gain_is_none_beside_random_where_nobody_knows_it_and_ends_at_all_topics() -> None:
    found = foretold(7, tells=True)
    assert found.at(20)[0] == pytest.approx(1, abs=0.05)  # of the first batch nothing is known
    assert found.at(TOPICS)[0] == pytest.approx(1)  # all are labelled: nothing is left to choose
    few = pilot_of(made_pairs(pairs=FEWEST - 1))
    assert not len(few.scores.expected)
    assert draw_gain(few.scores, 200) is None
    many = pilot_of(made_pairs(pairs=FEWEST, both_orders=True))
    assert many.scores.expected.shape == many.scores.topics.shape
    assert draw_gain(many.scores, 20) is None  # all of one batch
    assert not len(spread_of([1.0, 0.0], ["x", "y"]).expected)


def test_a_topic_is_never_learnt_from_itself() -> None:
    from calibration.settings import CalibrationSettings
    from calibration.study.joining import study_of

    study = study_of(made_pairs(pairs=40, both_orders=True), CalibrationSettings())
    clusters, moved = np.arange(40), np.random.default_rng(1).normal(size=40)
    before = expected_deviation(study, clusters, moved)
    for topic in (0, 17):
        changed = moved.copy()
        changed[topic] *= 9
        after = expected_deviation(study, clusters, changed)
        assert after[topic] == before[topic]
