"""Topics that are there twice, an annotator who is a judge, and second labels on other items than the rest."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from calibration.results import CalibrationSettings
from calibration.study.joining import study_of
from calibration.study.label_scores import label_scores
from calibration.warnings.comparison_cautions import second_label_cautions, twice_or_once
from calibration.warnings.sample_cautions import repeated_topics, sample_cautions
from tests.calibration.priced import priced
from tests.calibration.studies import made_ratings

SETTINGS = CalibrationSettings()
JUDGES = {"mini": (0.7, 0.001), "large": (0.8, 0.002)}


def codes(frame: pd.DataFrame) -> list[str]:
    return [one.code for one in sample_cautions(study_of(frame, SETTINGS))]


def again(frame: pd.DataFrame, topics: list[str]) -> pd.DataFrame:
    """The same items, reports and labels once more under other names."""
    more = frame[frame["cluster_id"].isin(topics)]
    return pd.concat([frame, more.assign(cluster_id="again-" + more["cluster_id"], item_id="again-" + more["item_id"])])


def test_a_topic_under_two_names_is_told_whatever_its_items_are_called() -> None:
    frame = again(priced(JUDGES, pairs=60, criteria=12), ["t003", "t017"])
    assert sorted(repeated_topics(study_of(frame, SETTINGS))) == [["again-t003", "t003"], ["again-t017", "t017"]]
    (warning,) = sample_cautions(study_of(frame, SETTINGS))
    assert warning.code == "repeated_topics"
    assert "again-t003 and t003" in warning.text
    one = frame["cluster_id"] == "again-t003"
    frame.loc[one, "label"] = frame.loc[one, "label"].replace({"A": "B", "B": "A"})
    assert repeated_topics(study_of(frame, SETTINGS)) == [["again-t017", "t017"]]


@pytest.mark.parametrize(("criteria", "annotators", "skill"), [(1, 1, 0.8), (1, 4, 0.8), (3, 3, 0.9), (20, 2, 1.0)])
def test_topics_that_are_alike_by_chance_or_by_one_mind_are_not(criteria: int, annotators: int, skill: float) -> None:
    judges = {"a": (skill, 0.001), "b": (skill, 0.001)}
    for seed in range(5):
        frame = priced(judges, 120, criteria, annotators, seed, (0.9, 0.0, 0.1), skill)
        assert repeated_topics(study_of(frame, SETTINGS)) == []


@pytest.mark.parametrize(
    ("share", "annotators", "told"), [(1.0, 3, True), (0.99, 3, True), (0.9, 3, False), (1.0, 1, False)]
)
def test_an_annotator_whose_labels_are_a_judges_is_named(share: float, annotators: int, told: bool) -> None:
    frame = priced(JUDGES, annotators=annotators)
    own, judge = (frame["rater_id"] == name for name in ("ann0", "mini"))
    copied = np.random.default_rng(5).random(own.sum()) < share
    frame.loc[own, "label"] = np.where(copied, frame.loc[judge, "label"], frame.loc[own, "label"])
    assert codes(frame) == ["copied_labels"] * told


def test_people_and_judges_who_all_agree_are_no_copies() -> None:
    assert codes(priced({"mini": (1.0, 0.001)}, skill=1.0)) == []
    assert codes(made_ratings(6)) == []


def second_labels(on: str) -> pd.DataFrame:
    """Half of the topics are hard for people and judge alike; the second annotator labels those, or any."""
    easy, hard = (priced({"mini": (skill, 0.001)}, 60, 3, 2, 7, skill=skill) for skill in (0.95, 0.3))
    hard = hard.assign(**{name: "h" + hard[name] for name in ("item_id", "cluster_id")})
    frame = pd.concat([easy, hard])
    chosen = frame["item_id"].str.startswith("h") if on == "hard" else frame["item_id"].str[-1].isin(list("02468"))
    return frame[chosen | (frame["rater_id"] != "ann1")]


@pytest.mark.parametrize(("on", "told"), [("hard", True), ("any", False)])
def test_second_labels_on_hard_items_alone_are_told(on: str, told: bool) -> None:
    scores = label_scores(study_of(second_labels(on), SETTINGS))
    found = list(second_label_cautions(scores))
    assert bool(found) is told
    if found:
        assert "compared with each other on harder items than the judge is to stand in for" in found[0].text
        assert " % of labels where people labelled twice" in found[0].text
        assert "by the distance of the scores where people" in next(second_label_cautions(scores, near=True)).text


def test_the_difference_of_two_kinds_of_items_by_hand() -> None:
    # topics 0 to 3: the judge is right on 1 of 2 labels given twice, and on 1, 1, 0, 1 of those given once
    rows = [
        (f"t{topic}", item, rater, "A" if right else "B")
        for topic in range(4)
        for item, rater, right in (("d", "ana", 1), ("d", "bo", 0), ("s", "ana", topic != 2))
    ]
    people = pd.DataFrame(rows, columns=["cluster_id", "item", "rater_id", "label"]).assign(rater_kind="human")
    judge = people[people["rater_id"] == "ana"].assign(rater_id="mini", rater_kind="judge", label="A")
    frame = pd.concat([people, judge]).assign(criterion="c", system_a="x", system_b="y")
    frame["item_id"] = frame["cluster_id"] + frame.pop("item")
    (found,) = twice_or_once(label_scores(study_of(frame, SETTINGS)))
    assert (found.twice, found.once) == (0.5, 0.75)
    # pulls on the difference: -1/16 of three topics, 3/16 of one; se^2 = 4/3 (3 + 9) / 256 = 1/16, so t = -1 with 3 df
    assert found.p == pytest.approx(0.391, abs=5e-4)


def test_where_everything_is_labelled_twice_there_is_nothing_to_compare() -> None:
    (found, _) = twice_or_once(label_scores(study_of(priced(JUDGES, pairs=5), SETTINGS)))
    assert np.isnan([found.twice, found.once, found.p]).all()
