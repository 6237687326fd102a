"""Names of systems as labels are told from one list of answers, without knowing either."""

from __future__ import annotations

import pandas as pd
import pytest

from calibration.calibrate import calibrate
from calibration.examining.examining import examine
from calibration.settings import CalibrationSettings
from tests.calibration.studies import made_pairs

SYSTEMS = ("atlas", "borealis", "cirrus", "delta")
ANSWERS = {"A": "supported", "B": "contradicted", "tie": "not addressed"}


def named() -> pd.DataFrame:
    """Forced choices between two systems, which change from item to item; the labels are their names."""
    frame = made_pairs(pairs=24)
    frame = frame[frame["label"] != "tie"].drop(columns=["system_a", "system_b", "presentation"])
    number = frame["item_id"].str[1:].astype(int) + frame["label"].eq("B")
    return frame.assign(label=[SYSTEMS[one % 4] for one in number])


def probes() -> pd.DataFrame:
    """The same answers, of a fixed list."""
    return made_pairs(pairs=24).drop(columns=["system_a", "system_b"]).replace({"label": ANSWERS})


def test_labels_that_name_the_two_sides_of_each_item_are_warned_of_and_doctor_says_what_to_do() -> None:
    step = examine(named()).steps[0]
    assert step.startswith("no item has more than two of the 4 words in label")
    assert step.endswith("give system_a and system_b, and write A, B or tie")
    report = calibrate(named(), CalibrationSettings(resamples=99, per_criterion=False))
    assert [one.text for one in report.warnings if one.code == "named_sides"] == [step]


@pytest.mark.parametrize("words", [3, 2])
def test_a_list_of_answers_is_none(words: int) -> None:
    frame = probes()
    frame = frame if words == 3 else frame[frame["label"] != "not addressed"]
    assert examine(frame).ready
    report = calibrate(frame, CalibrationSettings(resamples=99, per_criterion=False))
    assert "named_sides" not in {one.code for one in report.warnings}
