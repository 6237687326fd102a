"""Agreement by distance: by hand, against every pair of scores written out, and whatever the offset of the scale."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.agreement.ceiling import leave_one_out_ceiling
from calibration.choosing.choose import cheapest_adequate_judge
from calibration.errors import CalibrationError
from calibration.results import CalibrationSettings
from calibration.study.distance import Scores, best_number, mean_credit
from tests.calibration.mistakes import table
from tests.calibration.studies import made_ratings

FEW = CalibrationSettings(resamples=99)


def scores(rows: list[tuple[int, float, float]]) -> Scores:
    unit, value, weight = (np.array(column) for column in zip(*rows, strict=True)) if rows else (np.zeros(0),) * 3
    return Scores(unit.astype(np.intp), value.astype(float), weight.astype(float))


ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 10), st.sampled_from([0.5, 1.0, 2.0])), max_size=12)


@given(ROWS, ROWS, st.sampled_from(["linear", "quadratic"]))
def test_the_mean_credit_is_that_of_every_pair_written_out(
    asked: list[tuple[int, float, float]], given: list[tuple[int, float, float]], rule: str
) -> None:
    found = mean_credit(scores(asked), scores(given), 4, rule, 10.0)
    power = 2 if rule == "quadratic" else 1
    for (unit, value, _), credit in zip(asked, found, strict=True):
        pairs = [(1 - (abs(value - other) / 10) ** power, weight) for there, other, weight in given if there == unit]
        total = sum(weight for _, weight in pairs)
        wanted = sum(one * weight for one, weight in pairs) / total if pairs else math.nan
        assert credit == pytest.approx(wanted, abs=1e-9, nan_ok=True)


@given(ROWS.filter(bool))
def test_no_other_score_agrees_better_than_the_best_constant_one(rows: list[tuple[int, float, float]]) -> None:
    people = scores(rows)
    best = best_number(people, "linear")

    def distance(score: float) -> float:
        return float((people.weight * np.abs(people.value - score)).sum())

    assert distance(best) <= min(map(distance, range(11))) + 1e-9


@pytest.mark.parametrize("decimals", [0, 2])  # by a table of levels, and by running sums over fine scores
@pytest.mark.parametrize("rule", ["linear", "quadratic"])
def test_the_ceiling_of_scores_is_the_mean_credit_with_the_others(decimals: int, rule: str) -> None:
    frame = made_ratings(reports=60, decimals=decimals, annotators=3)
    found = leave_one_out_ceiling(frame, settings=replace(FEW, distance=rule))
    (judge,) = found.judges
    people = frame[frame["rater_kind"] == "human"]
    span = frame["label"].max() - frame["label"].min()
    power = 2 if rule == "quadratic" else 1
    human, judged = [], []
    for item, rows in people.groupby("item_id"):
        own = dict(zip(rows["rater_id"], rows["label"], strict=True))
        said = frame[(frame["item_id"] == item) & (frame["rater_kind"] == "judge")]["label"]
        for rater, score in own.items():
            others = [value for other, value in own.items() if other != rater]
            if others:
                human.append(np.mean([1 - (abs(score - value) / span) ** power for value in others]))
                if len(said):
                    judged.append(np.mean([1 - (abs(said.iloc[0] - value) / span) ** power for value in others]))
    assert found.human.value == pytest.approx(np.mean(human))
    assert judge.average.judge.value == pytest.approx(np.mean(judged))
    assert found.human.statistic == f"human_ceiling_{rule}"
    assert found.human.method == "cluster_bootstrap_expanded"


def test_an_offset_of_the_scale_changes_nothing() -> None:
    frame = made_ratings(reports=60, decimals=2)
    moved = frame.assign(label=frame["label"] + 1_000_000)
    one, other = (leave_one_out_ceiling(rows, settings=FEW).human for rows in (frame, moved))
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high), abs=1e-9)


WEIGHTS = ((1.0, 0.5, 0.0), (0.5, 1.0, 0.25), (0.0, 0.25, 1.0))


def graded() -> pd.DataFrame:
    """Three ordered answers by two people and a judge, one item a cluster."""
    said = {"ann": "abcabcabca" * 3, "bob": "abbabccbca" * 3, "judge": "abcbbcacca" * 3}
    return table(said, system_a="", system_b="").replace({"label": {"A": "a"}})


def test_weights_of_the_plan_decide_what_near_answers_earn() -> None:
    settings = replace(FEW, scales={"clarity": ("a", "b", "c")}, weights=WEIGHTS)
    frame = graded().assign(criterion="clarity")
    found = leave_one_out_ceiling(frame, settings=settings)
    place = {"a": 0, "b": 1, "c": 2}
    people = ["abcabcabca" * 3, "abbabccbca" * 3]
    assert found.human.value == pytest.approx(
        np.mean([WEIGHTS[place[one]][place[other]] for one, other in zip(*people, strict=True)])
    )
    (judge,) = cheapest_adequate_judge(frame, settings).candidates
    said = "abcbbcacca" * 3
    earned = [WEIGHTS[place[one]][place[other]] for own in people for one, other in zip(said, own, strict=True)]
    assert judge.agreement.value == pytest.approx(np.mean(earned))
    constant = max(np.mean([row[place[one]] for own in people for one in own]) for row in WEIGHTS)
    assert judge.baseline == pytest.approx(constant)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"weights": WEIGHTS[:2]}, "no square"),
        ({"weights": ((1.0, 2.0), (0.0, 1.0))}, "from 0 to 1"),
        ({"weights": ((1.0, 0.5), (0.5, 1.0)), "scales": {"clarity": ("a", "b", "c")}}, "the scale has 3"),
        ({"weights": WEIGHTS}, "declare it"),
        ({"scale_ends": {"clarity": [5, 1]}}, r"write its lowest and highest score, such as \[0, 10\]"),
        ({"scale_ends": {"clarity": [1, 5]}, "scales": {"clarity": ("1", "5")}}, "no scales of it"),
    ],
)
def test_weights_for_another_scale_and_ends_of_none_are_refused(change: dict[str, object], says: str) -> None:
    with pytest.raises(CalibrationError, match=says):
        cheapest_adequate_judge(graded().assign(criterion="clarity"), replace(FEW, **change))


def test_a_pair_of_scores_agrees_by_its_share_of_the_range() -> None:
    for one, other in itertools.product((1, 3, 5), repeat=2):
        frame = table({"ann": f"{one}15", "bob": f"{other}15"}, system_a="", system_b="")
        for settings, span in ((FEW, 4), (replace(FEW, scale_ends={"c": (0, 10)}), 10)):  # as given, and as declared
            value = leave_one_out_ceiling(frame, settings=settings).human.value
            assert value == pytest.approx((1 - abs(one - other) / span + 2) / 3)
