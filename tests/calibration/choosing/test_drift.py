"""Agreement of two judges on the same labels: by hand, against the report of calibrate, and where nothing is known."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.calibrate import calibrate
from calibration.comparing.judge_pairs import drift
from calibration.results import CalibrationSettings

PEOPLE = ("Ada", "Ben")


def row(item: int, rater: str, label: str, run: int = 1, presentation: str = "AB", criterion: str = "clear") -> Any:
    kind = "human" if rater in PEOPLE else "judge"
    return {
        "item_id": f"i{item}", "rater_id": rater, "rater_kind": kind, "criterion": criterion, "label": label,
        "cluster_id": f"t{item // 2}", "system_a": "x", "system_b": "y", "run": run, "presentation": presentation,
        "status": "ok" if label else "invalid",
    }  # fmt: skip


def table(**said: str) -> pd.DataFrame:
    """One row per rater and item; a letter is the verdict on the item of that place, a dot is none, a blank no row."""
    words = {"t": "tie", ".": ""}
    return pd.DataFrame(
        [row(n, rater, words.get(c, c)) for rater, given in said.items() for n, c in enumerate(given) if c != " "]
    )


def test_by_hand() -> None:
    # agreement 3/4 then 1/4; by topic the mean differences are -1 and 0, se = sqrt(2 * (1 + 1)) / 4 = 1/2
    found = drift(table(Ada="ABAt", old="ABBt", new="BAAA"), "old", "new")
    assert (found.before, found.after, found.labels) == (3 / 4, 1 / 4, 4)
    assert (found.difference.value, found.difference.n, found.difference.clusters) == (-1 / 2, 4, 2)
    t = math.tan(math.pi * 0.475)  # the t quantile with 1 df is the Cauchy's
    assert found.difference.low == pytest.approx(-1 / 2 - t / 2)


def test_a_label_that_either_judge_did_not_answer_is_left_out_of_both() -> None:
    found = drift(table(Ada="AAAA", Ben="  BA", old="AAA.", new=".AAA"), "old", "new")
    # units 1 (Ada) and 2 (Ada and Ben): three of the six labels
    assert (found.labels, found.difference.n) == (6, 3)
    assert (found.before, found.after) == (2 / 3, 2 / 3)


def test_both_orders_and_repeats_of_a_judge_count_as_one_answer() -> None:
    passes = [row(0, "old", "A", 1, "AB"), row(0, "old", "B", 1, "BA"), row(0, "old", "A", 2, "AB")]
    frame = pd.concat([table(Ada="AAAA", old=" AAA", new="AAAA"), pd.DataFrame(passes)])
    found = drift(frame, "old", "new")
    assert (found.before, found.after, found.difference.n) == pytest.approx(((2 / 3 + 3) / 4, 1.0, 4))


def test_scores_are_compared_as_numbers() -> None:
    frame = pd.DataFrame([row(0, "Ada", "7"), row(0, "old", "7.0"), row(0, "new", "7.5"), row(1, "Ada", "3")])
    found = drift(frame.assign(system_b=""), "old", "new")
    assert (found.before, found.after, found.difference.n, found.labels) == (1.0, 0.0, 1, 2)
    assert found.difference.note == "too_few_units"


def test_a_judge_that_answered_nothing_leaves_nothing_to_compare() -> None:
    found = drift(table(Ada="AB", old="AB"), "old", "new")
    assert (found.difference.n, found.labels) == (0, 2)
    assert math.isnan(found.before)
    assert math.isnan(found.difference.value)


answers = st.text("ABt", min_size=6, max_size=6)


@settings(max_examples=8)  # a whole report each
@given(answers, answers, answers, answers)
def test_each_agreement_is_that_of_the_calibration_report(ada: str, ben: str, old: str, new: str) -> None:
    frame = table(Ada=ada, Ben=ben, old=old, new=new)
    report = calibrate(frame, CalibrationSettings(resamples=9))
    values = {
        one.rater: one.value
        for one in report.estimates
        if (one.statistic, one.reference, one.category) == ("percent_agreement", "each_annotator", "all")
    }
    found, turned = drift(frame, "old", "new"), drift(frame, "new", "old")
    assert (found.before, found.after) == pytest.approx((values["old"], values["new"]))
    assert found.difference.value == pytest.approx(found.after - found.before)
    assert turned.difference.value == pytest.approx(-found.difference.value)
