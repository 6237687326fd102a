"""Two systems topic by topic: a paired difference, Wilcoxon's test, and whether hard topics are hard for both."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pytest

from calibration.arithmetic.correlation import spearman
from calibration.errors import CalibrationError
from calibration.inference.compare import paired_difference
from calibration.results import CalibrationSettings
from calibration.totals.system_differences import SystemDifference, system_differences

FEW = CalibrationSettings(resamples=199)
Scores = Mapping[str, Sequence[float | None]]


def study(by_rater: Mapping[str, Scores], criteria: tuple[str, ...] = ("clarity",)) -> pd.DataFrame:
    """Ratings: rater -> system -> one score a topic, None where there is none; the same on every criterion."""
    rows = [
        (
            f"{system}-{topic}",
            rater,
            "judge" if rater.startswith("judge") else "human",
            criterion,
            str(score),
            topic,
            system,
        )
        for rater, scores in by_rater.items()
        for system, column in scores.items()
        for topic, score in zip((f"t{n:02}" for n in range(len(column))), column, strict=True)
        if score is not None
        for criterion in criteria
    ]
    return pd.DataFrame(
        rows, columns=["item_id", "rater_id", "rater_kind", "criterion", "label", "cluster_id", "system_a"]
    ).assign(system_b="")


def exact_wilcoxon(differences: list[float]) -> float:
    """Two-sided p by trying every sign."""
    ranked = sorted(differences, key=abs)
    ranks = range(1, len(ranked) + 1)
    seen = sum(rank for rank, one in zip(ranks, ranked, strict=True) if one > 0)
    middle = sum(ranks) / 2
    signs = list(itertools.product((0, 1), repeat=len(ranked)))
    far = sum(abs(sum(r * s for r, s in zip(ranks, one, strict=True)) - middle) >= abs(seen - middle) for one in signs)
    return far / len(signs)


def only(found: tuple[SystemDifference, ...], rater: str) -> SystemDifference:
    return next(one for one in found if one.rater == rater)


X = [7, 6, 9, 4, 8, 3.5, 2, 9.5]
Y = [6, 4, 6, 4.5, 3, 3.25, 8, 2]


def test_the_difference_is_the_mean_over_topics_and_wilcoxons_p_that_of_every_sign() -> None:
    one = only(system_differences(study({"ann": {"x": X, "y": Y}, "judge": {"x": Y, "y": X}}), FEW), "each_annotator")
    differences = [a - b for a, b in zip(X, Y, strict=True)]
    assert one.difference.value == pytest.approx(np.mean(differences))
    expected = paired_difference(X, Y, range(8))
    assert (one.difference.low, one.difference.high) == pytest.approx((expected.low, expected.high))
    assert one.p_wilcoxon == pytest.approx(exact_wilcoxon(differences))
    assert one.spearman.value == pytest.approx(spearman(X, Y))
    assert (one.difference.n, one.difference.clusters, one.spearman.n) == (8, 8, 8)


def test_people_are_the_mean_of_annotators_and_each_judge_stands_by_itself() -> None:
    two = {"ann1": {"x": [8, 6, 4], "y": [5, 5, 5]}, "ann2": {"x": [6, 4, 2], "y": [5, 5, 5]}}
    found = system_differences(study(two | {"judge": {"x": [1, 2, 3], "y": [2, 2, 2]}}), FEW)
    assert [one.rater for one in found] == ["each_annotator", "judge"]
    assert only(found, "each_annotator").difference.value == pytest.approx(0)
    assert only(found, "judge").difference.value == pytest.approx(0)
    assert only(found, "judge").zeros == 1


def test_a_topic_that_one_system_lacks_is_left_out_of_both() -> None:
    one = only(system_differences(study({"ann": {"x": [9, 8, None, 7], "y": [1, None, 2, 3]}}), FEW), "each_annotator")
    assert one.difference.value == pytest.approx(6)
    assert one.difference.n == 2


def test_where_nothing_differs_there_is_no_test_and_no_interval_but_a_reason() -> None:
    one = only(system_differences(study({"ann": {"x": [5, 6, 7], "y": [5, 6, 7]}}), FEW), "each_annotator")
    assert math.isnan(one.p_wilcoxon)
    assert math.isnan(one.difference.low)
    assert "no spread" in one.difference.note
    flat = only(system_differences(study({"ann": {"x": [5, 5, 5], "y": [1, 2, 3]}}), FEW), "each_annotator")
    assert math.isnan(flat.spearman.value)
    assert flat.spearman.note


def test_conditions_are_named_as_pairs_and_holm_counts_only_those_asked() -> None:
    scores: Scores = {"x": X, "x_custom": Y, "z": [1, 2, 3, 4, 5, 6, 7, 8]}
    found = system_differences(study({"ann": scores}), FEW, [("x", "x_custom")])
    assert [(one.system, one.other) for one in found] == [("x", "x_custom")]
    assert found[0].p_holm == found[0].p_wilcoxon
    everything = system_differences(study({"ann": scores}), FEW)
    assert len(everything) == 3
    assert all(one.p_holm >= one.p_wilcoxon for one in everything)


def test_one_criterion_may_be_asked_for_and_unknown_names_are_refused_with_those_there_are() -> None:
    frame = study({"ann": {"x": X, "y": Y}}, ("clarity", "insight"))
    assert {one.criterion for one in system_differences(frame, FEW, criterion="insight")} == {"insight"}
    with pytest.raises(CalibrationError, match=r"'depth'.*clarity, insight"):
        system_differences(frame, FEW, criterion="depth")
    with pytest.raises(CalibrationError, match=r"'w'.*x, y"):
        system_differences(frame, FEW, [("x", "w")])


def test_naming_the_pair_the_other_way_turns_the_difference_and_nothing_else() -> None:
    frame = study({"ann": {"x": X, "y": Y}})
    one, turned = (system_differences(frame, FEW, [pair])[0] for pair in (("x", "y"), ("y", "x")))
    assert turned.difference.value == -one.difference.value
    assert (turned.difference.low, turned.difference.high) == (-one.difference.high, -one.difference.low)
    assert (turned.p_wilcoxon, turned.spearman.value) == (one.p_wilcoxon, one.spearman.value)


def test_order_of_rows_means_nothing_and_the_table_stays_as_it_was() -> None:
    frame = study({"ann": {"x": X, "y": Y}, "judge": {"x": Y, "y": X}})
    before = frame.copy(deep=True)
    assert repr(system_differences(frame, FEW)) == repr(system_differences(frame.sample(frac=1, random_state=3), FEW))
    pd.testing.assert_frame_equal(frame, before)


def test_pairs_are_no_scores() -> None:
    frame = study({"ann": {"x": X, "y": Y}}).assign(label="A", system_b="z")
    with pytest.raises(CalibrationError, match="no scores"):
        system_differences(frame, FEW)
