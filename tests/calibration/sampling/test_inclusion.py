"""Topics drawn in batches, each with a known probability that is never 0: totals stay true whatever batches learnt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.errors import CalibrationError
from calibration.sampling.inclusion import (
    RANDOM_SHARE,
    Batch,
    draw_weights,
    inclusion_probabilities,
    most_allowed,
    systematic_sample,
)

DEVIATIONS = st.lists(st.one_of(st.just(0.0), st.floats(1e-6, 1e6)), min_size=1, max_size=60)


def drawn_batches(rng, deviations, sizes, topics):
    """Batches of these sizes; `deviations`: batches so far, waiting -> what the next is drawn by."""
    waiting, found, asked, of = np.arange(topics), [], [], []
    for size in sizes:
        asked.append(size)
        of.append(len(waiting))
        chance = inclusion_probabilities(deviations(found, waiting), size, most=most_allowed(asked, of))
        drawn = systematic_sample(chance, rng)
        found.append(Batch(waiting[drawn], chance[drawn], len(waiting), np.ones(size, bool)))
        waiting = np.delete(waiting, drawn)
    return found


@given(DEVIATIONS, st.data())
def test_no_probability_is_below_the_random_arms_and_they_sum_to_the_batch(deviation, data) -> None:
    size = data.draw(st.integers(1, len(deviation)))
    share = data.draw(st.floats(RANDOM_SHARE, 1))
    chance = inclusion_probabilities(np.array(deviation), size, share)
    assert chance.sum() == pytest.approx(size)
    assert chance.min() >= share * size / len(deviation) - 1e-12
    assert chance.max() <= 1


@given(DEVIATIONS, st.integers(0, 2**32 - 1), st.data())
def test_a_draw_has_the_asked_size_and_the_same_seed_gives_the_same_one(deviation, seed, data) -> None:
    size = data.draw(st.integers(1, len(deviation)))
    chance = inclusion_probabilities(np.array(deviation), size)
    one, other = (systematic_sample(chance, np.random.default_rng(seed)) for _ in range(2))
    assert len(one) == size == len(np.unique(one))
    assert one.tolist() == other.tolist()


def test_a_topic_is_drawn_as_often_as_its_probability_says() -> None:
    rng = np.random.default_rng(1)
    chance = inclusion_probabilities(np.arange(12.0) ** 2, 5)
    drawn = np.zeros(12)
    for _ in range(4_000):
        drawn[systematic_sample(chance, rng)] += 1
    assert np.abs(drawn / 4_000 - chance).max() < 4 * 0.5 / np.sqrt(4_000)


def test_alike_chances_give_every_topic_one_weight_in_whichever_batches_they_were_drawn() -> None:
    batches = drawn_batches(np.random.default_rng(2), lambda _, waiting: np.ones(len(waiting)), [20, 7, 13], 120)
    assert draw_weights(batches) == pytest.approx(np.full(40, 120 / 40))


def test_nobody_left_to_draw_means_that_every_topic_counts_once() -> None:
    batches = drawn_batches(np.random.default_rng(2), lambda _, waiting: 1.0 + waiting, [20, 10], 30)
    assert draw_weights(batches) == pytest.approx(np.ones(30))


def test_nobody_left_to_draw_leaves_an_earlier_batch_labelled_in_part_to_its_labelled_topics() -> None:
    first, last = drawn_batches(np.random.default_rng(2), lambda _, waiting: 1.0 + waiting, [20, 10], 30)
    half = replace(first, labelled=np.arange(20) < 5)
    assert draw_weights([half, last]) == pytest.approx([4.0] * 5 + [1.0] * 10)


def test_totals_are_unbiased_where_batches_learn_from_labels_and_greedy_ones_are_not() -> None:
    """The second batch goes where the first saw much: taken as it is, and with no weights, it is far off."""
    rng = np.random.default_rng(3)
    label = rng.gamma(1.0, 1.0, 60)

    def by_labels(found, waiting):
        return label[waiting] if found and label[found[0].topics].mean() > 1 else 1 / (0.1 + label[waiting])

    weighted, plain = [], []
    for _ in range(2_000):
        batches = drawn_batches(rng, by_labels, [10, 10, 10], 60)
        drawn = np.concatenate([batch.topics for batch in batches])
        weights = draw_weights(batches)
        assert weights.min() >= 1
        weighted.append(weights @ label[drawn] / 60)
        plain.append(label[drawn].mean())
    error = np.std(weighted) / np.sqrt(len(weighted))
    assert abs(np.mean(weighted) - label.mean()) < 3 * error
    assert abs(np.mean(plain) - label.mean()) > 10 * error


def test_a_batch_labelled_in_part_counts_as_a_random_part_of_it() -> None:
    half = Batch(np.arange(10), np.full(10, 0.5), 20, np.arange(10) < 5)
    assert draw_weights([half]) == pytest.approx(np.full(5, 4.0))  # 5 of 20


def test_totals_are_unbiased_where_an_earlier_batch_is_labelled_in_part() -> None:
    rng = np.random.default_rng(5)
    label = rng.gamma(2.0, 1.0, 100)
    found = []
    for _ in range(2_000):
        batches = drawn_batches(
            rng, lambda found, waiting: label[waiting] if found else np.ones(len(waiting)), [15] * 3, 100
        )
        half = replace(batches[1], labelled=np.isin(np.arange(15), rng.permutation(15)[:7]))
        batches = [batches[0], half, batches[2]]
        drawn = np.concatenate([batch.topics[batch.labelled] for batch in batches])
        found.append(draw_weights(batches) @ label[drawn])
    assert abs(np.mean(found) - label.sum()) < 3 * np.std(found) / np.sqrt(len(found))


@pytest.mark.parametrize(
    ("deviation", "size", "share"), [([1.0, 1.0], 3, 0.2), ([1.0, 1.0], 1, 0.0), ([1.0, -1.0], 1, 0.2)]
)
def test_what_would_make_a_probability_0_or_unknown_is_refused(deviation, size, share) -> None:
    with pytest.raises(CalibrationError, match="share"):
        inclusion_probabilities(np.array(deviation), size, share)
    with pytest.raises(CalibrationError, match="chance"):
        Batch(np.arange(1), np.zeros(1), 2, np.ones(1, bool))
