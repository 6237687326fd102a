"""What one answer earns that reads nothing: by hand, and whatever A and B are called."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.arithmetic.columns import Codes
from calibration.results import CalibrationSettings
from calibration.study.joining import Scale, Study, scale_of, study_of
from calibration.study.label_scores import constant_judge, scores_of
from tests.calibration.mistakes import table
from tests.calibration.ranked import turned

PLAIN = CalibrationSettings()


def baseline(frame: pd.DataFrame, ties: str = "three_class") -> float:
    study = study_of(frame, PLAIN)
    scale = scale_of(study, study.criteria, PLAIN)
    assert scale is not None
    return earned(study, np.arange(study.units), scale, ties)


def earned(study: Study, unit: Codes, scale: Scale, rule: str) -> float:
    """Agreement of the best constant answer with every annotator's label."""
    scores = scores_of(study, constant_judge(study, unit, scale, rule), rule, scale)
    return float(np.nanmean(scores)) if (~np.isnan(scores)).any() else math.nan


def between(frame: pd.DataFrame, pairs: list[tuple[str, str]]) -> pd.DataFrame:
    """The items in their order are pairs of these systems, by turns."""
    number = frame["item_id"].str[1:].astype(int) % len(pairs)
    return frame.assign(system_a=[pairs[at][0] for at in number], system_b=[pairs[at][1] for at in number])


@pytest.mark.parametrize(
    ("labels", "pairs", "ties", "value"),
    [
        ("AAABB", [("x", "y")], "three_class", 3 / 5),  # five clusters of one pair of systems: x wins
        ("AAAtB", [("x", "y")], "half_credit", 3.5 / 5),
        ("AAAtB", [("x", "y")], "exclude", 3 / 4),
        ("AB" * 5, [("x", "y"), ("x", "z")], "three_class", 1.0),  # x beats y, and z beats x
        ("ABAB", [("x", "y"), ("x", "z")], "three_class", 2 / 4),  # too few for that: x wins as often as not
        ("AAAB", [("x", "y"), ("x", "z")], "three_class", 3 / 4),
        ("ABAB", [("x", "y"), ("z", "x")], "three_class", 4 / 4),  # x always wins, whichever place it has
        ("AAAA", [("x", "y"), ("z", "v")], "three_class", 2 / 4),  # no system in every pair: a coin named A
        ("tttA", [("x", "y"), ("z", "v")], "three_class", 3 / 4),
    ],
)
def test_the_best_constant_answer_by_hand(labels: str, pairs: list[tuple[str, str]], ties: str, value: float) -> None:
    assert baseline(between(table({"ann": labels}), pairs), ties) == pytest.approx(value)


def test_ratings_and_pairs_of_unnamed_systems_know_no_more_than_their_labels() -> None:
    assert baseline(table({"ann1": "33345", "ann2": "33333"})) == pytest.approx(8 / 10)
    assert baseline(table({"ann": "AAAB"}, system_a="", system_b="")) == pytest.approx(3 / 4)
    study = study_of(table({"ann": "AB"}), PLAIN)
    scale = scale_of(study, study.criteria, PLAIN)
    assert scale is not None
    assert math.isnan(earned(study, np.zeros(0, np.intp), scale, "three_class"))


@pytest.mark.parametrize(
    ("said", "rule", "value"),
    [
        ("11355", "linear", 1 - (2 + 2 + 0 + 2 + 2) / 4 / 5),  # the median, 3
        ("1155", "linear", 1 - (0 + 0 + 4 + 4) / 4 / 4),  # the lower median, 1
        ("11155", "quadratic", 1 - 2 * (4 / 4) ** 2 / 5),  # the mean is 2.6, and 1 the nearest score that is given
        ("11155", "three_class", 3 / 5),
    ],
)
def test_of_scores_the_best_constant_answer_is_a_score_in_the_middle(said: str, rule: str, value: float) -> None:
    assert baseline(table({"ann": said}), rule) == pytest.approx(value)


@given(st.text("ABt", min_size=2, max_size=14), st.sampled_from(["three_class", "half_credit", "exclude"]), st.data())
def test_no_naming_of_a_and_b_changes_it(labels: str, ties: str, data: st.DataObject) -> None:
    systems = st.lists(st.sampled_from("vxyz"), min_size=2, max_size=2, unique=True).map(tuple)
    frame = between(table({"ann": labels}), data.draw(st.lists(systems, min_size=1, max_size=3)))
    items = data.draw(st.sets(st.sampled_from(sorted(frame["item_id"]))))
    assert baseline(turned(frame, items), ties) == pytest.approx(baseline(frame, ties), nan_ok=True)
