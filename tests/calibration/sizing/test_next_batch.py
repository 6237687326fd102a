"""The next topics to label: where judges differ, once that has shown to matter; with chances that are never 0."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from calibration.sizing.next_batch import Drawn, next_batch

TOPICS = [f"t{number:03}" for number in range(120)]


def judged(labelled: int = 0, seed: int = 4) -> pd.DataFrame:
    """Two judges on all topics, five items each: on every third topic they answer at random. People on some."""
    rng = np.random.default_rng(seed)
    rows = []
    for number, topic in enumerate(TOPICS):
        for item in range(5):
            said = rng.choice(["A", "B"], 2) if number % 3 == 0 else ["A", "A"]
            one = [("large", "judge", said[0]), ("mini", "judge", said[1])]
            people = [(f"p{who}", "human", "A") for who in range(2)] if number < labelled else []
            rows += [(f"{topic}-{item}", *rater, topic) for rater in [*one, *people]]
    frame = pd.DataFrame(rows, columns=["item_id", "rater_id", "rater_kind", "label", "cluster_id"])
    return frame.assign(criterion="all-in-all", system_a="atlas", system_b="borealis")


def first(labelled: int) -> Drawn:
    return Drawn(TOPICS[:labelled], [labelled / 120] * labelled, 120)


def test_before_anything_is_known_all_topics_are_alike() -> None:
    nothing = next_batch(pd.DataFrame(), TOPICS, [], 20, 1)
    assert len(nothing.topics) == 20
    assert [*nothing.chance_of.values()] == pytest.approx([20 / 120] * 120)
    assert nothing.worth == pytest.approx(20)


@pytest.mark.parametrize("question", ["gap", "agreement", "win_rate"])
def test_topics_on_which_judges_differ_are_drawn_more_often_and_no_other_never(question) -> None:
    found = next_batch(judged(30), TOPICS, [first(30)], 20, 1, question=question)
    chance = np.array([found.chance_of[topic] for topic in TOPICS[30:]])
    differ = np.arange(30, 120) % 3 == 0
    assert chance[differ].mean() > 1.3 * chance[~differ].mean()  # nothing moves win rates here: the gap is looked at
    assert found.worth > 20.5
    assert chance.sum() == pytest.approx(20)
    assert chance.min() >= 0.2 * 20 / 90 - 1e-12
    assert not {*found.topics} & {*TOPICS[:30]}
    assert found == next_batch(judged(30), TOPICS, [first(30)], 20, 1, question=question)


def test_the_last_batch_takes_whoever_is_left() -> None:
    found = next_batch(judged(100), TOPICS, [first(100)], 50, 1)
    assert found.topics == tuple(TOPICS[100:])
    assert found.chances == pytest.approx([1.0] * 20)
